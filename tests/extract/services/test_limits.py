"""limits.conf rows."""

import math

import pytest

from configaudit.extract.services import limits
from configaudit.places import Document


def test_rows_for_open_files_only() -> None:
    text = b'# a\n* soft nofile 65536\n@ops - nofile unlimited # all\nroot hard nproc 10\nx soft nofile many\n'
    rows = limits.read(Document('limits.conf', 'limits', text)).components
    assert [(row['domain'].value, row['type'].value, row['limit'].known_value) for row in rows] == [
        ('*', 'soft', 65536),
        ('@ops', '-', math.inf),
        ('x', 'soft', None),
    ]
    assert 'many' in rows[2]['limit'].reason


@pytest.mark.parametrize(
    ('value', 'severities'), [('1024', ['warning']), ('64000', ['advice']), ('65535', []), ('unlimited', [])]
)
def test_how_low_is_low(run, value: str, severities: list[str]) -> None:  # type: ignore[no-untyped-def]
    result = run({'etc/security/limits.conf': f'* soft nofile {value}\n'})
    assert [item.severity for item in result.findings] == severities
