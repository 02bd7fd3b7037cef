"""How a live value of a host is changed: the command for now, its undoing, and the file that makes it last.

Sources: sysctl.d(5), udev(7), tmpfiles.d(5), systemd.unit(5), Kubernetes documentation (kubelet-config-file, drop-in directory).
"""

import shlex
from collections.abc import Callable
from typing import NamedTuple

SYSCTL_FILE = '/etc/sysctl.d/99-configaudit.conf'
UDEV_FILE = '/etc/udev/rules.d/99-configaudit.rules'
TMPFILES_FILE = '/etc/tmpfiles.d/99-configaudit.conf'
DROP_IN = 'zz-configaudit.conf'
"""Of units: drop-ins are read by name, and override.conf, which `systemctl edit` writes, comes after digits."""
KUBELET_FILE = '/etc/kubernetes/kubelet.conf.d/99-configaudit.conf'
KUBELET_HEAD = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n'


class Step(NamedTuple):
    """One change of a live value."""

    now: str
    """Shell command that applies it; '' where only the file can."""
    undo: str
    """Shell command that brings the old value back; '' where taking the file away is enough."""
    file: str
    """The file that makes it last; '' where a person must edit one."""
    text: str
    """What that file gets: whole lines."""
    note: str = ''
    """What else a person must know or do."""


def step_of(target: tuple[str, ...], value: object, old: str) -> Step:
    """The step for a target: ('sysctl', key), ('scheduler', device), ('read_ahead_kb', device), ('thp', file), ('governor', pattern),

    ('unit', unit, key), ('kubelet', key), ('swap', device), ('clocksource', device). KeyError for any other.
    """
    return _STEPS[target[0]](target[1:], _shown(value), old)


def _shown(value: object) -> str:
    return ('true' if value else 'false') if isinstance(value, bool) else str(value)


def _sysctl(target: tuple[str, ...], value: str, old: str) -> Step:
    key = target[0]
    undo = f'sysctl -w {shlex.quote(f"{key}={old}")}' if old else _write('/proc/sys/' + key.replace('.', '/'), '')  # sysctl -w takes no empty value
    return Step(f'sysctl -w {shlex.quote(f"{key}={value}")}', undo, SYSCTL_FILE, f'{key} = {value}\n')


def _write(path: str, value: str) -> str:
    return f'echo {shlex.quote(value)} > {path}'


def _scheduler(target: tuple[str, ...], value: str, old: str) -> Step:
    return _queue('scheduler', target, value, old)


def _read_ahead(target: tuple[str, ...], value: str, old: str) -> Step:
    return _queue('read_ahead_kb', target, value, old)


def _queue(attribute: str, target: tuple[str, ...], value: str, old: str) -> Step:
    path = f'/sys/block/{shlex.quote(target[0])}/queue/{attribute}'
    rule = f'ACTION=="add|change", SUBSYSTEM=="block", KERNEL=="{target[0]}", ATTR{{queue/{attribute}}}="{value}"\n'
    return Step(_write(path, value), _write(path, _in_brackets(old)), UDEV_FILE, rule)


def _in_brackets(text: str) -> str:
    """The word in force of a list such as `none [mq-deadline]`, or the text itself."""
    marked = [word[1:-1] for word in text.split() if word.startswith('[')]
    return marked[0] if marked else text


def _huge_pages(target: tuple[str, ...], value: str, old: str) -> Step:
    path = f'/sys/kernel/mm/transparent_hugepage/{target[0]}'
    return Step(_write(path, value), _write(path, _in_brackets(old)), TMPFILES_FILE, f'w {path} - - - - {value}\n')


def _governor(target: tuple[str, ...], value: str, old: str) -> Step:
    path = '/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor'

    def every(word: str) -> str:
        return f'for file in {path}; do {_write("$file", word)}; done'

    return Step(every(value), every(old), TMPFILES_FILE, f'w {path} - - - - {value}\n', 'a tuned profile may set it again')


def _clocksource(target: tuple[str, ...], value: str, old: str) -> Step:
    path = f'/sys/devices/system/clocksource/{target[0]}/current_clocksource'
    return Step(_write(path, value), _write(path, old), '', '', f'add clocksource={value} to the command line of the kernel')


def _unit(target: tuple[str, ...], value: str, old: str) -> Step:
    unit, key = target
    reload = f'systemctl daemon-reload && systemctl restart {shlex.quote(unit)}'
    return Step(reload, reload, f'/etc/systemd/system/{unit}.d/{DROP_IN}', f'[Service]\n{key}={value}\n', f'restarts {unit}; running containers keep their limits until they are recreated')


def _kubelet(target: tuple[str, ...], value: str, old: str) -> Step:
    text = f'{target[0]}: {value}\n'
    return Step('systemctl restart kubelet', 'systemctl restart kubelet', KUBELET_FILE, KUBELET_HEAD + text, 'read where kubelet runs with --config-dir; else edit its configuration file')


def _swap(target: tuple[str, ...], value: str, old: str) -> Step:
    device = shlex.quote(target[0])
    return Step(f'swapoff {device}', f'swapon {device}', '', '', f'take {target[0]} out of /etc/fstab, or mask its swap unit')


_STEPS: dict[str, Callable[[tuple[str, ...], str, str], Step]] = {
    'sysctl': _sysctl, 'thp': _huge_pages, 'governor': _governor, 'clocksource': _clocksource, 'unit': _unit, 'kubelet': _kubelet, 'swap': _swap,
    'scheduler': _scheduler, 'read_ahead_kb': _read_ahead,
}  # fmt: skip
