"""Minimal edits of command lines: an argument's value, a flag added or taken away, in lists and in scripts."""

from collections.abc import Sequence

from configaudit.model import REMOVE
from configaudit.parse.entries import Edit
from configaudit.parse.tree import Node, Scalar, Seq, resolve
from configaudit.parse.yaml_edit import CannotEdit, children, shared, walk, without_comma
from configaudit.parse.yaml_text import column, leads_line, line_end, newline, own_start, quoted
from configaudit.patterns import regex

_SAFE = regex(r'[\w./:=,@%+-]+\Z')
_FLAG_BEFORE = regex(r'(?P<gap>(?:\s|\\\r?\n)*)(?P<flag>--?[\w.-]+)(?:\s|\\\r?\n)+\Z')
_JOINED = regex(r'(--?[\w.-]+=["\']?)\Z')
_GAP = regex(r'(?:[ \t]|\\\r?\n)*\Z')
_WORD = regex(r'[^\s"\']*')
_VARIABLE = regex(r'\$\{[^{}]*\}')
_BRACE = regex(r'\$\{|\}')


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


def insert_item(text: str, items: Seq, at: int, added: str) -> Edit:
    """Add an argument to a list, behind the item with that number and in its quotes."""
    last = items[at]
    begin, end = _span(text, last)
    added = quoted(added, last.style) if last.style in ('"', "'") else added
    lead = leads_line(text, begin)
    if items.flow:
        return Edit(end, end, (', ' if lead is None or not at else f',{newline(text)}{lead}') + added)
    dash = text.rfind('-', text.rfind('\n', 0, begin) + 1, begin)
    indent, gap = (column(text, dash), text[dash + 1 : begin]) if dash >= 0 else (max(column(text, begin) - 2, 0), ' ')
    gap = gap if not gap.strip(' ') else ' '
    stop = line_end(text, end)
    stop -= text[:stop].endswith('\n') + text[:stop].endswith('\r\n')
    return Edit(stop, stop, f'{newline(text)}{" " * indent}-{gap}{added}')


def insert_word(text: str, start: int, end: int, path: tuple[str, ...], value: object) -> Edit:
    """Add a flag behind a word of a script, on a line of its own where the command is written that way."""
    added = flag(path, value)
    begin = text.rfind('\n', 0, start) + 1
    before = text[:begin].rstrip('\r\n')
    if before.endswith('\\') and begin:
        indent = text[begin : begin + len(text[begin:]) - len(text[begin:].lstrip(' \t'))]
        return Edit(end, end, f' \\{newline(text)}{indent}{added}')
    return Edit(end, end, f' {added}')


def remove_item(text: str, items: Seq, at: int) -> Edit:
    """Take a flag (and the value that follows it) out of a list."""
    first = at
    if not items[at].value.startswith('-') and at and items[at - 1].value.startswith('-') and '=' not in items[at - 1].value:
        first = at - 1
    if first == 0 and at == len(items) - 1:
        raise CannotEdit('nothing would be left in the list')
    begin, end = _span(text, items[first])[0], _span(text, items[at])[1]
    if items.flow:
        return without_comma(text, begin, end)
    begin = text.rfind('\n', 0, begin) + 1
    if text[begin:].lstrip(' ')[:1] != '-':
        raise CannotEdit('it does not stand on a line of its own')
    return Edit(begin, line_end(text, end), '')


def remove_word(text: str, start: int, end: int) -> Edit:
    """Take a flag (and its value) out of a script, with the white space or continuation before it."""
    begin = start
    if not text[start:end].lstrip('"\'').startswith('-'):
        joined = _JOINED.search(text[:start])
        spaced = _FLAG_BEFORE.search(text[:start])
        if joined:
            begin = joined.start()
            end += text[end : end + 1] in ('"', "'") and text[joined.end() - 1] == text[end]
        elif spaced:
            begin = spaced.start('flag')
    gap = _GAP.search(text[:begin])
    return Edit(gap.start() if gap else begin, end, '')


def _span(text: str, item: Scalar) -> tuple[int, int]:
    """An item's own text, behind its anchor and tag."""
    end = int(item.end_mark.index)
    return min(own_start(text, int(item.start_mark.index)), end), end


def _item(text: str, roots: Sequence[Node], start: int, end: int) -> tuple[Seq, int] | None:
    """The list and number of the item that is an argument and holds an offset; None for a word inside a script."""
    common = shared(text, roots)
    for node in walk(roots):
        for at, item in enumerate(children(node)):
            if not isinstance(item, Scalar) or not int(item.start_mark.index) <= start < max(int(item.end_mark.index), 1):
                continue
            if id(node) in common or id(item) in common:
                raise CannotEdit('several places share it (a YAML anchor)')
            begin, stop = _span(text, item)
            whole = end - start >= stop - begin - (2 if item.style in ('"', "'") else 0)
            one = whole or item.value.startswith('-') or _VARIABLE.fullmatch(item.value)
            if not isinstance(node, Seq) or item.style in ('|', '>') or not one:
                return None
            return node, at
    return None


def edit(
    text: str, roots: Sequence[Node] | None, start: int, end: int, path: tuple[str, ...], value: object, *, script: bool = False
) -> list[Edit]:
    """The edits for a slot on a command line: replace, remove, or (with a path) add.

    `roots`: the trees where the document is YAML or JSON; `script`: the line is one string for a shell.
    """
    found = _item(text, roots, start, end) if roots is not None else None
    if path:
        if found is not None and not script:
            return [insert_item(text, *found, flag(path, value))]
        return [insert_word(text, start, _behind_quote(text, roots, *_behind_variable(text, start, end)), path, value)]
    if value is REMOVE:
        return [remove_item(text, *found) if found is not None else remove_word(text, start, end)]
    made = replace(text, start, end, value)
    whole = _scalar(text, roots, made.start, made.end) if roots is not None else None
    if whole is not None and not whole.style and isinstance(resolve(whole.value), str) and not isinstance(resolve(made.text), str):
        return [made._replace(text=quoted(made.text, '"'))]
    return [made]


def _behind_variable(text: str, start: int, end: int) -> tuple[int, int]:
    """A word's own span; of one that is the default in `${NAME:-word}`, that of the variable and what is joined to it."""
    line = text.rfind('\n', 0, start) + 1
    opened: list[int] = []
    for brace in _BRACE.finditer(text, line):
        if brace.start() >= end and not opened:
            break
        if brace[0] != '}':
            opened.append(brace.start())
        elif len(opened) > 1 or (opened and brace.start() < end):
            opened.pop()
        elif opened and '\n' not in text[line : brace.start()]:
            rest = _WORD.match(text, brace.end())
            return min(opened[0], start), rest.end() if rest is not None else brace.end()
    return start, end


def _behind_quote(text: str, roots: Sequence[Node] | None, start: int, end: int) -> int:
    """The end of a word, with the quote that the shell reads behind it."""
    if text[start - 1 : start] not in ('"', "'") or text[end : end + 1] != text[start - 1]:
        return end
    return end if roots is not None and _scalar(text, roots, start, end) is not None else end + 1


def _scalar(text: str, roots: Sequence[Node], start: int, end: int) -> Scalar | None:
    """The scalar whose text, in quotes or not, is exactly start..end."""
    for node in (child for parent in walk(roots) for child in children(parent) if isinstance(child, Scalar)):
        begin, stop = _span(text, node)
        inside = 1 if node.style in ('"', "'") else 0
        if (begin, stop) == (start, end) or (begin + inside, stop - inside) == (start, end):
            return node
    return None
