"""Python source: calls by full name, constants folded, places, hostile input."""

import ast
from contextlib import suppress

import pytest

from configaudit.parse.python import MAX_DEPTH, Source, Unfolded, Unreadable, spelled, tree_of
from configaudit.places import Document, locate


def source(text: str) -> Source:
    return Source(Document('a.py', 'python', text.encode()))


def value(expression: str, before: str = '') -> object:
    read = source(f'{before}\nimport m\nm.f({expression})\n')
    (call,) = [call for name, call in read.calls() if name == 'm.f']
    return read.value(call.args[0])


@pytest.mark.parametrize(
    ('imports', 'call'),
    [
        ('from vllm import LLM', 'LLM()'),
        ('from vllm import LLM as Engine', 'Engine()'),
        ('import vllm', 'vllm.LLM()'),
        ('import vllm as v', 'v.LLM()'),
    ],
)
def test_a_call_is_known_by_its_full_name(imports: str, call: str) -> None:
    assert [name for name, _ in source(f'{imports}\nx = {call}\n').calls()] == ['vllm.LLM']


def test_what_is_not_imported_has_no_name() -> None:
    assert list(source('def LLM(): ...\nLLM()\nself.LLM()\n').calls()) == []


@pytest.mark.parametrize(
    ('expression', 'before', 'result'),
    [
        ('64', '', 64), ('-0.5', '', -0.5), ('64 * 8', '', 512), ('"a" + "b"', '', 'ab'), ('N', 'N = 8', 8), ('N * 2', 'N: int = 8', 16),
        ('f"{M}-x"', 'M = "org/m"', 'org/m-x'), ('{"a": [1, True]}', '', {'a': [1, True]}), ('dict(a=1)', '', {'a': 1}), ('None', '', None),
    ],
)  # fmt: skip
def test_constants_are_folded(expression: str, before: str, result: object) -> None:
    assert value(expression, before) == result


@pytest.mark.parametrize(
    ('expression', 'before'),
    [
        ('N', 'N = 8\nN = 9'), ('N', 'def f(N): ...'), ('N', 'from c import N'), ('N', 'N = 1\nN += 1'), ('d', 'd = {"a": 1}\nd["b"] = 2'),
        ('d', 'd = {"a": 1}\nd.update(x)'), ('os.environ["N"]', 'import os'), ('f"{x:.2f}"', 'x = 0.5'), ('2 ** 10 ** 10', ''), ('x', 'x = x + 1'),
        ('"a" * 10 ** 9', ''), ('{**d}', 'd = {}'), ('N', 'for N in (1, 2): ...'),
    ],
)  # fmt: skip
def test_what_only_running_tells_is_not_folded(expression: str, before: str) -> None:
    with pytest.raises(Unfolded):
        value(expression, before)


def test_values_that_double_do_not_take_for_ever() -> None:
    before = 'a0 = 1\n' + ''.join(f'a{n} = a{n - 1} + a{n - 1}\n' for n in range(1, MAX_DEPTH + 5))
    with pytest.raises(Unfolded):
        value(f'a{MAX_DEPTH - 1}', before)


@pytest.mark.parametrize('end', ['\n', '\r\n', '\r'])
def test_places_count_code_points(end: str) -> None:
    read = source(end.join(['import m', '# ü', 'é = "ü"; m.f(x="ß", y=7)', '']))
    ((_, call),) = list(read.calls())
    assert read.place(call.keywords[1].value).text == '7'
    assert (locate(read.place(call.func)).line, locate(read.place(call.func)).column) == (3, 10)


@pytest.mark.parametrize('text', ['def f(:', 'x = 1\n\ty = 2', '(' * 5000, '-' * 200_000 + '1', 'a' + '.b' * 100_000, 'x\0y', '[' * 100 + '1' + ']' * 99])
def test_hostile_text_is_unreadable_and_nothing_else(text: str) -> None:
    with suppress(Unreadable):
        tree_of(text)


def test_a_value_is_spelled_as_on_a_command_line() -> None:
    assert [spelled(item) for item in ('a', 1, 0.5, {'k': 'v'}, [1, 2])] == ['a', '1', '0.5', '{"k": "v"}', '[1, 2]']
    assert isinstance(tree_of('x = 1'), ast.Module)
