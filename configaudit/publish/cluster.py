"""Keeps the newest report until the API server has taken it: spread over the interval, with backoff, never two at once.

5,000 nodes that start together must not ask the API server together: the first try waits a random part of the spread, each
further one a random part of a delay that doubles (full jitter).
"""

import json
import random
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

FIRST_DELAY_S, LONGEST_DELAY_S = 2.0, 300.0
Report = dict[str, Any]
Send = Callable[[Report], str]
"""Sends a report; '' when it was taken, else why not."""


class Publisher:
    """One thread for one kind of report object."""

    def __init__(self, send: Send, spread_s: float, stop: threading.Event, say: Callable[[str], None]) -> None:
        self.failures = 0
        """Tries that failed, since the start."""
        self.published = 0
        self._send, self._spread, self._stop, self._say = send, spread_s, stop, say
        self._newest: Report | None = None
        self._changed = threading.Event()
        threading.Thread(target=self._run, name='publisher', daemon=True).start()

    def offer(self, report: Report) -> None:
        """Take a newer report; one that was not sent yet is replaced by it."""
        self._newest = report
        self._changed.set()

    def _run(self) -> None:
        while not self._stop.is_set():
            self._changed.wait()
            self._changed.clear()
            self._stop.wait(random.uniform(0, self._spread))
            self._until_sent()

    def _until_sent(self) -> None:
        delay = FIRST_DELAY_S
        while self._newest is not None and not self._stop.is_set():
            report = self._newest
            problem = self._send(report)
            if not problem:
                self.published += 1
                if self._newest is report:
                    self._newest = None
                return
            self.failures += 1
            self._say(f'{report["kind"]} {report["metadata"]["name"]} was not published, it is kept and tried again: {problem}')
            self._stop.wait(random.uniform(0, delay))
            delay = min(2 * delay, LONGEST_DELAY_S)


def sender(plural: str, stop: threading.Event) -> Send:
    """Sends through a child process, which is killed when the agent stops."""

    def send(report: Report) -> str:
        child = subprocess.Popen(
            [sys.executable, '-m', 'configaudit.publish.cluster_object', plural], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        threading.Thread(target=_end_with, args=(child, stop), daemon=True).start()
        _, problem = child.communicate(json.dumps(report))
        return '' if child.returncode == 0 else problem.strip().rpartition('\n')[2] or f'the publisher ended with {child.returncode}'

    return send


def _end_with(child: 'subprocess.Popen[str]', stop: threading.Event) -> None:
    while child.poll() is None:
        if stop.wait(0.2):
            child.kill()
