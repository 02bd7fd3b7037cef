"""Files inside configurations of whole machines are read under the path that they get there, with places in the outer file."""

import base64
import gzip
import json
from collections.abc import Callable
from urllib.parse import quote

import pytest

from configaudit.findings import Finding
from configaudit.fix import Refusal, edits_of
from configaudit.places import locate
from configaudit.result import Result

Run = Callable[..., Result]
LOW = 'fs.file-max = 65536\n'
RULE = 'sysctl-file-max-lowered'


def findings(result: Result, rule: str = RULE) -> list[Finding]:
    return [item for item in result.findings if item.rule.id == rule]


def lines(result: Result, rule: str = RULE) -> list[int]:
    return [locate(item.place).line for item in findings(result, rule)]


def ignition(source: str, compression: str = '') -> str:
    contents = {'source': source, 'compression': compression} if compression else {'source': source}
    file = {'path': '/etc/sysctl.d/90-low.conf', 'contents': contents}
    return json.dumps({'ignition': {'version': '3.4.0'}, 'storage': {'files': [file]}}, indent=1)


@pytest.mark.parametrize(
    ('source', 'compression'),
    [
        ('data:,' + quote(LOW), ''),
        ('data:text/plain;charset=utf-8;base64,' + base64.b64encode(LOW.encode()).decode(), ''),
        ('data:;base64,' + base64.b64encode(gzip.compress(LOW.encode())).decode(), 'gzip'),
    ],
)
def test_a_data_url_is_read_and_never_written(run: Run, source: str, compression: str) -> None:
    (one,) = findings(run({'a.ign': ignition(source, compression)}))
    assert locate(one.place).line == 10
    assert isinstance(edits_of(one), Refusal)


@pytest.mark.parametrize('source', ['https://example.com/x.conf', 'data:;base64,!!', 'data:;base64,H4sIAA==', 'data:,%ff%fe'])
def test_what_is_elsewhere_or_no_text_is_left_alone(run: Run, source: str) -> None:
    result = run({'a.ign': ignition(source, 'gzip' if 'H4sI' in source else '')})
    assert not result.components
    assert not result.errors


def test_a_small_file_that_holds_a_huge_one_is_not_unpacked(run: Run) -> None:
    packed = base64.b64encode(gzip.compress((LOW + '# x\n' * 2**20).encode())).decode()
    assert not run({'a.ign': ignition('data:;base64,' + packed, 'gzip')}).components


BUTANE = """variant: fcos
version: 1.5.0
storage:
  files:
    - path: /etc/sysctl.d/90-low.conf
      contents:
        inline: |
          fs.file-max = 65536
    - path: /etc/sysctl.d/95-better.conf
      contents:
        inline: fs.file-max = 4194304
systemd:
  units:
    - name: containerd.service
      dropins:
        - name: 10-limits.conf
          contents: |
            [Service]
            LimitNOFILE=4096
        - name: 20-limits.conf
          contents: |
            [Service]
            Nice=-5
kernel_arguments:
  should_exist: [mitigations=off, quiet]
"""


def test_butane(run: Run) -> None:
    result = run({'node.bu': BUTANE})
    assert lines(result) == []  # a later file of the same machine sets it again
    assert lines(result, 'sysctl-overridden-elsewhere') == [8]
    assert lines(result, 'systemd-nofile-low') == [19]
    assert lines(result, 'cpu-mitigations-off') == [25]


def test_an_inline_file_is_fixed_in_place(run: Run) -> None:
    (one,) = findings(run({'node.bu': BUTANE}), 'systemd-nofile-low')
    edits = edits_of(one)
    assert not isinstance(edits, Refusal)
    assert [BUTANE[edit.start : edit.end] for edit in edits] == ['4096']


def test_two_machines_in_one_file_do_not_override_each_other(run: Run) -> None:
    one = """apiVersion: machineconfiguration.openshift.io/v1
kind: MachineConfig
metadata: {name: NAME}
spec:
  kernelArguments: [mitigations=off]
  config:
    ignition: {version: 3.2.0}
    storage:
      files:
        - path: /etc/sysctl.d/90-NAME.conf
          contents: {source: "data:,fs.file-max%3D65536"}
"""
    result = run({'m.yaml': one.replace('NAME', 'a') + '---\n' + one.replace('NAME', 'b').replace('65536', '4194304')})
    assert lines(result) == [11]
    assert lines(result, 'cpu-mitigations-off') == [5, 17]


def test_a_kubelet_configuration_that_is_merged_lacks_nothing(run: Run) -> None:
    text = 'apiVersion: machineconfiguration.openshift.io/v1\nkind: KubeletConfig\nmetadata: {name: k}\nspec:\n  kubeletConfig:\n    podPidsLimit: -1\n'
    result = run({'k.yaml': text})
    assert [(item.rule.id, locate(item.place).line) for item in result.findings] == [('kubelet-pod-pids-unlimited', 6)]


NODE_CLASS = """apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: gpu}
spec:
  userData: |
    MIME-Version: 1.0
    Content-Type: multipart/mixed; boundary="//"

    --//
    Content-Type: text/x-shellscript; charset="us-ascii"

    #!/bin/bash
    sysctl -w fs.file-max=65536
    --//
    Content-Type: text/cloud-config
    Content-Transfer-Encoding: base64

    ENCODED
    --//
    Content-Type: application/node.eks.aws

    apiVersion: node.eks.aws/v1alpha1
    kind: NodeConfig
    spec:
      kubelet: {config: {podPidsLimit: -1}}
    --//--
"""


def test_user_data_in_several_parts(run: Run) -> None:
    cloud = '#cloud-config\nwrite_files:\n- path: /etc/sysctl.d/1.conf\n  content: |\n    net.core.somaxconn = 128\n'
    result = run({'c.yaml': NODE_CLASS.replace('ENCODED', base64.b64encode(cloud.encode()).decode())})
    assert lines(result) == [13]
    assert lines(result, 'sysctl-somaxconn-low') == [18]
    assert lines(result, 'kubelet-pod-pids-unlimited') == [25]


def test_user_data_of_bottlerocket(run: Run) -> None:
    text = 'apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata: {name: br}\nspec:\n  userData: |\n    [settings.kernel.sysctl]\n    "fs.file-max" = "65536"\n'
    assert lines(run({'c.yaml': text})) == [7]


BOTTLEROCKET = """[settings.kernel.sysctl]
"net.core.somaxconn" = "128"
[settings.boot.kernel-parameters]
"mitigations" = ["off"]
[settings.kubernetes]
pod-pids-limit = -1
[settings.oci-defaults.resource-limits.max-open-files]
soft-limit = 1024
hard-limit = 65536
"""


def test_bottlerocket(run: Run) -> None:
    result = run({'node.toml': BOTTLEROCKET})
    found = {item.rule.id: locate(item.place).line for item in result.findings}
    assert found == {'sysctl-somaxconn-low': 2, 'sysctl-not-reaching-pods': 2, 'cpu-mitigations-off': 4, 'kubelet-pod-pids-unlimited': 6, 'runtime-nofile-low': 8}
    (low,) = findings(result, 'sysctl-somaxconn-low')
    edits = edits_of(low)
    assert not isinstance(edits, Refusal)
    assert [(BOTTLEROCKET[edit.start : edit.end], edit.text) for edit in edits] == [('128', '4096')]


def test_talos(run: Run) -> None:
    text = """machine:
  sysctls:
    fs.file-max: "65536"
    net.ipv4.ip_local_port_range: "1024 65535"
  sysfs:
    block.nvme0n1.queue.scheduler: bfq
  kubelet:
    extraConfig: {podPidsLimit: -1}
  install:
    extraKernelArgs: [mitigations=off]
"""
    result = run({'patch.yaml': text})
    found = {item.rule.id: locate(item.place).line for item in result.findings}
    assert found == {
        RULE: 3, 'sysctl-port-range-over-node-ports': 4, 'sysctl-not-reaching-pods': 4, 'io-scheduler-not-none-on-nvme': 6,
        'kubelet-pod-pids-unlimited': 8, 'cpu-mitigations-off': 10,
    }  # fmt: skip


@pytest.mark.parametrize(('encoding', 'pack'), [('b64', bytes), ('gz+b64', gzip.compress), ('gzip+base64', gzip.compress)])
def test_encoded_files_of_cloud_init(run: Run, encoding: str, pack: Callable[[bytes], bytes]) -> None:
    content = base64.b64encode(pack(LOW.encode())).decode()
    text = f'## template: jinja\n#cloud-config\nwrite_files:\n- path: /etc/sysctl.d/1.conf\n  encoding: {encoding}\n  content: {content}\n'
    assert lines(run({'user-data': '', 'u.yaml': text})) == [6]
    assert lines(run({'u.txt': text})) == [6, 6]


@pytest.mark.parametrize(
    ('version', 'arguments'),
    [
        ('v1beta3', '    pod-max-pids: "-1"\n    allowed-unsafe-sysctls: net.*\n    v: "2"\n'),
        ('v1beta4', '    - {name: pod-max-pids, value: "-1"}\n    - {name: allowed-unsafe-sysctls, value: net.*}\n'),
    ],
)
def test_flags_that_kubeadm_gives_the_kubelet(run: Run, version: str, arguments: str) -> None:
    text = f'apiVersion: kubeadm.k8s.io/{version}\nkind: JoinConfiguration\nnodeRegistration:\n  kubeletExtraArgs:\n{arguments}'
    result = run({'k.yaml': text})
    assert {item.rule.id: locate(item.place).line for item in result.findings} == {'kubelet-pod-pids-unlimited': 5, 'kubelet-unsafe-sysctls-wide': 6}


def test_the_system_configuration_of_a_gke_node_pool(run: Run) -> None:
    text = "linuxConfig:\n  sysctl:\n    net.core.somaxconn: '128'\n  cgroupMode: CGROUP_MODE_V2\nkubeletConfig:\n  podPidsLimit: -1\n"
    found = {item.rule.id: locate(item.place).line for item in run({'system.yaml': text}).findings}
    assert found == {'sysctl-somaxconn-low': 3, 'sysctl-not-reaching-pods': 3, 'kubelet-pod-pids-unlimited': 6}


def test_objects_in_a_config_map_of_hypershift(run: Run) -> None:
    text = """apiVersion: v1
kind: ConfigMap
metadata: {name: tuned-1, namespace: clusters}
data:
  tuning: |
    apiVersion: tuned.openshift.io/v1
    kind: Tuned
    metadata: {name: tuned-1}
    spec:
      profile:
        - name: mine
          data: |
            [sysctl]
            fs.file-max=65536
"""
    assert lines(run({'c.yaml': text})) == [14]


AKS = '"sysctls": {"fsFileMax": 65536, "netCoreSomaxconn": 128, "netIpv4TcpTwReuse": true, "netIpv4TcpkeepaliveIntvl": 30}'


@pytest.mark.parametrize(
    'files',
    [
        {'linuxosconfig.json': '{"transparentHugePageEnabled": "madvise",\n ' + AKS + '}\n'},
        {'pool.yaml': 'apiVersion: infrastructure.cluster.x-k8s.io/v1beta1\nkind: AzureManagedMachinePool\nmetadata: {name: p}\nspec:\n  linuxOSConfig: {' + AKS + '}\n'},
    ],
)
def test_the_linux_configuration_of_an_aks_node_pool(run: Run, files: dict[str, str]) -> None:
    result = run(files)
    assert [item.rule.id for item in result.findings if item.severity == 'warning'] == [RULE, 'sysctl-somaxconn-low']
    assert {item.name for item in result.components} == {'fs.file-max', 'net.core.somaxconn', 'net.ipv4.tcp_keepalive_intvl'}
