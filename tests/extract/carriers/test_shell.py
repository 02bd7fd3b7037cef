"""Shell scripts: engines and containers that their commands start."""

from collections.abc import Callable

import pytest

from configaudit.model import Component
from configaudit.result import Result

Run = Callable[..., Result]


def of_kind(result: Result, kind: str) -> list[Component]:
    return [component for component in result.components if component.kind.name == kind]


def container(result: Result) -> Component:
    (found,) = of_kind(result, 'docker-run')
    return found


@pytest.mark.parametrize(
    ('options', 'name', 'value'),
    [
        ('--gpus all', 'gpus', ('all',)),
        ('--gpus \'"device=0,2"\'', 'gpus', ('0', '2')),
        ('--gpus=2', 'gpus', ('0', '1')),
        ('--gpus \'"device=1",capabilities=utility\'', 'gpus', ('1',)),
        ('--device nvidia.com/gpu=all', 'gpus', ('all',)),
        ('--shm-size=16g', 'shm_size', 16 * 2**30),
        ('--shm-size 512m', 'shm_size', 512 * 2**20),
        ('--ipc=host', 'ipc', 'host'),
        ('--ulimit nofile=1024:65536', 'nofile', 1024),
        ('--restart=unless-stopped', 'restart', 'unless-stopped'),
        ('-itd -m 8g', 'memory_limit', 8 * 2**30),
        ('-itd', 'detached', True),
        ('-it', 'detached', False),
        ('-v /dev/shm:/dev/shm -v /a:/b:ro', 'mounts', {'/dev/shm': '/dev/shm', '/b': '/a'}),
        ('--mount type=bind,source=/a,target=/b', 'mounts', {'/b': '/a'}),
        ('--tmpfs /dev/shm:size=1g', 'mounts', {'/dev/shm': 'tmpfs'}),
    ],
)
def test_options_of_docker_run(run: Run, options: str, name: str, value: object) -> None:
    result = run({'a.sh': f'docker run --rm {options} --name x example.test/app:1.2 --flag\n'})
    assert container(result)['image'].value == 'example.test/app:1.2'
    assert container(result)[name].value == value


@pytest.mark.parametrize(
    'start',
    [
        'docker run',
        'sudo docker run',
        'podman run',
        'docker container run',
        'nerdctl -n k8s.io run',
        'nohup docker run',
    ],
)
def test_spellings_of_docker_run(run: Run, start: str) -> None:
    result = run(
        {'a.sh': f'{start} -e VLLM_USE_V1=0 -p8000:8000 vllm/vllm-openai:v0.10.2 --model /m --max-num-seqs 12\n'}
    )
    (engine,) = of_kind(result, 'vllm')
    assert engine['max_num_seqs'].value == 12
    assert engine['environment'].value['VLLM_USE_V1'].value == '0'
    assert [port.host for port in container(result)['ports'].value] == ['8000']


def test_an_entry_point_replaces_that_of_the_image(run: Run) -> None:
    result = run({'a.sh': 'docker run --entrypoint python3 vllm/vllm-openai:v0.10.2 bench.py --model /m\n'})
    assert of_kind(result, 'vllm') == []


def test_unknown_options_make_absent_ones_unknown(run: Run) -> None:
    found = container(run({'a.sh': 'docker run $OPTIONS vllm/vllm-openai:v0.10.2 --model /m\n'}))
    assert found['image'].value == 'vllm/vllm-openai:v0.10.2'
    assert not found['shm_size'].is_known


@pytest.mark.parametrize('arguments', ['tool --verbose', "/bin/sh -c 'cp -R a/b c/d@example.test'"])
def test_an_unknown_image_is_not_taken_from_its_arguments(run: Run, arguments: str) -> None:
    assert not container(run({'a.sh': f'docker run -it $IMAGE {arguments}\n'}))['image'].is_known


def test_only_exported_variables_reach_the_engine(run: Run) -> None:
    result = run({'a.sh': 'VLLM_PORT=1\nexport VLLM_USE_V1=1\nHF_HOME=/c vllm serve acme/m\n'})
    (engine,) = of_kind(result, 'vllm')
    assert sorted(engine['environment'].value) == ['HF_HOME', 'VLLM_USE_V1']


@pytest.mark.parametrize(
    'line', ['docker pull vllm/vllm-openai:v0.9.0', 'echo vllm serve acme/m', 'pip install vllm', '# vllm serve acme/m']
)
def test_commands_that_start_nothing(run: Run, line: str) -> None:
    assert run({'a.sh': f'{line}\n'}).components == ()


SHARE = 'vllm serve acme/m --gpu-memory-utilization 0.7'


@pytest.mark.parametrize(
    ('script', 'shared'),
    [
        (f'{SHARE} --port 1 &\n{SHARE} --port 2 &\nwait\n', True),
        (f'{SHARE} &\nserver=$!\nbench\nkill $server\n{SHARE} &\n', False),
        (f'{SHARE}\n{SHARE}\n', False),
        (f'if [ -n "$A" ]; then {SHARE} & else {SHARE} & fi\n', False),
        (f'CUDA_VISIBLE_DEVICES=0 {SHARE} &\nCUDA_VISIBLE_DEVICES=1 {SHARE} &\n', False),
        (f'CUDA_VISIBLE_DEVICES=$1 {SHARE} &\nCUDA_VISIBLE_DEVICES=$2 {SHARE} &\n', False),
    ],
)
def test_engines_on_one_gpu(found: Callable[..., list[str]], script: str, shared: bool) -> None:
    assert bool(found({'a.sh': script}, 'gpu-memory-oversubscribed')) == shared
