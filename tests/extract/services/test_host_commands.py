"""Commands and scripts that tune the host."""

import pytest

from configaudit.extract.carriers import cloudinit
from configaudit.extract.services.host_commands import read_script
from configaudit.parse.tree import Map
from configaudit.parse.yaml import parse
from configaudit.places import Document, locate


def set_by(text: str) -> list[tuple[str, object, int, int]]:
    """(name, value, line, column) of what a script sets."""
    found = read_script(Document('tune.sh', 'shell', text.encode())).components
    rows = []
    for item in found:
        setting = item['value'] if item.kind.name == 'sysctl' else item['scheduler']
        at = locate(setting.place)
        rows.append((item.name, setting.known_value, at.line, at.column))
    return rows


@pytest.mark.parametrize(
    ('line', 'expected'),
    [
        ('sysctl -w vm.max_map_count=262144', ('vm.max_map_count', 262144, 2, 28)),
        ('sudo sysctl -qw net.core.somaxconn=128', ('net.core.somaxconn', 128, 2, 36)),
        (
            '/sbin/sysctl net.ipv4.ip_local_port_range="1024 65535"',
            ('net.ipv4.ip_local_port_range', '1024 65535', 2, None),
        ),
        ('echo 2 > /proc/sys/vm/overcommit_memory', ('vm.overcommit_memory', 2, 2, 6)),
        ('echo none | sudo tee /sys/block/nvme0n1/queue/scheduler', ('nvme0n1', 'none', 2, 6)),
        ('echo "fs.file-max = 65536" >> /etc/sysctl.conf', ('fs.file-max', 65536, 2, 21)),
        ('echo "vm.swappiness=1" | sudo tee -a /etc/sysctl.d/9.conf', ('vm.swappiness', 1, 2, 21)),
    ],
)
def test_one_command(line: str, expected: tuple[str, object, int, int | None]) -> None:
    (row,) = set_by(f'#!/bin/sh\n{line}\n')
    assert row[:3] == expected[:3]
    assert expected[3] in (None, row[3])


@pytest.mark.parametrize(
    'line',
    [
        'sysctl -p', 'sysctl --system', 'sysctl net.ipv4.ip_forward', '# echo 2 > /proc/sys/vm/overcommit_memory',
        'echo "read /etc/sysctl.conf"', 'cat /sys/block/sda/queue/scheduler', '# cat >> /etc/sysctl.conf <<EOF\nfs.file-max = 1\nEOF',
    ],
)  # fmt: skip
def test_nothing_is_set(line: str) -> None:
    assert set_by(f'#!/bin/sh\n{line}\n') == []


@pytest.mark.parametrize(
    'command',
    [
        'cat <<EOF > /etc/sysctl.d/90.conf', "cat > /etc/sysctl.d/90.conf <<'EOF'", 'cat <<-EOF | sudo tee /etc/sysctl.d/90.conf',
        'sudo tee -a /etc/sysctl.conf > /dev/null <<EOF',
    ],
)  # fmt: skip
def test_here_documents(command: str) -> None:
    assert set_by(f'set -e\n{command}\n# net\nfs.file-max = 65536\nEOF\nsysctl --system\n') == [
        ('fs.file-max', 65536, 4, 15)
    ]


@pytest.mark.parametrize(
    ('command', 'is_found'),
    [("sudo tee /etc/nginx/conf.d/llm.conf <<'EOF'", True), ('cat > /etc/nginx/sites-available/llm <<EOF', True), ('cat > /opt/notes/llm.conf <<EOF', False), ('# cat > /etc/nginx/conf.d/llm.conf <<EOF', False)],
)  # fmt: skip
def test_the_nginx_that_a_script_sets_up(found, command: str, is_found: bool) -> None:  # type: ignore[no-untyped-def]
    script = f'#!/bin/bash\n{command}\nserver {{\n  listen 80;\n  location /v1/chat/completions {{ proxy_pass http://10.0.0.5:8000; proxy_read_timeout 20s; }}\n}}\nEOF\nsystemctl reload nginx\n'
    assert found({'setup.sh': script}, 'first-token-after-read-timeout') == (['setup.sh:5:87 first-token-after-read-timeout'] if is_found else [])


def test_a_privileged_container_tunes_its_node(found) -> None:  # type: ignore[no-untyped-def]
    pod = """apiVersion: v1
kind: Pod
metadata: {name: p}
spec:
  initContainers:
    - name: tune
      image: busybox:1.36
      command: [sh, -c, "sysctl -w fs.file-max=65536"]
      securityContext: {privileged: true}
  containers: [{name: c, image: "app:1"}]
"""
    assert found({'p.yaml': pod}, 'sysctl-file-max-lowered') == ['p.yaml:8:48 sysctl-file-max-lowered']


CLOUD = """#cloud-config
write_files:
  - path: /etc/sysctl.d/99-net.conf
    content: |
      fs.file-max = 65536
  - path: /etc/packed
    encoding: gz+b64
    content: H4sIAA==
bootcmd:
  - [sysctl, -w, net.ipv4.tcp_tw_recycle=1]
runcmd:
  - sysctl -w vm.swappiness=1
"""


def test_cloud_config() -> None:
    (root,) = parse(CLOUD.encode()).roots
    assert isinstance(root, Map)
    reading = cloudinit.read_tree(Document('user-data', 'yaml', CLOUD.encode()), root, '')
    assert [(item.name, item['value'].value) for item in reading.components] == [('net.ipv4.tcp_tw_recycle', 1)]
    assert [item.name for item in reading.nested] == ['/etc/sysctl.d/99-net.conf', 'runcmd.sh']
