"""`uvicorn.run(app, timeout_keep_alive=75)` in programs: what the server of a process that starts such a file is told."""

import ast
from collections.abc import Iterable, Mapping
from posixpath import dirname

from configaudit.extract.process import Data
from configaudit.extract.services.python_values import LOCKED, WORKED_OUT, keywords, variable_of
from configaudit.extract.words import Word
from configaudit.parse.python import Source, Unfolded
from configaudit.units import HOLE

NAMES: Mapping[str, tuple[str, str]] = {
    'timeout_keep_alive': ('idle_timeout_s', 's'), 'timeout_graceful_shutdown': ('graceful_s', 's'), 'workers': ('workers', 'count'),
}  # fmt: skip
"""Keyword -> setting of the server, and its unit."""


def words_of(source: Source) -> dict[str, Word] | None:
    """The keywords of the first call that starts a server; None where a file starts none."""
    for name, call in source.calls():
        if name in ('uvicorn.run', 'uvicorn.Config'):
            given, unseen = keywords(source, call)
            found = {key: _word(source, node) for key, node in given.items() if key in NAMES}
            if unseen:
                found.update({key: Word(HOLE, source.place(call.func), False, unseen, LOCKED) for key in NAMES if key not in found})
            return {'': Word(name, source.place(call.func), False, locked=LOCKED), **found}
    return None


def _word(source: Source, node: ast.expr) -> Word:
    place = source.place(node)
    try:
        value = source.value(node)
    except Unfolded:
        variable = variable_of(source, node)
        try:
            value = source.value(variable.default) if variable is not None and variable.default is not None else None
        except Unfolded:
            value = None
    return Word(str(value), place, False, locked=LOCKED) if value is not None else Word(HOLE, place, False, WORKED_OUT, LOCKED)


def started(script: str, folder: str, files: Iterable[Data]) -> Data | None:
    """The file that `python app/main.py` or `python -m app.main` starts from a folder: there, or the only one of that path below."""
    path = script if script.endswith('.py') else script.replace('.', '/') + '.py'
    path = path.lstrip('/').removeprefix('./')
    inside = [item for item in files if dirname(item.name).startswith(folder)]
    exact = [item for item in inside if item.name == (f'{folder}/{path}' if folder else path)]
    found = exact or [item for item in inside if f'/{item.name}'.endswith(f'/{path}')]
    if not found and path.count('/'):
        found = [item for item in inside if f'/{path}'.endswith(f'/{item.name.removeprefix(folder).lstrip("/")}')]
    return found[0] if len(found) == 1 else None
