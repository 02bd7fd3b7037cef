"""Odyssey, pgpool-II and ProxySQL: what they accept and what they open."""

import random
from collections.abc import Callable

import pytest

from configaudit.model import Component
from configaudit.parse.braces import read
from configaudit.result import Result

Run = Callable[..., Result]


def parts(result: Result) -> tuple[Component, list[Component]]:
    pools = [component for component in result.components if component.kind.name == 'pool']
    (server,) = (component for component in result.components if component.kind.name == 'database' and component['pooler'].value)
    return server, pools


ODYSSEY = """\
# one server
workers 4
client_max 500
storage "main" {
	type "remote"
	host "store"
	port 5432
}
database "shop" {
	user "shop" {
		storage "main"
		pool "transaction"
		pool_size 120
	}
	user default { storage "main" pool "transaction" }
}
"""
PROXYSQL = """\
datadir="/var/lib/proxysql"
mysql_variables=
{
    max_connections=3000
    wait_timeout=600000  # ms
}
mysql_servers =
(
    { address="store" , port=3306 , hostgroup=0, max_connections=200 },
    { address="store-2" , port=3306 , hostgroup=1 }
)
"""


def test_odyssey(run: Run) -> None:
    server, pools = parts(run({'odyssey.conf': ODYSSEY}))
    assert (server['max_connections'].value, server['pool_mode'].value) == (500, 'transaction')
    assert [(pool.name, pool['max_open'].value, pool['host'].value) for pool in pools] == [
        ('odyssey shop/shop', 120, 'store'),
        ('odyssey shop/default', float('inf'), 'store'),
    ]


def test_proxysql(run: Run) -> None:
    server, pools = parts(run({'proxysql.cnf': PROXYSQL}))
    assert (server['max_connections'].value, server['wait_timeout_s'].value) == (3000, 600)
    assert sorted((pool['max_open'].value, pool['host'].value) for pool in pools) == [(200, 'store'), (1000, 'store-2')]


def test_pgpool(run: Run) -> None:
    text = "num_init_children = 120\nmax_pool = 1\nbackend_hostname0 = 'store'\nclient_idle_limit = 300\n"
    files = {'pgpool.conf': text, 'compose.yaml': 'services:\n  store:\n    image: postgres:17\n'}
    result = run(files)
    server, _ = parts(result)
    assert (server['max_connections'].value, server['wait_timeout_s'].value) == (120, 300)
    (found,) = (item for item in result.findings if item.rule.id == 'db-pools-exceed-server')
    assert (found.values['total'], found.severity) == (120, 'error')


def test_pairs_that_nobody_counts_are_not_assessed(run: Run) -> None:
    text = "num_init_children = 40\nbackend_hostname0 = 'store'\n"
    result = run({'pgpool.conf': text, 'compose.yaml': 'services:\n  store:\n    image: postgres:17\n'})
    assert 'db-pools-exceed-server' in {item.rule.id for item in result.not_assessed}


@pytest.mark.parametrize('text', ['{' * 5000, '}' * 50, '"', 'a {', '/*', 'a = ( { b = "c', '\x00{\x00}', ODYSSEY[:-3]])
def test_broken_nesting_is_read(text: str) -> None:
    read(text)


def test_mutated_files_are_read() -> None:
    choose = random.Random(7)
    for _ in range(400):
        letters = list(ODYSSEY + PROXYSQL)
        for _ in range(30):
            letters[choose.randrange(len(letters))] = choose.choice('{}()[]"\\#;=\n\x00é')
        read(''.join(letters))
