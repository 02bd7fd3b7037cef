"""Rules for what a pooler in transaction mode takes from its clients."""

from collections.abc import Iterator

from configaudit.model import Component, NotApplicable, Problem, rule


@rule(
    'db-prepared-through-transaction-pooler', on='pool', severity='error', checklist='july-7',
    source='PgBouncer features and max_prepared_statements (1.21: off by default, 1.24: 200); PgJDBC prepareThreshold, pgx default_query_exec_mode, asyncpg statement_cache_size',
    effect='no query fails with \'prepared statement "S_1" does not exist\' or \'already exists\'',
    side_effect='without prepared statements every execution is planned anew',
)  # fmt: skip
def prepared_through_transaction_pooler(pool: Component) -> Iterator[Problem]:
    """The driver prepares statements on a connection that the pooler gives to somebody else after the transaction.

    In transaction mode PgBouncer hands each transaction to any server connection. A named prepared statement is on one of them only,
    unless PgBouncer follows statements itself: from 1.21 on with max_prepared_statements above 0, which is the default from 1.24 on.
    """
    pooler = pool.peer('database') if pool.peers('database') else None
    if pooler is None or not pooler['pooler'].value or pooler['pool_mode'].value not in ('transaction', 'statement'):
        raise NotApplicable('no pooler in transaction mode is between it and its server, as far as the files show')
    kept, followed, mode = pool['statement_cache'], pooler['max_prepared'], pooler['pool_mode']
    if not kept.value or followed.all(bool):
        return
    whose = '' if followed.is_set else f', {followed.source}'
    yield Problem(
        kept, 'the driver keeps named prepared statements{source}, and {server} hands connections out by {mode} and follows none (max_prepared_statements 0{whose})',
        source='' if kept.is_set else f' ({kept.source})', server=pooler.name, mode=mode.value, whose=whose,
        see=[('pool_mode', mode), ('max_prepared_statements', followed)], severity=None if kept.is_set else 'warning',
        fix=kept.set('false' if kept.unit == 'bool' else 0) if kept.is_set and kept.slot is not None else None,
    )  # fmt: skip
