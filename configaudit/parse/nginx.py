"""nginx.conf, one file: a tree of directives. Source: ngx_conf_file.c and the Lua module's blocks.

`include` is a directive like any other: reading the other files is the caller's business.
"""

import re
from typing import NamedTuple, TypeAlias

from configaudit.parse.entries import Edit, Problem, Word
from configaudit.parse.lines import Span, append_line, insert_in_block, newline, quote_of
from configaudit.patterns import regex

Arg: TypeAlias = Word

DEPTH = 100
TOKEN = regex(
    r'[ \t\r\n]+|\#[^\n]*|(?P<mark>[;{}])'
    r'|(?P<quoted>"[^"\\]*(?:\\.[^"\\]*)*"|\'[^\'\\]*(?:\\.[^\'\\]*)*\')'
    r'|(?P<open>["\'])'
    r'|(?P<word>(?:[^ \t\r\n;{\\$]+|\\.|\$\{|\$|\\)+)',
    re.DOTALL,
)
# An unclosed quote takes the rest of its line: trying again at every later quote would be quadratic.
LUA = regex(
    r'--[^\n]*|"[^"\\\n]*(?:\\[^\n][^"\\\n]*)*"|\'[^\'\\\n]*(?:\\[^\n][^\'\\\n]*)*\'|["\'][^\n]*|(?P<brace>[{}])'
)
ESCAPE = regex(r'\\(.)', re.DOTALL)
ESCAPES = {'"': '"', "'": "'", '\\': '\\', 't': '\t', 'r': '\r', 'n': '\n'}


class Directive(NamedTuple):
    """A directive; `end` is after its `;` or `}`. `block` is None without one, () for Lua code.

    `inner` is the content between the braces.
    """

    name: str
    args: tuple[Arg, ...]
    block: tuple['Directive', ...] | None
    start: int
    end: int
    inner: Span


class NginxFile(NamedTuple):
    directives: tuple[Directive, ...]
    problems: tuple[Problem, ...]


class _Open(NamedTuple):
    """A block that is not closed yet: its words, where its content starts, its directives."""

    words: list[Word]
    start: int
    directives: list[Directive]


def read(text: str) -> NginxFile:
    """The directives; a broken part is a problem, and reading goes on after it where that is possible."""
    problems: list[Problem] = []
    stack = [_Open([], 0, [])]
    words: list[Word] = []
    at = 0
    while at < len(text):
        token = TOKEN.match(text, at)
        if token is None or token.lastgroup == 'open' or (token['mark'] == '{' and len(stack) > DEPTH):
            problems.append(Problem(at, len(text), 'a quote is not closed' if text[at] in '"\'' else 'nested too deep'))
            break
        at = token.end()
        if token.lastgroup == 'mark':
            at = _mark(text, token, words, stack, problems)
            words = []
        elif token.lastgroup:
            words.append(_word(text, token))
    if words:
        problems.append(Problem(words[0].start, words[-1].end, 'the directive does not end with ;'))
    while len(stack) > 1:
        problems.append(Problem(stack[-1].start - 1, stack[-1].start, '{ is not closed'))
        _close(stack, len(text), len(text))
    return NginxFile(tuple(stack[0].directives), tuple(problems))


def _word(text: str, token: re.Match[str]) -> Word:
    quoted = token.lastgroup == 'quoted'
    start, end = token.start() + quoted, token.end() - quoted
    return Word(ESCAPE.sub(lambda escape: ESCAPES.get(escape[1], escape[0]), text[start:end]), start, end)


def _mark(text: str, token: re.Match[str], words: list[Word], stack: list[_Open], problems: list[Problem]) -> int:
    """End a directive, open or close a block; where to go on."""
    start, end = token.span()
    if token[0] == '}':
        if words:
            problems.append(Problem(words[0].start, words[-1].end, 'the directive does not end with ;'))
        if len(stack) > 1:
            _close(stack, start, end)
        else:
            problems.append(Problem(start, end, 'unexpected }'))
    elif not words:
        problems.append(Problem(start, end, f'unexpected {token[0]}'))
        if token[0] == '{':
            stack.append(_Open([Word('', start, start)], end, []))
    elif token[0] == ';':
        stack[-1].directives.append(_directive(words, None, end, Span(end, end)))
    elif words[0].text.endswith('_by_lua_block'):
        closing = _lua_end(text, end)
        if closing == len(text):
            problems.append(Problem(start, end, 'the Lua block is not closed'))
        end = min(closing + 1, len(text))
        stack[-1].directives.append(_directive(words, (), end, Span(token.end(), closing)))
    else:
        stack.append(_Open(words, end, []))
    return end


def _directive(words: list[Word], block: tuple[Directive, ...] | None, end: int, inner: Span) -> Directive:
    return Directive(words[0].text, tuple(words[1:]), block, words[0].start, end, inner)


def _close(stack: list[_Open], inner_end: int, end: int) -> None:
    done = stack.pop()
    made = _directive(done.words, tuple(done.directives), end, Span(done.start, inner_end))
    stack[-1].directives.append(made)


def _lua_end(text: str, at: int) -> int:
    """Offset of the brace that closes Lua code; braces in strings and comments do not count."""
    depth = 1
    for found in LUA.finditer(text, at):
        depth += {'{': 1, '}': -1}.get(found['brace'] or '', 0)
        if depth == 0:
            return found.start()
    return len(text)


def replace(text: str, arg: Arg, value: str) -> Edit:
    """A new argument, in the quotes that are there, or in new ones when it needs them."""
    quote = quote_of(text, arg.start, arg.end)
    if quote or not re.search(r'[ \t\r\n;{}"\'#\\]', value):
        escaped = value.replace('\\', '\\\\').replace(quote, '\\' + quote) if quote else value
        return Edit(arg.start, arg.end, escaped)
    escaped = value.replace('\\', '\\\\').replace('"', '\\"')
    return Edit(arg.start, arg.end, f'"{escaped}"')


def insert(text: str, parent: Directive | None, statement: str, *, at_start: bool = False) -> Edit:
    """`statement` (its `;` included) at the start or end of a block, or of the file when `parent` is None."""
    if parent is None:
        return Edit(0, 0, statement + newline(text)) if at_start else append_line(text, statement)
    child = parent.block[0].start if parent.block else None
    return insert_in_block(text, parent.inner, statement, child, at_start=at_start)
