"""`pip install name>=1.0` in a script: the shell takes the bound for a redirection, and pip never sees it."""

from collections.abc import Iterable, Iterator
from os.path import basename
from typing import NamedTuple

from configaudit.extract.commands import Invocation, peel, word_at
from configaudit.extract.environment import Stores
from configaudit.extract.process import Process
from configaudit.extract.words import Word
from configaudit.knowledge.carrier_kinds import PIP_INSTALL
from configaudit.model import Component, Setting
from configaudit.parse.shell import Command, commands
from configaudit.patterns import regex
from configaudit.places import Place

_WORTH = regex(r'''\bpip[\d.]*\s(?:[^\n]|\\\n)*?[\w\]][<>]=?\s?\d''')
_PACKAGE = regex(r'[A-Za-z][\w.-]*(?:\[[\w,.-]*\])?')
_VERSION = r'\d+(?:\.(?:\d+|\*))*(?:\.?(?:a|b|rc|dev|post)\d*)?'
_BOUND = regex(rf'(>=|<=|[<>])[ \t]*({_VERSION}(?:,[<>=!~]{{1,2}}{_VERSION})*)(?=[\s;&|)\\]|$)')


class Bound(NamedTuple):
    """A version bound that the shell takes away."""

    package: str
    operator: str
    version: str
    place: Place
    """Of package and bound together."""


def read_process(process: Process, invocations: Iterable[Invocation], stores: Stores) -> list[Component]:
    """The bounds lost in the scripts of a process."""
    words = (*(process.entrypoint or ()), *(process.arguments or ()))
    return [component for word in words for component in read_script(word, process.component.identity)]


def read_script(script: Word, owner: str) -> Iterator[Component]:
    """A component for the installations of a script that lose a bound; none where all keep theirs."""
    if _WORTH.search(script.value) is None:
        return
    bounds = tuple(bound for command in commands(script.value) for bound in _lost(command, script))
    if bounds:
        settings = {'bounds': Setting('bounds', bounds, bounds[0].place)}
        yield Component(PIP_INSTALL, 'pip install', f'{owner}/pip', bounds[0].place, settings, scope=script.place.outermost().document.path)


def _lost(command: Command, script: Word) -> Iterator[Bound]:
    """Packages of one command with a `>` or `<` right behind their name."""
    argv = peel(tuple(word_at(token, script, {}) for token in command.argv))
    values = [word.value for word in argv]
    at = values.index('install') if 'install' in values else len(values)
    if not any(basename(value).startswith('pip') for value in values[:at]):
        return
    packages = {word.value for word in argv[at + 1 :] if _PACKAGE.fullmatch(word.value)}
    for token in command.argv:
        bound = _BOUND.match(script.value, token.end) if token.value in packages and script.value[token.start : token.end] == token.value else None
        if bound is not None:
            place = Place(script.place.document, script.place.start + token.start, script.place.start + bound.end())
            yield Bound(token.value, bound[1], bound[2], place)
