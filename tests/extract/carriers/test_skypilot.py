"""SkyPilot tasks: scripts with their variables, accelerators, images."""

from collections.abc import Callable

import pytest

from configaudit.model import Component
from configaudit.places import locate
from configaudit.result import Result

Run = Callable[..., Result]
TASK = """\
name: chat
envs:
  MODEL_NAME: Qwen/Qwen3-8B
  HF_TOKEN: null
resources:
  accelerators: H100:4
setup: |
  uv pip install "vllm==0.10.2"
run: |
  vllm serve $MODEL_NAME \\
    --tensor-parallel-size $SKYPILOT_NUM_GPUS_PER_NODE \\
    --max-num-seqs 512
"""


def engine(result: Result) -> Component:
    (found,) = [component for component in result.components if component.kind.name == 'vllm']
    return found


def test_the_script_sees_the_variables_of_the_task(run: Run) -> None:
    found = engine(run({'chat.sky.yaml': TASK}))
    assert str(found.version) == '0.10.2'
    assert (found['model'].value, locate(found['model'].place).line) == ('Qwen/Qwen3-8B', 3)
    assert (found['max_num_seqs'].value, locate(found['max_num_seqs'].place).line) == (512, 12)
    assert not found['tensor_parallel_size'].is_known
    assert found['gpu'].value.name == 'H100-80GB'


@pytest.mark.parametrize(
    ('written', 'names'),
    [
        ('{L4:1, A100-80GB:1}', {'L4', 'A100-80GB'}),
        ('[L4:1, A10G:1]', {'L4', 'A10G'}),
        ('{H100: 8}', {'H100'}),
        ('L40S', {'L40S'}),
    ],
)
def test_any_one_of_several_accelerators(run: Run, written: str, names: set[str]) -> None:
    gpu = engine(run({'a.yaml': TASK.replace('H100:4', written)}))['gpu']
    found = {item.name for item in gpu.candidates} if gpu.candidates else {gpu.value.name}
    assert {name.partition('-')[0] for name in found} >= {name.partition('-')[0] for name in names}


def test_an_image_gives_the_version_and_a_container_is_read(run: Run) -> None:
    image = TASK.replace('  accelerators', '  image_id: docker:vllm/vllm-openai:latest\n  accelerators').replace('  uv pip install "vllm==0.10.2"\n', '  true\n')
    assert [item.rule.id for item in run({'a.yaml': image}).findings if item.rule.id == 'image-floating-tag']
    run_text = '  docker run --gpus all vllm/vllm-openai:v0.10.2 --model m --max-num-seqs 512\n'
    started = TASK.partition('run: |\n')[0] + 'run: |\n' + run_text
    assert str(engine(run({'a.yaml': started})).version) == '0.10.2'


@pytest.mark.parametrize(('token', 'rules'), [('null', []), ('<your token>', ['a.yaml:4:13 secret-inline'])])
def test_a_token_among_the_variables(found: Callable[..., list[str]], token: str, rules: list[str]) -> None:
    assert found({'a.yaml': TASK.replace('null', token)}, 'secret-inline') == rules


@pytest.mark.parametrize('text', ['run: vllm serve m\n', 'setup: {a: 1}\nresources: {image: "x"}\n', 'apiVersion: v1\nrun: vllm serve m\nenvs: {}\n'])
def test_other_documents_are_no_task(run: Run, text: str) -> None:
    assert not [component for component in run({'a.yaml': text}).components if component.kind.name == 'sky-task']


@pytest.mark.parametrize(
    ('accelerators', 'more', 'rules'),
    [
        ('H100:4', '', ['a.yaml:11:28 engine-gpus-mismatch']),
        ('H100:8', '', []),
        ('H100:16', '', []),
        ('{H100:4, A100:8}', '', []),
        ('H100:4', 'num_nodes: 2\n', []),
    ],
)
def test_gpus_of_each_node(found: Callable[..., list[str]], accelerators: str, more: str, rules: list[str]) -> None:
    text = more + TASK.replace('H100:4', accelerators).replace('$SKYPILOT_NUM_GPUS_PER_NODE', '8')
    assert found({'a.yaml': text}, 'engine-gpus-mismatch') == rules
