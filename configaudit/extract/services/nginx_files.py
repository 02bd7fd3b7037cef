"""nginx's `include`: files of the run that another one names are read in its place."""

from fnmatch import fnmatchcase
from posixpath import basename, dirname, join, normpath

from configaudit.extract.files import Files
from configaudit.extract.process import Reading
from configaudit.extract.services.nginx import components_of
from configaudit.extract.services.nginx_scope import Included
from configaudit.model import Component
from configaudit.parse import nginx
from configaudit.parse.nginx import Directive
from configaudit.patterns import regex
from configaudit.places import Document

_PREFIXES = regex(r'^(?:/etc/nginx/|/usr/local/(?:openresty/)?nginx/conf/|/usr/share/nginx/|/opt/nginx/conf/|\./)')
_SUFFIXES = ('', '.template', '.j2', '.conf')
"""What a file is called in a repository, before a container or a deployment gives it its name."""
_FOLDERS = 3
"""How far above the including file the folder of nginx may be."""
_KINDS = ('proxy-upstream', 'proxy-route', 'proxy-listener', 'nginx')


class _Inclusions:
    """Opens what includes name, and remembers which files were taken in."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self._read: dict[str, tuple[Document, tuple[Directive, ...]]] = {}
        self.taken: set[str] = set()
        self.resolved = 0

    def __call__(self, document: Document, argument: str) -> Included | None:
        """The files of an include, from nginx's folder, which is the including file's or one above; None where none is found."""
        tail = _PREFIXES.sub('', argument)
        if tail.startswith('/') or '$' in tail:
            return None
        folder = dirname(document.path)
        for _ in range(_FOLDERS):
            paths = [path for path in self._matching(normpath(join(folder, dirname(tail))), basename(tail)) if path != document.path]
            if paths:
                self.taken.update(paths)
                self.resolved += 1
                return [found for path in paths if (found := self._open(path)) is not None]
            if not folder:
                break
            folder = dirname(folder)
        return None

    def _matching(self, folder: str, pattern: str) -> list[str]:
        folder = '' if folder == '.' else folder
        names = {path: basename(path) for path in self._files.in_folder(folder, '')}
        suffixes = _SUFFIXES if not pattern.endswith('*') else ('',)
        found = [path for path, name in names.items() if any(fnmatchcase(name, pattern + suffix) for suffix in suffixes)]
        return [path for path in found if not path.endswith(('.md', '.sh', '.py', '.yaml', '.yml', '.json'))]

    def _open(self, path: str) -> tuple[Document, tuple[Directive, ...]] | None:
        if path not in self._read:
            word = self._files.at(path)
            if word is None:
                return None
            document = Document(path, 'nginx', word.place.document.data)
            self._read[path] = document, nginx.read(document.text).directives
        return self._read[path]


def join_includes(reading: Reading, files: Files) -> None:
    """Read files that include others once more, with what those bring; the parts are then no longer read by themselves."""
    inclusions = _Inclusions(files)
    read: dict[str, list[Component]] = {}
    for data in reading.data:
        if data.kind == 'nginx':
            document = data.values['text'].place.document
            inclusions.resolved = 0
            components = list(components_of(document, nginx.read(document.text).directives, inclusions))
            if inclusions.resolved:
                read[data.name] = components
    if not read:
        return
    gone = inclusions.taken | read.keys()
    reading.components[:] = [one for one in reading.components if one.kind.name not in _KINDS or one.place.document.outer is not None or one.place.document.path not in gone]
    for path, components in read.items():
        if path not in inclusions.taken:
            reading.components.extend(components)
