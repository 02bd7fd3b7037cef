"""Tasks of Ansible: what they set on hosts, with loops and variables that stand beside them."""

from collections.abc import Callable

import pytest

from configaudit.findings import Finding
from configaudit.fix import Refusal, edits_of
from configaudit.places import locate
from configaudit.result import Result

Run = Callable[..., Result]
PLAY = """- hosts: gpu_nodes
  vars:
    kernel: {vm.max_map_count: 60000, net.core.somaxconn: 128}
  tasks:
    - name: Open files
      ansible.posix.sysctl:
        name: fs.file-max
        value: "65536"
    - sysctl: {name: "{{ item.name }}", value: "{{ item['value'] }}"}
      loop:
        - {name: fs.nr_open, value: 65536}
        - {name: kernel.pid_max, value: "{{ pid_max }}"}
    - sysctl: {name: "{{ item.key }}", value: "{{ item.value }}"}
      with_dict: "{{ kernel }}"
    - sysctl: {name: net.ipv4.tcp_tw_recycle, state: absent}
    - sysctl: {name: "{{ item.key }}", value: "{{ item.value }}"}
      with_dict: "{{ elsewhere }}"
    - when: true
      block:
        - community.general.pam_limits: {domain: '*', limit_type: soft, limit_item: nofile, value: 4096}
        - lineinfile:
            path: /etc/sysctl.conf
            line: "{{ item }}"
          loop: [net.ipv4.tcp_tw_recycle = 1]
        - copy:
            dest: /etc/systemd/system/docker.service.d/limits.conf
            content: |
              [Service]
              LimitNOFILE=4096
        - ansible.builtin.shell: sysctl -w net.ipv4.tcp_syncookies=0
"""


def findings(result: Result) -> dict[str, Finding]:
    return {item.rule.id: item for item in result.findings}


def test_a_playbook(run: Run) -> None:
    assert {rule: locate(item.place).line for rule, item in findings(run({'site.yml': PLAY})).items()} == {
        'sysctl-max-map-count-low': 3, 'sysctl-somaxconn-low': 3, 'sysctl-file-max-lowered': 8, 'sysctl-nr-open-low': 11,
        'limits-conf-nofile-low': 20, 'sysctl-tw-recycle': 24, 'systemd-nofile-low': 29, 'sysctl-syncookies-off': 30,
    }  # fmt: skip


@pytest.mark.parametrize(('rule', 'old', 'new'), [('sysctl-file-max-lowered', '65536', '2097152'), ('sysctl-nr-open-low', '65536', '1048576'), ('limits-conf-nofile-low', '4096', '65536')])
def test_a_value_is_fixed_where_it_stands(run: Run, rule: str, old: str, new: str) -> None:
    edits = edits_of(findings(run({'site.yml': PLAY}))[rule])
    assert not isinstance(edits, Refusal)
    assert [(PLAY[edit.start : edit.end].strip('"'), edit.text.strip('"')) for edit in edits] == [(old, new)]


def test_what_a_variable_holds_is_unknown(run: Run) -> None:
    result = run({'roles/node/tasks/main.yml': '- sysctl:\n    name: vm.max_map_count\n    value: "{{ map_count }}"\n'})
    assert [item.rule.id for item in result.findings] == []
    assert 'sysctl-max-map-count-low' in {item.rule.id for item in result.not_assessed}


@pytest.mark.parametrize('text', ['- a\n- sysctl: x\n', '- - sysctl:\n', '- sysctl:\n', '- sysctl: {name: fs.file-max}\n', '- name: sysctl\n  block: []\n', '- {sysctl: {name: [a], value: {b: c}}}\n'])
def test_lists_that_are_no_tasks_are_left_alone(run: Run, text: str) -> None:
    result = run({'x.yml': text})
    assert not result.components
    assert not result.errors
