"""How an inference server is started: recognising the program behind any spelling of its command line."""

import os.path
from typing import NamedTuple

from configaudit.extract.commands import Invocation
from configaudit.extract.words import Word
from configaudit.knowledge.images import Image, identify
from configaudit.patterns import regex
from configaudit.places import Place
from configaudit.units import HOLE

_PLACEHOLDER = regex(r'\{\{.*?\}\}')
_JOINED = regex(r'--?[A-Za-z][\w.-]*(\s+\S|=\S+\s+--[a-z])')


class Launch(NamedTuple):
    """A recognised start of an engine."""

    program: Place
    """Where an absent flag is reported: the program's word, or the arguments' first, or the image."""
    arguments: tuple[Word, ...]
    command: str
    """'serve', 'api_server', 'entrypoint' (the image's own), ...: what the engine's parser expects."""


def launch_of(program: Place, arguments: tuple[Word, ...], command: str) -> Launch:
    """A launch whose placeholders ({{.Name}}, filled in by a controller such as KServe) are unknown."""
    return Launch(program, tuple(map(_without_placeholder, arguments)), command)


def _without_placeholder(word: Word) -> Word:
    if '{{' not in word.value or word.value.lstrip().startswith('{{"'):
        return word
    value = _PLACEHOLDER.sub(HOLE, word.value)
    return word if value == word.value else word._replace(value=value, pure=False, reason='a controller fills it in')


def program_words(invocation: Invocation, names: tuple[str, ...]) -> tuple[Word, ...]:
    """The words from one of these programs on, also where it stands in `args` behind an image's `exec "$@"`."""
    words = invocation.argv or invocation.arguments
    return words if words and os.path.basename(words[0].value) in names else ()


def python_module(argv: tuple[Word, ...], prefix: str) -> tuple[str, int] | None:
    """The module of `python -m MODULE` (or its file) when it starts with the prefix, and where its arguments begin."""
    if not argv or not os.path.basename(argv[0].value).startswith('python'):
        return None
    for at, word in enumerate(argv[1:], 1):
        value = word.value
        if value == '-m' and at + 1 < len(argv):
            return (argv[at + 1].value, at + 2) if argv[at + 1].value.startswith(prefix) else None
        if value.startswith('-m') and value[2:].startswith(prefix):
            return value[2:], at + 1
        if value.endswith('.py'):
            module = value.removesuffix('.py').replace('/', '.')
            found = module.find(prefix)
            return (module[found:], at + 1) if found >= 0 else None
        if not value.startswith('-'):
            return None
    return None


def image_of(invocation: Invocation) -> Image | None:
    """What the process's image says of engine and version."""
    word = invocation.process.image
    return identify(word.value) if word is not None else None


def anchor(invocation: Invocation) -> Place:
    """The place for absent flags when the image's own entry point runs: the first argument, else the image."""
    if invocation.arguments:
        return invocation.arguments[0].place
    image = invocation.process.image
    return image.place if image is not None else invocation.process.component.place


def is_joined(word: Word) -> bool:
    """Whether one word of an argument list spells a flag and its value, with a space between."""
    return len(word.value.split(None, 1)) > 1 and _JOINED.match(word.value) is not None


def joined_reason(arguments: tuple[Word, ...]) -> str:
    """Why arguments cannot all be told apart, or ''."""
    return 'an argument holds several words' if any(map(is_joined, arguments)) else ''
