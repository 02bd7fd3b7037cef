import pytest

from configaudit.parse.entries import Edit
from configaudit.parse.sysctl import delete_line, insert, normalised, read, replace

TEXT = """# \u6ce8\u91ca net.x = 1
; also a comment
net.core.somaxconn=4096
-net/ipv4/conf/eth0.5/rp_filter = 2\r
net.ipv4.conf.*.rp_filter = 1 2\t3 # kept
-net.ipv4.conf.lo.rp_filter
vm.swappiness 10
"""


def applied(text: str, edit: Edit) -> str:
    return text[: edit.start] + edit.text + text[edit.end :]


def test_read() -> None:
    file = read(TEXT)
    assert [(entry.key, entry.value) for entry in file.entries] == [
        ('net.core.somaxconn', '4096'),
        ('net.ipv4.conf.eth0/5.rp_filter', '2'),
        ('net.ipv4.conf.*.rp_filter', '1 2\t3 # kept'),
    ]
    assert [word.text for word in file.excluded] == ['net.ipv4.conf.lo.rp_filter']
    assert [TEXT[problem.start : problem.end] for problem in file.problems] == ['vm.swappiness 10']
    assert [TEXT[entry.start : entry.end] for entry in file.entries] == [entry.value for entry in file.entries]


@pytest.mark.parametrize(('key', 'expected'), [('a/b.c', 'a.b/c'), ('a.b/c', 'a.b/c'), ('a', 'a'), ('', '')])
def test_normalised(key: str, expected: str) -> None:
    assert normalised(key) == expected


def test_edits() -> None:
    first = read(TEXT).entries[0]
    assert applied(TEXT, replace(first, '65535')) == TEXT.replace('4096', '65535')
    assert applied(TEXT, delete_line(TEXT, first)) == TEXT.replace('net.core.somaxconn=4096\n', '')
    assert applied('a = 1', insert('a = 1', 'b', '2')) == 'a = 1\nb = 2\n'


def test_delete_the_last_line_without_an_end() -> None:
    text = 'a = 1\nb = 2'
    assert applied(text, delete_line(text, read(text).entries[1])) == 'a = 1\n'
