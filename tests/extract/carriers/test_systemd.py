"""systemd units: what they run, with drop-ins and the manager's defaults."""

import math
from collections.abc import Callable

import pytest

from configaudit.model import Component
from configaudit.result import Result

Run = Callable[..., Result]


def unit(result: Result) -> Component:
    (found,) = [component for component in result.components if component.kind.name == 'unit' and not component.partial]
    return found


@pytest.mark.parametrize(
    ('command', 'runs'),
    [
        ('/usr/bin/containerd', 'container-runtime'),
        ('-/usr/bin/dockerd -H fd://', 'container-runtime'),
        ('/usr/bin/env A=1 /opt/bin/vllm serve acme/m', 'engine'),
        ('/opt/venv/bin/python -m sglang.launch_server --model-path /m', 'engine'),
        ('/usr/bin/docker run --rm --name x vllm/vllm-openai:v0.10.2 --model /m', 'engine'),
        ('/usr/sbin/nginx -g "daemon off;"', 'proxy'),
        ('/usr/local/bin/other --verbose', 'other'),
    ],
)
def test_what_a_unit_runs(run: Run, command: str, runs: str) -> None:
    assert unit(run({'a.service': f'[Service]\nExecStart={command}\n'}))['runs'].value == runs


@pytest.mark.parametrize(
    ('written', 'soft', 'hard'),
    [('65536', 65536, 65536), ('1024:524288', 1024, 524288), ('infinity', math.inf, math.inf), ('64K', 65536, 65536)],
)
def test_open_files(run: Run, written: str, soft: float, hard: float) -> None:
    found = unit(run({'a.service': f'[Service]\nExecStart=/usr/bin/containerd\nLimitNOFILE={written}\n'}))
    assert (found['nofile'].value, found['nofile_hard'].value) == (soft, hard)


def test_the_last_assignment_wins_and_an_empty_one_resets(run: Run) -> None:
    text = '[Service]\nExecStart=/usr/bin/containerd\nLimitNOFILE=1024\nRestart=always\nRestart=\nLimitNOFILE=65536\n'
    found = unit(run({'a.service': text}))
    assert found['nofile'].value == 65536
    assert not found['restart'].is_set


def test_a_drop_in_sets_what_the_unit_leaves_out(run: Run) -> None:
    result = run({
        'usr/lib/systemd/system/containerd.service': '[Service]\nExecStart=/usr/bin/containerd\nRestart=always\n',
        'etc/systemd/system/containerd.service.d/10-files.conf': '[Service]\nLimitNOFILE=65536:1048576\n',
    })  # fmt: skip
    assert unit(result)['nofile'].value == 65536
    assert [finding.rule.id for finding in result.findings] == []


def test_the_manager_s_default_holds_for_units_that_say_nothing(run: Run) -> None:
    result = run({
        'containerd.service': '[Service]\nExecStart=/usr/bin/containerd\nRestart=always\n',
        'etc/systemd/system.conf.d/10-files.conf': '[Manager]\nDefaultLimitNOFILE=65536:524288\n',
    })  # fmt: skip
    assert unit(result)['nofile'].value == 65536


def test_an_engine_s_flags_and_environment(run: Run) -> None:
    text = '[Service]\nEnvironment=SEQS=20 "VLLM_USE_V1=1"\nExecStart=/opt/bin/vllm serve acme/m \\\n  --max-num-seqs ${SEQS}\n'
    result = run({'a.service': text})
    (engine,) = [component for component in result.components if component.kind.name == 'vllm']
    assert engine['max_num_seqs'].value == 20
    assert engine['environment'].value['VLLM_USE_V1'].value == '1'


@pytest.mark.parametrize(
    ('line', 'keys'),
    [
        ('User=app # no root', ['User']),
        ('ExecStart=/bin/a --x  #note', ['ExecStart']),
        ('ExecStart=/bin/a # note', ['ExecStart']),
        ('ExecStart=/bin/a --to #ops', []),
        ('ExecStart=/bin/sh -c "a # b"', []),
        ('ExecStart=/bin/a http://x/y#z', []),
        ('Description=a # b', []),
        ('Environment="A=b # c"', []),
        ('Environment=A=b # c', ['Environment']),
        ('LimitNOFILE=4096 # more', ['LimitNOFILE']),
    ],
)
def test_comments_after_a_value(run: Run, line: str, keys: list[str]) -> None:
    found = [item.key for item in unit(run({'a.service': f'[Service]\n{line}\n'}))['inline_comments'].value]
    assert found == keys


def test_limits_of_a_docker_client_say_nothing_about_its_container(found: Callable[..., list[str]]) -> None:
    text = (
        '[Service]\nRestart=always\nExecStart=/usr/bin/docker run --rm --name x vllm/vllm-openai:v0.10.2 --model /m\n'
    )
    assert found({'a.service': text}, 'systemd-nofile-unset') == []


UNIT = '[Service]\nExecStart=/usr/bin/containerd\nRestart=always\n'


def _effective(run: Run, files: dict[str, str]) -> list[tuple[str, object]]:
    """Where the units of containerd take their limit from, and the hard limit."""
    result = run(files)
    units = [item for item in result.components if item.kind.name == 'unit' and not item.partial and item['runs'].value]
    return [(unit['nofile_hard'].place.document.path, unit['nofile_hard'].value) for unit in units]


def test_drop_ins_are_read_by_name_whatever_folder_they_are_in(run: Run) -> None:
    files = {
        'usr/lib/systemd/system/containerd.service': UNIT,
        'usr/lib/systemd/system/containerd.service.d/90-vendor.conf': '[Service]\nLimitNOFILE=1024:524288\n',
        'etc/systemd/system/containerd.service.d/10-mine.conf': '[Service]\nLimitNOFILE=4096\n',
    }
    assert _effective(run, files) == [('usr/lib/systemd/system/containerd.service.d/90-vendor.conf', 524288)]
    assert not [item for item in run({}).findings if item.rule.id == 'systemd-nofile-low']


def test_a_drop_in_hides_the_one_of_its_name_in_a_lower_folder(run: Run) -> None:
    files = {
        'usr/lib/systemd/system/containerd.service': UNIT,
        'usr/lib/systemd/system/containerd.service.d/10-limits.conf': '[Service]\nLimitNOFILE=4096\n',
        'etc/systemd/system/containerd.service.d/10-limits.conf': '[Service]\nLimitNOFILE=1024:524288\n',
    }
    assert _effective(run, files) == [('etc/systemd/system/containerd.service.d/10-limits.conf', 524288)]
    assert not [item for item in run({}).findings if item.rule.id == 'systemd-nofile-low']


def test_drop_ins_of_all_services_and_of_the_manager(run: Run) -> None:
    unit = {'etc/systemd/system/containerd.service': UNIT}
    manager = {'etc/systemd/system.conf': '[Manager]\nDefaultLimitNOFILE=2048\n', 'etc/systemd/system.conf.d/20-more.conf': '[Manager]\nDefaultLimitNOFILE=1024:262144\n'}
    assert _effective(run, {**unit, **manager}) == [('etc/systemd/system.conf.d/20-more.conf', 262144)]
    every = {'etc/systemd/system/service.d/10-limits.conf': '[Service]\nLimitNOFILE=1024:131072\n'}
    assert _effective(run, every) == [('etc/systemd/system/service.d/10-limits.conf', 131072)]
    own = {'etc/systemd/system/containerd.service.d/10-limits.conf': '[Service]\nLimitNOFILE=1024:524288\n'}
    assert _effective(run, own) == [('etc/systemd/system/containerd.service.d/10-limits.conf', 524288)]
    reset = {'etc/systemd/system/containerd.service.d/99-reset.conf': '[Service]\nLimitNOFILE=\n'}
    assert _effective(run, reset) == [('etc/systemd/system.conf.d/20-more.conf', 262144)]


def test_a_unit_below_etc_hides_the_one_of_the_package(run: Run) -> None:
    files = {'usr/lib/systemd/system/containerd.service': UNIT, 'etc/systemd/system/containerd.service': UNIT + 'LimitNOFILE=1024:524288\n'}
    result = run(files)
    assert [item.rule.id for item in result.findings] == []


def test_units_of_other_hosts_are_their_own(run: Run) -> None:
    files = {'a/etc/systemd/system/containerd.service': UNIT, 'b/etc/systemd/system/containerd.service.d/x.conf': '[Service]\nLimitNOFILE=1024:524288\n'}
    assert [item.rule.id for item in run(files).findings] == ['systemd-nofile-unset']
