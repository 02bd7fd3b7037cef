"""Precedence among the files of sysctl.d, as sysctl.d(5) has it."""

from collections.abc import Mapping

import pytest

from configaudit.audit import audit_node
from configaudit.config import Config
from configaudit.host.snapshot import Snapshot
from configaudit.model import Component

LIVE = {'/proc/sys/net/core/netdev_max_backlog': '1000', '/proc/sys/vm/swappiness': '60', '/proc/sys/net/ipv4/conf/all/rp_filter': '0', '/proc/sys/net/ipv4/conf/default/rp_filter': '0'}


def setter(files: Mapping[str, str], key: str = 'vm.swappiness', links: Mapping[str, str] | None = None) -> str:
    """The file whose assignment should hold for a parameter, or ''."""
    result = audit_node(Snapshot({**LIVE, **files}, links=links, facts={'netns': 'host'}), Config())
    live = next(item for item in result.components if item.kind.name == 'sysctl' and item.name == key and item['form'].value == 'live')
    found: list[Component] = list(live.peers('setter'))
    return found[0].place.document.path if found else ''


@pytest.mark.parametrize(
    ('paths', 'expected'),
    [
        (('/etc/sysctl.d/10-a.conf', '/usr/lib/sysctl.d/90-b.conf'), '/usr/lib/sysctl.d/90-b.conf'),
        (('/etc/sysctl.d/50-a.conf', '/usr/lib/sysctl.d/50-a.conf'), '/etc/sysctl.d/50-a.conf'),
        (('/run/sysctl.d/50-a.conf', '/usr/local/lib/sysctl.d/50-a.conf'), '/run/sysctl.d/50-a.conf'),
        (('/etc/sysctl.conf', '/etc/sysctl.d/99-z.conf'), '/etc/sysctl.conf'),
    ],
)
def test_files_are_read_by_name_and_the_highest_folder_hides(paths: tuple[str, ...], expected: str) -> None:
    assert setter({path: f'vm.swappiness = {number}\n' for number, path in enumerate(paths)}) == expected


def test_a_link_to_null_hides_the_file_of_the_distribution() -> None:
    files = {'/usr/lib/sysctl.d/50-a.conf': 'vm.swappiness = 1\n'}
    assert setter(files) == '/usr/lib/sysctl.d/50-a.conf'
    assert setter(files, links={'/etc/sysctl.d/50-a.conf': '/dev/null'}) == ''


def test_an_explicit_key_is_not_touched_by_a_glob() -> None:
    files = {'/etc/sysctl.d/10-a.conf': 'net.ipv4.conf.all.rp_filter = 1\n', '/etc/sysctl.d/90-b.conf': 'net.ipv4.conf.*.rp_filter = 2\n'}
    assert setter(files, 'net.ipv4.conf.all.rp_filter') == '/etc/sysctl.d/10-a.conf'
    assert setter(files, 'net.ipv4.conf.default.rp_filter') == '/etc/sysctl.d/90-b.conf'


def test_slashes_and_a_dash_are_the_same_key() -> None:
    assert setter({'/etc/sysctl.d/10-a.conf': '-vm/swappiness = 10\n'}) == '/etc/sysctl.d/10-a.conf'


def test_what_is_hidden_or_overridden_is_not_judged() -> None:
    low = 'fs.file-max = 65536\n'
    result = audit_node(Snapshot({'/usr/lib/sysctl.d/50-a.conf': low, '/etc/sysctl.d/50-a.conf': 'vm.swappiness = 10\n'}), Config())
    assert 'sysctl-file-max-lowered' not in {finding.rule.id for finding in result.findings}
    result = audit_node(Snapshot({'/etc/sysctl.d/10-a.conf': low, '/etc/sysctl.d/20-b.conf': 'fs.file-max = 9223372036854775807\n'}), Config())
    assert 'sysctl-file-max-lowered' not in {finding.rule.id for finding in result.findings}


def test_hosts_beside_each_other_in_one_tree_do_not_mix() -> None:
    files = {f'{root}/etc/sysctl.d/{name}.conf': text for root, name, text in (('web', '10-a', 'fs.file-max = 65536\n'), ('db', '20-b', 'fs.file-max = 9000000\n'))}
    result = audit_node(Snapshot({f'/{path}': text for path, text in files.items()}), Config())
    found = [finding.place.document.path for finding in result.findings if finding.rule.id == 'sysctl-file-max-lowered']
    assert found == ['/web/etc/sysctl.d/10-a.conf']
