"""Spring's gRPC keys beside what is no key."""

from pathlib import Path

import pytest

from configaudit.audit import audit
from configaudit.config import Config


@pytest.mark.parametrize('text', ['grpc:\n"": x\n', 'grpc: {"": {"": 1}}\n', '"": {grpc: 1}\ngrpc: 2\n'])
def test_empty_keys_are_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    (tmp_path / 'application.yml').write_text('spring: {application: {name: a}}\n' + text)
    monkeypatch.chdir(tmp_path)
    assert audit(['.'], Config()).errors == ()
