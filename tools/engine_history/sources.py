"""The files of a release that its flags, variables and metrics are read from, kept in a cache outside the repository."""

import os
import zipfile
from collections.abc import Mapping
from pathlib import Path

from .index import Release
from .remote import members

# Code that declares no flag and no metric, by folder of the package: nine tenths of the text.
LEFT_OUT = {
    'vllm': (
        'models/',
        'third_party/',
        'vllm_flash_attn/',
        'benchmarks/',
        'kernels/',
        'model_executor/models/',
        'model_executor/kernels/',
        'model_executor/layers/fused_moe/',
        'transformers_utils/configs/',
        'transformers_utils/processors/',
        'transformers_utils/chat_templates/',
        'transformers_utils/tokenizers/',
        'v1/attention/ops/',
        'attention/ops/',
    ),
    'sglang': ('kernels/', 'multimodal_gen/', 'test/', 'lang/', 'eval/', 'benchmark/', 'jit_kernel/', 'srt/debug_utils/'),
}


def wanted(engine: str, path: str) -> bool:
    """Whether a file of the archive may tell about flags, variables or metrics."""
    package, _, rest = path.partition('/')
    return package == engine and rest.endswith('.py') and not rest.startswith(LEFT_OUT[engine])


def cache_folder() -> Path:
    root = os.environ.get('XDG_CACHE_HOME') or Path.home() / '.cache'
    return Path(root) / 'configaudit' / 'engine-history'


def read_cached(file: Path) -> dict[str, str]:
    with zipfile.ZipFile(file) as archive:
        return {name: archive.read(name).decode() for name in archive.namelist()}


def write_cached(file: Path, sources: Mapping[str, str]) -> None:
    """Written beside and renamed, so that a file that is there is whole."""
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_suffix('.part')
    with zipfile.ZipFile(part, 'w', zipfile.ZIP_DEFLATED) as archive:
        for path, text in sorted(sources.items()):
            archive.writestr(path, text)
    part.replace(file)


def sources(engine: str, release: Release, folder: Path) -> dict[str, str]:
    """Path -> text of the files of a release that are read. Raises OSError or ValueError when they cannot be had."""
    file = folder / f'{engine}-{release.name}.zip'
    if not file.exists():
        found = members(release.wheel, release.source, lambda path: wanted(engine, path))
        write_cached(file, found)
    return read_cached(file)
