"""Rules for what only Python's HTTP clients do: block an event loop, need a package for HTTP/2."""

from collections.abc import Iterator

from configaudit.model import Component, NotApplicable, Problem, Severity, rule


@rule(
    'event-loop-blocked-by-request', on='http-client', severity='warning',
    source='FastAPI docs, Concurrency and async/await: inside `async def` nothing else runs until a blocking call returns; asyncio docs, Running Blocking Code',
    effect='other requests, streams and health checks go on while one waits', side_effect='calls run at once that came one after the other',
)  # fmt: skip
def event_loop_blocked(client: Component) -> Iterator[Problem]:
    """A synchronous HTTP call inside an `async def` handler stops the whole worker until the answer is there: every other request, every
    stream that is being sent, and the health check. With a model behind it that is seconds to minutes, one request at a time.

    Use the library's asynchronous client and `await` it, hand the call to a thread (`run_in_threadpool`, `asyncio.to_thread`), or write
    the handler as `def`: then the framework runs it in a thread.
    """
    blocks = client['blocks_loop']
    if not blocks.value:
        raise NotApplicable('none of its requests is sent from an async function of a server')
    clock = client['gap_timeout_s']
    limit = f'up to {clock.known_value:g} s of silence' if clock.is_known and clock.known_value != float('inf') else 'as long as the answer takes'
    yield Problem(blocks, 'this {product} call does not give the event loop back: the worker stands still for {limit}', product=client['product'].known_value, limit=limit)


@rule(
    'httpx-http2-not-installed', on='http-client', severity='error', checklist='july-5',
    source='httpx 0.28, _client.py: http2=True without the package h2 raises ImportError; httpx docs, HTTP/2: pip install httpx[http2]',
    effect='the client can be made', side_effect='one connection carries all requests to a host: one that is lost takes more of them with it',
)  # fmt: skip
def http2_not_installed(client: Component) -> Iterator[Problem]:
    """`http2=True` needs the package h2, which httpx does not bring along: without it the client raises ImportError where it is made.

    A lock file that has httpx and no h2 is certain (error). A list of requirements without `httpx[http2]` and without h2 is a warning:
    another package of the list may bring h2 along.
    """
    http2 = client['http2']
    if not http2.is_set or not http2.value:
        raise NotApplicable('it does not ask for HTTP/2')
    installed = client['h2_installed']
    if not installed.is_set:
        installed = installed._replace(reason='what the program installs is not among the files read')
    if not installed.value:
        severity: Severity | None = None if installed.unit == 'lock' else 'warning'
        yield Problem(http2, 'http2=True needs the package h2, and what is installed has httpx without it', severity=severity, see=[('installed here', installed)])


@rule(
    'httpx-timeout-incomplete', on='httpx-timeout', severity='error',
    source='httpx 0.28, _config.py: "httpx.Timeout must either include a default, or set all four parameters explicitly."', effect='the client can be made',
)  # fmt: skip
def httpx_timeout_incomplete(timeout: Component) -> Iterator[Problem]:
    """httpx.Timeout with some of connect, read, write and pool, and no default for the others, raises ValueError where it is made.

    Give a default first: `httpx.Timeout(10, read=600)`; None is one (no limit).
    """
    missing = timeout['missing']
    if not missing.value:
        raise NotApplicable('it names all four')
    yield Problem(missing, 'no default and no {missing}: httpx raises ValueError here', missing=' and no '.join(missing.value))
