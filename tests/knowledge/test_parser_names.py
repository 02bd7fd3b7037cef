"""Which release registers which parser."""

import pytest

from configaudit.knowledge.parser_names import names, status
from configaudit.knowledge.versions import release


@pytest.mark.parametrize(
    ('kind', 'name', 'version', 'state'),
    [
        ('tool', 'hermes', '0.6.3', 'known'),
        ('tool', 'hermes', '0.33.0', 'known'),
        ('tool', 'qwen3_xml', '0.10.2', 'too-new'),
        ('tool', 'minimax', '0.33.0', 'removed'),
        ('tool', 'hermess', '0.16.0', 'unknown'),
        ('tool', 'hermess', '99.0', 'newer-than-data'),
        ('tool', 'hermes', '99.0', 'known'),
        ('reasoning', 'deepseek_r1', '0.8.5', 'known'),
        ('reasoning', 'hermes', '0.16.0', 'unknown'),
    ],
)
def test_status(kind: str, name: str, version: str, state: str) -> None:
    assert status(kind, name, release(version)).state == state


def test_names_of_a_release() -> None:
    assert names('reasoning', release('0.8.5')) == ['deepseek_r1', 'granite']
    assert 'hermes' in names('tool', None)
