"""The wheel holds what the checkout holds: a package left off the list would vanish without a warning."""

from pathlib import Path

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10
    tomllib = None  # type: ignore[assignment]

import pytest

ROOT = Path(__file__).parent.parent


@pytest.mark.skipif(tomllib is None, reason='tomllib comes with Python 3.11')
def test_every_package_is_listed() -> None:
    listed = tomllib.loads((ROOT / 'pyproject.toml').read_text())['tool']['setuptools']['packages']
    folders = {
        str(path.parent.relative_to(ROOT)).replace('/', '.') for path in (ROOT / 'configaudit').rglob('__init__.py')
    } | {'configaudit.rules'}
    assert set(listed) == folders


@pytest.mark.skipif(tomllib is None, reason='tomllib comes with Python 3.11')
def test_every_data_file_is_listed() -> None:
    listed = tomllib.loads((ROOT / 'pyproject.toml').read_text())['tool']['setuptools']['package-data']
    shipped = {
        path for package, patterns in listed.items() for pattern in patterns
        for path in (ROOT / package.replace('.', '/')).glob(pattern)
    }  # fmt: skip
    files = {path for path in (ROOT / 'configaudit').rglob('*') if path.is_file() and path.suffix not in ('.py', '.pyc')}
    assert files
    assert files - shipped == set()


def test_version_is_the_same_everywhere() -> None:
    from configaudit.__main__ import VERSION

    assert f'version = "{VERSION}"' in (ROOT / 'pyproject.toml').read_text()
    assert f'## {VERSION} ' in (ROOT / 'CHANGELOG.md').read_text()
