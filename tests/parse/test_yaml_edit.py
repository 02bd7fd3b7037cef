"""Edits of YAML and JSON: what is written, and what is left to a person."""

import pytest

from configaudit.model import REMOVE
from configaudit.parse.tree import Map
from configaudit.parse.yaml import parse
from configaudit.parse.yaml_edit import CannotEdit, edit, walk


def changed(text: str, path: tuple[str, ...], value: object, below: str = '') -> str:
    """The text with `value` written under `path` below the root, or below the mapping that `below` is a key of."""
    roots = parse(text.encode()).roots
    start = next(node.start for node in walk(roots) if isinstance(node, Map) and (not below or below in node))
    return spliced(text, edit(text, roots, start, start, path, value))


def replaced(text: str, old: str, value: object) -> str:
    """The text with the scalar that begins at `old` changed."""
    start = text.index(old)
    return spliced(text, edit(text, parse(text.encode()).roots, start, start + len(old), (), value))


def spliced(text: str, edits: list) -> str:  # type: ignore[type-arg]
    for one in sorted(edits, reverse=True):
        text = text[: one.start] + one.text + text[one.end :]
    return text


@pytest.mark.parametrize(
    ('text', 'path', 'value', 'expected'),
    [
        ('a: 1\n', ('b',), 2, 'a: 1\nb: 2\n'),
        ('a: 1 # why\n', ('b',), 2, 'a: 1 # why\nb: 2\n'),
        ('a: 1', ('b',), 2, 'a: 1\nb: 2'),
        ('a: 1\r\n', ('b', 'c'), 2, 'a: 1\r\nb:\r\n  c: 2\r\n'),
        ('a: 1\n# about the end\n', ('b',), 2, 'a: 1\nb: 2\n# about the end\n'),
        ('a: |\n  x\n  y\n\n# end\n', ('b',), 2, 'a: |\n  x\n  y\nb: 2\n\n# end\n'),
        ('a:\n  b: 1\nc: 2\n', ('a', 'd'), True, 'a:\n  b: 1\n  d: true\nc: 2\n'),
        ('a:\n- b\n', ('c',), 1, 'a:\n- b\nc: 1\n'),
        ('a: {}\n', ('a', 'b'), 1, 'a: {b: 1}\n'),
        ('a: { }\n', ('a', 'b'), 1, 'a: { b: 1}\n'),
        ('a: &x {}\n', ('a', 'b'), 1, 'a: &x {b: 1}\n'),
        ('a: {}\n', ('a',), {'b': 1}, 'a: {b: 1}\n'),
        ('a: {b: 1} # c\n', ('a', 'd'), 2, 'a: {b: 1, d: 2} # c\n'),
        ('a: {b: 1,}\n', ('a', 'd'), 2, 'a: {b: 1, d: 2,}\n'),
        ('a: {b: 1 # c\n  }\n', ('a', 'd'), 2, 'a: {b: 1, d: 2 # c\n  }\n'),
        ('x: &x 1\na: {b: *x}\n', ('a', 'd'), 2, 'x: &x 1\na: {b: *x, d: 2}\n'),
        ('x: &x 1\na: *x\n', ('d',), 2, 'x: &x 1\na: *x\nd: 2\n'),
        ('a:\n', ('a',), 5, 'a: 5\n'),
        ('a: # none\n', ('a',), 5, 'a: 5 # none\n'),
        ('a:\n', ('a', 'b'), 5, 'a:\n  b: 5\n'),
        ('a: # none\nc: 1\n', ('a', 'b'), 5, 'a: # none\n  b: 5\nc: 1\n'),
        ('a: ~\n', ('a', 'b'), 5, 'a:\n  b: 5\n'),
        ('a: null # none\n', ('a',), {'b': 5}, 'a: # none\n  b: 5\n'),
        ('a: null', ('a',), {'b': 5}, 'a:\n  b: 5'),
        ('a: {b: }\n', ('a', 'b', 'c'), 5, 'a: {b: {c: 5}}\n'),
        ('a: []\n', ('a',), ['x', 1], 'a: [x, 1]\n'),
        ('a: &x []\n', ('a',), ['x'], 'a: &x [x]\n'),
        ('a: [x]\n', ('a',), ['y'], 'a: [x, y]\n'),
        ('a:\n- x # c\nb: 1\n', ('a',), [{'y': 1, 'z': {'w': 2}}], 'a:\n- x # c\n- y: 1\n  z:\n    w: 2\nb: 1\n'),
        ('a:\n    - x\n', ('a',), ['y'], 'a:\n    - x\n    - y\n'),
        ('a:\n  - x', ('a',), ['y'], 'a:\n  - x\n  - y'),
        ('a: &x\n  - x\n', ('a',), ['y'], 'a: &x\n  - x\n  - y\n'),
        ('a:\n', ('a',), ['y'], 'a:\n  - y\n'),
        ('l:\n- 1\na:\n', ('a',), ['y'], 'l:\n- 1\na:\n- y\n'),
        ('a: 1\n', ('b',), 'on', 'a: 1\nb: "on"\n'),
        ('a: 1\n', ('b',), '8', 'a: 1\nb: "8"\n'),
        ('a: 1\n', ('b',), 'say "x"', 'a: 1\nb: "say \\"x\\""\n'),
        ('a: "1"\n', ('a',), 2.0, 'a: "2"\n'),
        ("a: 'x'\n", ('a',), "it's", "a: 'it''s'\n"),
        ('a: &x 1\n', ('a',), 2, 'a: &x 2\n'),
        ('a: !!str 1\n', ('a',), 2, 'a: !!str 2\n'),
        ('a: 1\nb: 2 # c\n', ('a',), REMOVE, 'b: 2 # c\n'),
        ('a: 1\nb:\n  c: 1\n', ('b',), REMOVE, 'a: 1\n'),
        ('a: {b: 1, c: 2}\n', ('a', 'b'), REMOVE, 'a: {c: 2}\n'),
        ('a: {b: 1, c: 2}\n', ('a', 'c'), REMOVE, 'a: {b: 1}\n'),
        ('{"a": 1}', ('b',), {'c': True}, '{"a": 1, "b": {"c": true}}'),
        ('{}', ('b',), 'x', '{"b": "x"}'),
        ('{\n  "a": {"x": 1}\n}\n', ('b',), 'y', '{\n  "a": {"x": 1},\n  "b": "y"\n}\n'),
        ('{\n\t"a": 1,\n\t"b": 2\n}\n', ('a',), REMOVE, '{\n\t"b": 2\n}\n'),
        ('{\n\t"a": 1,\n\t"b": 2\n}\n', ('b',), REMOVE, '{\n\t"a": 1\n}\n'),
        ('{"a": {}}', ('a', 'b'), 1, '{"a": {"b": 1}}'),
    ],
)  # fmt: skip
def test_only_the_value_is_written(text: str, path: tuple[str, ...], value: object, expected: str) -> None:
    assert changed(text, path, value) == expected


@pytest.mark.parametrize(
    ('text', 'below', 'path', 'expected'),
    [
        ('l:\n  - name: x\n    k: 1\n  - name: y\n', 'k', ('new',), 'l:\n  - name: x\n    k: 1\n    new: 1\n  - name: y\n'),
        ('l: [{k: 1}, {m: 2}]\n', 'k', ('new',), 'l: [{k: 1, new: 1}, {m: 2}]\n'),
        ('b: &b {q: 1}\ns:\n  m: &m\n    k: 1\n', 'k', ('new',), 'b: &b {q: 1}\ns:\n  m: &m\n    k: 1\n    new: 1\n'),
        ('b: &b\n  q: 1\ns:\n  m:\n    <<: *b\n    k: 1\n', 'k', ('new',), 'b: &b\n  q: 1\ns:\n  m:\n    <<: *b\n    k: 1\n    new: 1\n'),
        ('b: &b\n  q: 1\ns:\n  - m:\n      <<: *b\n', 'm', ('m', 'new'), 'b: &b\n  q: 1\ns:\n  - m:\n      <<: *b\n      new: 1\n'),
    ],
)  # fmt: skip
def test_below_a_mapping(text: str, below: str, path: tuple[str, ...], expected: str) -> None:
    assert changed(text, path, 1, below) == expected


@pytest.mark.parametrize(
    ('text', 'below', 'path', 'value', 'reason'),
    [
        ('b: &b\n  q: 1\ns:\n  <<: *b\n', 's', ('s', 'q'), 2, 'share'),
        ('b: &b\n  q: {r: 1}\ns: *b\n', 's', ('s', 'q', 'r'), 2, 'share'),
        ('b: &b\n  q: 1\ns: *b\n', 'q', ('new',), 2, 'share'),
        ('b: &b 1\ns: *b\n', 's', ('s',), 2, 'share'),
        ('b: &b 1\ns: *b\n', 's', ('s',), REMOVE, 'share'),
        ('a: |\n  x\n', 'a', ('a',), 'y', 'block of text'),
        ('a: x\n  y\n', 'a', ('a',), 'y', 'several lines'),
        ('a: 1\n', 'a', ('a', 'b'), 2, 'not a mapping'),
        ('a: 1\n', 'a', ('a',), {'b': 2}, 'no list or mapping'),
        ('a:\n  b: 1\n', 'a', ('a',), {'c': 2}, 'written already'),
        ('a: 1\n', 'a', ('b',), REMOVE, 'not set'),
        ('l:\n  - a: 1\n    b: 2\n', 'a', ('a',), REMOVE, 'first entry of a list item'),
        ('a:\n  b: 1\n', 'a', ('a', 'b'), REMOVE, 'nothing would be left'),
    ],
)  # fmt: skip
def test_what_needs_a_person(text: str, below: str, path: tuple[str, ...], value: object, reason: str) -> None:
    with pytest.raises(CannotEdit, match=reason):
        changed(text, path, value, below)


@pytest.mark.parametrize(
    ('text', 'old', 'value', 'expected'),
    [
        ('a: [1, 20]\n', '20', 3, 'a: [1, 3]\n'),
        ('a: "x\\ty"\n', '"x\\ty"', 'z"', 'a: "z\\""\n'),
        ('a: 1.5 # c\r\n', '1.5', 2, 'a: 2 # c\r\n'),
        ('{"a": true}', 'true', False, '{"a": false}'),
    ],
)
def test_a_scalar_in_place(text: str, old: str, value: object, expected: str) -> None:
    assert replaced(text, old, value) == expected


def test_a_scalar_that_an_alias_names_is_left_alone() -> None:
    with pytest.raises(CannotEdit, match='share'):
        replaced('a: &x 10\nb: *x\n', '&x 10', 2)
