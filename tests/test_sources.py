"""Which files are read: .gitignore as Git reads it, folders nobody means, links, pipes, devices."""

import os
import threading
from pathlib import Path

import pytest

from configaudit import sources
from configaudit.findings import Error, Skipped

FILES = (
    'a/x.yaml', 'a/b/y.yaml', 'a/b/secret.yaml', 'c/d/z.yaml', 'c/foo.yaml', 'c/d/foo.yaml', 'c/root.yaml', 'root.yaml', 'build/o.yaml', 'src/build/o.yaml',
    'keep/k.yaml', 'keep/l.yaml', 'sp ace/s.yaml', 'we[i]rd.yaml', 'tr.yaml', '.hidden/h.yaml', 'node_modules/x/n.yaml', 'env2/v.yaml', '.env', 'vendor/v.yaml',
)  # fmt: skip
IGNORE = """\
# comment
/build/
secret.yaml
!c/foo.yaml
foo.yaml
/root.yaml
keep/*
!keep/k.yaml
sp\\ ace/
we\\[i\\]rd.yaml
tr.yaml\x20\x20\x20
**/d/z.yaml
"""


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text('a: 1\n')
    (tmp_path / '.gitignore').write_text(IGNORE)
    (tmp_path / 'a/b/.gitignore').write_text('!secret.yaml\n')
    (tmp_path / 'env2/pyvenv.cfg').write_text('')
    (tmp_path / '.git').mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def names(*paths: str) -> tuple[list[str], list[Error]]:
    skipped: list[Skipped] = []
    errors: list[Error] = []
    found = sources.discover(paths, (), skipped, errors, lambda path: path.endswith(('.yaml', '.env')))
    return [source.path for source in found], errors


@pytest.mark.parametrize(
    ('path', 'expected'),
    [
        ('.', ['.env', 'a/b/secret.yaml', 'a/b/y.yaml', 'a/x.yaml', 'c/root.yaml', 'keep/k.yaml', 'src/build/o.yaml']),
        ('c', ['c/root.yaml']),
        ('keep', ['keep/k.yaml']),
        ('a/b', ['a/b/secret.yaml', 'a/b/y.yaml']),
        ('build/o.yaml', ['build/o.yaml']),
        ('.hidden/h.yaml', ['.hidden/h.yaml']),
        ('.hidden', ['.hidden/h.yaml']),
        ('vendor', ['vendor/v.yaml']),
    ],
)
def test_what_is_read(tree: Path, path: str, expected: list[str]) -> None:
    assert sorted(names(path)[0]) == expected


def test_a_file_named_twice_is_read_once(tree: Path) -> None:
    (tree / 'link.yaml').symlink_to('a/x.yaml')
    assert names('a/x.yaml', './a/x.yaml', 'link.yaml')[0] == ['a/x.yaml']


def test_a_device_is_an_error(tree: Path) -> None:
    (tree / 'zero.yaml').symlink_to('/dev/zero')
    found, errors = names('zero.yaml')
    assert found == []
    assert [(error.path, error.message) for error in errors] == [('zero.yaml', 'neither a file nor a pipe')]
    assert 'zero.yaml' not in names('.')[0]


def test_a_named_pipe_is_read_to_its_end(tree: Path) -> None:
    os.mkfifo(tree / 'pipe.yaml')
    text = b'a: 1\n' * 40_000
    writer = threading.Thread(target=(tree / 'pipe.yaml').write_bytes, args=(text,))
    writer.start()
    (source,) = sources.discover(['pipe.yaml'], (), [], [], lambda path: True)
    assert sources.read(source) == text
    writer.join()
    assert 'pipe.yaml' not in names('.')[0]
