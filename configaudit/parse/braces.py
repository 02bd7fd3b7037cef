"""Files of words, quoted strings and nested braces: odyssey.conf, and proxysql.cnf (libconfig).

Sources: Odyssey documentation "Configuration", libconfig manual "Configuration Files".
"""

from typing import NamedTuple

from configaudit.patterns import regex

_TOKEN = regex(r'#[^\n]*|//[^\n]*|/\*.*?(?:\*/|\Z)|"(?:[^"\\]|\\.)*(?:"|\Z)|[{}()\[\]]|[=:;,]|[^\s{}()\[\]=:;,"#]+', 16)
_OPEN, _CLOSE = '{([', '})]'
MAX_DEPTH = 40


class Value(NamedTuple):
    """A word or string: its text without quotes, and where that stands."""

    text: str
    start: int
    end: int


class Group(NamedTuple):
    """The words before a brace, and what is inside: `database "shop" {`, `mysql_servers = (`."""

    head: tuple[Value, ...]
    items: 'tuple[Group | Value, ...]'


Items = list['Group | Value']


def read(text: str) -> Group:
    """The whole file as one group. Broken nesting ends the innermost group; deeper than MAX_DEPTH is left out."""
    stack: list[tuple[tuple[Value, ...], Items]] = [((), [])]
    skipped, assigned = 0, False
    for found in _TOKEN.finditer(text):
        token = found[0]
        if token.startswith(('#', '//', '/*')):
            continue
        if token in _OPEN:
            if len(stack) > MAX_DEPTH:
                skipped += 1
            else:
                stack.append((_take_head(text, stack[-1][1], 1 if assigned else 2), []))
        elif token in _CLOSE:
            if skipped:
                skipped -= 1
            elif len(stack) > 1:
                _close(stack)
        elif token not in ('=', ':', ',', ';'):
            quoted = token[0] == '"'
            start, end = found.start() + quoted, found.end() - (quoted and token.endswith('"') and len(token) > 1)
            stack[-1][1].append(Value(text[start:end], start, end))
        assigned = token in ('=', ':')
    while len(stack) > 1:
        _close(stack)
    return Group((), tuple(stack[0][1]))


def _take_head(text: str, items: Items, most: int) -> tuple[Value, ...]:
    """The last words before a brace, on one line: a kind and a name, or the one name that something is assigned to."""
    head: list[Value] = []
    while items and len(head) < most:
        last = items[-1]
        if isinstance(last, Group) or (head and '\n' in text[last.end : head[0].start]):
            break
        head.insert(0, last)
        items.pop()
    return tuple(head)


def _close(stack: list[tuple[tuple[Value, ...], Items]]) -> None:
    head, items = stack.pop()
    stack[-1][1].append(Group(head, tuple(items)))


def pairs(group: Group) -> dict[str, Value]:
    """Words that are followed by a word: `pool_size 10`, `max_connections=200`."""
    found: dict[str, Value] = {}
    for name, value in zip(group.items, group.items[1:], strict=False):
        if isinstance(name, Value) and isinstance(value, Value):
            found.setdefault(name.text.lower(), value)
    return found


def groups(group: Group, kind: str) -> list[Group]:
    """The groups inside whose first word is a kind."""
    return [item for item in group.items if isinstance(item, Group) and item.head and item.head[0].text == kind]
