"""Rules for proxies through which generated text streams: time limits (TOTAL and GAP), buffering, bodies, upgrades."""

import math
from collections.abc import Iterator

from configaudit import units
from configaudit.knowledge.versions import release
from configaudit.model import Component, NotApplicable, Problem, Setting, rule
from configaudit.patterns import regex

_SAYS_NO_BUFFERING = ('tgi',)
"""Engines that send `X-Accel-Buffering: no` with every stream: nginx then does not buffer it."""
_WORDS = {
    'nginx': 'proxy_read_timeout', 'ingress-nginx': 'proxy-read-timeout', 'alb': 'idle_timeout.timeout_seconds', 'envoy': 'the stream idle timeout',
    'haproxy': 'timeout server', 'litellm': 'the timeout of LiteLLM', 'caddy': 'read_timeout', 'kong': 'read_timeout',
}  # fmt: skip
_NAMES = {'envoy': 'Envoy', 'istio': 'Istio', 'gke': 'Google\'s load balancer', 'gcp': 'Google\'s load balancer', 'gateway-api': 'the gateway', 'ai-gateway': 'Envoy AI Gateway'}


def carries(route: Component) -> str:
    """What shows that generated text streams through a route; NotApplicable where nothing does."""
    answers = route['answers']
    if not answers.value or route['websocket'].value:
        raise NotApplicable('nothing shows that generated text streams through it')
    return str(answers.value)


def shown_by(route: Component) -> list[tuple[str, Setting]]:
    """The other side: the engine, or what else tells that text is generated there."""
    return [(f'generated text passes here: {route["answers"].value}', route['answers'])]


@rule(
    'stream-cut-by-total-timeout', on='proxy-route', severity='warning', confidence='medium',
    source='Envoy v3 API, RouteAction.timeout; Gateway API, HTTPRouteTimeouts; Google Cloud, backend service timeout; envoyproxy/gateway#1169',
    effect='an answer may take as long as it generates', side_effect='a stuck request is ended by the idle timeout only',
)  # fmt: skip
def stream_cut_by_total_timeout(route: Component, *, longest_generation_s: float = 0, roomy_s: float = 600, short_s: float = 30) -> Iterator[Problem]:
    """The proxy limits the TOTAL time of an answer: a stream that is still generating is cut after it began with status 200.

    A limit on the gap between two pieces (an idle timeout) ends what is stuck and leaves healthy streams alone. Declare
    `service: {longest_generation_s: ...}` to have the limit judged by it; without it, an explicit limit under `roomy_s` is shown for review, and one
    as short as the defaults of gateways (`short_s`) warned of.
    """
    why, limit = carries(route), route['total_timeout_s']
    if not limit.is_set and limit.is_known and limit.known_value == math.inf:
        raise NotApplicable('it limits no whole answer')
    if limit.value == math.inf or (longest_generation_s and limit.value >= longest_generation_s):
        return
    product = route['product_name'].value or _NAMES.get(str(route['product'].value), 'the proxy')
    fix = limit.set(3600 if route['product'].value in ('gke', 'gcp') else '0s') if limit.slot is not None else None
    if not limit.is_set:
        longest = f': the longest takes {longest_generation_s:g} s' if longest_generation_s else ''
        message = 'no timeout is set, so {product} ends every answer {limit} s after the request (TOTAL, streams too){longest}'
        yield Problem(limit, message, product=product, limit=limit.value, longest=longest, why=why, see=shown_by(route), fix=fix)
    elif longest_generation_s or limit.value < roomy_s:
        longest = f'the longest takes {longest_generation_s:g} s' if longest_generation_s else 'declare service.longest_generation_s to have it judged'
        severity = None if longest_generation_s or limit.value <= short_s else 'advice'
        message = 'a TOTAL timeout of {value} s cuts every answer that still generates then, streams too: {longest}'
        yield Problem(limit, message, longest=longest, why=why, severity=severity, see=shown_by(route), fix=fix)  # type: ignore[arg-type]


@rule(
    'first-token-after-read-timeout', on='proxy-route', severity='warning', confidence='medium',
    source='nginx docs, proxy_read_timeout: between two successive reads; AWS, ALB idle timeout; Kong, Service read_timeout; dstackai/dstack#4239, onyx-dot-app/onyx#10247',
    effect='a request that waits in the queue is answered', side_effect='a server that is stuck is noticed later',
)  # fmt: skip
def first_token_after_read_timeout(route: Component, *, max_ttft_s: float = 0, longest_generation_s: float = 0) -> Iterator[Problem]:
    """The proxy gives up when the server is silent for too long (a GAP, not a total): a request in the queue, in a long prefill, or one that
    is not streamed at all gets a 504, and the GPU has worked for nothing.

    Once tokens flow the gap is short, however long the stream. Declare `service: {max_ttft_s: ..., longest_generation_s: ...}` to have
    the limit judged by them; without them a limit of a minute or less is shown for review.
    """
    product = str(route['product'].value)
    if product not in _WORDS:
        raise NotApplicable('it has no limit on silence that is known')
    why, gap = carries(route), route['read_timeout_s']
    if product in ('haproxy', 'caddy') and not gap.is_set:
        raise NotApplicable('it waits for ever unless a limit is set')
    words = 'grpc_read_timeout' if product == 'nginx' and route['protocol_http'].known_value == '2' else _WORDS[product]
    shown = {'why': why, 'words': words, 'unset': '' if gap.is_set else ' (unset)', 'see': shown_by(route)}
    fix = gap.set({'nginx': '600s'}.get(product, '600')) if gap.slot is not None and product in ('nginx', 'ingress-nginx', 'alb') else None
    if max_ttft_s and max_ttft_s > gap.value:
        yield Problem(gap, '{words}{unset} allows a silence (GAP) of {value} s, and the first token may take {ttft} s: a 504', ttft=max_ttft_s, fix=fix, **shown)  # type: ignore[arg-type]
    elif longest_generation_s > gap.value:
        message = '{words}{unset} allows a silence (GAP) of {value} s: an answer of up to {longest} s that is not streamed ends in a 504'
        yield Problem(gap, message, longest=longest_generation_s, severity='advice', fix=fix, **shown)  # type: ignore[arg-type]
    elif not max_ttft_s and gap.value <= 60:
        message = '{words}{unset} allows a silence (GAP) of {value} s: a request that waits longer for its first token, or is not streamed, ends in a 504'
        yield Problem(gap, message, severity='advice', fix=fix, **shown)  # type: ignore[arg-type]


def _compresses_events(route: Component) -> bool:
    kinds = str(route['gzip_types'].value).split()
    return bool(route['gzip'].value) and ('*' in kinds or 'text/event-stream' in kinds)


@rule(
    'nginx-stream-buffered', on='proxy-route', severity='warning', confidence='medium',
    source='measured with nginx 1.22: events of an HTTP/1.0 or a compressed answer come together at its end; nginx docs, proxy_buffering; ggml-org/llama.cpp#24774, nginx/nginx#1505',
    effect='tokens reach the client as they are generated', side_effect='a slow client holds its connection to the server',
)  # fmt: skip
def nginx_stream_buffered(route: Component) -> Iterator[Problem]:
    """nginx buffers the answer: over HTTP/1.0 (its default before 1.29.7), or with gzip on event streams, tokens arrive in blocks or all at the end.

    Over HTTP/1.1 the pieces of a chunked answer pass as they come while the client keeps up; there it is shown for review.

    When it is wrong: the server itself sends `X-Accel-Buffering: no`, as TGI does and llama.cpp from June 2026 on.
    """
    if route['product'].value not in ('nginx', 'ingress-nginx') or route['protocol_http'].known_value == '2':
        raise NotApplicable('no HTTP route of nginx')
    why, buffering = carries(route), route['buffering']
    engines = route.peers('engine')
    if engines and all(engine.kind.name in _SAYS_NO_BUFFERING for engine in engines):
        raise NotApplicable('the engine itself turns buffering off')
    if not buffering.value:
        return
    version, gzip = route['protocol_http'], route['gzip_types']
    old = version.value == '1.0' and (version.is_set or route.version is None or route.version < release('1.29.7'))
    packed = _compresses_events(route)
    how = 'gzip keeps events until the end' if packed else 'over HTTP/1.0 events wait until a buffer is full' if old else 'only pieces of a chunked answer pass as they come'
    unset = 'proxy_buffering is on' if buffering.is_set else 'proxy_buffering is not off (the default is on)'
    see = [('compressed here', gzip), *shown_by(route)] if packed else shown_by(route)
    maybe = any(engine.kind.name == 'llama.cpp-server' for engine in engines) and not packed
    severity = None if (old or packed) and not maybe else 'advice'
    yield Problem(buffering, '{unset}: {how}', unset=unset, how=how, why=why, severity=severity, see=see, fix=buffering.set('off'))  # type: ignore[arg-type]


@rule('nginx-upgrade-header-always', on='proxy-route', severity='advice', source='nginx docs, WebSocket proxying: map $http_upgrade $connection_upgrade', effect='plain requests may share connections to the server')
def nginx_upgrade_header_always(route: Component) -> Iterator[Problem]:
    """Every request asks the server for an upgrade, also those that are no WebSocket: such connections are not kept for the next request.

    A map sends `upgrade` only where the client asked for it.
    """
    connection, mapped = route['connection'], route['upgrade_map']
    general = mapped.is_set and route['path'].value == 'location /'
    if route['product'].value != 'nginx' or route['websocket'].value or not (route['answers'].value or general):
        raise NotApplicable('no route that also takes plain requests')
    if connection.is_set and connection.value == 'upgrade':
        see = [('the map that is not used', mapped)] if mapped.is_set else []
        words = ', though the file maps $connection_upgrade' if mapped.is_set else ''
        yield Problem(connection, 'Connection "{value}" goes with every request, WebSocket or not{words}', words=words, see=see, fix=connection.set('$connection_upgrade') if mapped.is_set else None)


@rule('request-body-limit-small', on='proxy-route', severity='advice', confidence='medium', source='nginx docs, client_max_body_size: 1m, then 413; ingress-nginx, proxy-body-size', effect='long prompts and images are accepted', side_effect='larger bodies are read and buffered')
def request_body_limit_small(route: Component, *, limit_bytes: int = 2**20) -> Iterator[Problem]:
    """Requests over a megabyte are refused with 413: an image as base64 is larger than that, and so is a prompt of some 250,000 tokens.

    Where the engine's context is seen and takes no images, the limit is judged by it: 4 bytes a token are usual, and up to 10 where JSON
    escapes what is not ASCII (the default of Python's json). A limit that holds the whole context that way is left alone.
    """
    if route['product'].value not in ('nginx', 'ingress-nginx'):
        raise NotApplicable('it limits no bodies, as far as is known')
    why, size = carries(route), route['body_size']
    count, need = units.bytes_of(str(size.value)), _longest_prompt(route)
    if count and (count < need.value if need is not None else count <= limit_bytes):
        unset = '' if size.is_set else ' (unset)'
        words = 'client_max_body_size' if route['product'].value == 'nginx' else 'proxy-body-size'
        what = f'a full context of {need.value // _BYTES} tokens may take {need.value} bytes' if need is not None else 'images and long prompts get a 413'
        see = [('the context', need), *shown_by(route)] if need is not None else shown_by(route)
        fix = size.set('32m') if need is None or need.value <= 32 * 2**20 else None
        yield Problem(size, '{words}{unset} refuses requests over {value}: {what}', words=words, unset=unset, what=what, why=why, see=see, fix=fix)


_BYTES = 10
_SEES = regex(r'-vl\b|\bvl-|vision|llava|internvl|pixtral|minicpm-v|omni|gemma-3|llama-4|mistral-small-3|image|video|audio|ui-tars|molmo|idefics')
_CONTEXT = {'vllm': 'max_model_len', 'sglang': 'context_length'}


def _longest_prompt(route: Component) -> Setting | None:
    """Bytes of the longest request that the engines behind take; None where that is not seen, or where images may come with it."""
    found = []
    for engine in route.peers('engine'):
        context, model = engine[_CONTEXT[engine.kind.name]] if engine.kind.name in _CONTEXT else None, str(engine['model'].known_value or '')
        images = _SEES.search(model.lower()) is not None or any(option.name.startswith('--limit-mm') for option in engine['options'].known_value or ())  # type: ignore[attr-defined]
        if context is None or images or '/' not in model or not context.is_set or not isinstance(context.known_value, int) or context.known_value <= 0:
            return None
        found.append(context._replace(known_value=context.known_value * _BYTES))
    return max(found, key=lambda one: int(one.value), default=None)


@rule(
    'ingress-timeout-not-seconds', on='proxy-route', severity='warning',
    source='ingress-nginx, annotations: "All timeout values are unitless and in seconds"', effect='the timeout that is meant holds',
)  # fmt: skip
def ingress_timeout_not_seconds(route: Component) -> Iterator[Problem]:
    """ingress-nginx reads timeouts as whole seconds: a value with a unit is no number to it, and the controller's default of 60 s (5 s to connect) holds."""
    if route['product'].value != 'ingress-nginx':
        raise NotApplicable('another controller, or no Ingress')
    for key, given in route['invalid_seconds'].value:
        wanted = units.seconds(str(given.value))
        fix = given.set(str(int(wanted))) if wanted and wanted == int(wanted) else None
        yield Problem(given, '{key}: {value} is not a number of seconds, so the controller\'s default holds instead', key=key, fix=fix, detail=key)


@rule(
    'ext-proc-buffers-stream', on='proxy-route', severity='warning', confidence='medium',
    source='Envoy v3 API, ProcessingMode.BodySendMode: BUFFERED collects the whole body first', effect='tokens reach the client as they are generated',
    side_effect='the processor sees the answer in pieces',
)  # fmt: skip
def ext_proc_buffers_stream(route: Component) -> Iterator[Problem]:
    """An external processor asks for the whole body of the answer: Envoy holds every token back until the last one is there.

    With `allow_mode_override: true` the processor may ask for streamed bodies itself; whether it does, no file shows.
    """
    mode = route['ext_proc_body']
    if not mode.is_set:
        raise NotApplicable('no external processor gets bodies of answers')
    carries(route)
    if mode.value in ('BUFFERED', 'BUFFERED_PARTIAL'):
        maybe = bool(route['ext_proc_override'].value)
        message = 'response_body_mode {value}: a streamed answer is held until it is complete' + (', unless the processor overrides the mode' if maybe else '')
        yield Problem(mode, message, severity='advice' if maybe else None, see=shown_by(route), fix=mode.set('STREAMED'))
