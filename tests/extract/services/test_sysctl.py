"""Files of kernel parameters: what is read, and the edges of the rules."""

import pytest

from configaudit.extract.services import sysctl
from configaudit.places import Document, locate


def values(text: str, path: str = 'etc/sysctl.d/90.conf') -> list[tuple[str, object, int]]:
    """(name, value, line) of every assignment."""
    found = sysctl.read(Document(path, 'sysctl', text.encode())).components
    return [(item.name, item['value'].known_value, locate(item['value'].place).line) for item in found]


@pytest.mark.parametrize(
    ('line', 'name', 'value'),
    [
        ('fs.file-max=65536', 'fs.file-max', 65536),
        ('net/core/somaxconn = 128', 'net.core.somaxconn', 128),
        ('-vm.swappiness = 1', 'vm.swappiness', 1),
        ('net.ipv4.ip_local_port_range = 1024\t65535', 'net.ipv4.ip_local_port_range', '1024 65535'),
        ('net.core.somaxconn = 128 # short', 'net.core.somaxconn', 128),
        ('net.ipv4.tcp_congestion_control = bbr', 'net.ipv4.tcp_congestion_control', 'bbr'),
    ],
)
def test_values(line: str, name: str, value: object) -> None:
    assert values(f'# head\n{line}\n') == [(name, value, 2)]


@pytest.mark.parametrize('value', ['{{ limit }}', '${LIMIT}', '{% if x %}1'])
def test_a_template_leaves_the_value_unknown(value: str) -> None:
    (entry,) = sysctl.read(Document('a.conf', 'sysctl', f'fs.file-max = {value}\n'.encode())).components
    assert entry['value'].reason == 'filled by a template'


@pytest.mark.parametrize(
    ('path', 'text', 'node'),
    [
        ('etc/sysctl.d/99-kubernetes.conf', 'vm.swappiness = 1\n', True),
        ('etc/sysctl.conf', 'net.bridge.bridge-nf-call-iptables = 1\n', True),
        ('etc/sysctl.conf', '# web server\nvm.swappiness = 1\n', False),
    ],
)
def test_what_shows_a_kubernetes_node(path: str, text: str, node: bool) -> None:
    assert sysctl.read(Document(path, 'sysctl', text.encode())).components[0]['node'].value is node


GATEWAY = """vm.swappiness = 100
net.core.somaxconn = 4096
net.ipv4.ip_local_port_range = 1024 65535
net.ipv4.tcp_tw_reuse = 1
net.ipv4.tcp_fin_timeout = 20
fs.file-max = 2097152
vm.max_map_count = 524288
kernel.pid_max = 4194304
net.ipv4.tcp_tw_recycle = 0
net.netfilter.nf_conntrack_max = 1048576
"""


def test_good_values_are_silent(found) -> None:  # type: ignore[no-untyped-def]
    assert found({'etc/sysctl.d/90-gateway.conf': GATEWAY}) == []


@pytest.mark.parametrize(
    ('value', 'severity'), [(65536, 'warning'), (524287, 'warning'), (524288, 'advice'), (2097151, 'advice')]
)
def test_file_max_is_worse_the_lower_it_is(run, value: int, severity: str) -> None:  # type: ignore[no-untyped-def]
    (finding,) = run({'etc/sysctl.d/a.conf': f'fs.file-max = {value}\n'}).findings
    assert (finding.rule.id, finding.severity) == ('sysctl-file-max-lowered', severity)


@pytest.mark.parametrize(('sign', 'severity'), [('', 'advice'), ('# kubelet\n', 'warning')])
def test_overcommit_weighs_more_on_a_node(run, sign: str, severity: str) -> None:  # type: ignore[no-untyped-def]
    (finding,) = run({'etc/sysctl.d/a.conf': f'{sign}vm.overcommit_memory = 2\n'}).findings
    assert finding.severity == severity


def test_only_the_assignment_that_holds_is_judged(found) -> None:  # type: ignore[no-untyped-def]
    text = 'net.core.somaxconn = 128\nnet.core.somaxconn = 8192\n'
    assert found({'etc/sysctl.d/a.conf': text}) == ['etc/sysctl.d/a.conf:1:22 sysctl-duplicate']


def test_the_same_value_twice_is_no_contradiction(found) -> None:  # type: ignore[no-untyped-def]
    assert found({'etc/sysctl.d/a.conf': 'vm.swappiness = 1\nvm.swappiness=1\n'}) == []


@pytest.mark.parametrize(
    ('line', 'expected'),
    [
        ('net.ipv4.ip_local_port_range = 32768 60999', []),
        ('net.ipv4.ip_local_port_range = 20000 65000', ['advice']),
        ('net.ipv4.ip_local_port_range = 1024 65535', ['warning']),
        ('net.ipv4.ip_local_port_range = 1024 65535\nnet.ipv4.ip_local_reserved_ports = 10250,30000-32767', []),
    ],
)
def test_node_ports(run, line: str, expected: list[str]) -> None:  # type: ignore[no-untyped-def]
    result = run({'etc/sysctl.d/99-kubernetes.conf': line + '\n'})
    assert [
        item.severity for item in result.findings if item.rule.id == 'sysctl-port-range-over-node-ports'
    ] == expected


def test_a_template_is_not_assessed(run) -> None:  # type: ignore[no-untyped-def]
    result = run({'etc/sysctl.d/a.conf': 'fs.file-max = {{ files }}\n'})
    assert not result.findings
    assert 'sysctl-file-max-lowered' in {item.rule.id for item in result.not_assessed}


@pytest.mark.parametrize(('reserved', 'judged'), [('8080,61000-61100', 1), ('9000-11000,30000-32767', 0)])
def test_reserved_ports_must_be_the_right_ones(run, reserved: str, judged: int) -> None:  # type: ignore[no-untyped-def]
    """Other reserved ports keep none of Kubernetes' free."""
    text = f'net.ipv4.ip_local_port_range = 1024 65535\nnet.ipv4.ip_local_reserved_ports = {reserved}\n'
    result = run({'etc/sysctl.d/99-kubernetes.conf': text})
    assert [item.rule.id for item in result.findings].count('sysctl-port-range-over-node-ports') == judged
