"""Rules for securityContext.sysctls: what the kubelet rejects, and what needs its leave."""

from collections.abc import Iterator

from configaudit.knowledge import sysctls
from configaudit.model import Component, NotApplicable, Problem, rule

_DOC = 'Kubernetes documentation, tasks/administer-cluster/sysctl-cluster'
_FILES = ('fs.file-max', 'fs.nr_open')


def _namespace(entry: Component) -> str:
    """The kind of namespace that holds a pod's parameter, or ''."""
    if entry['scope'].value != 'pod':
        raise NotApplicable('it is not set by a pod')
    found = (space for prefix, space in sysctls.POD_PREFIXES.items() if entry.name.startswith(prefix))
    return next(found, '')


@rule(
    'pod-sysctl-file-max', on='sysctl', severity='error', source=f'{_DOC}: only namespaced sysctls', checklist='july-10'
)
def pod_file_max(entry: Component) -> Iterator[Problem]:
    """fs.file-max belongs to the node: the kubelet rejects a pod that sets it.

    Open files of a pod are bounded by RLIMIT_NOFILE, which the container runtime sets; Kubernetes has no field for it.
    """
    _namespace(entry)
    if entry.name in _FILES:
        yield Problem(
            entry['name'], '{value} is a setting of the node: the kubelet rejects the pod; open files are bounded by the '
            'RLIMIT_NOFILE that the container runtime sets',
        )  # fmt: skip


@rule(
    'pod-sysctl-not-namespaced',
    on='sysctl',
    severity='error',
    source=f'{_DOC}: only namespaced sysctls; kubernetes component-helpers/node/util/sysctl',
)
def pod_not_namespaced(entry: Component) -> Iterator[Problem]:
    """A parameter of the whole node cannot be set by a pod: it is rejected or its container does not start.

    kernel.shm*, kernel.msg*, kernel.sem, fs.mqueue.* and net.* belong to a pod's namespaces, apart from some net.*
    that are the node's own or read-only there. Set the others on the node (sysctl.d, or a privileged DaemonSet).
    """
    space = _namespace(entry)
    if entry.name in _FILES:
        raise NotApplicable('pod-sysctl-file-max says it')
    if not space:
        yield Problem(entry['name'], '{value} belongs to the whole node: the kubelet rejects the pod')
    elif entry.name in sysctls.NODE_WIDE_NET:
        yield Problem(
            entry['name'], '{value} cannot be written in the network namespace of a pod: the container does not start'
        )


@rule(
    'pod-sysctl-host-namespace',
    on='sysctl',
    severity='error',
    source=f'{_DOC}; kubernetes pkg/kubelet/sysctl/allowlist.go',
)
def pod_host_namespace(entry: Component) -> Iterator[Problem]:
    """net.* with hostNetwork, or kernel.shm* and the like with hostIPC, is refused: it would change the node."""
    space = _namespace(entry)
    if not space:
        raise NotApplicable('it belongs to no namespace of a pod')
    shares = entry['host_network'] if space == 'network' else entry['host_ipc']
    if shares.value:
        field = 'hostNetwork' if space == 'network' else 'hostIPC'
        yield Problem(
            entry['name'], '{value} is refused in a pod with {field}: true', field=field, see=[(field, shares)]
        )


@rule('pod-sysctl-unsafe', on='sysctl', severity='warning', source=f'{_DOC}: safe and unsafe sysctls')
def pod_unsafe(entry: Component) -> Iterator[Problem]:
    """A parameter off the safe list needs the leave of every kubelet: elsewhere the pod is rejected (SysctlForbidden).

    The kubelet takes it only when --allowed-unsafe-sysctls names it; nodes without that need a taint or a label, or
    the scheduler places the pod where it cannot run. What is safe only since 1.37 is advice.

    When it is wrong: all nodes allow the parameter.
    """
    space = _namespace(entry)
    if (
        not space
        or entry.name in sysctls.NODE_WIDE_NET
        or entry['host_network' if space == 'network' else 'host_ipc'].value
    ):
        raise NotApplicable('it is refused in any case')
    since = sysctls.SAFE_SINCE.get(entry.name)
    if since is None:
        yield Problem(
            entry['name'],
            '{value} is not on the safe list: a kubelet without it in allowedUnsafeSysctls rejects the pod',
        )
    elif since == sysctls.NEW_AS_SAFE:
        yield Problem(
            entry['name'], '{value} is safe only since Kubernetes {since}: an older kubelet rejects the pod unless '
            'allowedUnsafeSysctls names it', since=since, severity='advice',
        )  # fmt: skip
