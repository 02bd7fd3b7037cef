"""Pools that a program opens, and the processes that run it: the code says how large they are, the process how many there are."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from posixpath import dirname, join, normpath
from typing import Any

from configaudit.knowledge.pool_libraries import HOST_NAMES
from configaudit.link_built import programs_of
from configaudit.model import Component, Peers, Setting

_SAID_IN_CODE = (
    'max_open', 'overflow', 'max_idle', 'min_idle', 'max_lifetime_s', 'idle_timeout_s', 'wait_timeout_s', 'pre_ping', 'library', 'statement_cache',
)  # fmt: skip
_OF_ITS_SERVER = ('processes', 'threads')


def size_in_code(pools: Iterable[Component]) -> None:
    """A process whose environment names a database but no size has the pool that its program opens.

    Its program is what stands in the folder that its image is built from, or the only one of the run, if one image only is left without a size.
    """
    written = [pool for pool in pools if pool['written_in'].known_value]
    open_ended = [pool for pool in pools if 'carrier' in pool.peer_map and pool['library'].known_value != 'pgbouncer' and not _is_sized(pool)]
    if not written or not open_ended:
        return
    images = {_image(pool) for pool in open_ended}
    for pool in open_ended:
        folder = _build_folder(pool)
        found = [one for one in written if folder and _path(one).startswith(folder) and _one_product(pool, one)]
        if not folder and len(images) == 1 and len(written) == 1 and _one_product(pool, written[0]):
            found = written
        if len(found) == 1:
            _take(pool, found[0])
    for pool in open_ended:
        _leave_open(pool, [one for one in written if pool not in one.peers('pool')])


def run_in_code(pools: Iterable[Component], services: Iterable[Component]) -> None:
    """Peers `carrier` and the processes of a pool that only its code names: the compose services that build its folder, in every worker of their server.

    Left out where services that start different programs are built from the folder, or where several pools might be the one that is opened.
    """
    pools = list(pools)
    homes: dict[Component, list[Component]] = {}
    for home, found in programs_of((pool for pool in pools if pool['written_in'].known_value and 'carrier' not in pool.peer_map), services).items():
        for pool in found:
            homes.setdefault(pool, []).append(home)
    taken = {carrier for pool in pools for carrier in pool.peers('carrier')}
    opened = Counter(home for found in homes.values() for home in found)
    for pool, found in homes.items():
        if any(home in taken or opened[home] > 1 for home in found) or not _starts_alike(pool, found):
            continue
        pool.peer_map['carrier'] = Peers.of(found, True)
        servers = found[0].peers('http-server')
        if len(servers) == 1 and servers[0]['workers'].is_set and not pool['processes'].is_set:
            pool.settings['processes'] = servers[0]['workers']._replace(name='processes')


def _starts_alike(pool: Component, homes: Sequence[Component]) -> bool:
    """Whether services surely run one program: one file starts them with the same words. Of Python, its server must tell how many processes there are."""
    if pool['written_in'].known_value == 'Python':
        return len(homes) == 1 == len(homes[0].peers('http-server'))
    starts = {(_path(home), home['words'].known_value, str(home['build'].known_value)) for home in homes}
    return len(starts) == 1 and all(_dockerfile_is_around(home, pool) for home in homes)


def _dockerfile_is_around(home: Component, pool: Component) -> bool:
    """Whether a Dockerfile in a folder of its own, below what is built, is that of the pool's program."""
    build: Any = home['build'].known_value
    file = build.get('dockerfile', '') if isinstance(build, dict) else ''
    folder = dirname(file) if isinstance(file, str) else ''
    return not folder or f'/{_path(pool)}'.find(f'/{normpath(join(str(build.get("context", ".")), folder))}/') >= 0


def _leave_open(pool: Component, written: Iterable[Component]) -> None:
    """What a process says nothing of is not its default where a program of the run opens a pool of that kind and its address shows no owner."""
    folder = _build_folder(pool)
    may = [one for one in written if not one.peers('pool') and one['host'].known_value is None and _path(one).startswith(folder) and _one_product(pool, one) and _one_library(pool, one)]
    taken = any(pool in one.peers('pool') for one in may) or 'written_in' in pool.settings
    if may and not taken:
        reason = f'a program of the run opens such a pool, and nothing shows whose it is ({", ".join(sorted(map(_path, may))[:3])})'
        pool.settings['max_open'] = Setting('max_open', None, pool['max_open'].place, 'inherited', reason)


def _one_library(pool: Component, written: Component) -> bool:
    known = pool['library'].known_value
    return known in (None, '', written['library'].known_value, pool['product'].known_value)


def run_by_host(pools: Iterable[Component], hosts: Collection[str], containers: Iterable[Component]) -> None:
    """Peers `carrier`, `pod` and `workload` of the one pool that no process names: the one container whose environment gives a program its database's host."""
    alone = [pool for pool in pools if not {'carrier', 'pod'} & pool.peer_map.keys() and pool['library'].known_value != 'pgbouncer' and not pool['pods'].is_set]
    if len(alone) != 1:
        return
    found = [(container, word) for container in containers for word in _named_hosts(container, hosts)]
    if len({container for container, _ in found}) != 1 or len({word.value for _, word in found}) != 1:
        return
    pool, (container, word) = alone[0], found[0]
    host = str(pool['host'].known_value or '')
    if host and host.partition('.')[0] != word.value.partition(':')[0].partition('.')[0].lower():
        return
    pool.peer_map['carrier'] = Peers.of([container], True)
    for kind in ('pod', 'workload'):
        if kind in container.peer_map:
            pool.peer_map[kind] = container.peer_map[kind]
    if not host:
        pool.settings['host'] = Setting('host', word.value.partition(':')[0].lower(), word.place, 'inherited')


def _named_hosts(container: Component, hosts: Collection[str]) -> Iterator[Any]:
    variables: Mapping[str, Any] = container['env'].known_value or {}  # type: ignore[assignment]
    for name in HOST_NAMES:
        word = variables[name].value if name in variables else None
        if getattr(word, 'known', False) and word.value.partition(':')[0].partition('.')[0].lower() in hosts:  # type: ignore[union-attr]
            yield word


def _is_sized(pool: Component) -> bool:
    return pool['max_open'].is_set and pool['max_open'].is_known


def _one_product(pool: Component, written: Component) -> bool:
    return pool['product'].known_value in (written['product'].known_value, None, '') or written['product'].known_value in (None, '')


def _path(component: Component) -> str:
    return component.place.outermost().document.path


def _image(pool: Component) -> object:
    carrier = pool.peers('carrier')[0]
    return carrier['image'].known_value if 'image' in carrier.kind.settings else carrier.identity


def _build_folder(pool: Component) -> str:
    """The folder that a compose service's image is built from, with a slash at its end; '' where it is not built here."""
    carrier = pool.peers('carrier')[0]
    build: Any = carrier['build'].known_value if 'build' in carrier.kind.settings else None
    context = build.get('context', '.') if isinstance(build, dict) else build
    if not isinstance(context, str) or '$' in context or '://' in context:
        return ''
    folder = normpath(join(carrier.scope, context))
    return '' if folder == '.' or folder.startswith('..') else folder + '/'


def _take(pool: Component, written: Component) -> None:
    written.peer_map['pool'] = Peers.of((*written.peers('pool'), pool))
    for name in _SAID_IN_CODE:
        if name in written.settings:
            pool.settings[name] = written.settings[name]
    for name in _OF_ITS_SERVER:
        if name in written.settings and name not in pool.settings:
            pool.settings[name] = written.settings[name]
