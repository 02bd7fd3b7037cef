"""Values of this kernel changed, found, and put back. Only with CONFIGAUDIT_HOSTMUTATE=1 and as root."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from configaudit.audit import audit_node
from configaudit.config import Config
from configaudit.host.reader import read_host
from configaudit.host.snapshot import Snapshot

pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(os.getuid() != 0 or os.environ.get('CONFIGAUDIT_HOSTMUTATE') != '1', reason='changes kernel parameters: needs root and CONFIGAUDIT_HOSTMUTATE=1'),
]
LOOP = Path('/sys/block/loop0')


@contextmanager
def written(path: Path, value: str) -> Iterator[None]:
    """A value for the time of a test. Files that show a choice in brackets are put back to the word that was chosen."""
    before = path.read_text().strip()
    chosen = next((word[1:-1] for word in before.split() if word.startswith('[')), before)
    try:
        path.write_text(value)
    except OSError as error:
        pytest.skip(f'{path} cannot be changed here: {error}')
    try:
        yield
    finally:
        path.write_text(chosen)


def found(snapshot: Snapshot) -> set[tuple[str, str]]:
    return {(item.rule.id, item.place.document.path) for item in audit_node(snapshot, Config()).findings}


@pytest.mark.parametrize(
    ('path', 'value', 'rule'),
    [
        ('/proc/sys/net/core/somaxconn', '300', 'sysctl-somaxconn-low'),
        ('/proc/sys/net/ipv4/tcp_syncookies', '0', 'sysctl-syncookies-off'),
        ('/proc/sys/net/ipv4/tcp_max_tw_buckets', '1000', 'sysctl-tw-buckets-low'),
        ('/proc/sys/net/ipv4/tcp_retries2', '4', 'sysctl-tcp-retries2-low'),
        ('/proc/sys/net/ipv4/ip_local_port_range', '60000 60999', 'sysctl-port-range-narrow'),
        ('/proc/sys/kernel/pid_max', '30000', 'sysctl-pid-max-low'),
        ('/proc/sys/vm/zone_reclaim_mode', '1', 'sysctl-zone-reclaim'),
        ('/proc/sys/vm/max_map_count', '60000', 'sysctl-max-map-count-low'),
        ('/proc/sys/fs/inotify/max_user_instances', '200', 'sysctl-inotify-instances-low'),
        ('/sys/kernel/mm/transparent_hugepage/defrag', 'always', 'huge-pages-stall'),
    ],
)
def test_a_changed_value_is_found_and_gone_again(path: str, value: str, rule: str) -> None:
    if not Path(path).exists():
        pytest.skip(f'this kernel has no {path}')
    before = Path(path).read_text()
    with written(Path(path), value):
        assert (rule, path) in found(read_host())
    assert Path(path).read_text() == before


def disk(root: Path, name: str) -> Path:
    """What the live loop device shows now, under the name of a disk."""
    if not LOOP.exists():
        pytest.skip('there is no loop device')
    folder = root / 'sys/block' / name
    for entry in ('queue/scheduler', 'queue/rotational', 'queue/read_ahead_kb', 'mq/0/nr_tags'):
        (folder / entry).parent.mkdir(parents=True, exist_ok=True)
        (folder / entry).write_text((LOOP / entry).read_text())
    (folder / 'size').write_text('100')
    return root


def test_a_scheduler_is_found_and_gone_again(tmp_path: Path) -> None:
    place = ('disk-unsorted-on-rotating', '/sys/block/sda/queue/scheduler')
    with written(LOOP / 'queue/rotational', '1'):
        with written(LOOP / 'queue/scheduler', 'none'):
            assert place in found(read_host(str(disk(tmp_path, 'sda')), kind='sysroot'))
        with written(LOOP / 'queue/scheduler', 'mq-deadline'):
            assert place not in found(read_host(str(disk(tmp_path, 'sda')), kind='sysroot'))


def test_a_lowered_read_ahead_is_found(tmp_path: Path) -> None:
    with written(LOOP / 'queue/read_ahead_kb', '16'):
        assert ('disk-read-ahead-small', '/sys/block/nvme0n1/queue/read_ahead_kb') in found(read_host(str(disk(tmp_path, 'nvme0n1')), kind='sysroot'))
