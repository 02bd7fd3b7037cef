import math

import pytest

from configaudit.parse.entries import Edit
from configaudit.parse.toml import insert, read, replace

TEXT = """# 注释
version = 2
[plugins."io.containerd.grpc.v1.cri".containerd]
  snapshotter = 'over\\lay' # x
  a.b = { c = true, d = [1, 2] }
[[crio.runtimes]]
n = 0x1F
[[crio.runtimes]] # two
n = 1_000
[crio.runtimes.sub]
f = -1.5e3
[crio.api]
default_ulimits = [
  "nofile=1024:2048", # why
  'x',
]
text = \"\"\"
a \\
   b"" \\"\"\"\"
raw = '''x'y'''
day = 1979-05-27 07:32:00Z
esc = "\\u00e9\\n"
"""


def applied(text: str, edit: Edit) -> str:
    return text[: edit.start] + edit.text + text[edit.end :]


def test_read() -> None:
    file = read(TEXT)
    assert not file.problems
    cri = ('plugins', 'io.containerd.grpc.v1.cri', 'containerd')
    assert {entry.path: entry.value for entry in file.entries} == {
        ('version',): 2,
        (*cri, 'snapshotter'): 'over\\lay',
        (*cri, 'a', 'b', 'c'): True,
        (*cri, 'a', 'b', 'd'): [1, 2],
        ('crio', 'runtimes', '0', 'n'): 31,
        ('crio', 'runtimes', '1', 'n'): 1000,
        ('crio', 'runtimes', '1', 'sub', 'f'): -1500.0,
        ('crio', 'api', 'default_ulimits'): ['nofile=1024:2048', 'x'],
        ('crio', 'api', 'text'): 'a b"" "',
        ('crio', 'api', 'raw'): "x'y",
        ('crio', 'api', 'day'): '1979-05-27 07:32:00Z',
        ('crio', 'api', 'esc'): 'é\n',
    }
    version = file.get('version')
    assert version
    assert TEXT[version.start : version.end] == '2'
    assert file.tables[0].path == cri


@pytest.mark.parametrize(
    ('text', 'value'), [('inf', math.inf), ('0o17', 15), ('-0', 0), ('false', False), ('1.0', 1.0)]
)
def test_scalars(text: str, value: object) -> None:
    assert read(f'a={text}').entries[0].value == value


@pytest.mark.parametrize(
    'text',
    [
        'a',
        'a=',
        'a=[1',
        'a="x',
        '[a',
        'a=1 b=2',
        'a={b=1',
        'a="""x',
        '=1',
        'a=' + '[' * 200,
        '.'.join('a' * 200) + '=1',
    ],
)
def test_problems(text: str) -> None:
    assert len(read(text).problems) == 1


def test_reading_goes_on_after_a_problem() -> None:
    assert [entry.path for entry in read('a = \r\nb = 1\r\nc = [1 2]\r\nd = 3').entries] == [('b',), ('d',)]


def test_edits() -> None:
    text = 'a = 1 # x\r\n[t."u.v"]\r\n  b = "c"\r\n'
    file = read(text)
    assert applied(text, replace(file.entries[0], 'q"')) == text.replace('1', '"q\\""')
    assert applied(text, insert(text, file, ('t', 'u.v'), 'k', [1, True])) == text.replace(
        '  b =', 'k = [1, true]\r\n  b ='
    )
    assert applied(text, insert(text, file, ('x', 'y.z'), 'k', 1)).endswith('\r\n\r\n[x."y.z"]\r\nk = 1\r\n')
    assert applied(text, insert(text, file, (), 'k', 1)).startswith('k = 1\r\na = 1')
