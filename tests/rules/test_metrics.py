"""Metric names against the engines of the run: what is certain, what is only likely, and what is left alone."""

from collections.abc import Callable

import pytest

from configaudit.config import Config
from configaudit.context import Context
from configaudit.result import Result

Run = Callable[..., Result]
OLD = 'vllm:gpu_cache_usage_perc'


def engine(image: str, name: str = 'a', args: str = '--model=/m') -> str:
    return f'apiVersion: v1\nkind: Pod\nmetadata: {{name: {name}}}\nspec:\n  containers:\n  - {{name: e, image: "{image}", args: [{args}]}}\n'


def rules(*expressions: str, record: str = '') -> str:
    lines = ''.join(f'    - alert: A\n      expr: \'{expression}\'\n' for expression in expressions)
    lines += f'    - {{record: {record}, expr: up}}\n' if record else ''
    return f'apiVersion: monitoring.coreos.com/v1\nkind: PrometheusRule\nmetadata: {{name: r}}\nspec:\n  groups:\n  - name: g\n    rules:\n{lines}'


def panel(*expressions: str) -> str:
    targets = ', '.join(f'{{"expr": "{expression}"}}' for expression in expressions)
    return f'{{"schemaVersion": 1, "panels": [{{"targets": [{targets}]}}]}}'


def judged(result: Result) -> list[str]:
    return [f'{item.severity} {item.rule.id}' for item in result.findings if item.rule.id.startswith('metric-')]


V16, V85 = engine('vllm/vllm-openai:v0.16.0'), engine('vllm/vllm-openai:v0.8.5', 'b')


@pytest.mark.parametrize(
    ('files', 'expected'),
    [
        ({'r.yaml': rules(OLD), 'a.yaml': V16}, ['error metric-removed']),
        ({'r.yaml': rules('rate(ollama_inference_duration_seconds_sum[5m]) > 1')}, ['warning metric-unknown']),
        ({'r.json': panel(OLD), 'a.yaml': V16}, ['warning metric-removed']),
        ({'r.json': panel(OLD)}, ['advice metric-removed']),
        ({'r.yaml': rules(OLD), 'a.yaml': V85}, []),
        ({'r.yaml': rules(OLD), 'a.yaml': V16, 'b.yaml': V85}, ['advice metric-removed']),
        ({'r.yaml': rules(OLD), 'a.yaml': engine('vllm/vllm-openai:latest')}, ['advice metric-removed']),
        ({'r.yaml': rules(OLD), 'a.yaml': engine('vllm/vllm-openai:v0.11.0')}, ['error metric-removed']),
        ({'r.yaml': rules(OLD), 'a.yaml': engine('vllm/vllm-openai:v0.11.0', args='--model=/m, --show-hidden-metrics-for-version=0.10')}, []),
        ({'r.yaml': rules('vllm:num_requests_swapped > 0'), 'a.yaml': V16}, ['warning metric-removed']),
        ({'r.yaml': rules(f'{OLD} or vllm:kv_cache_usage_perc'), 'a.yaml': V16}, []),
        ({'r.yaml': rules(f'sum({OLD}) or vector(0)'), 'a.yaml': V16}, ['error metric-removed']),
        ({'r.yaml': rules(OLD, record=OLD), 'a.yaml': V16}, []),
        ({'r.yaml': rules(OLD), 's.yml': f'groups:\n- rules:\n  - {{record: {OLD}, expr: "1"}}\n', 'a.yaml': V16}, []),
        ({'r.json': panel(OLD, 'vllm:kv_cache_usage_perc'), 'a.yaml': V16}, []),
        ({'r.json': panel(OLD, 'vllm:num_requests_waiting'), 'a.yaml': V16}, ['warning metric-removed']),
        ({'r.yaml': rules('vllm:kv_cache_usage_perc > 1'), 'a.yaml': V85}, ['error metric-too-new']),
        ({'r.yaml': rules('vllm:kv_cache_usage_perc > 1'), 'a.yaml': engine('vllm/vllm-openai:latest')}, []),
        ({'r.yaml': rules('vllm:num_request_waiting > 1')}, ['warning metric-unknown']),
        ({'r.json': panel('vllm:num_request_waiting')}, ['advice metric-unknown']),
        ({'r.yaml': rules('vllm:deployment_replicas > 1', 'vllm:my_own > 1', 'vllm:cache:avg > 1')}, []),
        ({'r.yaml': rules('vllm_num_requests_running > 1')}, ['warning metric-underscored']),
        ({'r.yaml': rules('vllm_num_requests_running > 1', record='vllm_num_requests_running')}, []),
        ({'r.yaml': rules('sum(vllm:num_requests_running > 1')}, ['error metric-query-broken']),
        ({'r.json': panel('sum(vllm:num_requests_running > 1')}, ['warning metric-query-broken']),
        ({'r.yaml': rules('sum(vllm:num_requests_running{m="$m"}'.replace('"$m"', '$m'))}, []),
        ({'r.yaml': rules('sglang:token_usage > 1'), 'a.yaml': engine('lmsysorg/sglang:v0.5.9', args='python3, -m, sglang.launch_server, --model-path=/m, --host=0.0.0.0')}, ['warning metric-source-off']),
        ({'r.yaml': rules('vllm:num_requests_waiting > 1'), 'a.yaml': engine('vllm/vllm-openai:v0.16.0', args='--model=/m, --disable-log-stats')}, ['warning metric-source-off']),
    ],
)  # fmt: skip
def test_severity(run: Run, files: dict[str, str], expected: list[str]) -> None:
    assert judged(run(files)) == expected


def test_the_version_that_a_person_states(run: Run) -> None:
    stated = Config(context=Context(engine_versions={'vllm': '0.16.0'}))
    result = run({'r.yaml': rules(OLD)}, stated)
    assert judged(result) == ['error metric-removed']
    assert 'vLLM 0.16.0 (as given)' in next(item.message for item in result.findings if item.rule.id == 'metric-removed')


def test_an_autoscaler_is_about_its_target(run: Run) -> None:
    scaler = f"""apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {{name: a}}
spec:
  scaleTargetRef: {{name: b}}
  triggers: [{{type: prometheus, metadata: {{query: 'sum({OLD})'}}}}]
"""
    deployments = {
        f'{name}.yaml': f'apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: {name}}}\nspec: {{template: {{spec: {{containers: [{{name: e, image: "vllm/vllm-openai:v{version}", args: [--model=/m]}}]}}}}}}\n'
        for name, version in (('a', '0.8.5'), ('b', '0.16.0'))
    }
    assert judged(run({**deployments, 's.yaml': scaler})) == ['error metric-removed']


def test_what_was_not_read_is_not_assessed(run: Run) -> None:
    result = run({'r.yaml': rules('median_over_time(vllm:num_requests_waiting[5m])')})
    assert judged(result) == []
    assert {item.rule.id for item in result.not_assessed} >= {'metric-removed', 'metric-unknown'}


@pytest.mark.parametrize(
    'renaming',
    [
        'apiVersion: monitoring.coreos.com/v1\nkind: PodMonitor\nspec:\n  podMetricsEndpoints:\n  - metricRelabelings:\n    - {sourceLabels: [__name__], regex: "(.+):(.+)", targetLabel: __name__, replacement: "$1_$2"}\n',
        'scrape_configs:\n- job_name: a\n  metric_relabel_configs:\n  - {source_labels: [__name__], regex: "(.+):(.+)", target_label: __name__, replacement: "${1}_$2"}\n',
    ],
)
def test_a_relabelling_may_make_the_underscored_name(run: Run, renaming: str) -> None:
    result = run({'r.yaml': rules('vllm_num_requests_running > 1'), 'prometheus.yml': renaming})
    assert judged(result) == []
    assert 'metric-underscored' in {item.rule.id for item in result.not_assessed}


def test_series_of_one_metric_are_one_finding(run: Run) -> None:
    name = 'vllm:time_per_output_token_seconds'
    result = run({'r.yaml': rules(f'{name}_sum / {name}_count > 1', f'{name}_bucket > 1'), 'a.yaml': V16})
    (finding,) = [item for item in result.findings if item.rule.id == 'metric-removed']
    assert [word for word, _ in finding.related].count('also here') == 2
    assert finding.fix is not None
    assert [change.value for change in finding.fix.changes] == [f'vllm:inter_token_latency_seconds_{end}' for end in ('sum', 'count', 'bucket')]


def test_a_name_that_no_list_has_is_not_assessed(run: Run) -> None:
    result = run({'r.yaml': rules('vllm_house_score > 1')})
    assert judged(result) == []
    reason = next(item.reason for item in result.not_assessed if item.rule.id == 'metric-unknown')
    assert reason.startswith('no list here has vllm_house_score')
