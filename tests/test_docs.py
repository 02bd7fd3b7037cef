"""The generated docs are current, and the hand-written ones lead somewhere."""

import importlib.util
import json
import re
from pathlib import Path
from types import ModuleType

import pytest

from configaudit.config_file import read
from configaudit.config_schema import ROOT as KEYS
from configaudit.config_schema import json_schema
from configaudit.explain import EXAMPLES, page
from configaudit.registry import load
from configaudit.suppression_rules import RULES

ROOT = Path(__file__).parent.parent
PAGES = sorted(path for path in (ROOT / 'docs').rglob('*.md'))


@pytest.fixture(scope='module')
def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location('generate_docs', ROOT / 'tools' / 'generate_docs.py')
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_generated_files_are_current(generator: ModuleType) -> None:
    assert generator.stale() == [], 'run python tools/generate_docs.py'


def test_every_rule_has_a_page() -> None:
    for rule in load().rules:
        text = (ROOT / 'docs' / 'rules' / f'{rule.id}.md').read_text()
        assert text.startswith(f'# {rule.id}\n')
        assert '## Evidence\n\n' in text


def test_every_page_says_why_at_what_cost_and_from_where() -> None:
    for rule in (*load(None).rules, *RULES):
        sections = dict(page(rule, {}).sections)
        assert rule.source.strip(), rule.id
        assert all(sections[name].strip() for name in ('Why', 'Side effect', 'Evidence')), rule.id


def test_examples_ship_small() -> None:
    assert Path(EXAMPLES).stat().st_size < 300_000
    held = json.loads(Path(EXAMPLES).read_text())
    assert held
    assert set(held) <= {rule.id for rule in load().rules}
    assert all(text.startswith('--- bad/') for text in held.values())


@pytest.mark.parametrize('page', PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r'```.*?```|`[^`\n]*`', '', page.read_text(), flags=re.DOTALL)
    for target in re.findall(r'\]\(([^)#\s]+)', text):
        if not target.startswith('http'):
            assert (page.parent / target).exists(), target


def test_configuration_samples_of_the_docs_are_read(tmp_path: Path) -> None:
    text = (ROOT / 'docs' / 'configuration.md').read_text()
    for kind, name in (('yaml', 'configaudit.yaml'), ('toml', 'pyproject.toml')):
        [sample] = re.findall(rf'```{kind}\n(.*?)```', text, re.DOTALL)
        (tmp_path / name).write_text(sample)
        assert read(str(tmp_path / name), name)


def test_schema_holds_every_key() -> None:
    schema = json_schema()
    assert list(schema['properties']) == [key.name for key in KEYS.keys]  # type: ignore[call-overload]
    assert schema['additionalProperties'] is False


def test_schema_agrees_with_the_reader() -> None:
    jsonschema = pytest.importorskip('jsonschema')
    schema = json_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    good = {'select': 'vllm', 'severity': {'a': 'off'}, 'service': {'max_ttft_s': '2s'}, 'engine_version': {'vllm': '0.10'}, 'overrides': [{'paths': ['a']}]}
    jsonschema.validate(good, schema)
    for bad in ({'selct': 'a'}, {'fail-on': 'warn'}, {'ignores': [{'rule': 'a'}]}, {'service': {'max_ttft_s': 'soon'}}, {'complete': 'yes'}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(bad, schema)


def test_every_key_has_a_text() -> None:
    reference = (ROOT / 'docs' / 'configuration.md').read_text()
    for key in KEYS.keys:
        assert key.doc.endswith('.')
        assert f'| `{key.name}` |' in reference
