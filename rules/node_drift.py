"""Rules for what a host's files set and the host does not show: schedulers, huge pages, limits of services."""

import math
from collections.abc import Iterator

from configaudit.model import Component, NotApplicable, Problem, Setting, Unknown, rule

_UNITS = {'containerd': 'containerd.service', 'dockerd': 'docker.service', 'crio': 'crio.service', 'kubelet': 'kubelet.service', 'ollama': 'ollama.service'}


@rule('disk-scheduler-differs', on='block-device', severity='warning', checklist='july-9', source='udev(7): rules are read by the names of their files, the last one that matches wins')
def scheduler_differs(disk: Component) -> Iterator[Problem]:
    """A disk runs another scheduler than its udev rule or tuned profile sets: the next boot changes it, or the rule never worked.

    A rule with conditions that files do not show (a model, a size, a jump to a label) is not assessed.
    """
    setters = disk.peers('scheduler-setter')
    if not setters or not disk['scheduler'].is_known:
        raise NotApplicable('no rule sets its scheduler')
    scheduler, wanted = disk['scheduler'], setters[-1]['scheduler']
    if any(setter['conditional'].value for setter in setters) and {setter['scheduler'].value for setter in setters} != {scheduler.value}:
        raise Unknown('a rule for it has conditions that no file shows')
    if scheduler.value != wanted.value:
        where = wanted.place.outermost().document.path
        offered = '' if wanted.value in disk['schedulers'].value else ', which the kernel does not offer'
        yield Problem(scheduler, '{disk} runs {value}, and {where} sets {wanted}{offered}', disk=disk.name, where=where, wanted=wanted.value, offered=offered, see=[('the rule', wanted)])


def _huge_pages_setter(host: Component, file: str) -> tuple[Setting, object] | None:
    """What should hold: tuned's word, which gives way to the command line of the kernel, else tmpfiles.d's."""
    found = [mode['mode'] for mode in host.peers('huge-page-mode') if mode['file'].value == file and not mode.peers('hidden')]
    boot = host['boot_parameters']
    spoken = boot.known_value.get('transparent_hugepage') if isinstance(boot.known_value, dict) and file == 'enabled' else None
    profile = [mode for mode in found if '/tuned/' in mode.place.document.path]
    if profile and not spoken:
        return profile[-1], profile[-1].value
    if found and not profile:
        return found[-1], found[-1].value
    return (boot, spoken) if spoken else None


@rule('huge-pages-differ', on='host', severity='warning', source='tmpfiles.d(5), type w; tuned plugin vm; Linux Documentation/admin-guide/mm/transhuge.rst, boot parameters')
def huge_pages_differ(host: Component) -> Iterator[Problem]:
    """Transparent huge pages are not in the mode that the command line of the kernel, tmpfiles.d or the tuned profile sets."""
    setters = [(host[f'thp_{file}'], setter) for file in ('enabled', 'defrag') if (setter := _huge_pages_setter(host, file)) is not None]
    if not setters:
        raise NotApplicable('no file sets a mode')
    for mode, (source, wanted) in setters:
        if mode.value != wanted:
            where = source.place.outermost().document.path
            yield Problem(mode, 'the mode is {value}, and {where} sets {wanted}', where=where, wanted=wanted, see=[('the file', source)])


@rule('unit-limit-not-in-force', on='host-process', severity='warning', checklist='july-10', source='systemd.exec(5), LimitNOFILE: a limit is given when the process starts; proc(5), /proc/PID/limits')
def limit_not_in_force(process: Component) -> Iterator[Problem]:
    """A service runs with another limit of open files than its unit and drop-ins set: it was not restarted since they changed.

    Only hard limits are compared: programs raise the soft one themselves.
    """
    name = _UNITS.get(str(process['program'].value))
    units = [unit for unit in process.peer('host').peers('unit') if unit.name == name and not unit.partial and unit['runs'].value]
    if len(units) != 1 or not units[0]['nofile_hard'].is_set:
        raise NotApplicable('no unit was read that sets a limit for it')
    hard, wanted = process['nofile_hard'], units[0]['nofile_hard']
    if hard.value != wanted.value and math.inf not in (hard.value, wanted.value):
        where = wanted.place.outermost().document.path
        yield Problem(hard, '{program} may open {value} files, and {where} sets {wanted}: it was not restarted since', program=process['program'].value, where=where, wanted=wanted.value, see=[('the unit', wanted)])
