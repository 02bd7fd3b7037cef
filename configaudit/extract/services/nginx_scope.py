"""Blocks of nginx.conf around a directive: which value holds there, and what an `include` may change."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from configaudit import units
from configaudit.model import Setting, Slot
from configaudit.parse.nginx import Directive
from configaudit.patterns import regex
from configaudit.places import Document, Place
from configaudit.units import HOLE

_PASSES = ('proxy_pass', 'grpc_pass')
_HARMLESS = regex(r'(?:^|/)(?:mime\.types|(?:fastcgi|uwsgi|scgi)_params|[\w.-]*(?:ssl|tls|cert|gzip|types)[\w.-]*)$')
OUTER = ('http', 'main')
"""Levels whose includes bring servers, not settings."""


class Level(NamedTuple):
    """The directives of one block; `at` is the offset of its content."""

    at: int
    directives: tuple[Directive, ...]
    name: str


class Pass(NamedTuple):
    """A place that passes requests on: the directive, and the blocks around it from the outermost."""

    directive: Directive
    levels: tuple[Level, ...]


def blocks(directive: Directive) -> tuple[Directive, ...]:
    return directive.block or ()


def passes(levels: tuple[Level, ...]) -> Iterator[Pass]:
    for directive in levels[-1].directives:
        if directive.name in _PASSES and directive.args and _goes_to_http(directive):
            yield Pass(directive, levels)
        elif directive.block and directive.name in ('server', 'location', 'if', 'limit_except'):
            name = ' '.join([directive.name, *(arg.text for arg in directive.args)])
            yield from passes((*levels, Level(directive.inner.start, directive.block, name)))


def _goes_to_http(directive: Directive) -> bool:
    """Whether a pass names a URL or a variable; in a stream it names a bare address."""
    return '://' in directive.args[0].text or '$' in directive.args[0].text


def setting(name: str, document: Document, directive: Directive, unit: str, spec_unit: str = '') -> Setting:
    """The first argument of a directive as a setting; `words` is all of them."""
    arg = directive.args[0] if directive.args else None
    place = Place(document, arg.start, arg.end) if arg else Place(document, directive.start, directive.end)
    raw = ' '.join(word.text for word in directive.args) if unit == 'words' else arg.text if arg else ''
    slot = Slot('nginx', place)
    if HOLE in raw or raw.startswith('$'):
        return Setting(name, None, place, 'inherited', 'a variable or template decides', slot=slot)
    convert: dict[str, Any] = {'s': units.seconds, 'count': units.integer, 'bool': units.boolean}
    value = convert[unit](raw) if unit in convert else raw
    reason = '' if value is not None else f'{raw!r} is not a value of {directive.name}'
    return Setting(name, value, place, reason=reason, slot=slot, unit=spec_unit or unit)


def name_place(document: Document, directive: Directive) -> Place:
    return Place(document, directive.start, directive.start + len(directive.name))


def find(levels: tuple[Level, ...], name: str) -> tuple[Directive | None, bool]:
    """The directive that holds in the innermost level, and whether an unread `include` may set it."""
    for level in reversed(levels):
        found = [directive for directive in level.directives if directive.name == name]
        if found:
            return found[-1], False
        if level.name not in OUTER and has_include(level):
            return None, True
    return None, False


def has_include(level: Level) -> bool:
    return any(
        directive.name == 'include' and not (directive.args and _HARMLESS.search(directive.args[0].text)) for directive in level.directives
    )
