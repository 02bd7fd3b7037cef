"""Words: pieces of text with their exact place, and whether they are known. What argv, env and keys are made of."""

from typing import Any, NamedTuple

from configaudit.parse.scalars import content
from configaudit.parse.tree import Map, Scalar, Seq, place_of
from configaudit.patterns import regex
from configaudit.places import Document, Place
from configaudit.units import HOLE

_VALUES = regex(rb'\{\{-?\s*\$?\.Values((?:\.[A-Za-z_]\w*)+)\s*(?:\|\s*(?:quote|int|int64|toString|squote|float64)\s*)*-?\}\}$')
_FLAG = regex(r'--?[\w.-]+=')


class Word(NamedTuple):
    """A piece of text that somebody wrote."""

    value: str
    """The text; parts that cannot be known are HOLE."""
    place: Place
    """Where it is defined."""
    pure: bool = True
    """The place spells exactly this value: replacing the text there replaces the value."""
    reason: str = ''
    """Why a part is unknown, or ''."""
    locked: str = ''
    """Why no fix may write at the place, or ''."""
    use: Place | None = None
    """Where it is used, when that is elsewhere."""
    tail: 'Word | None' = None
    """Of '--flag=$(VAR)' and 'NAME=${VAR}': the variable's own word, which is the value."""

    @property
    def known(self) -> bool:
        """Whether the whole text is known."""
        return HOLE not in self.value


def word_of(document: Document, node: Any) -> Word | None:
    """A scalar node as a word; None for collections and absence. Template holes are filled from chart values."""
    if not isinstance(node, Scalar):
        return None
    if HOLE in node.value:
        return _templated(document, node)
    return Word(node.value, content(document, node))


def _templated(document: Document, node: Any) -> Word:
    place = place_of(document, node)
    template = document.template
    reason = 'filled by a template'
    if template is None:
        return Word(node.value, place, False, 'an alias to its own parent' if node.style == '"' else reason)
    start, end = document.byte_of(place.start) - document.base, document.byte_of(place.end) - document.base
    spelled = content(document, node)
    inside = [action for action in template.actions if start <= action.start < end and not action.alone]
    parts = node.value.split(HOLE)
    if document.values is None or len(parts) != len(inside) + 1:
        return Word(node.value, spelled, False, reason)
    found: list[Word | None] = []
    for action in inside:
        match = _VALUES.match(action.text)
        found.append(document.values(match[1].decode()[1:]) if match else None)
    value = parts[0] + ''.join((word.value if word else HOLE) + part for word, part in zip(found, parts[1:], strict=True))
    if len(found) == 1 and found[0] is not None and parts == ['', '']:
        return found[0]._replace(use=place)
    if HOLE not in value:
        reason = ''
    last = found[-1]._replace(use=place) if found[-1] is not None and parts[-1] == '' else None
    tail = last if len(found) == 1 and _FLAG.fullmatch(parts[0]) else None
    return Word(value, spelled, False, reason, 'it is written by a template', tail=tail)


def is_open(document: Document, node: Map) -> bool:
    """Whether a mapping in a template may hold keys that are not written there."""
    template = document.template
    if template is None:
        return False
    base = document.base + document.bom
    starts = [document.byte_of(name.start_mark.index) - base for name in node.names.values()]
    column = _column(document, node)
    return bool(template.opens(document.byte_of(node.start) - base, document.byte_of(node.end) - base, column, starts))


def _column(document: Document, node: Map) -> int:
    start = next((name.start_mark for name in node.names.values()), None)
    return int(start.column) if start is not None else 0


def is_continued(document: Document, node: Any) -> bool:
    """Whether a list in a template may hold items that are not written there."""
    template = document.template
    if template is None:
        return False
    if not isinstance(node, Seq):
        return is_hidden(document, node)
    base = document.base + document.bom
    start, end = document.byte_of(node.start) - base, document.byte_of(node.end) - base
    column = start - template.masked.rfind(b'\n', 0, start) - 1
    return not node.flow and bool(template.continues(start, end, column))


def is_hidden(document: Document, node: Any) -> bool:
    """Whether an empty value in a template is filled by an action that the mask took out."""
    template = document.template
    if template is None:
        return False
    if isinstance(node, Map):
        return is_open(document, node)
    if isinstance(node, Scalar) and not node.value:
        at = document.byte_of(int(node.end_mark.index)) - document.base
        return bool(template.hidden_after(at))
    return False

