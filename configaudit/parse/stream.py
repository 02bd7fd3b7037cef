"""A YAML file as its documents: split, gated on bytes, each with its place in the file."""

from collections.abc import Iterator
from typing import NamedTuple

from configaudit.patterns import regex

GATED_KINDS = frozenset(
    b'''CustomResourceDefinition ClusterRole ClusterRoleBinding Role RoleBinding ServiceAccount Namespace
    MutatingWebhookConfiguration ValidatingWebhookConfiguration ValidatingAdmissionPolicy
    ValidatingAdmissionPolicyBinding APIService Certificate Issuer ClusterIssuer CertificateRequest
    PriorityClass StorageClass CSIDriver IngressClass RuntimeClass AuthorizationPolicy PeerAuthentication
    RequestAuthentication NetworkPolicy PersistentVolume PersistentVolumeClaim Lease Event SealedSecret
    ClusterPolicy Profile'''.split()
)
"""Kinds that no extractor reads; a test holds this list against every kind that one does."""

READ_KINDS = frozenset(
    b'''Pod Deployment StatefulSet DaemonSet ReplicaSet ReplicationController Job CronJob Rollout LeaderWorkerSet PodTemplate
    List ConfigMap Secret Service HorizontalPodAutoscaler ScaledObject ScaledJob PodDisruptionBudget Ingress IngressList
    VirtualService DestinationRule EnvoyFilter Gateway GatewayClass HTTPRoute GRPCRoute BackendTrafficPolicy ClientTrafficPolicy GCPBackendPolicy BackendConfig
    InferenceService LLMInferenceService ServingRuntime ClusterServingRuntime InferenceGraph RayService RayCluster RayJob
    DynamoGraphDeployment DynamoComponentDeployment BackendRuntime Playground NIMService NIMPipeline Model Workspace InferenceSet VLLMRuntime ModelBooster
    Kustomization Component ServiceList ConfigMapList Cluster postgresql Pooler PostgresCluster PerconaPGCluster PerconaXtraDBCluster PerconaServerMySQL InnoDBCluster MariaDB SGCluster LimitRange ResourceQuota ServiceMonitor PodMonitor
    HelmRelease HelmChart HelmChartConfig Application PrometheusRule VMRule Rules ClusterRules GlobalRules PersesDashboard EndpointPickerConfig GrafanaDashboard PodAutoscaler AutoscalingPolicy KubeletConfiguration
    NodePool Provisioner ComputeClass MachineConfig KubeletConfig PerformanceProfile Tuned NodeConfig EC2NodeClass AKSNodeClass InitConfiguration
    JoinConfiguration AzureManagedMachinePool IngressRoute Middleware ServersTransport AIGatewayRoute InferencePool'''.split()
)
"""Kinds that an extractor reads by name; any other kind is read when it holds `containers`."""

_NEXT_OBJECT = regex(rb'\}[ \t]*\r?\n(?=\{)')
_KIND = regex(rb'["\']?([A-Za-z0-9]+)["\']?[ \t]*(?:#[^\n]*)?\r?(?:\n|$)')


class Slice(NamedTuple):
    """One document's bytes in its file: offsets, and the line number of the first."""

    start: int
    end: int
    line: int


def split(data: bytes, original: bytes | None = None) -> Iterator[Slice]:
    """The documents between `---` lines at column 0: exact, since no YAML value can hold such a line.

    Lines are counted in `original` where `data` is its mask, which has more of them.
    """
    original = data if original is None else original
    start, line, size = 0, 1, len(data)
    search = 0
    while True:
        at = _separator(data, search)
        if at < 0:
            yield Slice(start, size, line)
            return
        if at > start and not _only_directives(data, start, at):
            yield Slice(start, at, line)
            line += original.count(b'\n', start, at)
            start = at
        search = at + 3


def split_json(data: bytes) -> Iterator[Slice]:
    """The objects of a JSON file: one, or several written one after the other, which kubectl reads too.

    Exact: between two values of one document stands a comma, and no JSON string holds a line end.
    """
    ends = [match.end() for match in _NEXT_OBJECT.finditer(data)] if b'"apiVersion"' in data else []
    start, line = 0, 1
    for end in (*ends, len(data)):
        yield Slice(start, end, line)
        line += data.count(b'\n', start, end)
        start = end


def _separator(data: bytes, search: int) -> int:
    while True:
        at = data.find(b'---', search)
        if at < 0:
            return -1
        if (at == 0 or data[at - 1] in b'\n\r' or (at == 3 and data[:3] == b'\xef\xbb\xbf')) and (
            at + 3 >= len(data) or data[at + 3] in b' \t\r\n'
        ):
            return at
        search = at + 3


def _only_directives(data: bytes, start: int, end: int) -> bool:
    """Whether a slice holds nothing but `%` directives and comments, which belong to the next document."""
    if data[start : start + 1] != b'%':
        return False
    return all(line[:1] in (b'%', b'#', b'') for line in data[start:end].splitlines())


def kind_of(data: bytes, start: int, end: int) -> bytes:
    """The `kind:` at column 0 of a document, or b'' where it is not plainly written there."""
    at = start if data[start : start + 5] == b'kind:' else data.find(b'\nkind:', start, end) + 1
    if at == 0 and data[:5] != b'kind:':
        return b''
    at += 5
    while data[at : at + 1] in (b' ', b'\t'):
        at += 1
    match = _KIND.match(data, at, end)
    return match[1] if match else b''


def is_empty(data: bytes, start: int, end: int) -> bool:
    """Whether a slice holds only separators and comments."""
    if data.find(b':', start, end) >= 0 or end - start > 4096:
        return False
    for line in data[start:end].splitlines():
        text = line.split(b'#')[0].strip(b' \t\r\xef\xbb\xbf')
        if text and text.rstrip(b'-.') and text != b'---':
            return False
    return True


def is_read(kind: bytes, data: bytes, start: int, end: int) -> bool:
    """Whether an extractor reads a Kubernetes object of this kind: by name, or for the pod template in it."""
    return kind in READ_KINDS or kind.endswith(b'List') or data.find(b'containers', start, end) >= 0
