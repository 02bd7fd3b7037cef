"""Rules for systemd units: open files, restarts, comments that are none."""

import math
from collections.abc import Iterator

from configaudit.model import Change, Component, Fix, NotApplicable, Problem, Slot, rule

_SERVERS = ('container-runtime', 'engine', 'proxy')
_CLIENTS = ('docker', 'podman', 'nerdctl')
"""Programs that only ask a daemon to start something: their own limits do not reach it."""


@rule(
    'systemd-nofile-unset',
    on='unit',
    severity='warning',
    checklist='july-10',
    source='containerd docs/containerd-2.0.md; systemd-system.conf(5), DefaultLimitNOFILE',
    effect='no "too many open files" in programs that keep their soft limit',
    side_effect='programs that use select() break above 1024',
)
def nofile_unset(unit: Component, *, limit: str = '65536:1048576') -> Iterator[Problem]:
    """A container runtime without LimitNOFILE starts every container with 1024 open files.

    containerd dropped the line in 2.0, Docker Engine in 2023: systemd's default of 1024 soft and 524288 hard holds, and
    containers inherit it. nginx, HAProxy and Python servers keep the soft limit. Never set infinity. For an engine's or
    proxy's own unit it is advice.

    When it is wrong: the workloads set their own ulimits, or base_runtime_spec / daemon.json does it for all.
    """
    runs = unit['runs'].value
    if runs not in _SERVERS or (unit['program'].value or '').rpartition('/')[2] in _CLIENTS:
        raise NotApplicable('neither a container runtime nor a server of its own')
    if unit.peers('runtime-limit'):
        raise NotApplicable('the configuration of the runtime gives every container its limit')
    files = unit['nofile']
    if files.is_set or files.value is not None:
        return
    if runs == 'container-runtime':
        yield Problem(
            files, 'no LimitNOFILE: every container starts with the soft limit of 1024 open files', fix=files.set(limit)
        )
    else:
        yield Problem(
            files,
            'no LimitNOFILE: it starts with the soft limit of 1024 open files',
            severity='advice',
            fix=files.set(limit),
        )


@rule(
    'systemd-nofile-low',
    on='unit',
    severity='warning',
    checklist='july-10',
    source='NCCL docs, troubleshooting, file descriptors: over 32K a process',
)
def nofile_low(unit: Component, *, files: int = 65535, limit: str = '65536:1048576') -> Iterator[Problem]:
    """A low hard limit of open files cannot be raised by anything that the unit starts.

    Even programs that raise their soft limit stop there; with a container runtime it holds for every container.
    """
    hard = unit['nofile_hard']
    if unit['runs'].value not in _SERVERS or not hard.is_set:
        raise NotApplicable('no limit is set for a server')
    if hard.value < files:
        yield Problem(hard, 'a hard limit of {value} open files, under {files}', files=files, fix=hard.set(limit))


@rule(
    'systemd-nofile-unlimited',
    on='unit',
    severity='warning',
    checklist='july-10',
    source='containerd/containerd#6707; moby/moby#45534',
)
def nofile_unlimited(unit: Component) -> Iterator[Problem]:
    """LimitNOFILE=infinity on a container runtime makes some programs in containers use gigabytes or hang.

    Infinity becomes fs.nr_open, over a thousand million on some hosts; programs that keep a table of, or close, every
    possible descriptor then take that much memory or time: MySQL went from 300 MB to 20 GB.
    """
    files = unit['nofile_hard']
    if unit['runs'].value != 'container-runtime' or not files.is_set:
        raise NotApplicable('no limit is set for a container runtime')
    if math.inf in (files.value, unit['nofile'].value):
        yield Problem(
            files, 'LimitNOFILE=infinity becomes fs.nr_open in every container: give a number such as 1024:524288'
        )


@rule(
    'systemd-tasks-max-low', on='unit', severity='warning', side_effect='a process that forks without end is stopped later',
    source='systemd.resource-control(5), TasksMax; containerd.service and docker.service of the projects: infinity; default 15 % of kernel.pid_max',
)  # fmt: skip
def tasks_max_low(unit: Component, *, runtime: int = 4096, server: int = 1024) -> Iterator[Problem]:
    """A low TasksMax makes fork and thread creation fail: "resource temporarily unavailable".

    Every thread counts. The shims of all containers, a dozen threads each, count for the runtime's unit; an inference server has
    hundreds of threads of its own.
    """
    tasks, runs = unit['tasks_max'], unit['runs'].value
    if runs not in _SERVERS or not tasks.is_set or not str(tasks.value).isdigit():
        raise NotApplicable('no number of tasks is set for a server')
    least = runtime if runs == 'container-runtime' else server
    if int(tasks.value) < least:
        yield Problem(tasks, '{value} processes and threads, under {least}', least=least, fix=tasks.set('infinity' if least == runtime else 4096))


@rule(
    'systemd-restart-unset',
    on='unit',
    severity='warning',
    side_effect='a server that fails at once is started again until the start limit is reached', source='systemd.service(5), Restart=',
    effect='a crash ends in a restart',
)
def restart_unset(unit: Component) -> Iterator[Problem]:
    """A server whose unit sets no Restart stays down after its first crash."""
    if unit['runs'].value not in _SERVERS or unit['type'].value == 'oneshot':
        raise NotApplicable('not a long-running server')
    policy = unit['restart']
    if not policy.is_set and policy.value == 'no':
        yield Problem(policy, 'no Restart: after a crash it stays down', fix=policy.set('on-failure'))


@rule(
    'systemd-inline-comment',
    on='unit',
    severity='error',
    source='systemd.syntax(7): only whole lines are comments',
    effect='the unit says what its author meant',
)
def inline_comment(unit: Component) -> Iterator[Problem]:
    """systemd has no trailing comments: the '#' and all after it are part of the value.

    A user name with blanks is refused and the unit does not start, a path gets the text appended, and a command gets
    the words of the comment as arguments.
    """
    for found in unit['inline_comments'].value:
        fix = Fix((Change(Slot('systemd', found.tail), '', found.key),), description='take the comment out')
        effect = 'its words become arguments' if found.key.startswith('Exec') else 'it becomes part of the value'
        yield Problem(
            found.comment, 'a comment after {key}=: {effect}', key=found.key, effect=effect, fix=fix, detail=found.key
        )
