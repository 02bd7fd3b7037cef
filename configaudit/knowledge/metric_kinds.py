"""The kind of everything that asks Prometheus for an engine's metrics: alerts, dashboards, autoscalers, adapters."""

from typing import NamedTuple

from configaudit.knowledge.kinds import declare
from configaudit.model import Kind, SettingSpec
from configaudit.places import Place

PREFIXES = (b'vllm', b'sglang', b'tgi_', b'nv_', b'ollama_')
"""What a document holds that can name an engine's metric; see `knowledge.metrics`."""
RENAMED = '*'
"""Among the names that an object defines: it gives metrics other names by a pattern."""


class MetricUse(NamedTuple):
    """One place that names a metric."""

    name: str
    place: Place
    role: str
    """'alert', 'recording rule', 'dashboard', 'autoscaler', 'adapter' or 'scheduler'."""
    alternatives: frozenset[str] = frozenset()
    """Metrics that serve where this one has no series: the other side of an `or`."""
    beside: frozenset[str] = frozenset()
    """What other queries of the same panel ask for."""
    locked: str = ''
    """Why no fix may write here, or ''."""


class Unread(NamedTuple):
    """A query that could not be read. `broken`: nothing that speaks PromQL reads it."""

    place: Place
    reason: str
    role: str
    broken: bool


METRIC_QUERY = declare(Kind('metric-query', (), {
    'uses': SettingSpec(default=()),
    'unread': SettingSpec(default=()),
    'defines': SettingSpec(default=frozenset()),
    'known_elsewhere': SettingSpec(default=frozenset()),
    'target_name': SettingSpec('text'),
    'stated': SettingSpec(default={}),
}))  # fmt: skip
"""One object's queries. `uses`: MetricUse values; `unread`: Unread values; `defines`: names that its rules
record; `known_elsewhere`: those of the whole run; `target_name`: the workload that an autoscaler scales;
`stated`: engine -> version that the run's option gives, where no such engine is seen."""
