"""Rules for limits.conf and limits.d."""

from collections.abc import Iterator

from configaudit.model import Component, NotApplicable, Problem, Severity, rule

_PAM = 'limits.conf(5), pam_limits(8): applied when a PAM session opens'


@rule(
    'limits-conf-nofile-low',
    on='nofile-limit',
    severity='warning',
    side_effect='a program that walks all possible descriptors takes longer', source=f'July tuning checklist, change 10; {_PAM}',
    checklist='july-10',
)
def nofile_low(row: Component, *, limit: int = 65535, risky: int = 32768) -> Iterator[Problem]:
    """Too few open files for a service with many connections: accept and open fail with "too many open files".

    Every connection, model file and log takes a descriptor; NCCL needs over 32768 in a large job. From `risky` on a
    smaller limit is advice (databases ask for 64000).

    When it is wrong: a row that is meant to hold users of an interactive machine back.
    """
    if row.peers('later'):
        raise NotApplicable('a later row is for the same sessions')
    if row['limit'].value < limit:
        severity: Severity | None = 'advice' if row['limit'].value >= risky else None
        yield Problem(
            row['limit'],
            '{value} open files for {domain} are under {limit}',
            domain=row['domain'].value,
            limit=limit,
            fix=row['limit'].set(65536),
            severity=severity,
        )


@rule('limits-conf-no-effect', on='nofile-limit', severity='advice', source=_PAM)
def no_effect(row: Component) -> Iterator[Problem]:
    """limits.conf holds for login sessions only: neither systemd services nor containers see it.

    Containers take RLIMIT_NOFILE from the runtime: LimitNOFILE of its unit, base_runtime_spec, default-ulimits.
    Only said where the file itself speaks of Kubernetes or its runtime, once for a file.
    """
    if not row['node'].value:
        raise NotApplicable('nothing shows that the rows are meant for containers')
    if row.peers('nofile-limit')[0] is row:
        yield Problem(
            row['limit'],
            'nofile here holds for login sessions only: containers and systemd services keep the limit of their runtime or unit',
        )
