"""Blocks of nginx.conf around a directive: which value holds there, and what included files bring."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

from configaudit import units
from configaudit.model import Setting, Slot
from configaudit.parse.lines import Span
from configaudit.parse.nginx import Directive
from configaudit.patterns import regex
from configaudit.places import Document, Place
from configaudit.units import HOLE

_PASSES = ('proxy_pass', 'grpc_pass')
_HARMLESS = regex(r'(?:^|/)(?:mime\.types|(?:fastcgi|uwsgi|scgi)_params|[\w.-]*(?:ssl|tls|cert|gzip|types)[\w.-]*)$')
OUTER = ('http', 'main')
"""Levels whose includes bring servers, not settings."""


NO_HEAD = Span(0, 0)


class Level(NamedTuple):
    """The directives that one file has in a block; `at` is the offset of its content, `depth` how many blocks are around it.

    A block with included files is several levels of one depth, its own directives last.
    """

    at: int
    directives: tuple[Directive, ...]
    name: str
    document: Document
    depth: int = 0
    unseen: bool = False
    """Whether it includes a file that is not among those read."""
    head: Span = NO_HEAD
    """Where the block's own name stands; empty for a whole file."""


class Pass(NamedTuple):
    """A place that passes requests on: the directive, its file, and the blocks around it from the outermost."""

    directive: Directive
    levels: tuple[Level, ...]
    document: Document


class Held(NamedTuple):
    """The directive that holds somewhere, and the file it stands in; `hidden`: an unread `include` may set it."""

    directive: Directive | None
    document: Document
    hidden: bool = False


Included: TypeAlias = Sequence[tuple[Document, tuple[Directive, ...]]]
Includes: TypeAlias = Callable[[Document, str], Included | None]
"""What an include's argument names: files with their directives; None when they are not among those read."""


def opened(document: Document, at: int, directives: tuple[Directive, ...], name: str, includes: Includes, depth: int = 0, head: Span = NO_HEAD) -> tuple[Level, ...]:
    """The levels of a block: those of the files it includes, then its own."""
    found, unseen = _included(document, directives, name, includes, depth, 5)
    return (*found, Level(at, directives, name, document, depth, unseen, head))


def _included(document: Document, directives: tuple[Directive, ...], name: str, includes: Includes, depth: int, left: int) -> tuple[list[Level], bool]:
    levels: list[Level] = []
    unseen = False
    for item in directives:
        if item.name != 'include' or not item.args or _HARMLESS.search(item.args[0].text):
            continue
        files = includes(document, item.args[0].text) if left else None
        if files is None:
            unseen = True
            continue
        for inner, content in files:
            more, hidden = _included(inner, content, name, includes, depth, left - 1)
            levels.extend((*more, Level(0, content, name, inner, depth, hidden)))
            unseen = unseen or hidden
    return levels, unseen


def blocks(directive: Directive) -> tuple[Directive, ...]:
    return directive.block or ()


def here(levels: tuple[Level, ...]) -> tuple[Level, ...]:
    """The levels of the innermost block."""
    return tuple(level for level in levels if level.depth == levels[-1].depth)


def passes(levels: tuple[Level, ...], includes: Includes) -> Iterator[Pass]:
    """Every pass in the innermost block and in the blocks in it."""
    for level in here(levels):
        for directive in level.directives:
            if directive.name in _PASSES and directive.args and _goes_to_http(directive):
                yield Pass(directive, levels, level.document)
            elif directive.block and directive.name in ('server', 'location', 'if', 'limit_except'):
                name = ' '.join([directive.name, *(arg.text for arg in directive.args)])
                head = Span(directive.start, directive.start + len(directive.name))
                inner = opened(level.document, directive.inner.start, directive.block, name, includes, level.depth + 1, head)
                yield from passes((*levels, *inner), includes)


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


def find(levels: tuple[Level, ...], name: str) -> Held:
    """The directive that holds in the innermost level."""
    for level in reversed(levels):
        found = [directive for directive in level.directives if directive.name == name]
        if found:
            return Held(found[-1], level.document)
        if level.name not in OUTER and level.unseen and not _among(levels, level.depth, name):
            return Held(None, level.document, True)
    return Held(None, levels[-1].document)


def _among(levels: tuple[Level, ...], depth: int, name: str) -> bool:
    """Whether a directive stands in any file of a block."""
    return any(directive.name == name for level in levels if level.depth == depth for directive in level.directives)


def has_include(directives: tuple[Directive, ...]) -> bool:
    """Whether a block includes a file that may set something."""
    return any(item.name == 'include' and not (item.args and _HARMLESS.search(item.args[0].text)) for item in directives)


def unread(document: Document, name: str) -> Included | None:
    """No file besides the one that is read is known."""
    return None
