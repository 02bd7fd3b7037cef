"""Serving runtimes and the services that name them; presets of LLMInferenceServices."""

from collections.abc import Callable

from configaudit.model import Component
from configaudit.places import locate
from configaudit.result import Result

Run = Callable[..., Result]

RUNTIME = """\
apiVersion: serving.kserve.io/v1alpha1
kind: ClusterServingRuntime
metadata: {name: own-vllm}
spec:
  supportedModelFormats: [{name: vLLM}]
  containers:
  - name: kserve-container
    image: vllm/vllm-openai:v0.10.2
    command: [python3, -m, vllm.entrypoints.openai.api_server]
    args: ["--model=/mnt/models", "--served-model-name={{.Name}}", --max-num-seqs=300]
    env: [{name: NCCL_DEBUG, value: INFO}]
"""
SERVICE = """\
apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
metadata: {name: chat, namespace: ml}
spec:
  predictor:
    model:
      modelFormat: {name: vLLM}
      runtime: own-vllm
      args: [--gpu-memory-utilization=0.97]
"""
LLM = """\
apiVersion: serving.kserve.io/v1alpha2
kind: LLMInferenceService
metadata: {name: chat}
spec:
  baseRefs: [{name: wide}]
  parallelism: {tensor: 2, data: 4}
  template:
    containers:
    - name: main
      env: [{name: VLLM_ADDITIONAL_ARGS, value: "--max-num-seqs 512 --hf-overrides '{\\"a\\": 1}'"}]
  prefill:
    parallelism: {tensor: 4}
    worker: {containers: [{name: main}]}
    template: {containers: [{name: main, args: [--max-num-seqs=64]}]}
"""
WIDE = """\
apiVersion: serving.kserve.io/v1alpha2
kind: LLMInferenceServiceConfig
metadata: {name: wide}
spec:
  template:
    containers: [{name: main, image: "vllm/vllm-openai:v0.11.0", command: [vllm, serve, /mnt/models]}]
"""


def engines(result: Result, kind: str) -> list[Component]:
    return [item for item in result.components if item.kind.name == 'vllm' and item.identity.startswith(kind + '/')]


def test_a_service_has_the_command_of_its_runtime_and_the_arguments_of_both(run: Run) -> None:
    (engine,) = engines(run({'runtime.yaml': RUNTIME, 'service.yaml': SERVICE}), 'InferenceService')
    assert str(engine.version) == '0.10.2'
    assert [option.name for option in engine['options'].value] == ['--model', '--served-model-name', '--max-num-seqs', '--gpu-memory-utilization']
    assert [locate(engine[name].place).path for name in ('max_num_seqs', 'gpu_memory_utilization')] == ['runtime.yaml', 'service.yaml']
    assert engine['environment'].value['NCCL_DEBUG'].value == 'INFO'


def test_what_is_unset_is_asked_of_the_service(run: Run) -> None:
    files = {'runtime.yaml': RUNTIME, 'service.yaml': SERVICE}
    unset = [item for item in run(files).findings if item.rule.id == 'vllm-max-model-len-unset']
    assert [locate(item.place).path for item in unset] == ['service.yaml']
    slots = [change.slot for item in unset for change in (item.fix.changes if item.fix else ())]
    assert all(slot is None or slot.place.document.path == 'service.yaml' for slot in slots)
    (engine,) = engines(run(files), 'InferenceService')
    slot = engine['max_model_len'].slot
    assert slot is not None
    assert slot.place.outermost().document.path == 'service.yaml'


def test_a_service_overrides_an_option_of_its_runtime(run: Run) -> None:
    own = SERVICE.replace('[--gpu-memory-utilization=0.97]', '[--max_num_seqs, "64"]')
    result = run({'runtime.yaml': RUNTIME, 'service.yaml': own})
    (engine,) = engines(result, 'InferenceService')
    assert engine['max_num_seqs'].value == 64
    assert 'vllm-flag-duplicated' not in {item.rule.id for item in result.findings}


def test_image_and_command_of_the_service_count(run: Run) -> None:
    own = SERVICE.replace('      args:', '      image: vllm/vllm-openai:v0.11.0\n      args:')
    (engine,) = engines(run({'runtime.yaml': RUNTIME, 'service.yaml': own}), 'InferenceService')
    assert str(engine.version) == '0.11.0'


def test_a_runtime_that_is_not_in_the_run_stays_unknown(run: Run) -> None:
    (engine,) = engines(run({'service.yaml': SERVICE}), 'InferenceService')
    assert (engine.version, engine['max_num_seqs'].is_known) == (None, False)


def test_a_service_adds_options_to_its_presets(run: Run) -> None:
    decode, prefill = engines(run({'a.yaml': LLM, 'b.yaml': WIDE}), 'LLMInferenceService')
    assert (decode['max_num_seqs'].value, decode['tensor_parallel_size'].value, str(decode.version)) == (512, 2, '0.11.0')
    at = locate(decode['max_num_seqs'].place)
    assert (at.line, at.column) == (10, 65)
    assert not decode['max_model_len'].is_known
    assert (prefill['max_num_seqs'].value, prefill['tensor_parallel_size'].value) == (64, 4)


def test_an_image_of_a_preset_is_found(run: Run) -> None:
    preset = WIDE.replace('{name: wide}', '{name: kserve-config-llm-template, namespace: kserve}').replace('v0.11.0', 'v0.10.0')
    alone = LLM.split('  prefill:')[0].replace('  baseRefs: [{name: wide}]\n', '').replace('{name: chat}', '{name: chat, namespace: ml}')
    (engine,) = engines(run({'a.yaml': alone, 'b.yaml': preset}), 'LLMInferenceService')
    assert str(engine.version) == '0.10.0'
    assert 'data_parallel_size' not in {option.name for option in engine['options'].value}


def test_nothing_is_taken_out_of_folded_arguments(run: Run) -> None:
    text = LLM.split('      env:')[0] + '      env:\n      - name: VLLM_ADDITIONAL_ARGS\n        value: >-\n          --enforce-eager\n          --max-num-seqs 64\n'
    (finding,) = [item for item in run({'a.yaml': text}).findings if item.rule.id == 'vllm-enforce-eager']
    assert locate(finding.place).line == 13
    assert finding.fix is not None
    assert finding.fix.changes[0].why_not == 'the text is folded over several lines'


def test_the_presets_bring_a_startup_probe(run: Run) -> None:
    probe = '      livenessProbe: {httpGet: {path: /health, port: 8000}, initialDelaySeconds: 900}\n'
    text = LLM.split('  prefill:')[0] + probe
    assert 'initial-delay-instead-of-startup' not in {item.rule.id for item in run({'a.yaml': text}).findings}


def test_the_container_of_the_router_is_a_scheduler(run: Run) -> None:
    args = '[--pool-name, chat, --grpc-port, "9002", --secure-serving]'
    router = f'  router:\n    scheduler: {{template: {{containers: [{{name: main, args: {args}}}]}}}}\n'
    found = engines(run({'a.yaml': LLM + router, 'b.yaml': WIDE}), 'LLMInferenceService')
    assert not [item.identity for item in found if 'router' in item.identity]


def test_a_base_configuration_lacks_nothing(run: Run) -> None:
    wide = WIDE.replace('/mnt/models]', '/mnt/models, --gpu-memory-utilization=2]')
    ids = {item.rule.id for item in run({'b.yaml': wide}).findings}
    assert 'vllm-memory-share-out-of-range' in ids
    assert not ids & {'vllm-batch-unset', 'vllm-max-model-len-unset', 'readiness-probe-missing', 'requests-missing'}
