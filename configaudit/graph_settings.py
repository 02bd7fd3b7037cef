"""The settings of a hop that a reader of the picture wants to see, each with what it says and where that comes from."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from configaudit.knowledge.chain import ANY, SHOWN, Shown
from configaudit.model import Component, Setting

_GENERIC = ('s', 'count', 'bool', 'ms')
_MOST = 6
"""Settings that a box of a kind without a row in the table shows."""


class Value(NamedTuple):
    """A setting as a hop shows it."""

    label: str
    mark: str
    """TOTAL, GAP or ''."""
    setting: Setting
    unit: str


def values_of(owner: Component, parts: Sequence[Component]) -> tuple[Value, ...]:
    """The settings that matter on a box: those of its parts too, each label once. Where overlays differ, all that it can be."""
    found: dict[str, list[Value]] = {}
    said_by: dict[str, tuple[str, str]] = {}
    for component in (owner, *(part for part in parts if part is not owner)):
        name = component.kind.name, component.identity
        own: dict[str, Value] = {}
        for value in (*_derived(component), *_listed(component)):
            own.setdefault(value.label, value)
        for label, value in own.items():
            if said_by.setdefault(label, name) == name:
                found.setdefault(label, []).append(value)
    return tuple(_merged(values) for values in found.values())


def _merged(values: list[Value]) -> Value:
    known = {str(value.setting.known_value): value.setting.known_value for value in values}
    first = values[0].setting
    if len(known) < 2 or not all(value.setting.is_known for value in values):
        return values[0]
    return values[0]._replace(setting=first._replace(reason='overlays differ', candidates=tuple(known.values()), known_value=None))


def _listed(component: Component) -> Iterator[Value]:
    rows = SHOWN.get(component.kind.name)
    if rows is None:
        yield from _written(component)
        return
    for row in rows:
        if row.name in component.kind.settings and _matters(component, row):
            yield _value(component, row)


def _matters(component: Component, row: Shown) -> bool:
    """Whether somebody set it, or its default decides something; a default that is nothing says nothing."""
    setting = component[row.name]
    if setting.is_set:
        return setting.known_value is not None if setting.is_known else setting.origin == 'explicit' or row.products == ANY
    if not row.products or (setting.is_known and setting.known_value is None):
        return False
    return row.products == ANY or component['product'].known_value in row.products


def _value(component: Component, row: Shown) -> Value:
    return Value(row.label, row.mark, component[row.name], component.kind.settings[row.name].unit)


def _written(component: Component) -> Iterator[Value]:
    """What somebody wrote on a component of a kind that no table knows."""
    rows = [Shown(name, name.removesuffix('_s').replace('_', ' ')) for name, spec in component.kind.settings.items() if spec.unit in _GENERIC]
    yield from [_value(component, row) for row in rows if _matters(component, row) and component[row.name].known_value is not False][:_MOST]


def _derived(component: Component) -> Iterator[Value]:
    """What no single setting says."""
    kind = component.kind.name
    if kind == 'workload':
        yield Value('pods', '', _pods(component), 'count')
    elif kind == 'service':
        yield from _ports(component)
    elif kind == 'pool':
        yield from _in_all(component)
    elif 'model' in component.kind.settings and component['model'].is_set:
        yield Value('model', '', component['model'], 'text')


def _pods(workload: Component) -> Setting:
    """Replicas, or the range of what scales them."""
    replicas = workload['replicas']
    for scaler in workload.peers('autoscaler'):
        least, most = scaler['min_replicas'], scaler['max_replicas']
        if most.is_known and most.known_value:
            low = least.known_value if least.is_known else '?'
            return Setting('pods', f'{low} to {most.known_value}', most.place, most.origin)
    if workload['object_kind'].known_value == 'DaemonSet':
        return Setting('pods', 'one on every node', workload.place)
    return replicas


def _ports(service: Component) -> Iterator[Value]:
    """Its ports, and its type where that is another than usual."""
    ports = service['ports'].known_value
    if isinstance(ports, (list, tuple)):
        numbers = [str(port['port']) for port in ports if isinstance(port, Mapping) and port.get('port')]
        if numbers:
            yield Value('port', '', Setting('ports', ' '.join(numbers), service.place), 'text')
    if service['cluster_ip'].known_value == 'None':
        yield Value('type', '', Setting('type', 'headless', service['cluster_ip'].place), 'text')
    elif service['type'].is_set and service['type'].known_value not in ('ClusterIP', None):
        yield Value('type', '', service['type'], 'text')


def _in_all(pool: Component) -> Iterator[Value]:
    """Connections of all processes in all pods, when each factor is known: without what a rollout adds."""
    size, overflow, processes = pool['max_open'], pool['overflow'], pool['processes']
    pods = next((_most(workload) for workload in pool.peers('workload')), pool['pods'])
    factors = (size, overflow, processes, pods)
    if not all(one.is_known for one in factors) or not isinstance(size.known_value, int) or not isinstance(pods.known_value, int):
        return
    more, workers = int(str(overflow.known_value or 0)), int(str(processes.known_value or 1))
    each = f'({size.known_value} + {more})' if more else f'{size.known_value}'
    words = each + (f' x {workers} processes' if workers > 1 else '') + f' x {pods.known_value} pods'
    total = (size.known_value + more) * workers * pods.known_value
    yield Value('connections', '', Setting('connections', f'{words} = {total}', size.place, size.origin), 'text')


def _most(workload: Component) -> Setting:
    found = (scaler['max_replicas'] for scaler in workload.peers('autoscaler'))
    return next((most for most in found if most.is_known and most.known_value), workload['replicas'])
