"""Where queries live: every place that names a metric, at the line and column of the name."""

import json
from collections.abc import Callable

import pytest

from configaudit.places import locate
from configaudit.result import Result

Run = Callable[..., Result]


def uses(result: Result) -> list[tuple[str, str, str]]:
    """(what stands at the place, role, name) of every use."""
    found = [use for component in result.components if component.kind.name == 'metric-query' for use in component['uses'].value]
    return [(f'{at.line}:{at.column}', use.role, use.name) for use in found for at in [locate(use.place)]]


RULES = """spec:
  groups:
    - name: a
      rules:
        - record: team:waiting
          expr: |-
            # all of them
            sum(
              vllm:num_requests_waiting
            )
        - alert: A
          expr: 'vllm:num_requests_running{pod=~"a''b"} > 1'
        - alert: B
          expr: "vllm:num_requests_running{pod=\\"a\\"} > 1"
        - alert: C
          expr: >
            1 <
            vllm:num_requests_running
"""
FOUND = [('11:15', 'recording rule', 'vllm:num_requests_waiting'), ('14:18', 'alert', 'vllm:num_requests_running'),
         ('16:18', 'alert', 'vllm:num_requests_running'), ('20:13', 'alert', 'vllm:num_requests_running')]  # fmt: skip


@pytest.mark.parametrize('kind', ['monitoring.coreos.com/v1\nkind: PrometheusRule', 'operator.victoriametrics.com/v1beta1\nkind: VMRule', 'monitoring.googleapis.com/v1\nkind: ClusterRules'])
def test_rule_objects(run: Run, kind: str) -> None:
    assert uses(run({'rules.yaml': f'apiVersion: {kind}\n{RULES}'})) == FOUND


def test_rule_files(run: Run) -> None:
    text = 'groups:\n- name: a\n  rules:\n  - alert: A\n    expr: nv_inference_count > 1\n'
    assert uses(run({'a.yml': text, 'b.rules': text})) == [('5:11', 'alert', 'nv_inference_count')] * 2


def test_rules_that_grafana_is_provisioned_with(run: Run) -> None:
    text = 'groups:\n- name: a\n  rules:\n  - uid: x\n    data:\n    - refId: A\n      model: {expr: tgi_queue_size}\n'
    assert uses(run({'alerting.yaml': text})) == [('7:21', 'alert', 'tgi_queue_size')]


DASHBOARD = {
    'schemaVersion': 39,
    'templating': {'list': [
        {'query': 'label_values(vllm:num_requests_running{pod="$pod"}, model_name)'}, {'query': {'query': 'query_result(vllm:kv_cache_usage_perc)'}},
        {'query': 'label_values(vllm)'},
    ]},
    'annotations': {'list': [{'expr': 'vllm:engine_sleep_state == 1'}]},
    'panels': [
        {'targets': [{'expr': 'vllm:num_requests_waiting{m="$m"}', 'legendFormat': '{{pod}}'}]},
        {'type': 'row', 'panels': [{'targets': [{'expr': 'tgi_queue_size'}, {'expr': 'tgi_queue_size', 'datasource': {'type': 'loki'}}]}]},
        {'datasource': {'type': 'loki'}, 'targets': [{'expr': '{app="vllm"} |= "vllm:num"'}]},
    ],
    'rows': [{'panels': [{'targets': [{'expr': 'nv_inference_count'}]}]}],
}  # fmt: skip
NAMED = ['vllm:num_requests_waiting', 'tgi_queue_size', 'nv_inference_count', 'vllm:num_requests_running', 'vllm:kv_cache_usage_perc', 'vllm:engine_sleep_state']


def _in_a_string(text: str) -> str:
    return '\n'.join('    ' + line for line in text.splitlines())


@pytest.mark.parametrize('indent', [None, 1, 4])
@pytest.mark.parametrize(
    'around',
    [
        '{}',
        '{{"dashboard": {}, "overwrite": true}}',
        'apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a}}\ndata:\n  a.json: |\n    {}\n',
        'apiVersion: grafana.integreatly.org/v1beta1\nkind: GrafanaDashboard\nmetadata: {{name: a}}\nspec:\n  json: >\n    {}\n',
    ],
)
def test_dashboards(run: Run, around: str, indent: int | None) -> None:
    text = json.dumps(DASHBOARD, indent=indent)
    content = around.format(text if around.startswith('{') else _in_a_string(text).lstrip())
    result = run({'a.json' if around.startswith('{') else 'a.yaml': content})
    assert [name for _, _, name in uses(result)] == NAMED
    assert not result.errors
    for place, _, name in uses(result):
        line, column = map(int, place.split(':'))
        assert content.splitlines()[line - 1][column - 1 :].startswith(name)


@pytest.mark.parametrize('text', ['{"panels": [{"x": "\\ud83d\\ude00 vllm:a"}], "schemaVersion": 1}', '{"panels": 3, "templating": [vllm:a'])
def test_a_dashboard_that_is_no_yaml_is_no_error(run: Run, text: str) -> None:
    assert not run({'a.json': text}).errors


def test_autoscalers(run: Run) -> None:
    hpa = """apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: a}
spec:
  scaleTargetRef: {kind: Deployment, name: a}
  maxReplicas: 3
  metrics:
  - {type: Pods, pods: {metric: {name: "prometheus.googleapis.com|vllm:num_requests_waiting|gauge"}}}
  - {type: Pods, pods: {metric: {name: vllm_num_requests_running}}}
  - {type: External, external: {metric: {name: tgi_queue_size}}}
"""
    keda = """apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {name: a}
spec:
  scaleTargetRef: {name: a}
  triggers:
  - {type: prometheus, metadata: {query: 'sum(sglang:num_queue_reqs)'}}
  - {type: kafka, metadata: {topic: vllm:a}}
"""
    aibrix = 'apiVersion: autoscaling.aibrix.ai/v1alpha1\nkind: PodAutoscaler\nspec:\n  metricsSources:\n  - targetMetric: vllm:num_requests_running\n'
    result = run({'a.yaml': hpa, 'b.yaml': keda, 'c.yaml': aibrix})
    assert [(place, name) for place, role, name in uses(result) if role == 'autoscaler'] == [
        ('8:67', 'vllm:num_requests_waiting'), ('10:48', 'tgi_queue_size'), ('7:47', 'sglang:num_queue_reqs'), ('5:19', 'vllm:num_requests_running'),
    ]  # fmt: skip


ADAPTER = """rules:
{list}  - seriesQuery: '{{__name__=~"^vllm:num_requests_waiting$",namespace!=""}}'
    metricsQuery: sum(vllm:num_requests_running{{<<.LabelMatchers>>}} + <<.Series>>{{<<.LabelMatchers>>}}) by (<<.GroupBy>>)
    name: {{matches: "", as: waiting_or_running}}
"""


@pytest.mark.parametrize('listed', ['', '  custom:\n'])
def test_the_adapter(run: Run, listed: str) -> None:
    text = ADAPTER.format(list=listed)
    indented = ''.join('  ' + line for line in text.splitlines(keepends=True))
    config = f'apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a}}\ndata:\n  config.yaml: |\n  {indented}'
    for files in ({'values.yaml': text}, {'values.yaml': f'prometheus-adapter:\n{indented}'}, {'values.yaml': 'a: 1\n', 'map.yaml': config}):
        result = run(files)
        assert [(role, name) for _, role, name in uses(result)] == [('adapter', 'vllm:num_requests_waiting'), ('adapter', 'vllm:num_requests_running')]


@pytest.mark.parametrize('arguments', ['[--kvCacheUsagePercentageMetric, "vllm:a_b"]', '["--kv-cache-usage-percentage-metric=vllm:a_b"]', '[-loraInfoMetric=vllm:a_b]'])
def test_the_endpoint_picker(run: Run, arguments: str) -> None:
    text = f'apiVersion: v1\nkind: Pod\nmetadata: {{name: a}}\nspec:\n  containers:\n  - {{name: epp, image: epp:v1, args: {arguments}}}\n'
    result = run({'a.yaml': text})
    assert [(role, name) for _, role, name in uses(result)] == [('scheduler', 'vllm:a_b')]
    place = uses(result)[0][0]
    assert text.splitlines()[5][int(place.split(':')[1]) - 1 :].startswith('vllm:a_b')


def test_a_chart_locks_the_name(run: Run) -> None:
    rules = 'apiVersion: monitoring.coreos.com/v1\nkind: PrometheusRule\nspec:\n  groups:\n  - rules:\n    - alert: A\n      expr: vllm:num_requests_waiting{ns="{{ .Release.Namespace }}"} > {{ .Values.most }}\n'
    result = run({'c/Chart.yaml': 'name: c\n', 'c/values.yaml': 'most: 3\n', 'c/templates/rules.yaml': rules})
    assert [name for _, _, name in uses(result)] == ['vllm:num_requests_waiting']
    component = next(component for component in result.components if component.kind.name == 'metric-query')
    assert component['uses'].value[0].locked


def test_other_json_costs_nothing(run: Run) -> None:
    assert not [c for c in run({'a.json': '{"panels": [], "x": "vllm:a"}', 'b.json': '{"rules": {"vllm:a": 1}}'}).components if c.kind.name == 'metric-query']


@pytest.mark.parametrize('head', ['', 'apiVersion: perses.dev/v1alpha1\n'])
def test_perses(run: Run, head: str) -> None:
    text = f"""{head}kind: PersesDashboard
spec:
  variables:
  - spec: {{plugin: {{kind: PrometheusLabelValuesVariable, spec: {{labelName: a, matchers: ['vllm:num_requests_running{{x="$y"}}']}}}}}}
  panels:
    a:
      spec:
        queries:
        - spec: {{plugin: {{kind: PrometheusTimeSeriesQuery, spec: {{query: avg(vllm:kv_cache_usage_perc) or vector(0)}}}}}}
"""
    assert [(role, name) for _, role, name in uses(run({'a.yaml': text}))] == [
        ('dashboard', 'vllm:num_requests_running'), ('dashboard', 'vllm:kv_cache_usage_perc'),
    ]  # fmt: skip


@pytest.mark.parametrize(
    'text',
    [
        'inferenceExtension:\n  flags:\n    kv-cache-usage-percentage-metric: vllm:kv_cache_usage_perc\n',
        'apiVersion: inference.networking.x-k8s.io/v1alpha1\nkind: EndpointPickerConfig\nplugins:\n- parameters: {engineConfigs: [{kvUsageSpec: "vllm:kv_cache_usage_perc{a=b}"}]}\n',
    ],
)
def test_settings_of_the_endpoint_picker(run: Run, text: str) -> None:
    assert [(role, name) for _, role, name in uses(run({'a.yaml': text}))] == [('scheduler', 'vllm:kv_cache_usage_perc')]


def test_aliases_do_not_multiply(run: Run) -> None:
    levels = ''.join(f'l{n}: &l{n} [{", ".join([f"*l{n - 1}"] * 9)}]\n' for n in range(1, 25))
    text = f'l0: &l0 {{alert: A, expr: "vllm:num_requests_running"}}\n{levels}panels: 3\n'
    assert len(uses(run({'a.yaml': text}))) == 1


@pytest.mark.parametrize('annotation', ['all is well', '"{{ $labels.pod }} has {{ $value }}"', 'on {{ $labels.pod }}'])
def test_rules_in_a_config_map(run: Run, annotation: str) -> None:
    rule = f'groups:\n- rules:\n  - alert: A\n    expr: vllm:num_requests_waiting > 1\n    annotations:\n      a: {annotation}\n'
    config = f'apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a}}\ndata:\n  rules.yml: |\n{_in_a_string(rule)}\n'
    assert uses(run({'a.yaml': config})) == [('9:15', 'alert', 'vllm:num_requests_waiting')]
