"""One whole result kept for a run in which nothing changed: keyed by the stat of every input, the tool and the question.

A hit prints what the earlier run printed. Anything that does not fit is ignored, never trusted.
"""

import hashlib
import json
import os
import tempfile
from collections.abc import Iterable, Sequence
from typing import Any

from configaudit import VERSION, sources
from configaudit.config import Config
from configaudit.errors import UsageError
from configaudit.findings import Error, Skipped
from configaudit.parse.formats import is_wanted
from configaudit.result import Kept

_FORM = 1
_HERE = os.path.dirname(__file__)
_PACKAGES = (_HERE, os.path.join(_HERE, 'rules'), os.path.join(os.path.dirname(_HERE), 'rules'))


def key_of(paths: Sequence[str], config: Config, question: Iterable[object], files: Iterable[str]) -> str:
    """The key of a run: `question` is everything asked for, `files` are inputs beside the audited ones.

    Standard input has no stat: '' then, and nothing is kept.
    """
    if '-' in paths:
        return ''
    skipped: list[Skipped] = []
    errors: list[Error] = []
    found = sources.discover(paths, config.exclude, skipped, errors, is_wanted)
    digest = hashlib.blake2b(digest_size=20)
    for source in sorted(found):
        digest.update(f'{source.path}\0{source.size}\0{source.mtime_ns}\n'.encode('utf-8', 'surrogateescape'))
    digest.update(repr([sorted(skipped), sorted(errors)]).encode('utf-8', 'surrogateescape'))
    digest.update(repr([_FORM, VERSION, os.getcwd(), *question]).encode('utf-8', 'surrogateescape'))
    for path in (*files, *_tool()):
        digest.update(repr(stamp(path)).encode('utf-8', 'surrogateescape'))
    return digest.hexdigest()


def stamp(path: str) -> tuple[str, int, int]:
    """A file's path, size and time of change; zeros when it is not there."""
    try:
        status = os.stat(path)
    except OSError:
        return path, 0, 0
    return path, status.st_size, status.st_mtime_ns


def _tool() -> list[str]:
    """The files of the tool itself, so that a changed rule is a changed question."""
    return sorted(
        entry.path for package in _PACKAGES if os.path.isdir(package) for entry in os.scandir(package) if entry.name.endswith('.py')
    )


def load(folder: str, key: str) -> Kept | None:
    """What was kept under a key, if the files that run read beside its inputs are still the same."""
    if not key:
        return None
    try:
        with open(os.path.join(folder, f'{key}.json'), encoding='utf-8') as file:
            value: Any = json.load(file)
        if any(list(stamp(path)) != [path, size, time] for path, size, time in value['beside']):
            return None
        written = tuple((str(path), str(text)) for path, text in value['written'])
        return Kept(int(value['code']), str(value['printed']), written)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def store(folder: str, key: str, kept: Kept, beside: Iterable[str]) -> None:
    """Keep a run; only the newest few stay. A folder that cannot be written is wrong usage."""
    if not key:
        return
    value = {**kept._asdict(), 'beside': [stamp(path) for path in sorted(set(beside))]}
    try:
        os.makedirs(folder, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=folder, suffix='.part')
        with os.fdopen(handle, 'w', encoding='utf-8') as file:
            json.dump(value, file)
        os.replace(name, os.path.join(folder, f'{key}.json'))
        _forget_old(folder)
    except OSError as error:
        raise UsageError(f'--cache {folder}: {error.strerror or error}') from None


def _forget_old(folder: str, keep: int = 20) -> None:
    entries = [entry for entry in os.scandir(folder) if entry.name.endswith('.json') and len(entry.name) == 45]
    for entry in sorted(entries, key=lambda entry: entry.stat().st_mtime_ns)[:-keep]:
        os.unlink(entry.path)
