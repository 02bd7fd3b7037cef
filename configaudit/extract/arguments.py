"""Command-line options as the engines' own parsers read them, each with the place of its value."""

from collections.abc import Callable
from typing import NamedTuple

from configaudit.extract.words import Word
from configaudit.patterns import regex
from configaudit.units import HOLE

_NUMBER = regex(r'-\d+\Z|-\d*\.\d+\Z')
"""What argparse takes for a negative number."""


class Shape(NamedTuple):
    """What a parser knows of one option."""

    name: str
    """Its canonical spelling: '--max-num-seqs'."""
    values: str
    """'none', 'one', 'optional' or 'many'."""
    negated: bool = False
    abbreviated: bool = False


class Option(NamedTuple):
    """One option on a command line."""

    name: str
    """Canonical spelling when known, else as given with dashes."""
    given: str
    word: Word
    value: Word | None
    """Its value (the last one of several); None for a bare switch."""
    values: tuple[Word, ...]
    joined: bool
    """Written '--a=b'."""
    negated: bool
    abbreviated: bool
    shape: Shape | None
    key: str = ''
    """'a.b' of '--flag.a.b'."""
    conditional: bool = False
    """A template decides whether it is given."""


class Arguments(NamedTuple):
    """A parsed command line."""

    options: tuple[Option, ...]
    positional: tuple[Word, ...]
    unknown_tail: str
    """Why more options may follow that are not shown ('$EXTRA_ARGS'), or ''."""
    unread: tuple[Option, ...] = ()
    """Keys of a configuration file that the engine passes over."""
    words: tuple[Word, ...] = ()
    """Every word that the parser sees, in order: those of a configuration file first."""
    command_line: tuple[Word, ...] = ()
    """The words behind the program as they are given."""
    model_word: Word | None = None
    """The model, where it is a word of its own."""
    loose: tuple[Word, ...] = ()
    """Words that belong to no option, without those that a template may leave out."""
    overridden: tuple[Option, ...] = ()
    """Keys of a configuration file that the command line sets otherwise."""
    no_mapping: bool = False
    """The configuration file is there and holds no mapping."""

    def last(self, name: str) -> Option | None:
        """The option that counts: the last of its name."""
        return next((option for option in reversed(self.options) if option.name == name), None)

    def every(self, name: str) -> list[Option]:
        """All options of a name, in order."""
        return [option for option in self.options if option.name == name]


def canonical(text: str) -> str:
    """An option's name as argparse compares it: dashes for underscores after the leading dashes."""
    return text if not text.startswith('--') else '--' + text[2:].replace('_', '-')


class Style(NamedTuple):
    """What a parser does beside argparse."""

    folded: bool = True
    """Takes `_` for `-` in an option's name."""
    keyed: bool = True
    """Reads '--flag.key VALUE', whatever the value begins with."""


def parse_arguments(words: tuple[Word, ...], shape_of: Callable[[str], Shape | None], style: Style = Style()) -> Arguments:  # noqa: B008 - immutable
    """Split words into options and positionals. `shape_of` tells how many values an option takes."""
    options: list[Option] = []
    positional: list[Word] = []
    unseen = ''
    at = 0
    while at < len(words):
        word = words[at]
        at += 1
        text = word.value
        if text == '--':
            positional.extend(words[at:])
            break
        if not text.startswith('-') or text == '-' or (text[1] in '.0123456789' and _NUMBER.match(text)):
            if text == HOLE or (HOLE in text and not text.strip(HOLE + ' ')):
                unseen = word.reason or 'an argument is not known'
            positional.append(word)
            continue
        name, joined, _ = text.partition('=')
        given = _spelled(name, style)
        if HOLE in given:
            unseen = word.reason or 'an argument is not known'
            continue
        key = name.partition('.')[2].rstrip('+') if style.keyed else ''
        shape = shape_of(given)
        if joined:
            value = word.tail or _after(word, len(name) + 1)
            options.append(_option(shape, given, word, (value,), True, key))
            continue
        taken = words[at : at + 1] if key and shape is not None else _take(words, at, shape)
        at += len(taken)
        options.append(_option(shape, given, word, taken, False, key))
    return Arguments(tuple(options), tuple(positional), unseen, words=words)


def _spelled(name: str, style: Style) -> str:
    """The name that is looked up: without keys, dashes for underscores, where the parser reads it so."""
    bare = name.split('.')[0] if style.keyed and name.startswith('-') else name
    return canonical(bare) if style.folded else bare


def _option(shape: Shape | None, given: str, word: Word, values: tuple[Word, ...], joined: bool, key: str) -> Option:
    name = shape.name if shape else given
    return Option(
        name, given, word, values[-1] if values else None, values, joined,
        shape.negated if shape else False, shape.abbreviated if shape else False, shape, key,
    )  # fmt: skip


def _after(word: Word, length: int) -> Word:
    """The part of '--a=b' after the equals sign, without quotes that a shell took away."""
    value = word.value[length:]
    raw = word.place.text if word.pure else ''
    start = raw.find('=') + 1 if raw else length
    end = start + len(raw[start:])
    if raw and raw[start : start + 1] in ('"', "'") and raw[-1:] == raw[start]:
        start, end = start + 1, end - 1
    place = word.place.part(start, end) if word.pure else word.place
    return word._replace(value=value, place=place)


def _take(words: tuple[Word, ...], at: int, shape: Shape | None) -> tuple[Word, ...]:
    """The values that follow an option."""
    kind = shape.values if shape else 'optional'
    if kind == 'none' or at >= len(words):
        return ()
    if kind == 'one':
        return (words[at],) if not _is_option(words[at].value) else ()
    end = at
    while end < len(words) and not _is_option(words[end].value) and (kind == 'many' or end == at):
        end += 1
    return words[at:end]


def _is_option(text: str) -> bool:
    """Whether argparse takes a word for an option: not a negative number, nor one with a space in its name."""
    return len(text) > 1 and text.startswith('-') and not _NUMBER.match(text) and ' ' not in text.partition('=')[0]
