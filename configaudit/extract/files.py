"""The files of a run by their path: what a mount or a command line names is opened when it is named."""

from collections.abc import Callable, Iterable
from posixpath import basename, dirname, normpath

from configaudit.extract.words import Word
from configaudit.places import Document, Place

MAX_BYTES = 2**20
Read = Callable[[str], bytes]


class Files:
    """The files of a run by their path; one is opened when something names it."""

    def __init__(self, paths: Iterable[str] = (), read: Read | None = None) -> None:
        self._by_name: dict[str, list[str]] = {}
        for path in paths:
            self._by_name.setdefault(basename(path), []).append(path)
        self._by_folder: dict[str, list[str]] = {}
        self._read = read
        self._opened: dict[str, Word | None] = {}

    @property
    def opened(self) -> tuple[str, ...]:
        """Paths that something named."""
        return tuple(path for path, word in self._opened.items() if word is not None)

    def has(self, path: str) -> bool:
        """Whether the run has a file at this path, readable or not."""
        path = normpath(path)
        return path in self._by_name.get(basename(path), ())

    def at(self, path: str) -> Word | None:
        """The whole text of the file at this path; None when the run has none."""
        path = normpath(path)
        if not self.has(path):
            return None
        if path not in self._opened:
            self._opened[path] = self._open(path)
        return self._opened[path]

    def ending_with(self, path: str) -> Word | None:
        """The one file of the run whose path ends with this one."""
        tail = normpath(path).lstrip('/')
        found = [own for own in self._by_name.get(basename(tail), ()) if own == tail or own.endswith('/' + tail)]
        return self.at(found[0]) if len(found) == 1 else None

    def in_folder(self, folder: str, extension: str) -> list[str]:
        """The paths directly in a folder that end so, sorted."""
        if not self._by_folder:
            for path in (path for paths in self._by_name.values() for path in paths):
                self._by_folder.setdefault(dirname(path), []).append(path)
        return sorted(path for path in self._by_folder.get(folder, ()) if path.endswith(extension))

    def ending_in(self, extension: str) -> list[str]:
        """All paths of the run that end so, sorted."""
        return sorted(path for paths in self._by_name.values() for path in paths if path.endswith(extension))

    def _open(self, path: str) -> Word | None:
        try:
            data = self._read(path) if self._read is not None else b''
            if not data or len(data) > MAX_BYTES:
                return None
            text = data.removeprefix(b'\xef\xbb\xbf').decode()
        except (OSError, UnicodeDecodeError):
            return None
        return Word(text, Place(Document(path, 'string', data), 0, len(text)))
