"""As much of a Kubernetes API server as reports need: server-side apply that validates, lists with labels and pages, and outages."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from jsonschema import Draft202012Validator
from report_schema import SCHEMAS

APPLY = 'application/apply-patch+yaml'


class ApiServer:
    """Serves on a free port of loopback. `faults`: what the next requests get instead of an answer: a status, 'hang' or 'close'."""

    def __init__(self) -> None:
        self.objects: dict[str, dict[str, Any]] = {}
        """Path -> object, as it was last applied."""
        self.applied: list[dict[str, Any]] = []
        self.refused: list[str] = []
        self.requests: list[tuple[str, str]] = []
        self.faults: list[int | str] = []
        self.token = ''
        """What a request must carry, if anything."""
        self.released = threading.Event()
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = 'HTTP/1.1'

            def do_PATCH(self) -> None:
                text = self.rfile.read(int(self.headers['Content-Length']))
                if not self._fails():
                    self._answer(*server.apply(self.path, self.headers['Content-Type'], json.loads(text)))

            def do_GET(self) -> None:
                if not self._fails():
                    self._answer(*server.list(self.path))

            def _fails(self) -> bool:
                server.requests.append((self.command, self.path))
                if server.token and self.headers.get('Authorization') != f'Bearer {server.token}':
                    self._answer(401, status(401, 'Unauthorized'))
                    return True
                if not server.faults:
                    return False
                fault = server.faults.pop(0)
                if fault == 'hang':
                    server.released.wait(30)
                if isinstance(fault, int):
                    self._answer(fault, status(fault, 'the server is busy'))
                else:
                    self.close_connection = True
                return True

            def _answer(self, code: int, body: dict[str, Any]) -> None:
                text = json.dumps(body).encode()
                self.send_response(code)
                self.send_header('Content-Type', 'application/json')
                self.send_header('Content-Length', str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002 - the name of the base class
                """What was asked is in `requests`."""

        self._http = ThreadingHTTPServer(('127.0.0.1', 0), Handler)
        self._http.daemon_threads = True
        self.address = f'http://127.0.0.1:{self._http.server_address[1]}'
        threading.Thread(target=self._http.serve_forever, daemon=True).start()

    def close(self) -> None:
        """Answer nobody any more."""
        self.released.set()
        self._http.shutdown()
        self._http.server_close()

    def apply(self, path: str, content_type: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        """Create or replace an object by server-side apply, or refuse it as an API server would."""
        url = urlsplit(path)
        collection, _, name = url.path.rpartition('/')
        asked = {key: values[0] for key, values in parse_qs(url.query).items()}
        problem = self._problem(collection, name, asked, content_type, body)
        if problem:
            self.refused.append(problem)
            return 422, status(422, problem)
        self.applied.append(body)
        code = 200 if url.path in self.objects else 201
        self.objects[url.path] = body
        return code, body

    def _problem(self, collection: str, name: str, asked: dict[str, str], content_type: str, body: dict[str, Any]) -> str:
        if collection not in SCHEMAS:
            return f'no resource at {collection}'
        if content_type != APPLY:
            return f'not a server-side apply: {content_type}'
        if not asked.get('fieldManager') or asked.get('force') != 'true':
            return f'fieldManager and force are needed: {asked}'
        if body.get('metadata', {}).get('name') != name:
            return 'the name in the object is not that of the request'
        return '; '.join(f'{error.json_path}: {error.message[:200]}' for error in Draft202012Validator(SCHEMAS[collection]).iter_errors(body))

    def list(self, path: str) -> tuple[int, dict[str, Any]]:
        """One page of a collection, chosen by a label."""
        url = urlsplit(path)
        asked = {key: values[0] for key, values in parse_qs(url.query).items()}
        if url.path not in SCHEMAS:
            return 404, status(404, 'the server could not find the requested resource')
        label, _, value = asked.get('labelSelector', '').partition('=')
        held = [self.objects[name] for name in sorted(self.objects) if name.startswith(f'{url.path}/')]
        chosen = [item for item in held if not label or item['metadata'].get('labels', {}).get(label) == value]
        start, limit = int(asked.get('continue') or 0), int(asked.get('limit') or len(chosen) or 1)
        more = str(start + limit) if start + limit < len(chosen) else ''
        return 200, {'kind': 'List', 'apiVersion': 'v1', 'metadata': {'continue': more}, 'items': chosen[start : start + limit]}

    def kubeconfig(self, path: Path, token: str = 'unused') -> str:
        """Write what leads a client here."""
        held = {
            'apiVersion': 'v1', 'kind': 'Config', 'current-context': 'test', 'users': [{'name': 'agent', 'user': {'token': token}}],
            'clusters': [{'name': 'test', 'cluster': {'server': self.address}}], 'contexts': [{'name': 'test', 'context': {'cluster': 'test', 'user': 'agent'}}],
        }  # fmt: skip
        path.write_text(json.dumps(held))
        return str(path)


def status(code: int, message: str) -> dict[str, Any]:
    """The object in which an API server says no."""
    return {'kind': 'Status', 'apiVersion': 'v1', 'status': 'Failure', 'code': code, 'message': message}
