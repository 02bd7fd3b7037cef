"""A snapshot as an archive or a folder: the files at their paths, and `configaudit-snapshot.json` with the rest."""

import gzip
import io
import json
import os
import stat
import tarfile
import zlib
from collections.abc import Iterator
from typing import IO, cast

from configaudit.errors import UsageError
from configaudit.host.confined import MAX_FILE
from configaudit.host.dump import dump_files
from configaudit.host.reader import MAX_TOTAL, read_host
from configaudit.host.snapshot import Snapshot

INDEX = 'configaudit-snapshot.json'
SCHEMA = 1
_MEMBERS = 50_000


def save(snapshot: Snapshot, path: str) -> None:
    """Write a snapshot: to a folder that exists or whose name ends in `/`, else to a .tar.gz with the same bytes for the same snapshot."""
    try:
        if path.endswith('/') or os.path.isdir(path):
            _save_folder(snapshot, path)
        else:
            _save_archive(snapshot, path)
    except OSError as error:
        raise UsageError(f'--save {path}: {error.strerror or error}') from None


def _members(snapshot: Snapshot) -> Iterator[tuple[str, bytes]]:
    held = {'schema': SCHEMA, 'facts': dict(snapshot.facts), 'links': dict(snapshot.links), 'unread': dict(snapshot.unread)}
    yield INDEX, (json.dumps(held, indent=1, sort_keys=True) + '\n').encode()
    for name in sorted(snapshot.files):
        yield name.lstrip('/'), snapshot.files[name].encode('utf-8', 'surrogatepass')


def _save_archive(snapshot: Snapshot, path: str) -> None:
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode='w') as archive:
        for name, data in _members(snapshot):
            member = tarfile.TarInfo(name)
            member.size, member.mode = len(data), 0o644
            archive.addfile(member, io.BytesIO(data))
    with open(path, 'wb') as file, gzip.GzipFile(filename='', fileobj=file, mode='wb', mtime=0) as packed:
        packed.write(raw.getvalue())


def _save_folder(snapshot: Snapshot, path: str) -> None:
    for name, data in _members(snapshot):
        file = os.path.join(path, name)
        os.makedirs(os.path.dirname(file), exist_ok=True)
        with open(file, 'wb') as handle:
            handle.write(data)


def load(path: str) -> Snapshot:
    """A saved snapshot. UsageError for what is none."""
    if os.path.isdir(path):
        return _load_folder(path)
    try:
        with open(path, 'rb') as file, tarfile.open(fileobj=cast('IO[bytes]', _Unpacked(file)), mode='r|') as archive:
            files = dict(_texts(archive))
    except (OSError, tarfile.TarError, EOFError, ValueError, zlib.error) as error:
        raise UsageError(f'{path}: not a snapshot: {getattr(error, "strerror", None) or error}') from None
    index = files.pop('/' + INDEX, None)
    if index is None:
        raise UsageError(f'{path}: not a snapshot: it holds no {INDEX} (a captured tree is read with --sysroot)')
    return _snapshot(files, index, path)


class _Unpacked:
    """An archive as it is read from front to back, packed or not; no more of it than a snapshot can have, whatever it says of itself."""

    def __init__(self, file: IO[bytes]) -> None:
        packed = file.read(2) == b'\x1f\x8b'
        file.seek(0)
        self.file = cast('IO[bytes]', gzip.GzipFile(fileobj=file)) if packed else file
        self.left = 2 * MAX_TOTAL

    def read(self, size: int) -> bytes:
        """The next bytes."""
        data = self.file.read(size)
        self.left -= len(data)
        if self.left < 0:
            raise UsageError(f'over {MAX_TOTAL >> 20} MiB: not a snapshot')
        return data


def _texts(archive: tarfile.TarFile) -> Iterator[tuple[str, str]]:
    total = 0
    for number, member in enumerate(archive):
        total += member.size
        if number > _MEMBERS or total > MAX_TOTAL:
            raise UsageError(f'over {_MEMBERS} files or {MAX_TOTAL >> 20} MiB: not a snapshot')
        if member.isfile() and member.size <= 4 * MAX_FILE and (handle := archive.extractfile(member)) is not None:
            yield os.path.normpath('/' + member.name.lstrip('/')), handle.read().decode('utf-8', 'replace')


def _load_folder(path: str) -> Snapshot:
    index = os.path.join(path, INDEX)
    if not os.path.isfile(index):
        raise UsageError(f'{path}: not a snapshot: it holds no {INDEX} (a captured tree is read with --sysroot)')
    files: dict[str, str] = {}
    total = 0
    for folder, _, names in os.walk(path):
        for name in names:
            file = os.path.join(folder, name)
            about = os.lstat(file)
            if not stat.S_ISREG(about.st_mode) or about.st_size > 4 * MAX_FILE:
                continue
            total += about.st_size
            if total > MAX_TOTAL:
                raise UsageError(f'{path}: over {MAX_TOTAL >> 20} MiB: not a snapshot')
            with open(file, 'rb') as handle:
                files['/' + os.path.relpath(file, path).replace(os.sep, '/')] = handle.read().decode('utf-8', 'replace')
    return _snapshot(files, files.pop('/' + INDEX, ''), path)


def _snapshot(files: dict[str, str], index: str, path: str) -> Snapshot:
    try:
        held = json.loads(index)
        links, unread, facts = ({str(key): str(value) for key, value in dict(held[name]).items()} for name in ('links', 'unread', 'facts'))
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise UsageError(f'{path}: {INDEX} does not read: {error}') from None
    return Snapshot(files, links=links, unread=unread, facts=facts)


def load_sysroot(path: str) -> Snapshot:
    """A captured tree, such as a sosreport's: the files where they were on the host."""
    if not os.path.isdir(path):
        raise UsageError(f'--sysroot {path}: not a folder')
    return read_host(path, kind='sysroot')


def load_sysctl_dump(path: str) -> Snapshot:
    """The output of `sysctl -a`: its parameters as files below /proc/sys, and nothing else."""
    try:
        with open(path, encoding='utf-8', errors='replace') as file:
            lines = file.read(16 * MAX_FILE).splitlines()
    except OSError as error:
        raise UsageError(f'--sysctl-dump {path}: {error.strerror or error}') from None
    files = dump_files('\n'.join(lines))
    if not files:
        raise UsageError(f'--sysctl-dump {path}: no line reads as `key = value`')
    network = 'host' if '/proc/sys/net/core/netdev_max_backlog' in files else 'unknown'
    return Snapshot(files, facts={'kind': 'sysctl-dump', 'netns': network, 'pidns': 'unknown', 'name': '', 'taken': ''})
