"""Ollama, llama.cpp, TensorRT-LLM, LMDeploy, TorchServe, TensorFlow Serving and Dynamo's workers: how they are recognised and read."""

from collections.abc import Callable

import pytest

from configaudit.extract.engines.ollama import address
from configaudit.model import Component

Read = Callable[..., Component]
Engines = Callable[..., list[Component]]
Pod = Callable[..., str]
OLLAMA = 'ollama/ollama:0.16.1'
LLAMA = 'ghcr.io/ggml-org/llama.cpp:server-cuda-b9000'
TRTLLM = 'nvcr.io/nvidia/tensorrt-llm/release:1.1.0'


@pytest.mark.parametrize(
    ('command', 'args'),
    [('', ''), ('', '[serve]'), ('[/bin/ollama, serve]', ''), ('[sh, -c]', '["ollama serve & sleep 5; ollama pull x; wait"]')],
)
def test_ollama(engine: Read, command: str, args: str) -> None:
    found = engine(OLLAMA, command, args, '[{name: OLLAMA_NUM_PARALLEL, value: "4"}, {name: OLLAMA_KEEP_ALIVE, value: "-1"}]')
    assert (found.kind.name, str(found.version), found['port'].value, found['host'].value) == ('ollama', '0.16.1', 11434, '0.0.0.0')
    assert (found['num_parallel'].value, found['keep_alive'].value, found['max_queue'].value) == (4, -1.0, 512)
    assert found['context_length'].candidates == (4096, 32768, 262144)


@pytest.mark.parametrize('args', ['[pull, llama3]', '[run, llama3]', '[list]'])
def test_ollama_as_a_client(engines: Engines, pod: Pod, args: str) -> None:
    assert engines({'p.yaml': pod(OLLAMA, '', args)}) == []


@pytest.mark.parametrize(('tag', 'parallel', 'context'), [('0.6.6', (1, 4), 2048), ('0.9.6', (1, 2), 4096), ('0.12.6', (1,), 4096)])
def test_defaults_of_ollama_move(engine: Read, tag: str, parallel: tuple[int, ...], context: int) -> None:
    found = engine(f'ollama/ollama:{tag}')
    assert (found['num_parallel'].candidates, found['context_length'].value) == (parallel, context)


def test_what_ollamas_parsers_ignore(engine: Read) -> None:
    env = '[{name: OLLAMA_MAX_QUEUE, value: many}, {name: OLLAMA_KEEP_ALIVE, value: 1d}, {name: OLLAMA_FLASH_ATTENTION, value: "off"}]'
    found = engine(OLLAMA, env=env)
    assert (found['max_queue'].value, found['max_queue'].origin, found['keep_alive'].value) == (512, 'default', 300.0)
    assert found['flash_attention'].value is True


@pytest.mark.parametrize(
    ('text', 'expected'),
    [
        ('0.0.0.0', ('0.0.0.0', 11434)), ('0.0.0.0:8000', ('0.0.0.0', 8000)), (':8000', ('', 8000)), ('http://0.0.0.0', ('0.0.0.0', 80)),
        ('https://h/x', ('h', 443)), ('[::]:9', ('::', 9)), ('[::1]', ('::1', 11434)), ('::', ('::', 11434)), ('h:x', ('h', 11434)),
    ],
)  # fmt: skip
def test_address_of_ollama(text: str, expected: tuple[str, int]) -> None:
    assert address(text) == expected


UNIT = '[Unit]\nDescription=x\n[Service]\nExecStart=/usr/local/bin/ollama serve\n'
DROP_IN = '[Service]\nEnvironment="OLLAMA_HOST=0.0.0.0" "OLLAMA_NUM_PARALLEL=3"\n'


def test_ollama_in_a_unit_and_its_drop_in(engines: Engines) -> None:
    (found,) = engines({'ollama.service': UNIT, 'ollama.service.d/override.conf': DROP_IN})
    assert (found['num_parallel'].value, found['host'].value, found['max_queue'].value) == (3, '0.0.0.0', 512)
    assert found['num_parallel'].place.document.path == 'ollama.service.d/override.conf'


def test_ollama_in_a_drop_in_alone(engines: Engines) -> None:
    (found,) = engines({'ollama.service.d/override.conf': DROP_IN})
    assert found['num_parallel'].value == 3
    assert not found['max_queue'].is_known


@pytest.mark.parametrize(
    ('image', 'command', 'args'),
    [
        (LLAMA, '', '[-m, /m/x.gguf, -c, "8192", -np, "2", --metrics]'),
        (LLAMA, '[/app/llama-server]', '[--model, /m/x.gguf, --ctx_size, "8192", --parallel, "2", --metrics]'),
        ('ghcr.io/ggml-org/llama.cpp:full-b9000', '', '[--server, -m, /m/x.gguf, -c, "8192", -np, "2", --metrics]'),
    ],
)
def test_llama_server(engine: Read, image: str, command: str, args: str) -> None:
    found = engine(image, command, args)
    assert (found.kind.name, found['model'].value, found['ctx_size'].value, found['parallel'].value) == ('llama.cpp-server', '/m/x.gguf', 8192, 2)
    assert (found['metrics'].value, found['n_predict'].value, found['port'].value) == (True, -1, 8080)
    assert found['host'].value == ('127.0.0.1' if 'full' in image else '0.0.0.0')


def test_llama_server_by_variables(engine: Read) -> None:
    env = '[{name: LLAMA_ARG_HF_REPO, value: a/b-GGUF}, {name: LLAMA_ARG_CTX_SIZE, value: "4096"}, {name: LLAMA_ARG_PORT, value: "9000"}]'
    found = engine('ghcr.io/ggml-org/llama.cpp:server', env=env, args='[-c, "2048"]')
    assert (found['model'].value, found['ctx_size'].value, found['port'].value) == ('a/b-GGUF', 2048, 9000)


def test_the_port_of_a_build_that_nobody_names_is_open(engine: Read) -> None:
    found = engine('ghcr.io/ggml-org/llama.cpp:server')
    assert (found['port'].is_known, found['port'].candidates) == (False, (8080, 9931))


@pytest.mark.parametrize(
    ('command', 'args'),
    [
        ('[trtllm-serve, /m/x]', '[--tp_size, "2", --max_batch_size=64]'),
        ('[trtllm-serve, serve, /m/x]', '[--tensor_parallel_size=2, --max_batch_size, "64"]'),
        ('[sh, -c]', '["mpirun -n 2 trtllm-llmapi-launch trtllm-serve /m/x --tp_size 2 --max_batch_size 64"]'),
    ],
)
def test_trtllm_serve(engine: Read, command: str, args: str) -> None:
    found = engine(TRTLLM, command, args)
    assert (found.kind.name, found['model'].value, found['world_size'].value, found['max_batch_size'].value) == ('tensorrt-llm', '/m/x', 2, 64)
    assert (found['host'].value, found['port'].value, found['free_gpu_memory_fraction'].value) == ('localhost', 8000, 0.9)


CONFIG_MAP = (
    'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: o}\ndata:\n  extra.yaml: |\n    tensor_parallel_size: 4\n'
    '    kv_cache_config:\n      free_gpu_memory_fraction: 0.7\n    scheduler_config:\n      capacity_scheduler_policy: MAX_UTILIZATION\n'
)


def test_the_file_of_trtllm_wins_over_flags(engines: Engines) -> None:
    text = (
        'apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  volumes: [{name: o, configMap: {name: o}}]\n  containers:\n    - name: c\n'
        f'      image: {TRTLLM}\n      command: [trtllm-serve, /m/x, --tp_size, "2", --extra_llm_api_options, /cfg/extra.yaml]\n'
        '      volumeMounts: [{name: o, mountPath: /cfg}]\n'
    )
    (found,) = engines({'p.yaml': text, 'c.yaml': CONFIG_MAP})
    assert (found['world_size'].value, found['free_gpu_memory_fraction'].value, found['capacity_scheduler_policy'].value) == (4, 0.7, 'MAX_UTILIZATION')
    assert found['free_gpu_memory_fraction'].place.outermost().document.path == 'c.yaml'


def test_a_file_of_trtllm_that_is_not_there(engine: Read) -> None:
    found = engine(TRTLLM, '[trtllm-serve, /m/x, --tp_size, "2", --config, /cfg/extra.yaml]')
    assert not found['tensor_parallel_size'].is_known


@pytest.mark.parametrize('command', ['[trtllm-serve, disaggregated, -c, x.yaml]', '[trtllm-bench, --model, x]'])
def test_what_of_trtllm_is_no_engine(engines: Engines, pod: Pod, command: str) -> None:
    assert engines({'p.yaml': pod(TRTLLM, command)}) == []


def test_lmdeploy(engine: Read) -> None:
    found = engine('openmmlab/lmdeploy:v0.9.2', '[lmdeploy, serve, api_server, a/b, --tp, "2", --server-port, "8000"]')
    assert (found['model'].value, found['world_size'].value, found['port'].value, found['cache_max_entry_count'].value) == ('a/b', 2, 8000, 0.8)


@pytest.mark.parametrize('command', ['[lmdeploy, serve, proxy]', '[lmdeploy, lite, auto_awq, x]'])
def test_what_of_lmdeploy_is_no_engine(engines: Engines, pod: Pod, command: str) -> None:
    assert engines({'p.yaml': pod('openmmlab/lmdeploy:v0.9.2', command)}) == []


@pytest.mark.parametrize(('command', 'args'), [('', ''), ('[torchserve, --start, --ts-config, /c]', ''), ('', '[torchserve, --start, --model-store, /m]')])
def test_torchserve(engine: Read, command: str, args: str) -> None:
    assert engine('pytorch/torchserve:0.12.0-gpu', command, args).kind.name == 'torchserve'


@pytest.mark.parametrize(('command', 'args', 'port'), [('', '[--model_name=x]', 8501), ('[tensorflow_model_server]', '[--rest_api_port=8080]', 8080)])
def test_tf_serving(engine: Read, command: str, args: str, port: int) -> None:
    found = engine('tensorflow/serving:2.16.1', command, args)
    assert (found.kind.name, found['port'].value) == ('tf-serving', port)


def test_a_dynamo_worker_is_the_engine_that_it_starts(engine: Read) -> None:
    args = '[--model, a/b, --is-prefill-worker, --connector, nixl, --tensor-parallel-size, "2", --dyn-tool-call-parser, hermes, --future-flag, x]'
    found = engine('nvcr.io/nvidia/ai-dynamo/vllm-runtime:0.7.0', '[python3, -m, dynamo.vllm]', args)
    assert (found.kind.name, found['model'].value, found['world_size'].value, found['port'].is_known) == ('vllm', 'a/b', 2, False)
    assert {option.name for option in found['options'].value} == {'--model', '--tensor-parallel-size'}


def test_other_dynamo_workers(engine: Read) -> None:
    args = '[--model-path, a/b, --tp, "2", --disaggregation-mode, agg, --endpoint, x]'
    found = engine('x/sglang-runtime:1', '[python3, -m, dynamo.sglang]', args)
    assert (found.kind.name, found['world_size'].value) == ('sglang', 2)
    assert '--disaggregation-mode' not in {option.name for option in found['options'].value}
    assert engine('x/trt:1', '[python3, -m, dynamo.trtllm, --model-path, a/b]').kind.name == 'tensorrt-llm'


@pytest.mark.parametrize('command', ['[python3, -m, dynamo.frontend]', '[python3, -m, dynamo.mocker, --model-path, a/b]', '[python3, -m, sglang_router.launch_router]'])
def test_what_of_dynamo_is_no_engine(engines: Engines, pod: Pod, command: str) -> None:
    assert engines({'p.yaml': pod('nvcr.io/nvidia/ai-dynamo/vllm-runtime:0.7.0', command)}) == []


def test_an_image_file_leaves_the_rest_to_who_runs_it(engines: Engines) -> None:
    (found,) = engines({'Dockerfile': 'FROM debian:12\nENTRYPOINT ["/llama-server", "--model", "/m/x.gguf"]\n'})
    assert (found['model'].value, found['metrics'].is_known) == ('/m/x.gguf', False)


def test_a_model_that_a_variable_names_is_one_word(engine: Read) -> None:
    found = engine(TRTLLM, '[sh, -c]', "['exec trtllm-serve \"$MODEL\" --max_batch_size 8']")
    assert (found['model'].is_known, found['host'].value, found['max_batch_size'].value) == (False, 'localhost', 8)
