"""Go programs: what their source sets up of gRPC, connection pools, HTTP and their runtime."""

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice

from configaudit.extract.process import Data, Reading, nothing
from configaudit.extract.services.go_durations import durations
from configaudit.extract.services.go_grpc import grpc_components
from configaudit.extract.services.go_http import http_components
from configaudit.extract.services.go_pools import pools_of
from configaudit.extract.services.go_runtime import runtime_of
from configaudit.extract.services.source_role import is_served
from configaudit.knowledge.service_kinds import HTTP_CLIENT, HTTP_HANDLER
from configaudit.model import Component
from configaudit.parse.golang import Source
from configaudit.parse.grammar import Unreadable
from configaudit.patterns import regex
from configaudit.places import Document

_GENERATED = regex(rb'(?m)^// Code generated .* DO NOT EDIT\.$')
_TEST_IMPORTS = ('testing', 'google.golang.org/grpc/test/bufconn', 'github.com/DATA-DOG/go-sqlmock')
_MOST = 200
"""Of a file's HTTP components: no program has as many."""
_SERVES = regex(
    rb'\bhttp\.(?:ResponseWriter|Server\{|ListenAndServe|Handler\b|Serve\()|\bgrpc\.NewServer\(|"github\.com/(?:gin-gonic/gin|labstack/echo|gofiber/fiber|valyala/fasthttp|go-chi/chi|gorilla/mux|'
    rb'cloudwego/hertz|zeromicro/go-zero|go-kratos/kratos|gogf/gf|beego/beego)|"connectrpc\.com/'
)
"""What a program has that answers requests."""
WORDS = (
    b'grpc.', b'keepalive.', b'sql.Open', b'sqlx.', b'gorm.Open', b'pgxpool.', b'SetMaxOpenConns', b'SetMaxIdleConns', b'SetConnMax', b'http.Client{',
    b'http.Transport{', b'.Do(', b'bufio.New', b'text/event-stream', b'http.Flusher', b'"data: ', b'http.Server{', b'ListenAndServe', b'http.Serve', b'TimeoutHandler', b'ReverseProxy',
    b'http.NewRequest', b'http2.', b'net.Listen', b'http.Request', b'gin.Context', b'echo.Context', b'context.Background', b'context.TODO', b'GOMAXPROCS', b'SetMemoryLimit',
)  # fmt: skip
"""A function without any of these is not walked."""


def read(document: Document) -> Reading | None:
    """The clients, servers and pools of a file; None when it has none, or is no part of a service."""
    if not is_served(document.below) or _GENERATED.search(document.data[:4096]):
        return None
    try:
        source = Source(document, WORDS)
    except Unreadable:
        return None
    if any(path in source.imports.values() for path in _TEST_IMPORTS):
        return None
    reading = nothing()
    pools, loose = pools_of(source)
    reading.components.extend((*grpc_components(source), *pools, *islice(durations(source), _MOST), *_numbered(islice(http_components(source), _MOST), document.path)))
    runtime = runtime_of(source)
    if runtime is not None:
        reading.data.append(runtime)
    if loose:
        reading.data.append(Data('go-pool-setters', '', document.path, {}))
    if _SERVES.search(document.data):
        reading.data.append(Data('go-serves', '', document.path, {}))
    return reading if reading.components or reading.data else None


def settle(reading: Reading) -> None:
    """Nothing hands on the requests of many in a program that answers none: a command line, a library."""
    if any(data.kind == 'go-serves' for data in reading.data):
        return
    for component in reading.components:
        if component.kind is HTTP_CLIENT and component['written_in'].known_value == 'Go':
            component.settings.pop('forwards', None)


def _numbered(components: Iterable[Component], path: str) -> Iterator[Component]:
    """Components with an identity that no other line of the file changes."""
    numbers: Counter[str] = Counter()
    for component in components:
        key = component.name if component.kind is HTTP_HANDLER else ''
        numbers[component.kind.name + key] += 1
        component.identity = '/'.join(filter(None, ('go', path, component.kind.name, key, str(numbers[component.kind.name + key] - 1))))
        yield component
