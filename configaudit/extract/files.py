"""The files of a run by their path: what a mount or a command line names is opened when it is named."""

from collections.abc import Callable, Iterable
from posixpath import basename, normpath

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
        self._read = read
        self._opened: dict[str, Word | None] = {}

    @property
    def opened(self) -> tuple[str, ...]:
        """Paths that something named."""
        return tuple(path for path, word in self._opened.items() if word is not None)

    def at(self, path: str) -> Word | None:
        """The whole text of the file at this path; None when the run has none."""
        path = normpath(path)
        if path not in self._by_name.get(basename(path), ()):
            return None
        if path not in self._opened:
            self._opened[path] = self._open(path)
        return self._opened[path]

    def ending_with(self, path: str) -> Word | None:
        """The one file of the run whose path ends with this one."""
        tail = normpath(path).lstrip('/')
        found = [own for own in self._by_name.get(basename(tail), ()) if own == tail or own.endswith('/' + tail)]
        return self.at(found[0]) if len(found) == 1 else None

    def _open(self, path: str) -> Word | None:
        try:
            data = self._read(path) if self._read is not None else b''
            if not data or len(data) > MAX_BYTES:
                return None
            text = data.removeprefix(b'\xef\xbb\xbf').decode()
        except (OSError, UnicodeDecodeError):
            return None
        return Word(text, Place(Document(path, 'string', data), 0, len(text)))
