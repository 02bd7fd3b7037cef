"""nginx takes the configurations of the fixtures, and does with connections what the rules say."""

import contextlib
import http.client
import http.server
import os
import re
import select
import shutil
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from configaudit import testkit
from configaudit.fix import apply_fixes
from configaudit.testkit import Case

pytestmark = pytest.mark.real

ROOT = Path(__file__).parents[2] / 'fixtures'
SERVER = re.compile(r'^\s*server\s*\{', re.MULTILINE)


def _configurations(folder: Path) -> list[Path]:
    """Files that are whole by themselves: with a server, and without other files of their case."""
    found = {path: path.read_text('utf-8') for path in sorted(folder.rglob('*.conf'))}
    return [path for path, text in found.items() if SERVER.search(text) and 'include snippets' not in text]


CASES = [case for case in testkit.cases(ROOT) if _configurations(case.folder / 'bad')]
BY_NAME = {case.name: case for case in CASES}
MAY_BE_REFUSED = {'engine-forced-http2/nginx': (1, 29, 4)}
"""Cases whose bad side only newer releases take: proxy_http_version 2."""
REUSES = (1, 29, 7)
"""From here on upstream connections are kept unless the file says otherwise (CHANGES 1.29.7)."""
REQUESTS = 20


class Nginx(NamedTuple):
    """A program, its release, and a folder for everything it writes."""

    program: str
    release: tuple[int, ...]
    folder: Path

    def command(self, configuration: Path, *more: str) -> list[str]:
        """Run with a file; errors to stderr, nothing written outside the folder."""
        return [
            self.program,
            '-p',
            str(self.folder),
            '-e',
            'stderr',
            '-c',
            str(configuration),
            '-g',
            f'pid {self.folder}/pid;',
            *more,
        ]

    def wrapped(self, text: str, upstream: int, port: int) -> Path:
        """A file as it runs here: names that resolve, ports above 1024, a certificate, a main file around a part."""
        text = re.sub(
            r'(^\s*server |proxy_pass https?://)[\w.-]+:\d+', rf'\g<1>127.0.0.1:{upstream}', text, flags=re.MULTILINE
        )
        text = re.sub(r'(^\s*listen )\d+', rf'\g<1>127.0.0.1:{port}', text, flags=re.MULTILINE)
        text = text.replace('/etc/tls/', f'{self.folder}/')
        if not re.search(r'^http \{', text, re.MULTILINE):
            text = f'events {{}}\nhttp {{\n{text}}}\n'
        file = self.folder / f'nginx-{time.monotonic_ns()}.conf'
        file.write_text(text.replace('http {', 'http {\n' + self.paths(), 1))
        return file

    def paths(self) -> str:
        """Directives that keep everything nginx writes in the folder."""
        names = ('client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi')
        return '\n'.join(['access_log off;', *(f'{name}_temp_path {self.folder}/{name};' for name in names)])


@pytest.fixture
def nginx(program: Callable[[str], str], tmp_path: Path) -> Nginx:
    path = program('nginx')
    said = subprocess.run([path, '-v'], check=True, capture_output=True, text=True).stderr
    release = re.search(r'nginx/(\d+)\.(\d+)\.(\d+)', said)
    assert release is not None, said
    folder = tmp_path / 'nginx'
    folder.mkdir()
    return Nginx(path, tuple(map(int, release.groups())), folder)


@pytest.fixture
def certificate(nginx: Nginx, program: Callable[[str], str]) -> None:
    """A key and a certificate where the wrapped files look for them."""
    request = [
        'req',
        '-x509',
        '-newkey',
        'ec',
        '-pkeyopt',
        'ec_paramgen_curve:prime256v1',
        '-nodes',
        '-days',
        '1',
        '-subj',
        '/CN=api.example.test',
    ]
    files = ['-keyout', str(nginx.folder / 'tls.key'), '-out', str(nginx.folder / 'tls.crt')]
    subprocess.run([program('openssl'), *request, *files], check=True, capture_output=True)


class Upstream(http.server.ThreadingHTTPServer):
    """A server that keeps connections as HTTP/1.1 says, counts them, and answers once `answer` is set."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self) -> None:
        super().__init__(('127.0.0.1', 0), _Answers)
        self.accepted = 0
        self.answer = threading.Event()

    def get_request(self) -> tuple[socket.socket, tuple[str, int]]:
        self.accepted += 1
        return super().get_request()


class _Answers(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    server: Upstream

    def do_GET(self) -> None:
        self.server.answer.wait(10)
        self.send_response(200)
        self.send_header('Content-Length', '2')
        if self.close_connection:
            # A server that closes without saying so makes nginx keep a dead connection, and a later request a 502.
            self.send_header('Connection', 'close')
        with contextlib.suppress(ConnectionError):  # the client may be gone by now
            self.end_headers()
            self.wfile.write(b'ok')

    def log_message(self, *args: object) -> None:
        """Nothing: a test has no log."""


@pytest.fixture
def upstream() -> Iterator[Upstream]:
    with Upstream() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={'poll_interval': 0.05})
        thread.start()
        yield server
        server.answer.set()
        server.shutdown()
        thread.join()


@pytest.fixture
def serve(
    nginx: Nginx,
    certificate: None,
    upstream: Upstream,
    start: Callable[..., subprocess.Popen[bytes]],
    free_port: Callable[[], int],
) -> Callable[..., int]:
    """Run a configuration in front of the counting upstream; its port."""

    def run(text: str) -> int:
        port = free_port()
        file = nginx.wrapped(text, upstream.server_address[1], port)
        start([*nginx.command(file)[:-1], f'pid {nginx.folder}/pid; daemon off;'], port)
        return port

    return run


def _text(case: str, side: str) -> str:
    (file,) = _configurations(BY_NAME[case].folder / side)
    return file.read_text('utf-8')


def _fixed(case: Case, work: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of a case's bad side with the fix of its rule."""
    copy = work / 'fixed'
    shutil.copytree(case.folder / 'bad', copy)
    findings = [item for item in testkit.audit_folder(copy).findings if item.rule.id == case.rule]
    monkeypatch.chdir(copy)
    apply_fixes(findings, unsafe=True)
    return copy


@pytest.mark.parametrize('case', CASES, ids=str)
@pytest.mark.parametrize('side', ['bad', 'fixed', 'good'])
def test_nginx_takes_the_file(
    case: Case,
    side: str,
    nginx: Nginx,
    certificate: None,
    free_port: Callable[[], int],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder = _fixed(case, tmp_path, monkeypatch) if side == 'fixed' else case.folder / side
    for file in _configurations(folder):
        wrapped = nginx.wrapped(file.read_text('utf-8'), free_port(), free_port())
        test = subprocess.run(nginx.command(wrapped, '-t'), capture_output=True, text=True)
        if side == 'bad' and nginx.release < MAY_BE_REFUSED.get(case.name, (0,)):
            assert 'invalid value' in test.stderr
        else:
            assert test.returncode == 0, test.stderr


def _ask(port: int, times: int) -> None:
    client = http.client.HTTPConnection('127.0.0.1', port, timeout=10)
    for _ in range(times):
        client.request('GET', '/v1/audio')
        answer = client.getresponse()
        assert (answer.status, answer.read()) == (200, b'ok')
    client.close()


def _without(text: str, line: str) -> str:
    assert line in text
    return text.replace(line, '')


CHAT, DIRECT, SPEECH = (
    'nginx-upstream-without-keepalive/upstream',
    'nginx-upstream-without-keepalive/direct',
    'nginx-upstream-keepalive-void',
)


@pytest.mark.parametrize(
    ('case', 'side', 'missing', 'connections'),
    [
        (CHAT, 'bad', '', REQUESTS),
        (CHAT, 'good', '', 1),
        (CHAT, 'good', 'proxy_http_version 1.1;', REQUESTS),
        (CHAT, 'good', 'proxy_set_header Connection "";', REQUESTS),
        (CHAT, 'good', 'keepalive 64;', REQUESTS),
        (DIRECT, 'bad', '', REQUESTS),
        (DIRECT, 'good', '', 1),
        (SPEECH, 'bad', '', REQUESTS),
        (SPEECH, 'good', '', 1),
    ],
)
def test_requests_share_a_connection_only_with_all_three(
    case: str, side: str, missing: str, connections: int, nginx: Nginx, serve: Callable[..., int], upstream: Upstream
) -> None:
    text = re.sub(r'location \S+', 'location /', _text(case, side))
    upstream.answer.set()
    port = serve(_without(text, missing) if missing else text)
    _ask(port, REQUESTS)
    assert upstream.accepted == (1 if nginx.release >= REUSES else connections)


@pytest.mark.parametrize(('side', 'protocol'), [('bad', 'http/1.1'), ('good', 'h2')])
def test_tls_offers_http2_only_when_it_is_on(side: str, protocol: str, serve: Callable[..., int]) -> None:
    port = serve(_text('http2-listener-off', side))
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.set_alpn_protocols(['h2', 'http/1.1'])
    with socket.create_connection(('127.0.0.1', port)) as plain, context.wrap_socket(plain) as secured:
        assert secured.selected_alpn_protocol() == protocol


def test_a_proxied_client_takes_two_worker_connections(serve: Callable[..., int], upstream: Upstream) -> None:
    """The rule's number is the bound; the listener and the master's channel take one connection each as well."""
    connections = 64
    text = _text('nginx-worker-connections-low', 'bad').replace(
        'worker_connections 512', f'worker_connections {connections}'
    )
    port = serve(text.replace('worker_processes 2', 'worker_processes 1'))
    with contextlib.ExitStack() as clients:
        for _ in range(connections):
            client = clients.enter_context(socket.create_connection(('127.0.0.1', port), timeout=10))
            client.sendall(b'GET / HTTP/1.1\r\nHost: app\r\n\r\n')
        held = _settled(lambda: upstream.accepted)
    assert connections / 2 - 2 <= held <= connections / 2


def _settled(count: Callable[[], int]) -> int:
    """A number once it has stood still for half a second."""
    last, since = count(), time.monotonic()
    while time.monotonic() - since < 0.5:
        time.sleep(0.02)
        if count() != last:
            last, since = count(), time.monotonic()
    return last


@pytest.mark.skipif(not os.path.isdir('/proc/self/task'), reason='limits of another process are read from /proc')
@pytest.mark.parametrize(('line', 'limit'), [('', '512'), ('worker_rlimit_nofile 700;', '700')])
def test_workers_keep_the_soft_limit_unless_the_file_sets_it(
    line: str, limit: str, nginx: Nginx, serve: Callable[..., int], upstream: Upstream
) -> None:
    resource = pytest.importorskip('resource')
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (512, before[1]))
    try:
        port = serve(
            _text('nginx-worker-rlimit-unset', 'bad').replace('worker_processes auto', 'worker_processes 1') + line
        )
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
    upstream.answer.set()
    _ask(port, 1)  # the port is open before the worker runs
    master = (nginx.folder / 'pid').read_text().strip()
    (worker,) = Path(f'/proc/{master}/task/{master}/children').read_text().split()
    found = re.search(r'^Max open files\s+(\d+)', Path(f'/proc/{worker}/limits').read_text(), re.MULTILINE)
    assert found is not None
    assert found[1] == limit


EVENTS = 12


class _Events(_Answers):
    """A stream of events with a gap between them; chunked where the proxy speaks HTTP/1.1, as inference servers do."""

    def do_GET(self) -> None:
        chunked = self.request_version == 'HTTP/1.1'
        self.send_response(200)
        self.send_header('Content-Type', 'text/event-stream')
        self.send_header(*('Transfer-Encoding', 'chunked') if chunked else ('Connection', 'close'))
        self.end_headers()
        with contextlib.suppress(ConnectionError):
            for number in range(EVENTS):
                data = b'data: %d\n\n' % number
                self.wfile.write(b'%x\r\n%s\r\n' % (len(data), data) if chunked else data)
                time.sleep(GAP)
            self.wfile.write(b'0\r\n\r\n' if chunked else b'')


GAP = 0.15


@pytest.mark.parametrize(
    ('case', 'side', 'at_once'),
    [
        ('nginx-stream-buffered/old', 'bad', True),
        ('nginx-stream-buffered/old', 'good', False),
        ('nginx-stream-buffered/gzip', 'bad', True),
        ('nginx-stream-buffered/gzip', 'good', False),
        ('nginx-stream-buffered/chunked', 'bad', False),
    ],
)
def test_events_come_as_they_are_sent_or_all_at_the_end(
    case: str, side: str, at_once: bool, nginx: Nginx, serve: Callable[..., int], upstream: Upstream
) -> None:
    """What the rule calls a warning holds the events back; over HTTP/1.1 they pass, which is why that is advice."""
    if case.endswith('/old') and nginx.release >= REUSES:
        pytest.skip('this release speaks HTTP/1.1 by default')
    upstream.RequestHandlerClass = _Events
    port = serve(re.sub(r'location \S+', 'location /', _text(case, side)))
    assert len(_arrivals(port)) == 1 if at_once else len(_arrivals(port)) > EVENTS / 2


def _arrivals(port: int) -> list[float]:
    """When pieces of an answer came, those within half a gap as one."""
    found: list[float] = []
    with socket.create_connection(('127.0.0.1', port), timeout=10) as client:
        client.sendall(b'GET / HTTP/1.1\r\nHost: app\r\nAccept-Encoding: gzip\r\nConnection: close\r\n\r\n')
        while client.recv(65536):
            now = time.monotonic()
            if not found or now - found[-1] > GAP / 2:
                found.append(now)
    return found


@pytest.mark.parametrize(('path', 'complete'), [('/stream', True), ('/silent', False)])
def test_the_read_timeout_is_a_gap_and_no_total(
    path: str, complete: bool, serve: Callable[..., int], upstream: Upstream
) -> None:
    """A stream longer than the timeout lives; a server that is silent for longer gets its client a 504."""
    upstream.RequestHandlerClass = _Events if path == '/stream' else _Answers
    text = _text('first-token-after-read-timeout/nginx', 'good').replace('proxy_read_timeout 600s', 'proxy_read_timeout 1s')
    port = serve(re.sub(r'location \S+', 'location /', text))
    client = http.client.HTTPConnection('127.0.0.1', port, timeout=10)
    began = time.monotonic()
    client.request('GET', path)
    answer = client.getresponse()
    body = answer.read()
    assert time.monotonic() - began >= 1
    assert (answer.status, body.count(b'data:')) == ((200, EVENTS) if complete else (504, 0))


@pytest.mark.parametrize(('snippet', 'outer', 'status'), [('1s', '9s', 504), ('9s', '1s', 200)])
def test_an_included_file_sets_what_holds_in_the_block_that_includes_it(
    snippet: str,
    outer: str,
    status: int,
    nginx: Nginx,
    upstream: Upstream,
    start: Callable[..., subprocess.Popen[bytes]],
    free_port: Callable[[], int],
) -> None:
    """The location's snippet goes before the http block of the file that includes the site."""
    folder, port = nginx.folder / 'included', free_port()
    shutil.copytree(ROOT / 'first-token-after-read-timeout' / 'nginx-include' / 'bad', folder)
    changes = {
        '/etc/nginx/': f'{folder}/', '10.0.0.4:8000': f'127.0.0.1:{upstream.server_address[1]}', 'listen 8080': f'listen 127.0.0.1:{port}',
        'proxy_read_timeout 60s': f'proxy_read_timeout {snippet}', 'proxy_read_timeout 900s': f'proxy_read_timeout {outer}', 'http {': 'http {\n' + nginx.paths(),
    }  # fmt: skip
    for file in folder.rglob('*.conf'):
        text = file.read_text('utf-8')
        for old, new in changes.items():
            text = text.replace(old, new)
        file.write_text(text)
    start([*nginx.command(folder / 'nginx.conf')[:-1], f'pid {nginx.folder}/pid; daemon off;'], port)
    threading.Timer(2, upstream.answer.set).start()
    client = http.client.HTTPConnection('127.0.0.1', port, timeout=10)
    client.request('GET', '/v1/chat/completions')
    assert client.getresponse().status == status


class _Waiting(_Answers):
    """A request in the queue: it writes nothing, and notices when the proxy closes its connection."""

    told = threading.Event()

    def do_GET(self) -> None:
        readable, _, _ = select.select([self.connection], [], [], 2)
        if readable and not self.connection.recv(1, socket.MSG_PEEK):
            self.told.set()
        self.close_connection = True


@pytest.mark.parametrize(('side', 'told'), [('bad', False), ('good', True)])
def test_a_client_that_leaves_the_queue_is_told_to_the_server_unless_that_is_ignored(
    side: str, told: bool, serve: Callable[..., int], upstream: Upstream
) -> None:
    upstream.RequestHandlerClass = _Waiting
    _Waiting.told.clear()
    port = serve(re.sub(r'location \S+', 'location /', _text('client-abort-ignored/nginx', side)))
    with socket.create_connection(('127.0.0.1', port), timeout=10) as client:
        client.sendall(b'GET / HTTP/1.1\r\nHost: app\r\n\r\n')
        time.sleep(0.3)
    assert _Waiting.told.wait(1) is told
