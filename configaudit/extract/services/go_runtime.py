"""What Go source says of its runtime: the packages and calls that set GOMAXPROCS and the memory limit of the program."""

from typing import Any

from configaudit.extract.process import Data, Reading
from configaudit.extract.services.go_values import LOCKED, WORKED_OUT
from configaudit.extract.words import Word
from configaudit.parse.golang import Scope, Source
from configaudit.parse.golang_values import Unfolded, value
from configaudit.parse.grammar import below
from configaudit.patterns import regex
from configaudit.places import Place

KIND = 'go-runtime-source'
_IMPORTS = {'automaxprocs': regex(r'go\.uber\.org/automaxprocs(?:/|$)'), 'automemlimit': regex(r'github\.com/KimMachineGun/automemlimit(?:/|$)')}
_CALLS = {'runtime.GOMAXPROCS': 'gomaxprocs', 'runtime/debug.SetMemoryLimit': 'gomemlimit'}
_CORES = 'runtime.NumCPU'


def runtime_of(source: Source) -> Data | None:
    """The imports and calls of a file that set up its runtime, by what they set; None when there is none."""
    values: dict[str, Word] = {}
    for name, pattern in _IMPORTS.items():
        path = next((path for path in source.imports.values() if pattern.match(path)), '')
        if path:
            values[name] = Word(path, _imported(source, path), False, locked=LOCKED)
    for scope in source.scopes[1:]:
        for call in scope.calls:
            what = _CALLS.get(source.called(call))
            arguments = source.arguments(call)
            if what and len(arguments) == 1:
                word = _word(source, scope, arguments[0])
                if word is not None:
                    values[what] = word if what not in values else word._replace(reason='the program sets it in several places')
    return Data(KIND, '', source.document.path, values) if values else None


def _imported(source: Source, path: str) -> Place:
    for node in source.root.named_children:
        if node.type == 'import_declaration':
            for inner in below(node):
                if inner.type == 'import_spec' and path in source.text(inner):
                    return source.place(inner)
    return source.place(source.root)


def _word(source: Source, scope: Scope, node: Any) -> Word | None:
    """The number that a call is given; None for one that only asks (0 and less)."""
    place, settled = source.place(node), source.settled(node, scope)
    if settled.type == 'call_expression' and source.called(settled) == _CORES:
        return Word(_CORES, place, False, locked=LOCKED)
    try:
        found = value(source, node, scope)
    except Unfolded:
        return Word('', place, False, WORKED_OUT, LOCKED)
    return Word(str(found), place, False, locked=LOCKED) if isinstance(found, int) and found > 0 else None


def join_sources(reading: Reading) -> None:
    """Give what source files say to the go.mod above them: to the module that they are part of."""
    modules = {data.name.removesuffix('go.mod').rstrip('/'): data for data in reading.data if data.kind == 'go.mod'}
    for data in reading.data:
        if data.kind != KIND:
            continue
        folder = data.name.rpartition('/')[0]
        while folder and folder not in modules:
            folder = folder.rpartition('/')[0]
        module = modules.get(folder)
        if module is not None:
            for name, word in data.values.items():
                key = f'source:{name}'
                twice = key in module.values and name in _CALLS.values()
                module.values[key] = word._replace(reason='several programs of the module set it') if twice else word  # type: ignore[index]
