"""Parse shell text into its syntax tree; malformed text is read as far as it goes, never refused."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

from configaudit.parse.shell_skip import CLOSERS, NEW_LINE, SEPARATORS, ahead, skip, take
from configaudit.parse.shell_tree import Chain, Choice, Function, Group, Literal, Loop, Node, Pipeline, Simple, Word
from configaudit.parse.shell_words import Reader
from configaudit.patterns import regex

_CASE_END = regex(r';;&?|;&')
_REDIRECTION = regex(r'(?:\d+|\{\w{1,64}\})?(<<<|<<-|<<|<>|<&|<|>>|>\||>&|>)|(&>>?)', re.ASCII)
_EMPTY_PARENTHESES = regex(r'\([ \t]*\)')


def parse(text: str, kubelet: frozenset[str] = frozenset(), depth: int = 0) -> tuple[Node, ...]:
    """Return the commands of `text`; names in `kubelet` are expanded where they stand as `$(NAME)`."""
    return _program(Reader(text, _program, kubelet, depth), '')


def _program(reader: Reader, closing: str) -> tuple[Node, ...]:
    outer, reader.expected = reader.expected, []
    nodes = _statements(reader, frozenset({closing} if closing else ()))
    reader.expected = outer
    return nodes


def _statements(reader: Reader, ends: frozenset[str]) -> tuple[Node, ...]:
    """Read commands up to a closing word, which is left unread; one that nothing waits for is skipped."""
    reader.expected.append(ends)
    nodes: list[Node] = []
    while True:
        skip(reader, SEPARATORS)
        if reader.pos >= reader.limit:
            break
        coming = ahead(reader)
        if coming in CLOSERS:
            if any(coming in waiting for waiting in reader.expected):
                break
            reader.pos += len(coming)
            continue
        before = reader.pos
        nodes.append(_chain(reader))
        if reader.pos == before:
            reader.pos += 1
    reader.expected.pop()
    return tuple(nodes)


def _chain(reader: Reader) -> Node:
    items = [('', _pipeline(reader))]
    while True:
        reader.blanks()
        operator = '&&' if reader.at('&&') else '||' if reader.at('||') else ''
        if not operator:
            break
        reader.pos += 2
        skip(reader)
        items.append((operator, _pipeline(reader)))
    background = reader.at('&') and not reader.at('&>')
    if background:
        reader.pos += 1
    return items[0][1] if len(items) == 1 and not background else Chain(tuple(items), background)


def _pipeline(reader: Reader) -> Node:
    reader.blanks()
    while take(reader, '!') or take(reader, 'time'):
        reader.blanks()
    stages = [_command(reader)]
    while True:
        reader.blanks()
        if not reader.at('|') or reader.at('||'):
            break
        reader.pos += 2 if reader.at('|&') else 1
        skip(reader)
        stages.append(_command(reader))
    return stages[0] if len(stages) == 1 else Pipeline(tuple(stages))


def _command(reader: Reader) -> Node:
    coming = ahead(reader)
    if coming in CLOSERS:
        return Simple((), (), reader.pos, reader.pos)
    read = _COMPOUND.get(coming)
    if read is None:
        return _simple(reader)
    return _compound(reader, read, len(coming))


def _compound(reader: Reader, read: Callable[[Reader], Node], skipped: int) -> Node:
    if not reader.enter():
        return Simple((), (), reader.pos, reader.pos)
    reader.pos += skipped
    node = read(reader)
    reader.leave()
    targets: list[Word] = []
    while _redirection(reader, targets):
        reader.blanks()
    return Group((node, Simple((), tuple(targets), reader.pos, reader.pos)), False) if targets else node


def _simple(reader: Reader) -> Node:
    words: list[Word] = []
    targets: list[Word] = []
    start = reader.pos
    while True:
        reader.blanks()
        if reader.at('<(') or reader.at('>('):
            words.append(reader.process_substitution())
        elif _redirection(reader, targets):
            continue
        elif reader.at('('):
            if len(words) == 1 and (match := _EMPTY_PARENTHESES.match(reader.text, reader.pos, reader.limit)):
                name = reader.text[words[0].start : words[0].end]
                return _compound(reader, partial(_body, name=name), match.end() - reader.pos)
            reader.pos += 1
            continue
        elif reader.pos >= reader.limit or reader.text[reader.pos] in ';&|)#\n':
            break
        else:
            words.append(reader.word())
            if len(words) == 1 and reader.text[words[0].start : reader.pos] == '[[':
                _test(reader, words)
    span = (words[0].start, words[-1].end) if words else (start, start)
    return Simple(tuple(words), tuple(targets), *span)


def _test(reader: Reader, words: list[Word]) -> None:
    """Read the words of `[[ ... ]]`, where `&&`, `||`, `<` and parentheses do not end the command."""
    while reader.pos < reader.limit and not reader.at(NEW_LINE):
        reader.blanks()
        if reader.at('&&') or reader.at('||'):
            reader.pos += 2
            skip(reader)
            continue
        before = reader.pos
        word = reader.word(assignment=False)
        if reader.pos == before:
            if reader.pos >= reader.limit or reader.text[reader.pos] in ';\n':
                return
            reader.pos += 1
            continue
        words.append(word)
        if reader.text[before : reader.pos] == ']]':
            return


def _redirection(reader: Reader, targets: list[Word]) -> bool:
    match = _REDIRECTION.match(reader.text, reader.pos, reader.limit)
    if match is None:
        return False
    reader.pos = match.end()
    reader.blanks()
    substitutes = reader.at('<(') or reader.at('>(')
    target = reader.process_substitution() if substitutes else reader.word(assignment=False)
    if match.group(1) in ('<<', '<<-'):
        delimiter = ''.join(segment.value for segment in target.segments if isinstance(segment, Literal))
        reader.heredocs.append((delimiter, match.group(1) == '<<-'))
    else:
        targets.append(target)
    return True


def _body(reader: Reader, name: str) -> Node:
    skip(reader)
    return Function(name, (_command(reader),))


def _function(reader: Reader) -> Node:
    reader.blanks()
    word = reader.word(assignment=False)
    reader.blanks()
    if match := _EMPTY_PARENTHESES.match(reader.text, reader.pos, reader.limit):
        reader.pos = match.end()
    return _body(reader, reader.text[word.start : word.end])


def _parentheses(reader: Reader) -> Node:
    reader.pos -= 1
    if reader.at('((') and reader.arithmetic():
        return Group((), False)
    reader.pos += 1
    body = _statements(reader, frozenset({')'}))
    take(reader, ')')
    return Group(body, True)


def _braces(reader: Reader) -> Node:
    body = _statements(reader, frozenset({'}'}))
    take(reader, '}')
    return Group(body, False)


def _if(reader: Reader) -> Node:
    branches = []
    while True:
        condition = _statements(reader, frozenset({'then'}))
        take(reader, 'then')
        branches.append((condition, _statements(reader, frozenset({'elif', 'else', 'fi'}))))
        if not take(reader, 'elif'):
            break
    complete = take(reader, 'else')
    if complete:
        branches.append(((), _statements(reader, frozenset({'fi'}))))
    take(reader, 'fi')
    return Choice(None, tuple(branches), complete)


def _while(reader: Reader) -> Node:
    condition = _statements(reader, frozenset({'do'}))
    return Loop('', (), condition + _do(reader))


def _do(reader: Reader) -> tuple[Node, ...]:
    take(reader, 'do')
    body = _statements(reader, frozenset({'done'}))
    take(reader, 'done')
    return body


def _for(reader: Reader) -> Node:
    reader.blanks()
    name = ''
    words: list[Word] = []
    if not (reader.at('((') and reader.arithmetic()):
        word = reader.word(assignment=False)
        name = reader.text[word.start : word.end]
        skip(reader)
        if take(reader, 'in'):
            words = _list(reader)
    skip(reader, SEPARATORS)
    return Loop(name, tuple(words), _do(reader))


def _list(reader: Reader) -> list[Word]:
    words: list[Word] = []
    while True:
        reader.blanks()
        before = reader.pos
        word = reader.word(assignment=False)
        if reader.pos == before:
            return words
        words.append(word)


def _case(reader: Reader) -> Node:
    reader.blanks()
    subject = reader.word(assignment=False)
    skip(reader)
    take(reader, 'in')
    branches: list[tuple[tuple[Node, ...], tuple[Node, ...]]] = []
    complete = False
    while True:
        skip(reader)
        if reader.pos >= reader.limit or take(reader, 'esac'):
            return Choice(subject, tuple(branches), complete)
        before = reader.pos
        complete |= _pattern(reader)
        branches.append(((), _statements(reader, frozenset({';;', 'esac'}))))
        if match := _CASE_END.match(reader.text, reader.pos, reader.limit):
            reader.pos = match.end()
        if reader.pos == before:
            return Choice(subject, tuple(branches), complete)


def _pattern(reader: Reader) -> bool:
    """Read the pattern of a case branch with its parenthesis; say whether it matches everything."""
    start = reader.pos
    while reader.pos < reader.limit:
        skip(reader)
        if reader.at(')'):
            text = reader.text[start : reader.pos].strip(' \t(')
            reader.pos += 1
            return text == '*'
        before = reader.pos
        if reader.at('|') or reader.at('('):
            reader.pos += 1
        else:
            reader.word(assignment=False)
        if reader.pos == before:
            return False
    return False


_COMPOUND: dict[str, Callable[[Reader], Node]] = {
    '(': _parentheses,
    '{': _braces,
    'if': _if,
    'while': _while,
    'until': _while,
    'for': _for,
    'select': _for,
    'case': _case,
    'function': _function,
}
