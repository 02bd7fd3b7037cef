"""Edits of the line formats, all through one signature."""

import pytest

from configaudit.model import REMOVE
from configaudit.parse.line_edit import edit
from configaudit.parse.yaml_edit import CannotEdit


def written(form: str, text: str, at: str, path: tuple[str, ...], value: object) -> str:
    start = text.index(at)
    for one in sorted(edit(form, text, start, start + len(at), path, value), reverse=True):
        text = text[: one.start] + one.text + text[one.end :]
    return text


@pytest.mark.parametrize(
    ('form', 'text', 'at', 'path', 'value', 'expected'),
    [
        ('systemd', '[Service]\r\nLimitNOFILE=1024\r\n', '1024', (), 65536, '[Service]\r\nLimitNOFILE=65536\r\n'),
        ('systemd', '[Service]\nExecStart=/x \\\n  --y\n\n[Install]\n', '/x', ('Service', 'Restart'), 'always', '[Service]\nExecStart=/x \\\n  --y\nRestart=always\n\n[Install]\n'),
        ('systemd', '[Unit]\nA=1', 'A', ('Service', 'Restart'), 'always', '[Unit]\nA=1\n\n[Service]\nRestart=always\n'),
        ('sysctl', 'net.core.somaxconn = 128 \r\n', '128', (), 4096.0, 'net.core.somaxconn = 4096 \r\n'),
        ('sysctl', 'a.b = 1', '1', ('c.d',), '3 4', 'a.b = 1\nc.d = 3 4\n'),
        ('sysctl', 'a.b = 1\r\nc.d = 2\r\n', '1', (), REMOVE, 'c.d = 2\r\n'),
        ('sysctl', 'a.b = 1\nc.d = 2', '2', (), REMOVE, 'a.b = 1\n'),
        ('env', 'A=1', '1', ('B',), 'x', 'A=1\nB=x\n'),
        ('env', 'export A="1 2" # c\n', '1 2', (), '3', 'export A="3" # c\n'),
        ('properties', 'a.b=1\r\n', '1', ('c.d',), 5, 'a.b=1\r\nc.d=5\r\n'),
        ('nginx', 'upstream a { server b; }\n', 'server', ('keepalive',), 64, 'upstream a { server b; keepalive 64; }\n'),
        ('nginx', 'upstream a {\n  server b; # c\n}\n', 'server', ('keepalive',), 64, 'upstream a {\n  server b; # c\n  keepalive 64;\n}\n'),
        ('nginx', 'a {\n  b 1; # c\n}\n', '1', (), REMOVE, 'a {\n}\n'),
        ('pbtxt', 'dynamic_batching {\n  a: 4\n}', 'a: 4', ('delay',), 100, 'dynamic_batching {\n  a: 4\n  delay: 100\n}'),
        ('pbtxt', 'd {\n  a: [4, 8]\n  b: 1\n}', '[4, 8]', (), REMOVE, 'd {\n  b: 1\n}'),
        ('toml', '[a]\nx = 1 # c\n', 'x', ('a', 'z'), True, '[a]\nz = true\nx = 1 # c\n'),
        ('toml', '[a]\nx = 1 # c\n', '1', (), 2, '[a]\nx = 2 # c\n'),
        ('ini', '[a]\nx = 1 ; c\n', '1', (), '2', '[a]\nx = 2 ; c\n'),
        ('limits', '* soft nofile 1024\n', '1024', (), 65536, '* soft nofile 65536\n'),
        ('dockerfile', 'FROM x\nCMD ["a"] \n', 'CMD', ('--b',), 1, 'FROM x\nCMD ["a", "--b=1"] \n'),
        ('dockerfile', 'FROM x\nCMD a \\\n  b\n', 'CMD', ('--b',), True, 'FROM x\nCMD a \\\n  b --b\n'),
    ],
)  # fmt: skip
def test_only_the_value_is_written(form: str, text: str, at: str, path: tuple[str, ...], value: object, expected: str) -> None:
    assert written(form, text, at, path, value) == expected


@pytest.mark.parametrize(
    ('form', 'text', 'at', 'value', 'reason'),
    [
        ('nginx', 'http { a 1; b 2; }\n', '1', REMOVE, 'line of its own'),
        ('pbtxt', 'a: 1, b: 2\n', '1', REMOVE, 'line of its own'),
        ('pbtxt', 'd { a: 1 }\n', '1', REMOVE, 'line of its own'),
        ('systemd', '[Service]\nA=1 \\\n  2\n', '1', REMOVE, 'line of its own'),
        ('systemd', '[Service]\nA=1 \\\n  2\n', '2', REMOVE, 'line of its own'),
        ('env', 'A=1\n', '1', 'x\ny', 'several lines'),
    ],
)
def test_what_needs_a_person(form: str, text: str, at: str, value: object, reason: str) -> None:
    with pytest.raises(CannotEdit, match=reason):
        written(form, text, at, (), value)
