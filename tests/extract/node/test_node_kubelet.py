"""A running kubelet goes by its file, the drop-ins beside it, and its flags."""

import pytest

from configaudit.audit import audit_node
from configaudit.config import Config
from configaudit.extract.services.kubelet_flags import spoken_flags
from configaudit.host.snapshot import Snapshot

HEAD = '{"apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration"'
MAIN = '/etc/kubernetes/kubelet/config.json'


def found(files: dict[str, str]) -> set[str]:
    result = audit_node(Snapshot({'/proc/sys/kernel/osrelease': '6.8.0', **files}), Config())
    return {item.rule.id for item in result.findings if item.rule.id.startswith('kubelet-')}


def test_a_file_alone() -> None:
    assert found({MAIN: HEAD + '}'}) == {'kubelet-pod-pids-unlimited', 'kubelet-reserves-nothing'}


def test_a_drop_in_is_merged_over_the_file() -> None:
    files = {MAIN: HEAD + '}', MAIN + '.d/40-nodeadm.conf': HEAD + ', "podPidsLimit": 4096, "kubeReserved": {"memory": "1Gi"}}'}
    assert found(files) == set()


@pytest.mark.parametrize('words', ['kubelet --pod-max-pids=4096 --kube-reserved=memory=1Gi', 'kubelet --pod-max-pids 4096 --v 2 --system-reserved cpu=100m'])
def test_flags_go_before_the_file(words: str) -> None:
    process = {'/proc/77/comm': 'kubelet', '/proc/77/cmdline': words, '/proc/77/limits': 'Max open files            1048576              1048576              files     \n'}
    assert found({MAIN: HEAD + ', "podPidsLimit": -1}', **process}) == set()


def test_switches_and_values() -> None:
    assert list(spoken_flags(['kubelet', '--a', '--b=c', '--d', 'e', '--f'])) == [('--a', 'true'), ('--b', 'c'), ('--d', 'e'), ('--f', 'true')]
