"""Where pools connect, and which of several variables is their size."""

from collections.abc import Callable

import pytest

from configaudit.model import Component
from configaudit.result import Result

Run = Callable[..., Result]
GO = 'package a\n\nimport (\n\t"database/sql"\n\n\t_ "github.com/go-sql-driver/mysql"\n)\n\nfunc f() {\n\tdb, _ := sql.Open("mysql", "URL")\n\tdb.SetMaxOpenConns(5)\n\tserve(db)\n}\n'


def only_pool(result: Result) -> Component:
    (pool,) = (one for one in result.components if one.kind.name == 'pool')
    return pool


@pytest.mark.parametrize(('url', 'host'), [('app:pw@tcp(db.prod:3306)/app?parseTime=true', 'db.prod'), ('app:pw@unix(/run/my.sock)/app', None), ('host=db user=a', None)])
def test_the_host_of_a_mysql_address(run: Run, url: str, host: str | None) -> None:
    pytest.importorskip('tree_sitter_go')
    assert only_pool(run({'svc/a.go': GO.replace('URL', url)}))['host'].known_value == host


def test_a_variable_of_the_pool_goes_before_one_that_may_be_the_servers(run: Run) -> None:
    text = 'services:\n  app:\n    image: example.com/app:1\n    environment:\n      PG_MAX_CONNS: 100\n      DATABASE_URL: postgresql://a:b@db/a\n      DATABASE_POOL_SIZE: 15\n'
    assert only_pool(run({'compose.yaml': text}))['max_open'].value == 15
