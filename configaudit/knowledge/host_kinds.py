"""Kinds of what a host is tuned with: kernel parameters, file limits, I/O schedulers, container runtimes."""

from configaudit.knowledge.kinds import declare
from configaudit.model import Kind, SettingSpec

SYSCTL = declare(Kind('sysctl', (), {
    'name': SettingSpec('text'),
    'value': SettingSpec(raise_only=True),
    'scope': SettingSpec('text', 'host'),
    'form': SettingSpec('text', 'file'),
    'node': SettingSpec('bool', False),
    'host_network': SettingSpec('bool', False),
    'host_ipc': SettingSpec('bool', False),
}))  # fmt: skip
"""One kernel parameter as somebody sets it.

`value` is a whole number, or text with single blanks; `scope` 'host' or 'pod' (securityContext.sysctls); `form` 'file',
'command' or 'pod'; `node`: the text shows that the host runs Kubernetes; the last two are the pod's.
"""

NOFILE_LIMIT = declare(Kind('nofile-limit', (), {
    'limit': SettingSpec('count', raise_only=True),
    'domain': SettingSpec('text'),
    'type': SettingSpec('text'),
    'node': SettingSpec('bool', False),
}))  # fmt: skip
"""A nofile row of limits.conf(5): `type` 'soft', 'hard' or '-' (both)."""

IO_SCHEDULER = declare(Kind('io-scheduler', (), {
    'scheduler': SettingSpec('text'),
    'device': SettingSpec('text', ''),
    'rotational': SettingSpec('text', ''),
    'conditional': SettingSpec('bool', False),
}))  # fmt: skip
"""What sets a scheduler: for devices of a KERNEL pattern ('' : any), rotational '0', '1' or ''; `conditional`: it asks for more than these."""

CONTAINER_RUNTIME = declare(Kind('container-runtime', (), {
    'daemon': SettingSpec('text'),
    'nofile_soft': SettingSpec('count', raise_only=True),
    'nofile_hard': SettingSpec('count', raise_only=True),
    'shm_bytes': SettingSpec('bytes', 64 * 2**20, ('default-shm-size',), True, 'dockerd reference, --default-shm-size'),
    'gpu': SettingSpec('bool', False),
    'cgroup_driver': SettingSpec('text'),
    'pids_limit': SettingSpec('count', raise_only=True),
    'base_spec': SettingSpec('text'),
}))  # fmt: skip
"""Settings of a daemon ('docker', 'containerd', 'crio') or of an OCI base spec ('oci') that every container inherits."""
