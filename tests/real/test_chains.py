"""Two proxies behind one another do with silence and with failures what the findings on their chain say."""

import contextlib
import http.client
import http.server
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from configaudit.audit import audit
from configaudit.config import Config

pytestmark = pytest.mark.real

HOP = """daemon off;
master_process off;
pid {folder}/pid;
error_log stderr;
events {{
}}
http {{
  access_log off;
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  upstream behind {{
    server {one} max_fails=0;
    server {two} max_fails=0;
  }}
  server {{
    listen {port};
    server_name {name};
    location /v1/chat/completions {{
      proxy_pass http://behind;
      {says}
    }}
  }}
}}
"""


class _Engine(http.server.BaseHTTPRequestHandler):
    """Fails every request, or is silent for three seconds first; counts what reaches it."""

    silent_s = 0.0
    seen = 0

    def do_POST(self) -> None:
        type(self).seen += 1
        self.rfile.read(int(self.headers.get('Content-Length') or 0))
        time.sleep(self.silent_s)
        with contextlib.suppress(OSError):  # the proxy may have given up
            self.send_response(503)
            self.send_header('Content-Length', '0')
            self.end_headers()

    def log_message(self, *args: object) -> None:
        """Nothing: a test has no log."""


@pytest.fixture
def engine() -> Iterator[tuple[type[_Engine], int]]:
    class Engine(_Engine):
        pass

    with http.server.ThreadingHTTPServer(('127.0.0.1', 0), Engine) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, kwargs={'poll_interval': 0.05})
        thread.start()
        yield Engine, server.server_address[1]
        server.shutdown()
        thread.join()


@pytest.fixture
def chain(program: Callable[[str], str], start: Callable[..., subprocess.Popen[bytes]], free_port: Callable[[], int], tmp_path: Path) -> Callable[[str, str, int], int]:
    """Run an outer and an inner nginx in front of the engine; the port of the outer one."""

    def hop(name: str, says: str, behind: int) -> int:
        folder, port = tmp_path / name, free_port()
        folder.mkdir()
        text = HOP.format(folder=folder, one=f'127.0.0.1:{behind}', two=f'127.0.0.1:{behind}', port=f'127.0.0.1:{port}', name=name, says=says)
        (folder / 'nginx.conf').write_text(text)
        start([program('nginx'), '-p', str(folder), '-e', 'stderr', '-c', str(folder / 'nginx.conf')], port)
        return port

    return lambda outer, inner, engine: hop('outer', outer, hop('inner', inner, engine))


def asked(port: int) -> tuple[int, float]:
    """The status of a POST, and how long it took."""
    before = time.monotonic()
    connection = http.client.HTTPConnection('127.0.0.1', port, timeout=20)
    connection.request('POST', '/v1/chat/completions', b'{}')
    status = connection.getresponse().status
    connection.close()
    return status, time.monotonic() - before


def found(folder: Path, outer: str, inner: str, rule: str) -> list[str]:
    """What the rule says of the same two files, with names in place of addresses."""
    for name, says, behind in (('edge', outer, ('inner:80', 'inner.:80')), ('gateway', inner, ('vllm:8000', 'vllm-b:8000'))):
        (folder / f'{name}.conf').write_text(HOP.format(folder='/run', one=behind[0], two=behind[1], port=80, name={'edge': 'outer', 'gateway': 'inner'}[name], says=says))
    return [item.message for item in audit([str(folder)], Config()).findings if item.rule.id == rule]


def test_tries_multiply(chain: Callable[[str, str, int], int], engine: tuple[type[_Engine], int], tmp_path: Path) -> None:
    again = 'proxy_next_upstream error timeout http_503 non_idempotent;'
    kind, port = engine
    status, _ = asked(chain(again, again, port))
    assert status >= 500
    assert kind.seen == 4
    files = tmp_path / 'files'
    files.mkdir()
    message = found(files, again, again, 'retries-multiply')
    assert 'up to (1+1) x (1+1) = 4 times' in message[0]


def test_the_outer_hop_gives_up_first(chain: Callable[[str, str, int], int], engine: tuple[type[_Engine], int], tmp_path: Path) -> None:
    outer, inner = 'proxy_read_timeout 1s; proxy_next_upstream off;', 'proxy_read_timeout 30s; proxy_next_upstream off;'
    kind, port = engine
    kind.silent_s = 3
    status, took = asked(chain(outer, inner, port))
    assert status == 504
    assert took < 2.5
    files = tmp_path / 'files'
    files.mkdir()
    message = found(files, outer, inner, 'outer-timeout-before-inner')
    assert 'gives up after 1 s (GAP)' in message[0]
