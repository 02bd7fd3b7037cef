"""The agent on a node: audit, publish, wait; SIGTERM ends it at once."""

import gc
import json
import os
import signal
import threading
import time
from collections.abc import Callable
from typing import NamedTuple

from configaudit.host.snapshot import Snapshot
from configaudit.outcomes import Outcome, outcomes
from configaudit.publish.cluster import Publisher, sender
from configaudit.publish.exposition import Exposition
from configaudit.publish.textfile import write_atomically
from configaudit.report.cluster_report import KINDS, cluster_report
from configaudit.report.node_document import node_document
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
        self.exposition = Exposition(targets.listen) if targets.listen else None
        self._publishers = {name: Publisher(sender(KINDS[name][2], self.stop), interval / 2, self.stop, say) for name in targets.cluster}

    def run(self) -> int:
        """Audit until SIGTERM or SIGINT. The exit status is 0: being stopped is what an agent is for."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._end_soon)
        gc.enable()
        while not self.stop.is_set():
            started = time.monotonic()
            self.once()
            gc.collect()
            self.stop.wait(max(self._interval - (time.monotonic() - started), 0))
        return 0

    def _end_soon(self, *_: object) -> None:
        """An audit that runs is given half a second: what it would find, the next agent finds too."""
        self.stop.set()
        timer = threading.Timer(0.5, end, (0,))
        timer.daemon = True
        timer.start()

    def once(self) -> None:
        """One audit and its reports. A target that fails loses nothing of the others."""
        began = time.time()
        snapshot, result = self._audit()
        held, ended = outcomes(result), time.time()
        node = snapshot.facts.get('name', '')
        if not self._targets.quiet:
            self._emit(json.dumps(node_document(result, snapshot), separators=(',', ':')) + '\n')
        for name, publisher in self._publishers.items():
            publisher.offer(cluster_report(held, node, ended, name))
        self._expose(held, Run(node, ended, ended - began, len(snapshot.unread), {name: item.failures for name, item in self._publishers.items()}))

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
