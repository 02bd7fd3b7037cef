"""Members of archives, read from memory in place of a server."""

import hashlib
import io
import tarfile
import zipfile
from pathlib import Path

import pytest

from configaudit.knowledge.versions import release
from tools.engine_history import index, remote, sources
from tools.engine_history.index import File, Release


def wheel(texts: dict[str, str]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, 'w', zipfile.ZIP_DEFLATED) as archive:
        for path, text in texts.items():
            archive.writestr(path, text)
    return buffer.getvalue()


def archive_of(texts: dict[str, str]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode='w:gz') as archive:
        for path, text in texts.items():
            entry = tarfile.TarInfo(path)
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text.encode()))
    return buffer.getvalue()


def test_only_a_part_of_a_wheel_is_fetched() -> None:
    filler = '\n'.join(hashlib.sha256(str(number).encode()).hexdigest() for number in range(60_000))
    data = wheel({'vllm/a.py': 'A = 1\n', 'vllm/kernels.so': filler, 'vllm/z.py': 'Z = 26\n', 'other.so': filler})
    fetched: list[tuple[int, int]] = []

    def read(start: int, end: int) -> bytes:
        fetched.append((start, end))
        return data[start:end]

    found = remote.wheel_members(len(data), read, lambda path: path.endswith('.py'))
    assert found == {'vllm/a.py': 'A = 1\n', 'vllm/z.py': 'Z = 26\n'}
    assert sum(end - start for start, end in fetched) < len(data) / 3
    assert len(fetched) == 3


def test_members_of_a_source_distribution_lose_its_folder() -> None:
    data = archive_of({'sglang-0.4.0/python/sglang/x.py': 'X = 1\n', 'sglang-0.4.0/sglang/y.py': 'Y = 1\n', 'sglang-0.4.0/README': ''})
    assert remote.source_members(data, lambda path: path.startswith('sglang/')) == {'sglang/x.py': 'X = 1\n', 'sglang/y.py': 'Y = 1\n'}


def test_a_source_distribution_must_be_the_announced_one(tmp_path: Path) -> None:
    data = archive_of({'x-1/vllm/a.py': 'A = 1\n'})
    (tmp_path / 'x.tar.gz').write_bytes(data)
    url = (tmp_path / 'x.tar.gz').as_uri()
    good = File('x-1.tar.gz', url, len(data), hashlib.sha256(data).hexdigest())
    assert remote.members(None, good, lambda _: True) == {'vllm/a.py': 'A = 1\n'}
    with pytest.raises(ValueError, match='announces'):
        remote.members(None, good._replace(sha256='0' * 64), lambda _: True)
    with pytest.raises(OSError, match='neither'):
        remote.members(None, None, lambda _: True)


def entry(name: str, **more: object) -> dict[str, object]:
    return {'filename': name, 'url': f'u/{name}', 'hashes': {'sha256': 'ab'}, 'size': 5, **more}


def test_final_releases_in_order() -> None:
    files = [
        entry('vllm-0.10.0.tar.gz'),
        entry('vllm-0.9.1-cp38-abi3-manylinux1_x86_64.whl', size=900),
        entry('vllm-0.9.1-cp38-abi3-manylinux2014_aarch64.whl', size=100),
        entry('vllm-0.9.1.tar.gz'),
        entry('vllm-0.9.0.post1-py3-none-any.whl'),
        entry('vllm-0.9.2rc1.tar.gz'),
        entry('vllm-0.8.0.tar.gz'),
        entry('vllm-0.9.5.tar.gz', yanked='broken'),
        entry('vllm-0.9.1+cu118-cp38-abi3-linux.whl'),
    ]
    found = index.releases(files, release('0.9.0'))
    assert [each.name for each in found] == ['0.9.0.post1', '0.9.1', '0.10.0']
    assert found[1].wheel is not None
    assert found[1].source is not None
    assert found[1].wheel.size == 100
    assert found[2].wheel is None


def test_the_index_of_pip_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv('PIP_INDEX_URL', 'https://index.example/simple/')
    assert index.index_url() == 'https://index.example/simple'
    monkeypatch.delenv('PIP_INDEX_URL')
    assert index.index_url() == index.DEFAULT_INDEX


def test_what_was_read_once_comes_from_the_cache(tmp_path: Path) -> None:
    data = archive_of({'x-1/vllm/a.py': 'A = 1\n', 'x-1/vllm/third_party/b.py': ''})
    (tmp_path / 'x.tar.gz').write_bytes(data)
    file = File('vllm-1.0.0.tar.gz', (tmp_path / 'x.tar.gz').as_uri(), len(data), hashlib.sha256(data).hexdigest())
    one = Release('1.0.0', release('1.0.0'), (file,))
    assert sources.sources('vllm', one, tmp_path / 'cache') == {'vllm/a.py': 'A = 1\n'}
    (tmp_path / 'x.tar.gz').unlink()
    assert sources.sources('vllm', one, tmp_path / 'cache') == {'vllm/a.py': 'A = 1\n'}
