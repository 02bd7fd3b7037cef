"""Kinds of the Kubernetes objects around workloads."""

from configaudit.knowledge.kinds import K8S, declare
from configaudit.model import Kind, SettingSpec


def _spec(unit: str = '', path: str = '', default: object = None, source: str = '') -> SettingSpec:
    return SettingSpec(unit, default, tuple(path.split('.')) if path else (), source=source)


SERVICE = declare(Kind('service', (), {
    'type': _spec('text', 'spec.type', 'ClusterIP', K8S),
    'cluster_ip': _spec('text', 'spec.clusterIP'),
    'selector': _spec('', 'spec.selector'),
    'ports': _spec(default=()),
    'labels': _spec('', 'metadata.labels'),
    'source_ranges': _spec('', 'spec.loadBalancerSourceRanges'),
    'annotations': _spec('', 'metadata.annotations', {}),
    'deregistration_delay_s': _spec('s'),
    'balancer_idle_s': _spec('s'),
    'pods_are_targets': _spec('bool', default=False),
}))  # fmt: skip
"""Of the cloud's load balancer that a Service asks for: `deregistration_delay_s`: how long a target that leaves may finish its requests;
`balancer_idle_s`: after which silence it drops a connection; `pods_are_targets`: it sends to pods, not to ports of nodes."""

AUTOSCALER = declare(Kind('autoscaler', (), {
    'min_replicas': _spec('count', 'spec.minReplicas', 1, K8S),
    'max_replicas': _spec('count', 'spec.maxReplicas'),
    'target_kind': _spec('text', 'spec.scaleTargetRef.kind'),
    'target_name': _spec('text', 'spec.scaleTargetRef.name'),
    'behavior': _spec('', 'spec.behavior'),
    'scale_down_window_s': _spec('s', 'spec.behavior.scaleDown.stabilizationWindowSeconds', 300, K8S),
    'scale_down_policies': _spec('', 'spec.behavior.scaleDown.policies'),
    'scale_up_window_s': _spec('s', 'spec.behavior.scaleUp.stabilizationWindowSeconds', 0, K8S),
    'keda_behavior': _spec('', 'spec.advanced.horizontalPodAutoscalerConfig.behavior'),
    'cooldown_s': _spec('s', 'spec.cooldownPeriod', 300, 'KEDA ScaledObject reference'),
    'idle_replicas': _spec('count', 'spec.idleReplicaCount'),
    'fallback': _spec('', 'spec.fallback'),
    'metrics': _spec(default=()),
}))  # fmt: skip
"""`metrics`: mappings with 'type', 'name', 'target' (a mapping), 'place', 'target_place', and of KEDA triggers 'query', a Word."""

MONITOR = declare(Kind('monitor', (), {
    'object_kind': _spec(),
    'selector': _spec('', 'spec.selector.matchLabels'),
    'any_namespace': _spec('bool', 'spec.namespaceSelector.any', False, 'Prometheus Operator API reference'),
    'namespaces': _spec('', 'spec.namespaceSelector.matchNames'),
    'endpoints': _spec(default=()),
}))  # fmt: skip
"""A ServiceMonitor or PodMonitor. `endpoints`: mappings with 'port' (a name), 'target' (a container port), 'path' and 'place'."""

BUDGET = declare(Kind('disruption-budget', (), {
    'selector': _spec('', 'spec.selector.matchLabels'),
    'min_available': _spec('share', 'spec.minAvailable'),
    'max_unavailable': _spec('share', 'spec.maxUnavailable'),
}))  # fmt: skip

REMOVED_API = declare(Kind('removed-api', (), {
    'api_version': _spec('text', 'apiVersion'),
    'object_kind': _spec('text', 'kind'),
    'removed_in': _spec(),
    'instead': _spec(),
    'same_schema': _spec(),
}))  # fmt: skip
"""An object whose apiVersion no longer exists; see `knowledge.kubernetes_versions`."""

SECRET = declare(Kind('secret', (), {'values': _spec(default={})}))
"""A Secret in a file. `values`: key -> Word, decoded."""

DOCUMENT = declare(Kind('document', (), {'duplicates': _spec(default=())}))
"""A document as text. `duplicates`: (key, place of the first, place of the one that counts)."""

NODE_POOL = declare(Kind('node-pool', (), {'gpu_labels': SettingSpec(default=()), 'labels': SettingSpec(default={})}))
"""Nodes that an autoscaler starts; `gpu_labels`: the alternatives of labels that may tell their GPU."""
