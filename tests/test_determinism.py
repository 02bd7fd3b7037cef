"""The same input gives the same bytes: across hash seeds, file order and job counts."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def check(*arguments: str, seed: str = '0') -> bytes:
    environment = {**os.environ, 'PYTHONHASHSEED': seed}
    done = subprocess.run(
        [sys.executable, '-m', 'configaudit', 'check', '--no-config', '--fail-on', 'never', *arguments],
        capture_output=True, cwd=ROOT, env=environment, check=False,
    )  # fmt: skip
    assert done.returncode in (0, 3), done.stderr.decode()
    return done.stdout


@pytest.mark.parametrize('report', ['json', 'sarif', 'text', 'markdown', 'junit', 'gitlab', 'github'])
def test_hash_seed_changes_nothing(report: str) -> None:
    first = check('examples', 'fixtures', '--format', report, seed='1')
    assert first
    assert check('examples', 'fixtures', '--format', report, seed='77') == first


def test_file_order_changes_nothing() -> None:
    files = sorted(str(path.relative_to(ROOT)) for path in (ROOT / 'examples').rglob('*') if path.is_file())
    assert check(*files, '--format', 'json') == check(*reversed(files), '--format', 'json')


def test_jobs_change_nothing() -> None:
    assert check('examples', 'fixtures', '--format', 'json', '--jobs', '2') == check('examples', 'fixtures', '--format', 'json')


def test_what_an_overlay_holds_back_stands_where_it_stood(tmp_path: Path) -> None:
    (tmp_path / 'a').mkdir()
    (tmp_path / 'a' / 'kustomization.yaml').write_text('resources: [service.yaml]\n')
    for path in ('a/service.yaml', 'b.yaml', 'c.yaml'):
        (tmp_path / path).write_text(f'apiVersion: v1\nkind: Service\nmetadata: {{name: {path[0]}}}\nspec: {{ports: [{{port: 80}}]}}\n')
    assert check(str(tmp_path), '--format', 'json', '--jobs', '2') == check(str(tmp_path), '--format', 'json')
