"""Open files of nginx: each connection is one, on either side."""

from collections.abc import Callable

import pytest

from configaudit.result import Result

CONF = 'events {{ worker_connections {count}; }}\nhttp {{\n  limit_conn_zone $server_name zone=all:1m;\n  server {{ {limit} location / {{ proxy_pass http://app:80; }} }}\n}}\n'


@pytest.mark.parametrize(
    ('count', 'limit', 'expected'),
    [
        (768, '', []),
        (1024, '', ['advice']),
        (1024, 'limit_conn all 1000;', ['warning']),
        (2048, '', ['warning']),
    ],
)
def test_worker_connections_against_the_soft_limit(run: Callable[..., Result], count: int, limit: str, expected: list[str]) -> None:
    result = run({'nginx.conf': CONF.format(count=count, limit=limit)})
    assert [item.severity for item in result.findings if item.rule.id == 'nginx-worker-rlimit-unset'] == expected


@pytest.mark.parametrize(('files', 'expected'), [
    ({'nginx.conf': CONF.format(count=512, limit='')}, []),
    ({'nginx.conf': CONF.format(count=512, limit='').replace('app:80', 'vllm:8000')}, ['advice']),
    ({'nginx.conf': CONF.format(count=512, limit='limit_conn all 2000;')}, ['warning']),
    ({'nginx.conf': CONF.format(count=512, limit=''), 'conf.d/llm.conf': 'server { location /v1/chat/completions { proxy_pass http://app:80; } }'}, ['advice']),
])  # fmt: skip
def test_few_connections_matter_where_answers_take_long(run: Callable[..., Result], files: dict[str, str], expected: list[str]) -> None:
    assert [item.severity for item in run(files).findings if item.rule.id == 'nginx-worker-connections-low'] == expected
