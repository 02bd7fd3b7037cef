"""Captured trees and snapshots that nobody vouches for: nothing is waited for, followed outside, unpacked without end, or a crash."""

import gzip
import io
import json
import os
import tarfile
from pathlib import Path

import pytest

from configaudit.errors import UsageError
from configaudit.host.archive import INDEX, load, save
from configaudit.host.confined import MAX_FILE, resolve
from configaudit.host.reader import read_host
from configaudit.host.snapshot import Snapshot


def packed(path: Path, members: list[tuple[tarfile.TarInfo, bytes]]) -> str:
    with tarfile.open(path, 'w:gz') as archive:
        for member, data in members:
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return str(path)


def member(name: str, kind: bytes = tarfile.REGTYPE, link: str = '') -> tarfile.TarInfo:
    found = tarfile.TarInfo(name)
    found.type, found.linkname = kind, link
    return found


EMPTY = (member(INDEX), json.dumps({'links': {}, 'unread': {}, 'facts': {}}).encode())


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / 'secret').write_text('of the machine that audits\n')
    for name in ('etc/sysctl.d', 'proc/sys/vm', 'sys/block'):
        (tmp_path / 'root' / name).mkdir(parents=True)
    return tmp_path / 'root'


def test_links_lead_nowhere_outside_of_the_tree(root: Path, tmp_path: Path) -> None:
    (root / 'etc/sysctl.conf').write_text('vm.swappiness = 1\n')
    (root / 'etc/sysctl.d/10-absolute.conf').symlink_to(tmp_path / 'secret')
    (root / 'etc/sysctl.d/20-up.conf').symlink_to('../' * 30 + str(tmp_path / 'secret').lstrip('/'))
    (root / 'etc/sysctl.d/99-sysctl.conf').symlink_to('/etc/sysctl.conf')
    (root / 'etc/sysctl.d/50-masked.conf').symlink_to('/dev/null')
    snapshot = read_host(str(root), kind='sysroot')
    assert snapshot.files == {'/etc/sysctl.conf': 'vm.swappiness = 1\n', '/etc/sysctl.d/99-sysctl.conf': 'vm.swappiness = 1\n'}
    assert snapshot.links == {'/etc/sysctl.d/50-masked.conf': '/dev/null'}


def test_a_folder_that_is_a_link_is_read_below_the_root(root: Path) -> None:
    (root / 'usr/lib/sysctl.d').mkdir(parents=True)
    (root / 'usr/lib/sysctl.d/50-x.conf').write_text('vm.swappiness = 2\n')
    (root / 'lib').symlink_to('/usr/lib')
    assert '/lib/sysctl.d/50-x.conf' in read_host(str(root), kind='sysroot').files


def test_loops_of_links_end(root: Path) -> None:
    for name in ('a', 'b'):
        (root / 'proc/sys/vm' / name).symlink_to('..')
        (root / 'sys/block' / name).symlink_to('.')
    (root / 'etc/sysctl.d/1.conf').symlink_to('2.conf')
    (root / 'etc/sysctl.d/2.conf').symlink_to('1.conf')
    snapshot = read_host(str(root), kind='sysroot')
    assert not snapshot.files
    with pytest.raises(OSError, match='symbolic links'):
        resolve(str(root), '/etc/sysctl.d/1.conf')


def test_pipes_are_not_waited_for(root: Path) -> None:
    for name in ('etc/sysctl.d/20-x.conf', 'proc/sys/vm/swappiness', 'proc/meminfo'):
        os.mkfifo(root / name)
    assert read_host(str(root), kind='sysroot').unread['/etc/sysctl.d/20-x.conf'] == 'no plain file'


def test_a_file_that_is_too_large_is_not_read_in_part(root: Path) -> None:
    (root / 'etc/sysctl.d/20-x.conf').write_bytes(b'#' * (MAX_FILE + 1))
    snapshot = read_host(str(root), kind='sysroot')
    assert snapshot.unread == {'/etc/sysctl.d/20-x.conf': 'over 1 MiB'}
    assert not snapshot.files


def test_lists_of_the_kernel_are_read_to_their_end() -> None:
    """The kernel gives /proc/self/mountinfo page by page."""
    held = read_host().files.get('/proc/self/mountinfo', '')
    assert held.count('\n') == Path('/proc/self/mountinfo').read_text().count('\n')


def test_members_of_an_archive_stay_inside_what_it_is_saved_to(tmp_path: Path) -> None:
    names = ('../../up', '/absolute', 'a/../../b', 'x' * 400)
    path = packed(tmp_path / 'x.tgz', [EMPTY, *((member(name), b'1') for name in names), (member('link', tarfile.SYMTYPE, '/etc/passwd'), b''), (member('pipe', tarfile.FIFOTYPE), b'')])
    snapshot = load(path)
    assert sorted(snapshot.files) == ['/absolute', '/b', '/up', '/' + 'x' * 400]
    with pytest.raises(UsageError, match='File name too long'):
        save(snapshot, f'{tmp_path}/out/')
    assert sorted(path.name for path in tmp_path.iterdir()) == ['out', 'x.tgz']


def test_archives_that_unpack_without_end_are_refused(tmp_path: Path) -> None:
    long_name = tarfile.TarInfo('././@LongLink')
    long_name.type, long_name.size = tarfile.GNUTYPE_LONGNAME, 2**33
    for name, head in (('zeros', b''), ('name', long_name.tobuf(tarfile.GNU_FORMAT))):
        with gzip.open(tmp_path / name, 'wb', compresslevel=1) as file:
            file.write(head)
            for _ in range(160):
                file.write(b'a' * (1 << 20))
        with pytest.raises(UsageError, match='not a snapshot'):
            load(str(tmp_path / name))


@pytest.mark.parametrize('cut', [1, 10, 20, 60, 100])
def test_broken_archives_are_refused(tmp_path: Path, cut: int) -> None:
    data = Path(packed(tmp_path / 'x.tgz', [(member('x' * 90), os.urandom(5000)), EMPTY])).read_bytes()
    for name, text in (('cut', data[:cut]), ('changed', data[:cut] + b'\xff\x00\xff\x00' + data[cut + 4 :])):
        (tmp_path / name).write_bytes(text)
        with pytest.raises(UsageError, match='not a snapshot'):
            load(str(tmp_path / name))


def test_a_folder_with_odd_files_is_loaded(tmp_path: Path) -> None:
    save(Snapshot({'/proc/swaps': 'x'}), f'{tmp_path}/s/')
    os.mkfifo(tmp_path / 's/pipe')
    (tmp_path / 's/dangling').symlink_to('nowhere')
    (tmp_path / 's/away').symlink_to('/etc/passwd')
    assert load(f'{tmp_path}/s').files == {'/proc/swaps': 'x'}


@pytest.mark.parametrize('index', ['', '[', '[' * 100_000, '{}', '[]', '{"links": 1, "unread": {}, "facts": {}}', '{"links": [[1]], "unread": {}, "facts": {}}'])
def test_a_broken_index_is_refused(tmp_path: Path, index: str) -> None:
    with pytest.raises(UsageError, match=r'not a snapshot|does not read'):
        load(packed(tmp_path / 'x.tgz', [(member(INDEX), index.encode())]))
