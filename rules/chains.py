"""Rules for a chain of hops, client > edge > gateway > engine: who gives up first, and how often one request is sent."""

import math
from collections.abc import Iterator
from typing import NamedTuple

from configaudit.model import Component, Fix, NotApplicable, Problem, Setting, rule

from .retries import AFTER_SENDING

_PRODUCTS = {
    'nginx': 'nginx', 'ingress-nginx': 'Ingress', 'alb': 'ALB', 'envoy': 'Envoy', 'istio': 'VirtualService', 'gateway-api': 'HTTPRoute', 'gke': 'GKE backend',
    'haproxy': 'HAProxy', 'traefik': 'Traefik', 'caddy': 'Caddy', 'gcp': 'Google Cloud backend', 'litellm': 'LiteLLM',
}  # fmt: skip
TOTAL, GAP = 'TOTAL', 'GAP'
_HOPS = ('http-client', 'proxy-route')


class Limit(NamedTuple):
    """A limit of a hop: of the whole answer (TOTAL), or of the silence before and between its pieces (GAP)."""

    kind: str
    setting: Setting

    @property
    def seconds(self) -> float | None:
        """None where it is not known."""
        return float(self.setting.known_value) if self.setting.is_known and isinstance(self.setting.known_value, (int, float)) else None


def limits(hop: Component) -> Iterator[Limit]:
    """The limits that a hop sets, known or not."""
    if hop.kind.name == 'http-client':
        yield Limit(TOTAL, hop['timeout_s'])
        yield Limit(GAP, _shorter(hop['gap_timeout_s'], hop['first_byte_timeout_s']))
    elif hop.kind.name == 'proxy-route':
        yield Limit(TOTAL, hop['total_timeout_s'])
        silence = [hop['read_timeout_s']] if 'read_timeout_s' in hop.settings or hop['product'].known_value == 'nginx' else []
        yield Limit(GAP, _shorter(*silence, hop['first_byte_timeout_s']))


def _shorter(*gaps: Setting) -> Setting:
    """The limit on silence that is reached first; one that is not known may be that."""
    return min(gaps, key=lambda gap: float(gap.known_value) if isinstance(gap.known_value, (int, float)) else 0)


def generates(hop: Component) -> bool:
    """Whether a hop shows that text is generated at the end of its chain."""
    if hop.kind.name == 'http-client':
        return bool(hop['streams'].known_value or hop['answers'].known_value)
    return hop.kind.name not in _HOPS or bool(hop['answers'].known_value)


def called(hop: Component) -> str:
    """How a person calls a hop: 'client chat.py', 'Ingress llm', 'vllm'."""
    if hop.kind.name == 'http-client':
        return f'{"program" if hop.peers("callers") else "client"} {hop.name}'
    product = _PRODUCTS.get(str(hop['product'].known_value), '') if hop.kind.name == 'proxy-route' else hop.kind.name
    return hop.name if hop.name.lower().startswith(product.lower()) else f'{product} {hop.name}'


def around(hop: Component) -> list[Component]:
    """The chain as far as it is certain: the only callers before, the hop, all after it."""
    before: list[Component] = []
    first = hop
    while len(callers := first.peers('callers')) == 1 and callers[0] not in before and callers[0] is not hop:
        first = callers[0]
        before.insert(0, first)
    return [*before, hop, *hop.peers('chain')]


def drawn(chain: list[Component]) -> str:
    """'client chat.py 60 s (TOTAL) > Ingress llm 300 s (GAP) > vllm chat'."""
    return ' > '.join(f'{called(hop)}{_written(hop)}' for hop in chain)


def _written(hop: Component) -> str:
    found = [(limit.kind, limit.seconds, limit.setting.is_set) for limit in limits(hop)]
    known = [f'{seconds:g} s ({kind}{"" if given else ", unset"})' for kind, seconds, given in found if seconds is not None and seconds != math.inf]
    return f' {", ".join(known)}' if known else ' ?' if any(seconds is None for _, seconds, _ in found) else ''


def places(chain: list[Component], own: Component, kind: str) -> list[tuple[str, Setting]]:
    """Where every other hop of a chain says its limit, or stands."""
    found = []
    for hop in chain:
        if hop is not own:
            setting = next((limit.setting for limit in limits(hop) if limit.kind == kind and limit.setting.is_set), None)
            found.append((called(hop), setting or Setting('hop', None, hop.place)))
    return found


@rule(
    'outer-timeout-before-inner', on=('http-client', 'proxy-route'), severity='warning', confidence='medium',
    source='Envoy v3 API, RouteAction.timeout; nginx docs, proxy_read_timeout; Go net/http, Client.Timeout; AWS, ALB idle timeout',
    effect='the hop that knows why it takes so long answers, and its own retry or error reaches the client',
    side_effect='a hop that is stuck is noticed later by those in front of it',
)  # fmt: skip
def outer_timeout_before_inner(hop: Component, *, roomy_s: float = 600, longest_generation_s: float = 0, max_ttft_s: float = 0) -> Iterator[Problem]:
    """A hop gives up before the one behind it does: its 504 cuts an answer that the inner hop was told to wait for, and the longer limit never counts.

    Client > edge > gateway > engine must hold for limits of one kind: on the whole answer (TOTAL), and on silence (GAP). A limit that the
    service's own numbers fit into (`longest_generation_s`, `max_ttft_s`) is left alone; from `roomy_s` on it is shown for review.
    """
    chain = around(hop)
    behind = [other for other in hop.peers('chain') if other.kind.name in _HOPS]
    if not behind or not any(generates(one) for one in chain):
        raise NotApplicable('no hop behind it is seen, or nothing shows that text is generated at the end')
    for kind, setting in limits(hop):
        own, need = setting.value, longest_generation_s if kind == TOTAL else max_ttft_s
        longer = next((pair for pair in _longer(behind, kind, own)), None)
        if longer is None or (need and own >= need):
            continue
        other, theirs = longer
        message = '{name} gives up after {own} s ({kind}{unset}), {other} behind it after {theirs} s: {chain}'
        yield Problem(
            setting, message, name=called(hop), own=own, kind=kind, unset='' if setting.is_set else ', unset', other=called(other), theirs=theirs, chain=drawn(chain),
            see=places(chain, hop, kind), severity='advice' if own >= roomy_s else None, fix=_raised(hop, setting, theirs), detail=kind,
        )  # fmt: skip


def _raised(hop: Component, setting: Setting, seconds: float) -> Fix | None:
    """The same limit as behind, as the proxy spells it; None for programs, and where it is one of several values in a text."""
    spelled = {'nginx': f'{seconds:g}s', 'ingress-nginx': f'{math.ceil(seconds)}', 'envoy': f'{seconds:g}s', 'istio': f'{seconds:g}s', 'gateway-api': f'{seconds:g}s'}
    text = spelled.get(str(hop['product'].known_value), '') if hop.kind.name == 'proxy-route' else ''
    return setting.set(text) if text and setting.slot is not None else None


def _longer(behind: list[Component], kind: str, own: float) -> Iterator[tuple[Component, float]]:
    """The hops behind that somebody told to wait for longer."""
    for other in behind:
        for limit in limits(other):
            seconds = limit.seconds
            if limit.kind == kind and limit.setting.is_set and seconds is not None and own < seconds < math.inf:
                yield other, seconds


def again(hop: Component) -> Setting | None:
    """How often a hop sends a request again that a server may have worked on, when that is known and not 0."""
    if hop.kind.name == 'http-client':
        return hop['retries'] if hop['retries'].known_value else None
    if hop.kind.name != 'proxy-route':
        return None
    product, attempts = hop['product'].known_value, hop['attempts']
    if product in ('nginx', 'ingress-nginx'):
        servers = {target for upstream in hop.peers('proxy-upstream') for target in upstream['targets'].known_value or ()}  # type: ignore[attr-defined]
        sent = 'non_idempotent' in str(hop['next_upstream'].known_value).split() and len(servers) > 1
        return hop['next_upstream']._replace(known_value=len(servers) - 1) if sent else None
    if product == 'litellm':
        return attempts if attempts.known_value else None
    conditions = hop['retry_on']
    if not conditions.is_set or (product != 'caddy' and AFTER_SENDING.search(str(conditions.known_value)) is None):
        return None
    if product == 'envoy' and not attempts.is_set:
        return conditions._replace(known_value=1)
    return attempts if attempts.known_value else None


@rule(
    'retries-multiply', on=('http-client', 'proxy-route'), severity='warning', confidence='medium',
    source='Envoy router filter, x-envoy-retry-on; openai-python README, Retries: 2 unless max_retries says otherwise; measured with two nginx, one behind the other; singnet/Omega#351',
    effect='a failing request is generated a few times at most', side_effect='the one hop that still retries sees all errors: give it a budget',
)  # fmt: skip
def retries_multiply(hop: Component, *, limit: int = 4) -> Iterator[Problem]:
    """Several hops of a chain send a failed request again, and each try of an outer one is tried several times by the inner ones.

    Under overload every attempt is a whole generation that nobody waits for. One hop should retry: the one that knows best whether it helps.
    nginx sends fewer once it has put a server aside (`max_fails`, 1 by default): measured with two of them, 3 of 4, and all 4 with `max_fails=0`.
    Retries of refused connections are not counted: nothing was sent yet.
    """
    tries = [(one, found) for one in (hop, *hop.peers('chain')) if (found := again(one)) is not None]
    if len(tries) < 2 or tries[0][0] is not hop or any(again(one) is not None for one in hop.peers('callers')):
        raise NotApplicable('one hop at most retries, or a hop before it tells')
    counts = [1 + int(setting.value) for _, setting in tries]
    product = math.prod(counts)
    if product >= limit:
        arithmetic = ' x '.join(f'(1+{count - 1})' for count in counts)
        message = 'one failing request is tried up to {arithmetic} = {product} times: {chain}'
        chain = ' > '.join(f'{called(one)} {count - 1} {"retry" if count == 2 else "retries"}' for (one, _), count in zip(tries, counts, strict=True))
        yield Problem(tries[0][1], message, arithmetic=arithmetic, product=product, chain=chain, see=[(called(one), setting) for one, setting in tries[1:]], severity=None if any(setting.is_set for _, setting in tries) else 'advice')
