"""Rules for the disks of a live host (change 9 of the July checklist)."""

from collections.abc import Iterator

from configaudit.model import Component, NotApplicable, Problem, rule

_KERNEL = 'Linux block/elevator.c elevator_get_default'
_READ_AHEAD_KIB = 4096


@rule(
    'disk-scheduler-on-nvme', on='block-device', severity='advice', checklist='july-9',
    side_effect='tenants that write much may delay reads of others: measure before and after', source=f'{_KERNEL}; RHEL 10, Setting the disk scheduler; ICPE 2024, doi 10.1145/3629526.3645053',
)  # fmt: skip
def scheduler_on_nvme(disk: Component) -> Iterator[Problem]:
    """A scheduler on NVMe with several hardware queues costs throughput, and somebody set it: the kernel's own choice is none.

    The July checklist took mq-deadline for the default of NVMe. The kernel chooses mq-deadline only for a device with one
    hardware queue, as small virtual machines have. kyber is accepted: it helps where tenants disturb each other, which has to be
    measured.

    When it is wrong: measured gains under interfering workloads.
    """
    if disk['transport'].value != 'nvme' or (disk['below'].value and not disk['scheduler'].is_known):
        raise NotApplicable('it is no NVMe device with a queue of its own')
    queues = disk['queues'].value
    if queues == 1:
        raise NotApplicable('it has one hardware queue, for which mq-deadline is the choice of the kernel')
    scheduler = disk['scheduler']
    if scheduler.value in ('mq-deadline', 'bfq'):
        yield Problem(scheduler, '{disk} with {queues} hardware queues runs {value}: the kernel chooses none, so a udev rule or a tuned profile set it', disk=disk.name, queues=queues, fix=scheduler.set('none'))


@rule('disk-unsorted-on-rotating', on='block-device', severity='advice', side_effect='a little CPU time on every request', source=f'{_KERNEL}; RHEL 10, Setting the disk scheduler')
def unsorted_on_rotating(disk: Component) -> Iterator[Problem]:
    """Without a scheduler a rotating disk seeks for every request in the order of arrival; mq-deadline sorts them.

    Only SCSI and SATA disks are judged: virtual disks report themselves as rotating whatever they stand on.
    """
    if disk['transport'].value != 'scsi' or not disk['rotational'].value:
        raise NotApplicable('it is no rotating disk')
    scheduler = disk['scheduler']
    if scheduler.value == 'none' and 'mq-deadline' in disk['schedulers'].value:
        yield Problem(scheduler, '{disk} rotates and runs no scheduler: requests are not sorted', disk=disk.name, fix=scheduler.set('mq-deadline'))


@rule(
    'disk-read-ahead-small', on='block-device', severity='advice', side_effect='random reads fill the page cache with more than they asked for',
    source='tuned profiles throughput-performance and accelerator-performance (4096 KiB); Linux default 128 KiB',
)  # fmt: skip
def read_ahead_small(disk: Component, *, limit: int = 1024, lowest: int = 128) -> Iterator[Problem]:
    """A small read-ahead loads model files in many small requests: start-up takes longer than the disk needs.

    Below the default of 128 KiB somebody lowered it. Between that and `limit` it is only said of a host that runs an inference
    engine, which reads gigabytes in order. Of stacked devices (LVM, RAID, multipath) the topmost counts: its value is the one of
    the file system.
    """
    size = disk['read_ahead_kb']
    engines = any(process['engine'].value for process in disk.peer('host').peers('host-process'))
    if any(disk.name in other['below'].value for other in disk.peer('host').peers('block-device')):
        raise NotApplicable('the device that stands on it reads ahead')
    if size.value < (limit if engines else lowest):
        least = limit if engines else lowest
        yield Problem(size, '{disk} reads {value} KiB ahead, under {limit}', disk=disk.name, limit=least, fix=size.set(_READ_AHEAD_KIB))
