"""The flowcharts are what Mermaid's own parser reads: opt-in, with a folder in which `npm install mermaid jsdom` was run."""

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from configaudit import cli

pytestmark = pytest.mark.real
ROOT = Path(__file__).parent.parent.parent
PARSE = """
import { createRequire } from 'module';
import { readFileSync } from 'fs';
import { pathToFileURL } from 'url';
const load = (name) => import(pathToFileURL(createRequire(process.argv[2] + '/').resolve(name)));
const { JSDOM } = await load('jsdom');
globalThis.window = new JSDOM('').window;
globalThis.document = window.document;
const { default: mermaid } = await import(pathToFileURL(process.argv[2] + '/node_modules/mermaid/dist/mermaid.core.mjs'));
const text = readFileSync(process.argv[3], 'utf8');
await mermaid.parse(text);
const { db } = await mermaid.mermaidAPI.getDiagramFromText(text);
console.log(JSON.stringify({ labels: [...db.getVertices().values()].map((one) => one.text), edges: db.getEdges().length }));
"""


@pytest.mark.parametrize('nasty', ['', 'a"]:::error; end %%{init}%% <b>&amp;</b> `x` \\N #35; |y| (z) {w} -->'])
def test_mermaid_parses_what_is_written(tmp_path: Path, program: Callable[[str], str], nasty: str) -> None:
    modules = os.environ.get('CONFIGAUDIT_MERMAID')
    if not modules:
        pytest.skip('CONFIGAUDIT_MERMAID names no folder with mermaid and jsdom of npm')
    for path in (ROOT / 'examples' / 'vllm').iterdir():
        (tmp_path / path.name).write_text(path.read_text().replace('--model=/models/chat-32b', json.dumps(f'--model=/m/{nasty}')))
    assert cli.run(['graph', str(tmp_path), '-f', 'mermaid', '--output', str(tmp_path / 'chart.mmd')]) == 0
    (tmp_path / 'parse.mjs').write_text(PARSE)
    done = subprocess.run([program('node'), 'parse.mjs', modules, 'chart.mmd'], cwd=tmp_path, capture_output=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr.decode()
    held = json.loads(done.stdout)
    assert held['edges'] == 7
    assert sum(label.startswith('Deployment') for label in held['labels']) == 2
