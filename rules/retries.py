"""Rules for proxies that send a request again: generation is not idempotent, and every try costs the GPU its whole work."""

import math
from collections.abc import Iterator

from configaudit.knowledge.versions import parse, release, satisfies
from configaudit.model import Component, NotApplicable, Problem, Unknown, rule
from configaudit.patterns import regex

from .streaming import carries, shown_by

AFTER_SENDING = regex(r'(?:^|[\s,])(5xx|gateway-error|reset|retriable-status-codes|retriable-4xx|all-retryable-errors|empty-response|junk-response|response-timeout|50[0234]|429)(?=$|[\s,])')
"""Conditions of Envoy and HAProxy under which a request is sent again that a server may already have worked on (`reset-before-request` is not one)."""


@rule(
    'generation-retried', on='proxy-route', severity='warning', confidence='medium',
    source='nginx docs, proxy_next_upstream: non_idempotent; Envoy router filter, x-envoy-retry-on; HAProxy manual, retry-on; Istio VirtualService, HTTPRetry',
    effect='a request is generated once', side_effect='the client sees the error and decides itself',
)  # fmt: skip
def generation_retried(route: Component) -> Iterator[Problem]:
    """A failed or slow POST is sent to the next server, while the first may still generate: overload multiplies itself.

    Retries of a connection that was refused are harmless: nothing was sent yet.
    """
    why = carries(route)
    if route['product'].value in ('nginx', 'ingress-nginx'):
        again = route['next_upstream']
        if 'non_idempotent' in str(again.value).split():
            yield Problem(again, '{value}: a POST that was already sent goes to the next server as well', why=why, see=shown_by(route))
        return
    again, attempts = route['retry_on'], route['attempts']
    if not again.is_set or (attempts.is_set and attempts.value == 0):
        raise NotApplicable('nothing is retried on conditions that are written here')
    if route['product'].value in ('caddy', 'traefik'):
        yield Problem(again, '{value} takes POST too: a request that failed after it was sent goes to a server again', why=why, see=shown_by(route))
        return
    found = AFTER_SENDING.search(str(again.value))
    if found:
        times = f' up to {attempts.value} times' if attempts.is_set else ''
        yield Problem(again, 'retried{times} on {condition}: a server may already have generated for it', times=times, condition=found[1], why=why, see=shown_by(route))


@rule('retries-exceed-timeout', on='proxy-route', severity='advice', source='Envoy v3 API, RouteAction.timeout: it includes all retries; Istio VirtualService, HTTPRetry.perTryTimeout: the route\'s timeout unless set')
def retries_exceed_timeout(route: Component) -> Iterator[Problem]:
    """The time limit of the whole request ends before the tries that are configured can take place.

    Without a limit on each try the first one may take all of it: a server that hangs is never given up for another.
    """
    attempts, each, total = route['attempts'], route['per_try_timeout_s'], route['total_timeout_s']
    if not attempts.is_set or total.value == math.inf or not attempts.value:
        raise NotApplicable('no limits on both the tries and the whole')
    tries = attempts.value + 1
    see = [('the whole', total if total.is_set else route.place)]
    if each.is_set and each.value not in (0, math.inf) and each.value * tries > total.value:
        message = '{tries} tries of up to {each} s need {need} s, the whole request may take {total} s: the last ones never finish'
        yield Problem(each, message, tries=tries, each=each.value, need=tries * each.value, total=total.value, see=see)
    elif not each.is_set and route['product'].value in ('istio', 'envoy') and _after_sending(route) and route['answers'].value:
        message = 'no limit on each of {tries} tries: the first one that hangs takes all of the {total} s'
        yield Problem(attempts, message, tries=tries, total=total.value, see=see, detail='each')


def _after_sending(route: Component) -> str:
    """The condition under which a request goes out again that a server may have worked on, or ''."""
    found = AFTER_SENDING.search(str(route['retry_on'].value)) if route['retry_on'].is_set else None
    return found[1] if found else ''


@rule(
    'first-token-after-try-timeout', on='proxy-route', severity='warning', confidence='medium',
    source='Envoy source/common/router/upstream_request.cc: a try that has begun to answer is left alone; Envoy v3 API, RetryPolicy.per_try_timeout',
    effect='a request that waits in the queue is not queued again', side_effect='a server that hangs is given up later',
)  # fmt: skip
def first_token_after_try_timeout(route: Component, *, max_ttft_s: float = 0) -> Iterator[Problem]:
    """A try is given up while its request waits for the first token, and the same request joins the queue of the next server: load feeds on itself.

    The limit on each try ends where the answer begins, so it cuts no stream; it must hold the longest time to the first token. Declare
    `service: {max_ttft_s: ...}` to have it judged; without it, a limit under a minute is shown for review.
    """
    each, attempts = route['per_try_timeout_s'], route['attempts']
    if not each.is_set or (attempts.is_set and not attempts.value) or not _after_sending(route):
        raise NotApplicable('no try is given up for another')
    carries(route)
    if each.value and each.value < (max_ttft_s or 60):
        longest = f'the first token may take {max_ttft_s:g} s' if max_ttft_s else 'declare service.max_ttft_s to have it judged'
        message = 'a try without a first byte after {value} s is sent again on {condition}: {longest}'
        yield Problem(each, message, condition=_after_sending(route), longest=longest, severity=None if max_ttft_s else 'advice', see=shown_by(route))


@rule(
    'istio-default-retries-503', on='proxy-route', severity='advice', confidence='medium',
    source='Istio 1.24 release notes, istio/istio#52111: 503 is no longer retried by default; istio/istio#50506: requests that were worked on went out twice',
    effect='only requests that no server has seen go out again', side_effect='the client sees a 503 and decides itself',
)  # fmt: skip
def istio_default_retries_503(route: Component, *, istio_version: str = '') -> Iterator[Problem]:
    """A VirtualService without `retries` gets two retries, and Istio before 1.24 spends them on every 503 as well: also on one that a sidecar
    makes when a server that already generated has gone.

    From 1.24 on the default retries refused connections and streams only, which costs no GPU: they may stay. Give the release with
    `rules: {istio-default-retries-503: {istio_version: ...}}` where no image tells it.
    """
    attempts = route['attempts']
    if route['product'].value != 'istio' or attempts.is_set:
        raise NotApplicable('no VirtualService, or it says itself what is retried')
    carries(route)
    found = parse(istio_version) if istio_version else route.version
    if found is None:
        raise Unknown('the release of Istio is not among the files read: before 1.24 it retries a 503')
    if found < release('1.24.0'):
        only = {'attempts': 2, 'retryOn': 'connect-failure,refused-stream'}
        message = 'no retries are set: Istio {version} sends a request up to {value} times again, after a 503 too'
        yield Problem(attempts, message, version=istio_version or str(found), see=shown_by(route), fix=attempts.set(only))


@rule(
    'client-abort-ignored', on='proxy-route', severity='warning', confidence='medium',
    source='nginx docs, proxy_ignore_client_abort: off by default; measured: Caddy 2.8.4 with flush_interval -1 goes on, 2.9.1 and newer do not',
    effect='an answer that nobody reads any more is not generated to its end', side_effect='an answer that is only logged or cached at the proxy is cut',
)  # fmt: skip
def client_abort_ignored(route: Component) -> Iterator[Problem]:
    """A client that leaves before its answer begins is not told to the engine: it waits in the queue, is computed, and generates for nobody.

    The same holds for an answer that is not streamed, and for the whole of one that nginx buffers. Caddy before 2.9 does so with
    `flush_interval -1`, which event streams do not need: it flushes them at once by itself.
    """
    product = route['product'].value
    if product not in ('nginx', 'caddy'):
        raise NotApplicable('it has no such switch')
    carries(route)
    ignore = route['ignore_client_abort']
    if not ignore.value:
        return
    if product == 'nginx':
        yield Problem(ignore, 'proxy_ignore_client_abort {value}: the engine goes on for a client that has left', value='on', see=shown_by(route), fix=ignore.set('off'))
    elif route.version is None or not satisfies(route.version, '>=2.6,<2.9'):
        raise NotApplicable('Caddy tells the server that the client left, unless it is older than 2.9')
    else:
        message = 'flush_interval -1 in Caddy {release}: the engine goes on for a client that has left; event streams are flushed at once without it'
        yield Problem(ignore, message, release=str(route.version), see=shown_by(route))
