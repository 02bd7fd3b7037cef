"""Every kind of component: its traits, its settings, their units and defaults.

A rule can ask for these names and no others. `path` is where a setting stands below the component's
mapping, so the same row reads a value and says where a missing one is inserted.
"""

from configaudit.model import Kind, SettingSpec

K8S = 'Kubernetes API reference'


def _spec(
    unit: str = '', default: object = None, path: str = '', *, raise_only: bool = False, source: str = ''
) -> SettingSpec:
    return SettingSpec(unit, default, tuple(path.split('.')) if path else (), raise_only, source)


def _probe(name: str, key: str) -> dict[str, SettingSpec]:
    """The settings of one probe; defaults from the Kubernetes API reference (Probe v1 core)."""
    return {
        f'{name}_probe': _spec(path=key),
        f'{name}_path': _spec('text', path=f'{key}.httpGet.path'),
        f'{name}_port': _spec('text', path=f'{key}.httpGet.port'),
        f'{name}_tcp_port': _spec('text', path=f'{key}.tcpSocket.port'),
        f'{name}_grpc_port': _spec('text', path=f'{key}.grpc.port'),
        f'{name}_period_s': _spec('s', 10, f'{key}.periodSeconds', source=K8S),
        f'{name}_timeout_s': _spec('s', 1, f'{key}.timeoutSeconds', source=K8S),
        f'{name}_failures': _spec('count', 3, f'{key}.failureThreshold', source=K8S),
        f'{name}_initial_delay_s': _spec('s', 0, f'{key}.initialDelaySeconds', source=K8S),
    }


WORKLOAD = Kind('workload', (), {
    'object_kind': _spec(),
    'replicas': _spec('count', 1, 'spec.replicas', source=K8S),
    'strategy': _spec('text', 'RollingUpdate', 'spec.strategy.type', source=K8S),
    'max_surge': _spec('share', '25%', 'spec.strategy.rollingUpdate.maxSurge', source=K8S),
    'max_unavailable': _spec('share', '25%', 'spec.strategy.rollingUpdate.maxUnavailable', source=K8S),
    'parallelism': _spec('count', 1, 'spec.parallelism', source=K8S),
    'cron_parallelism': _spec('count', 1, 'spec.jobTemplate.spec.parallelism', source=K8S),
    'progress_deadline_s': _spec('s', 600, 'spec.progressDeadlineSeconds', source=K8S),
    'group_size': _spec('count', 1, 'spec.leaderWorkerTemplate.size'),
    'api_version': _spec('text', path='apiVersion'),
    'serves': _spec(),
})  # fmt: skip
"""`serves`: whether it runs until somebody stops it (not a Job)."""

POD = Kind('pod', (), {
    'grace_s': _spec('s', 30, 'terminationGracePeriodSeconds', source=K8S),
    'service_links': _spec('bool', True, 'enableServiceLinks', source=K8S),
    'host_network': _spec('bool', False, 'hostNetwork', source=K8S),
    'run_as_user': _spec('count', path='securityContext.runAsUser'),
    'run_as_non_root': _spec('bool', path='securityContext.runAsNonRoot'),
    'host_ipc': _spec('bool', False, 'hostIPC', source=K8S),
    'restart_policy': _spec('text', 'Always', 'restartPolicy', source=K8S),
    'labels': _spec(default={}),
    'scraped_port': _spec('text'),
    'scraped_path': _spec('text', '/metrics'),
    'object_kind': _spec(),
    'gpus': _spec('count', 0),
    'gpu_labels': _spec(),
    'engine_version': _spec('text'),
    'links': _spec(default=()),
    'volumes': _spec(default=()),
    'shm': _spec(),
    'rwo_claims': _spec(default=()),
})  # fmt: skip

"""`scraped_port`: set where annotations ask Prometheus to scrape the pod; the port they name, or None."""

CONTAINER = Kind('container', ('image-user',), {
    'image': _spec('text', path='image'),
    'pull_policy': _spec('text', path='imagePullPolicy'),
    'cpu_request': _spec('cores', path='resources.requests.cpu'),
    'cpu_limit': _spec('cores', path='resources.limits.cpu', raise_only=True),
    'memory_request': _spec('bytes', path='resources.requests.memory'),
    'memory_limit': _spec('bytes', path='resources.limits.memory', raise_only=True),
    'resources': _spec(path='resources'),
    'pre_stop': _spec(path='lifecycle.preStop'),
    'pre_stop_sleep_s': _spec('s', path='lifecycle.preStop.sleep.seconds'),
    'post_start': _spec(path='lifecycle.postStart'),
    'read_only_root': _spec('bool', False, 'securityContext.readOnlyRootFilesystem', source=K8S),
    'run_as_user': _spec('count', path='securityContext.runAsUser'),
    'run_as_non_root': _spec('bool', path='securityContext.runAsNonRoot'),
    **_probe('readiness', 'readinessProbe'),
    **_probe('liveness', 'livenessProbe'),
    **_probe('startup', 'startupProbe'),
    'gpu_limit': _spec('count', 0),
    'gpu_request': _spec('count', 0),
    'gpu_resource': _spec(),
    'ports': _spec(default={}),
    'env': _spec(default={}),
    'mounts': _spec(default={}),
    'shm': _spec(),
    'cache_volume': _spec(),
    'non_string_args': _spec(default=()),
    'command': _spec(),
    'words': _spec(default=()),
    'imported': _spec(default=()),
    'go_version': _spec(),
    'sidecar': _spec(default=False),
    'init': _spec(default=False),
})  # fmt: skip
"""`ports`: name (or number as text) -> number. `mounts`: path -> {'source', 'volume', 'read_only', 'sub_path', 'place'}.
`env`: name -> Variable. `imported`: what envFrom takes in. `words`: the Words of command and args, in order."""

KINDS: dict[str, Kind] = {kind.name: kind for kind in (WORKLOAD, POD, CONTAINER)}


def declare(kind: Kind) -> Kind:
    """Add a kind that another module of knowledge declares."""
    KINDS[kind.name] = kind
    return kind
