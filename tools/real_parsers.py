"""Builds the environments in which the engines' own argument parsers run, for tests/real/test_engine_parsers.py.

Usage, with the Python of the engines' images: python3.12 tools/real_parsers.py FOLDER [vllm-0.16.0 ...]
Each gets FOLDER/ENGINE-VERSION with the engine's Python sources and the packages that importing its parser needs; torch is
shared. About 8 GB and ten minutes for all. Then: CONFIGAUDIT_PARSERS=FOLDER pytest tests/real/test_engine_parsers.py
"""

import hashlib
import io
import json
import os
import re
import subprocess
import sys
import tarfile
import urllib.request
import venv
import zipfile
from pathlib import Path

INDEX = os.environ.get('PIP_INDEX_URL', 'https://pypi.org/simple').rstrip('/')
TIMEOUT_S = 60
RELEASES = ('vllm-0.10.2', 'vllm-0.16.0', 'vllm-0.33.0', 'sglang-0.5.9', 'sglang-0.5.23')
TORCH = 'torch==2.14.0'
"""What vLLM 0.33.0 wants; the parsers of the older releases import with it too."""
HEAVY = re.compile(r'(xgrammar|outlines_core|llguidance|lm-format-enforcer|opencv|scipy|compressed-tensors|depyf|torch|ninja|gguf|opentelemetry|safetensors)')
"""Requirements that importing the parser does not need, or that torch brings."""
ADDED = {'vllm-0.33.0': ('xgrammar==0.2.8', 'apache-tvm-ffi', 'llguidance'), 'vllm-0.16.0': ('gguf',)}
SGLANG = {'sglang-0.5.9': 'vllm-0.16.0', 'sglang-0.5.23': 'vllm-0.33.0'}
"""Whose packages an SGLang release shares."""
SGLANG_ADDED = ('ipython', 'traitlets', 'orjson', 'torchvision', 'dill')


def build(folder: Path, name: str) -> None:
    """One release's environment; nothing when it is there."""
    home, (engine, _, version) = folder / name, name.partition('-')
    if (home / 'done').exists():
        return
    if name in SGLANG:
        build(folder, SGLANG[name])
    venv.create(home, with_pip=True, clear=True)
    sources = folder / 'sources' / name
    _unpack(engine, version, sources)
    packages = next(home.glob('lib/python*/site-packages'))
    shared = [sources, folder / 'torch']
    if engine == 'vllm':
        _install(home, *_requirements(sources))
        _install(home, '--no-deps', *ADDED.get(name, ()))
    else:
        _install(home, '--no-deps', *SGLANG_ADDED)
        shared.insert(1, next((folder / SGLANG[name]).glob('lib/python*/site-packages')))
    (packages / 'engine.pth').write_text(''.join(f'{path}\n' for path in shared))
    told = packages / f'{engine}-{version}+cpu.dist-info'  # vLLM asks its own version for the platform it runs on
    told.mkdir(exist_ok=True)
    (told / 'METADATA').write_text(f'Metadata-Version: 2.1\nName: {engine}\nVersion: {version}+cpu\n')
    (home / 'done').touch()


def _install(home: Path, *words: str) -> None:
    if any(not word.startswith('-') for word in words):
        subprocess.run([str(home / 'bin' / 'python'), '-m', 'pip', 'install', '-q', *words], check=True)


def _requirements(sources: Path) -> list[str]:
    """What the release asks for, without what its parser can do without."""
    lines = (sources / 'requirements' / 'common.txt').read_text().splitlines()
    wanted = (line.partition(' #')[0].strip() for line in lines if line.strip() and not line.startswith(('#', '-')))
    return [re.sub(r'mistral_common\[[a-z,]*\]', 'mistral_common', line) for line in wanted if not HEAVY.match(line)]


def _unpack(engine: str, version: str, target: Path) -> None:
    """The Python files of a release: vLLM's from its source archive, SGLang's from its wheel."""
    name, url, digest = _file(engine, version)
    with urllib.request.urlopen(url, timeout=TIMEOUT_S) as response:
        data: bytes = response.read()
    if hashlib.sha256(data).hexdigest() != digest:
        raise SystemExit(f'{name} is not what the index says')
    target.mkdir(parents=True, exist_ok=True)
    if name.endswith('.whl'):
        with zipfile.ZipFile(io.BytesIO(data)) as wheel:
            wheel.extractall(target)
        return
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        for member in archive.getmembers():
            member.name = member.name.partition('/')[2]
            if member.isfile() and member.name.endswith(('.py', '.txt', '.json')):
                archive.extract(member, target, filter='data')


def _file(engine: str, version: str) -> tuple[str, str, str]:
    """(name, address, SHA-256) of the archive to unpack."""
    ending = '.tar.gz' if engine == 'vllm' else '.whl'
    request = urllib.request.Request(f'{INDEX}/{engine}/', headers={'Accept': 'application/vnd.pypi.simple.v1+json'})
    with urllib.request.urlopen(request, timeout=TIMEOUT_S) as response:
        files = json.loads(response.read())['files']
    for entry in files:
        name = entry['filename']
        if re.match(rf'{engine}-{re.escape(version)}[.-]', name) and name.endswith(ending) and 'aarch64' not in name:
            return name, entry['url'], entry['hashes']['sha256']
    raise SystemExit(f'the index has no {ending} of {engine} {version}')


def main() -> None:
    """Build what is asked for, else all."""
    folder, names = Path(sys.argv[1]).resolve(), sys.argv[2:] or list(RELEASES)
    if not (folder / 'torch').exists():
        subprocess.run([sys.executable, '-m', 'pip', 'install', '-q', '--target', str(folder / 'torch'), TORCH], check=True)
    for name in names:
        build(folder, name)
        sys.stdout.write(f'{folder / name}\n')


if __name__ == '__main__':
    main()
