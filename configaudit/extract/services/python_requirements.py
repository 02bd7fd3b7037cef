"""Whether what a Python program installs has a package: lock files, lists of requirements, pyproject.toml beside it or above."""

from collections.abc import Iterator, Sequence
from posixpath import dirname, join

from configaudit.extract.files import Files
from configaudit.extract.words import Word
from configaudit.model import Component, Setting
from configaudit.patterns import regex
from configaudit.places import Place

_LOCKS = ('uv.lock', 'poetry.lock', 'pylock.toml', 'Pipfile.lock')
_LISTS = (
    'requirements.txt', 'requirements.in', 'pyproject.toml', 'Pipfile', 'setup.cfg', 'requirements/base.txt', 'requirements/prod.txt', 'requirements/production.txt',
    'requirements/requirements.txt', 'requirements/default.txt', 'requirements/main.txt',
)  # fmt: skip
_NAMED = r'(?m)(?:^[ \t]*|["\'])%s(?=["\'\s=<>!~;\[,]|$)'
_HTTPX = regex(_NAMED % 'httpx', 2)
_LOCKED_H2 = regex(r'(?m)^name = "h2"$|^\s+"h2": \{')
_H2 = regex(
    (_NAMED % 'h2') + r'|httpx\[[^\]\n]*http2|httpx\s*=\s*\{[^}\n]*http2|\b(?:hypercorn|qdrant-client|supabase|postgrest|microsoft-kiota-http|msgraph-sdk)\b|\[http2\]', 2
)
"""h2 itself, or packages that bring it along."""
_ELSEWHERE = regex(r'(?m)^[ \t]*(?:-r|--requirement|-e|--editable)\b|^dynamic\s*=\s*\[[^\]]*dependencies')


def join_requirements(components: Sequence[Component], files: Files) -> None:
    """Tell every client that asks for HTTP/2 whether h2 is installed, as far as the files of the run show it."""
    for client in components:
        if client.kind.name == 'http-client' and 'http2' in client.settings:
            found = next(_installed(files, dirname(client.place.outermost().document.path), client.place), None)
            if found is not None:
                client.settings['h2_installed'] = found


def _installed(files: Files, folder: str, at: Place) -> Iterator[Setting]:
    """What the nearest files that name httpx say of h2, a lock file before a list."""
    while True:
        for name in _LOCKS:
            path = join(folder, name)
            if files.has(path):
                word = files.at(path)
                if word is None:
                    yield Setting('h2_installed', None, at, reason=f'{path} is too large to be looked through')
                elif 'httpx' in word.value:
                    yield _of(word, _LOCKED_H2.search(word.value) is not None, 'lock')
        for name in _LISTS:
            word = files.at(join(folder, name))
            if word is not None and _HTTPX.search(word.value):
                there = _H2.search(word.value) is not None
                found = _of(word, there, 'list')
                yield found if there or not _ELSEWHERE.search(word.value) else found._replace(reason=f'{name} names other lists')
        if folder == dirname(folder):
            return
        folder = dirname(folder)


def _of(word: Word, there: bool, kind: str) -> Setting:
    at = _HTTPX.search(word.value)
    place = Place(word.place.document, at.start(), at.end()) if at is not None else word.place
    return Setting('h2_installed', there, place, unit=kind)
