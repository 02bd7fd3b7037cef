"""The agent on a node: audit, publish, wait; SIGTERM ends it at once."""

import gc
import json
import os
import signal
import threading
import time
from collections.abc import Callable
from typing import NamedTuple

from configaudit.errors import UsageError
from configaudit.host.snapshot import Snapshot
from configaudit.outcomes import Outcome, outcomes
from configaudit.publish.cluster import Publisher, Sender
from configaudit.publish.exposition import Exposition
from configaudit.publish.textfile import write_atomically
from configaudit.report.cluster_report import KINDS, cluster_report
from configaudit.report.node_document import compared, node_document
from configaudit.report.prometheus import Run, render
from configaudit.result import Result

Audit = Callable[[], tuple[Snapshot, Result]]
Say = Callable[[str], None]


class Targets(NamedTuple):
    """Where the reports of each run go, beside standard output."""

    listen: str = ''
    textfile: str = ''
    cluster: tuple[str, ...] = ()
    """Names of KINDS."""
    quiet: bool = False
    """Nothing on standard output."""


class Agent:
    """Runs an audit every `interval` seconds until it is stopped."""

    def __init__(self, audit: Audit, interval: float, targets: Targets, emit: Say, say: Say) -> None:
        self.stop = threading.Event()
        self._audit, self._interval, self._targets, self._emit, self._say = audit, interval, targets, emit, say
        self._has_run = False
        self.exposition = Exposition(targets.listen) if targets.listen else None
        self._senders = {name: Sender(KINDS[name][2]) for name in targets.cluster}
        self._publishers = {name: Publisher(send, interval / 2, self.stop, say).start() for name, send in self._senders.items()}

    def run(self) -> int:
        """Audit until a signal ends it. The exit status is 0: being stopped is what an agent is for."""
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            if signal.getsignal(number) != signal.SIG_IGN or number == signal.SIGTERM:  # nohup, and jobs in the background
                signal.signal(number, self._end_soon)
        gc.enable()
        while not self.stop.is_set():
            started = time.monotonic()
            self._try_once()
            gc.collect()
            self.stop.wait(max(self._interval - (time.monotonic() - started), 0))
        self.close()
        return 0

    def close(self) -> None:
        """Leave no child process behind."""
        self.stop.set()
        for sender in self._senders.values():
            sender.close()

    def _end_soon(self, *_: object) -> None:
        """An audit that runs is given half a second: what it would find, the next agent finds too."""
        self.stop.set()
        timer = threading.Timer(0.5, self._end_now)
        timer.daemon = True
        timer.start()

    def _end_now(self) -> None:
        self.close()
        end(0)

    def _try_once(self) -> None:
        """One run. One that fails is said, and the reports of the last one stand; a wrong command line ends the first."""
        try:
            self.once()
        except Exception as error:
            if isinstance(error, UsageError) and not self._has_run:
                raise
            self._say(f'this run failed, the last report stands: {type(error).__name__}: {error}')
        else:
            self._has_run = True

    def once(self) -> None:
        """One audit and its reports. A target that fails loses nothing of the others."""
        began = time.monotonic()
        snapshot, result = self._audit()
        held, ended, took = outcomes(result), time.time(), time.monotonic() - began
        node = snapshot.facts.get('name', '')
        if not self._targets.quiet:
            self._print(json.dumps(node_document(result, snapshot), separators=(',', ':')) + '\n')
        self._publish(held, node, ended, result)
        self._expose(held, Run(node, ended, took, len(snapshot.unread), {name: item.failures for name, item in self._publishers.items()}))

    def _print(self, text: str) -> None:
        try:
            self._emit(text)
        except OSError as error:
            self._say(f'standard output: {error.strerror or error}')

    def _publish(self, held: list[Outcome], node: str, ended: float, result: Result) -> None:
        if self._publishers and not node:
            self._say('--publish: the host has no name, set NODE_NAME')
            return
        for name, publisher in self._publishers.items():
            publisher.offer(cluster_report(held, node, ended, name, compared(result)))

    def _expose(self, held: list[Outcome], run: Run) -> None:
        if self.exposition is None and not self._targets.textfile:
            return
        text = render(held, run)
        if self.exposition is not None:
            self.exposition.text = text
        if self._targets.textfile:
            try:
                write_atomically(self._targets.textfile, text)
            except OSError as error:
                self._say(f'--textfile {self._targets.textfile}: {error.strerror or error}')


def end(status: int) -> None:
    """End the process without waiting for threads: a request to the API server may hang for seconds."""
    os._exit(status)
