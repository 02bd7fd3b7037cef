"""Rules for Go programs under container limits: item 8 of the July checklist."""

import math
from collections.abc import Iterator

from configaudit.model import Component, NotApplicable, Problem, Unknown, rule
from configaudit.units import show_bytes

_FROM_LIMIT = {'name': 'GOMAXPROCS', 'valueFrom': {'resourceFieldRef': {'resource': 'limits.cpu'}}}


@rule(
    'gomaxprocs-unset', on='go-runtime', severity='warning', checklist='july-8',
    source='July tuning checklist, change 8; Go 1.25 release notes, GODEBUG containermaxprocs',
    effect='no throttling by the CPU quota, steadier P99', side_effect='none below the limit: the quota allows no more anyway',
)  # fmt: skip
def gomaxprocs_unset(runtime: Component) -> Iterator[Problem]:
    """A Go program below 1.25 runs as many threads as the node has cores, and its CPU limit throttles them.

    Set GOMAXPROCS from limits.cpu (resourceFieldRef), import automaxprocs, or move go.mod to go 1.25.
    """
    limit, version, procs = runtime['cpu_limit'], runtime['go_version'], runtime['gomaxprocs']
    if procs.is_set:
        return
    if not limit.is_set:
        raise NotApplicable('no CPU limit: nothing throttles')
    cores = limit.value
    if not version.is_set:
        raise Unknown('the Go version that built the program is not among the files read')
    if not runtime['follows_quota'].value:
        yield Problem(
            limit, 'Go {go} under a limit of {cores} CPUs without GOMAXPROCS runs a thread for every core of the node and is throttled',
            go=version.value, cores=cores, confidence=None if runtime['evidence'].known_value == 'name' else 'medium', see=[('the Go version', version)],
            fix=procs.set([_FROM_LIMIT]) if procs.slot and procs.slot.path == ('env',) else None,
        )  # fmt: skip


@rule(
    'gomaxprocs-above-cpu-limit', on='go-runtime', severity='warning', checklist='july-8',
    source='July tuning checklist, change 8; Linux CFS bandwidth control', effect='no throttling by the CPU quota',
)  # fmt: skip
def gomaxprocs_above_cpu_limit(runtime: Component) -> Iterator[Problem]:
    """More running threads than the CPU limit allows use up the quota early and then stand still for the rest of the period."""
    procs, limit = runtime['gomaxprocs'], runtime['cpu_limit']
    if not procs.is_set or not limit.is_set:
        raise NotApplicable('GOMAXPROCS or the CPU limit is not set')
    allowed = math.ceil(limit.value)
    if procs.value > allowed:
        fix = procs.set(allowed)
        yield Problem(procs, 'GOMAXPROCS {value} is over the limit of {cores} CPUs', cores=limit.value, see=[('the CPU limit', limit)], fix=fix)


@rule(
    'gomaxprocs-from-missing-limit', on='go-runtime', severity='advice', checklist='july-8',
    source='Kubernetes downward API: a resource field without a limit gives the node\'s allocatable value',
    effect='GOMAXPROCS is a number that somebody chose',
)  # fmt: skip
def gomaxprocs_from_missing_limit(runtime: Component) -> Iterator[Problem]:
    """GOMAXPROCS is taken from limits.cpu, but the container has no CPU limit: it becomes the node's core count."""
    source, limit = runtime['gomaxprocs_from'], runtime['cpu_limit']
    if not source.is_set or source.value != 'limits.cpu':
        raise NotApplicable('GOMAXPROCS is not taken from limits.cpu')
    if limit.value is None:
        yield Problem(source, 'GOMAXPROCS comes from limits.cpu, which is not set: it becomes the number of cores of the node')


@rule(
    'gomaxprocs-from-node-cores', on='go-runtime', severity='warning', confidence='medium', checklist='july-8',
    source='Go runtime.NumCPU: the CPUs of the affinity mask, no quota; a call of runtime.GOMAXPROCS turns the automatic value of Go 1.25 off',
    effect='no throttling by the CPU quota',
)  # fmt: skip
def gomaxprocs_from_node_cores(runtime: Component) -> Iterator[Problem]:
    """The program sets GOMAXPROCS to runtime.NumCPU(), the cores of the node, under a CPU limit that allows fewer: leave the call out."""
    source, limit = runtime['gomaxprocs_from'], runtime['cpu_limit']
    if source.known_value != 'runtime.NumCPU':
        raise NotApplicable('the program does not set it to the cores of the node')
    if not limit.is_set:
        raise NotApplicable('no CPU limit: nothing throttles')
    yield Problem(source, 'runtime.GOMAXPROCS(runtime.NumCPU()) runs a thread for every core of the node under a limit of {cores} CPUs', cores=limit.value, see=[('the CPU limit', limit)])


@rule(
    'automaxprocs-superseded', on='go-runtime', severity='advice', checklist='july-8', source='Go 1.25 release notes: GOMAXPROCS follows the quota and its changes, rounded up; automaxprocs sets it once, rounded down',
    effect='the number of threads follows a changed limit',
)  # fmt: skip
def automaxprocs_superseded(runtime: Component) -> Iterator[Problem]:
    """From Go 1.25 on the runtime follows the CPU limit by itself: automaxprocs turns that off, rounds 1.5 CPUs down to 1, and does not see a limit that changes."""
    automatic, version = runtime['automatic'], runtime['go_version']
    if not automatic.value or not version.is_set:
        raise NotApplicable('automaxprocs is not imported')
    if runtime['follows_by_itself'].value:
        yield Problem(automatic, 'Go {go} follows the CPU limit by itself, and automaxprocs turns that off', go=version.value, see=[('the Go version', version)])


@rule(
    'gomemlimit-above-memory-limit', on='go-runtime', severity='error', checklist='july-8',
    source='Go runtime/debug.SetMemoryLimit: leave 5-10 % for what the runtime does not count',
    effect='the collector works before the kernel kills', side_effect='more garbage collection near the limit',
)  # fmt: skip
def gomemlimit_above_memory_limit(runtime: Component, *, share: float = 0.9) -> Iterator[Problem]:
    """A GOMEMLIMIT at or above the container's memory limit protects nothing: the kernel kills the process first."""
    soft, hard = runtime['gomemlimit'], runtime['memory_limit']
    if not soft.is_set or not hard.is_set:
        raise NotApplicable('GOMEMLIMIT or the memory limit is not set')
    if soft.value <= share * hard.value:
        return
    percent = round(100 * soft.value / hard.value)
    yield Problem(
        soft, 'GOMEMLIMIT {soft} is {percent} % of the memory limit {hard}: over {share} % the kernel kills before the collector helps',
        soft=show_bytes(soft.value), hard=show_bytes(hard.value), percent=percent, share=round(share * 100),
        see=[('the memory limit', hard)], severity=None if soft.value > hard.value else 'warning',
        fix=soft.set(f'{int(share * hard.value) >> 20}MiB') if soft.slot else None,
    )  # fmt: skip


@rule(
    'gomemlimit-without-unit', on='go-runtime', severity='error', checklist='july-8',
    source='Go runtime: GOMEMLIMIT is a number with B, KiB, MiB, GiB or TiB, or off; anything else stops the program at start',
    effect='the program starts',
)  # fmt: skip
def gomemlimit_without_unit(runtime: Component) -> Iterator[Problem]:
    """The Go runtime stops at start with "malformed GOMEMLIMIT" when the value has another form than 512MiB.

    Kubernetes quantities (512Mi, 1G) are not valid; a bare number is bytes.
    """
    text = runtime['gomemlimit_text']
    if not text.is_set:
        raise NotApplicable('GOMEMLIMIT is not set')
    value = str(text.value).strip()
    if runtime['gomemlimit'].is_known or value.isdigit() or value in ('off', ''):
        return
    fix = text.set(value + 'B') if value.endswith(('Ki', 'Mi', 'Gi', 'Ti')) and value[:-2].isdigit() else None
    yield Problem(text, 'GOMEMLIMIT {value} is malformed: Go stops at start, it wants B, KiB, MiB, GiB or TiB', fix=fix)


@rule(
    'gogc-off-without-memory-limit', on='go-runtime', severity='error', checklist='july-8',
    source='Go runtime: GOGC=off collects only when GOMEMLIMIT is reached', effect='the heap stays below the memory limit',
)  # fmt: skip
def gogc_off_without_memory_limit(runtime: Component) -> Iterator[Problem]:
    """GOGC=off without GOMEMLIMIT never collects: the heap grows until the kernel kills the process."""
    gogc = runtime['gogc']
    if not gogc.is_set:
        raise NotApplicable('GOGC is not set')
    if str(gogc.value).strip().lower() != 'off':
        return
    if not runtime['gomemlimit'].is_set and not runtime['gomemlimit_text'].value:
        yield Problem(gogc, 'GOGC is off and GOMEMLIMIT is not set: the heap grows until the process is killed', fix=gogc.set(100))
