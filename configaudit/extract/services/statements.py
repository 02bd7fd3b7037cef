"""Whether a driver keeps named prepared statements on its connections, which a pooler that hands out connections by transaction must follow.

Sources: PgJDBC prepareThreshold (5) and preferQueryMode; pgx v5 default_query_exec_mode (cache_statement), statement_cache_capacity
(512); asyncpg statement_cache_size (100); Prisma's URL parameter pgbouncer; Active Record prepared_statements (true, 1000 of them);
Npgsql Max Auto Prepare (0); sqlx statement_cache_capacity (100); postgres.js prepare (true).
"""

from collections.abc import Mapping

from configaudit.extract.services.values import setting_of
from configaudit.extract.words import Word
from configaudit.model import Setting
from configaudit.places import Place

_IN_LIBRARIES = {'prisma': (100, 'Prisma default'), 'sqlx': (100, 'sqlx default'), 'postgres.js': (1, 'postgres.js default, prepare: true')}
_DEFAULTS = {'rails': (1000, 'Active Record default'), 'adonet': (0, 'Npgsql default'), 'asyncpg': (100, 'asyncpg default'), **_IN_LIBRARIES}
_IN_CODE = 'whether the program keeps prepared statements stands in its code'
_UNNAMED = ('cache_describe', 'describe_exec', 'exec', 'simple_protocol')


def url_statements(parameters: Mapping[str, Word], library: str, jdbc: bool, is_open: bool, place: Place) -> Setting | None:
    """What the parameters of a database URL say of it; None where they say nothing."""
    threshold, mode, bouncer = parameters.get('preparethreshold'), parameters.get('defaultqueryexecmode'), parameters.get('pgbouncer')
    if bouncer is not None and bouncer.known:
        return Setting('statement_cache', 0 if bouncer.value == 'true' else 100, bouncer.place)
    if mode is not None and mode.known:
        return Setting('statement_cache', 0 if mode.value in _UNNAMED else 512, mode.place)
    if jdbc and threshold is not None:
        return setting_of('statement_cache', threshold, 'count')
    if jdbc:
        simple = parameters.get('preferquerymode')
        value = 0 if simple is not None and simple.value == 'simple' else 5
        reason = 'the URL ends in a part that is not known' if is_open else ''
        return Setting('statement_cache', value, place, 'default', reason, source='PgJDBC: from the 5th execution on')
    if library == 'prisma':
        return Setting('statement_cache', 100, place, 'default', 'the URL ends in a part that is not known' if is_open else '', source='Prisma default')
    return None


def default_statements(library: str, partial: str, place: Place) -> Setting:
    """What holds where nobody says anything."""
    if library in _DEFAULTS:
        value, source = _DEFAULTS[library]
        return Setting('statement_cache', value, place, 'default', partial, source=source)
    return Setting('statement_cache', None, place, 'default', _IN_CODE)
