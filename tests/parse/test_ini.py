import pytest

from configaudit.parse.entries import Edit, File
from configaudit.parse.ini import (
    append,
    insert,
    read_ini,
    read_postgresql,
    read_redis,
    redis_words,
    replace,
    replace_postgresql,
)

MY = """# 注释
[mysqld]
max_connections = 500 # note
skip-name-resolve
!includedir /etc/mysql/conf.d/
init = "a # b"
[client]\r
port=3306\r
[broken
"""
POSTGRESQL = """# 注释
max_connections = 100\t# (change requires restart)
Shared_Buffers 8GB
listen_addresses='*'
search_path = 'it''s \\'x' # y
include_dir 'conf.d'
work_mem =
bad line here
"""
REDIS = """# 注释
maxclients 10000
Save 900 1 300 10
requirepass "a\\x41 \\"b" \r
client-output-buffer-limit pubsub 32mb 8mb 60
save ""
"""


def applied(text: str, edit: Edit) -> str:
    return text[: edit.start] + edit.text + text[edit.end :]


def triples(file: File) -> list[tuple[str, str, str]]:
    return [(entry.section, entry.key, entry.value) for entry in file.entries]


def test_read_ini() -> None:
    file = read_ini(MY)
    assert triples(file) == [
        ('mysqld', 'max_connections', '500'),
        ('mysqld', 'skip-name-resolve', ''),
        ('mysqld', '!includedir', '/etc/mysql/conf.d/'),
        ('mysqld', 'init', 'a # b'),
        ('client', 'port', '3306'),
    ]
    assert [MY[entry.start : entry.end] for entry in file.entries] == [entry.value for entry in file.entries]
    assert [MY[problem.start : problem.end] for problem in file.problems] == ['[broken']


def test_pgbouncer_has_no_trailing_comments() -> None:
    text = '%include a.ini\n[databases]\nd = host=h password=p#q\n'
    assert triples(read_ini(text, inline_comments=False)) == [
        ('', '%include', 'a.ini'),
        ('databases', 'd', 'host=h password=p#q'),
    ]


def test_read_postgresql() -> None:
    file = read_postgresql(POSTGRESQL)
    assert [(entry.key, entry.value) for entry in file.entries] == [
        ('max_connections', '100'),
        ('shared_buffers', '8GB'),
        ('listen_addresses', '*'),
        ('search_path', "it's 'x"),
        ('include_dir', 'conf.d'),
    ]
    assert [POSTGRESQL[problem.start : problem.end] for problem in file.problems] == ['work_mem =', 'bad line here']


@pytest.mark.parametrize(
    ('text', 'value', 'expected'),
    [
        ('a = 1 # c', '200', 'a = 200 # c'),
        ('a = 1', '4 GB', "a = '4 GB'"),
        ('a = 1', '-1', 'a = -1'),
        ("a = 'x'", "y'", "a = 'y'''"),
    ],
)
def test_replace_postgresql(text: str, value: str, expected: str) -> None:
    changed = applied(text, replace_postgresql(text, read_postgresql(text).entries[0], value))
    assert changed == expected
    assert read_postgresql(changed).entries[0].value == value


def test_read_redis() -> None:
    file = read_redis(REDIS)
    assert [(entry.key, entry.value) for entry in file.entries] == [
        ('maxclients', '10000'),
        ('save', '900 1 300 10'),
        ('requirepass', 'aA "b'),
        ('client-output-buffer-limit', 'pubsub 32mb 8mb 60'),
        ('save', ''),
    ]
    limit = file.entries[3]
    assert [word.text for word in redis_words(REDIS, limit.start, limit.end)] == ['pubsub', '32mb', '8mb', '60']


def test_edits() -> None:
    assert applied(MY, replace(read_ini(MY).entries[0], '1000')) == MY.replace('500', '1000')
    assert applied('[a]\nx=1\n[b]\n', insert('[a]\nx=1\n[b]\n', 'a', 'y', '2')) == '[a]\nx=1\ny = 2\n[b]\n'
    assert applied('a 1\r\nb 2', append('a 1\r\nb 2', 'c 3')) == 'a 1\r\nb 2\r\nc 3\r\n'
