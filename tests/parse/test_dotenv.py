import pytest

from configaudit.parse.dotenv import (
    insert,
    insert_property,
    read_env,
    read_properties,
    replace_env,
    replace_property,
)
from configaudit.parse.entries import Edit, File
from configaudit.units import HOLE

ENV = """# 注释
A=1
export B = two words # comment
C="x \\"q\\" # kept\\n" # gone
D='raw \\n $A'
E="first
F=second" tail
G
H=a#b
I=
J=${A:-x}\r
not valid
"""
PROPERTIES = """! 注释
# b
a.b=1
c : two words \r
d three
e\\:f\\ g=x\\
    y\\
z
h=\\u00e9\\ud83d\\ude00\\t\\q
empty
path=C:\\\\x
"""


def applied(text: str, edit: Edit) -> str:
    return text[: edit.start] + edit.text + text[edit.end :]


def values(file: File) -> dict[str, str]:
    return {entry.key: entry.value for entry in file.entries}


def test_read_env() -> None:
    file = read_env(ENV)
    assert values(file) == {
        'A': '1',
        'B': 'two words',
        'C': 'x "q" # kept\n',
        'D': 'raw \\n $A',
        'E': 'first\nF=second',
        'G': HOLE,
        'H': 'a#b',
        'I': '',
        'J': '${A:-x}',
    }
    assert [ENV[problem.start : problem.end] for problem in file.problems] == ['not valid']
    spans = {entry.key: ENV[entry.start : entry.end] for entry in file.entries}
    assert (spans['B'], spans['D'], spans['I'], spans['G']) == ('two words', 'raw \\n $A', '', '')


def test_literal_env_file() -> None:
    assert values(read_env('A="1" # x\n#c\nB\n C=\'y\r\n', literal=True)) == {'A': '"1" # x', 'B': HOLE, 'C': "'y"}


def test_unclosed_quote_ends_reading() -> None:
    file = read_env('A="1\nB=2\n')
    assert (file.entries, len(file.problems)) == ((), 1)


@pytest.mark.parametrize(
    ('text', 'value', 'expected'),
    [('A=1 # c', '2', 'A=2 # c'), ('A=1', 'a b', 'A="a b"'), ('A="1"', 'q"', 'A="q\\""'), ("A='1'", '$x', "A='$x'")],
)
def test_replace_env(text: str, value: str, expected: str) -> None:
    assert applied(text, replace_env(text, read_env(text).entries[0], value)) == expected


def test_read_properties() -> None:
    file = read_properties(PROPERTIES)
    assert values(file) == {
        'a.b': '1',
        'c': 'two words ',
        'd': 'three',
        'e:f g': 'xyz',
        'h': 'é\U0001f600\tq',
        'empty': '',
        'path': 'C:\\x',
    }
    assert next(PROPERTIES[entry.start : entry.end] for entry in file.entries) == '1'


def test_property_key_over_lines() -> None:
    assert values(read_properties('a\\\r\n  b = 1')) == {'ab': '1'}


def test_lone_backslashes() -> None:
    assert values(read_properties('\\\n# comment\na=1\\')) == {'a': '1'}


def test_edits() -> None:
    text = 'a=1\r\nb=2'
    assert applied(text, replace_property(read_properties(text).entries[0], ' x\\')) == 'a=\\ x\\\\\r\nb=2'
    assert applied(text, insert_property(text, 'c', '3')) == 'a=1\r\nb=2\r\nc=3\r\n'
    assert applied('', insert('', 'A', '1')) == 'A=1\n'
