"""Env files as they fill the environment of whoever names them."""

from configaudit.extract.carriers.envfile import read
from configaudit.places import Document


def values(text: str) -> dict[str, str]:
    (data,) = read(Document('app/.env', 'env', text.encode())).data
    assert (data.kind, data.name) == ('envfile', 'app/.env')
    return {name: word.value for name, word in data.values.items()}


def test_values_and_references_to_earlier_ones() -> None:
    assert values("A=1\nB=${A}2\nC='${A}'\nD=${X:-y}\n") == {'A': '1', 'B': '12', 'C': '${A}', 'D': 'y'}


def test_a_name_alone_is_unknown() -> None:
    assert values('TOKEN\n') == {'TOKEN': '\ufffc'}


def test_places() -> None:
    (data,) = read(Document('.env', 'env', b'A="x y"\n')).data
    assert data.values['A'].place[1:] == (3, 6)
