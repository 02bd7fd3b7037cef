"""PromQL: which metrics a query names, where, and what nobody can read."""

import sys
import time

import pytest

from configaudit.parse.promql import MAX_TOKENS, read
from configaudit.units import HOLE


@pytest.mark.parametrize(
    ('query', 'names'),
    [
        ('vllm:a', ['vllm:a']),
        ('sum by (b) (rate(vllm:a{x="vllm:c"}[5m])) / on(y) vllm:a', ['vllm:a', 'vllm:a']),
        ('topk(5, vllm:a) # vllm:b\n or vllm:c', ['vllm:a', 'vllm:c']),
        ('{__name__="vllm:a", b="vllm:c"}', ['vllm:a']),
        ('{__name__=~"^vllm:a$"}', ['vllm:a']),
        ('{"vllm:a", b="c"}', ['vllm:a']),
        ('{__name__=~"vllm:(a|b)", c="d"}', []),
        ('{__name__!="vllm:a", c="d"}', []),
        ('rate(vllm:a{m="$model"}[$__rate_interval])', ['vllm:a']),
        ('rate(vllm:a{m=$model, ${filters}}[$__range:$__interval] offset $o)', ['vllm:a']),
        ('topk($n, vllm:a) by ([[group]]) > ${limit:raw}', ['vllm:a']),
        ('topk($n, sum(vllm:a) by ([[group]])) > ${limit:raw}', ['vllm:a']),
        ('rate(vllm:a[${n}m]) + vllm:$rest + ${start}:b', ['vllm:a']),
        ('sum(<<.Series>>{<<.LabelMatchers>>} + vllm:a{<<.LabelMatchers>>}) by (<<.GroupBy>>)', ['vllm:a']),
        (f'avg(vllm:a{{m="{HOLE}"}}) > {HOLE}', ['vllm:a']),
    ],
)
def test_names(query: str, names: list[str]) -> None:
    found = read(query)
    assert [name.text for name in found.names] == names
    assert all(query[name.start : name.end] == name.text for name in found.names)


def test_alternatives_are_the_other_side_of_or() -> None:
    found = read('(vllm:a or vllm:b) + vllm:c')
    assert [(name.text, set(name.alternatives)) for name in found.names] == [('vllm:a', {'vllm:b'}), ('vllm:b', {'vllm:a'}), ('vllm:c', set())]


@pytest.mark.parametrize(
    ('query', 'broken'),
    [
        ('sum(vllm:a', True),
        ('vllm:a{b="c"', True),
        ('median_over_time(vllm:a[5m])', False),  # MetricsQL
        ('rate(vllm:a)', False),  # MetricsQL
        ('sum(vllm:a{m="$m"}', True),
        ('sum(vllm:a[$range]', False),  # what fills it may close it
        ('', False),
        ('(' * MAX_TOKENS + 'vllm:a' + ')' * MAX_TOKENS, False),
        ('-' * 50_000 + 'vllm:a', False),
        ('vllm:a' + ' or vllm:a' * 50_000, False),
        ('vllm:a{b="' + 'c' * 70_000 + '"}', False),
    ],
)
def test_what_is_not_read(query: str, broken: bool) -> None:
    found = read(query)
    assert found.names == ()
    assert found.problem
    assert found.broken is broken


def test_without_the_parser_nothing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, 'promql_parser', None)
    assert read('vllm:a').problem == 'the package promql-parser is not installed'


@pytest.mark.parametrize('query', ['vllm:a' + ' or vllm:a' * 150, '(' * 250 + 'vllm:a' + ')' * 250, '"' + '\\"\'' * 20_000, '-' * 500 + 'vllm:a', '`{{$[[' * 10_000])
def test_hostile_queries_take_no_time(query: str) -> None:
    began = time.perf_counter()
    read(query)
    assert time.perf_counter() - began < 5
