"""Compose files: services as they run, whatever way they are written."""

from collections.abc import Callable

import pytest

from configaudit.model import Component
from configaudit.places import locate
from configaudit.result import Result

Run = Callable[..., Result]


def services(result: Result) -> dict[str, Component]:
    return {component.name: component for component in result.components if component.kind.name == 'compose-service'}


def engine(result: Result) -> Component:
    return next(component for component in result.components if component.kind.name == 'vllm')


def value(component: Component, name: str) -> object:
    return component[name].value


def spot(component: Component, name: str) -> tuple[int, int]:
    at = locate(component[name].place)
    return at.line, at.column


def test_flags_of_a_folded_command_are_found_where_they_stand(run: Run) -> None:
    result = run({'compose.yaml': (
        'services:\n  a:\n    image: vllm/vllm-openai:v0.10.2\n    command: >\n      --model "/models/a b"\n'
        '      --max-num-seqs ${SEQS:-96}\n      --max-model-len=4096\n'
    )})  # fmt: skip
    found = engine(result)
    assert value(found, 'model') == '/models/a b'
    assert (value(found, 'max_num_seqs'), spot(found, 'max_num_seqs')) == (96, (6, 30))
    assert (value(found, 'max_model_len'), spot(found, 'max_model_len')) == (4096, (7, 23))


def test_flags_of_a_plain_scalar_over_several_lines(run: Run) -> None:
    text = 'services:\n  a:\n    image: vllm/vllm-openai:v0.10.2\n    command:\n      --model /m/a\n      --max-num-seqs 8\n'
    found = engine(run({'compose.yaml': text}))
    assert (value(found, 'max_num_seqs'), spot(found, 'max_num_seqs')) == (8, (6, 22))


def test_merged_keys_are_placed_where_they_are_defined(run: Run) -> None:
    result = run({'compose.yaml': (
        'x-a: &a\n  image: vllm/vllm-openai:v0.9.1\n  ipc: host\nx-b: &b {command: ["--model", "/m/a"], restart: always}\n'
        'services:\n  one:\n    <<: [*a, *b]\n'
    )})  # fmt: skip
    service = services(result)['one']
    assert (value(service, 'ipc'), spot(service, 'ipc')) == ('host', (3, 8))
    assert value(service, 'restart') == 'always'
    assert spot(engine(result), 'model') == (4, 32)


@pytest.mark.parametrize(
    ('written', 'image', 'known'),
    [
        ('${REG:-docker.io}/vllm/vllm-openai:${TAG:-v0.10.2}', 'docker.io/vllm/vllm-openai:v0.10.2', True),
        ('${IMAGE:-${FALLBACK:-vllm/vllm-openai:v0.9.0}}', 'vllm/vllm-openai:v0.9.0', True),
        ('vllm/vllm-openai:${TAG}', 'vllm/vllm-openai:\ufffc', False),
        ('vllm/vllm-openai:${TAG:?set it}', 'vllm/vllm-openai:\ufffc', False),
        ('"a$$b:1"', 'a$b:1', True),
        ('vllm/vllm-openai:v0.9.0${SUFFIX+-x}', 'vllm/vllm-openai:v0.9.0', True),
    ],
)
def test_interpolation(run: Run, written: str, image: str, known: bool) -> None:
    setting = services(run({'compose.yaml': f'services:\n  a:\n    image: {written}\n'}))['a']['image']
    assert (setting.known_value, setting.is_known) == (image, known)


def test_the_env_file_beside_the_project_fills_variables(run: Run) -> None:
    result = run({
        'app/compose.yaml': 'services:\n  a:\n    image: vllm/vllm-openai:${TAG}\n    shm_size: ${SHM}\n'
        '    command: --model /m/a --max-num-seqs ${SEQS:-8}\n',
        'app/.env': 'TAG=v0.8.5\nSEQS=48\nSHM=8gb\n',
        '.env': 'TAG=v0.1.0\n',
    })  # fmt: skip
    assert str(engine(result).version) == '0.8.5'
    at = locate(engine(result)['max_num_seqs'].place)
    assert (value(engine(result), 'max_num_seqs'), at.path, at.line) == (48, 'app/.env', 2)
    assert value(services(result)['a'], 'shm_size') == 8 * 2**30


def test_environment_as_map_list_and_file(run: Run) -> None:
    result = run({
        'compose.yaml': 'services:\n  a:\n    image: vllm/vllm-openai:v0.10.2\n    env_file: [./common.env]\n'
        '    environment:\n      - VLLM_USE_V1=0\n      - HF_TOKEN\n    command: ["--model", "/m/a"]\n',
        'common.env': 'VLLM_LOGGING_LEVEL=DEBUG\n',
    })  # fmt: skip
    environment = value(engine(result), 'environment')
    assert isinstance(environment, dict)
    assert environment['VLLM_USE_V1'].value == '0'
    assert environment['VLLM_LOGGING_LEVEL'].value == 'DEBUG'
    assert not environment['HF_TOKEN'].known


@pytest.mark.parametrize(
    ('written', 'soft', 'hard'),
    [
        ('nofile: 4096', 4096, 4096),
        ('nofile: {soft: 1024, hard: 65536}', 1024, 65536),
        ('nofile: {soft: -1, hard: -1}', float('inf'), float('inf')),
    ],
)
def test_open_files(run: Run, written: str, soft: float, hard: float) -> None:
    service = services(run({'compose.yaml': f'services:\n  a:\n    image: nginx:1.27\n    ulimits: {{{written}}}\n'}))[
        'a'
    ]
    assert (value(service, 'nofile'), value(service, 'nofile_hard')) == (soft, hard)


@pytest.mark.parametrize(
    ('written', 'gpus'),
    [
        (
            'deploy: {resources: {reservations: {devices: [{driver: nvidia, count: 2, capabilities: [gpu]}]}}}',
            ('0', '1'),
        ),
        ('deploy: {resources: {reservations: {devices: [{capabilities: [gpu], device_ids: ["1", "3"]}]}}}', ('1', '3')),
        ('deploy: {resources: {reservations: {devices: [{driver: nvidia, capabilities: [gpu]}]}}}', ('all',)),
        ('gpus: all', ('all',)),
        ('runtime: nvidia\n    environment: {NVIDIA_VISIBLE_DEVICES: "2,3"}', ('2', '3')),
        ('restart: always', ()),
    ],
)
def test_gpus(run: Run, written: str, gpus: tuple[str, ...]) -> None:
    assert (
        value(services(run({'compose.yaml': f'services:\n  a:\n    image: x:1\n    {written}\n'}))['a'], 'gpus') == gpus
    )


@pytest.mark.parametrize(
    ('written', 'address', 'host', 'container'),
    [
        ('"8080:80"', '', '8080', '80'),
        ('"127.0.0.1:8080:80/tcp"', '127.0.0.1', '8080', '80'),
        ('"[::1]:8080:80"', '[::1]', '8080', '80'),
        ('"80"', '', '', '80'),
        ('"${P:-6380}:6379"', '', '6380', '6379'),
        ('{target: 80, published: 8080, host_ip: 127.0.0.1}', '127.0.0.1', '8080', '80'),
    ],
)
def test_ports(run: Run, written: str, address: str, host: str, container: str) -> None:
    result = run({'compose.yaml': f'services:\n  a:\n    image: x:1\n    ports:\n      - {written}\n'})
    (port,) = services(result)['a']['ports'].value
    assert (port.address, port.host, port.container) == (address, host, container)


@pytest.mark.parametrize(
    'files',
    [
        {'compose.override.yaml': 'services:\n  a:\n    image: nginx:1.27\n'},
        {'compose.gpu.yaml': 'services:\n  a:\n    command: --port 1\n  b:\n    image: nginx:1.27\n'},
        {'compose.yaml': 'services:\n  a:\n    extends: {file: base.yaml, service: a}\n    image: nginx:1.27\n'},
    ],
)
def test_nothing_is_missing_in_a_part_of_a_project(run: Run, files: dict[str, str]) -> None:
    result = run(files)
    assert services(result)['a'].partial
    assert [finding for finding in result.findings if finding.component.name == 'a'] == []


def test_unknown_tags_are_tolerated(run: Run) -> None:
    result = run(
        {
            'compose.yaml': 'services:\n  a:\n    image: nginx:1.27\n    deploy: !reset null\n    restart: !reset null\n    environment: {T: !secret x}\n'
        }
    )
    assert result.errors == ()
    assert not services(result)['a']['restart'].is_set


def test_the_script_of_a_shell_entry_point_is_opened(run: Run) -> None:
    result = run({'compose.yaml': (
        'services:\n  a:\n    image: vllm/vllm-openai:v0.10.2\n    entrypoint: ["bash", "-c"]\n'
        '    command:\n      - |\n        export VLLM_PORT=$$PORT\n        exec vllm serve /m/a --max-num-seqs 40\n'
    )})  # fmt: skip
    assert (value(engine(result), 'max_num_seqs'), spot(engine(result), 'max_num_seqs')) == (40, (8, 45))


def test_a_service_that_only_names_an_image_to_build_is_no_server(run: Run) -> None:
    built = '    build: {context: vllm}\n    image: me/vllm-openai:v0.10.2\n'
    result = run({'build.yaml': f'services:\n  a:\n{built}  b:\n{built}    ports: ["8000:8000"]\n'})
    assert [(name, service['role'].value) for name, service in services(result).items()] == [('a', ''), ('b', 'engine')]
    found = {(item.rule.id, item.component.name) for item in result.findings if item.rule.id.startswith('compose-')}
    assert ('compose-restart-unset', 'b') in found
    assert not {name for name in found if name[1] == 'a'}


@pytest.mark.parametrize('form', ['    environment: ["DB_PASSWORD=${PW}"]\n', '    environment: {DB_PASSWORD: "${PW}"}\n'])
def test_a_variable_of_the_env_file_stands_there_and_not_in_the_compose_file(run: Run, form: str) -> None:
    files = {'compose.yaml': f'services:\n  a:\n    image: postgres:17\n{form}', '.env': '\nPW=changeit1\n'}
    result = run(files)
    word = services(result)['a']['env'].value['DB_PASSWORD'].value
    assert (word.value, locate(word.place).path.rpartition('/')[2], locate(word.place).line) == ('changeit1', '.env', 2)
    assert not [item for item in result.findings if item.rule.id == 'secret-inline']
