"""Connection pools of every process and of application configuration files."""

import os.path
from collections.abc import Iterator, Sequence

from configaudit.extract.commands import Invocation, environment_seen
from configaudit.extract.environment import Stores, unseen_imports
from configaudit.extract.process import Process, Reading, Reference, nothing
from configaudit.extract.services.database import product_of
from configaudit.extract.services.grpc import spring_grpc
from configaudit.extract.services.own_scripts import own_invocations
from configaudit.extract.services.pool_drafts import Draft, component_of
from configaudit.extract.services.pool_environment import environment_drafts
from configaudit.extract.services.pool_files import Entry, entries, spring_drafts, tree_drafts
from configaudit.extract.services.spring import application_of, environment_entries, spring_pools, spring_services
from configaudit.extract.services.spring_layers import LAYER, is_for_development, mark, profile_of
from configaudit.extract.services.workers import processes_of
from configaudit.extract.words import Word
from configaudit.model import Component, Peers, Setting
from configaudit.parse.dotenv import read_properties
from configaudit.parse.tree import Map
from configaudit.parse.yaml import SyntaxProblem, parse
from configaudit.places import Document, Place

_WORTH = ('datasource', 'pool', 'maxOpen', 'max_open', 'maxConns', 'ConnectionStrings')


def read(document: Document) -> Reading:
    """A Java properties file."""
    found = [(tuple(entry.key.split('.')), Word(entry.value, Place(document, entry.start, entry.end))) for entry in read_properties(document.text).entries]
    return _application(document, found, spring_drafts(found, 'properties'), '', 'properties')


def read_tree(document: Document, root: Map, partial: str) -> Reading:
    """Application configuration in YAML or JSON."""
    return _application(document, list(entries(document, root)), tree_drafts(document, root), partial, 'argument')


def _application(document: Document, found: list[Entry], drafts: list[Draft], partial: str, writer: str) -> Reading:
    """The pools of an application's own file, and what it says of its server and of gRPC."""
    reading, profile = nothing(), profile_of(document, found)
    if is_for_development(document, profile):
        return reading
    name, file = application_of(found), os.path.basename(document.path)
    why = partial or (LAYER if profile and not file.endswith('.json') else '')
    drafts.extend(spring_pools(found, writer))
    made = [
        *_file_pools(document, drafts, name, why), *spring_services(found, name or file, file, why, writer), *spring_grpc(found, file, name, why),
    ]  # fmt: skip
    reading.components.extend(mark(component, profile) if profile else component for component in made)
    return reading


def _file_pools(document: Document, drafts: list[Draft], name: str, partial: str) -> Iterator[Component]:
    file = os.path.basename(document.path)
    for draft in drafts:
        yield component_of(draft, name or file, f'{file}/{draft.key}', '', partial)


def _properties(document: Document) -> list[Draft]:
    found = [(tuple(entry.key.split('.')), Word(entry.value, Place(document, entry.start, entry.end))) for entry in read_properties(document.text).entries]
    return [*spring_drafts(found, 'properties'), *spring_pools(found, 'properties')]


def read_process(process: Process, invocations: Sequence[Invocation], stores: Stores) -> list[Component]:
    """The pools of a process: from its environment and from the configuration files mounted into it."""
    carrier = process.component
    if product_of(process, invocations):
        return []
    environment = environment_seen(process, invocations, stores)
    drafts = [*environment_drafts(process, invocations, environment), *spring_pools(environment_entries(environment), 'argument')] if environment else []
    mounted = list(_mounted(process, stores))
    if len(drafts) == 1 and len(mounted) == 1 and not drafts[0].settings.keys() & {'max_open'}:
        first, settings = mounted[0], drafts[0].settings
        drafts = [Draft(first.key, first.library or drafts[0].library, {**settings, **first.settings}, first.place)]
    else:
        drafts.extend(mounted)
    drafts = [draft for draft in drafts if not _is_server(carrier, draft)]
    if not drafts:
        return []
    processes = processes_of(process, own_invocations(process, invocations, stores))
    secrets = _secrets(process)
    partial = process.partial or unseen_imports(process, stores)
    pools = []
    for draft in drafts:
        if processes is not None:
            draft.settings['processes'] = processes
        draft.settings['serves'] = Setting('serves', _serves(carrier), carrier.place)
        if secrets:
            draft.settings['secrets'] = Setting('secrets', secrets, carrier.place)
        pool = component_of(draft, carrier.name, f'{carrier.identity}/pool/{draft.key}', carrier.scope, partial)
        pool.peer_map['carrier'] = Peers.of([carrier], True)
        for kind in ('pod', 'workload'):
            if kind in carrier.peer_map:
                pool.peer_map[kind] = carrier.peer_map[kind]
        pools.append(pool)
    return pools


def _is_server(carrier: Component, draft: Draft) -> bool:
    """Whether the address is that of the process itself: a server that shares its clients' ConfigMap opens no pool."""
    host = draft.settings.get('host')
    parts = str(host.known_value if host is not None else '' or '').split('.')
    workloads = carrier.peers('workload')
    own = [workload.name for workload in workloads] if workloads else [carrier.name]
    return parts[0] in own and (len(parts) == 1 or parts[1:] == [carrier.scope] or parts[2:3] == ['svc'])


def _secrets(process: Process) -> tuple[str, ...]:
    """Names of the Secrets that give it values: an operator's tells the database."""
    referenced = (variable.value.name for variable in process.environment if isinstance(variable.value, Reference) and variable.value.kind == 'Secret')
    return tuple(dict.fromkeys((*referenced, *(item.name for item in process.imported if item.kind == 'Secret'))))


def _serves(carrier: Component) -> bool:
    """Whether the process stays: not an init container, not a job, no service of compose after whose end others start."""
    if 'completes' in carrier.kind.settings and carrier['completes'].known_value:
        return False
    if 'init' in carrier.kind.settings and carrier['init'].known_value:
        return False
    workloads = carrier.peers('workload')
    return not any(workload['object_kind'].known_value in ('Job', 'CronJob') for workload in workloads)


def _mounted(process: Process, stores: Stores) -> Iterator[Draft]:
    """Pools in the files that are mounted into the process: keys of ConfigMaps, single files of the run."""
    for key, word in dict.fromkeys(_files(process, stores)):
        if not any(mark in word.value for mark in _WORTH):
            continue
        document = word.place.document
        if document.format != 'string':
            document = Document(document.path, 'string', word.value.encode(), outer=word.place)
        if key.endswith('.properties'):
            yield from _properties(document)
        elif key.endswith(('.yaml', '.yml', '.json')):
            yield from _tree(document, word.value)


def _files(process: Process, stores: Stores) -> Iterator[tuple[str, Word]]:
    for kind, name in dict.fromkeys((mount.kind, mount.name) for mount in process.files.values()):
        data = stores.find(kind, process.component.scope, name) if kind == 'ConfigMap' else None
        yield from (data.values if data is not None else {}).items()
        word = stores.files.at(name) if kind == 'path' and name.endswith(('.properties', '.yaml', '.yml', '.json')) else None
        if word is not None:
            yield name, word


def _tree(document: Document, text: str) -> Iterator[Draft]:
    try:
        roots = parse(text.encode()).roots
    except SyntaxProblem:
        return
    for root in roots:
        if isinstance(root, Map):
            yield from tree_drafts(document, root)
            yield from spring_pools(list(entries(document, root)), 'argument')
