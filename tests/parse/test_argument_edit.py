"""Edits of command lines in lists, in strings and in scripts."""

import pytest

from configaudit.model import REMOVE
from configaudit.parse.argument_edit import edit
from configaudit.parse.yaml import parse
from configaudit.parse.yaml_edit import CannotEdit


def written(text: str, at: str, path: tuple[str, ...], value: object, *, script: bool = False, yaml: bool = True) -> str:
    """The text after an edit of the word `at` (its last occurrence), or behind it."""
    start = text.rindex(at)
    roots = parse(text.encode()).roots if yaml else None
    for one in sorted(edit(text, roots, start, start + len(at), path, value, script=script), reverse=True):
        text = text[: one.start] + one.text + text[one.end :]
    return text


@pytest.mark.parametrize(
    ('text', 'at', 'expected'),
    [
        ('a:\n  - --m=x\n', '--m=x', 'a:\n  - --m=x\n  - --new=1\n'),
        ('a:\n  - --m=x # why\n  - --n\n', '--m=x', 'a:\n  - --m=x # why\n  - --new=1\n  - --n\n'),
        ('a:\n- "--m=x"', '--m=x', 'a:\n- "--m=x"\n- "--new=1"'),
        ("a:\r\n  -  '--m'\r\n", '--m', "a:\r\n  -  '--m'\r\n  -  '--new=1'\r\n"),
        ('a: [--m, x]\n', 'x', 'a: [--m, x, --new=1]\n'),
        ('{"a": ["--m", "x"]}', 'x', '{"a": ["--m", "x", "--new=1"]}'),
        ('{"a": [\n  "--m",\n  "x"\n]}', 'x', '{"a": [\n  "--m",\n  "x",\n  "--new=1"\n]}'),
        ('a: [serve,\n    x]\n', 'x', 'a: [serve,\n    x,\n    --new=1]\n'),
        ('a:\n  - &x --m\n', '--m', 'a:\n  - &x --m\n  - --new=1\n'),
    ],
)
def test_a_flag_is_added_to_a_list(text: str, at: str, expected: str) -> None:
    assert written(text, at, ('--new',), 1) == expected


@pytest.mark.parametrize(
    ('text', 'at', 'yaml', 'expected'),
    [
        ('c: vllm serve m\n', 'm', True, 'c: vllm serve m --new=1\n'),
        ('c: "vllm serve m"\n', 'm', True, 'c: "vllm serve m --new=1"\n'),
        ('c: "m"\n', 'm', True, 'c: "m --new=1"\n'),
        ('a: [-c, "vllm serve m"]\n', 'm', True, 'a: [-c, "vllm serve m --new=1"]\n'),
        ('a:\n  - -c\n  - vllm serve m\n', 'm', True, 'a:\n  - -c\n  - vllm serve m --new=1\n'),
        ('vllm serve "m" && x\n', 'm', False, 'vllm serve "m" --new=1 && x\n'),
        ('vllm serve \\\n  m # c\n', 'm', False, 'vllm serve \\\n  m \\\n  --new=1 # c\n'),
        ('vllm serve \\\r\n\tm\r\n', 'm', False, 'vllm serve \\\r\n\tm \\\r\n\t--new=1\r\n'),
    ],
)
def test_a_flag_is_added_to_a_script(text: str, at: str, yaml: bool, expected: str) -> None:
    assert written(text, at, ('--new',), 1, script=True, yaml=yaml) == expected


@pytest.mark.parametrize(
    ('text', 'at', 'expected'),
    [
        ('a:\n  - --x\n  - --m=1 # gone\n  - --y\n', '--m=1', 'a:\n  - --x\n  - --y\n'),
        ('a:\n  - --x\n  - --m\n  - "5"\n', '"5"', 'a:\n  - --x\n'),
        ('a: [--x, --m, 5, --y]\n', '5', 'a: [--x, --y]\n'),
        ('{"a": ["--x", "--m"]}', '"--m"', '{"a": ["--x"]}'),
        ('{"a": [\n  "--x",\n  "--m"\n]}', '"--m"', '{"a": [\n  "--x"\n]}'),
        ('c: serve m --n 5 --y\n', '5', 'c: serve m --y\n'),
        ('a: [-c, "serve m --gone --y"]\n', '--gone', 'a: [-c, "serve m --y"]\n'),
        ("a:\n  - --x\n  - '--m={1 2}'\n", '{1 2}', 'a:\n  - --x\n'),
    ],
)
def test_a_flag_is_taken_out_with_its_value(text: str, at: str, expected: str) -> None:
    assert written(text, at, (), REMOVE) == expected


@pytest.mark.parametrize(
    ('text', 'at', 'expected'),
    [
        ('serve m --n 5 --y\n', '5', 'serve m --y\n'),
        ('serve m \\\n  --n 5 \\\n  --y\n', '5', 'serve m \\\n  --y\n'),
        ('serve m \\\n  --y \\\n  --n 5\n', '5', 'serve m \\\n  --y\n'),
        ('serve m --n="5" --y\n', '5', 'serve m --y\n'),
        ('serve m --gone\n', '--gone', 'serve m\n'),
    ],
)
def test_a_flag_is_taken_out_of_a_script(text: str, at: str, expected: str) -> None:
    assert written(text, at, (), REMOVE, yaml=False) == expected


@pytest.mark.parametrize(
    ('text', 'at', 'value', 'expected'),
    [
        ('a: ["--n", "5"]\n', '"5"', 6, 'a: ["--n", "6"]\n'),
        ('a: [--n, 5]\n', '5', 6, 'a: [--n, 6]\n'),
        ('- name: X\n  value: spawn\n', 'spawn', 0, '- name: X\n  value: "0"\n'),
        ('- name: X\n  value: 5\n', '5', 0, '- name: X\n  value: 0\n'),
        ('- --n=fast\n', 'fast', 0, '- --n=0\n'),
        ('c: serve --n fast\n', 'fast', 0, 'c: serve --n 0\n'),
    ],
)
def test_a_value_keeps_its_quotes_and_stays_text(text: str, at: str, value: object, expected: str) -> None:
    assert written(text, at, (), value) == expected


@pytest.mark.parametrize(
    ('text', 'at', 'path', 'value', 'reason'),
    [
        ('b: &b [--x, --m]\na: *b\n', '--m', ('--new',), 1, 'share'),
        ('b: &b --m\na: [--x, *b]\n', '--m', (), REMOVE, 'share'),
        ('a:\n  - --m\n', '--m', (), REMOVE, 'nothing would be left'),
        ('a: [--n, 5]\n', '5', (), 'two words', 'quotes'),
    ],
)
def test_what_needs_a_person(text: str, at: str, path: tuple[str, ...], value: object, reason: str) -> None:
    with pytest.raises(CannotEdit, match=reason):
        written(text, at, path, value)
