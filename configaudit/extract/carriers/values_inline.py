"""Chart values inside objects that install a chart: Flux HelmRelease, Argo CD Application, HelmChart of k3s and RKE2.

Source: Flux helm API v2, spec.values; Argo CD, spec.source.helm.values and valuesObject; k3s documentation, helm: valuesContent.
"""

from collections.abc import Iterator
from typing import Any

from configaudit.extract.carriers.pods import Owner
from configaudit.extract.carriers.values import is_values, read_tree
from configaudit.extract.process import Nested, Reading, nothing
from configaudit.extract.words import word_of
from configaudit.parse.tree import Map, Scalar, get, mapping, maps, text

_PATHS = {
    'HelmRelease': (('values',),),
    'HelmChart': (('valuesContent',),),
    'HelmChartConfig': (('valuesContent',),),
    'Application': (('source', 'helm', 'valuesObject'), ('source', 'helm', 'values')),
}
_GROUPS = {'Application': 'argoproj.io/'}

_DATABASES = (b'postgresql', b'mysql', b'mariadb')
"""Words of every release that may install a database server."""


def read_values(owner: Owner, root: Map) -> Reading:
    """The values that an object gives to its chart: a mapping where it stands, a string as a file of its own."""
    reading = nothing()
    if not (text(root, 'apiVersion') or '').startswith(_GROUPS.get(owner.kind, '')):
        return reading
    if any(word in owner.document.parsed for word in _DATABASES):
        from configaudit.extract.services.database_charts import chart_server

        server = chart_server(owner, root)
        reading.components.extend([server] if server is not None else [])
    for node in _values(owner.kind, mapping(root, 'spec')):
        if isinstance(node, Map) and is_values(owner.document, node):
            reading.add(read_tree(owner.document, node, owner.partial))
        elif isinstance(node, Scalar) and (word := word_of(owner.document, node)) is not None and '\n' in word.value:
            reading.nested.append(Nested('values.yaml', word))
    return reading


def _values(kind: str, spec: Map | None) -> Iterator[Any]:
    for path in _PATHS[kind]:
        yield get(spec, *path)
        if path[0] == 'source':
            yield from (get(source, *path[1:]) for source in maps(spec, 'sources'))
