"""What a program takes from its environment, joined with the process that sets it: sizes, addresses, and how many copies of its pool there are."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from configaudit.extract.environment import Stores, environment_of
from configaudit.extract.process import Process
from configaudit.extract.services.dsn import parse_dsn
from configaudit.extract.services.statements import default_statements
from configaudit.extract.words import Word
from configaudit.knowledge.images import name_and_tag
from configaudit.model import Component, Setting
from configaudit.units import number

_TAKEN = ('max_open', 'overflow', 'max_idle', 'min_idle', 'max_lifetime_s', 'idle_timeout_s', 'wait_timeout_s', 'connect_timeout_s', 'library', 'decided_by', 'processes')
"""What a program says of a pool whose process only says the URL."""


class _User(NamedTuple):
    """A process that sets a variable which some program reads."""

    carrier: Component
    image: str
    environment: Mapping[str, Word]


def asks(component: Component) -> bool:
    """Whether a program takes something of it from its environment. Other kinds name a variable too: that of a library."""
    return 'written_in' in component.kind.settings and ('variable' in component.settings or 'decided_by' in component.settings)


def join(components: list[Component], processes: Iterable[Process], stores: Stores) -> list[Component]:
    """The components with what their environment says; a program's pool that is one process's pool becomes that one."""
    programs = [component for component in components if asks(component) and component['written_in'].known_value]
    wanted = {name for program in programs for name in _variables(program)}
    users = [user for process in processes if (user := _user(process, stores, wanted)) is not None]
    taken: set[int] = set()
    for program in programs:
        own = [user for user in users if _variables(program) & user.environment.keys()]
        named = [user for user in own if _is_of(user, program)]
        own = named or own
        written = dict(program.settings)
        program.settings.update(_decided(program, own))
        _address(program, own)
        if program.kind.name == 'pool' and (named or _is_only(program, programs, own)) and _lend(program, written, own, components):
            taken.add(id(program))
    return [component for component in components if id(component) not in taken] if taken else components


def _variables(program: Component) -> set[str]:
    decided: Sequence[tuple[str, str, float]] = program['decided_by'].known_value if 'decided_by' in program.settings else ()  # type: ignore[assignment]
    address = program['variable'].known_value if 'variable' in program.settings else None
    return {name for _, name, _ in decided} | ({str(address)} if address else set())


def _user(process: Process, stores: Stores, wanted: set[str]) -> _User | None:
    environment = environment_of(process, stores)
    found = {name: environment[name] for name in wanted if name in environment}
    image = name_and_tag(process.image.value)[0] if process.image is not None else ''
    return _User(process.component, image, found) if found else None


def _is_of(user: _User, program: Component) -> bool:
    """Whether a process is named after a folder of the program: 'orders' runs services/orders/src/db.ts."""
    folders = program.place.outermost().document.path.lower().split('/')[:-1]
    names = {user.carrier.name.lower(), user.image.rpartition('/')[2].lower(), *(workload.name.lower() for workload in user.carrier.peers('workload'))}
    return any(name in folders for name in names if name)


def _is_only(program: Component, programs: Iterable[Component], users: Sequence[_User]) -> bool:
    """Whether no other program reads the variable, and all processes that set it run one image."""
    variable = program['variable'].known_value
    others = [other for other in programs if other.kind.name == 'pool' and other['variable'].known_value == variable]
    return len(others) == 1 and len({user.image for user in users}) == 1


def _decided(program: Component, users: Sequence[_User]) -> dict[str, Setting]:
    """What the environment makes of the settings; several processes that say different things leave it open."""
    settings: dict[str, Setting] = {}
    for name, variable, factor in program['decided_by'].known_value if 'decided_by' in program.settings else ():  # type: ignore[attr-defined]
        words = [user.environment[variable] for user in users if variable in user.environment]
        if not words:
            continue
        values = dict.fromkeys(value * factor if word.known and (value := number(word.value)) is not None else None for word in words)
        place, kept = words[0].place, program[name]
        found = [int(value) if value == int(value) else value for value in values if value is not None]
        if len(values) == 1 and found:
            settings[name] = Setting(name, found[0], place, 'inherited', unit=kept.unit, uses=(kept.place,), locked=kept.locked)
        else:
            reason = f'${variable} is not known' if None in values else f'${variable} differs between the processes that set it'
            settings[name] = Setting(name, None, place, 'inherited', reason, () if None in values else tuple(found), unit=kept.unit, locked=kept.locked)
    return settings


def _address(program: Component, users: Sequence[_User]) -> None:
    """The host of the URL, or the target, that the environment gives."""
    variable = str(program['variable'].known_value or '')
    words = {user.environment[variable].value: user.environment[variable] for user in users if variable in user.environment}
    if len(words) != 1:
        return
    value, word = next(iter(words.items()))
    if program.kind.name != 'pool':
        if word.known and value:
            program.settings['target'] = Setting('target', value, word.place, 'inherited')
        return
    dsn = parse_dsn(word)
    if dsn is not None and dsn.host:
        program.settings['host'] = Setting('host', dsn.host, word.place, 'inherited')
        program.settings['product'] = Setting('product', dsn.product, word.place, 'inherited')


def _lend(program: Component, written: Mapping[str, Setting], users: Sequence[_User], components: Iterable[Component]) -> bool:
    """Give the processes' own pools of this variable what the program says of them, each in its own environment; whether there are any."""
    by_carrier = {user.carrier: user for user in users}
    variable, lent = program['variable'].known_value, False
    for pool in components:
        if pool.kind.name != 'pool' or 'carrier' not in pool.peer_map or not variable or pool['variable'].known_value != variable:
            continue
        user = by_carrier.get(pool.peers('carrier')[0])
        if user is None:
            continue
        if not (pool['max_open'].is_set and pool['max_open'].is_known):
            own = {**written, **_decided(program, [user])}
            pool.settings.update({name: own[name] for name in _TAKEN if name in own and not (name == 'max_open' and own[name].origin == 'inherited' and not own[name].is_known)})
            pool.partial = pool.partial or program.partial
            if not pool['statement_cache'].is_set and not pool['statement_cache'].is_known:
                pool.settings['statement_cache'] = own['statement_cache'] if own['statement_cache'].is_known else default_statements(str(pool['library'].known_value), '', pool.place)
        lent = True
    return lent
