"""SGLang, TGI and Triton: how they are recognised and read."""

from collections.abc import Callable

import pytest

from configaudit.model import Component

Read = Callable[..., Component]
Engines = Callable[..., list[Component]]
Pod = Callable[..., str]
SGLANG = 'lmsysorg/sglang:v0.5.9-cu129'
TGI = 'ghcr.io/huggingface/text-generation-inference:3.3.4'


@pytest.mark.parametrize(
    ('command', 'args'),
    [
        ('[python3, -m, sglang.launch_server]', '[--model-path, /m/x, --tp, "2"]'),
        ('', '[python3, -m, sglang.launch_server, --model, /m/x, --tp-size=2]'),
        ('', '[sglang, serve, --model-path, /m/x, --tensor-parallel-size, "2"]'),
        ('[sh, -c]', '["exec python -m sglang.launch_server --model-path /m/x --tp 2"]'),
    ],
)
def test_sglang(engine: Read, command: str, args: str) -> None:
    found = engine(SGLANG, command, args)
    assert (found.kind.name, found['model'].value, found['world_size'].value) == ('sglang', '/m/x', 2)
    assert (found['host'].value, found['port'].value, str(found.version)) == ('127.0.0.1', 30000, '0.5.9')


def test_tgi_by_flags(engine: Read) -> None:
    found = engine(TGI, '', '[--model-id=/m/x, --max-total-tokens, "4096", --num-shard, "2"]')
    assert (found['model'].value, found['max_total_tokens'].value, found['world_size'].value, found['port'].value) == ('/m/x', 4096, 2, 80)


def test_tgi_by_variables(engine: Read) -> None:
    env = '[{name: MODEL_ID, value: /m/x}, {name: MAX_INPUT_LENGTH, value: "1024"}, {name: PORT, value: "3000"}]'
    found = engine(TGI, '', '', env)
    assert (found['model'].value, found['max_input_length'].value, found['port'].value) == ('/m/x', 1024, 3000)
    assert not found['world_size'].is_known


def test_tgi_launcher_of_another_image(engine: Read) -> None:
    assert engine('acme/llm:1', '[text-generation-launcher]', '[--model-id, /m/x]').kind.name == 'tgi'


@pytest.mark.parametrize(
    ('command', 'args'),
    [
        ('[tritonserver]', '[--model-repository=/m, --grpc-keepalive-time=30000, --exit-timeout-secs, "60"]'),
        ('', '[tritonserver, --model-store=/m, --grpc-keepalive-time, "30000", --exit-timeout-secs=60]'),
        ('[/opt/tritonserver/bin/tritonserver]', '[--model-repository, /m, --grpc-keepalive-time=30000, --exit-timeout-secs=60]'),
    ],
)
def test_triton(engine: Read, command: str, args: str) -> None:
    found = engine('nvcr.io/nvidia/tritonserver:24.06-py3', command, args)
    assert (found['model_repository'].value, found['grpc_keepalive_time'].value, found['exit_timeout_secs'].value) == ('/m', 30000, 60)
    assert (found['grpc_http2_max_ping_strikes'].value, found['grpc_http2_max_ping_strikes'].origin) == (2, 'default')


def test_triton_image_starts_nothing_by_itself(engines: Engines) -> None:
    pod = 'apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  containers:\n    - {name: c, image: "nvcr.io/nvidia/tritonserver:24.06-py3"}\n'
    assert engines({'pod.yaml': pod}) == []


@pytest.mark.parametrize(('args', 'shards'), [('[--model-id=/m]', 4), ('[--model-id=/m, --sharded, "false"]', 1), ('[--model-id=/m, --num-shard, "2"]', 2)])
def test_tgi_shards_over_the_gpus_of_its_container(engines: Engines, args: str, shards: int) -> None:
    text = (
        'apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  containers:\n'
        f'    - name: c\n      image: {TGI}\n      args: {args}\n      resources: {{limits: {{nvidia.com/gpu: 4}}}}\n'
    )
    (found,) = engines({'pod.yaml': text})
    assert found['world_size'].value == shards
