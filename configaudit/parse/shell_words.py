"""Read the words of a shell script: quotes, escapes, parameters and substitutions."""

from __future__ import annotations

import re
from collections.abc import Callable, Container

from configaudit.parse.shell_tree import Literal, Node, Parameter, Segment, Substitution, Word
from configaudit.patterns import regex

# A level takes up to twelve Python frames, and the interpreter allows a thousand.
MAX_DEPTH = 40

_PLAIN = {
    ('', False): re.compile(r'[^ \t\r\n\'"\\$`;&|<>()]+'),
    ('"', True): re.compile(r'[^"\\$`]+'),
    ('}', False): re.compile(r'[^}\'"\\$`]+'),
    ('}', True): re.compile(r'[^}"\\$`]+'),
}
_BLANKS = regex(r'(?:[ \t\r]|\\\r?\n)+')
_CONTINUATION = regex(r'\\\r?\n')
_ASSIGNMENT = regex(r'([A-Za-z_]\w*)(\[[^\]\n]{0,64}\])?(\+?)=', re.ASCII)
_NAME = regex(r'[A-Za-z_]\w*|[0-9@*#?$!-]', re.ASCII)
_BRACE = regex(r'\$\{([#!]?)([A-Za-z_]\w*|[0-9]+|[@*#?$!-])(?:\[([^\]\n]{0,64})\])?', re.ASCII)
_OPERATOR = regex(r':?[-=?+]')
# https://kubernetes.io/docs/tasks/inject-data-application/define-command-argument-container/
_KUBELET = regex(r'\$(\$?)\(([A-Za-z_][A-Za-z0-9_.-]*)\)')
_BACKQUOTED = regex(r'[^`\\]*(?:\\.[^`\\]*)*', re.DOTALL)
_ANSI_QUOTED = regex(r"[^'\\]*(?:\\.[^'\\]*)*", re.DOTALL)
_ANSI_PIECE = regex(
    r'[^\\]+|\\(?:x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|([0-7]{1,3})|(.?))', re.DOTALL
)
_ANSI_ESCAPES = {'a': '\a', 'b': '\b', 'e': '\x1b', 'E': '\x1b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t', 'v': '\v'}
_PARENTHESIS = regex('[()]')


class Reader:
    """A cursor over one script; `program` reads the commands of a substitution up to a closing mark."""

    def __init__(
        self,
        text: str,
        program: Callable[[Reader, str], tuple[Node, ...]],
        kubelet: Container[str] = (),
        depth: int = 0,
    ) -> None:
        self.text = text
        self.pos = 0
        self.limit = len(text)
        self.depth = depth
        self.heredocs: list[tuple[str, bool]] = []
        self.expected: list[frozenset[str]] = []
        self._program = program
        self._kubelet = kubelet

    def at(self, text: str) -> bool:
        """Say whether the cursor stands before `text`."""
        return self.text.startswith(text, self.pos, self.limit)

    def enter(self) -> bool:
        """Go one level deeper; past the cap, give up on the rest of the script and say False."""
        if self.depth >= MAX_DEPTH:
            self.pos = self.limit
            return False
        self.depth += 1
        return True

    def leave(self) -> None:
        """Come back one level."""
        self.depth -= 1

    def blanks(self) -> None:
        """Skip spaces, tabs and continued line ends."""
        if match := _BLANKS.match(self.text, self.pos, self.limit):
            self.pos = match.end()

    def word(self, assignment: bool = True) -> Word:
        """Read the word at the cursor, which may be empty."""
        start = self.pos
        match = _ASSIGNMENT.match(self.text, start, self.limit) if assignment else None
        if match is None:
            return Word(tuple(self._segments('', False)), start, self.pos)
        self.pos = match.end()
        prefix = Literal(match.group(), start, match.end(), False)
        elements = self._elements() if self.at('(') else None
        segments = () if elements is not None else tuple(self._segments('', False))
        name, append, indexed = match.group(1), bool(match.group(3)), match.group(2) is not None
        return Word((prefix, *segments), start, self.pos, name, append, indexed, elements)

    def process_substitution(self) -> Word:
        """Read `<(...)` or `>(...)`."""
        start = self.pos
        return Word((self._substitution(start),), start, self.pos)

    def arithmetic(self) -> bool:
        """Skip `((...))` when the two opening parentheses at the cursor are closed by two adjacent ones."""
        level = 0
        for match in _PARENTHESIS.finditer(self.text, self.pos + 1, self.limit):
            level += 1 if match.group() == '(' else -1
            if level == 0:
                if not self.text.startswith(')', match.end(), self.limit):
                    return False
                self.pos = match.end() + 1
                return True
        self.pos = self.limit
        return True

    def _elements(self) -> tuple[Word, ...]:
        self.pos += 1
        words = []
        while self.pos < self.limit:
            self.blanks()
            if self.at(')'):
                self.pos += 1
                break
            if self.at('#'):
                end = self.text.find('\n', self.pos, self.limit)
                self.pos = self.limit if end < 0 else end
            before = self.pos
            word = self.word(assignment=False)
            if self.pos == before:
                self.pos = min(before + 1, self.limit)
            else:
                words.append(word)
        return tuple(words)

    def _segments(self, closing: str, quoted: bool) -> list[Segment]:
        """Read segments up to `closing` (left unread), or for '' up to the end of the unquoted word."""
        plain = _PLAIN[closing, quoted]
        segments: list[Segment] = []
        while self.pos < self.limit:
            match = plain.match(self.text, self.pos, self.limit)
            if match:
                segments.append(Literal(match.group(), self.pos, match.end(), quoted))
                self.pos = match.end()
                continue
            mark = self.text[self.pos]
            if mark == closing:
                break
            if mark == '\\':
                segments += self._escape(closing, quoted)
            elif mark == "'":
                segments += self._single_quoted()
            elif mark == '"':
                segments += self._double_quoted()
            elif mark == '$':
                segments += self._dollar(quoted)
            elif mark == '`':
                segments.append(self._backquoted())
            else:
                break
        return segments

    def _escape(self, closing: str, quoted: bool) -> list[Segment]:
        start = self.pos
        if match := _CONTINUATION.match(self.text, start, self.limit):
            self.pos = match.end()
            return []
        self.pos = min(start + 2, self.limit)
        escaped = self.text[start + 1 : self.pos]
        keeps_backslash = not escaped or (quoted and escaped not in '$`"\\' + closing)
        return [Literal('\\' + escaped if keeps_backslash else escaped, start, self.pos, True)]

    def _single_quoted(self) -> list[Segment]:
        start = self.pos + 1
        end = self.text.find("'", start, self.limit)
        end = self.limit if end < 0 else end
        self.pos = min(end + 1, self.limit)
        segments: list[Segment] = []
        # The kubelet expands $(X) before the shell sees any quote.
        for match in _KUBELET.finditer(self.text, start, end) if self._kubelet else ():
            if match.group(2) in self._kubelet:
                segments.append(Literal(self.text[start : match.start()], start, match.start(), True))
                segments.append(self._kubelet_reference(match, True))
                start = match.end()
        segments.append(Literal(self.text[start:end], start, end, True))
        return segments

    def _double_quoted(self) -> list[Segment]:
        self.pos += 1
        start = self.pos
        segments = self._segments('"', True) or [Literal('', start, start, True)]
        self.pos = min(self.pos + 1, self.limit)
        return segments

    def _ansi_quoted(self) -> list[Segment]:
        start = self.pos + 2
        match = _ANSI_QUOTED.match(self.text, start, self.limit)
        end = match.end() if match else self.limit
        self.pos = min(end + 1, self.limit)
        segments: list[Segment] = [Literal('', start, start, True)] if start == end else []
        for piece in _ANSI_PIECE.finditer(self.text, start, end):
            segments.append(Literal(_ansi_value(piece), piece.start(), piece.end(), True))
        return segments

    def _kubelet_reference(self, match: re.Match[str], quoted: bool) -> Segment:
        if match.group(1):
            return Literal(match.group()[1:], match.start(), match.end(), True)
        return Parameter(match.group(2), '', '', None, match.start(), match.end(), quoted, True)

    def _dollar(self, quoted: bool) -> list[Segment]:
        start = self.pos
        kubelet = _KUBELET.match(self.text, start, self.limit)
        if kubelet and kubelet.group(2) in self._kubelet:
            self.pos = kubelet.end()
            return [self._kubelet_reference(kubelet, quoted)]
        if self.at("$'") and not quoted:
            return self._ansi_quoted()
        if self.at('$"') and not quoted:
            self.pos += 1
            return self._double_quoted()
        self.pos += 1
        if self.at('((') and self.arithmetic():
            return [Substitution((), start, self.pos)]
        if self.at('('):
            self.pos = start
            return [self._substitution(start)]
        if self.at('{'):
            return [self._braced(start, quoted)]
        if match := _NAME.match(self.text, self.pos, self.limit):
            self.pos = match.end()
            return [Parameter(match.group(), '', '', None, start, self.pos, quoted, False)]
        return [Literal('$', start, self.pos, quoted)]

    def _substitution(self, start: int) -> Substitution:
        if not self.enter():
            return Substitution((), start, self.pos)
        self.pos = start + 2
        body = self._program(self, ')')
        self.pos = min(self.pos + 1, self.limit)
        self.leave()
        return Substitution(body, start, self.pos)

    def _backquoted(self) -> Substitution:
        start, limit = self.pos, self.limit
        match = _BACKQUOTED.match(self.text, start + 1, limit)
        end = match.end() if match else limit
        body: tuple[Node, ...] = ()
        if self.enter():
            self.pos, self.limit = start + 1, end
            body = self._program(self, '')
            self.leave()
        self.pos, self.limit = min(end + 1, limit), limit
        return Substitution(body, start, self.pos)

    def _braced(self, start: int, quoted: bool) -> Parameter:
        if not self.enter():
            return Parameter('', '', 'other', None, start, self.pos, quoted, False)
        match = _BRACE.match(self.text, start, self.limit)
        self.pos = match.end() if match else start + 2
        prefix, name, subscript = match.groups() if match else ('', '', '')
        operator = 'other' if prefix or not match else ''
        if not operator and not self.at('}'):
            found = _OPERATOR.match(self.text, self.pos, self.limit)
            operator = found.group() if found else 'other'
            self.pos = found.end() if found else self.pos
        begin = self.pos
        operand = Word(tuple(self._segments('}', quoted)), begin, self.pos)
        self.pos = min(self.pos + 1, self.limit)
        self.leave()
        return Parameter(name, subscript or '', operator, operand, start, self.pos, quoted, False)


def _ansi_value(piece: re.Match[str]) -> str:
    hexadecimal = piece.group(1) or piece.group(2) or piece.group(3)
    code = int(hexadecimal, 16) if hexadecimal else int(piece.group(4), 8) if piece.group(4) else None
    if code is not None:
        return '\ufffd' if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF else chr(code)
    if piece.group(5) is None:
        return piece.group()
    escaped = piece.group(5)
    return _ANSI_ESCAPES.get(escaped, escaped if escaped in ('\\', "'", '"', '?') else piece.group())
