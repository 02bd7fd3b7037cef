"""Batchers: windows in milliseconds from every unit that files write, with the place of the number."""

from collections.abc import Callable

import pytest

from configaudit.extract.services.batching import read
from configaudit.model import Component, Unknown
from configaudit.places import Document
from configaudit.result import Result


def batchers(form: str, text: str) -> list[Component]:
    return read(Document('model/config', form, text.encode())).components


def test_triton() -> None:
    text = 'name: "a"\nmax_batch_size: 8\ndynamic_batching { preferred_batch_size: 4 preferred_batch_size: 8 max_queue_delay_microseconds: 500 }'
    (found,) = batchers('pbtxt', text)
    assert (found['window_ms'].value, found['batch_size'].value, found['preferred_sizes'].value) == (0.5, 8, ('4', '8'))
    assert found['window_ms'].place.text == '500'
    assert found['preferred_sizes'].slot is None


def test_triton_defaults() -> None:
    (found,) = batchers('pbtxt', 'backend: "python"\ndynamic_batching {}')
    assert (found['window_ms'].value, found['window_ms'].origin, found['queue_size'].value) == (0, 'default', 0)
    with pytest.raises(Unknown):
        _ = found['batch_size'].value


def test_triton_without_a_batcher() -> None:
    assert batchers('pbtxt', 'name: "a"\nmax_batch_size: 8') == []


def test_triton_queue_of_sequences() -> None:
    (found,) = batchers('pbtxt', 'sequence_batching { oldest { max_queue_delay_microseconds: 200000 } }')
    assert found['window_ms'].value == 200
    assert not found['queue_policies'].is_set


def test_torchserve_models_over_several_lines() -> None:
    text = 'inference_address=http://0.0.0.0:8080\nmodels={\\\n "a": {"1.0": {"batchSize": 4, "maxBatchDelay": 50, "responseTimeout": 60}},\\\n "b": {"2": {"batchSize": 2}}}\n'
    first, second = batchers('torchserve', text)
    assert (first['window_ms'].value, first['batch_size'].value, first['response_timeout_s'].value) == (50, 4, 60)
    assert first['window_ms'].place.text == '50'
    assert (second['window_ms'].value, second['window_ms'].origin) == (100, 'default')
    assert second.place.text == 'batchSize'


@pytest.mark.parametrize('text', ['a=b', 'models=', 'models={{{', 'models=[1]', 'models={"a": 1}', 'model_snapshot={"models": {"a": {"1": 3}}}'])
def test_torchserve_without_models(text: str) -> None:
    assert batchers('torchserve', text) == []


def test_tf_serving() -> None:
    (found,) = batchers('tf-batching', 'max_batch_size { value: 128 }\nbatch_timeout_micros { value: 1000 }')
    assert (found['window_ms'].value, found['batch_size'].value) == (1, 128)


def test_ray_service(run: Callable[..., Result]) -> None:
    text = """apiVersion: ray.io/v1
kind: RayService
metadata: {name: a}
spec:
  serveConfigV2: |
    applications:
      - name: x
        deployments:
          - name: D
            user_config: {batch_wait_timeout_s: 0.05, max_batch_size: 4}
          - name: E
            user_config: {threshold: 1}
"""
    (found,) = [one for one in run({'a.yaml': text}).components if one.kind.name == 'batcher']
    assert (found.name, found['window_ms'].value, found['batch_size'].value) == ('x.D', 50, 4)


def test_kserve_batcher_in_a_template_is_not_guessed(run: Callable[..., Result]) -> None:
    text = """apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
metadata: {name: a}
spec:
  predictor:
    batcher:
      maxLatency: {{ .Values.latency }}
"""
    result = run({'a.yaml': text})
    assert [one.rule.id for one in result.findings if one.rule.id.startswith('batching')] == []
    assert any(one.rule.id == 'batching-window-long' for one in result.not_assessed)
