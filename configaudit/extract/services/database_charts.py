"""Database servers that well-known charts install: Flux HelmRelease, Argo CD Application, HelmChart of k3s.

Sources: values of bitnami/postgresql, bitnami/mysql, bitnami/mariadb (`common.names.fullname` makes the Service's name) and of
cloudnative-pg/cluster (its Cluster is called `<release>-cluster`).
"""

from typing import NamedTuple

from configaudit.extract.carriers.pods import Owner
from configaudit.extract.services.database import file_settings, known_keys, parameter, server_of
from configaudit.extract.words import word_of
from configaudit.knowledge.pool_libraries import squash
from configaudit.model import Component, Setting
from configaudit.parse.tree import Map, Scalar, get, key_place, mapping, text
from configaudit.places import Document

Path = tuple[str, ...]


class Chart(NamedTuple):
    """Where a chart's values hold the parameters of its server."""

    product: str
    files: tuple[Path, ...] = ()
    """A my.cnf or postgresql.conf as text, the later one wins."""
    limits: tuple[Path, ...] = ()
    """max_connections by itself."""
    parameters: Path = ()
    """A mapping of parameters."""
    names: tuple[str, ...] = ('',)
    """Endings of the Services that lead to the primary."""


CHARTS = {
    'postgresql': Chart('postgres', (('primary', 'configuration'), ('primary', 'extendedConfiguration')), (('postgresqlMaxConnections',),), names=('', '-primary')),
    'mysql': Chart('mysql', (('primary', 'configuration'),), names=('', '-primary')),
    'mariadb': Chart('mysql', (('primary', 'configuration'),), names=('', '-primary')),
    'cluster': Chart('postgres', parameters=('cluster', 'postgresql', 'parameters'), names=('-rw',)),
}
_CHART: dict[str, tuple[Path, ...]] = {'HelmRelease': (('spec', 'chart', 'spec', 'chart'),), 'Application': (('spec', 'source', 'chart'),), 'HelmChart': (('spec', 'chart'),)}
_VALUES = {'HelmRelease': ('spec', 'values'), 'Application': ('spec', 'source', 'helm', 'valuesObject'), 'HelmChart': ('spec', 'valuesContent')}
_RELEASE = {'HelmRelease': ('spec', 'releaseName'), 'Application': ('spec', 'source', 'helm', 'releaseName')}


def chart_server(owner: Owner, root: Map) -> Component | None:
    """The server that a release of a known chart installs; None for other charts, and where its values are text or in other objects."""
    name = next((found.rpartition('/')[2] for path in _CHART.get(owner.kind, ()) if (found := text(root, *path))), '')
    chart = CHARTS.get(name)
    values = mapping(root, *_VALUES[owner.kind]) if chart is not None else None
    if chart is None or values is None or get(root, 'spec', 'valuesFrom') is not None:
        return None
    settings = _settings(owner.document, values, chart)
    place = key_place(owner.document, root, 'spec')
    release = text(root, *_RELEASE.get(owner.kind, ('metadata', 'name'))) or owner.name
    full = _full_name(release, name, values)
    scope = text(root, 'spec', 'targetNamespace') or text(root, 'spec', 'destination', 'namespace') or owner.namespace
    return server_of(chart.product, full, owner.identity, scope, place, settings, owner.partial, (full + ending for ending in chart.names))


def _settings(document: Document, values: Map, chart: Chart) -> dict[str, Setting]:
    known = known_keys(chart.product)
    settings: dict[str, Setting] = {}
    for path in chart.files:
        held = get(values, *path)
        word = word_of(document, held) if isinstance(held, Scalar) else None
        if word is not None:
            settings.update(file_settings(Document(document.path, 'string', word.value.encode(), outer=word.place), chart.product))
    for path in chart.limits:
        word = word_of(document, get(values, *path))
        if word is not None:
            settings['max_connections'] = parameter(known['maxconnections'], word)
    for key, node in (mapping(values, *chart.parameters) or {}).items() if chart.parameters else ():
        word, found = word_of(document, node), known.get(squash(key))
        if word is not None and found is not None:
            settings[found[0]] = parameter(found, word)
    return settings


def _full_name(release: str, chart: str, values: Map) -> str:
    """What its Service is called: the release's name, with the chart's unless that is in it already."""
    given = text(values, 'fullnameOverride')
    own = text(values, 'nameOverride') or chart
    return given or (release if own in release else f'{release}-{own}')
