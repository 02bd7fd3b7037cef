"""HAProxy takes the configurations of the fixtures, and does with silence and with its queue what the rules say."""

import contextlib
import http.client
import http.server
import re
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.real

ROOT = Path(__file__).parents[2] / 'fixtures'
FILES = sorted(ROOT.rglob('haproxy.cfg'))
SERVER = re.compile(r'^(\s*server \S+ )\S+', re.MULTILINE)
CLOCKS = 'defaults\n  mode http\n  timeout connect 1s\n  timeout client {client}\n  timeout server {server}\nfrontend a\n  bind 127.0.0.1:{port}\n  default_backend b\nbackend b\n  server s 127.0.0.1:{upstream}\n'


class _Answers(http.server.BaseHTTPRequestHandler):
    """`/wait` answers after two seconds; `/events` sends one each half second for as long."""

    protocol_version = 'HTTP/1.1'

    def do_GET(self) -> None:
        with contextlib.suppress(OSError):  # the proxy may have given up
            if self.path == '/wait':
                time.sleep(2)
            self.send_response(200)
            self.send_header('Transfer-Encoding', 'chunked')
            self.end_headers()
            for _ in range(4 if self.path == '/events' else 1):
                self.wfile.write(b'2\r\nok\r\n')
                time.sleep(0.5 if self.path == '/events' else 0)
            self.wfile.write(b'0\r\n\r\n')

    def log_message(self, *args: object) -> None:
        """Nothing: a test has no log."""


@pytest.fixture
def upstream() -> Iterator[int]:
    with http.server.ThreadingHTTPServer(('127.0.0.1', 0), _Answers) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, kwargs={'poll_interval': 0.05})
        thread.start()
        yield server.server_address[1]
        server.shutdown()
        thread.join()


@pytest.fixture
def serve(
    program: Callable[[str], str],
    start: Callable[..., subprocess.Popen[bytes]],
    free_port: Callable[[], int],
    upstream: int,
    tmp_path: Path,
) -> Callable[[str], int]:
    """Run a configuration in front of the upstream; its port."""

    def run(text: str) -> int:
        port = free_port()
        file = tmp_path / f'haproxy-{port}.cfg'
        text = text.replace('{port}', str(port)).replace('{upstream}', str(upstream))
        file.write_text(re.sub(r'^(\s*bind )\S+', rf'\g<1>127.0.0.1:{port}', text, flags=re.MULTILINE))
        start([program('haproxy'), '-db', '-f', str(file)], port)
        return port

    return run


@pytest.mark.parametrize('file', FILES, ids=lambda file: '/'.join(file.parts[-3:-1]))
def test_haproxy_takes_the_file(file: Path, program: Callable[[str], str], tmp_path: Path) -> None:
    copy = tmp_path / 'haproxy.cfg'
    copy.write_text(SERVER.sub(r'\g<1>127.0.0.1:9', file.read_text('utf-8')))
    test = subprocess.run([program('haproxy'), '-c', '-f', str(copy)], capture_output=True, text=True)
    said = test.stdout + test.stderr
    assert 'is valid' in said or 'has no error' in said, said


def _ask(port: int, path: str, found: list[tuple[int, bytes]]) -> None:
    client = http.client.HTTPConnection('127.0.0.1', port, timeout=10)
    client.request('GET', path)
    answer = client.getresponse()
    found.append((answer.status, answer.read()))


@pytest.mark.parametrize(
    ('client', 'server', 'path', 'status'),
    [('10s', '1s', '/wait', 504), ('10s', '1s', '/events', 200), ('1s', '10s', '/wait', 200), ('1s', '10s', '/events', 200)],
)
def test_only_the_silence_of_the_server_counts(serve: Callable[[str], int], client: str, server: str, path: str, status: int) -> None:
    """`timeout server` is a gap and no total; `timeout client` does not run while the server has the word."""
    found: list[tuple[int, bytes]] = []
    _ask(serve(CLOCKS.replace('{client}', client).replace('{server}', server)), path, found)
    assert [code for code, _ in found] == [status]


@pytest.mark.parametrize(('side', 'status'), [('bad', 503), ('good', 200)])
def test_a_request_in_the_queue_gets_a_503_after_the_connect_timeout_unless_a_longer_one_is_set(serve: Callable[[str], int], side: str, status: int) -> None:
    text = (ROOT / 'haproxy-queue-gives-up' / side / 'haproxy.cfg').read_text('utf-8')
    text = re.sub(r'^\s*server gpu1 .*\n', '', text.replace('timeout connect 5s', 'timeout connect 1s').replace('maxconn 48 check', 'maxconn 1'), flags=re.MULTILINE)
    port = serve(SERVER.sub(r'\g<1>127.0.0.1:{upstream}', text))
    first: list[tuple[int, bytes]] = []
    running = threading.Thread(target=_ask, args=(port, '/wait', first))
    running.start()
    time.sleep(0.2)
    second: list[tuple[int, bytes]] = []
    _ask(port, '/', second)
    running.join()
    assert [code for code, _ in first] == [200]
    assert [code for code, _ in second] == [status]
