"""Caddyfile: a tree of directives with places. Source: Caddy documentation, Caddyfile Concepts; its lexer (caddyconfig/caddyfile).

Words may be quoted ("" or backquotes) or heredocs (`<<MARKER`); a line ends a directive unless a backslash stands before its end;
`{` opens a block at the end of a line only. Variables of the environment (`{$NAME:default}`) stay as they are.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from configaudit.parse.entries import Problem, Word
from configaudit.patterns import regex

DEPTH = 100
_TOKEN = regex(
    r'(?P<space>[ \t\r]+|\\\r?\n|\ufeff)|(?P<comment>\#[^\n]*)|(?P<newline>\n)'
    r'|<<(?P<marker>[A-Za-z0-9_-]+)[ \t\r]*\n(?P<heredoc>.*?)^[ \t]*(?P=marker)(?=[\s}]|\Z)'
    r'|"(?P<quoted>[^"\\]*(?:\\.[^"\\]*)*)"|`(?P<raw>[^`]*)`'
    r'|(?P<word>(?:[^\s\\]|\\(?!\r?\n))+)',
    re.DOTALL | re.MULTILINE,
)
_LINE_END = regex(r'[ \t\r]*(?:$|[#}\n])')
"""What may follow a brace that opens a block: nothing but a comment, or the end of an empty one."""
_QUOTE = regex(r'\\"')


class Directive(NamedTuple):
    """A line with its words: a directive, the addresses of a site, or `()` global options; `block` is None without braces."""

    words: tuple[Word, ...]
    block: 'tuple[Directive, ...] | None'
    start: int
    end: int

    @property
    def name(self) -> str:
        return self.words[0].text if self.words else ''

    @property
    def args(self) -> tuple[Word, ...]:
        return self.words[1:]


class Caddyfile(NamedTuple):
    directives: tuple[Directive, ...]
    problems: tuple[Problem, ...]


class _Open(NamedTuple):
    words: tuple[Word, ...]
    start: int
    directives: list[Directive]


def read(text: str) -> Caddyfile:
    """The directives; a file of one site without braces has the site's addresses as its first line."""
    problems: list[Problem] = []
    stack = [_Open((), 0, [])]
    for words, mark, start, end in _lines(text, problems):
        if mark == '{':
            if len(stack) > DEPTH:
                problems.append(Problem(start, end, 'nested too deep'))
                break
            stack.append(_Open(words, start, []))
            continue
        if words:
            stack[-1].directives.append(Directive(words, None, start, words[-1].end))
        if mark == '}' and len(stack) > 1:
            _close(stack, end)
        elif mark == '}':
            problems.append(Problem(end - 1, end, 'unexpected }'))
    while len(stack) > 1:
        problems.append(Problem(stack[-1].start, stack[-1].start + 1, '{ is not closed'))
        _close(stack, len(text))
    return Caddyfile(tuple(stack[0].directives), tuple(problems))


def _close(stack: list[_Open], end: int) -> None:
    done = stack.pop()
    stack[-1].directives.append(Directive(done.words, tuple(done.directives), done.start, end))


def _lines(text: str, problems: list[Problem]) -> Iterator[tuple[tuple[Word, ...], str, int, int]]:
    """(words, what ends them: '{', '}' or '', start, end) of every logical line. A line of addresses that ends with a comma goes on."""
    words: list[Word] = []
    at = 0
    while at < len(text):
        token = _TOKEN.match(text, at)
        if token is None:
            problems.append(Problem(at, len(text), 'cannot be read'))
            break
        at = token.end()
        kind = token.lastgroup
        if kind in ('space', 'comment'):
            continue
        if kind == 'newline':
            if words and not words[-1].text.endswith(','):
                yield tuple(words), '', words[0].start, token.start()
                words = []
            continue
        if kind == 'word' and token[0] in ('{', '}') and (token[0] == '}' or _LINE_END.match(text, at)):
            yield tuple(words), token[0], words[0].start if words else token.start(), at
            words = []
            continue
        words.append(_word(token))
    if words:
        yield tuple(words), '', words[0].start, len(text)


def _word(token: re.Match[str]) -> Word:
    for group in ('quoted', 'raw', 'heredoc'):
        if token[group] is not None:
            text = _QUOTE.sub('"', token[group]) if group == 'quoted' else token[group]
            return Word(text, token.start(group), token.end(group))
    return Word(token[0], token.start(), token.end())
