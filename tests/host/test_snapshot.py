"""Reading a host, keeping it, and reading it again."""

import json
import os
import tarfile
from pathlib import Path

import pytest

from configaudit.errors import UsageError
from configaudit.host.archive import INDEX, load, load_sysctl_dump, load_sysroot, save
from configaudit.host.reader import read_host
from configaudit.host.snapshot import Snapshot

FILES = {
    'proc/sys/net/core/netdev_max_backlog': '1000\n',
    'proc/sys/net/core/somaxconn': '4096\n',
    'proc/sys/net/ipv4/tcp_fastopen_key': '0-1-2-3\n',
    'proc/sys/net/ipv4/neigh/default/gc_thresh3': '1024\n',
    'proc/sys/net/ipv4/neigh/veth0/gc_stale_time': '60\n',
    'proc/sys/kernel/random/boot_id': 'x\n',
    'proc/cmdline': 'root=UUID=abc mitigations=off ignition.config.url=http://u:p@h/x\n',
    'proc/2/comm': 'kthreadd\n',
    'proc/41/comm': 'containerd\n',
    'proc/41/limits': 'Max open files            1024                 524288               files     \n',
    'proc/41/status': 'Name:\tcontainerd\nUid:\t0\t0\t0\t0\nVmRSS:\t1 kB\n',
    'proc/42/comm': 'python3\n',
    'proc/42/cmdline': 'python3\0-m\0vllm.entrypoints.openai.api_server\0--api-key\0sk-secret123\0',
    'proc/42/limits': 'Max open files            1024                 1024                 files     \n',
    'proc/42/environ': 'HF_TOKEN=hf_abcdefghijklmn\0',
    'proc/43/comm': 'bash\n',
    'proc/43/cmdline': 'bash\0-c\0export PASSWORD=hunter2\0',
    'etc/containerd/config.toml': 'version = 2\n[plugins."io.containerd.grpc.v1.cri".registry.configs."r".auth]\npassword = "hunter2hunter2"\n',
    'etc/sysctl.d/90-x.conf': 'vm.swappiness = 10\n',
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        path = tmp_path / 'root' / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path / 'root'


def test_parameters_are_read_without_keys_and_single_interfaces(root: Path) -> None:
    files = read_host(str(root), kind='sysroot').files
    assert files['/proc/sys/net/ipv4/neigh/default/gc_thresh3'] == '1024\n'
    assert not [path for path in files if 'fastopen_key' in path or 'veth0' in path or 'random' in path]


def test_no_secret_and_no_environment_enters(root: Path) -> None:
    snapshot = read_host(str(root), kind='sysroot')
    held = json.dumps(dict(snapshot.files))
    assert not [word for word in ('hunter2', 'sk-secret123', 'hf_abc', 'u:p@h', 'UUID=abc', 'VmRSS') if word in held]
    assert not [path for path in snapshot.files if path.endswith('environ') or path.startswith('/proc/43/')]
    assert snapshot.text('/proc/cmdline') == 'mitigations=off'
    assert 'vllm.entrypoints' in (snapshot.text('/proc/42/cmdline') or '')


def test_a_snapshot_survives_archive_and_folder(root: Path, tmp_path: Path) -> None:
    first = read_host(str(root), kind='sysroot')
    for target in (str(tmp_path / 'host.tar.gz'), str(tmp_path / 'folder') + '/'):
        save(first, target)
        again = load(target)
        assert (again.files, again.links, again.unread, again.facts) == (first.files, first.links, first.unread, first.facts)


def test_the_same_snapshot_is_the_same_archive(root: Path, tmp_path: Path) -> None:
    first = read_host(str(root), kind='sysroot')
    save(first, str(tmp_path / 'a.tgz'))
    save(first, str(tmp_path / 'b.tgz'))
    assert (tmp_path / 'a.tgz').read_bytes() == (tmp_path / 'b.tgz').read_bytes()


def test_links_are_kept_as_paths_of_the_host(root: Path) -> None:
    (root / 'sys/devices/pci/block/vda').mkdir(parents=True)
    (root / 'sys/block').mkdir()
    (root / 'sys/block/vda').symlink_to('../devices/pci/block/vda')
    assert read_host(str(root), kind='sysroot').links['/sys/block/vda'] == '/sys/devices/pci/block/vda'


@pytest.mark.skipif(os.getuid() == 0, reason='root may read everything')
def test_what_may_not_be_read_is_named_with_its_reason(root: Path) -> None:
    (root / 'etc/sysctl.d/90-x.conf').chmod(0)
    assert read_host(str(root), kind='sysroot').unread['/etc/sysctl.d/90-x.conf'] == 'permission denied'


def test_an_empty_root_is_an_empty_snapshot(tmp_path: Path) -> None:
    snapshot = load_sysroot(str(tmp_path))
    assert not snapshot.files
    assert snapshot.facts['netns'] == snapshot.facts['pidns'] == 'unknown'


@pytest.mark.parametrize(
    ('missing', 'expected'),
    [((), ('host', 'host')), (('proc/sys/net/core/netdev_max_backlog',), ('other', 'host')), (('proc/2/comm',), ('host', 'unknown'))],
)
def test_whose_namespaces_were_seen(root: Path, missing: tuple[str, ...], expected: tuple[str, str]) -> None:
    for name in missing:
        (root / name).unlink()
    facts = read_host(str(root), kind='sysroot').facts
    assert (facts['netns'], facts['pidns']) == expected


def test_a_dump_of_sysctl_is_a_snapshot(tmp_path: Path) -> None:
    (tmp_path / 'dump').write_text('fs.file-max = 65536\nnet.ipv4.ip_local_port_range = 32768\t60999\nsysctl: permission denied on key "x"\n')
    snapshot = load_sysctl_dump(str(tmp_path / 'dump'))
    assert snapshot.files == {'/proc/sys/fs/file-max': '65536\n', '/proc/sys/net/ipv4/ip_local_port_range': '32768\t60999\n'}


def test_names_and_reasons() -> None:
    snapshot = Snapshot({'/sys/block/sda/size': '1'}, unread={'/etc/shadowed': 'permission denied'})
    assert snapshot.names('/sys/block') == ['sda']
    assert (snapshot.why('/etc/shadowed/x'), snapshot.why('/etc/none')) == ('permission denied', 'no such file')
    assert snapshot.has('/sys/block')
    assert not snapshot.has('/sys/bloc')


def test_what_is_no_snapshot_is_refused(tmp_path: Path) -> None:
    (tmp_path / 'x.tgz').write_bytes(b'nothing')
    with tarfile.open(tmp_path / 'y.tgz', 'w:gz'):
        pass
    for name in ('x.tgz', 'y.tgz', 'none.tgz', '.'):
        with pytest.raises(UsageError, match='not a snapshot'):
            load(str(tmp_path / name))


def test_an_index_that_is_broken_is_refused(tmp_path: Path) -> None:
    (tmp_path / INDEX).write_text('{"schema": 1}')
    with pytest.raises(UsageError, match='does not read'):
        load(str(tmp_path))


def test_a_sosreport_brings_its_dump_of_sysctl(root: Path) -> None:
    (root / 'sos_commands/kernel').mkdir(parents=True)
    (root / 'sos_commands/kernel/sysctl_-a').write_text('net.core.somaxconn = 7\nvm.swappiness = 60\nnet.ipv4.conf.eth0/100.rp_filter = 1\nnet.ipv4.tcp_fastopen_key = 1-2-3-4\n')
    files = read_host(str(root), kind='sysroot').files
    assert files['/proc/sys/vm/swappiness'] == '60\n'
    assert files['/proc/sys/net/core/somaxconn'] == '4096\n'
    assert files['/proc/sys/net/ipv4/conf/eth0.100/rp_filter'] == '1\n'
    assert not [path for path in files if 'fastopen_key' in path]
