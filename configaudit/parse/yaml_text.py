"""Values as YAML and JSON text, in the manner of the text around them."""

import re
from collections.abc import Mapping
from typing import Any

from configaudit.parse.tree import resolve
from configaudit.patterns import regex

_PLAIN = regex(r'[A-Za-z0-9_./][A-Za-z0-9_./%+@-]*\Z')
_PROPERTIES = regex(r'(?:[&!][^\s,\[\]{}]*(?:[ \t]*(?:#[^\n]*)?\r?\n)*[ \t]*)*')


def scalar(value: object, json: bool = False) -> str:
    """A value as YAML (or JSON) text."""
    if isinstance(value, (bool, int, float)):
        return unquoted(value)
    if value is None:
        return 'null'
    text = str(value)
    if json or not _PLAIN.match(text) or not isinstance(resolve(text), str):
        return quoted(text, '"')
    return text


def quoted(text: str, quote: str) -> str:
    """A text in the given quotes."""
    if quote == "'":
        return "'" + text.replace("'", "''") + "'"
    return '"' + text.replace('\\', '\\\\').replace('"', '\\"').replace('\n', '\\n').replace('\t', '\\t') + '"'


def unquoted(value: object) -> str:
    """A value as bare text: whole numbers without a fraction, truth values in small letters."""
    if isinstance(value, bool):
        return 'true' if value else 'false'
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def newline(text: str) -> str:
    """The line end that the text uses."""
    return '\r\n' if '\r\n' in text else '\n'


def indents_lists(text: str) -> bool:
    """Whether lists stand deeper than their key in this text."""
    for match in re.finditer(r'^( *)[\w.-]+:[ \t]*\r?\n( *)- ', text, re.MULTILINE):
        return len(match[2]) > len(match[1])
    return True


def block(value: object, deep: bool) -> list[str]:
    """Lines of a block value; `deep`: lists stand deeper than their key."""
    lines: list[str] = []
    if isinstance(value, Mapping):
        for key, item in value.items():
            if isinstance(item, (Mapping, list, tuple)) and item:
                pad = '' if isinstance(item, (list, tuple)) and not deep else '  '
                lines.append(f'{scalar(key)}:')
                lines.extend(pad + line for line in block(item, deep))
            else:
                lines.append(f'{scalar(key)}: {flow(item)}')
    elif isinstance(value, (list, tuple)):
        for item in value:
            inner = block(item, deep) if isinstance(item, (Mapping, list, tuple)) and item else [flow(item)]
            lines.append('- ' + inner[0])
            lines.extend('  ' + line for line in inner[1:])
    return lines


def flow(value: object, json: bool = False) -> str:
    """A value on one line."""
    if isinstance(value, Mapping):
        return '{' + entries(value, json) + '}'
    if isinstance(value, (list, tuple)):
        return '[' + ', '.join(flow(item, json) for item in value) + ']'
    return scalar(value, json)


def entries(value: Mapping[Any, object], json: bool = False) -> str:
    """The entries of a mapping on one line, without braces."""
    return ', '.join(f'{scalar(key, json)}: {flow(item, json)}' for key, item in value.items())


def own_start(text: str, start: int) -> int:
    """Where a node's own text begins, behind its anchor and tag."""
    match = _PROPERTIES.match(text, start)
    return match.end() if match else start


def column(text: str, at: int) -> int:
    """The column of an offset, counted from 0."""
    return at - (text.rfind('\n', 0, at) + 1)


def line_end(text: str, at: int) -> int:
    """After the line end of the line that holds an offset."""
    found = text.find('\n', at)
    return len(text) if found < 0 else found + 1


def leads_line(text: str, at: int) -> str | None:
    """The white space before an offset when nothing else stands before it on its line, else None."""
    before = text[text.rfind('\n', 0, at) + 1 : at]
    return before if not before.strip(' \t') else None
