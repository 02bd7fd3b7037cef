"""What configaudit says of a command line, the engine's own parser says too.

`tools/real_parsers.py FOLDER` builds the environments that hold the parsers; CONFIGAUDIT_PARSERS names the folder.
"""

import importlib.util
import json
import os
import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from configaudit.audit import audit
from configaudit.config import Config
from configaudit.knowledge.flags import catalogue
from configaudit.knowledge.versions import parse

pytestmark = [pytest.mark.real, pytest.mark.slow]

Answer = Callable[[str, str], dict[str, Any]]

TOOLS = Path(__file__).parents[2] / 'tools'
RELEASES = (('vllm', '0.10.2'), ('vllm', '0.16.0'), ('vllm', '0.33.0'), ('sglang', '0.5.9'), ('sglang', '0.5.23'))
IMAGES = {'vllm': 'vllm/vllm-openai', 'sglang': 'lmsysorg/sglang'}
PROGRAMS = {'vllm': ('vllm',), 'sglang': ('python3', '-m', 'sglang.launch_server')}
SERVER = ('python3', '-m', 'vllm.entrypoints.openai.api_server')
"""vLLM's program without `serve`."""
PARSER_RULES = frozenset((
    'flag-removed', 'flag-unknown', 'flag-too-new', 'flag-ambiguous', 'flag-value-missing', 'flag-value-unexpected', 'flag-value-invalid',
    'argument-stray', 'model-as-option', 'config-file-invalid',
))  # fmt: skip
"""Rules, behind the engine's name, that say what the parser refuses; others look further than it does."""


@cache
def _tool(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, TOOLS / f'{name}.py')
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope='session')
def answer(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, str], dict[str, Any]]:
    """What the parser of a release says of its command lines."""

    @cache
    def ask(engine: str, name: str) -> dict[str, Any]:
        folder = os.environ.get('CONFIGAUDIT_PARSERS', '')
        python = Path(folder) / f'{engine}-{name}' / 'bin' / 'python'
        if not folder or not python.exists():
            pytest.skip(f'CONFIGAUDIT_PARSERS names no folder with {engine}-{name}: tools/real_parsers.py makes it')
        work, asked = tmp_path_factory.mktemp(f'{engine}-{name}'), []
        for number, line in enumerate(_tool('command_lines').command_lines(engine, name)):
            path = work / f'{number}.yaml'
            path.write_text(line.yaml)
            asked.append([word.replace('engine.yaml', str(path)) for word in line.words])
        judge = [str(python), str(TOOLS / 'parser_judge.py'), engine]
        done = subprocess.run(judge, input=json.dumps(asked), capture_output=True, text=True, check=True, cwd=work)
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    return ask


def said(engine: str, name: str, lines: list[Any], work: Path) -> list[str]:
    """What configaudit finds an error in each line, '' where it takes it."""
    program = PROGRAMS[engine]
    for number, line in enumerate(lines):
        folder = work / f'{number:05}'
        folder.mkdir()
        first = line.words[:1]
        words = (*(program if engine != 'vllm' or first == ('serve',) else SERVER), *line.words)
        container = {'name': 'c', 'image': f'{IMAGES[engine]}:v{name}', 'command': words}
        pod = {'apiVersion': 'v1', 'kind': 'Pod', 'metadata': {'name': 'p'}, 'spec': {'containers': [container]}}
        if any('engine.yaml' in word for word in line.words):
            (folder / 'engine.yaml').write_text(line.yaml)
        (folder / 'pod.yaml').write_text(json.dumps(pod))
    errors = [''] * len(lines)
    for finding in audit([str(work)], Config()).findings:
        family, _, rest = finding.rule.id.partition('-')
        if finding.severity == 'error' and family == engine and rest in PARSER_RULES:
            at = int(Path(finding.place.outermost().document.path).parent.name)
            errors[at] += f'{finding.rule.id}: {finding.message}; '
    return errors


@pytest.mark.parametrize(('engine', 'name'), RELEASES)
def test_flags(engine: str, name: str, answer: Answer) -> None:
    assert catalogue(engine).spellings(parse(name)) - {'--omni'} == set(answer(engine, name)['flags']) - {'-h', '--help'}


@pytest.mark.parametrize(('engine', 'name'), RELEASES)
def test_lines(engine: str, name: str, answer: Answer, tmp_path: Path) -> None:
    real = answer(engine, name)['verdicts']
    lines = _tool('command_lines').command_lines(engine, name)
    found = said(engine, name, lines, tmp_path)
    wrong = [
        f'{line.purpose}: {" ".join(line.words)} {line.yaml!r}\n    parser: {verdict or "takes it"}\n    configaudit: {own or "takes it"}'
        for line, verdict, own in zip(lines, real, found, strict=True)
        if bool(verdict) != bool(own)
    ]
    assert not wrong, f'{len(wrong)} of {len(lines)} lines are judged otherwise:\n' + '\n'.join(wrong)
