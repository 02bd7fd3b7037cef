"""Grafana dashboards: the queries of panels, variables and annotations. Told by their content, whatever the file is called."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from configaudit.extract.process import Nested, Reading, nothing
from configaudit.extract.services.metrics_query import Queries
from configaudit.extract.words import word_of
from configaudit.model import Component
from configaudit.parse.tree import Map, Scalar, get, mapping, maps, place_of, text
from configaudit.patterns import regex
from configaudit.places import Document

if TYPE_CHECKING:
    from configaudit.extract.carriers.pods import Owner

_LABEL_VALUES = regex(r'\s*label_values\s*\((.*),\s*[\w$.{}\[\]]+\s*\)\s*\Z', re.DOTALL)
_QUERY_RESULT = regex(r'\s*query_result\s*\((.*)\)\s*\Z', re.DOTALL)
_OTHER = regex(r'\s*(?:label_values|label_names|metrics)\s*\(')
_NOT_PROMETHEUS = ('loki', 'elasticsearch', 'tempo', 'jaeger', 'graphite', 'influxdb', 'mysql', 'postgres', 'clickhouse', 'datadog', 'cloudwatch')


def read_resource(owner: 'Owner', root: Map) -> Reading:
    """A GrafanaDashboard of the Grafana operator: the dashboard is JSON in a string."""
    reading = nothing()
    word = word_of(owner.document, get(root, 'spec', 'json'))
    if word is not None:
        reading.nested.append(Nested('dashboard.json', word))
    return reading


def read_dashboard(document: Document, root: Map) -> list[Component]:
    """One dashboard, bare or in the envelope that Grafana's API wants."""
    root = mapping(root, 'dashboard') or root
    queries = Queries(document)
    for panel in _panels(root):
        _panel(queries, document, panel)
    for variable in maps(root, 'templating', 'list'):
        for node in (variable.get('definition'), variable.get('query'), get(variable, 'query', 'query')):
            if isinstance(node, Scalar):
                queries.query(node, 'dashboard', _unwrap)
    for annotation in maps(root, 'annotations', 'list'):
        queries.query(annotation.get('expr'), 'dashboard')
    name = text(root, 'title') or document.path.rpartition('/')[2]
    return queries.component(name, f'dashboard/{name}', place_of(document, root))


def _panels(root: Map) -> Iterator[Map]:
    """Panels, those inside rows, and those inside panels; each once."""
    waiting, seen = [root], set()
    while waiting:
        node = waiting.pop()
        if id(node) not in seen:
            seen.add(id(node))
            yield node
            waiting.extend(reversed([panel for key in ('panels', 'rows') for panel in maps(node, key)]))


def _panel(queries: Queries, document: Document, panel: Map) -> None:
    """A panel's targets, each with what the others ask for."""
    if _is_foreign(panel):
        return
    before = len(queries.uses)
    for target in maps(panel, 'targets'):
        if not _is_foreign(target):
            queries.query(target.get('expr'), 'dashboard')
    names = frozenset(use.name for use in queries.uses[before:])
    queries.uses[before:] = [use._replace(beside=names - {use.name}) for use in queries.uses[before:]]


def _is_foreign(node: Map) -> bool:
    kind = (text(node, 'datasource', 'type') or text(node, 'datasource') or '').lower()
    return any(name in kind for name in _NOT_PROMETHEUS)


def _unwrap(query: str) -> tuple[int, str]:
    """The PromQL in a variable's query: what `label_values` and `query_result` take."""
    match = _LABEL_VALUES.match(query) or _QUERY_RESULT.match(query)
    if match is not None:
        return match.start(1), match[1]
    return (0, '') if _OTHER.match(query) else (0, query)
