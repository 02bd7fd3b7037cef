"""Rules for proxies that send a request again: generation is not idempotent, and every try costs the GPU its whole work."""

import math
from collections.abc import Iterator

from configaudit.knowledge.versions import satisfies
from configaudit.model import Component, NotApplicable, Problem, rule
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


@rule('retries-exceed-timeout', on='proxy-route', severity='advice', source='Envoy v3 API, RouteAction.timeout: it includes all retries; Istio VirtualService, HTTPRetry.perTryTimeout')
def retries_exceed_timeout(route: Component) -> Iterator[Problem]:
    """The time limit of the whole request ends before the tries that are configured can take place."""
    attempts, each, total = route['attempts'], route['per_try_timeout_s'], route['total_timeout_s']
    if not attempts.is_set or not each.is_set or total.value == math.inf:
        raise NotApplicable('no limits on both the tries and the whole')
    tries = attempts.value + 1
    if each.value not in (0, math.inf) and each.value * tries > total.value:
        message = '{tries} tries of up to {each} s need {need} s, the whole request may take {total} s: the last ones never finish'
        yield Problem(each, message, tries=tries, each=each.value, need=tries * each.value, total=total.value, see=[('the whole', total if total.is_set else route.place)])


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
