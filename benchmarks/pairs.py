"""Run two commands in interleaved pairs and say what each run cost.

Both commands of a pair meet the same minute of a shared machine: their ratio is steadier than either time.
"""

from __future__ import annotations

import os
import resource
import signal
import sys
from collections.abc import Callable
from typing import NamedTuple

# The exit status with which configaudit says that something could not be audited, or that it crashed.
NOT_AUDITED = 3
# ru_maxrss is in KiB on Linux and in bytes on macOS (getrusage(2) of each system).
RSS_UNIT = 1 if sys.platform == 'darwin' else 1024
WRITE = os.O_WRONLY | os.O_CREAT | os.O_TRUNC


class Failed(Exception):
    """A command ended in a way that makes its figures worthless."""


class Command(NamedTuple):
    """One program to measure. `accepted` are the exit statuses of a run that did its work."""

    label: str
    argv: tuple[str, ...]
    accepted: tuple[int, ...] = (0,)
    stdin: str = os.devnull
    prepare: Callable[[], None] | None = None


class Usage(NamedTuple):
    """What one run cost: CPU seconds (user + system, children included), peak resident bytes, exit status."""

    cpu: float
    rss: int
    status: int


class Row(NamedTuple):
    """Two commands to compare; `same_output` demands that both write the same bytes to stdout."""

    name: str
    a: Command
    b: Command
    same_output: bool = False


class Runs(NamedTuple):
    """The runs of both sides, pair by pair."""

    a: list[Usage]
    b: list[Usage]

    def ratios(self) -> list[float]:
        """CPU time of A over B of each pair."""
        return [a.cpu / b.cpu for a, b in zip(self.a, self.b, strict=True)]


class Session(NamedTuple):
    """How to measure: a scratch folder, the number of pairs, the seconds that one run may take."""

    scratch: str
    pairs: int
    timeout: int

    def path(self, name: str) -> str:
        """A file or folder in the scratch folder."""
        return os.path.join(self.scratch, name)


def own_peak() -> int:
    """Peak resident bytes of this process: Linux counts them to every child, so no child can be seen to use less."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * RSS_UNIT


def reap(pid: int, seconds: int) -> Usage:
    """What a child cost; its whole process group is killed when it takes longer than `seconds`."""

    def overdue(_signal: int, _frame: object) -> None:
        raise Failed(f'still running after {seconds} s')

    previous = signal.signal(signal.SIGALRM, overdue)
    signal.alarm(seconds)
    try:
        _, status, usage = os.wait4(pid, 0)
    except BaseException:
        signal.alarm(0)
        os.killpg(pid, signal.SIGKILL)
        os.wait4(pid, 0)
        raise
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, previous)
    return Usage(usage.ru_utime + usage.ru_stime, usage.ru_maxrss * RSS_UNIT, os.waitstatus_to_exitcode(status))


def check_end(command: Command, usage: Usage, stderr: str) -> None:
    """Raise unless the run did its work: an accepted exit status and no traceback of our own."""
    with open(stderr, encoding='utf-8', errors='replace') as stream:
        text = stream.read()
    crashed = usage.status == NOT_AUDITED and 'Traceback (most recent call last)' in text
    if usage.status not in command.accepted or crashed:
        said = text.strip().splitlines()[-1:] or ['nothing on stderr']
        raise Failed(f'exit {usage.status}, {said[0][:200]}')


def measure(command: Command, session: Session, stdout: str) -> Usage:
    """Run a command once; its output goes to files, so that writing it is part of the cost."""
    if command.prepare is not None:
        command.prepare()
    stderr = session.path('stderr')
    actions = [
        (os.POSIX_SPAWN_OPEN, 0, command.stdin, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, stdout, WRITE, 0o600),
        (os.POSIX_SPAWN_OPEN, 2, stderr, WRITE, 0o600),
    ]
    # A kubeconfig that names a dead cluster can hang a linter: https://github.com/bridgecrewio/checkov/issues/3494
    environment = {**os.environ, 'NO_COLOR': '1', 'KUBECONFIG': os.devnull}
    try:
        pid = os.posix_spawn(command.argv[0], command.argv, environment, file_actions=actions, setpgroup=0)
        usage = reap(pid, session.timeout)
        check_end(command, usage, stderr)
    except (OSError, Failed) as error:
        raise Failed(f'{command.label}: {error}') from error
    return usage


def same_bytes(first: str, second: str) -> bool:
    """Whether two files hold the same bytes."""
    with open(first, 'rb') as one, open(second, 'rb') as two:
        return one.read() == two.read()


def compare(row: Row, session: Session) -> Runs:
    """One warm-up of each command, then the pairs; A goes first in every second pair."""
    runs = Runs([], [])
    sides = ((row.a, session.path('stdout-a'), runs.a), (row.b, session.path('stdout-b'), runs.b))
    for number in range(-1, session.pairs):
        for command, stdout, side in sides if number % 2 == 0 else sides[::-1]:
            usage = measure(command, session, stdout)
            if number >= 0:
                side.append(usage)
        if row.same_output and not same_bytes(sides[0][1], sides[1][1]):
            raise Failed(f'{row.a.label} and {row.b.label} wrote different reports')
    return runs
