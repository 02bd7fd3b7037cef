import pytest

from configaudit.parse.entries import Edit
from configaudit.parse.systemd import assigned, environment, insert, read, replace, split_command
from configaudit.units import HOLE

UNIT = """# \u6ce8\u91ca
[Unit]
Description=engine # not a comment

[Service]
LimitNOFILE=1024:524288
ExecStart=-/usr/bin/vllm serve model \\
; skipped
   --port=8000 \\
   "--name=a b"
Environment="A=x y" B='p q'  C=%% D="in\\"ner"
Environment=
Environment=E=1
"""


def applied(text: str, edit: Edit) -> str:
    return text[: edit.start] + edit.text + text[edit.end :]


def value_of(text: str, key: str) -> str:
    return next(entry.value for entry in read(text).entries if entry.key == key)


def test_read() -> None:
    file = read(UNIT)
    assert [header.name for header in file.headers] == ['Unit', 'Service']
    assert value_of(UNIT, 'Description') == 'engine # not a comment'
    limit = next(entry for entry in file.entries if entry.key == 'LimitNOFILE')
    assert limit.section == 'Service'
    assert UNIT[limit.start : limit.end] == '1024:524288'
    assert not file.problems


def test_an_empty_assignment_resets() -> None:
    assert [entry.value for entry in assigned(read(UNIT), 'Service', 'Environment')] == ['E=1']


@pytest.mark.parametrize('ending', ['\n', '\r\n'])
def test_command_over_continuations(ending: str) -> None:
    text = UNIT.replace('\n', ending)
    start = next(entry for entry in read(text).entries if entry.key == 'ExecStart')
    words = split_command(start.value, start.start)
    assert [word.text for word in words] == ['/usr/bin/vllm', 'serve', 'model', '--port=8000', '--name=a b']
    assert [text[word.start : word.end] for word in words] == [word.text for word in words]


@pytest.mark.parametrize(
    ('value', 'words'),
    [
        ('@+!/bin/x y', ['/bin/x', 'y']),
        ('a b"c d"e', ['a', 'bc de']),
        ("a 'it s'", ['a', 'it s']),
        (r'a b\x41\sc', ['a', 'bA c']),
        ('a %%i %i x%h', ['a', '%i', HOLE, 'x' + HOLE]),
        ('a ${X} $Y', ['a', '${X}', '$Y']),
        ('a ""', ['a', '']),
        ('', []),
        ('a "open', ['a', 'open']),
    ],
)
def test_split_command(value: str, words: list[str]) -> None:
    assert [word.text for word in split_command(value, 0)] == words


def test_environment() -> None:
    entry = next(entry for entry in read(UNIT).entries if entry.key == 'Environment')
    found = environment(entry.value, entry.start)
    assert [(name, value) for name, value, _, _ in found] == [('A', 'x y'), ('B', 'p q'), ('C', '%'), ('D', 'in"ner')]
    assert [UNIT[start:end] for _, _, start, end in found] == ['x y', 'p q', '%%', 'in\\"ner']


@pytest.mark.parametrize('text', ['A=1\n', '[Service]\nnonsense\n'])
def test_problems(text: str) -> None:
    assert len(read(text).problems) == 1


@pytest.mark.parametrize(
    ('text', 'expected'),
    [
        ('[Service]\r\nA=1\r\n\r\n[Install]\r\n', '[Service]\r\nA=1\r\nK=v\r\n\r\n[Install]\r\n'),
        ('[Service]\n', '[Service]\nK=v\n'),
        ('[Service]\nA=1', '[Service]\nA=1\nK=v'),
        ('[Service]\nA=1 \\\n  2\nB=3\n[X]\n', '[Service]\nA=1 \\\n  2\nB=3\nK=v\n[X]\n'),
        ('[Service]\nA=1 \\\n  \\\n\n[X]\n', '[Service]\nA=1 \\\n  \\\n\nK=v\n[X]\n'),
        ('[Service]\nA=1 \\', '[Service]\nA=1 \\\n\nK=v'),
        ('[Unit]\nA=1\n', '[Unit]\nA=1\n\n[Service]\nK=v\n'),
        ('', '[Service]\nK=v\n'),
    ],
)
def test_insert(text: str, expected: str) -> None:
    changed = applied(text, insert(text, 'Service', 'K', 'v'))
    assert changed == expected
    assert [entry.value for entry in assigned(read(changed), 'Service', 'K')] == ['v']


def test_replace() -> None:
    entry = next(entry for entry in read(UNIT).entries if entry.key == 'LimitNOFILE')
    assert applied(UNIT, replace(entry, '1048576')) == UNIT.replace('1024:524288', '1048576')
