"""gunicorn.conf.py: workers, threads and clocks of the server whose command line names it, or which starts beside it."""

import ast
import os.path
from collections.abc import Iterable, Mapping

from configaudit.extract.process import Data
from configaudit.extract.services.built_images import folder_of
from configaudit.extract.services.python_values import LOCKED, variable_of
from configaudit.extract.services.values import setting_of
from configaudit.extract.services.web_servers import gunicorn_defaults
from configaudit.extract.words import Word
from configaudit.knowledge.service_kinds import HTTP_SERVER
from configaudit.model import Component, Peers, Setting
from configaudit.parse.python import Source, Unfolded
from configaudit.patterns import regex
from configaudit.units import HOLE

FROM_CPUS = 'it is worked out from the CPUs of the machine'
"""Why a number of workers is not known."""
NAMES: Mapping[str, tuple[str, str]] = {
    'workers': ('workers', 'count'), 'threads': ('threads', 'count'), 'worker_class': ('worker_class', 'text'), 'timeout': ('worker_timeout_s', 's'),
    'graceful_timeout': ('graceful_s', 's'), 'keepalive': ('idle_timeout_s', 's'),
}  # fmt: skip
"""Name in the file -> setting of the server, and its unit."""
_COUNTS = ('multiprocessing.cpu_count', 'os.cpu_count', 'psutil.cpu_count', 'os.process_cpu_count')
_PLAIN = ('sync', 'gunicorn.workers.sync.SyncWorker')


def words_of(source: Source) -> dict[str, Word]:
    """What the file sets, by gunicorn's own names; a number that only running tells is an unknown word with its reason."""
    found: dict[str, Word] = {}
    for name in NAMES:
        bound = ast.Name(name, ast.Load())
        node, changed = source.first(bound)
        if node is bound:
            continue
        found[name] = _word(source, node, changed)
    return found


def _word(source: Source, node: ast.expr, changed: bool) -> Word:
    place = source.place(node)
    try:
        if changed:
            raise Unfolded
        return Word(str(source.value(node)), place, False, locked=LOCKED)
    except Unfolded:
        pass
    variable = variable_of(source, node)
    try:
        if variable is not None and variable.default is not None and not changed:
            return Word(str(source.value(variable.default)), place, False, locked=LOCKED)
    except Unfolded:
        pass
    return Word(HOLE, place, False, FROM_CPUS if counts_cpus(source, node) and not changed else 'the program works it out', LOCKED)


def counts_cpus(source: Source, node: ast.expr, depth: int = 8) -> bool:
    """Whether a number grows with the machine's CPUs without a limit."""
    node = source.settled(node)
    if isinstance(node, ast.Call):
        name = source.name_of(node.func)
        if name in _COUNTS:
            return True
        if isinstance(node.func, ast.Name) and node.func.id in ('int', 'max', 'round', 'str') and depth:
            return any(counts_cpus(source, item, depth - 1) for item in node.args)
        if name in ('os.getenv', 'os.environ.get') and len(node.args) > 1 and depth:
            return counts_cpus(source, node.args[1], depth - 1)
    if isinstance(node, ast.BinOp) and depth:
        return counts_cpus(source, node.left, depth - 1) or counts_cpus(source, node.right, depth - 1)
    return isinstance(node, ast.BoolOp) and bool(depth) and any(counts_cpus(source, item, depth - 1) for item in node.values)


def take_in(server: Component, words: Mapping[str, Word]) -> None:
    """What the file says where the command line says nothing; what follows from the class of the workers."""
    for name, word in words.items():
        setting, unit = NAMES[name]
        if setting not in server.settings or not server[setting].is_set:
            server.settings[setting] = setting_of(setting, word, unit)
        if word.reason == FROM_CPUS and name == 'workers':
            server.settings['workers_from'] = Setting('workers_from', 'cpus', word.place)
    for name in ('idle_timeout_s', 'graceful_s', 'worker_class', 'threads', 'worker_timeout_s'):
        if not server[name].is_set:
            server.settings[name] = server[name]._replace(reason='')
    _settle_keepalive(server)


def is_plain(server: Component) -> bool:
    """Whether gunicorn's workers are the sync ones: several threads make them gthread. Unknown counts as not."""
    kind, threads = server['worker_class'], server['threads']
    return kind.is_known and threads.is_known and kind.known_value in _PLAIN and threads.known_value == 1


def _settle_keepalive(server: Component) -> None:
    idle = server['idle_timeout_s']
    if is_plain(server):
        server.settings['idle_timeout_s'] = Setting('idle_timeout_s', 0, idle.place, 'default', source='gunicorn documentation, sync workers: no persistent connections')
    elif not idle.is_set and idle.known_value == 0:
        server.settings['idle_timeout_s'] = Setting('idle_timeout_s', 2, idle.place, 'default', source='gunicorn documentation, Settings')


def join(components: list[Component], data: Iterable[Data]) -> None:
    """Give every gunicorn its file, and the programs that it serves; add the servers of files that no command line of the run names."""
    files = [item for item in data if item.kind == 'gunicorn']
    used: set[str] = set()
    servers = [one for one in components if one.kind.name == 'http-server' and one['product'].known_value == 'gunicorn']
    for server in servers:
        found = _file_of(server, files)
        if found is not None:
            used.add(found.name)
            take_in(server, found.values)
    alone = [_of_file(item) for item in files if item.name not in used and item.values]
    asking = [one for one in components if one.kind.name == 'http-client' and 'answers' in one.settings and one['written_in'].known_value == 'Python']
    for server in (*servers, *alone):
        server.peer_map['asks-for-text'] = Peers.of(client for client in asking if serves_from(server, client.place.outermost().document.path))
    components.extend(alone)


_NOT_SERVED = regex(r'(?:^|[/_])(?:tasks?|celery\w*|workers?|jobs?|cron\w*|background|batch|pipelines?|ingest\w*)(?:[/_.]|$)')
"""Files of programs that a queue or a clock starts, not the server."""


def serves_from(server: Component, path: str) -> bool:
    """Whether a program may be one that a server runs: it lies where the server's programs are, and no queue or clock starts it."""
    folder = _folder_of(server)
    return folder is not None and path.startswith(f'{folder}/' if folder else '') and _NOT_SERVED.search(path[len(folder) :]) is None


def _folder_of(server: Component) -> str | None:
    """Where the programs of a server are: the folder of its Dockerfile or of its own file, the one that compose builds; None when nothing tells."""
    carriers = server.peers('carrier')
    return folder_of(carriers[0]) if carriers else os.path.dirname(server.place.outermost().document.path)


def _file_of(server: Component, files: list[Data]) -> Data | None:
    """The file that the command line names; without one the gunicorn.conf.py of its folder, of one above, or the only one below."""
    named = server['config'].known_value
    base = os.path.basename(str(named).removeprefix('python:')) if named else 'gunicorn.conf.py'
    own = os.path.dirname(server.place.outermost().document.path)
    found = [item for item in files if os.path.basename(item.name) in (base, f'{base}.py')]
    above = [item for item in found if f'{own}/'.startswith(os.path.dirname(item.name) + '/') or not os.path.dirname(item.name)]
    if above:
        return max(above, key=lambda item: len(item.name))
    below = [item for item in found if item.name.startswith(f'{own}/' if own else '')]
    return below[0] if len(below) == 1 else None


def _of_file(item: Data) -> Component:
    place = next(iter(item.values.values())).place
    source = 'gunicorn documentation, Settings'
    settings = {
        'product': Setting('product', 'gunicorn', place), 'idle_timeout_s': Setting('idle_timeout_s', 2, place, 'default', source=source),
        'graceful_s': Setting('graceful_s', 30, place, 'default', source=source), **gunicorn_defaults(place),
    }  # fmt: skip
    server = Component(HTTP_SERVER, os.path.basename(item.name), f'gunicorn/{item.name}', place, settings)
    take_in(server, item.values)
    return server
