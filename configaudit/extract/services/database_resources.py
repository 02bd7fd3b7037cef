"""Database servers and poolers that operators make of custom resources."""

from collections.abc import Iterator, Mapping

from configaudit import units
from configaudit.extract.carriers.pods import Owner
from configaudit.extract.process import Reading, nothing
from configaudit.extract.services.database import file_settings, known_keys, parameter, server_of
from configaudit.extract.services.pgbouncer import Behind, Pooler, pool_of
from configaudit.extract.services.pgbouncer import server_of as pooler_server
from configaudit.extract.words import Word, is_hidden, word_of
from configaudit.knowledge.database_operators import OPERATORS, Operator
from configaudit.knowledge.images import name_and_tag
from configaudit.knowledge.pool_libraries import squash
from configaudit.model import Component, Setting, Slot
from configaudit.parse.tree import Map, Scalar, Seq, get, key_place, mapping, maps, place_of, plain, text
from configaudit.places import Document, Place
from configaudit.units import HOLE

_ELSEWHERE = 'the configuration of the operator says how many connections its pooler opens (60 in all where it says nothing)'


def read_cluster(owner: Owner, root: Map) -> Reading:
    """A server of its own kind, its replicas under the names that lead to them, and the pooler that it asks for."""
    reading = nothing()
    api, operator = text(root, 'apiVersion') or '', OPERATORS[owner.kind]
    if not api.startswith(operator.api):
        return reading
    settings = _settings(owner, root, operator)
    partial = owner.partial or _filled(owner.document, root, *operator.parameters, operator.text)
    if 'max_connections' not in settings and operator.derived:
        partial = partial or operator.derived
    count = _instances(owner.document, root, operator)
    shared = operator.readers if count is None or count.known_value == 1 else ()
    names = tuple(owner.name + ending for ending in (*operator.names, *shared))
    spec = mapping(root, 'spec')
    key = next((path[1] for path in (*operator.parameters, operator.text) if path and get(spec, path[1]) is not None), '')
    place = key_place(owner.document, spec, key) if spec is not None and key else key_place(owner.document, root, 'kind')
    server = server_of(operator.product, owner.name, owner.identity, owner.namespace, place, dict(settings), partial, names)
    server.settings['secrets'] = Setting('secrets', tuple(part.format(owner.name) for part in operator.secrets), place)
    _slot(owner, root, operator, server, partial)
    reading.components.append(server)
    if count is not None and not shared and operator.readers:
        others = tuple(owner.name + ending for ending in operator.readers)
        replicas = server_of(operator.product, f'{owner.name} replicas', f'{owner.identity}/replicas', owner.namespace, place, dict(settings), partial, others)
        replicas.settings['instances'] = count
        reading.components.append(replicas)
    reading.components.extend(_own_pooler(owner, root, partial))
    return reading


def _filled(document: Document, root: Map, *paths: tuple[str, ...]) -> str:
    """Why keys of mappings may be missing: a template writes some of them, or of those on the way to them."""
    for path in ((), *paths):
        node: object = root
        for key in ('', *path):
            node = node.get(key) if key and isinstance(node, Map) else node
            if is_hidden(document, node) or (isinstance(node, Scalar) and HOLE in node.value):
                return 'filled by a template'
            if not isinstance(node, Map):
                break
    return ''


def _settings(owner: Owner, root: Map, operator: Operator) -> dict[str, Setting]:
    document, known = owner.document, known_keys(operator.product)
    settings: dict[str, Setting] = {}
    for path in operator.parameters:
        for key, node in (mapping(root, *path) or {}).items():
            found, word = known.get(squash(key)), word_of(document, node)
            if found is not None and word is not None:
                settings[found[0]] = parameter(found, word)
    held = get(root, *operator.text) if operator.text else None
    if isinstance(held, Scalar):
        word = word_of(document, held)
        if word is not None:
            settings.update(file_settings(Document(document.path, 'string', word.value.encode(), outer=word.place), operator.product))
    return settings


def _slot(owner: Owner, root: Map, operator: Operator, server: Component, partial: str) -> None:
    """Where max_connections is written when nobody wrote it."""
    limit = server.settings.get('max_connections')
    if limit is None or limit.is_set or partial:
        return
    slot = Slot('yaml_edit', Place(owner.document, root.start, root.start), (*operator.parameters[0], 'max_connections')) if operator.parameters else None
    server.settings['max_connections'] = limit._replace(slot=slot, source=operator.source or limit.source)


def _instances(document: Document, root: Map, operator: Operator) -> Setting | None:
    """How many servers there are, where the resource says."""
    node = get(root, *operator.instances) if operator.instances else None
    if isinstance(node, Seq):
        numbers = [units.integer(plain(item.get('replicas'))) if 'replicas' in item else 1 for item in node if isinstance(item, Map)]
        return Setting('instances', sum(number or 1 for number in numbers), place_of(document, node))
    number = units.integer(plain(node)) if isinstance(node, Scalar) else None
    return Setting('instances', number, place_of(document, node)) if number else None


def read_pooler(owner: Owner, root: Map) -> Reading:
    """A `Pooler` of CloudNativePG: PgBouncer in front of a cluster."""
    reading = nothing()
    spec, cluster = mapping(root, 'spec'), text(root, 'spec', 'cluster', 'name')
    if not (text(root, 'apiVersion') or '').startswith('postgresql.cnpg.io/') or spec is None or not cluster:
        return reading
    bouncer = mapping(spec, 'pgbouncer')
    given = dict(_words(owner.document, mapping(bouncer, 'parameters')))
    mode = word_of(owner.document, get(bouncer, 'poolMode'))
    if mode is not None:
        given['pool_mode'] = mode
    image = next((text(item, 'image') or '' for item in maps(spec, 'template', 'spec', 'containers') if text(item, 'name') == 'pgbouncer'), '')
    place = key_place(owner.document, spec, 'pgbouncer') if bouncer is not None else key_place(owner.document, root, 'kind')
    partial = owner.partial or _filled(owner.document, root, ('spec', 'pgbouncer', 'parameters'))
    pooler = Pooler(
        owner.name, owner.identity, owner.namespace, place, given, (owner.name,), partial, name_and_tag(image)[1], 'yaml_edit',
        _count(owner.document, spec, 'instances', 1, place),
    )  # fmt: skip
    behind = Behind('*', f'{cluster}-{text(spec, "type") or "rw"}', place)
    reading.components.extend((pooler_server(pooler), _with_surge(pool_of(pooler, behind), spec)))
    return reading


def _with_surge(pool: Component, spec: Map) -> Component:
    """The pooler's Deployment rolls like any other unless told otherwise."""
    strategy = mapping(spec, 'deploymentStrategy')
    surge = plain(get(strategy, 'rollingUpdate', 'maxSurge')) or '25%'
    pool.settings['surge'] = Setting('surge', 0 if text(strategy, 'type') == 'Recreate' else surge, pool.place)
    return pool


def _words(document: Document, node: Map | None) -> Iterator[tuple[str, Word]]:
    for key, value in (node or {}).items():
        word = word_of(document, value)
        if word is not None:
            yield key.lower(), word


def _count(document: Document, node: Map, key: str, default: int, place: Place) -> Setting:
    if key not in node:
        return Setting('instances', default, place, 'default')
    number = units.integer(plain(node[key]))
    return Setting('instances', number, place_of(document, node[key]), reason='' if number is not None else 'filled by a template')


def _own_pooler(owner: Owner, root: Map, partial: str) -> Iterator[Component]:
    """The PgBouncer that a PostgresCluster, PerconaPGCluster or postgresql resource asks for."""
    spec = mapping(root, 'spec')
    bouncer = mapping(spec, 'proxy', 'pgBouncer')
    if bouncer is not None and owner.kind != 'postgresql':
        given = dict(_words(owner.document, mapping(bouncer, 'config', 'global')))
        place = key_place(owner.document, mapping(spec, 'proxy') or bouncer, 'pgBouncer')
        partial = partial or _filled(owner.document, root, ('spec', 'proxy', 'pgBouncer', 'config', 'global'))
        yield from _beside(owner, given, place, '-pgbouncer', f'{owner.name}-primary', partial, _count(owner.document, bouncer, 'replicas', 1, place))
    asked = mapping(spec, 'connectionPooler')
    if owner.kind == 'postgresql' and spec is not None and (asked is not None or text(spec, 'enableConnectionPooler') == 'true'):
        place = key_place(owner.document, spec, 'connectionPooler' if asked is not None else 'enableConnectionPooler')
        instances = _count(owner.document, asked, 'numberOfInstances', 2, place) if asked is not None else Setting('instances', 2, place, 'default')
        yield from _zalando(owner, asked, place, partial, instances)


def _beside(
    owner: Owner, given: Mapping[str, Word], place: Place, ending: str, host: str, partial: str, instances: Setting
) -> Iterator[Component]:
    pooler = Pooler(owner.name + ending, f'{owner.identity}{ending}', owner.namespace, place, given, (owner.name + ending,), partial, '', 'yaml_edit', instances)
    yield pooler_server(pooler)
    yield pool_of(pooler, Behind('*', host, place))


def _zalando(owner: Owner, asked: Map | None, place: Place, partial: str, instances: Setting) -> Iterator[Component]:
    """`maxDBConnections` is shared out among the pooler's pods; its max_client_conn is 10000."""
    mode = word_of(owner.document, get(asked, 'mode'))
    most = word_of(owner.document, get(asked, 'maxDBConnections'))
    server, pool = _beside(owner, {'pool_mode': mode} if mode is not None else {}, place, '-pooler', owner.name, partial, instances)
    server.settings['max_connections'] = Setting('max_connections', 10000, place, 'default', source='Zalando postgres-operator')
    if mode is None:
        server.settings['pool_mode'] = Setting('pool_mode', 'transaction', place, 'default', 'the configuration of the operator may name another mode')
    count, limit = instances.known_value, units.integer(most.value) if most is not None and most.known else None
    known = isinstance(count, int) and count > 0 and limit is not None
    each = limit // count if known and isinstance(count, int) and limit is not None else None
    size = Setting('max_open', each, most.place if most is not None else place, 'explicit' if most is not None else 'inherited', '' if known else _ELSEWHERE)
    pool.settings.update(max_open=size, users=Setting('users', 1, place))
    yield from (server, pool)
