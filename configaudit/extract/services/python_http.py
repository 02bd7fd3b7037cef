"""HTTP clients in Python source: through which generated text comes, which are made for every request, which block the event loop.

Defaults: httpx 0.28 (5 s between two reads, 100 connections), aiohttp 3.14 (300 s in total, 100 connections), requests 2.34 (no limit,
10 connections kept), OpenAI and Anthropic SDKs (600 s between two reads, 2 retries). OpenAI's `timeout` is one of httpx: no total.
"""

import ast
from collections.abc import Iterator

from configaudit.extract.services.python_http_settings import limits_of
from configaudit.extract.services.python_http_uses import Library, Uses, library_of, shown
from configaudit.extract.services.python_values import keywords, read_from, setting_at
from configaudit.knowledge.generation_routes import evidence
from configaudit.knowledge.service_kinds import HTTP_CLIENT, HTTPX_TIMEOUT
from configaudit.model import Component, Setting
from configaudit.parse.python import Source
from configaudit.patterns import regex
from configaudit.places import Place

_CLOCKS = ('connect', 'read', 'write', 'pool')
_SELF_CLOSING = ('openai', 'anthropic')
"""SDKs whose clients close themselves when nothing holds them any more: `__del__` in their _base_client.py."""
_REQUESTS_KEEPS = 10
MAX_CLIENTS = 200
"""Of a file."""
_URL = regex(r'https?://(\[[^\]]+\]|[^/:?#]+)(?::(\d+))?')


def clients_of(source: Source) -> Iterator[Component]:
    """Every HTTP client of a file through which generated text comes, that speaks HTTP/2, or that blocks an event loop."""
    uses = Uses(source)
    number = 0
    for name, call in source.calls() if not uses.is_script else ():
        library = library_of(name)
        if library is None:
            continue
        component = _client(source, uses, library, call, number)
        if component is not None:
            number += 1
            yield component
        if number == MAX_CLIENTS:
            return


def timeouts_of(source: Source) -> Iterator[Component]:
    """Every httpx.Timeout that names some of its four clocks and no default."""
    for number, (name, call) in enumerate(source.calls()):
        given, unseen = keywords(source, call) if name == 'httpx.Timeout' and not call.args else ({}, '')
        if given and not unseen and 'timeout' not in given:
            missing = tuple(clock for clock in _CLOCKS if clock not in given)
            path, place = source.document.path, source.place(call)
            yield Component(HTTPX_TIMEOUT, path.rpartition('/')[2], f'python/{path}/timeout/{number}', place, {'missing': Setting('missing', missing, place)})


def _client(source: Source, uses: Uses, library: Library, call: ast.Call, number: int) -> Component | None:
    given, partial = keywords(source, call)
    found = uses.of(call, library)
    generating = [use for use in found if use.generates]
    address = given.get('base_url') or given.get('azure_endpoint')
    target = _text(source, address)
    why = next((use.generates for use in generating), '') or (evidence('', _hosts(target), ()) if found else '')
    blocked = next((use for use in found if uses.blocks(use, library)), None)
    http2 = given.get('http2')
    if not why and blocked is None and http2 is None:
        return None
    place = source.place(call.func)
    settings = limits_of(source, library, given, generating or found, place)
    hosts = _hosts(target) or [host for use in generating for host in _hosts(use.url)][:1]
    if hosts:
        at = source.place(address) if address is not None and _hosts(target) else source.place(generating[0].call)
        settings['target'] = Setting('target', target or generating[0].url, at)
    variable = read_from(source, address)
    if variable is not None:
        settings['variable'] = variable
    if why:
        settings['answers'] = Setting('answers', why, source.place((generating or found)[0].call))
    stream = next((use for use in generating if use.streams), None)
    if stream is not None:
        settings['streams'] = Setting('streams', True, source.place(stream.call))
    if generating and not library.is_call and uses.is_made_anew(call, generating):
        settings['per_request'] = Setting('per_request', True, place)
        settings['closes'] = Setting('closes', library.title in _SELF_CLOSING or uses.is_closed(call), place)
    if generating and library.title == 'requests' and not library.is_call:
        settings.update(_kept(source, place))
    if blocked is not None:
        settings['blocks_loop'] = Setting('blocks_loop', True, source.place(blocked.call.func))
    if http2 is not None:
        settings['http2'] = setting_at(source, 'http2', http2)
    settings['product'] = Setting('product', library.title, place)
    settings['written_in'] = Setting('written_in', 'Python', place)
    path = source.document.path
    return Component(HTTP_CLIENT, path.rpartition('/')[2], f'python/{path}/http-client/{number}', place, settings, partial=partial)


def _kept(source: Source, place: Place) -> dict[str, Setting]:
    """How many connections a session of requests keeps to a host, and how many threads of the file may use it at once."""
    calls = {name.rpartition('.')[2]: call for name, call in source.calls() if name.startswith(('requests.adapters.HTTPAdapter', 'concurrent.futures.ThreadPoolExecutor'))}
    settings = {'idle_per_host': Setting('idle_per_host', _REQUESTS_KEEPS, place, 'default', source='requests 2.34, DEFAULT_POOLSIZE')}
    adapter, threads = calls.get('HTTPAdapter'), calls.get('ThreadPoolExecutor')
    if adapter is not None:
        given, unseen = keywords(source, adapter)
        if unseen:
            return {}
        if 'pool_maxsize' in given:
            settings['idle_per_host'] = setting_at(source, 'idle_per_host', given['pool_maxsize'], 'count')
    most = keywords(source, threads)[0].get('max_workers', threads.args[0] if threads.args else None) if threads is not None else None
    if most is not None:
        settings['threads'] = setting_at(source, 'threads', most, 'count')
    return settings


def _text(source: Source, node: ast.expr | None) -> str:
    return shown(source, node) if node is not None else ''


def _hosts(target: str) -> list[tuple[str, str]]:
    url = _URL.match(target)
    return [(url[1], url[2] or '')] if url is not None else []
