"""API versions that Kubernetes no longer serves.

Source: Kubernetes documentation, reference/using-api/deprecation-guide, and the release notes of 1.16 to 1.32.
"""

from typing import NamedTuple


class Removal(NamedTuple):
    """When an apiVersion of a kind went away, and what takes its place."""

    release: str
    instead: str
    """The apiVersion to use; '' where the kind itself is gone."""
    same_schema: bool
    """The object can stay as it is when only the apiVersion changes."""


_APPS = ('Deployment', 'DaemonSet', 'StatefulSet', 'ReplicaSet')
_APPS_1 = Removal('1.16', 'apps/v1', False)
_FLOW = ('FlowSchema', 'PriorityLevelConfiguration')

REMOVED: dict[tuple[str, str], Removal] = {
    **{(version, kind): _APPS_1 for version in ('extensions/v1beta1', 'apps/v1beta1', 'apps/v1beta2') for kind in _APPS},
    ('extensions/v1beta1', 'NetworkPolicy'): Removal('1.16', 'networking.k8s.io/v1', True),
    ('extensions/v1beta1', 'PodSecurityPolicy'): Removal('1.16', '', False),
    ('extensions/v1beta1', 'Ingress'): Removal('1.22', 'networking.k8s.io/v1', False),
    ('networking.k8s.io/v1beta1', 'Ingress'): Removal('1.22', 'networking.k8s.io/v1', False),
    ('networking.k8s.io/v1beta1', 'IngressClass'): Removal('1.22', 'networking.k8s.io/v1', True),
    ('scheduling.k8s.io/v1beta1', 'PriorityClass'): Removal('1.22', 'scheduling.k8s.io/v1', True),
    ('scheduling.k8s.io/v1alpha1', 'PriorityClass'): Removal('1.17', 'scheduling.k8s.io/v1', True),
    ('storage.k8s.io/v1beta1', 'StorageClass'): Removal('1.22', 'storage.k8s.io/v1', True),
    ('storage.k8s.io/v1beta1', 'CSIDriver'): Removal('1.22', 'storage.k8s.io/v1', True),
    ('storage.k8s.io/v1beta1', 'VolumeAttachment'): Removal('1.22', 'storage.k8s.io/v1', True),
    ('storage.k8s.io/v1beta1', 'CSIStorageCapacity'): Removal('1.27', 'storage.k8s.io/v1', True),
    ('coordination.k8s.io/v1beta1', 'Lease'): Removal('1.22', 'coordination.k8s.io/v1', True),
    ('batch/v2alpha1', 'CronJob'): Removal('1.21', 'batch/v1', True),
    ('batch/v1beta1', 'CronJob'): Removal('1.25', 'batch/v1', True),
    ('policy/v1beta1', 'PodDisruptionBudget'): Removal('1.25', 'policy/v1', True),
    ('policy/v1beta1', 'PodSecurityPolicy'): Removal('1.25', '', False),
    ('discovery.k8s.io/v1beta1', 'EndpointSlice'): Removal('1.25', 'discovery.k8s.io/v1', False),
    ('events.k8s.io/v1beta1', 'Event'): Removal('1.25', 'events.k8s.io/v1', False),
    ('node.k8s.io/v1beta1', 'RuntimeClass'): Removal('1.25', 'node.k8s.io/v1', True),
    ('autoscaling/v2beta1', 'HorizontalPodAutoscaler'): Removal('1.25', 'autoscaling/v2', False),
    ('autoscaling/v2beta2', 'HorizontalPodAutoscaler'): Removal('1.26', 'autoscaling/v2', True),
    **{('flowcontrol.apiserver.k8s.io/v1beta1', kind): Removal('1.26', 'flowcontrol.apiserver.k8s.io/v1', False) for kind in _FLOW},
    **{('flowcontrol.apiserver.k8s.io/v1beta2', kind): Removal('1.29', 'flowcontrol.apiserver.k8s.io/v1', False) for kind in _FLOW},
    **{('flowcontrol.apiserver.k8s.io/v1beta3', kind): Removal('1.32', 'flowcontrol.apiserver.k8s.io/v1', False) for kind in _FLOW},
}  # fmt: skip
"""(apiVersion, kind) -> its removal."""
