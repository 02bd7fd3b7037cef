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
PATIENCE_S = 60.0
"""How long one try may take: the client's own time-outs end it long before, unless a name server or a plugin hangs."""
Report = dict[str, Any]
Send = Callable[[Report], str]
"""Sends a report; '' when it was taken, else why not."""


class Publisher:
    """One kind of report object, sent from a thread of its own."""

    def __init__(self, send: Send, spread_s: float, stop: threading.Event, say: Callable[[str], None]) -> None:
        self.failures = 0
        """Tries that failed, since the start."""
        self.published = 0
        self._send, self._spread, self._stop, self._say = send, spread_s, stop, say
        self._newest: Report | None = None
        self._changed = threading.Event()
        self._lock = threading.Lock()

    def start(self) -> 'Publisher':
        """Send what is offered from now on."""
        threading.Thread(target=self._run, name='publisher', daemon=True).start()
        return self

    def offer(self, report: Report) -> None:
        """Take a newer report; one that was not sent yet is replaced by it."""
        with self._lock:
            self._newest = report
        self._changed.set()

    def _run(self) -> None:
        while not self._stop.is_set():
            self._changed.wait()
            self.deliver()

    def deliver(self) -> None:
        """Wait a random part of the spread, then try until the newest report is taken."""
        self._changed.clear()
        self._stop.wait(random.uniform(0, self._spread))
        delay = FIRST_DELAY_S
        while not self._stop.is_set() and not self._sent():
            self._stop.wait(random.uniform(0, delay))
            delay = min(2 * delay, LONGEST_DELAY_S)

    def _sent(self) -> bool:
        """One try; whether nothing is left to send."""
        report = self._newest
        if report is None:
            return True
        try:
            problem = self._send(report)
        except OSError as error:  # no process could be started: the next try may find room
            problem = error.strerror or str(error)
        if problem:
            self.failures += 1
            self._say(f'{report["kind"]} {report["metadata"]["name"]} was not published, it is kept and tried again: {problem}')
            return False
        self.published += 1
        with self._lock:
            if self._newest is report:
                self._newest = None
        return True


class Sender:
    """Sends reports through a child process, which ends with the agent."""

    def __init__(self, plural: str) -> None:
        self._command = (sys.executable, '-m', 'configaudit.publish.cluster_object', plural)
        self._child: subprocess.Popen[str] | None = None
        self._lock = threading.Lock()
        self._is_closed = False

    def __call__(self, report: Report) -> str:
        """See Send. OSError when no process can be started."""
        with self._lock:
            if self._is_closed:
                return 'the agent ends'
            child = self._child = subprocess.Popen(self._command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        try:
            _, problem = child.communicate(json.dumps(report), timeout=PATIENCE_S)
        except subprocess.TimeoutExpired:
            child.kill()
            child.communicate()
            return f'no answer in {PATIENCE_S:g} s'
        return '' if child.returncode == 0 else problem.strip().rpartition('\n')[2] or f'the publisher ended with {child.returncode}'

    def close(self) -> None:
        """End the child that runs, and start none again."""
        with self._lock:
            self._is_closed = True
            if self._child is not None and self._child.poll() is None:
                self._child.kill()
