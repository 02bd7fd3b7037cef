"""Edges of the vLLM rules: what they must say, and what they must not."""

from collections.abc import Callable

import pytest

from configaudit.result import Result

Audit = Callable[..., list[str]]
Run = Callable[..., Result]
H100 = '  nodeSelector: {nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3}\n'
A100 = '  nodeSelector: {nvidia.com/gpu.product: NVIDIA-A100-SXM4-80GB}\n'
IMAGE = 'vllm/vllm-openai:v0.16.0'


def pod(image: str, command: str, args: str) -> str:
    """A pod of one container; command and args in flow style."""
    text = f'apiVersion: v1\nkind: Pod\nmetadata: {{name: p}}\nspec:\n  containers:\n    - name: c\n      image: {image}\n'
    return text + ''.join(f'      {key}: {value}\n' for key, value in (('command', command), ('args', args)) if value)


@pytest.mark.parametrize(
    ('args', 'found_ids'),
    [
        ('--max-num-seqs=16', []),
        ('--max-num-seqs=128', []),
        ('--max-num-seqs=129', ['vllm-batch-too-wide']),
        ('--max-num-seqs=15', ['vllm-batch-too-narrow']),
        ('--port=8000', ['vllm-batch-unset']),
        ('--runner=pooling', []),
    ],
)
def test_batch(found: Audit, args: str, found_ids: list[str]) -> None:
    rules = ('vllm-batch-too-wide', 'vllm-batch-too-narrow', 'vllm-batch-unset')
    lines = found({'pod.yaml': pod(IMAGE, '', f'[--model=/m/x, {args}]')}, *rules)
    assert [line.split()[1] for line in lines] == found_ids


@pytest.mark.parametrize(
    ('share', 'severity'), [('0.8', None), ('0.85', None), ('0.86', 'advice'), ('0.93', 'advice'), ('0.94', 'warning'), ('1', 'warning')]
)
def test_memory_share_steps(run: Run, share: str, severity: str | None) -> None:
    result = run({'pod.yaml': pod(IMAGE, '', f'[--model=/m/x, --gpu-memory-utilization={share}]')})
    assert [item.severity for item in result.findings if item.rule.id == 'vllm-memory-share-high'] == ([severity] if severity else [])


def test_memory_share_of_a_cpu_build_is_left_alone(found: Audit) -> None:
    assert found({'pod.yaml': pod('vllm/vllm-openai-cpu:v0.16.0', '', '[--model=/m/x]')}, 'vllm-memory-share-unset', 'vllm-batch-unset') == []


@pytest.mark.parametrize('image', ['acme/vllm-neuron:1.0', '<your-vllm-neuron-image>', 'acme/vllm:0.9.1-neuronx-py311', 'acme/vllm-ascend:v0.11.0'])
def test_images_for_other_devices_are_left_alone(found: Audit, image: str) -> None:
    text = pod(repr(image), '[vllm, serve]', '[/m/x]')
    assert found({'pod.yaml': text}, 'vllm-memory-share-unset', 'vllm-batch-unset') == []


@pytest.mark.parametrize(('role', 'count'), [('kv_consumer', 0), ('kv_producer', 3), ('kv_both', 3)])
def test_the_decoding_half_of_a_pair_computes_no_prompts(found: Audit, role: str, count: int) -> None:
    flags = '--max-num-batched-tokens=512, --no-enable-prefix-caching, --no-enable-chunked-prefill'
    text = pod(IMAGE, '', f"[--model=/m/x, {flags}, --kv-transfer-config, '{{\"kv_role\": \"{role}\"}}']")
    assert len(found({'pod.yaml': text}, 'vllm-batched-tokens-low', 'vllm-prefix-caching-off', 'vllm-chunked-prefill-off')) == count


@pytest.mark.parametrize(
    ('tag', 'severity', 'words'),
    [('v0.6.1', 'error', ' is unknown to '), ('v0.6.2.dev20', 'advice', ' may be unknown to ')],
)
def test_a_flag_of_a_later_release_is_certain_unless_the_release_was_never_published(run: Run, tag: str, severity: str, words: str) -> None:
    result = run({'pod.yaml': pod(f'vllm/vllm-openai:{tag}', '', '[--model=/m/x, --disable-fastapi-docs]')})
    (finding,) = [item for item in result.findings if item.rule.id == 'vllm-flag-too-new']
    assert (finding.severity, words in finding.message) == (severity, True)


@pytest.mark.parametrize(
    ('node', 'model', 'length', 'expected'),
    [
        (H100, '/m/x', 65536, 1),
        (H100, '/m/x', 8192, 0),
        (H100, 'Qwen/Qwen3-32B', 8192, 1),
        (A100, '/m/x', 65536, 0),
        ('', '/m/x', 65536, 0),
    ],
)
def test_full_precision_cache_only_where_fp8_pays_and_runs(found: Audit, node: str, model: str, length: int, expected: int) -> None:
    text = pod(IMAGE, '', f'[--model={model}, --max-model-len={length}]') + node
    assert len(found({'pod.yaml': text}, 'vllm-kv-cache-full-precision')) == expected


@pytest.mark.parametrize('flag', ['--disable-log-requests', '--disable-log-request'])
def test_a_short_form_is_deprecated_with_the_same_advice(run: Run, flag: str) -> None:
    text = f'docker run vllm/vllm-openai:v0.10.2 --model /m {flag}\n'
    [message] = [item.message for item in run({'run.sh': text}).findings if item.rule.id == 'vllm-flag-deprecated']
    assert 'drop it: request logging is off' in message


def test_unknown_gpu_is_not_assessed(run: Run) -> None:
    result = run({'pod.yaml': pod(IMAGE, '', '[--model=/m/x, --kv-cache-dtype=fp8]')})
    assert 'vllm-kv-cache-fp8-unsupported' in {item.rule.id for item in result.not_assessed}


@pytest.mark.parametrize(('version', 'expected'), [('v0.10.2', 1), ('v0.11.0', 1), ('v0.11.1', 0), ('latest', 0)])
def test_model_as_option_by_version(found: Audit, version: str, expected: int) -> None:
    text = pod(f'vllm/vllm-openai:{version}', '[vllm, serve]', '[--model, /m/x]')
    assert len(found({'pod.yaml': text}, 'vllm-model-as-option')) == expected


@pytest.mark.parametrize(
    ('version', 'flag', 'rule'),
    [
        ('v0.16.0', '--disable-log-requests', 'vllm-flag-deprecated'),
        ('v0.19.1', '--disable-log-requests', 'vllm-flag-removed'),
        ('v0.10.2', '--shutdown-timeout=30', 'vllm-flag-too-new'),
        ('v0.16.0', '--max-num-seq=64', 'vllm-flag-abbreviated'),
        ('v0.16.0', '--kv-transfer-config.kv_role=kv_both', None),
        ('v0.16.0', '--reasoning-parser=some_plugin', None),
        ('latest', '--disable-log-requests', None),
        ('latest', '--max-seqs-num=3', 'vllm-flag-unknown'),
        ('v0.16.0', '--max-model-len=16k', None),
        ('v0.16.0', '--tensor-parallel-size=two', 'vllm-flag-value-invalid'),
    ],
)
def test_flags_by_version(run: Run, version: str, flag: str, rule: str | None) -> None:
    result = run({'pod.yaml': pod(f'vllm/vllm-openai:{version}', '', f'[--model=/m/x, {flag}]')})
    ids = [item.rule.id for item in result.findings if item.rule.id.startswith('vllm-flag')]
    assert ids == ([rule] if rule else [])


def _group(size: int, gpus: int, script: str) -> str:
    limits = f'resources: {{limits: {{nvidia.com/gpu: {gpus}}}}}'
    return f"""apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {{name: big}}
spec:
  leaderWorkerTemplate:
    size: {size}
    leaderTemplate:
      spec:
        containers:
          - name: leader
            image: vllm/vllm-openai:v0.16.0
            command: [sh, -c, "{script}"]
            {limits}
    workerTemplate:
      spec:
        containers: [{{name: worker, image: 'vllm/vllm-openai:v0.16.0', {limits}}}]
"""


@pytest.mark.parametrize(('size', 'gpus', 'expected'), [(2, 8, 0), (1, 8, 1), (2, 4, 1), (4, 4, 0)])
def test_group_of_pods_counts_as_one(found: Audit, size: int, gpus: int, expected: int) -> None:
    text = _group(size, gpus, 'ray start --head; vllm serve /m/x -tp 8 -pp 2')
    assert len(found({'lws.yaml': text}, 'engine-gpus-mismatch')) == expected


@pytest.mark.parametrize(
    ('args', 'gpus', 'ids'),
    [
        ('-tp, "2"', 2, []),
        ('-tp, "4"', 2, ['engine-gpus-mismatch']),
        ('-tp, "2", --data-parallel-size=2', 4, []),
        ('-tp, "2", --data-parallel-size=4, --data-parallel-size-local=2', 4, []),
        ('--port=8000', 2, ['engine-gpus-mismatch']),
        ('-tp, $(TP)', 2, []),
        ('--tensor-parallel-size=2, --nnodes=2', 1, []),
    ],
)
def test_gpus_of_one_pod(found: Audit, args: str, gpus: int, ids: list[str]) -> None:
    text = pod(IMAGE, '', f'[--model=/m/x, {args}]') + f'      resources: {{limits: {{nvidia.com/gpu: {gpus}}}}}\n'
    assert [line.split()[1] for line in found({'pod.yaml': text}, 'engine-gpus-mismatch')] == ids


@pytest.mark.parametrize(
    ('more', 'expected'),
    [
        ('', 1),
        ('  hostIPC: true\n', 0),
        ('      volumeMounts: [{name: s, mountPath: /dev/shm}]\n  volumes: [{name: s, emptyDir: {medium: Memory}}]\n', 0),
        ('      volumeMounts: [{name: s, mountPath: /dev/shm}]\n  volumes: [{name: s, emptyDir: {}}]\n', 1),
        ('      volumeMounts: [{name: s, mountPath: /dev/shm}]\n  volumes: [{name: s, hostPath: {path: /dev/shm}}]\n', 0),
        ('      env: [{name: NCCL_SHM_DISABLE, value: "1"}]\n', 0),
        ('      resources: {limits: {aws.amazon.com/neuron: 2}}\n', 0),
        ('      resources: {limits: {huawei.com/ascend-1980: 2}}\n', 0),
    ],
)
def test_shared_memory(found: Audit, more: str, expected: int) -> None:
    text = pod(IMAGE, '', '[--model=/m/x, -tp, "2"]') + more
    assert len(found({'pod.yaml': text}, 'engine-shm-default')) == expected


@pytest.mark.parametrize(('service', 'links', 'expected'), [('vllm', '', 1), ('vllm', '  enableServiceLinks: false\n', 0), ('chat', '', 0)])
def test_service_links(found: Audit, service: str, links: str, expected: int) -> None:
    text = f'apiVersion: v1\nkind: Service\nmetadata: {{name: {service}}}\nspec: {{selector: {{a: b}}, ports: [{{port: 80}}]}}\n'
    files = {'pod.yaml': pod(IMAGE, '', '[--model=/m/x]') + links, 'service.yaml': text}
    assert len(found(files, 'vllm-service-link-clash')) == expected


@pytest.mark.parametrize(
    ('pod_path', 'service_path', 'namespace', 'expected'),
    [
        ('a/pod.yaml', 'a/service.yaml', '', 1),
        ('a/overlay/pod.yaml', 'a/service.yaml', '', 1),
        ('a/pod.yaml', 'b/service.yaml', '', 0),
        ('a/pod.yaml', 'b/service.yaml', 'chat', 1),
        ('a/pod.yaml', 'b/service.yaml', 'replaced-by-kustomize', 0),
    ],
)
def test_a_service_of_another_application_sets_no_variables(found: Audit, pod_path: str, service_path: str, namespace: str, expected: int) -> None:
    space = f', namespace: {namespace}' if namespace else ''
    text = f'apiVersion: v1\nkind: Service\nmetadata: {{name: vllm{space}}}\nspec: {{selector: {{a: b}}, ports: [{{port: 80}}]}}\n'
    engine = pod(IMAGE, '', '[--model=/m/x]').replace('{name: p}', f'{{name: p{space}}}')
    assert len(found({pod_path: engine, service_path: text}, 'vllm-service-link-clash')) == expected


@pytest.mark.parametrize(('affix', 'expected'), [('nameSuffix: -h100', 0), ('namePrefix: team-', 0), ('namespace: chat', 1)])
def test_kustomize_renames_a_service(found: Audit, affix: str, expected: int) -> None:
    text = 'apiVersion: v1\nkind: Service\nmetadata: {name: vllm}\nspec: {selector: {a: b}, ports: [{port: 80}]}\n'
    files = {
        'base/pod.yaml': pod(IMAGE, '', '[--model=/m/x]'),
        'base/service.yaml': text,
        'base/kustomization.yaml': 'resources: [pod.yaml, service.yaml]\n',
        'h100/kustomization.yaml': f'resources: [../base]\n{affix}\n',
    }
    assert len(found(files, 'vllm-service-link-clash')) == expected


def test_a_headless_service_sets_no_variables(found: Audit) -> None:
    text = 'apiVersion: v1\nkind: Service\nmetadata: {name: vllm}\nspec: {clusterIP: None, selector: {a: b}, ports: [{port: 80}]}\n'
    assert found({'pod.yaml': pod(IMAGE, '', '[--model=/m/x]'), 'service.yaml': text}, 'vllm-service-link-clash') == []


def test_model_of_a_config_file_is_no_option(found: Audit) -> None:
    config = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: e}\ndata:\n  e.yaml: |\n    model: /m/x\n'
    mount = '      volumeMounts: [{name: e, mountPath: /e}]\n  volumes: [{name: e, configMap: {name: e}}]\n'
    files = {'pod.yaml': pod('vllm/vllm-openai:v0.10.2', '[vllm, serve]', '[--config=/e/e.yaml, --port=8000]') + mount, 'config.yaml': config}
    assert found(files, 'vllm-model-as-option', 'vllm-model-missing') == []


@pytest.mark.parametrize(
    ('files', 'severities'),
    [
        ({'a.sh': 'export VLLM_PORT=8000\nvllm serve org/m --port $VLLM_PORT\n'}, ['error']),
        ({'a.sh': 'vllm serve org/m --port ${VLLM_PORT:-8000}\n'}, ['warning']),
        ({'a.sh': 'VLLM_PORT=8000\nvllm serve org/m --port $VLLM_PORT\n'}, []),
        ({'a.py': 'import subprocess\nVLLM_PORT = 8000\nsubprocess.run(["vllm", "serve", "org/m", "--port", str(VLLM_PORT)])\n'}, []),
        ({'a.py': 'import os, subprocess\nsubprocess.run(["vllm", "serve", "org/m", "--port", os.environ["VLLM_PORT"]])\n'}, ['warning']),
    ],
)
def test_a_name_is_a_variable_of_the_environment_only_where_it_is_read_from_there(run: Run, files: dict[str, str], severities: list[str]) -> None:
    assert [item.severity for item in run(files).findings if item.rule.id == 'vllm-port-from-service-link'] == severities


@pytest.mark.parametrize(('more', 'widths'), [('', ['warning']), (', --enable-expert-parallel, --data-parallel-size=16', ['advice'])])
def test_weights_that_ranks_share_out_say_nothing_of_one_gpu(run: Run, more: str, widths: list[str]) -> None:
    args = f'[--model=deepseek-ai/DeepSeek-R1-0528, --max-num-seqs=256{more}]'
    assert [item.severity for item in run({'pod.yaml': pod(IMAGE, '', args)}).findings if item.rule.id == 'vllm-batch-too-wide'] == widths


@pytest.mark.parametrize(
    ('more', 'words'),
    [
        ('', ['a prompt of 8192 tokens takes 16 steps']), ('--max-model-len=2048', ['a prompt of 2048 tokens takes 4 steps']),
        ('--max-model-len=512', []), ('--all2all-backend=deepep_low_latency', []),
    ],
)  # fmt: skip
def test_few_tokens_a_step_cut_only_prompts_that_may_come(run: Run, more: str, words: list[str]) -> None:
    args = f'[--model=/m/x, --max-num-batched-tokens=512{", " + more if more else ""}]'
    result = run({'pod.yaml': pod('vllm/vllm-openai:v0.29.0', '', args)})
    assert [item.message.partition(': ')[2] for item in result.findings if item.rule.id == 'vllm-batched-tokens-low'] == words


@pytest.mark.parametrize(('image', 'more', 'count'), [(IMAGE, '', 1), ('intel/vllm:0.10.0-xpu', '', 0), (IMAGE, ', --quantization=ascend', 0)])
def test_shared_memory_of_other_devices_is_none_of_nccl(found: Audit, image: str, more: str, count: int) -> None:
    text = pod(image, '[vllm, serve]', f'[/m/x, --tensor-parallel-size=2{more}]')
    assert len(found({'pod.yaml': text}, 'engine-shm-default')) == count


@pytest.mark.parametrize(('program', 'count'), [('LLM(model="m", disable_log_stats=True)', 0), ('AsyncEngineArgs(model="m", disable_log_stats=True)', 1)])
def test_a_list_of_prompts_needs_no_statistics(found: Audit, program: str, count: int) -> None:
    text = f'from vllm import LLM, AsyncEngineArgs, AsyncLLMEngine\nengine = {program}\nasync_engine = AsyncLLMEngine.from_engine_args(engine)\n'
    assert len(found({'job.py': text}, 'vllm-log-stats-off')) == count


OFFLINE = 'from vllm import LLM\nllm = LLM("org/m", max_num_seqs=4, gpu_memory_utilization={share}, enable_prefix_caching=False, enable_chunked_prefill=False, disable_log_stats=True)\n'
SERVED = ('vllm-max-model-len-unset', 'vllm-batch-too-narrow', 'vllm-memory-share-unset', 'vllm-prefix-caching-off', 'vllm-chunked-prefill-off', 'vllm-log-stats-off')


@pytest.mark.parametrize(('share', 'ids'), [('0.9', []), ('0.95', ['vllm-memory-share-high'])])
def test_a_list_of_prompts_is_no_service(found: Audit, share: str, ids: list[str]) -> None:
    lines = found({'a.py': OFFLINE.format(share=share)}, *SERVED, 'vllm-memory-share-high')
    assert [line.split()[1] for line in lines] == ids


@pytest.mark.parametrize(
    ('config', 'ids'),
    [
        ('{"kv_role": "kv_both"}', ['vllm-enforce-eager', 'vllm-prefix-caching-off']),
        ('{"kv_role": "kv_producer"}', ['vllm-prefix-caching-off']),
        ('{"ec_role": "ec_producer"}', []),
    ],
)  # fmt: skip
def test_who_does_not_decode_needs_no_graphs(found: Audit, config: str, ids: list[str]) -> None:
    flag = '--ec-transfer-config' if 'ec_' in config else '--kv-transfer-config'
    text = pod(IMAGE, '', f"[--model=/m/x, --enforce-eager, --no-enable-prefix-caching, {flag}, '{config}']")
    assert sorted(line.split()[1] for line in found({'pod.yaml': text}, 'vllm-enforce-eager', 'vllm-prefix-caching-off')) == ids


def test_variables_name_the_device(found: Audit) -> None:
    text = pod(IMAGE, '', '[--model=/m/x, --enforce-eager]')
    assert len(found({'pod.yaml': text}, 'vllm-enforce-eager', 'vllm-batch-unset')) == 2
    other = text + '      env: [{name: HCCL_BUFFSIZE, value: "1024"}]\n'
    assert found({'pod.yaml': other}, 'vllm-enforce-eager', 'vllm-batch-unset') == []


@pytest.mark.parametrize(('image', 'count'), [('acme/vllm:0.6.3', 1), ('acme/vllm-gaudi:0.6.3', 0)])
def test_other_devices_have_choices_of_their_own(found: Audit, image: str, count: int) -> None:
    assert len(found({'pod.yaml': pod(image, '', '[--model=/m/x, --max-num-seqs=64, --block-size=128]')}, 'vllm-flag-value-invalid')) == count


@pytest.mark.parametrize(('image', 'count'), [('acme/vllm:0.10.2', 1), ('acme/vllm-gaudi:0.10.2', 0), ('vllm/vllm-openai-cpu:v0.16.0', 0)])
def test_a_wide_batch_is_one_of_gpus(found: Audit, image: str, count: int) -> None:
    assert len(found({'pod.yaml': pod(image, '', '[--model=/m/x, --max-num-seqs=512]')}, 'vllm-batch-too-wide')) == count
