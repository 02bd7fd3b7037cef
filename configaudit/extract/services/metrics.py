"""Who asks for metrics by name: Prometheus rules, autoscalers, the Prometheus adapter, inference schedulers."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from configaudit.extract.commands import Invocation
from configaudit.extract.environment import Stores
from configaudit.extract.process import Process, Reading
from configaudit.extract.services.metrics_query import Queries
from configaudit.extract.words import Word, word_of
from configaudit.knowledge.metric_kinds import RENAMED
from configaudit.model import Component
from configaudit.parse.tree import Map, Node, Seq, get, items, key_place, mapping, maps, place_of, text
from configaudit.patterns import regex
from configaudit.places import Document

if TYPE_CHECKING:
    from configaudit.extract.carriers.pods import Owner

_MANAGED = regex(r'prometheus\.googleapis\.com\|([\w:]+)\|\w+$')
"""How Google's adapter names a metric of its managed Prometheus: with its type behind it."""
_FLAG = regex(r'--?(?:[\w-]+-metric|\w+Metric)\Z')
"""Of the endpoint picker: --total-queued-requests-metric, --kv-cache-usage-percentage-metric, --totalQueuedRequestsMetric ..."""
_SETTING = regex(r'(?:-*[\w-]+-metric|\w+Metric|(?:queuedRequests|runningRequests|kvUsage|lora|cacheInfo)Spec)\Z')
"""Of the same in a chart's values, where a flag is a key, and of `engineConfigs` in its configuration file."""


def read_rules(owner: 'Owner', root: Map) -> Reading:
    """A PrometheusRule or its like, a PersesDashboard, the configuration of an endpoint picker, a monitor that renames metrics."""
    queries = Queries(owner.document)
    _search(queries, owner.document, root)
    return _reading(queries, owner, root)


def read_autoscaler(owner: 'Owner', root: Map) -> Reading:
    """The metrics of a HorizontalPodAutoscaler, a KEDA ScaledObject or ScaledJob, an AIBrix PodAutoscaler, a kthena AutoscalingPolicy."""
    queries = Queries(owner.document)
    for trigger in maps(root, 'spec', 'triggers'):
        _ask(queries, owner.document, trigger)
    for metric in maps(root, 'spec', 'metrics'):
        for source in (metric, *(value for value in metric.values() if isinstance(value, Map))):
            for node in (get(source, 'metric', 'name'), source.get('metricName')):
                _named(queries, word_of(owner.document, node))
    for metric in maps(root, 'spec', 'metricsSources'):
        _named(queries, word_of(owner.document, metric.get('targetMetric')))
    return _reading(queries, owner, root, text(root, 'spec', 'scaleTargetRef', 'name'))


def _named(queries: Queries, word: Word | None) -> None:
    """A metric's name in an autoscaler. With underscores for colons it is one that an adapter gives."""
    if word is not None:
        managed = _MANAGED.match(word.value) if '|' in word.value else None
        name = managed[1] if managed else word.value
        if not name.startswith(('vllm_', 'sglang_')):
            queries.name(word, name, 'autoscaler')


def read_tree(document: Document, root: Map) -> list[Component]:
    """Whatever asks in a tree that is no Kubernetes object: a dashboard, rules in files, an adapter's or a chart's values."""
    if any(isinstance(root.get(key), Seq) for key in ('panels', 'rows')) or mapping(root, 'dashboard', 'templating') is not None:
        from configaudit.extract.services.metrics_grafana import read_dashboard

        return read_dashboard(document, root)
    queries = Queries(document)
    _search(queries, document, root)
    name = document.path.rpartition('/')[2]
    return queries.component(name, name, place_of(document, root))


def _search(queries: Queries, document: Document, root: Map) -> None:
    """All that asks below a node, each node once however many aliases lead to it."""
    waiting: list[Node] = [root]
    seen: set[int] = set()
    while waiting:
        node = waiting.pop()
        if id(node) in seen or not isinstance(node, (Map, Seq)):
            continue
        seen.add(id(node))
        if isinstance(node, Map):
            _ask(queries, document, node)
        waiting.extend(reversed(list(node.values() if isinstance(node, Map) else node)))


def _ask(queries: Queries, document: Document, node: Map) -> None:
    """One alert or recording rule (also of those that Grafana is provisioned with), adapter rule, KEDA trigger, query of Perses, or
    an endpoint picker's settings."""
    kind = text(node, 'kind') or ''
    if 'expr' in node and ('alert' in node or 'record' in node):
        queries.record(text(node, 'record'))
        queries.query(node['expr'], 'recording rule' if 'record' in node else 'alert')
    elif 'refId' in node and mapping(node, 'model') is not None:
        queries.query(get(node, 'model', 'expr'), 'alert')
    elif 'seriesQuery' in node:
        queries.query(node['seriesQuery'], 'adapter')
        queries.query(node.get('metricsQuery'), 'adapter')
    elif text(node, 'type') == 'prometheus':
        queries.query(get(node, 'metadata', 'query'), 'autoscaler')
    elif kind == 'PrometheusTimeSeriesQuery':
        queries.query(get(node, 'spec', 'query'), 'dashboard')
    elif kind in ('PrometheusLabelValuesVariable', 'PrometheusLabelNamesVariable'):
        for matcher in items(node, 'spec', 'matchers'):
            queries.query(matcher, 'dashboard')
    for relabeling in (*maps(node, 'metricRelabelings'), *maps(node, 'metric_relabel_configs')):
        if (text(relabeling, 'targetLabel') or text(relabeling, 'target_label')) == '__name__':
            queries.record(RENAMED)
    for key, value in node.items():
        if _SETTING.match(key) and (word := word_of(document, value)) is not None:
            queries.name(word, word.value.partition('{')[0], 'scheduler')


def _reading(queries: Queries, owner: 'Owner', root: Map, target: str | None = None) -> Reading:
    place = key_place(owner.document, root, 'spec' if 'spec' in root else 'kind')
    return Reading(queries.component(owner.name, owner.identity, place, scope=owner.namespace, target=target), [], [], [])


def read_process(process: Process, invocations: Sequence[Invocation], stores: Stores) -> list[Component]:
    """The metrics that an endpoint picker of the Gateway API inference extension is told to read."""
    queries = Queries(process.component.place.document)
    words = (*(process.entrypoint or ()), *(process.arguments or ()))
    for number, word in enumerate(words):
        flag, joined, value = word.value.partition('=')
        if not _FLAG.match(flag):
            continue
        holder = word if joined else words[number + 1] if number + 1 < len(words) else None
        if holder is not None and holder.known:
            queries.name(holder, (value if joined else holder.value).strip('"\'').partition('{')[0], 'scheduler')
    carrier = process.component
    return queries.component(carrier.name, carrier.identity, carrier.place, scope=carrier.scope)


