"""LiteLLM's configuration: routes to its models, waiting and trying again, the pool of its database, keys that stand in it."""

from collections.abc import Callable

import pytest

from configaudit.result import Result

Run = Callable[..., Result]
_MODEL = 'model_list:\n- model_name: qwen\n  litellm_params: {model: hosted_vllm/qwen, api_base: "http://qwen:8000/v1"%s}\n'


def routes(result: Result):  # type: ignore[no-untyped-def]
    return [component for component in result.components if component.kind.name == 'proxy-route']


@pytest.mark.parametrize(
    ('model', 'more', 'waits', 'tries'),
    [
        ('', '', 600, 2), (', timeout: 90', 'router_settings: {timeout: 30}\n', 90, 2), (', timeout: 90, stream_timeout: 20', '', 20, 2),
        ('', 'litellm_settings: {request_timeout: 45, num_retries: 0}\n', 45, 0), ('', 'litellm_settings: {num_retries: 4}\nrouter_settings: {num_retries: 1, timeout: 20}\n', 20, 1),
    ],
)  # fmt: skip
def test_waiting_and_trying_again(run: Run, model: str, more: str, waits: float, tries: int) -> None:
    (route,) = routes(run({'config.yaml': _MODEL % model + more}))
    assert (route['read_timeout_s'].value, route['attempts'].value) == (waits, tries)
    assert route['targets'].value == (('qwen', '8000'),)
    assert route['total_timeout_s'].value == float('inf')


def test_values_of_the_environment_are_not_known(run: Run) -> None:
    (route,) = routes(run({'config.yaml': _MODEL % '' + 'router_settings: {timeout: os.environ/WAIT}\n'}))
    assert route['read_timeout_s'].reason


@pytest.mark.parametrize('more', [', timeout: 1}\n  model_info: {mode: embedding', '}\n  model_info: {mode: rerank'])
def test_models_that_generate_nothing_have_no_route(run: Run, more: str) -> None:
    assert routes(run({'config.yaml': _MODEL % more})) == []


def test_a_route_reaches_the_engine_and_retries_of_both_multiply(run: Run) -> None:
    compose = 'services:\n  qwen:\n    image: vllm/vllm-openai:v0.10.2\n    command: --model Qwen/Qwen3-8B\n  litellm:\n    image: ghcr.io/berriai/litellm:v1.80.0\n    command: --config /c.yaml --num_workers 3\n'
    result = run({'config.yaml': _MODEL % '', 'compose.yaml': compose, 'app/a.py': 'from openai import OpenAI\nc = OpenAI(base_url="http://litellm:4000")\nc.chat.completions.create(stream=True)\n'})
    (route,) = routes(result)
    assert [engine.kind.name for engine in route.peers('engine')] == ['vllm']
    (server,) = (component for component in result.components if component.kind.name == 'http-server')
    assert (server['workers'].value, server['idle_timeout_s'].value) == (3, 5)
    assert 'retries-multiply' in {finding.rule.id for finding in result.findings}


def test_the_configuration_in_values_and_in_a_config_map(run: Run) -> None:
    inner = ''.join(f'  {line}\n' for line in (_MODEL % '').splitlines())
    assert len(routes(run({'values.yaml': 'image: {repository: ghcr.io/berriai/litellm, tag: v1.80.0}\nproxy_config:\n' + inner}))) == 1
    text = ''.join(f'    {line}\n' for line in (_MODEL % '').splitlines())
    assert len(routes(run({'values.yaml': '', 'cm.yaml': f'apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a}}\ndata:\n  config.yaml: |\n{text}'}))) == 1


@pytest.mark.parametrize(('base', 'found'), [('http://qwen:8000/v1', False), ('http://10.0.0.7:8000', False), ('http://a.b.svc.cluster.local', False), ('https://api.example.com/v1', True)])
def test_a_key_for_a_server_of_ones_own_is_no_secret(run: Run, base: str, found: bool) -> None:
    text = f'model_list:\n- model_name: a\n  litellm_params: {{model: openai/a, api_base: "{base}", api_key: sk-7f3e9a0b1c2d4e5f}}\n'
    assert ('secret-inline' in {finding.rule.id for finding in run({'config.yaml': text}).findings}) is found


@pytest.mark.parametrize(('key', 'severity'), [('os.environ/KEY', ''), ('sk-1234', 'warning'), ('sk-7f3e9a0b1c2d4e5f', 'error')])
def test_a_master_key_in_the_file(run: Run, key: str, severity: str) -> None:
    result = run({'config.yaml': _MODEL % '' + f'general_settings: {{master_key: {key}}}\n'})
    assert [finding.severity for finding in result.findings if finding.rule.id == 'secret-inline'] == ([severity] if severity else [])


def test_the_pool_in_a_mounted_file_counts_for_every_worker(run: Run) -> None:
    compose = (
        'services:\n  litellm:\n    image: ghcr.io/berriai/litellm:main-v1.75.0\n    command: ["--config=/app/config.yaml", "--num_workers", "2"]\n'
        '    volumes: ["./config.yaml:/app/config.yaml"]\n    environment: {DATABASE_URL: "postgresql://a:b@db/litellm"}\n  db:\n    image: postgres:17\n'
    )
    config = _MODEL % '' + 'general_settings: {database_url: os.environ/DATABASE_URL, database_connection_pool_limit: 100}\n'
    (found,) = (item for item in run({'compose.yaml': compose, 'config.yaml': config}).findings if item.rule.id.startswith('db-'))
    assert (found.rule.id, found.values['total'], found.place.document.path) == ('db-pools-exceed-server', 200, 'config.yaml')
