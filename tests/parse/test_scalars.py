"""Every character of a scalar leads back to the characters that spell it."""

import pytest
import yaml

from configaudit.parse.scalars import content
from configaudit.parse.yaml import parse
from configaudit.places import Document, Place, locate


def spelled(text: str, wanted: str) -> str:
    """What stands in the file where `wanted` stands in the value of `k`."""
    document = Document('a.yaml', 'yaml', text.encode())
    node = parse(text.encode()).roots[0]['k']
    assert node.value == yaml.safe_load(text)['k']
    place = content(document, node)
    at = node.value.index(wanted)
    found = locate(Place(place.document, place.start + at, place.start + at + len(wanted)))
    return text.encode()[found.start : found.end].decode()


@pytest.mark.parametrize(
    ('text', 'wanted', 'expected'),
    [
        ('k: "vllm serve\n  --max-num-seqs 512 \\\n  --port 80"\n', '512', '512'),
        ('k: "vllm serve\n  --max-num-seqs 512 \\\n  --port 80"\n', '80', '80'),
        ('k: "a\n\n  b 512"\n', '512', '512'),
        ('k: "\\u0066p8"\n', 'fp8', '\\u0066p8'),
        ('k: "x fp\\u0038"\n', 'fp8', 'fp\\u0038'),
        ('k: "\\U0001F600é 512"\r\n', '512', '512'),
        ('k: "--flag \\"512\\""\n', '"512"', '\\"512\\"'),
        ("k: 'a ''512'''\n", "'512'", "''512''"),
        ("k: 'a\n  ''b'' 512'\n", '512', '512'),
        ('k: vllm serve\n  --max-num-seqs 512\r\n\n  --port 80\n', '512', '512'),
        ('k: vllm serve\n  --max-num-seqs 512\r\n\n  --port 80\n', '80', '80'),
        ('k: >-\n  vllm serve\n    --max 512\n\n  b\n', '512', '512'),
        ('k: |\n  a \\\n    --max 512\n', '512', '512'),
    ],
)
def test_characters_lead_back(text: str, wanted: str, expected: str) -> None:
    assert spelled(text, wanted) == expected
