"""Rules for I/O schedulers of a host (change 9 of the July checklist)."""

from collections.abc import Iterator

from configaudit.model import Component, NotApplicable, Problem, rule

_KERNEL = 'Linux block/elevator.c elevator_get_default'
_VIRTUAL = ('vd', 'xvd', 'loop', 'zram', 'dm-', 'md')


def _demand_in_force(host: Component) -> None:
    if host.peers('hidden'):
        raise NotApplicable('its file is not in force: another one is')


def _names(host: Component) -> list[str]:
    """The alternatives of the device pattern."""
    return [name for name in str(host['device'].value).split('|') if name]


@rule(
    'io-scheduler-not-none-on-nvme',
    on='io-scheduler',
    severity='advice',
    source=f'{_KERNEL}; RHEL 10, Setting the disk scheduler',
    checklist='july-9',
)
def scheduler_on_nvme(host: Component) -> Iterator[Problem]:
    """mq-deadline or bfq on NVMe costs throughput: the kernel's own choice for a device with many queues is none.

    The July checklist took mq-deadline for the default of NVMe. The kernel sets mq-deadline only for a device with
    one hardware queue; NVMe has many and gets none, and Red Hat advises to leave that. kyber is accepted: it can
    help when tenants disturb each other, which has to be measured.

    When it is wrong: measured gains under interfering workloads.

    Evidence: on NVMe, schedulers cost up to 63 % of throughput, and kyber and bfq cut P99 by up to 99 % only under
    interference (ICPE 2024, doi 10.1145/3629526.3645053).
    """
    _demand_in_force(host)
    names = _names(host)
    nvme = [name for name in names if name.startswith('nvme')]
    if not nvme:
        raise NotApplicable('it is not for NVMe devices')
    scheduler = host['scheduler']
    if scheduler.value in ('mq-deadline', 'deadline', 'bfq'):
        fix = scheduler.set('none') if len(nvme) == len(names) else None
        yield Problem(
            scheduler, '{value} on NVMe ({device}), where the default with many queues is none', device=nvme[0], fix=fix
        )


@rule(
    'io-scheduler-none-on-disk',
    on='io-scheduler',
    severity='advice',
    side_effect='a little CPU time on every request', source=f'{_KERNEL}; RHEL 10, Setting the disk scheduler',
)
def none_on_disk(host: Component) -> Iterator[Problem]:
    """Without a scheduler a rotating disk seeks for every request in the order of arrival: mq-deadline sorts them.

    Virtual disks report themselves as rotating and are not judged.
    """
    _demand_in_force(host)
    if host['rotational'].value != '1' or any(name.startswith(_VIRTUAL) for name in _names(host)):
        raise NotApplicable('it is not for rotating disks')
    scheduler = host['scheduler']
    if scheduler.value in ('none', 'kyber'):
        yield Problem(scheduler, '{value} on rotating disks leaves requests unsorted', fix=scheduler.set('mq-deadline'))


@rule(
    'io-scheduler-unknown',
    on='io-scheduler',
    severity='advice',
    source='Linux 5.0: the block layer with one queue, and with it noop and cfq, was removed',
)
def scheduler_unknown(host: Component) -> Iterator[Problem]:
    """noop and cfq left the kernel with Linux 5.0: writing them fails and the device keeps its default.

    When it is wrong: the host runs an older kernel.
    """
    _demand_in_force(host)
    scheduler = host['scheduler']
    if scheduler.value in ('noop', 'cfq'):
        fix = scheduler.set('none') if scheduler.value == 'noop' else None
        yield Problem(
            scheduler,
            '{value} does not exist since Linux 5.0: writing it fails and the device keeps its default',
            fix=fix,
        )
