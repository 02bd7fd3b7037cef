"""Minimal edits of command lines: an argument's value, a flag added or taken away, in lists and in scripts."""

import re
from collections.abc import Sequence

from configaudit.model import REMOVE
from configaudit.parse.entries import Edit
from configaudit.parse.tree import Node, Scalar, Seq
from configaudit.parse.yaml_edit import CannotEdit, newline, walk
from configaudit.patterns import regex

_SAFE = regex(r'[\w./:=,@%+-]+\Z')
_FLAG_BEFORE = regex(r'(?P<gap>(?:\s|\\\r?\n)*)(?P<flag>--?[\w.-]+)(?:\s|\\\r?\n)+\Z')


def replace(text: str, start: int, end: int, value: object) -> Edit:
    """A new value for an argument, in the quotes it has."""
    new = spell(value)
    old = text[start:end]
    if old[:1] in ('"', "'") and old[-1:] == old[:1] and len(old) > 1:
        new = old[0] + new + old[0]
    return Edit(start, end, new)


def spell(value: object) -> str:
    """A value as one word of a command line."""
    text = str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
    if not _SAFE.match(text):
        raise CannotEdit(f'{text!r} would need quotes')
    return text


def flag(path: tuple[str, ...], value: object) -> str:
    """A flag as it is added: '--name=value', or the bare switch for True."""
    return path[0] if value is True else f'{path[0]}={spell(value)}'


def insert_item(text: str, roots: Sequence[Node], start: int, path: tuple[str, ...], value: object) -> Edit:
    """Add a flag to a list of arguments, behind the item at `start`."""
    items, at = _item(roots, start)
    if items is None:
        return insert_word(text, start, _word_end(text, start), path, value)
    last = items[at]
    begin, end = int(last.start_mark.index), int(last.end_mark.index)
    quote = last.style if last.style in ('"', "'") else ''
    added = quote + flag(path, value) + quote
    if items.flow:
        return Edit(end, end, f', {added}')
    column = begin - (text.rfind('\n', 0, begin) + 1)
    dash = text.rfind('-', text.rfind('\n', 0, begin) + 1, begin)
    pad = text[text.rfind('\n', 0, begin) + 1 : dash] if dash >= 0 else ' ' * max(column - 2, 0)
    gap = text[dash + 1 : begin] if dash >= 0 else ' '
    stop = text.find('\n', end)
    stop = len(text) if stop < 0 else stop
    stop = stop - 1 if text[stop - 1 : stop] == '\r' else stop
    return Edit(stop, stop, f'{newline(text)}{pad}-{gap}{added}')


def _word_end(text: str, start: int) -> int:
    match = re.compile(r'\S*').match(text, start)
    return match.end() if match else start


def insert_word(text: str, start: int, end: int, path: tuple[str, ...], value: object) -> Edit:
    """Add a flag behind a word of a script, on a line of its own where the command is written that way."""
    added = flag(path, value)
    begin = text.rfind('\n', 0, start) + 1
    before = text[:begin].rstrip('\r\n')
    if before.endswith('\\') and begin:
        indent = text[begin : begin + len(text[begin:]) - len(text[begin:].lstrip(' \t'))]
        return Edit(end, end, f' \\{newline(text)}{indent}{added}')
    return Edit(end, end, f' {added}')


def remove_item(text: str, roots: Sequence[Node], start: int) -> list[Edit] | None:
    """Take a flag (and the value that follows it) out of a list; None when the place is not in a list."""
    items, at = _item(roots, start)
    if items is None:
        return None
    first = last = at
    if not items[at].value.startswith('-') and at and items[at - 1].value.startswith('-') and '=' not in items[at - 1].value:
        first = at - 1
    begin, end = int(items[first].start_mark.index), int(items[last].end_mark.index)
    if items.flow:
        after = re.compile(r'\s*,\s*').match(text, end)
        if after:
            return [Edit(begin, after.end(), '')]
        before = re.search(r'\s*,\s*\Z', text[:begin])
        return [Edit(before.start() if before else begin, end, '')]
    begin = text.rfind('\n', 0, begin) + 1
    stop = text.find('\n', end)
    return [Edit(begin, len(text) if stop < 0 else stop + 1, '')]


def remove_word(text: str, start: int, end: int) -> Edit:
    """Take a flag (and its value) out of a script, with the white space or continuation before it."""
    begin = start
    if not text[start:end].lstrip('"\'').startswith('-'):
        joined = re.search(r'(--?[\w.-]+=["\']?)\Z', text[:start])
        spaced = _FLAG_BEFORE.search(text[:start])
        if joined:
            begin = joined.start()
            end += text[end : end + 1] in ('"', "'") and text[joined.end() - 1] == text[end]
        elif spaced:
            begin = spaced.start('flag')
    gap = re.search(r'(?:[ \t]|\\\r?\n)*\Z', text[:begin])
    return Edit(gap.start() if gap else begin, end, '')


def _item(roots: Sequence[Node], start: int) -> tuple[Seq, int] | tuple[None, int]:
    """The list item that an offset stands in."""
    for node in walk(roots):
        if isinstance(node, Seq):
            for at, item in enumerate(node):
                if isinstance(item, Scalar) and int(item.start_mark.index) <= start < max(int(item.end_mark.index), 1):
                    if item.style in ('|', '>'):
                        raise CannotEdit('the argument is a script')
                    return node, at
    return None, 0


def edit(text: str, roots: Sequence[Node] | None, start: int, end: int, path: tuple[str, ...], value: object) -> list[Edit]:
    """The edits for a slot on a command line: replace, remove, or (with a path) add. `roots`: of YAML, None for scripts."""
    if path:
        if roots is not None:
            return [insert_item(text, roots, start, path, value)]
        return [insert_word(text, start, end, path, value)]
    if value is REMOVE:
        removed = remove_item(text, roots, start) if roots is not None else None
        return removed or [remove_word(text, start, end)]
    return [replace(text, start, end, value)]
