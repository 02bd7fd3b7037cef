"""Imports point one way: each layer knows only those before it, rules know the vocabulary only, nobody imports rules."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
LAYERS = (
    'errors', 'patterns', 'units', 'dates', 'places', 'changes', 'model', 'findings', 'redact', 'sources', 'scope', 'cluster', 'host', 'parse', 'knowledge',
    'context', 'extract', 'link', 'link_built', 'link_traefik', 'link_routes', 'link_proxies', 'link_tuned', 'link_sysctls', 'link_host_files', 'link_monitors', 'link_metrics', 'link_code', 'link_chains', 'link_pools', 'link_databases', 'registry', 'result', 'engine', 'selection', 'config_schema', 'config_file', 'suppression_rules', 'config',
    'config_check', 'suppression_marks', 'workers', 'intake', 'suppress', 'fix', 'fix_rounds', 'fix_plan', 'baseline', 'rendered', 'charted', 'audit', 'cache', 'explain', 'prelaunch', 'release_sheet', 'upgrade',
    'testkit', 'outcomes', 'fleet', 'graph_settings', 'graph_links', 'graph_files', 'graph', 'graph_select', 'report', 'publish', 'agent', 'command', 'cli', '__main__',
)  # fmt: skip
# What a secret looks like is told in one place, for reports and for the rule on secrets.
RULES_MAY_IMPORT = ('configaudit.model', 'configaudit.units', 'configaudit.knowledge', 'configaudit.places', 'configaudit.patterns', 'configaudit.redact')


def imports(path: Path) -> set[str]:
    """Every configaudit module a file imports by statement, at any depth of the code."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.update(f'{node.module}.{alias.name}' if node.module == 'configaudit' else node.module for alias in node.names)
    return {name for name in found if name.split('.')[0] == 'configaudit'}


def layer_of(module: str) -> str:
    parts = module.split('.')
    return parts[1] if len(parts) > 1 else ''


MODULES = sorted(path for path in (ROOT / 'configaudit').rglob('*.py'))


@pytest.mark.parametrize('path', MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_layers_import_downward(path: Path) -> None:
    own = path.relative_to(ROOT / 'configaudit').parts[0].removesuffix('.py')
    if own == '__init__':
        return
    assert own in LAYERS, f'{own} has no place in the order of layers'
    above = {name for name in imports(path) if layer_of(name) in LAYERS[LAYERS.index(own) + 1 :]}
    assert not above
    assert not any(layer_of(name) == 'rules' for name in imports(path))


def test_every_layer_exists() -> None:
    later = {'cluster'}  # live clusters are read by a later release
    there = {path.name.removesuffix('.py') for path in (ROOT / 'configaudit').iterdir()}
    assert set(LAYERS) - there == later


@pytest.mark.parametrize('path', sorted((ROOT / 'rules').glob('*.py')), ids=lambda path: path.name)
def test_rules_import_the_vocabulary_only(path: Path) -> None:
    assert {name for name in imports(path) if not name.startswith(RULES_MAY_IMPORT)} == set()


def test_names_say_something() -> None:
    empty = {'utils', 'util', 'helpers', 'common', 'base', 'manager', 'misc'}
    assert not [path for path in (*MODULES, *(ROOT / 'rules').glob('*.py')) if path.stem in empty]


@pytest.mark.parametrize('path', [*MODULES, *sorted((ROOT / 'rules').glob('*.py'))], ids=lambda path: str(path.relative_to(ROOT)))
def test_modules_and_functions_stay_small(path: Path) -> None:
    text = path.read_text()
    assert text.count('\n') <= 300
    long = [
        (node.name, node.end_lineno - node.lineno + 1)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.end_lineno and node.end_lineno - node.lineno + 1 > 60
    ]
    assert long == []
