"""Settings of container runtimes."""

import math
from typing import Any

import pytest


def runtime(run: Any, path: str, text: str) -> Any:
    (found,) = [item for item in run({path: text}).components if item.kind.name == 'container-runtime']
    return found


def test_daemon_json_in_any_letter_case(run) -> None:  # type: ignore[no-untyped-def]
    text = '{"default-ulimits": {"nofile": {"name": "nofile", "soft": 64000, "Hard": -1}}, "default-shm-size": "2gb"}'
    docker = runtime(run, 'etc/docker/daemon.json', text)
    assert (docker['nofile_soft'].value, docker['nofile_hard'].value) == (64000, math.inf)
    assert docker['shm_bytes'].value == 2 * 2**30


@pytest.mark.parametrize(
    'text',
    [
        '{}',
        '{"log-driver": "json-file"}',
        '{"default-ulimits": {"memlock": {"Soft": -1, "Hard": -1}}}',
        '{"default-shm-size": "32m"}',
    ],
)
def test_a_daemon_that_says_nothing_of_it_is_silent(run, text: str) -> None:  # type: ignore[no-untyped-def]
    assert run({'etc/docker/daemon.json': text}).findings == ()


@pytest.mark.parametrize('version', [2, 3])
def test_containerd_names_the_driver_for_each_runtime(run, version: int) -> None:  # type: ignore[no-untyped-def]
    plugin = {2: 'io.containerd.grpc.v1.cri', 3: 'io.containerd.cri.v1.runtime'}[version]
    runtimes = f'plugins."{plugin}".containerd.runtimes'
    text = f'version = {version}\n[{runtimes}.nvidia.options]\nSystemdCgroup = false\n[{runtimes}.runc.options]\nSystemdCgroup = true\n'
    result = run({'etc/containerd/config.toml': text})
    assert [item.rule.id for item in result.findings] == ['runtime-cgroupfs-driver']


def test_crio(run) -> None:  # type: ignore[no-untyped-def]
    crio = runtime(
        run, 'etc/crio/crio.conf.d/9.conf', '[crio.runtime]\ndefault_ulimits = ["nofile=2048"]\npids_limit = -1\n'
    )
    assert (crio['nofile_soft'].value, crio['nofile_hard'].value, crio['pids_limit'].value) == (2048, 2048, math.inf)


def test_an_oci_spec_with_other_limits_only(run) -> None:  # type: ignore[no-untyped-def]
    text = '{"ociVersion": "1.1.0", "process": {"rlimits": [{"type": "RLIMIT_CORE", "soft": 0, "hard": 0}]}}'
    assert run({'base.json': text}).findings == ()
