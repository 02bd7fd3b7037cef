"""What Ollama makes of its variables, by release."""

import pytest

from configaudit.knowledge import ollama
from configaudit.knowledge.gpus import lookup
from configaudit.knowledge.versions import release


@pytest.mark.parametrize(
    ('text', 'seconds'),
    [('5m', 300.0), ('1h30m', 5400.0), ('-1', -1.0), ('-5m', -300.0), ('90', 90.0), ('1.5h', 5400.0), ('1d', None), ('', None), ('5 m', None), ('m', None)],
)
def test_durations(text: str, seconds: float | None) -> None:
    assert ollama.duration(text) == seconds


@pytest.mark.parametrize(('text', 'value'), [('1', True), ('True', True), ('f', False), ('off', None), ('yes', None)])
def test_switches(text: str, value: bool | None) -> None:
    assert ollama.switch(text) is value


@pytest.mark.parametrize(('text', 'value'), [('4', 4), ('4k', None), ('-1', None), ('1.0', None)])
def test_counts(text: str, value: int | None) -> None:
    assert ollama.count(text) == value


@pytest.mark.parametrize(
    ('version', 'parallel'),
    [('0.1.48', (1,)), ('0.2.0', (1, 4)), ('0.6.6', (1, 4)), ('0.6.7', (1, 2)), ('0.9.6', (1, 2)), ('0.10.0', (1,)), ('0.32.0', (1,))],
)
def test_parallel_requests(version: str, parallel: tuple[int, ...]) -> None:
    assert ollama.num_parallel(release(version)).candidates == parallel


@pytest.mark.parametrize(('version', 'context'), [('0.6.6', 2048), ('0.6.7', 4096), ('0.15.4', 4096)])
def test_context_before_the_vram_decides(version: str, context: int) -> None:
    assert ollama.context_length(release(version), None).value == context


@pytest.mark.parametrize(('gpu', 'context'), [('T4', 4096), ('L4', 4096), ('A100-40G', 32768), ('H100', 262144)])
def test_context_by_vram(gpu: str, context: int) -> None:
    assert ollama.context_length(release('0.16.0'), lookup(gpu)).value == context


def test_every_variable_that_is_gone_was_there_once() -> None:
    assert set(ollama.LAST) <= set(ollama.FIRST)
    assert not set(ollama.MEANT) & set(ollama.FIRST)
    assert set(ollama.MEANT.values()) <= set(ollama.FIRST)
