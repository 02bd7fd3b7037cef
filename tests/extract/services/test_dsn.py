"""Database URLs: product, host, parameters, and what is left open."""

import pytest

from configaudit.extract.services.dsn import parse_ado, parse_dsn
from configaudit.extract.words import Word
from configaudit.places import Document, Place
from configaudit.units import HOLE


def word(text: str) -> Word:
    return Word(text, Place(Document('x', 'text', text.encode()), 0, len(text)))


@pytest.mark.parametrize(
    ('url', 'product', 'host'),
    [
        ('postgres://u:p@db:5432/app', 'postgres', 'db'),
        ('postgresql+asyncpg://u:p%40x@db.data.svc:5432/app?ssl=require', 'postgres', 'db.data.svc'),
        ('mysql://u:p@ss@DB/app', 'mysql', 'db'),
        ('mysql2://db/app', 'mysql', 'db'),
        ('jdbc:mariadb://a:3306,b:3306/app', 'mysql', 'a'),
        ('jdbc:mysql:loadbalance://a,b/app', 'mysql', 'a'),
        ('jdbc:sqlserver://sql:1433;databaseName=app', 'mssql', 'sql'),
        ('jdbc:mysql://${DB_HOST:orders-db}:${DB_PORT:3306}/app', 'mysql', 'orders-db'),
        ('jdbc:mysql://${DB_HOST}:3306/app', 'mysql', ''),
        (f'postgres://u:{HOLE}@db/app', 'postgres', 'db'),
        (f'postgres://u:p@{HOLE}/app', 'postgres', ''),
        ('postgres://u:p@127.0.0.1/app', 'postgres', '127.0.0.1'),
    ],
)
def test_product_and_host(url: str, product: str, host: str) -> None:
    dsn = parse_dsn(word(url))
    assert dsn is not None
    assert (dsn.product, dsn.host) == (product, host)


@pytest.mark.parametrize('text', ['', 'sqlite:///x.db', 'jdbc:h2:mem:test', 'redis://r:6379', 'https://db/app', 'postgres', HOLE, 'mongodb://m/x'])
def test_what_is_no_pooled_database(text: str) -> None:
    assert parse_dsn(word(text)) is None


def test_a_parameter_has_its_own_place() -> None:
    dsn = parse_dsn(word('mysql://db/app?ssl=1&connection_limit=12'))
    assert dsn is not None
    limit = dsn.parameters['connectionlimit']
    assert (limit.value, limit.place.text) == ('12', '12')


@pytest.mark.parametrize(
    ('url', 'is_open'),
    [
        (f'postgres://db/{HOLE}', False),
        (f'postgres://{HOLE}', True),
        (f'postgres://db/x?a=b&{HOLE}', True),
        (f'postgres://db/x?a={HOLE}', False),
        ('postgres://db/x', False),
    ],
)
def test_open_where_parameters_may_be_hidden(url: str, is_open: bool) -> None:
    dsn = parse_dsn(word(url))
    assert dsn is not None
    assert dsn.open is is_open


@pytest.mark.parametrize(
    ('text', 'found'),
    [
        ('Host=pg;Database=a;Username=u;Maximum Pool Size=40', ('postgres', 'pg')),
        ('Server=tcp:sql,1433;Initial Catalog=a;User ID=u', ('mssql', 'sql')),
        ('Endpoint=sb://bus/;SharedAccessKeyName=x', None),
        ('localhost:6379,abortConnect=false', None),
    ],
)
def test_ado_strings(text: str, found: tuple[str, str] | None) -> None:
    dsn = parse_ado(word(text))
    assert (dsn and (dsn.product, dsn.host)) == found
