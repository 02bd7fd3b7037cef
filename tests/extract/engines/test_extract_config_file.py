"""Options in the YAML file of --config."""

from collections.abc import Callable

from configaudit.model import Component

Engines = Callable[..., list[Component]]
Pod = Callable[..., str]
CONFIG = """apiVersion: v1
kind: ConfigMap
metadata: {name: engine}
data:
  engine.yaml: |
    max-num-seqs: 48
    gpu_memory_utilization: 0.8
    enable-prefix-caching: false
    enforce-eager: true
"""
MOUNT = """      volumeMounts: [{name: engine, mountPath: /etc/engine}]
  volumes: [{name: engine, configMap: {name: engine}}]
"""


def test_options_of_a_mounted_file(engines: Engines, pod: Pod) -> None:
    args = '[--model=/m/x, --config, /etc/engine/engine.yaml, --gpu-memory-utilization=0.7]'
    (found,) = engines({'pod.yaml': pod('vllm/vllm-openai:v0.10.2', '', args) + MOUNT, 'config.yaml': CONFIG})
    assert found['max_num_seqs'].value == 48
    assert found['gpu_memory_utilization'].value == 0.7
    assert found['enforce_eager'].value is True
    assert found['enable_prefix_caching'].origin == 'default'  # vLLM passes over `false`
    assert [option.name for option in found['arguments'].value.unread] == ['--enable-prefix-caching']
    assert [option.name for option in found['arguments'].value.overridden] == ['--gpu-memory-utilization']


def test_a_file_that_is_not_there_hides_options(engines: Engines, pod: Pod) -> None:
    (found,) = engines({'pod.yaml': pod('vllm/vllm-openai:v0.10.2', '', '[--model=/m/x, --config, /etc/engine/engine.yaml]')})
    assert not found['max_num_seqs'].is_known
    assert found['max_num_seqs'].is_set
