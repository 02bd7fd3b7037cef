"""securityContext.sysctls."""

import pytest

POD = """apiVersion: v1
kind: Pod
metadata: {{name: p}}
spec:
  hostNetwork: {network}
  hostIPC: {ipc}
  securityContext:
    sysctls: [{{name: {name}, value: "{value}"}}]
  containers: [{{name: c, image: "app:1"}}]
"""


@pytest.mark.parametrize(
    ('name', 'value', 'expected'),
    [
        ('net.ipv4.tcp_keepalive_time', '120', set()),
        ('net.ipv4.tcp_rmem', '4096 131072 6291456', set()),
        ('net.core.somaxconn', '8192', {'pod-sysctl-unsafe'}),
        ('net.core.somaxconn', '128', {'pod-sysctl-unsafe', 'sysctl-somaxconn-low'}),
        ('kernel.shmmax', '1', {'pod-sysctl-unsafe'}),
        ('net/ipv4/tcp_notsent_lowat', '131072', {'pod-sysctl-unsafe'}),
        ('fs.file-max', '65536', {'pod-sysctl-file-max'}),
        ('vm.overcommit_memory', '2', {'pod-sysctl-not-namespaced'}),
        ('net.core.wmem_max', '1', {'pod-sysctl-not-namespaced'}),
    ],
)
def test_what_a_pod_may_set(run, name: str, value: str, expected: set[str]) -> None:  # type: ignore[no-untyped-def]
    result = run({'pod.yaml': POD.format(name=name, value=value, network='false', ipc='false')})
    assert {item.rule.id for item in result.findings if 'sysctl' in item.rule.id} == expected


@pytest.mark.parametrize(
    ('name', 'network', 'ipc', 'refused'),
    [
        ('net.ipv4.tcp_keepalive_time', 'true', 'false', True),
        ('net.ipv4.tcp_keepalive_time', 'false', 'true', False),
        ('kernel.shm_rmid_forced', 'false', 'true', True),
        ('kernel.shm_rmid_forced', 'true', 'false', False),
    ],
)
def test_namespaces_of_the_host(run, name: str, network: str, ipc: str, refused: bool) -> None:  # type: ignore[no-untyped-def]
    result = run({'pod.yaml': POD.format(name=name, value='1', network=network, ipc=ipc)})
    assert ('pod-sysctl-host-namespace' in {item.rule.id for item in result.findings}) is refused
