import re

import pytest

from configaudit.knowledge.images import FREQUENT, HOLE, REPOSITORIES, identify


@pytest.mark.parametrize(
    ('image', 'engine', 'version'),
    [
        ('vllm/vllm-openai:v0.10.2', 'vllm', '0.10.2'),
        ('docker.io/vllm/vllm-openai:v0.9.0.1', 'vllm', '0.9.0.1'),
        ('vllm/vllm-openai:v0.8.5.post1', 'vllm', '0.8.5.post1'),
        ('registry.corp:5000/mirror/vllm/vllm-openai:v0.6.4.post1', 'vllm', '0.6.4.post1'),
        ('vllm/vllm-openai:v0.11.0@sha256:0123', 'vllm', '0.11.0'),
        ('rocm/vllm:rocm6.3.1_instinct_vllm0.8.3_20250410', 'vllm', '0.8.3'),
        ('public.ecr.aws/deep-learning-containers/vllm:0.9-gpu-py312', 'vllm', '0.9.0'),
        ('quay.io/acme/vllm-cuda:0.7.3', 'vllm', '0.7.3'),
        ('nvcr.io/nvidia/ai-dynamo/vllm-runtime:0.7.0.post1', 'vllm', '0.11.0'),
        ('nvcr.io/nvidia/ai-dynamo/sglang-runtime-cu13:1.1.1', 'sglang', '0.5.10.post1'),
        ('nvcr.io/nvidia/vllm:25.10-py3', 'vllm', '0.10.2'),
        ('registry.redhat.io/rhaiis/vllm-cuda-rhel9:3.2.5-1766067105', 'vllm', '0.11.2'),
        ('ghcr.io/llm-d/llm-d-cuda:v0.8.0', 'vllm', '0.23.0'),
        ('quay.io/ascend/vllm-ascend:v0.13.0rc3-a3', 'vllm', '0.13.0'),
        ('public.ecr.aws/deep-learning-containers/vllm:0.11.0-gpu-py312-cu128-ubuntu22.04-ec2', 'vllm', '0.11.0'),
        ('lmsysorg/sglang:v0.4.6.post5-cu124', 'sglang', '0.4.6.post5'),
        ('ghcr.io/huggingface/text-generation-inference:2.4.0', 'tgi', '2.4.0'),
        ('ghcr.io/huggingface/text-generation-inference:3.3.5-rocm', 'tgi', '3.3.5'),
        ('nvcr.io/nvidia/tritonserver:24.05-py3', 'triton', '24.5.0'),
        ('nvcr.io/nvidia/tensorrt-llm/release:1.0.0rc1', 'tensorrt-llm', '1.0.0rc1'),
        ('nvcr.io/nim/meta/llama-3.1-8b-instruct:1.8.3', 'nim', '1.8.3'),
        ('ollama/ollama:0.12.6', 'ollama', '0.12.6'),
        ('ollama/ollama:0.5.7-rocm', 'ollama', '0.5.7'),
        ('openmmlab/lmdeploy:v0.9.2-cu12', 'lmdeploy', '0.9.2'),
        ('pytorch/torchserve:0.12.0-gpu', 'torchserve', '0.12.0'),
        ('tensorflow/serving:2.16.1-gpu', 'tf-serving', '2.16.1'),
        ('kserve/huggingfaceserver:v0.15.0', 'kserve', '0.15.0'),
        ('rayproject/ray:2.9.0-py310-gpu', 'ray-serve', '2.9.0'),
        ('rayproject/ray-llm:2.57.1-py312-cu130', 'vllm', '0.25.1'),
        ('nginx:1.27.3', None, '1.27.3'),
    ],
)
def test_engine_and_version(image: str, engine: str | None, version: str) -> None:
    found = identify(image)
    assert found.engine == engine
    assert str(found.version) == version
    assert not found.floating


@pytest.mark.parametrize(
    ('image', 'engine', 'reason'),
    [
        ('nvcr.io/nvidia/vllm:25.09-py3', 'vllm', 'NVIDIA container'),
        ('registry.redhat.io/rhaiis/vllm-cuda-rhel9:3.2.4', 'vllm', 'Red Hat'),
        ('nvcr.io/nvidia/ai-dynamo/vllm-runtime:1.1.0-dev.1', 'vllm', 'Dynamo'),
        ('ghcr.io/llm-d/llm-d-rocm:v0.8.0', 'vllm', 'llm-d'),
        ('public.ecr.aws/deep-learning-containers/vllm:server-cuda-v1.3', 'vllm', 'no version'),
        (
            'us-docker.pkg.dev/vertex-ai/vertex-vision-model-garden-dockers/pytorch-vllm-serve:20240528_1310_RC00',
            'vllm',
            'Vertex',
        ),
        ('lmcache/vllm-openai:v0.3.9', 'vllm', 'LMCache'),
        ('nvcr.io/nvidia/ai-dynamo/vllm-runtime:0.5.0', 'vllm', 'Dynamo'),
        ('ghcr.io/ggml-org/llama.cpp:server-b1234', 'llama.cpp-server', 'no version'),
        ('vllm/vllm-openai@sha256:abc', 'vllm', 'digest'),
        ('vllm/vllm-openai:nightly-0fb1b4c1d2f3a4b5c6d7e8f90a1b2c3d4e5f6071', 'vllm', 'no version'),
        ('quay.io/acme/vllm:3.4', 'vllm', 'counts something else'),
    ],
)
def test_engine_without_version(image: str, engine: str, reason: str) -> None:
    found = identify(image)
    assert (found.engine, found.version, found.floating) == (engine, None, False)
    assert reason in found.reason


@pytest.mark.parametrize(
    'tag',
    [':latest', ':nightly', ':main', ':main-latest', ':dev', ':stable', ':edge', ':latest-cuda', ':master', ''],
)
def test_floating_tags(tag: str) -> None:
    found = identify(f'vllm/vllm-openai{tag}')
    assert found.floating
    assert not found.placeholder
    assert found.version is None


def test_llama_cpp_server_tag_floats() -> None:
    assert identify('ghcr.io/ggml-org/llama.cpp:server-cuda').floating


@pytest.mark.parametrize('tag', ['replace', 'REPLACE_ME', '<tag>', 'your-tag', 'vX.Y.Z', 'TODO', 'changeme'])
def test_placeholder_tags_do_not_float(tag: str) -> None:
    found = identify(f'vllm/vllm-openai:{tag}')
    assert (found.placeholder, found.floating, found.engine) == (True, False, 'vllm')


@pytest.mark.parametrize('image', ['$ENGINE_IMAGE', '${ENGINE_IMAGE}', '<your-image>', '{{', 'registry.corp/team/server:', 'registry.corp/$IMAGE'])
def test_a_reference_that_is_filled_in_later_has_no_floating_tag(image: str) -> None:
    found = identify(image)
    assert (found.placeholder, found.floating, found.version) == (True, False, None)
    assert 'fill in' in found.reason


def test_a_variable_before_a_tag_or_digest_hides_neither() -> None:
    assert identify('$REGION-docker.pkg.dev/team/server:latest').floating
    assert identify('${IMAGE}@sha256:abc').digest == 'sha256:abc'
    assert not identify('${IMAGE}@sha256:abc').placeholder


def test_a_digest_pins_a_floating_tag() -> None:
    assert not identify('vllm/vllm-openai:latest@sha256:abc').floating


@pytest.mark.parametrize(
    ('image', 'engine', 'version', 'floating'),
    [
        (f'{HOLE}/vllm-openai:v0.10.2', 'vllm', '0.10.2', False),
        (f'{HOLE}:v0.10.2', None, '0.10.2', False),
        (f'vllm/vllm-openai:{HOLE}', 'vllm', None, False),
        (f'vllm/vllm-openai:v0.10.{HOLE}', 'vllm', None, False),
        (f'vllm/vllm-openai:v0.10.2-{HOLE}', 'vllm', '0.10.2', False),
        (HOLE, None, None, False),
        (f'{HOLE}:latest', None, None, True),
    ],
)
def test_holes(image: str, engine: str | None, version: str | None, floating: bool) -> None:
    found = identify(image)
    assert (found.engine, found.version and str(found.version), found.floating) == (engine, version, floating)


@pytest.mark.parametrize(
    'image',
    [
        'ghcr.io/acme/vllm-router:v0.1.0',
        'ghcr.io/llm-d/llm-d-inference-scheduler:v0.2.0',
        'lmcache/lmstack-router:1',
        'acme/vllm-mock:nightly',
        'acme/mocker-vllm:1.0',
        'acme/vllm-simulator-a40:nightly',
    ],
)
def test_what_stands_beside_the_engine_is_not_the_engine(image: str) -> None:
    assert identify(image).engine is None


def test_a_registry_port_is_no_tag() -> None:
    found = identify('localhost:5000/vllm/vllm-openai')
    assert (found.repository, found.tag, found.floating) == ('localhost:5000/vllm/vllm-openai', '', True)


@pytest.mark.parametrize(
    ('image', 'engine'),
    [
        ('ghcr.io/huggingface/tgi-gaudi:2.0.1', 'tgi'),
        ('quay.io/acme/huggingface-tgi:3.0.1', 'tgi'),
        ('opea/llm-tgi:1.2', None),
        ('opea/guardrails-tgi:1.2', None),
        ('aibrix/vllm-bench:1.2', None),
        ('kserve/sklearnserver:v0.15.0', 'kserve'),
        ('kserve/kserve-migration:v0.15.0', None),
        ('kserve/image-transformer:v0.15.0', None),
    ],
)
def test_a_client_of_an_engine_is_none(image: str, engine: str | None) -> None:
    assert identify(image).engine == engine


def test_a_login_before_the_registry_is_no_part_of_what_an_image_says() -> None:
    image = identify('robot:s3cret@registry.example/vllm/vllm-openai:v0.10.2@sha256:' + 'a' * 64)
    assert (image.repository, image.tag, image.engine) == ('registry.example/vllm/vllm-openai', 'v0.10.2', 'vllm')
    assert 's3cret' not in repr(image)


def test_the_images_that_most_files_name_are_told_as_the_patterns_tell_them() -> None:
    for path, engine in FREQUENT.items():
        first = next((found, product) for pattern, found, product in REPOSITORIES if re.search(pattern, path))
        assert first == (engine, '')
