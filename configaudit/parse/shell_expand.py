"""Expand the words of a shell script into tokens that remember where each value is defined."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from configaudit.parse.shell_scope import Scope
from configaudit.parse.shell_token import Place, Source, Span, Token, gather, join, split, unknown
from configaudit.parse.shell_tree import Literal, Node, Parameter, Segment, Substitution, Word
from configaudit.units import HOLE

_TOO_MUCH = 'the script expands to too much text'
_RUNTIME = frozenset('#?$!-0')


class _Fields:
    """The fields that a word expands to; each is a list of tokens to be joined."""

    def __init__(self) -> None:
        self.done: list[list[Token]] = []
        self.current: list[Token] = []

    def add(self, token: Token) -> None:
        self.current.append(token)

    def close(self) -> None:
        if self.current:
            self.done.append(self.current)
            self.current = []

    def spread(self, token: Token) -> None:
        """Add an unquoted value, which blanks split into fields."""
        if not any(blank in token.value for blank in ' \t\r\n'):
            if token.value:
                self.add(token)
            return
        for field in split(token):
            if field is None:
                self.close()
            else:
                self.add(field)


class Expander:
    """Expands words; `run` reads the commands of a substitution."""

    def __init__(self, scope: Scope, budget: int, run: Callable[[tuple[Node, ...], Source], None]) -> None:
        self._scope = scope
        self._budget = budget
        self._run = run

    def spend(self, cost: int) -> bool:
        """Account for work; False when the script has expanded to too much text."""
        self._budget -= cost
        return self._budget >= 0

    def charge(self, token: Token) -> bool:
        """Account for one use of a value."""
        return self.spend(len(token.value) + 8 * len(token.parts))

    def fields(self, word: Word, source: Source) -> list[Token]:
        """Expand a word of a command, with field splitting."""
        if plain := _plain(word, source):
            return [plain]
        place = source.place(word.start, word.end)
        use = (place.start, place.end)
        fields = _Fields()
        self._walk(word.segments, source, fields, True, False)
        fields.close()
        return [_joined(field, use) for field in fields.done]

    def value(self, word: Word, source: Source) -> Token:
        """Expand the right-hand side of an assignment, without field splitting."""
        if plain := _plain(word, source):
            return plain
        place = source.place(word.start, word.end)
        use = (place.start, place.end)
        fields = _Fields()
        self._walk(word.segments, source, fields, False, False)
        fields.close()
        tokens = [_joined(field, use) for field in fields.done]
        if not tokens:
            return gather((), use)._replace(pure=not word.segments)
        return tokens[0] if len(tokens) == 1 else join(tokens, use, ' ')

    def assign(self, word: Word, source: Source) -> Token:
        """Carry out `NAME=value`, `NAME+=value` or `NAME=(...)` and return the whole word as a token."""
        place = source.place(word.start, word.end)
        use = (place.start, place.end)
        if word.elements is not None:
            self._scope.set(word.name, self._array(word, word.elements, source))
            return source.literal(
                [Literal(source.text[word.start : word.end], word.start, word.end, False)], word.start, word.end
            )
        right = word.assigned()
        value = self.value(right, source)
        if word.indexed:
            self._scope.forget(word.name, f'an element of ${word.name} is assigned')
        else:
            self._scope.set(word.name, self._appended(word, value, source) if word.append else value)
        name = Literal(source.text[word.start : right.start], word.start, right.start, False)
        return _plain(word, source) or join([source.literal([name], name.start, name.end), value], use)

    def _array(self, word: Word, elements: Sequence[Word], source: Source) -> list[Token]:
        values = [token for element in elements for token in self.fields(element, source)]
        former = self._scope.get(word.name) if word.append else None
        if former is None:
            return values
        before = former if isinstance(former, list) else [former]
        if not self.spend(8 * len(before)):
            before = [_hole(word, source, _TOO_MUCH)]
        return [*before, *values]

    def _appended(self, word: Word, value: Token, source: Source) -> Token:
        former = self._scope.get(word.name)
        if isinstance(former, Token):
            return join([self._placed(former, word, source), value], value.use)
        return join([_hole(word, source, f'variable ${word.name} is not set here'), value], value.use)

    def _walk(
        self, segments: Sequence[Segment], source: Source, fields: _Fields, splits: bool, splits_text: bool
    ) -> None:
        """Add segments; `splits` allows field splitting at all, `splits_text` also that of unquoted literals."""
        for segment in segments:
            if isinstance(segment, Literal):
                token = source.literal([segment], segment.start, segment.end)
                self._put(token, fields, splits_text and not segment.quoted)
            elif isinstance(segment, Substitution):
                self._run(segment.body, source)
                fields.add(_runtime(segment, source))
            else:
                self._parameter(segment, source, fields, splits and not segment.quoted)

    def _parameter(self, segment: Parameter, source: Source, fields: _Fields, splits: bool) -> None:
        values = self._values(segment, source)
        operator = segment.operator
        filled = values is not None and (operator[:1] != ':' or any(token.value for token in values))
        if operator in (':-', '-', ':=', '=') and not filled:
            self._operand(segment, source, fields, splits)
        elif operator in (':+', '+') and values is not None and not any(token.reason for token in values):
            if filled:
                self._operand(segment, source, fields, splits)
        elif operator in (':+', '+', 'other'):
            self._read_commands(segment, source)
            fields.add(_runtime(segment, source))
        else:
            self._add(segment, source, [self._unset(segment, source)] if values is None else values, fields, splits)

    def _add(self, segment: Parameter, source: Source, values: Sequence[Token], fields: _Fields, splits: bool) -> None:
        if '*' in (segment.name, segment.subscript) and not splits and len(values) > 1:
            place = source.place(segment.start, segment.end)
            values = [join(values, (place.start, place.end), ' ')]
        for number, token in enumerate(values):
            if number:
                fields.close()
            self._put(token, fields, splits)

    def _put(self, token: Token, fields: _Fields, splits: bool) -> None:
        if splits and self.spend(7 * len(token.value)):
            fields.spread(token)
        elif splits:
            fields.add(unknown(Place(token.start, token.end, False, token.variable), token.use, _TOO_MUCH))
        else:
            fields.add(token)

    def _operand(self, segment: Parameter, source: Source, fields: _Fields, splits: bool) -> None:
        word = segment.operand
        if word is None:
            return
        plain = _plain(word, source)
        unquoted = [isinstance(part, Literal) and not part.quoted for part in word.segments]
        if plain and (not splits or not any(unquoted) or all(unquoted)):
            self._put(plain, fields, splits and any(unquoted))
        elif not word.segments and not splits:
            fields.add(source.literal((), word.start, word.end))
        else:
            self._walk(word.segments, source, fields, splits, splits)
        if segment.operator in (':=', '=') and segment.name and segment.name[0] not in '@*0123456789':
            self._scope.set(segment.name, self.value(word, source))

    def _read_commands(self, segment: Parameter, source: Source) -> None:
        """Read the commands in an operand whose value does not matter."""
        if segment.operand is not None:
            self._walk(segment.operand.segments, source, _Fields(), False, False)

    def _unset(self, segment: Parameter, source: Source) -> Token:
        if segment.name in ('@', '*'):
            reason = 'the arguments of the script are not known here'
        elif segment.name.isdigit():
            reason = f'argument ${segment.name} of the script is not known here'
        else:
            reason = f'variable ${segment.name} is not set here'
        return _hole(segment, source, reason)

    def _values(self, segment: Parameter, source: Source) -> list[Token] | None:
        """Return the value of a parameter, several for an array, None when nothing sets it."""
        if segment.operator == 'other':
            return None
        if not segment.kubelet and segment.name in _RUNTIME:
            return [_runtime(segment, source)]
        found = self._found(segment, source)
        if found is None:
            return None
        if not self.spend(8 * len(found)):
            return [_hole(segment, source, _TOO_MUCH)]
        return [self._placed(token, segment, source) for token in found]

    def _found(self, segment: Parameter, source: Source) -> list[Token] | None:
        if segment.kubelet:
            return [self._scope.passed[segment.name]]
        if segment.name.isdecimal():
            return self._element(self._scope.get('@'), int(segment.name[:9]) - 1)
        value = self._scope.get('@' if segment.name == '*' else segment.name)
        if value is None or isinstance(value, Token):
            return None if value is None else [value]
        if segment.name in ('@', '*') or segment.subscript in ('@', '*'):
            return value
        if segment.subscript and not segment.subscript.isdecimal():
            return [_hole(segment, source, f'the subscript of ${segment.name} is not known')]
        return self._element(value, int(segment.subscript[:9] or 0))

    def _element(self, value: Token | list[Token] | None, index: int) -> list[Token] | None:
        """Return one element of an array; after an unknown element, any position may hold anything."""
        if value is None:
            return None
        elements = value if isinstance(value, list) else [value]
        before = elements[: index + 1] if self.spend(min(index, len(elements))) else []
        unsure = next((token for token in before if token.value == HOLE), None)
        return [unsure] if unsure else elements[index : index + 1] or None

    def _placed(self, token: Token, user: Parameter | Word, source: Source) -> Token:
        """Return a value as used here; a value without a place of its own gets that of its user."""
        if not self.charge(token):
            return _hole(user, source, _TOO_MUCH)
        if token.start >= 0:
            return token
        place = source.place(user.start, user.end)
        parts = tuple(part._replace(start=place.start, end=place.end, exact=False) for part in token.parts)
        return token._replace(start=place.start, end=place.end, parts=parts)


def _plain(word: Word, source: Source) -> Token | None:
    literals = [segment for segment in word.segments if isinstance(segment, Literal)]
    if not literals or len(literals) < len(word.segments):
        return None
    return source.literal(literals, word.start, word.end)


def _joined(tokens: Sequence[Token], use: Span) -> Token:
    return tokens[0]._replace(use=use) if len(tokens) == 1 else join(tokens, use)


def _hole(segment: Parameter | Substitution | Word, source: Source, reason: str) -> Token:
    place = source.place(segment.start, segment.end)
    return unknown(place, (place.start, place.end), reason)


def _runtime(segment: Parameter | Substitution, source: Source) -> Token:
    text = source.text[segment.start : min(segment.end, segment.start + 80)]
    return _hole(segment, source, f'the value of {text} is only known when the script runs')
