"""The hot path stays light: what `check` may not import, held by sys.modules of a fresh interpreter."""

import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = (
    'rich', 'kubernetes', 'psutil', 'pydantic', 'attrs', 'jinja2', 'jsonschema', 'importlib.metadata', 'importlib.resources', 'asyncio',
    'logging', 'dataclasses', 'multiprocessing', 'concurrent.futures', 'urllib.request', 'http.client', 'socket', 'ssl', 'subprocess',
    'difflib', 'tree_sitter', 'unittest', 'email', 'xml',
)  # fmt: skip
ROOT = Path(__file__).parent.parent


def modules_after(*arguments: str, cwd: Path) -> set[str]:
    code = (
        'import sys\nfrom configaudit.__main__ import main\n'
        f'sys.argv = {["configaudit", *arguments]!r}\n'
        'try:\n    main()\nexcept SystemExit:\n    pass\n'
        'print("\\n".join(sys.modules), file=sys.stderr)'
    )
    done = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True, check=True, cwd=cwd)
    return set(done.stderr.split('\n'))


@pytest.mark.parametrize('report', ['text', 'json'])
def test_check_imports_nothing_heavy(report: str) -> None:
    loaded = modules_after('check', 'examples/vllm', '--format', report, '--no-config', cwd=ROOT)
    assert 'configaudit.engine' in loaded
    assert loaded.intersection(HEAVY) == set()
    assert 'click' not in loaded


def test_only_rules_of_met_kinds_are_imported(tmp_path: Path) -> None:
    (tmp_path / 'service.yaml').write_text('apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: {ports: [{port: 1}]}\n')
    loaded = modules_after('check', '.', '--no-config', cwd=tmp_path)
    assert 'configaudit.engine' in loaded
    assert {'configaudit.rules.vllm', 'configaudit.rules.db'}.intersection(loaded) == set()


@pytest.mark.parametrize(('metric', 'loaded'), [('up', False), ('vllm:num_requests_running', True)])
def test_promql_is_read_only_where_an_engine_is_asked(tmp_path: Path, metric: str, loaded: bool) -> None:
    rules = f'  groups:\n  - rules:\n    - {{alert: A, expr: "{metric} > 1"}}\n'
    (tmp_path / 'rules.yaml').write_text(f'apiVersion: monitoring.coreos.com/v1\nkind: PrometheusRule\nspec:\n{rules}')
    modules = modules_after('check', '.', '--no-config', cwd=tmp_path)
    assert ('promql_parser' in modules) is loaded
    assert ('configaudit.knowledge.flags' in modules) is loaded


def test_version_imports_nothing_of_ours(tmp_path: Path) -> None:
    loaded = modules_after('--version', cwd=tmp_path)
    assert {name for name in loaded if name.startswith('configaudit.')} == {'configaudit.__main__'}
    assert 'click' not in loaded
