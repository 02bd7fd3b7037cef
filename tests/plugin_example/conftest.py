"""Lets the example be found as if it were installed: `pip install .` does this for a real plugin."""

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def installed(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """The module and its metadata on the path."""
    info = tmp_path_factory.mktemp('site') / 'house_rules-1.0.dist-info'
    info.mkdir()
    (info / 'METADATA').write_text('Metadata-Version: 2.1\nName: house-rules\nVersion: 1.0\n')
    (info / 'entry_points.txt').write_text('[configaudit.rules]\nhouse = house_rules\n')
    monkeypatch.syspath_prepend(str(info.parent))
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
