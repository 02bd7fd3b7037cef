"""What a program takes from its environment, and what of other kinds merely names a variable."""

import pytest

from configaudit.audit import audit
from configaudit.config import Config

_DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: rank}
spec:
  selector: {matchLabels: {app: rank}}
  template:
    metadata: {labels: {app: rank}}
    spec:
      containers:
        - name: rank
          image: registry.example.com/rank:1.2.0
          env: [{name: OMP_NUM_THREADS, value: "16"}, {name: POOL, value: "7"}, {name: DATABASE_URL, value: "postgresql://app@db/rank"}]
          resources: {limits: {cpu: "4"}}
"""
_PROGRAM = """\
import os

from sqlalchemy import create_engine

engine = create_engine(os.environ['DATABASE_URL'], pool_size=int(os.environ['POOL']))
"""


def test_the_variable_of_a_library_beside_that_of_a_program(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.chdir(tmp_path)
    (tmp_path / 'rank.yaml').write_text(_DEPLOYMENT)
    (tmp_path / 'rank.py').write_text(_PROGRAM)
    result = audit(['.'], Config())
    assert 'math-threads-over-cpu-limit' in {finding.rule.id for finding in result.findings}
    assert [component['max_open'].known_value for component in result.components if component.kind.name == 'pool'] == [7]
