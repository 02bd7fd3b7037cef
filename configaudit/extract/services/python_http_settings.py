"""Timeouts (TOTAL and GAP), connections and retries of Python's HTTP clients, as their keywords write them."""

import ast
import math

from configaudit.extract.services.python_http_uses import Library, Use
from configaudit.extract.services.python_values import LOCKED, WORKED_OUT, keywords, setting_at
from configaudit.model import Setting
from configaudit.parse.python import Source, Unfolded
from configaudit.places import Place

_GAPS: dict[str, float] = {'httpx': 5, 'openai': 600, 'anthropic': 600, 'requests': math.inf, 'aiohttp': math.inf}
_CONNECTIONS: dict[str, float] = {'httpx': 100, 'openai': 1000, 'anthropic': 1000, 'requests': math.inf, 'aiohttp': 100}
_AIOHTTP_TOTAL = 300
_SOURCES = {
    'httpx': 'httpx 0.28, DEFAULT_TIMEOUT_CONFIG and DEFAULT_LIMITS', 'openai': 'OpenAI SDK, _constants.py', 'anthropic': 'Anthropic SDK, _constants.py',
    'requests': 'requests 2.34, adapters.py', 'aiohttp': 'aiohttp 3.14, DEFAULT_TIMEOUT',
}  # fmt: skip


def limits_of(source: Source, library: Library, given: dict[str, ast.expr], uses: list[Use], place: Place) -> dict[str, Setting]:
    """What a client and its requests say of time, connections and retries; a request's own timeout goes first."""
    title, origin = library.title, _SOURCES[library.title]
    settings = {
        'gap_timeout_s': Setting('gap_timeout_s', _GAPS[title], place, 'default', source=origin),
        'connections': Setting('connections', _CONNECTIONS[title], place, 'default', source=origin),
    }
    if title == 'aiohttp':
        settings['timeout_s'] = Setting('timeout_s', _AIOHTTP_TOTAL, place, 'default', source=origin)
    if title in ('openai', 'anthropic'):
        settings['retries'] = Setting('retries', 2, place, 'default', source=origin)
    if 'timeout' in given:
        _time(source, title, given['timeout'], settings)
    own = [word.value for use in uses for word in use.call.keywords if word.arg == 'timeout']
    if own and len(own) == len(uses) and not library.is_call:
        _time(source, title, own[0], settings)
    if 'max_retries' in given:
        settings['retries'] = setting_at(source, 'retries', given['max_retries'], 'count')
    _connections(source, given, settings)
    return settings


def _time(source: Source, title: str, node: ast.expr, settings: dict[str, Setting]) -> None:
    """Take in a timeout: a number, None, a tuple, or the library's own kind of one."""
    shown = source.settled(node)
    name = 'timeout_s' if title == 'aiohttp' else 'gap_timeout_s'
    if isinstance(shown, ast.Call):
        called = source.name_of(shown.func).rpartition('.')[2]
        words, _ = keywords(source, shown)
        if called == 'ClientTimeout':
            settings.update({key: _limit(source, key, words.get(word), shown) for key, word in (('timeout_s', 'total'), ('gap_timeout_s', 'sock_read'))})
            return
        if called == 'Timeout':
            shown = words.get('read') or words.get('timeout') or (shown.args[0] if shown.args else None) or shown
        settings[name] = _limit(source, name, shown, shown)
    elif isinstance(shown, ast.Tuple) and len(shown.elts) > 1:
        settings[name] = _limit(source, name, shown.elts[1], shown)
    else:
        settings[name] = _limit(source, name, node, shown)


def _limit(source: Source, name: str, node: ast.expr | None, around: ast.expr) -> Setting:
    """A number of seconds; None and what is not given are no limit."""
    if node is None:
        return Setting(name, math.inf, source.place(around), locked=LOCKED)
    found = setting_at(source, name, node, 's')
    if found.is_known and (found.known_value is None or (found.known_value == 0 and name == 'timeout_s')):
        return found._replace(known_value=math.inf)
    if found.is_known and not isinstance(found.known_value, (int, float)):
        return found._replace(known_value=None, reason=WORKED_OUT)
    return found


def _connections(source: Source, given: dict[str, ast.expr], settings: dict[str, Setting]) -> None:
    """The most connections a client opens, where `limits=` or `connector=` says so."""
    node = given.get('limits') or given.get('connector')
    shown = source.settled(node) if node is not None else None
    if node is None:
        return
    if not isinstance(shown, ast.Call) or source.name_of(shown.func).rpartition('.')[2] not in ('Limits', 'TCPConnector'):
        settings['connections'] = Setting('connections', None, source.place(node), reason=WORKED_OUT)
        return
    words, unseen = keywords(source, shown)
    own = words.get('max_connections') or words.get('limit') or (shown.args[0] if shown.args and 'limits' in given else None)
    per_host = words.get('limit_per_host')
    try:
        if per_host is not None and source.value(per_host):
            own = per_host
    except Unfolded:
        own = per_host
    if own is not None:
        found = setting_at(source, 'connections', own, 'count')
        settings['connections'] = found._replace(known_value=math.inf) if found.is_known and found.known_value in (None, 0) else found
    elif 'limits' in given and not unseen:
        settings['connections'] = Setting('connections', math.inf, source.place(shown), locked=LOCKED)
