"""What a Python file does with its HTTP clients: which requests ask for generated text, in which function, and how long a client lives."""

import ast
from collections.abc import Iterator
from typing import NamedTuple

from configaudit.knowledge.generation_routes import evidence
from configaudit.parse.python import MAX_DEPTH, Source, Unfolded
from configaudit.patterns import regex

_VERBS = ('get', 'post', 'put', 'patch', 'delete', 'head', 'options', 'request')
_SENDS = (*_VERBS, 'stream', 'send', 'ws_connect')
_GENERATING = regex(r'(?:^|\.)(?:(?:chat\.)?completions\.(?:create|parse|stream)|responses\.(?:create|parse|stream)|messages\.(?:create|stream))$')
_STREAM_WORDS = ('text/event-stream', '[DONE]', 'data: ', 'data:')
_PIECES = ('iter_lines', 'aiter_lines', 'iter_bytes', 'aiter_bytes', 'iter_content', 'iter_text', 'aiter_text', 'aiter_raw', 'iter_raw', 'iter_any', 'iter_chunked', 'readline', 'content')
_ROUTES = ('get', 'post', 'put', 'patch', 'delete', 'route', 'api_route', 'websocket', 'websocket_route', 'middleware')
_SERVERS = ('fastapi', 'starlette', 'quart', 'sanic', 'litestar', 'aiohttp.web')
_COMMAND_LINES = ('argparse', 'click', 'typer', 'fire')
_ONCE = regex(
    r'^(?:__init__|__new__|__aenter__|__enter__|main|_?(?:lifespan|startup|on_startup|setup|init|connect)\w*|_?(?:get|create|make|build|new|load|ensure)_\w*(?:clients?|sessions?|http|llm|model|api|sdk))$'
)
"""Functions that are called once, or whose callers keep what they return."""


class Library(NamedTuple):
    """An HTTP library, and what a call of it is."""

    title: str
    blocks: bool
    """Its calls wait for the answer without giving the event loop back."""
    is_call: bool = False
    """The function itself sends the request, over connections of its own."""


_CONSTRUCTORS = {
    'httpx.Client': Library('httpx', True), 'httpx.AsyncClient': Library('httpx', False), 'aiohttp.ClientSession': Library('aiohttp', False),
    'requests.Session': Library('requests', True), 'requests.session': Library('requests', True), 'requests.sessions.Session': Library('requests', True),
    'openai.OpenAI': Library('openai', True), 'openai.AzureOpenAI': Library('openai', True), 'openai.AsyncOpenAI': Library('openai', False),
    'openai.AsyncAzureOpenAI': Library('openai', False), 'anthropic.Anthropic': Library('anthropic', True), 'anthropic.AsyncAnthropic': Library('anthropic', False),
}  # fmt: skip


def library_of(name: str) -> Library | None:
    """The library behind a full name that makes a client or sends a request."""
    found = _CONSTRUCTORS.get(name)
    if found is None and name.rpartition('.')[0] in ('requests', 'httpx') and name.rpartition('.')[2] in (*_VERBS, 'stream'):
        return Library(name.partition('.')[0], True, True)
    return found


class Use(NamedTuple):
    """A request that goes through a client."""

    call: ast.Call
    function: ast.AST | None
    generates: str
    """What shows that it asks for generated text, or ''."""
    streams: bool
    url: str = ''
    """As far as it is written."""


class Uses:
    """The requests of a file."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._parents = {child: node for node in source.nodes for child in ast.iter_child_nodes(node)}
        self._calls = [node for node in source.nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)]
        self._serves = _imports(source, _SERVERS)
        self.is_script = _imports(source, _COMMAND_LINES) and not _imports(source, (*_SERVERS, 'flask', 'django', 'rest_framework'))
        """Whether a person starts the file with options of its own: evaluations, labelling, imports of data."""

    def of(self, call: ast.Call, library: Library) -> list[Use]:
        """The requests through the client that a call makes; of a function that sends one, that one."""
        if library.is_call:
            return [self._use(call)]
        name, is_field = self._name(call)
        function = None if is_field or not name else self.function(call)
        if function is not None and any(isinstance(node, ast.Global) and name in node.names for node in ast.walk(function)):
            function = None
        found = [node for node in self._calls if _sends(node) and _holds(node, name, is_field, call)]
        return [self._use(node) for node in found if function is None or self._is_in(node, function)]

    def function(self, node: ast.AST) -> ast.AST | None:
        """The function whose body a node belongs to."""
        above = self._parents.get(node)
        while above is not None and not isinstance(above, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            above = self._parents.get(above)
        return above

    def blocks(self, use: Use, library: Library) -> bool:
        """Whether a request holds up the event loop of a server: an `async` function of one waits for it without `await`."""
        if not library.blocks or not isinstance(use.function, ast.AsyncFunctionDef):
            return False
        return is_route(use.function) or (self._serves and bool(use.generates))

    def is_made_anew(self, call: ast.Call, uses: list[Use]) -> bool:
        """Whether a client is made for one request: in a function that also sends it, or in the handler of a route."""
        function = self.function(call)
        if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)) or _ONCE.match(function.name):
            return False
        name, is_field = self._name(call)
        mine = all(use.function is function for use in uses) and not any(self._loops(use.call, function, call) for use in uses)
        return mine and not is_field and not self._is_kept(function, name)

    def is_closed(self, call: ast.Call) -> bool:
        """Whether the function that makes a client also closes it: a `with` around it, or `close`."""
        name, _ = self._name(call)
        node = self._parents.get(call)
        while isinstance(node, (ast.Await, ast.Call)):
            node = self._parents.get(node)
        function = self.function(call)
        closing = [one for one in self._calls if isinstance(one.func, ast.Attribute) and one.func.attr in ('close', 'aclose') and isinstance(one.func.value, ast.Name) and one.func.value.id == name]
        entered = [item for item in ast.walk(function) if isinstance(item, ast.withitem) and isinstance(item.context_expr, ast.Name) and item.context_expr.id == name] if function is not None and name else []
        return isinstance(node, ast.withitem) or bool(entered) or any(function is not None and self._is_in(one, function) for one in closing)

    def _loops(self, node: ast.AST, function: ast.AST, made: ast.AST) -> bool:
        """Whether a function sends many requests through one client: the loop around them does not make it."""
        above = self._parents.get(node)
        while above is not None and above is not function:
            if isinstance(above, (ast.For, ast.AsyncFor, ast.While)) and not self._is_in(made, above):
                return True
            above = self._parents.get(above)
        return False

    def _is_kept(self, function: ast.AST, name: str) -> bool:
        """Whether a function hands its client on, or declares it as one of the module."""
        return any(
            (isinstance(node, (ast.Global, ast.Nonlocal)) and name in node.names)
            or (isinstance(node, (ast.Return, ast.Yield)) and isinstance(node.value, ast.Name) and node.value.id == name)
            for node in ast.walk(function)
        ) and bool(name)

    def _is_in(self, node: ast.AST, function: ast.AST) -> bool:
        above: ast.AST | None = node
        while above is not None and above is not function:
            above = self._parents.get(above)
        return above is function

    def _name(self, call: ast.Call) -> tuple[str, bool]:
        """The name a client is bound to, and whether it is a field of an object: `self.client`, `app['client']`."""
        node = self._parents.get(call)
        while isinstance(node, (ast.Await, ast.IfExp, ast.BoolOp)):
            node = self._parents.get(node)
        target: ast.AST | None = None
        if isinstance(node, ast.withitem):
            target = node.optional_vars
        elif isinstance(node, ast.Assign) and len(node.targets) == 1:
            target = node.targets[0]
        elif isinstance(node, (ast.AnnAssign, ast.NamedExpr)):
            target = node.target
        if isinstance(target, ast.Attribute):
            return target.attr, True
        if isinstance(target, ast.Subscript):
            return (target.slice.value, True) if isinstance(target.slice, ast.Constant) and isinstance(target.slice.value, str) else ('', True)
        return (target.id, False) if isinstance(target, ast.Name) else ('', False)

    def _use(self, call: ast.Call) -> Use:
        function = self.function(call)
        dotted = _dotted(call.func)
        asks = _GENERATING.search(dotted)
        url = '' if asks else shown(self._source, _address(call))
        why = f'it calls {asks[0].lstrip(".")}' if asks else evidence(url, (), ()) if '/' in url else ''
        return Use(call, function, why, bool(why) and self._streams(call, function), url)

    def _streams(self, call: ast.Call, function: ast.AST | None) -> bool:
        given = next((word.value for word in call.keywords if word.arg == 'stream'), None)
        if isinstance(given, ast.Constant):
            return bool(given.value)
        if function is None:
            return False
        nodes = list(ast.walk(function))
        pieces = any(isinstance(node, ast.Attribute) and node.attr in _PIECES[:-1] for node in nodes)
        pieces = pieces or any(isinstance(node, ast.AsyncFor) and isinstance(node.iter, ast.Attribute) and node.iter.attr == 'content' for node in nodes)
        return pieces or any(isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith(_STREAM_WORDS) for node in nodes)


def _imports(source: Source, packages: tuple[str, ...]) -> bool:
    return any(name == part or name.startswith(part + '.') for name in source.imports.values() for part in packages)


def is_route(function: ast.AST | None) -> bool:
    """Whether a function answers requests of a server."""
    decorators = function.decorator_list if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)) else []
    return any(isinstance(item, ast.Call) and isinstance(item.func, ast.Attribute) and item.func.attr in _ROUTES for item in decorators)


def shown(source: Source, node: ast.expr | None, depth: int = MAX_DEPTH) -> str:
    """The parts of a text that are written: what only the running program knows is left out; of an environment variable its default."""
    if node is None or not depth:
        return ''
    node = source.settled(node)
    try:
        value = source.value(node)
        return value if isinstance(value, str) else ''
    except Unfolded:
        pass
    if isinstance(node, ast.JoinedStr):
        return ''.join(shown(source, part, depth - 1) for part in node.values)
    if isinstance(node, ast.FormattedValue):
        return shown(source, node.value, depth - 1)
    if isinstance(node, ast.BinOp):
        return shown(source, node.left, depth - 1) + shown(source, node.right, depth - 1)
    if isinstance(node, ast.Call):
        return _called(source, node, depth)
    return ''


def _called(source: Source, node: ast.Call, depth: int) -> str:
    name = source.name_of(node.func)
    if name in ('os.getenv', 'os.environ.get') and len(node.args) > 1:
        return shown(source, node.args[1], depth - 1)
    if isinstance(node.func, ast.Attribute) and node.func.attr in ('format', 'rstrip', 'strip', 'removesuffix'):
        return shown(source, node.func.value, depth - 1)
    if name.endswith(('urljoin', 'path.join')):
        return '/'.join(filter(None, (shown(source, item, depth - 1) for item in node.args)))
    return ''


def _address(call: ast.Call) -> ast.expr | None:
    """Where the address of a request stands."""
    named = next((word.value for word in call.keywords if word.arg == 'url'), None)
    at = 1 if isinstance(call.func, ast.Attribute) and call.func.attr in ('request', 'stream') else 0
    return named or (call.args[at] if len(call.args) > at else None)


def _dotted(node: ast.expr) -> str:
    parts: list[str] = []
    while isinstance(node, ast.Attribute) and len(parts) < MAX_DEPTH:
        parts.append(node.attr)
        node = node.value
    return '.'.join(reversed(parts))


def _sends(call: ast.Call) -> bool:
    dotted = _dotted(call.func)
    return dotted.rpartition('.')[2] in _SENDS or _GENERATING.search(dotted) is not None


def _receivers(call: ast.Call) -> Iterator[ast.expr]:
    node: ast.expr = call.func
    for _ in range(MAX_DEPTH):
        if not isinstance(node, ast.Attribute):
            return
        node = node.value
        yield node


def _field(node: ast.expr) -> str:
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        return str(node.slice.value)
    return node.attr if isinstance(node, ast.Attribute) else ''


def _holds(call: ast.Call, name: str, is_field: bool, made: ast.Call) -> bool:
    """Whether a request goes through the client: by its name, its field, or directly."""
    for node in _receivers(call):
        if node is made or (is_field and name and _field(node) == name):
            return True
        if name and not is_field and isinstance(node, ast.Name) and node.id == name:
            return True
    return False
