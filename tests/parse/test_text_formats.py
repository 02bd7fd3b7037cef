"""Every reader of a text format on damaged input: no exception, sound spans, linear time."""

import random
import time
from collections.abc import Callable, Iterator

import pytest

from configaudit.parse import dockerfile, dotenv, gomod, ini, limits, nginx, pbtxt, sysctl, systemd, toml, udev
from configaudit.units import HOLE

Reader = Callable[[str], tuple[object, ...]]
READERS: dict[str, Reader] = {
    'systemd': systemd.read,
    'sysctl': sysctl.read,
    'limits': limits.read,
    'udev': udev.read,
    'dockerfile': dockerfile.read,
    'env': dotenv.read_env,
    'env-file': lambda text: dotenv.read_env(text, literal=True),
    'properties': dotenv.read_properties,
    'pbtxt': pbtxt.read,
    'nginx': nginx.read,
    'toml': toml.read,
    'gomod': gomod.read,
    'ini': ini.read_ini,
    'postgresql': ini.read_postgresql,
    'redis': ini.read_redis,
}
PIECES = [
    *('"', "'", '\\', '\n', '\r\n', '\r', ' ', '\t', '#', ';', '=', ':', '[', ']', '{', '}', '<', '>', ',', '.', '/'),
    *('$', '${', '${A:-', '%', '%i', '`', '(', ')', '-', '+', '!', '@', '=>', '//', '<<EOF', '"""', "'''", '[[', ']]'),
    *('[Service]\n', 'A=1', 'ExecStart=/bin/x "y', 'FROM a AS b\n', 'ENV A=$A$A', 'CMD ["x", "y"]', 'RUN x \\\n'),
    *('net/ipv4.x = 1\n', '* soft nofile 1\n', 'KERNEL=="a"', 'a: {', 'a: "b"', 'a [', 'http {', 'x_by_lua_block {'),
    *('require (\n', 'go 1.22\n', 'a = 1\n', '!include x', '\\u00', '\\ud83d', '\\x', '0x', '1e', '_', 'é', '注', HOLE),
    *('\u2028', '\x85', '\x00', '\x0c', '\ufeff', '\ud800', '\u3000', '٣'),
]


def spans(value: object) -> Iterator[tuple[int, int]]:
    """Every start and end in a tree of named tuples."""
    if isinstance(value, tuple):
        if hasattr(value, 'start') and hasattr(value, 'end'):
            yield value.start, value.end
        for item in value:
            yield from spans(item)


@pytest.mark.parametrize('name', READERS)
def test_damaged_input(name: str) -> None:
    chance = random.Random(f'{name} 1')
    for _ in range(600):
        text = ''.join(chance.choices(PIECES, k=chance.randrange(1, 60)))
        for start, end in spans(READERS[name](text)):
            assert 0 <= start <= end <= len(text), text


@pytest.mark.parametrize('name', READERS)
@pytest.mark.parametrize(
    'unit',
    [
        *(
            '"',
            '\\"',
            "'",
            '\\',
            '{',
            '[',
            'a{',
            'a=[',
            'a: {',
            'a[{',
            '<',
            '[[',
            '"""',
            "'''",
            'a."',
            '${A:-',
            '$A',
            '#',
        ),
        *(
            ' ',
            '\n',
            '\r',
            'a',
            'a b',
            'a = "b\n',
            'a \\\n',
            '"\\\n',
            '"x\\\n\\',
            'RUN <<A\n',
            'x_by_lua_block{"\\"',
            'a.',
        ),
        *('FROM a AS a\n', 'ENV A=$A$A\n', 'A=', 'a={b=', '`', '\'"', '\\\'"', '[a]\n', 'require (\n', "x ''#", 'K=="'),
    ],
)
def test_repeated_input_takes_linear_time(name: str, unit: str) -> None:
    started = time.process_time()
    READERS[name](unit * (60_000 // len(unit)))
    # Linear is some 0.1 s here; quadratic would be tens of seconds.
    assert time.process_time() - started < 3


def insertions(text: str) -> Iterator[tuple[str, bool]]:
    """The text after an insertion by each writer, and whether its reader finds the new key."""
    edit = systemd.insert(text, 'S', 'K', 'v')
    changed = text[: edit.start] + edit.text + text[edit.end :]
    yield changed, 'K' in {entry.key for entry in systemd.read(changed).entries if entry.section == 'S'}
    edit = sysctl.insert(text, 'k.k', 'v')
    changed = text[: edit.start] + edit.text + text[edit.end :]
    yield changed, 'k.k' in {entry.key for entry in sysctl.read(changed).entries}


def test_inserted_entries_are_found() -> None:
    chance = random.Random(2)
    for _ in range(1500):
        pieces = ['[S]', '\n', '\n', 'a=1', ' ', '\\', '\\\n', '#x', '[T]', '\r\n', '"']
        text = ''.join(chance.choices(pieces, k=chance.randrange(12)))
        for changed, found in insertions(text):
            assert found, (text, changed)
