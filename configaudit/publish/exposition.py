"""The metrics of the last run over HTTP."""

import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from configaudit.errors import UsageError

CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8'
SILENCE_S = 10
"""How long a client may keep a thread without sending its request."""


class _Server(ThreadingHTTPServer):
    """On IPv4 and IPv6; a client that goes away is nobody's failure."""

    daemon_threads = True

    def __init__(self, host: str, port: int, handler: type[BaseHTTPRequestHandler]) -> None:
        both = not host and socket.has_dualstack_ipv6()
        self.address_family = socket.AF_INET6 if both or ':' in host else socket.AF_INET
        self._takes_both = both
        super().__init__((host, port), handler)

    def server_bind(self) -> None:
        if self._takes_both:
            self.socket.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        super().server_bind()

    def handle_error(self, request: object, client_address: object) -> None:
        """A scrape that ended early is no traceback."""


class Exposition:
    """Serves /metrics and /healthz from a thread that ends with the process."""

    def __init__(self, address: str) -> None:
        self.text = ''
        exposition = self

        class Handler(BaseHTTPRequestHandler):
            timeout = SILENCE_S

            def do_GET(self) -> None:
                ready = bool(exposition.text)
                if self.path == '/metrics':
                    self._answer(200 if ready else 503, exposition.text)
                elif self.path == '/healthz':
                    self._answer(200 if ready else 503, 'ok\n' if ready else 'no run yet\n')
                else:
                    self._answer(404, 'only /metrics and /healthz are here\n')

            def _answer(self, status: int, text: str) -> None:
                body = text.encode()
                self.send_response(status)
                self.send_header('Content-Type', CONTENT_TYPE)
                self.send_header('Content-Length', str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002 - the name of the base class
                """A scrape every few seconds is nothing to log."""

        host, port = parse_address(address)
        try:
            self._server = _Server(host, port, Handler)
        except OSError as error:
            raise UsageError(f'--listen {address}: {error.strerror or error}') from None
        threading.Thread(target=self._server.serve_forever, name='exposition', daemon=True).start()

    @property
    def port(self) -> int:
        """The port that is listened on."""
        return int(self._server.server_address[1])


def parse_address(text: str) -> tuple[str, int]:
    """(host, port) of '9105', ':9105' (every address, host '') or '10.0.0.1:9105'. A port alone means this host only."""
    host, separator, port = text.rpartition(':')
    if not port.isdigit() or int(port) > 65535:
        raise UsageError(f'--listen {text!r} is not [ADDRESS:]PORT')
    return host.strip('[]') if separator else '127.0.0.1', int(port)
