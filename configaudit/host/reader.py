"""Reading a host below a root: `/` for the live one, any folder for a captured tree."""

import errno
import os
import socket
from collections.abc import Callable, Iterator
from datetime import datetime, timezone
from fnmatch import fnmatchcase

from configaudit.host import acs, confined, dump, nvidia, wanted
from configaudit.host.namespaces import namespaces
from configaudit.host.processes import kept_processes
from configaudit.host.snapshot import Snapshot
from configaudit.patterns import regex
from configaudit.redact import redact

MAX_TOTAL = 64 << 20
"""Bytes; no host has that much of what is read here, so a tree that has is no host."""
_PCI_CLASSES = ('0x03', '0x12', '0x0200', '0x0207', '0x0680')
"""Display controllers, processing accelerators, Ethernet and InfiniBand controllers, other bridges (NVSwitch)."""
POD = regex(r'[/-]pod[0-9a-f]{8}')
"""In the path of a control group of one pod, rather than of a class of pods."""


_ABSENT = (errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.ESRCH, errno.EINVAL, errno.ENODEV)
"""Nothing is there, or (EINVAL, ENODEV) a device has no such value: the speed of an interface that is down."""


def _is_trigger(path: str) -> bool:
    """Whether a file is only there to be written, such as /proc/sys/vm/drop_caches."""
    try:
        return not os.stat(path).st_mode & 0o444
    except OSError:
        return False


class _Reader:
    """One walk over a root. It keeps what it reads, and why it could not read the rest."""

    def __init__(self, root: str) -> None:
        self.root = root.rstrip('/')
        self.files: dict[str, str] = {}
        self.links: dict[str, str] = {}
        self.unread: dict[str, str] = {}
        self.total = 0

    def names(self, folder: str) -> list[str]:
        """The names in a folder; none when it cannot be listed."""
        try:
            return sorted(os.listdir(confined.resolve(self.root, folder)))
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as error:
            self.unread[folder] = _reason(error)
            return []

    def entries(self, folder: str) -> list[tuple[str, bool]]:
        """The files and folders in a folder, without links: name, and whether it is a folder."""
        try:
            with os.scandir(confined.resolve(self.root, folder)) as found:
                return sorted((entry.name, entry.is_dir(follow_symlinks=False)) for entry in found if not entry.is_symlink())
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as error:
            self.unread[folder] = _reason(error)
            return []

    def peek(self, path: str) -> str | None:
        """The text of a file, which is not kept; None when it is not there or cannot be read."""
        try:
            data = confined.read(self.root, path)
        except OSError as error:
            if error.errno not in _ABSENT and not _is_trigger(self.root + path):
                self.unread[path] = _reason(error)
            return None
        self.total += len(data)
        if self.total > MAX_TOTAL:
            self.unread[path] = f'over {MAX_TOTAL >> 20} MiB in all'
            return None
        return data.decode('utf-8', 'replace')

    def take(self, path: str, clean: Callable[[str], str] = str) -> None:
        """Read one file and keep it."""
        text = self.peek(path)
        if text is not None:
            self.files[path] = clean(text)

    def link(self, path: str) -> bool:
        """Keep where a symbolic link leads; whether it is one."""
        if not os.path.islink(self.root + path):
            return False
        real = self._real(path)
        if real:
            self.links[path] = real
        return True

    def _real(self, path: str) -> str:
        """Where a path of the host leads there; '' for a loop."""
        try:
            return confined.resolve(self.root, path).removeprefix(self.root) if self.root else os.path.realpath(path)
        except OSError:
            return ''

    def matches(self, pattern: str) -> Iterator[str]:
        """The paths below the root that a pattern names."""
        paths = ['']
        for part in pattern.split('/')[1:]:
            if '*' not in part:
                paths = [f'{path}/{part}' for path in paths]
            else:
                paths = [f'{path}/{name}' for path in paths for name in self.names(path) if fnmatchcase(name, part)]
        yield from paths

    def is_folder(self, path: str) -> bool:
        """Whether a path is a folder, also behind a link."""
        try:
            return os.path.isdir(confined.resolve(self.root, path))
        except OSError:
            return False


def read_host(root: str = '/', *, kind: str = 'live', static_root: str = '') -> Snapshot:
    """Everything that the audit of a node needs, of the host below a root.

    `static_root`: where the files of /etc, /run and /usr stand, when they are mounted elsewhere (a container on the host).
    """
    reader = _Reader(root)
    _tree(reader, '/proc/sys')
    if reader.root:
        reader.files = {**dump.dump_files(reader.peek(dump.CAPTURED) or ''), **reader.files}
    for pattern in (*wanted.KERNEL[1:], *wanted.DEVICES):
        for path in reader.matches(pattern):
            if path.startswith('/sys/') and reader.link(path):
                continue
            reader.take(path, _kernel_parameters if path == '/proc/cmdline' else str)
    for path in dict.fromkeys(path for pattern in wanted.POD_LIMITS for path in reader.matches(pattern) if POD.search(path)):
        reader.take(path)
    _pci(reader)
    _captured_gpus(reader)
    reader.take(acs.PATH)
    redirecting = acs.bridges(reader.root)
    if redirecting:
        reader.files[acs.PATH] = redirecting
    files = _Reader(static_root) if static_root else reader
    for pattern in wanted.STATIC:
        for path in files.matches(pattern):
            if not files.is_folder(path):
                _static(files, path)
    for mine, other in ((reader.files, files.files), (reader.links, files.links), (reader.unread, files.unread)):
        mine.update(other)
    for process in kept_processes(reader.names('/proc'), reader.peek):
        reader.files.update(process)
    return Snapshot(reader.files, links=reader.links, unread=reader.unread, facts=_facts(reader, kind))


def _facts(reader: _Reader, kind: str) -> dict[str, str]:
    from configaudit import VERSION

    live = kind == 'live'
    return {
        'kind': kind, 'tool': VERSION, **namespaces(reader.files, reader.peek),
        'name': os.environ.get('NODE_NAME', '') or (socket.gethostname() if live else ''),
        'taken': datetime.now(timezone.utc).strftime('%Y-%m-%dT%H:%M:%SZ') if live else '',
    }  # fmt: skip


def _tree(reader: _Reader, folder: str) -> None:
    """Every readable file below /proc/sys, but for secrets and single interfaces. The kernel has no link there, so none is followed."""
    parent = f'/{folder.rpartition("/")[2]}/'
    for name, is_folder in reader.entries(folder):
        path = f'{folder}/{name}'
        if path.endswith(wanted.SKIPPED_SYSCTLS) or (parent in wanted.INTERFACES and name not in ('all', 'default')):
            continue
        if is_folder:
            _tree(reader, path)
        else:
            reader.take(path)


def _pci(reader: _Reader) -> None:
    for name in reader.names('/sys/bus/pci/devices'):
        folder = f'/sys/bus/pci/devices/{name}'
        if (reader.peek(f'{folder}/class') or '').startswith(_PCI_CLASSES):
            for file in wanted.PCI:
                reader.take(f'{folder}/{file}')


def _captured_gpus(reader: _Reader) -> None:
    """What a captured tree holds of nvidia-smi's output."""
    text = reader.peek(nvidia.CAPTURED) if reader.root else None
    found = nvidia.of_capture(text) if text else ''
    if found:
        reader.files[nvidia.PATH] = found


def _static(reader: _Reader, path: str) -> None:
    """A file of /etc: without credentials; one that is a link to /dev/null masks others."""
    if reader.link(path) and reader.links.get(path) == '/dev/null':
        return
    reader.links.pop(path, None)
    reader.take(path, _without_secrets)


def _without_secrets(text: str) -> str:
    return '\n'.join(map(redact, text.split('\n')))


def _kernel_parameters(text: str) -> str:
    """The known parameters of a kernel's command line."""
    return ' '.join(word for word in text.split() if word.partition('=')[0] in wanted.CMDLINE)


def _reason(error: OSError) -> str:
    text = error.strerror or str(error)
    return text[:1].lower() + text[1:]
