"""Kinds of what starts processes outside Kubernetes: compose services, docker run, Dockerfiles, units, commands."""

from collections.abc import Sequence

from configaudit.knowledge.images import identify
from configaudit.knowledge.kinds import declare
from configaudit.model import Kind, SettingSpec
from configaudit.patterns import regex

DOCKER = 'docker run reference'
SYSTEMD = 'systemd.exec(5), systemd.service(5)'
SHM_DEFAULT = 64 * 2**20
"""Bytes of /dev/shm in a container nobody configures (docker run reference, --shm-size)."""


def _spec(
    unit: str = '', path: str = '', default: object = None, source: str = '', *, raise_only: bool = False
) -> SettingSpec:
    return SettingSpec(unit, default, tuple(path.split('.')) if path else (), raise_only, source)


_CONTAINER: dict[str, SettingSpec] = {
    'image': _spec('text', 'image'),
    'role': _spec(default=''),
    'gpus': _spec(default=()),
    'mounts': _spec(default={}),
    'ports': _spec(default=()),
    'env': _spec(default={}),
    'words': _spec(default=()),
}
"""`role`: see `role_of`. `gpus`: device ids, ('all',), or () when none is reserved. `ports`: Published values.
`mounts`: path in the container -> source. `words`: entry point and arguments as text."""

COMPOSE_SERVICE = declare(Kind('compose-service', ('image-user',), {
    **_CONTAINER,
    'names': _spec(default=()),
    'build': _spec(),
    'nofile': _spec('count', 'ulimits.nofile', raise_only=True),
    'nofile_soft': _spec('count', 'ulimits.nofile.soft', raise_only=True),
    'nofile_hard': _spec('count', 'ulimits.nofile.hard', raise_only=True),
    'shm_size': _spec('size', 'shm_size', SHM_DEFAULT, DOCKER),
    'ipc': _spec('text', 'ipc', 'private', DOCKER),
    'runtime': _spec('text', 'runtime'),
    'restart': _spec('text', 'restart', 'no', 'Compose file reference, restart'),
    'restart_policy': _spec('', 'deploy.restart_policy'),
    'memory_limit': _spec('size', 'mem_limit', raise_only=True),
    'deploy_memory': _spec('size', 'deploy.resources.limits.memory', raise_only=True),
    'grace_s': _spec('s', 'stop_grace_period', 10, 'Compose file reference, stop_grace_period'),
    'healthcheck': _spec('', 'healthcheck'),
    'healthcheck_test': _spec('', 'healthcheck.test'),
    'healthcheck_off': _spec('bool', 'healthcheck.disable', False),
    'start_period_s': _spec('s', 'healthcheck.start_period', 0, 'Dockerfile reference, HEALTHCHECK'),
    'interval_s': _spec('s', 'healthcheck.interval', 30, 'Dockerfile reference, HEALTHCHECK'),
    'timeout_s': _spec('s', 'healthcheck.timeout', 30, 'Dockerfile reference, HEALTHCHECK'),
    'retries': _spec('count', 'healthcheck.retries', 3, 'Dockerfile reference, HEALTHCHECK'),
    'replicas': _spec('count', 'deploy.replicas', 1, 'Compose file reference, deploy.replicas'),
    'scale': _spec('count', 'scale', 1, 'Compose file reference, scale'),
    'profiles': _spec(default=()),
    'aliases': _spec(default=()),
    'waited_for': _spec(default=()),
    'completes': _spec(default=False),
}))  # fmt: skip
"""`aliases`: other names under which it is reached. `waited_for`: names of services with `depends_on: condition: service_healthy` on this one. `completes`: others start when it has ended."""

DOCKER_RUN = declare(Kind('docker-run', ('image-user',), {
    **_CONTAINER,
    'nofile': _spec('count', raise_only=True),
    'shm_size': _spec('size', '--shm-size', SHM_DEFAULT, DOCKER),
    'ipc': _spec('text', default='private', source=DOCKER),
    'runtime': _spec('text'),
    'restart': _spec('text', default='no', source=DOCKER),
    'memory_limit': _spec('size', raise_only=True),
    'cpus': _spec('cores', raise_only=True),
    'detached': _spec(default=False),
}))  # fmt: skip

DOCKERFILE = declare(Kind('dockerfile', ('image-user',), {
    'image': _spec('text'),
    'healthcheck': _spec(),
    'user': _spec('text'),
    'env': _spec(default={}),
}))  # fmt: skip

UNIT = declare(Kind('unit', (), {
    'runs': _spec(default=''),
    'program': _spec('text'),
    'nofile': _spec('count', 'Service.LimitNOFILE', raise_only=True),
    'nofile_hard': _spec('count', raise_only=True),
    'tasks_max': _spec('text', 'Service.TasksMax', raise_only=True),
    'restart': _spec('text', 'Service.Restart', 'no', SYSTEMD),
    'type': _spec('text', 'Service.Type', 'simple', SYSTEMD),
    'stop_timeout_s': _spec('s', 'Service.TimeoutStopSec', 90, SYSTEMD),
    'user': _spec('text', 'Service.User'),
    'env': _spec(default={}),
    'inline_comments': _spec(default=()),
}))  # fmt: skip
"""`nofile` is the soft limit; both are `math.inf` for infinity. `inline_comments`: InlineComment values."""

COMMAND = declare(Kind('command', (), {
    'nofile': _spec('count'),
    'background': _spec(default=False),
    'conditional': _spec(default=False),
    'gpus': _spec(default=('all',)),
}))  # fmt: skip
"""A command of a shell script that starts a server."""

RAY_MODEL = declare(Kind('ray-model', (), {
    'gpu_product': _spec('text'),
    'cluster_gpus': _spec('count'),
    'replicas': _spec('count', default=1, source='Ray Serve DeploymentConfig, AutoscalingConfig'),
}))  # fmt: skip
"""One model of a `ray.serve.llm` application, which Ray starts an engine for on its cluster.

`cluster_gpus`: all that the worker groups can grow to. `replicas`: the fewest that Ray Serve starts."""

SKY_TASK = declare(Kind('sky-task', ('image-user',), {
    'image': _spec('text', 'resources.image_id'),
    'env': _spec(default={}),
    'words': _spec(default=()),
    'gpu_product': _spec('text'),
    'gpu_limit': _spec('count', default=0),
    'gpu_resource': _spec(),
}))  # fmt: skip
"""A SkyPilot task; `gpu_limit` is for each of its nodes."""

PIP_INSTALL = declare(Kind('pip-install', (), {'bounds': _spec(default=())}))
"""Packages that a script installs. `bounds`: version bounds that its shell takes for redirections."""

PYTHON_CALL = declare(Kind('python-call', (), {'gpu_product': _spec('text')}))
"""A call in a program that makes an engine, or starts a server."""

_RUNTIMES = frozenset(('containerd', 'dockerd', 'crio', 'cri-o', 'k3s', 'rke2'))
"""Programs whose limits containers inherit (containerd, docs/containerd-2.0.md)."""
_PROXIES = regex(
    r'nginx(-.*)?|openresty|angie|haproxy(-.*)?|envoy(-.*)?|apisix|kong(-gateway)?|httpd|pgbouncer|squid'
)
_GO = regex(r'traefik|caddy|bifrost')
_REDIS = regex(r'redis(-stack(-server)?)?|valkey|keydb')
_OTHER_ENGINES = regex(r'xinference(-.*)?|localai|local-ai|infinity|llama-swap')
_GATEWAY_NAME = regex(r'(.*[-_])?(gateway|ingress|load-?balancer|reverse-?proxy|lb)([-_].*)?')
_PYTHON_SERVERS = frozenset(('uvicorn', 'gunicorn', 'hypercorn', 'granian', 'daphne', 'litellm'))
_ENGINE_WORDS = regex(
    r'\bvllm serve\b|vllm\.entrypoints|sglang[. ](?:launch_server|serve|bench_serving)?|text-generation-launcher'
    r'|\btritonserver\b|\btrtllm-serve\b|\bllama-server\b|\blmdeploy serve\b|\btorchserve\b|tensorflow_model_server'
    r'|\bollama serve\b|text-embeddings-router'
)
_LAUNCHERS = frozenset(('mpirun', 'torchrun', 'accelerate', 'ray', 'deepspeed', 'srun', 'numactl', 'nsys'))
_NOT_A_SERVER = regex(r'(?:\S*/)?(bash|sh|sleep|tail|python3?|pytest|true|echo|cat|make|pip|uv)( |$)')


def role_of(name: str, image: str, command: str) -> str:
    """What a service is, from its name, image and command line.

    'engine', 'proxy' (does not raise its own open-file limit), 'gateway' (by its name only), 'python' (a Python web
    server), 'go' (a proxy in Go, which raises its limit itself), 'redis', or '' when nothing says.
    """
    if _ENGINE_WORDS.search(command):
        return 'engine'
    found = identify(image)
    base = found.repository.rpartition('/')[2].lower()
    if found.engine and found.engine != 'kserve' and not _NOT_A_SERVER.match(command):
        return 'engine'
    for pattern, role in ((_REDIS, 'redis'), (_PROXIES, 'proxy'), (_GO, 'go'), (_OTHER_ENGINES, 'engine')):
        if pattern.fullmatch(base):
            return role
    words = command.split()
    if any(word.rpartition('/')[2] in _PYTHON_SERVERS for word in words[:6]) or base in (
        'litellm',
        'uvicorn-gunicorn-fastapi',
    ):
        return 'python'
    return 'gateway' if _GATEWAY_NAME.fullmatch(name.lower()) or _GATEWAY_NAME.fullmatch(base) else ''


def program_role(program: str, command: str) -> str:
    """What a unit runs: 'container-runtime', 'engine', 'proxy', else the program's own name."""
    base = program.rpartition('/')[2]
    if base in _RUNTIMES:
        return 'container-runtime'
    if _ENGINE_WORDS.search(command):
        return 'engine'
    return 'proxy' if _PROXIES.fullmatch(base) else base


def starts_engine(words: Sequence[str]) -> bool:
    """Whether a command line starts an inference server, rather than naming one."""
    base = words[0].rpartition('/')[2] if words else ''
    launches = base.startswith('python') or base in _LAUNCHERS
    command = f'{base} {" ".join(words[1:])}'
    found = _ENGINE_WORDS.search(command)
    return found is not None and (launches or found.start() == 0)
