"""The built-in rules: which module judges which kind. Only modules whose kind was met are imported."""

SUBJECTS: dict[str, tuple[str, ...]] = {
    'vllm': ('vllm',),
    'sysctl': ('sysctl', 'pod_sysctls'),
    'nofile-limit': ('limits',),
    'io-scheduler': ('host',),
    'container-runtime': ('runtime',),
}
