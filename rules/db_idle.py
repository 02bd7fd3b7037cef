"""Rules for connections that a pool keeps idle, and durations of Go programs without a unit."""

from collections.abc import Iterator

from configaudit.model import Component, NotApplicable, Problem, rule


@rule(
    'db-idle-connections-few', on='pool', severity='advice', checklist='july-7', source='Go database/sql SetMaxIdleConns: 2 unless set, never more than SetMaxOpenConns',
    effect='queries find an open connection', side_effect='idle connections stay open at the server: SetConnMaxIdleTime lets them go in quiet hours',
)  # fmt: skip
def idle_connections_few(pool: Component, *, enough: int = 10) -> Iterator[Problem]:
    """database/sql closes every connection beyond the idle ones after its query and opens it again for the next: a login for most queries under load.

    Set the idle connections to what runs at once in ordinary hours, up to SetMaxOpenConns.
    """
    idle, most = pool['max_idle'], pool['max_open']
    if pool['library'].value != 'go' or not most.is_set or (idle.is_known and idle.known_value is None):
        raise NotApplicable('no pool of database/sql with a size')
    if idle.is_set and idle.value > most.value:
        yield Problem(idle, '{value} idle connections are asked for, {most} may be open: database/sql keeps {most}', most=most.value, see=[('the size', most)], detail='above')
    elif most.value >= enough and idle.value <= 2:
        unset = '' if idle.is_set else ' (the default)'
        yield Problem(idle, 'of up to {most} connections {idle}{unset} are kept when idle: under load most queries open one', most=most.value, idle=max(idle.value, 0), unset=unset, see=[('the size', most)])


@rule(
    'go-duration-without-unit', on='go-duration', severity='warning', checklist='july-7', source='Go time.Duration: a number of nanoseconds; found as SetConnMaxLifetime(time.Duration(cfg.Lifetime))',
    effect='the time that was meant holds',
)  # fmt: skip
def duration_without_unit(duration: Component) -> Iterator[Problem]:
    """A time.Duration made from a plain number counts nanoseconds: a lifetime of 300 ends each connection after one query, a timeout of 30 fails every request.

    Multiply by time.Second.
    """
    few, number = duration['nanoseconds'], duration['number']
    if few.value is not None:
        yield Problem(few, '{of} is {value} nanoseconds: the number has no unit', of=duration['of'].value)
    elif number.value:
        yield Problem(number, '{of} takes {value} as nanoseconds: it is a plain number without a unit', of=duration['of'].value, confidence='medium')
