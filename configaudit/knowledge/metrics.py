"""Prometheus metrics of inference engines by name: which engine one is of, and whether a release exports it.

vLLM and SGLang come from the catalogue's history; what replaced a metric, and the lists of other engines, are kept by hand in
engines/metric_names.json, with their sources. What no list has may still be exported: by a
plugin, a router in front, a recording rule. So an unknown name is reported only where a known one is spelt almost alike.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import cache, lru_cache
from typing import Any, NamedTuple

from configaudit.knowledge.flags import Catalogue, catalogue
from configaudit.knowledge.history import Position, Range, judge
from configaudit.knowledge.shipped import HISTORIES, load
from configaudit.knowledge.versions import Version
from configaudit.knowledge.vllm_generation import V0_GONE

PREFIXES = {'vllm:': 'vllm', 'sglang:': 'sglang', 'tgi_': 'tgi', 'nv_': 'triton', 'ollama_': 'ollama'}
UNDERSCORED = {'vllm_': 'vllm:', 'sglang_': 'sglang:'}
"""Spellings behind Ray, a relabelling or a recording rule, which take no colon: no engine exports them itself."""
_SERIES: dict[str, tuple[str, ...]] = {
    'counter': ('_total', '_created'), 'gauge': ('',), 'summary': ('', '_sum', '_count', '_created'),
    'histogram': ('_bucket', '_sum', '_count', '_created'), 'info': ('', '_info'),
}  # fmt: skip
"""What follows a metric's name in the text format (prometheus.io/docs/instrumenting/exposition_formats)."""
_SUFFIXES = ('', '_total', '_bucket', '_sum', '_count', '_created')
_LONGEST = 120
"""No metric's name is near as long: 54 characters is the longest of those known."""
_NEAR = 0.85
"""Of difflib's ratio: 'num_request_waiting' has 0.97 to the right name, 'num_requests_success' 0.86, 'output_tokens' 0.69 to 'prompt_tokens'."""


class Answer(NamedTuple):
    """`state`: known, removed, hidden, too-new, series (another series of the metric exists), unknown (a known name is
    near), underscored, or open (nothing can be said)."""

    state: str
    use: str = ''
    """The name to ask for instead, where there is one."""
    hint: str = ''
    """What to do instead, where it is not one name."""
    between: tuple[str, str] = ('', '')
    """The last release with it and the first without; for too-new the other way round."""
    exact: bool = True
    """Every release in question was examined, and nothing else is known to export the name."""
    metric: str = ''
    """The metric that the series belongs to: the name without _bucket, _total and the like."""


Span = tuple[str, str, str]
"""Engine generation ('' where there is one), first and last release."""


class _Metric(NamedTuple):
    name: str
    type: str
    spans: tuple[Span, ...]
    """Where it exists; empty where no history is kept."""
    hidden: tuple[Span, ...]
    """Where it exists and is not exported unless a flag asks for it."""
    replaced: Mapping[str, str]
    """`use` or `hint`: what to ask for instead; `routed`: the router of the vLLM production stack exports the name too
    (src/vllm_router/services/metrics_service)."""


def engine_of(name: str) -> str:
    """The engine whose prefix a name has, or ''."""
    return next((engine for prefix, engine in PREFIXES.items() if name.startswith(prefix)), '')


@lru_cache(maxsize=4096)
def ask(name: str, version: Version | None) -> Answer:
    """Whether a release exports the series of this name; with no version, what all releases agree on."""
    prefix = next((prefix for prefix in UNDERSCORED if name.startswith(prefix)), '')
    if prefix:
        meant = UNDERSCORED[prefix] + name.removeprefix(prefix)
        return Answer('underscored', meant) if _split(meant)[0] is not None else _unknown(meant, version)
    metric, suffix = _split(name)
    if metric is None:
        return _unknown(name, version)
    answer = _judged(metric, suffix, version)
    if answer.state == 'known' and not _has(engine_of(name), metric.type, suffix):
        return Answer('series', _proper(metric), _series_hint(metric), metric=name)
    return answer._replace(metric=metric.name)


def _judged(metric: _Metric, suffix: str, version: Version | None) -> Answer:
    engine = engine_of(metric.name)
    use = metric.replaced.get('use', '')
    legal = _has(engine, metric.type, suffix)
    use = use + suffix if use and legal else use
    hint = metric.replaced.get('hint', '')
    if not metric.spans:
        return Answer('removed', use, hint, exact=False) if metric.replaced else Answer('known')
    known = catalogue(engine)
    place = known.position(version or known.newest)
    status = judge([span for _, span in _ranges(known, metric.spans)], place, known.names, {})
    since = _hidden_since(known, metric, place) if status.state == 'known' and version is not None else ''
    if since:
        return Answer('hidden', use, hint, ('', since), not metric.replaced.get('routed'))
    if status.state not in ('removed', 'too-new'):
        return Answer('known' if status.state == 'known' else 'open')
    exact = status.exact and version is not None and not metric.replaced.get('routed')
    if status.state == 'too-new':
        earlier = _earlier(metric, version)
        use = earlier + suffix if earlier and legal else earlier
    return Answer(status.state, use, hint, status.between or ('', ''), exact)


def _ranges(known: Catalogue, spans: Iterable[Span]) -> list[tuple[str, Range]]:
    return [(generation, Range(known.names.index(first), known.names.index(last), {})) for generation, first, last in spans]


def _hidden_since(known: Catalogue, metric: _Metric, place: Position) -> str:
    """The first release that hides a metric in every generation that this one has it in, or ''."""
    hidden = {generation: span for generation, span in _ranges(known, metric.hidden) if span.has(place.read_as)}
    alive = {generation for generation, span in _ranges(known, metric.spans) if span.has(place.read_as)}
    if known.versions[place.read_as] >= V0_GONE:  # the module with V0's metrics stayed for one release longer
        alive.discard('V0')
    return known.names[min(span.first for span in hidden.values())] if hidden and alive <= set(hidden) else ''


def _earlier(metric: _Metric, version: Version | None) -> str:
    """What a metric was called in a release that does not have it yet, or ''."""
    before = (other for other in _metrics(engine_of(metric.name)).values() if other.replaced.get('use') == metric.name)
    return next((other.name for other in before if _judged(other, '', version).state == 'known'), '')


def _has(engine: str, kind: str, suffix: str) -> bool:
    """Whether a metric of this type has a series with this suffix."""
    if not kind:
        return True
    return suffix == '' if kind == 'counter' and _table(engine).get('bare') else suffix in _SERIES[kind]


def _proper(metric: _Metric) -> str:
    """The one series that must be meant, or ''."""
    bare = metric.type == 'gauge' or _table(engine_of(metric.name)).get('bare')
    return {'counter': metric.name + ('' if bare else '_total'), 'gauge': metric.name}.get(metric.type, '')


def _series_hint(metric: _Metric) -> str:
    return 'it is a histogram: ask for its _bucket, _sum or _count' if metric.type == 'histogram' else ''


def _unknown(name: str, version: Version | None) -> Answer:
    """An answer for what no release has: known by experience never to have existed, or a slip of one that exists."""
    engine = engine_of(name)
    prefix = next((prefix for prefix, owner in PREFIXES.items() if owner == engine), '')
    table, metrics = _table(engine), _metrics(engine)
    bare = name.removeprefix(prefix)
    for stem in (bare, *(bare.removesuffix(suffix) for suffix in _SUFFIXES[1:])):
        if stem in table.get('never', {}):
            return Answer('unknown', hint=table['never'][stem])
        if stem in table.get('others', ()):
            return Answer('known')
    if not metrics or ':' in bare or len(name) > _LONGEST:  # level:metric:operations is what recording rules are called
        return Answer('open')
    near = _nearest(bare, prefix, engine)
    if near is None:
        return Answer('open')
    answer = _judged(*near, version)
    return Answer('unknown', near[0].name + near[1] if answer.state == 'known' else answer.use, answer.hint)


def _nearest(bare: str, prefix: str, engine: str) -> tuple[_Metric, str] | None:
    """The metric whose name is spelt almost like this one, compared without what all names share, and the suffix."""
    from difflib import get_close_matches

    for suffix in (*_SUFFIXES[1:], ''):
        if bare.endswith(suffix):
            names = {name.removeprefix(prefix): metric for name, metric in _metrics(engine).items() if metric.type and _has(engine, metric.type, suffix)}
            near = get_close_matches(bare.removesuffix(suffix), sorted(names), n=1, cutoff=_NEAR)
            if near:
                return names[near[0]], suffix
    return None


def _split(name: str) -> tuple[_Metric | None, str]:
    """The metric that a series belongs to, and what follows its name; a reading that fits the type comes first."""
    metrics = _metrics(engine_of(name))
    found = [(metrics[stem], suffix) for suffix in _SUFFIXES if name.endswith(suffix) and (stem := name.removesuffix(suffix)) in metrics]
    fitting = [(metric, suffix) for metric, suffix in found if _has(engine_of(name), metric.type, suffix)]
    return next(iter(fitting or found), (None, ''))


@cache
def _table(engine: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = load('metric_names').get(engine, {})
    return found


@cache
def _metrics(engine: str) -> Mapping[str, _Metric]:
    """Every metric of an engine by its name without what the text format adds."""
    found: dict[str, _Metric] = {}
    for metric in _listed(engine):
        same = found.get(metric.name)
        found[metric.name] = metric._replace(spans=(*same.spans, *metric.spans), hidden=(*same.hidden, *metric.hidden)) if same else metric
    return found


def _listed(engine: str) -> Iterator[_Metric]:
    prefix = next((prefix for prefix, owner in PREFIXES.items() if owner == engine), '')
    table = _table(engine)
    replaced: dict[str, Mapping[str, str]] = {
        prefix + stem: {key: prefix + value if key == 'use' else value for key, value in entry.items()}
        for stem, entry in table.get('replaced', {}).items()
    }
    if engine not in HISTORIES:
        types = {prefix + stem: kind for kind in _SERIES for stem in table.get(kind, ())}
        yield from (_Metric(name, types.get(name, ''), (), (), replaced.get(name, {})) for name in {**types, **replaced})
        return
    known = catalogue(engine)
    for full in known.metrics:
        kind = known.metric_kinds.get(full, '')
        name = full.removesuffix('_total') if kind == 'counter' else full
        hidden = tuple((generation, first, last) for generation, ends in known.hidden_metrics.get(full, {}).items() for first, last in ends)
        yield _Metric(name, kind, known.metric_history(full), hidden, replaced.get(name, {}))
