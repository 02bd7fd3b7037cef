"""What was read of a host: texts by path, what could not be read and why, and which namespaces the reader was in."""

from collections.abc import Iterable, Mapping

NOT_THERE = 'no such file'


class Snapshot:
    """The files of one host at one time.

    Paths are absolute and as on the host. `facts` tell how it was read: 'kind' (live, sysroot, sysctl-dump), 'name' of the
    node, 'taken' (ISO time, UTC), 'netns' and 'pidns' (host, other, unknown: whose values /proc showed), 'tool'.
    """

    __slots__ = ('_children', 'facts', 'files', 'links', 'unread')

    def __init__(
        self, files: Mapping[str, str], *, links: Mapping[str, str] | None = None, unread: Mapping[str, str] | None = None,
        facts: Mapping[str, str] | None = None,
    ) -> None:  # fmt: skip
        self.files = files
        self.links = links or {}
        """Symbolic link -> where it leads, absolute: devices below /sys."""
        self.unread = unread or {}
        """Path -> why it could not be read."""
        self.facts = facts or {}
        self._children: dict[str, list[str]] | None = None

    def text(self, path: str) -> str | None:
        """The text of a file without the line break at its end; None when it was not read."""
        found = self.files.get(path)
        return found if found is None else found.rstrip('\n')

    def why(self, path: str) -> str:
        """Why a file has no text here."""
        folder = path
        while folder and folder != '/':
            if folder in self.unread:
                return self.unread[folder]
            folder = folder.rpartition('/')[0]
        return NOT_THERE

    def names(self, folder: str) -> list[str]:
        """The names in a folder, sorted."""
        if self._children is None:
            self._children = _index((*self.files, *self.links, *self.unread))
        return self._children.get(folder, [])

    def has(self, path: str) -> bool:
        """Whether a file, link or folder was there, readable or not."""
        return path in self.files or path in self.links or path in self.unread or bool(self.names(path))


def _index(paths: Iterable[str]) -> dict[str, list[str]]:
    """Folder -> names in it."""
    found: dict[str, set[str]] = {}
    for path in paths:
        while path and path != '/':
            folder, _, name = path.rpartition('/')
            known = found.setdefault(folder or '/', set())
            if name in known:
                break
            known.add(name)
            path = folder
    return {folder: sorted(names) for folder, names in found.items()}
