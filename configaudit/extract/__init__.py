"""From documents to components: carriers first (what runs), then engines and services (what is configured)."""

from collections.abc import Callable
from importlib import import_module
from typing import Any

from configaudit.context import Context
from configaudit.extract.commands import Invocations
from configaudit.extract.environment import Stores
from configaudit.extract.files import Files
from configaudit.extract.process import Process, Reading, nothing
from configaudit.extract.trees import reader_of
from configaudit.knowledge.metric_kinds import PREFIXES
from configaudit.model import Component
from configaudit.parse.tree import Map, Seq
from configaudit.patterns import regex
from configaudit.places import Document, Place

Reader = Callable[[Document], Reading]

FORMATS: dict[str, str] = {
    'dockerfile': 'carriers.dockerfile',
    'shell': 'carriers.shell',
    'python': 'services.python_code',
    'systemd': 'carriers.systemd',
    'env': 'carriers.envfile',
    'pbtxt': 'services.batching',
    'tf-batching': 'services.batching',
    'torchserve': 'services.batching',
    'nginx': 'services.nginx',
    'haproxy': 'services.haproxy',
    'caddyfile': 'services.caddy',
    'traefik': 'services.traefik',
    'sysctl': 'services.sysctl',
    'limits': 'services.limits',
    'udev': 'services.udev',
    'tuned': 'services.tuned',
    'tmpfiles': 'services.tmpfiles',
    'grub': 'services.boot',
    'mime': 'carriers.userdata',
    'bottlerocket': 'carriers.node_systems',
    'containerd': 'services.runtime',
    'crio': 'services.runtime',
    'gomod': 'services.golang',
    'go': 'services.go_code',
    'terraform': 'services.terraform',
    'java': 'services.jvm_code',
    'kotlin': 'services.jvm_code',
    'mysql': 'services.database',
    'postgresql': 'services.database',
    'pgbouncer': 'services.database',
    'properties': 'services.pools',
    'javascript': 'services.javascript_code',
    'typescript': 'services.javascript_code',
    'tsx': 'services.javascript_code',
    'puma': 'services.rails',
    'redis': 'services.database',
    'pgpool': 'services.poolers',
    'odyssey': 'services.poolers',
    'proxysql': 'services.poolers',
    'rust': 'services.rust_code',
    'prisma': 'services.prisma',
}
"""Format -> the module whose `read(document)` reads it."""

ENGINES: dict[str, tuple[str, ...]] = {
    'vllm': ('vllm', 'gpu-memory-utilization', 'max-num-seqs', 'max-num-batched-tokens', 'max-model-len', 'gpu_memory_u', 'max_num_', 'max_model_len'),
    'sglang': ('sglang',),
    'tgi': ('text-generation', 'tgi', 'MAX_TOTAL_TOKENS'),
    'triton': ('tritonserver',),
    'ollama': ('ollama', 'OLLAMA_'),
    'llama_cpp': ('llama-server', 'llama.cpp', 'llama-cpp', 'LLAMA_ARG_'),
    'tensorrt_llm': ('trtllm',),
    'lmdeploy': ('lmdeploy',),
    'torchserve': ('torchserve',),
    'tf_serving': ('tensorflow_model_server', 'tensorflow/serving', 'tensorflow-serving', 'tf_serving'),
}
"""Modules of `extract.engines` with `read(invocation, stores, context)`, and the words that make it worth asking one."""

PROCESSES: dict[str, tuple[str, ...]] = {
    'golang': ('GOMAXPROCS', 'GOMEMLIMIT', 'GOGC', 'java', 'JAVA', 'JDK', '-Xm', '-XX', 'NODE_OPTIONS', 'max-old-space'),
    'pools': ('DB', 'DATA', 'SQL', 'PG', 'POSTGRES', 'POOL', 'DSN', 'UR', 'Connection', 'SPRING', 'CONN', 'database', 'litellm'),
    'database': ('postgres', 'postgis', 'pgvector', 'timescale', 'mysql', 'mariadb', 'percona', 'pgbouncer', 'redis', 'valkey', 'keydb'),
    'grpc': ('GRPC_', 'grpc.'),
    'traefik': ('--entrypoints', '--entryPoints', '--serverstransport', '--serversTransport', '--entryPoint', '--EntryPoints'),
    'web_servers': ('uvicorn', 'gunicorn', 'hypercorn', 'fastapi', 'litellm', 'waitress-serve', 'python'),
    'math_threads': ('_NUM_THREADS', 'pytorch', 'torchserve'),
    'spring': ('SERVER_', 'SPRING_'),
    'pip_bounds': ('pip install', 'pip3 install'),
    'metrics': ('-metric', 'Metric'),
    'host_commands': ('sysctl', '/proc/sys/', '/queue/scheduler', '/limits.', '/udev/'),
}
"""Modules of `extract.services` with `read_process(process, invocations, stores)`, and the words that make it worth asking."""


def read_document(document: Document, root: Any, duplicates: tuple[Any, ...], partial: str) -> Reading | None:
    """Stage one: what a document says by itself; None when nobody reads it."""
    if document.format != 'yaml':
        module = FORMATS.get(document.format)
        return _call(module, 'read', document) if module else None
    if isinstance(root, Seq):
        return _tasks(document, root)
    if not isinstance(root, Map):
        return None
    from configaudit.extract.carriers.kubernetes import is_kubernetes, read_object

    if is_kubernetes(root):
        reading = read_object(document, root, partial)
    else:
        module, queries = reader_of(document, root), _queries(document, root)
        if not module and not queries and b'litellm_params' not in document.parsed:
            return None
        reading = _call(module, 'read_tree', document, root, partial) if module else nothing()
        reading.components.extend(queries)
        if b'litellm_params' in document.parsed and module != 'services.litellm':
            reading.add(_call('services.litellm', 'read_values', document, root, partial))
    if duplicates:
        from configaudit.extract.services.syntax import duplicate_keys

        reading.components.extend(duplicate_keys(document, root, duplicates))
    return reading


_TASKS = (b'sysctl', b'pam_limits', b'/etc/')
"""Words of lists that may be tasks of Ansible for hosts."""


def _tasks(document: Document, root: Seq) -> Reading | None:
    if not any(word in document.parsed for word in _TASKS):
        return None
    from configaudit.extract.carriers.ansible import read_list

    return read_list(document, root)


_ASKING = (b'expr', b'query', b'Query', b'-metric', b'Metric')
"""Words of the keys that hold a query or a metric's name."""


_METRIC = regex(rb'(?<![A-Za-z])(?:' + b'|'.join(PREFIXES) + rb')')
"""The beginning of a metric's name, or a part of it: `nv_` stands in `env_` as well."""


def _queries(document: Document, root: Map) -> list[Component]:
    """The queries for metrics of engines in a tree: rules, a dashboard, an adapter's or a chart's values."""
    text = document.parsed
    asks = any(word in text for word in _ASKING) and any(prefix in text for prefix in PREFIXES) and _METRIC.search(text) is not None
    if not asks and not (b'metric_relabel_configs' in text and b'__name__' in text):
        return []
    from configaudit.extract.services.metrics import read_tree

    return read_tree(document, root)


def _call(module: str, name: str, *arguments: Any) -> Any:
    return getattr(import_module('configaudit.extract.' + module), name)(*arguments)


def finish(reading: Reading, context: Context, files: Files | None = None) -> list[Component]:
    """Stage two: engines and services of every process, now that every ConfigMap and env file is known."""
    if any(component.kind.name == 'node-pool' for component in reading.components):
        _call('carriers.node_pools', 'join_pools', reading.components)
    if any(data.kind == 'go-pool-setters' for data in reading.data):
        _call('services.go_pools', 'settle', reading)
    if any('forwards' in component.settings for component in reading.components):
        _call('services.go_code', 'settle', reading)
    if any(data.kind == 'puma' for data in reading.data):
        _call('services.rails', 'join_puma', reading)
    if any(data.kind == 'go-runtime-source' for data in reading.data):
        _call('services.go_runtime', 'join_sources', reading)
    if any(data.kind == 'gunicorn' for data in reading.data):
        _call('services.python_pools', 'join_servers', reading)
    if files is not None and any('http2' in component.settings for component in reading.components):
        _call('services.python_requirements', 'join_requirements', reading.components, files)
    if any('configures' in component.settings for component in reading.components):
        _call('services.spring_layers', 'join_configurers', reading.components)
    if any('profile' in component.settings for component in reading.components):
        _call('services.spring_layers', 'join_layers', reading.components)
    if files is not None and any(data.kind == 'nginx' for data in reading.data):
        _call('services.nginx_files', 'join_includes', reading, files)
    if any(data.kind == 'pm2' for data in reading.data):
        _call('services.javascript_runtime', 'join_instances', reading)
    stores = Stores(reading.data, files)
    processes, components = _opened(reading, stores)
    if any(data.kind == 'terraform' for data in reading.data):
        components.extend(_call('services.terraform', 'settle', reading, stores))
    stores.count(processes)
    for process in processes:
        haystack = _haystack(process)
        engines = [name for name, markers in ENGINES.items() if any(map(haystack.__contains__, markers))]
        services = [name for name, markers in PROCESSES.items() if any(map(haystack.__contains__, markers))]
        if stores.has_modules and 'golang' not in services:
            services.append('golang')
        if 'web_servers' not in services and _starts_own(process, haystack):
            services.append('web_servers')
        if (process.imported or process.files) and 'pools' not in services:
            services.append('pools')
        if not engines and not services:
            continue
        found = Invocations(process, stores)
        for name in engines:
            read = (_call('engines.' + name, 'read', invocation, stores, context) for invocation in found)
            components.extend(component for component in read if component is not None)
        for name in services:
            components.extend(_call('services.' + name, 'read_process', process, found, stores))
    if any('decided_by' in component.settings or ('variable' in component.settings and 'written_in' in component.settings) for component in components):
        components = _call('services.code_environment', 'join', components, processes, stores)
    if any(component.kind.name == 'pool' and component.identity.endswith('/spring.datasource') and 'carrier' in component.peer_map for component in components):
        _call('services.spring_layers', 'join_processes', components)
    if processes and any(component.kind.name == 'http-server' and 'carrier' not in component.peer_map for component in components):
        _call('services.mounted_servers', 'claim', components, processes, stores)
    if any(data.kind in ('gunicorn', 'pydantic') for data in reading.data) or any(map(_is_python, components)):
        _call('services.python_join', 'settle', reading, components, processes, stores)
    return components


def _starts_own(process: Process, haystack: str) -> bool:
    """Whether what a container starts may stand in a Dockerfile or a script of the run."""
    kind = process.component.kind.name
    silent = kind == 'compose-service' and process.entrypoint is None and process.arguments is None and 'build' in process.component.settings
    by_path = any(word.value.startswith(('/', './')) for word in (*(process.entrypoint or ())[:1], *(process.arguments or ())[:1]))
    return silent or (kind in ('compose-service', 'dockerfile') and (by_path or '.sh' in haystack or 'entrypoint' in haystack))


def _is_python(component: Component) -> bool:
    return component.kind.name == 'http-server' or component.place.outermost().document.format == 'python'


def _opened(reading: Reading, stores: Stores) -> tuple[list[Process], list[Component]]:
    """The processes with the scripts they start, and the components without those of such a script by itself."""
    processes = [process.settle(process, stores) if process.settle is not None else process for process in reading.processes]
    if not any(process.files for process in processes):
        return processes, list(reading.components)
    from configaudit.extract.mounts import with_script

    started = [with_script(process, stores) for process in processes]
    spans = [
        own.entrypoint[-1].place.outermost() for own, process in zip(started, processes, strict=True) if own is not process and own.entrypoint
    ]
    held = [process.component for process in started if _is_in(process.component, spans)] if spans else []
    return (
        [process for process in started if process.component not in held],
        [component for component in reading.components if component not in held],
    )


def _is_in(component: Component, spans: list[Place]) -> bool:
    """Whether a command stands in one of these scripts."""
    place = component.place.outermost()
    return component.kind.name == 'command' and any(
        place.document.path == span.document.path and place.document.line == span.document.line and span.start <= place.start <= span.end for span in spans
    )


def _haystack(process: Process) -> str:
    """All text of a process, in which a module's markers are looked for before it is asked."""
    words = [process.image] if process.image else []
    words.extend(process.entrypoint or ())
    words.extend(process.arguments or ())
    names = [variable.name for variable in process.environment]
    return ' '.join([*(word.value for word in words), *names])
