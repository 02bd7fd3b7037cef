"""Heaps of the JVM and Node.js: which option wins, what a share comes to, and when the default is certain."""

from collections.abc import Callable

import pytest

from configaudit.result import Result

Run = Callable[..., Result]
GI = 2**30


def heap(run: Run, environment: str = '', command: str = '["java", "-jar", "/app.jar"]', limit: str = '8Gi') -> float | None:
    text = (
        'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: api}\nspec:\n  template:\n    spec:\n      containers:\n        - name: api\n          image: example.com/api:1\n'
        f'          command: {command}\n          env: [{environment}]\n          resources: {{limits: {{memory: {limit}}}}}\n'
    )
    found = [component for component in run({'api.yaml': text}).components if component.kind.name == 'managed-heap']
    return found[0]['heap'].value if found else None


def variable(name: str, value: str) -> str:
    return f'{{name: {name}, value: "{value}"}}'


@pytest.mark.parametrize(
    ('environment', 'command', 'size'),
    [
        (variable('JAVA_TOOL_OPTIONS', '-Xmx2g -XX:+UseG1GC'), '["java", "-jar", "/app.jar"]', 2 * GI),
        (variable('JAVA_TOOL_OPTIONS', '-XX:MaxRAMPercentage=75.0'), '["java", "-jar", "/app.jar"]', 6 * GI),
        (variable('JAVA_TOOL_OPTIONS', '-Xmx2g'), '["java", "-Xmx3g", "-jar", "/app.jar"]', 3 * GI),
        (variable('_JAVA_OPTIONS', '-Xmx2g'), '["java", "-Xmx3g", "-jar", "/app.jar"]', 2 * GI),
        (variable('JAVA_TOOL_OPTIONS', '-Xmx2g'), '["java", "-XX:MaxRAMPercentage=50", "-jar", "/app.jar"]', 2 * GI),
        (variable('JAVA_OPTS', '-XX:MaxHeapSize=1g'), '["/run.sh"]', GI),
        (variable('NODE_OPTIONS', '--max-old-space-size=512'), '["node", "a.js"]', GI // 2),
        ('', '["sh", "-c", "exec java -jar /app.jar"]', 2 * GI),
        (variable('A', 'b'), '["java", "-jar", "/app.jar"]', 2 * GI),
        ('', '["java", "-XX:-UseContainerSupport", "-jar", "/app.jar"]', None),
        ('', '["java", "@options", "-jar", "/app.jar"]', None),
        ('{name: JAVA_TOOL_OPTIONS, valueFrom: {secretKeyRef: {name: s, key: k}}}', '["java", "-jar", "/app.jar"]', None),
        ('', '["/run.sh"]', None),
    ],
)  # fmt: skip
def test_the_option_that_wins(run: Run, environment: str, command: str, size: float | None) -> None:
    assert heap(run, environment, command) == size


def test_variables_from_elsewhere_may_say_another_heap(run: Run) -> None:
    text = (
        'apiVersion: v1\nkind: Pod\nmetadata: {name: api}\nspec:\n  containers:\n    - name: api\n      image: example.com/api:1\n      command: [java, -jar, /app.jar]\n'
        '      envFrom: [{configMapRef: {name: unseen}}]\n      resources: {limits: {memory: 8Gi}}\n'
    )
    assert not [component for component in run({'api.yaml': text}).components if component.kind.name == 'managed-heap']


@pytest.mark.parametrize(('percentage', 'severity'), [('75', None), ('80.0', None), ('90', 'warning'), ('100', 'error')])
def test_a_share_of_the_limit(run: Run, percentage: str, severity: str | None) -> None:
    text = f'services:\n  api:\n    image: example.com/api:1\n    mem_limit: 4g\n    environment: {{JAVA_TOOL_OPTIONS: "-XX:MaxRAMPercentage={percentage}"}}\n'
    found = [finding.severity for finding in run({'compose.yaml': text}).findings if finding.rule.id == 'heap-above-memory-limit']
    assert found == ([severity] if severity else [])
