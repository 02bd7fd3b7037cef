"""Whose values /proc showed: a container sees its own network and process namespaces, even through a mounted host /proc.

Measured on Linux 6.18: /proc/sys/net follows the reader's network namespace, kernel.pid_max its process namespace;
net.core.netdev_max_backlog exists in the first network namespace only, process 2 (kthreadd) in the first process namespace only.
"""

from collections.abc import Callable, Mapping

HOST, OTHER, UNKNOWN = 'host', 'other', 'unknown'


def namespaces(files: Mapping[str, str], peek: Callable[[str], str | None]) -> dict[str, str]:
    """'netns' and 'pidns': host, other or unknown."""
    if '/proc/sys/net/core/netdev_max_backlog' in files:
        network = HOST
    else:
        network = OTHER if '/proc/sys/net/core/somaxconn' in files else UNKNOWN
    second = peek('/proc/2/comm')
    if second is not None:
        process = HOST if second.strip() == 'kthreadd' else OTHER
    else:
        process = OTHER if peek('/proc/1/comm') is not None else UNKNOWN
    return {'netns': network, 'pidns': process}
