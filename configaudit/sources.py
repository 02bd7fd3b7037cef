"""Which files are read: paths, folders and standard input, in a stable order, without what nobody means."""

import os
import re
import stat
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from configaudit.errors import UsageError
from configaudit.findings import Error, Skipped
from configaudit.patterns import regex

MAX_BYTES = 512 * 2**20
IGNORED_FOLDERS = frozenset(('node_modules', 'vendor', 'site-packages', '__pycache__', 'third_party', 'venv', 'virtualenv', 'dist-packages', 'bower_components'))
_VIRTUAL_ENVIRONMENT = 'pyvenv.cfg'
_READ_HIDDEN = frozenset(('.env',))


class Source(NamedTuple):
    """One file to read."""

    path: str
    """As it is shown: relative to the working directory, with '/'."""
    real: str
    """What is opened; '' for standard input."""
    named: bool
    """A person named this very file."""
    size: int = -1
    mtime_ns: int = 0
    below: str = ''
    """Its path below the folder that a person named; '' for a file."""


def discover(
    paths: Iterable[str],
    exclude: Iterable[str],
    skipped: list[Skipped],
    errors: list[Error],
    wanted: Callable[[str], bool],
    stdin_name: str = '<stdin>',
) -> Iterator[Source]:
    """Every file of the given paths, each once, sorted. `wanted` says by name whether a found file is read.

    A path that does not exist is a usage error; what cannot be opened or listed is an Error, the rest goes on.
    """
    excluded = compile_patterns(exclude)
    seen: set[tuple[int, int]] = set()
    for path in dict.fromkeys(paths):
        if path == '-':
            yield Source(stdin_name, '', True)
            continue
        try:
            status = os.stat(path)
        except OSError as error:
            raise UsageError(f'{path}: {error.strerror or error}') from None
        if not stat.S_ISDIR(status.st_mode):
            if not stat.S_ISREG(status.st_mode) and not stat.S_ISFIFO(status.st_mode):
                errors.append(Error(shown(path), 0, 0, 'unreadable', 'neither a file nor a pipe'))
            elif (status.st_dev, status.st_ino) not in seen:
                seen.add((status.st_dev, status.st_ino))
                yield Source(shown(path), path, True, status.st_size, status.st_mtime_ns)
            continue
        yield from _walk(path, excluded, skipped, errors, wanted, seen)


def shown(path: str) -> str:
    """A path relative to the working directory, with '/'; outside of it as given."""
    path = os.path.normpath(path)
    if os.path.isabs(path):
        here = os.getcwd()
        if path == here:
            return '.'
        path = path.removeprefix(here + os.sep)
    return path.replace(os.sep, '/') if os.sep != '/' else path


def read(source: Source) -> bytes:
    """The bytes of a source. Raises OSError."""
    if not source.real:
        return sys.stdin.buffer.read(MAX_BYTES + 1)
    if 0 < source.size < 2**20:
        with open(source.real, 'rb', buffering=0) as file:
            return file.read(source.size + 1)
    with open(source.real, 'rb') as stream:  # also what has no size of its own: pipes, files of /proc
        return stream.read(MAX_BYTES + 1)


def _walk(
    top: str,
    excluded: 'Patterns',
    skipped: list[Skipped],
    errors: list[Error],
    wanted: Callable[[str], bool],
    seen: set[tuple[int, int]],
) -> Iterator[Source]:
    """One folder, depth first, each level sorted by name; links to folders are not followed."""
    prefix = shown(top)
    prefix = '' if prefix == '.' else prefix.rstrip('/') + '/'
    stack: list[tuple[str, str, tuple[tuple[str, Patterns], ...]]] = [(top, prefix, _outer_ignores(top))]
    while stack:
        folder, name, ignores = stack.pop()
        try:
            with os.scandir(folder) as listing:
                entries = sorted(listing, key=lambda entry: entry.name)
        except OSError as error:
            errors.append(Error(name.rstrip('/') or '.', 0, 0, 'unreadable', error.strerror or str(error)))
            continue
        names = {entry.name for entry in entries}
        if _VIRTUAL_ENVIRONMENT in names:
            skipped.append(Skipped(name.rstrip('/'), 'a virtual environment'))
            continue
        if '.gitignore' in names:
            ignores = (*ignores, (name, _read_ignore(os.path.join(folder, '.gitignore'))))
        below = []
        for entry in entries:
            path = name + entry.name
            is_folder = entry.is_dir(follow_symlinks=False)
            if entry.name[0] == '.' and entry.name not in _READ_HIDDEN and not entry.name.startswith('.env.'):
                continue
            if is_folder:
                reason = _folder_reason(entry.name, path, excluded, ignores)
                if reason:
                    skipped.append(Skipped(path, reason))
                else:
                    below.append((entry.path, path + '/', ignores))
                continue
            if not wanted(path):
                continue
            if excluded.match(path, False) or _ignored(path, False, ignores):
                skipped.append(Skipped(path, 'excluded'))
                continue
            try:
                status = entry.stat()
            except OSError as error:  # a link to nowhere holds nothing that could be lost
                errors.append(Error(path, 0, 0, 'unreadable', error.strerror or str(error), fatal=not isinstance(error, FileNotFoundError)))
                continue
            if entry.is_dir() or (entry.is_symlink() and (status.st_dev, status.st_ino) in seen):
                continue
            seen.add((status.st_dev, status.st_ino))
            if stat.S_ISREG(status.st_mode):
                yield Source(path, entry.path, False, status.st_size, status.st_mtime_ns, path.removeprefix(prefix))
        stack.extend(reversed(below))


def _folder_reason(name: str, path: str, excluded: 'Patterns', ignores: tuple[tuple[str, 'Patterns'], ...]) -> str:
    if name in IGNORED_FOLDERS:
        return 'vendored or generated'
    if excluded.match(path, True):
        return 'excluded'
    return 'in .gitignore' if _ignored(path, True, ignores) else ''


def _ignored(path: str, is_folder: bool, ignores: tuple[tuple[str, 'Patterns'], ...]) -> bool:
    """Git's order: the innermost .gitignore that says something decides."""
    for prefix, patterns in reversed(ignores):
        found = patterns.decide(path[len(prefix) :], is_folder)
        if found is not None:
            return found
    return False


def _outer_ignores(top: str) -> tuple[tuple[str, 'Patterns'], ...]:
    """The .gitignore files between the repository's root and the folder that is walked."""
    found: list[tuple[str, Patterns]] = []
    here = os.path.abspath(top)
    while not os.path.isdir(os.path.join(here, '.git')):
        parent = os.path.dirname(here)
        if parent == here:
            return ()
        here = parent
        file = os.path.join(here, '.gitignore')
        if os.path.isfile(file):
            prefix = shown(here)
            found.append(('' if prefix == '.' else prefix.rstrip('/') + '/', _read_ignore(file)))
    inside = [item for item in found if shown(top).startswith(item[0].rstrip('/')) or not item[0]]
    return tuple(reversed(inside))


def _read_ignore(path: str) -> 'Patterns':
    try:
        with open(path, encoding='utf-8', errors='replace') as file:
            return compile_patterns(file.read(2**20).splitlines())
    except OSError:
        return compile_patterns(())


class Patterns(NamedTuple):
    """Compiled ignore patterns, in order."""

    rows: tuple[tuple[re.Pattern[str], bool, bool], ...]
    """(expression, only folders, negated)"""

    def decide(self, path: str, is_folder: bool) -> bool | None:
        """Whether the last pattern that matches excludes the path; None when none does."""
        for expression, only_folders, negated in reversed(self.rows):
            if (is_folder or not only_folders) and expression.match(path):
                return not negated
        return None

    def match(self, path: str, is_folder: bool) -> bool:
        """Whether the path is excluded."""
        return bool(self.rows) and bool(self.decide(path, is_folder))


def compile_patterns(lines: Iterable[str]) -> Patterns:
    """Patterns in .gitignore syntax."""
    return Patterns(tuple(row for line in lines if (row := _compile(line)) is not None))


@lru_cache(maxsize=1024)
def _compile(line: str) -> tuple[re.Pattern[str], bool, bool] | None:
    text = line.rstrip('\r\n').rstrip() if not line.endswith('\\ ') else line
    if not text or text.startswith('#'):
        return None
    negated = text.startswith('!')
    text = text[1:] if negated else text
    text = text.removeprefix('\\') if text[:2] in ('\\#', '\\!') else text
    only_folders = text.endswith('/')
    text = text.rstrip('/')
    anchored = '/' in text
    text = text.removeprefix('/')
    if not text:
        return None
    try:
        return re.compile(('' if anchored else '(?:.*/)?') + _expression(text) + r'\Z', re.DOTALL), only_folders, negated
    except re.error:
        return None


_GLOB = regex(r'\*\*/|/\*\*\Z|\*+|\?|\[!?\]?[^\]]*\]|\\.|.', re.DOTALL)


def _expression(glob: str) -> str:
    """A gitignore glob as a regular expression."""
    parts = []
    for token in _GLOB.findall(glob):
        if token == '**/':
            parts.append('(?:.*/)?')
        elif token == '/**':
            parts.append('/.*')
        elif token.startswith('*'):
            parts.append('[^/]*')
        elif token == '?':
            parts.append('[^/]')
        elif token.startswith('[') and len(token) > 2:
            parts.append('[' + token[1:].replace('\\', '\\\\').replace('!', '^', 1) if token[1] == '!' else token.replace('\\', '\\\\'))
        else:
            parts.append(re.escape(token.removeprefix('\\') if len(token) == 2 else token))
    return ''.join(parts)
