"""What is deployed: the least privilege that works, and names that the agent really emits."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from configaudit import cli
from configaudit.audit import audit, audit_node
from configaudit.config import Config
from configaudit.host.snapshot import Snapshot
from configaudit.outcomes import outcomes
from configaudit.report.prometheus import Run, render

DEPLOY = Path(__file__).parent.parent / 'deploy'
BASE = DEPLOY / 'base'
DAEMONSET: dict[str, Any] = yaml.safe_load((BASE / 'daemonset.yaml').read_text())
POD: dict[str, Any] = DAEMONSET['spec']['template']['spec']
CONTAINER: dict[str, Any] = POD['containers'][0]


def emitted() -> set[str]:
    result = audit_node(Snapshot({'/proc/sys/kernel/pid_max': '100'}, facts={'netns': 'host', 'pidns': 'host'}), Config())
    families = text_string_to_metric_families(render(outcomes(result), Run('n', 1.0, 1.0, 0, {'openreports': 1})))
    return {sample.name for family in families for sample in family.samples}


def test_the_one_manifest_is_the_base() -> None:
    parts = [(BASE / name).read_text() for name in yaml.safe_load((BASE / 'kustomization.yaml').read_text())['resources']]
    assert (DEPLOY / 'node.yaml').read_text() == '---\n'.join(parts)


def test_the_pod_has_no_privilege() -> None:
    assert (POD['hostNetwork'], POD['hostPID'], POD.get('hostIPC', False)) == (True, True, False)
    assert POD['securityContext'] == {'runAsNonRoot': True, 'runAsUser': 65534, 'runAsGroup': 65534, 'seccompProfile': {'type': 'RuntimeDefault'}}
    assert CONTAINER['securityContext'] == {'allowPrivilegeEscalation': False, 'readOnlyRootFilesystem': True, 'capabilities': {'drop': ['ALL']}}
    assert POD['automountServiceAccountToken'] is False
    assert not POD.get('initContainers')


def test_host_folders_are_read_only_and_nobody_is_asked_to_create_a_file() -> None:
    paths = {volume['name']: volume['hostPath'] for volume in POD['volumes'] if 'hostPath' in volume}
    mounts = {mount['name']: mount for mount in CONTAINER['volumeMounts']}
    assert paths
    for name, path in paths.items():
        assert mounts[name]['readOnly'] is True, name
        assert mounts[name]['mountPath'] == '/host' + path['path'], name
        assert not path['path'].endswith(('.conf', '.yaml')), name
    assert not {path['path'] for path in paths.values()} & {'/', '/etc', '/var', '/proc', '/sys', '/etc/kubernetes', '/etc/ssl'}


def test_single_files_are_mounted_where_they_exist() -> None:
    for component in (DEPLOY / 'components').iterdir():
        text = (component / 'kustomization.yaml').read_text()
        assert 'type: File' in text
        assert 'readOnly: true' in text


def test_only_publishing_needs_a_token() -> None:
    for overlay in (DEPLOY / 'overlays').iterdir():
        text = (overlay / 'kustomization.yaml').read_text()
        assert ('automountServiceAccountToken' in text) == ('--publish' in text), overlay.name


def test_the_arguments_are_those_of_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    texts = [path.read_text() for path in DEPLOY.rglob('*.yaml')] + [(DEPLOY / 'node-problem-detector/configaudit-monitor.json').read_text()]
    used = {flag for text in texts for flag in re.findall(r'(?<![\w-])--[a-z][a-z-]*', text)} - {'--collector', '--cluster'}
    cli.run(['node', '--help'])
    known = set(re.findall(r'--[a-z-]+', capsys.readouterr().out))
    assert used <= known


def test_our_own_rules_find_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(DEPLOY)
    result = audit(['.'], Config())
    assert [finding.message for finding in result.findings if finding.severity != 'advice'] == []
    assert not result.errors


@pytest.mark.parametrize('expr', [
    rule['expr'] for group in yaml.safe_load((DEPLOY / 'overlays/prometheus/prometheusrule.yaml').read_text())['spec']['groups'] for rule in group['rules']
] + [
    target['expr'].replace('$node', '.*') for panel in json.loads((DEPLOY / 'grafana/node-configuration.json').read_text())['panels'] for target in panel['targets']
])  # fmt: skip
def test_queries_parse_and_name_what_the_agent_emits(expr: str) -> None:
    import promql_parser

    promql_parser.parse(expr)
    names = set(re.findall(r'configaudit_\w+', expr))
    assert names
    assert names <= emitted()


def test_the_image_runs_as_nobody() -> None:
    text = (DEPLOY / 'Containerfile').read_text()
    assert text.count('FROM ') == 2
    assert 'USER 65534:65534' in text


def test_the_plugin_fits_the_detector() -> None:
    held = json.loads((DEPLOY / 'node-problem-detector/configaudit-monitor.json').read_text())
    assert held['pluginConfig']['max_output_length'] == 80
    assert {rule['condition'] for rule in held['rules']} <= {condition['type'] for condition in held['conditions']}
