"""Go programs in containers: GOMAXPROCS, GOMEMLIMIT and GOGC against the limits, and the Go version of a go.mod beside them."""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from configaudit.extract.commands import Invocation, environment_seen
from configaudit.extract.environment import Stores
from configaudit.extract.process import Data, Process, Reading, Reference, nothing
from configaudit.extract.services.heap import heaps, memory_limit
from configaudit.extract.services.values import setting_of
from configaudit.extract.words import Word
from configaudit.knowledge.service_kinds import GO_RUNTIME
from configaudit.model import Component, Peers, Setting, Slot
from configaudit.parse.gomod import read as read_gomod
from configaudit.patterns import regex
from configaudit.places import Document, Place

_NAMES = ('GOMAXPROCS', 'GOMEMLIMIT', 'GOGC')
_GO_MEMORY = regex(r'(\d+)(B|KiB|MiB|GiB|TiB)$')
_SCALE = {'B': 1, 'KiB': 2**10, 'MiB': 2**20, 'GiB': 2**30, 'TiB': 2**40}
_AUTOMAXPROCS = 'go.uber.org/automaxprocs'
_INDIRECT = 'automaxprocs is an indirect dependency: a package that the program imports may run it, or only its tests'


def read(document: Document) -> Reading:
    """A go.mod: named text for the processes that are built from it."""
    reading = nothing()
    values: dict[str, Word] = {}
    for entry in read_gomod(document.text).entries:
        word = Word(entry.value, Place(document, entry.start, entry.end))
        if entry.section in ('', 'godebug'):
            values[f'{entry.section}{entry.key}'] = word
        elif entry.section == 'require' and entry.key == _AUTOMAXPROCS:
            rest = document.text[entry.end :].partition('\n')[0]
            values['automaxprocs'] = word if 'indirect' not in rest else word._replace(reason=_INDIRECT)
    reading.data.append(Data('go.mod', '', document.path, values))
    return reading


class _Module(NamedTuple):
    """The go.mod that a process is built from, and how sure that is."""

    values: Mapping[str, Word]
    evidence: str
    """'name': the module is called like the image or workload; 'folder': it stands beside the manifest."""


def read_process(process: Process, invocations: Sequence[Invocation], stores: Stores) -> list[Component]:
    """The Go runtime of a process, and managed heaps of others."""
    found = heaps(process, invocations, stores)
    environment = environment_seen(process, invocations, stores)
    module = _module(process, stores)
    if module is None and not any(name in environment for name in _NAMES):
        return found
    carrier = process.component
    settings: dict[str, Setting] = {}
    if 'cpu_limit' in carrier.kind.settings:
        settings['cpu_limit'] = carrier['cpu_limit']
    if 'memory_limit' in carrier.kind.settings:
        settings['memory_limit'] = memory_limit(carrier)
    _environment(process, environment, settings)
    if module is not None:
        _from_module(module, settings)
    partial = process.partial or next((item.unseen_variables for item in invocations), '')
    if 'gomaxprocs' not in settings and carrier.kind.name == 'container' and carrier.slots is not None:
        slot = carrier.slots._replace(path=('env',))
        settings['gomaxprocs'] = Setting('gomaxprocs', None, carrier.place, 'default', partial, slot=slot)
    runtime = Component(
        GO_RUNTIME, carrier.name, f'{carrier.identity}/go', carrier.place, settings, partial=partial, scope=carrier.scope
    )
    runtime.peer_map['carrier'] = Peers.of([carrier], True)
    return [*found, runtime]


def _environment(process: Process, environment: Mapping[str, Word], settings: dict[str, Setting]) -> None:
    for name, setting, unit in (('GOMAXPROCS', 'gomaxprocs', 'count'), ('GOGC', 'gogc', 'text'), ('GOMEMLIMIT', 'gomemlimit_text', 'text')):
        if name in environment:
            settings[setting] = setting_of(setting, environment[name], unit)
    text = settings.get('gomemlimit_text')
    if text is not None:
        found = _GO_MEMORY.match(str(text.known_value).strip()) if text.is_known else None
        value = int(found[1]) * _SCALE[found[2]] if found else None
        reason = text.reason or ('' if found else 'it has no unit')
        settings['gomemlimit'] = text._replace(name='gomemlimit', known_value=value, reason=reason)
    for variable in process.environment:
        if isinstance(variable.value, Reference) and variable.value.kind == 'resource':
            _resource(variable.name, variable.value, settings)


def _resource(name: str, reference: Reference, settings: dict[str, Setting]) -> None:
    """A variable filled from the container's own limits: the kubelet rounds up, and gives the node's capacity where no limit is set."""
    if name == 'GOMAXPROCS' and reference.name == 'limits.cpu':
        limit = settings.get('cpu_limit')
        known = limit is not None and limit.is_set and limit.is_known and isinstance(limit.known_value, (int, float))
        value = -(-limit.known_value // 1) if known else None  # type: ignore[operator,union-attr]
        reason = '' if known else 'it is filled from limits.cpu'
        settings['gomaxprocs'] = Setting('gomaxprocs', value, reference.place, 'inherited', reason)
        settings['gomaxprocs_from'] = Setting('gomaxprocs_from', reference.name, reference.place)
    if name == 'GOMEMLIMIT' and reference.name == 'limits.memory':
        limit = settings.get('memory_limit')
        if limit is not None and limit.is_set and limit.is_known:
            settings['gomemlimit'] = Setting('gomemlimit', limit.known_value, reference.place, 'inherited')
        settings.pop('gomemlimit_text', None)


def _from_module(module: _Module, settings: dict[str, Setting]) -> None:
    values = module.values
    go = values.get('go')
    if go is not None:
        settings['go_version'] = setting_of('go_version', go, 'text')._replace(slot=Slot('gomod', go.place) if go.pure else None)
    version = version_of(go.value) if go is not None else None
    default = values.get('godebugdefault')
    explicit = values.get('godebugcontainermaxprocs')
    named = version_of(default.value.removeprefix('go')) if default is not None else version
    follows = explicit.value == '1' if explicit is not None else named is not None and named >= (1, 25)
    place = (explicit or default or go or next(iter(values.values()))).place
    imported = values.get('source:automaxprocs')
    automatic = imported or values.get('automaxprocs')
    reason = automatic.reason if automatic is not None and not follows else ''
    settings['follows_quota'] = Setting('follows_quota', follows or automatic is not None, place, reason=reason)
    if imported is not None:
        settings['automatic'] = Setting('automatic', True, imported.place)
        settings['follows_by_itself'] = Setting('follows_by_itself', follows, place)
    settings['evidence'] = Setting('evidence', module.evidence, place)
    _from_source(values, settings)


def _from_source(values: Mapping[str, Word], settings: dict[str, Setting]) -> None:
    """What the program itself calls: it holds over the environment."""
    procs, memory, automatic = (values.get(f'source:{name}') for name in ('gomaxprocs', 'gomemlimit', 'automemlimit'))
    if procs is not None and procs.value == 'runtime.NumCPU':
        settings['gomaxprocs_from'] = Setting('gomaxprocs_from', procs.value, procs.place, locked=procs.locked)
    if procs is not None:
        number = int(procs.value) if procs.value.isdigit() and not procs.reason else None
        reason = procs.reason or ('' if number is not None else 'the program sets it to the cores it sees')
        settings['gomaxprocs'] = Setting('gomaxprocs', number, procs.place, reason=reason, locked=procs.locked)
    if memory is not None and not memory.reason:
        settings['gomemlimit'] = Setting('gomemlimit', int(memory.value), memory.place, locked=memory.locked)
    elif memory is not None or automatic is not None:
        word = memory or automatic
        settings['gomemlimit'] = Setting('gomemlimit', None, word.place, reason='the program sets its memory limit')  # type: ignore[union-attr]


def version_of(text: str) -> tuple[int, int] | None:
    """'1.22' or '1.22.3' as (1, 22)."""
    found = re.match(r'(\d+)\.(\d+)', text)
    return (int(found[1]), int(found[2])) if found else None


def _module(process: Process, stores: Stores) -> _Module | None:
    """The nearest go.mod in the manifest's folder or above, when the container's program is built from it.

    That is so when the module is called like the image, the container or the workload; likely when it stands in the
    manifest's own folder and the pod has one container, whose image somebody built (it has a registry or an owner).
    """
    carrier = process.component
    image = process.image.value.partition('@')[0] if process.image is not None else ''
    names = {carrier.name, image.rpartition('/')[2].partition(':')[0], *(workload.name for workload in carrier.peers('workload'))}
    first = folder = carrier.place.outermost().document.path.rpartition('/')[0]
    while True:
        found = stores.find('go.mod', '', f'{folder}/go.mod' if folder else 'go.mod')
        if found is not None and 'module' in found.values:
            path = re.sub(r'/v\d+$', '', found.values['module'].value)
            if path.rpartition('/')[2] in names:
                return _Module(found.values, 'name')
            return _Module(found.values, 'folder') if folder == first and '/' in image and _is_alone(carrier) else None
        if not folder:
            return None
        folder = folder.rpartition('/')[0]


def _is_alone(carrier: Component) -> bool:
    return [len(pod.peers('container')) for pod in carrier.peers('pod')] == [1]
