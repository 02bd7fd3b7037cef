"""Flags of the kubelet, which go before its configuration file: in kubeadm's objects, and on the command line of a running one.

Source: Kubernetes documentation, kubelet reference and kubelet-config-file (flags override the file); kubeadm API v1beta3 (a mapping)
and v1beta4 (a list of name and value).
"""

from collections.abc import Iterable, Iterator
from typing import Any

from configaudit import units
from configaudit.knowledge.node_kinds import KUBELET
from configaudit.model import Setting, Slot
from configaudit.places import Place

FLAGS = {
    'pod-max-pids': 'pod_pids_limit', 'serialize-image-pulls': 'serialize_image_pulls', 'eviction-hard': 'eviction_hard',
    'allowed-unsafe-sysctls': 'unsafe_sysctls', 'cpu-manager-policy': 'cpu_manager_policy', 'topology-manager-policy': 'topology_manager_policy',
    'reserved-cpus': 'reserved_cpus', 'kube-reserved': 'kube_reserved', 'system-reserved': 'system_reserved', 'fail-swap-on': 'fail_swap_on',
    'image-gc-high-threshold': 'image_gc_high', 'protect-kernel-defaults': 'protect_kernel_defaults',
}  # fmt: skip
"""Flag -> setting of a kubelet."""


def flag_setting(flag: str, text: str, place: Place, slot: Slot | None = None) -> Setting | None:
    """The setting that a flag gives; None for a flag that no rule asks for."""
    name = FLAGS.get(flag.removeprefix('--'))
    if name is None:
        return None
    value = _value(name, text)
    return Setting(name, value, place, reason='' if value is not None else f'{text!r} is no value of {flag}', slot=slot)


def _value(name: str, text: str) -> Any:
    unit = KUBELET.settings[name].unit
    if unit == 'count':
        return units.integer(text)
    if unit == 'bool':
        return units.boolean(text)
    if name == 'unsafe_sysctls':
        return [part for part in text.split(',') if part]
    if name == 'eviction_hard':
        return dict(part.split('<', 1) for part in text.split(',') if '<' in part)
    if name in ('kube_reserved', 'system_reserved'):
        return dict(part.split('=', 1) for part in text.split(',') if '=' in part)
    return text


def spoken_flags(words: Iterable[str]) -> Iterator[tuple[str, str]]:
    """The flags of a command line with their values, written with = or as the next word; a switch alone is true."""
    held = ''
    for word in words:
        flag, equals, value = word.partition('=')
        if flag.startswith('--'):
            if held:
                yield held, 'true'
            held = '' if equals else flag
            if equals:
                yield flag, value
        elif held:
            yield held, word
            held = ''
    if held:
        yield held, 'true'
