"""What stands apart in a Python project and belongs together: programs, their gunicorn.conf.py, their settings classes, the environment they get."""

from collections.abc import Iterable, Sequence

from configaudit.extract.environment import Stores
from configaudit.extract.process import Process, Reading
from configaudit.extract.services.gunicorn_file import join as join_servers
from configaudit.extract.services.gunicorn_file import serves_from
from configaudit.extract.services.python_environment import join_environment
from configaudit.model import Component, Peers

_ASGI = ('uvicorn', 'hypercorn', 'daphne')


def settle(reading: Reading, components: list[Component], processes: Sequence[Process], stores: Stores) -> None:
    """Bring together what the run shows of Python programs and the servers that run them."""
    join_environment(components, processes, reading.data, stores)
    join_servers(components, reading.data)
    if any(data.kind == 'django-settings' for data in reading.data):
        from configaudit.extract.services.python_django import join as join_databases

        join_databases(components, reading.data)
    _join_asgi(components)


def _join_asgi(components: Iterable[Component]) -> None:
    """Peers `asgi-server` of Django's databases that keep connections."""
    pools = [one for one in components if one.kind.name == 'pool' and 'persistent_s' in one.settings]
    servers = [one for one in components if one.kind.name == 'http-server' and _is_asgi(one)] if pools else []
    for pool in pools:
        path = pool.place.outermost().document.path
        pool.peer_map['asgi-server'] = Peers.of(server for server in servers if serves_from(server, path))


def _is_asgi(server: Component) -> bool:
    product, kind = server['product'].known_value, server['worker_class'].known_value
    return product in _ASGI or (product == 'gunicorn' and isinstance(kind, str) and 'uvicorn' in kind.lower())
