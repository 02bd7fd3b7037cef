"""Terraform: blocks, expressions, edits, hostile input; and Kubernetes objects that are its templates."""

import subprocess
import sys
from pathlib import Path

import pytest

from configaudit.findings import Error
from configaudit.parse import documents
from configaudit.parse.terraform import Block, insert, read
from configaudit.parse.yaml_edit import CannotEdit
from configaudit.places import Document

OBJECT = b'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n'


def test_a_directive_is_no_broken_manifest() -> None:
    source = OBJECT + b'data:\n%{ for key, value in labels ~}\n  ${key}: "${value}"\n%{ endfor ~}\n'
    (found,) = documents('labels.yaml', source)
    assert isinstance(found, Error)
    assert (found.kind, found.fatal, found.line) == ('template', False, 5)


def test_what_is_broken_without_directives_stays_an_error() -> None:
    (found,) = documents('labels.yaml', OBJECT + b'data:\n%broken\n  a: b\n')
    assert isinstance(found, Error)
    assert found.fatal


def blocks(text: str) -> tuple[Block, ...]:
    pytest.importorskip('tree_sitter_hcl')
    return read(Document('main.tf', 'terraform', text.encode()))


@pytest.mark.parametrize(
    ('written', 'kind', 'text', 'place'),
    [
        ('60', 'constant', '60', '60'), ('-5', 'constant', '-5', '-5'), ('"a b"', 'constant', 'a b', 'a b'), ('true', 'constant', 'true', 'true'),
        ('"${var.idle}"', 'reference', 'var.idle', 'var.idle'), ('aws_lb.main[0].arn', 'reference', 'aws_lb.main.arn', 'aws_lb.main[0].arn'),
        ('tonumber("7")', 'constant', '7', '7'), ('"é-${var.a}"', 'constant', 'é-\ufffc', 'é-${var.a}'), ('var.a * 2', 'computed', 'var.a * 2', 'var.a * 2'),
        ('merge(a, b)', 'computed', 'merge(a, b)', 'merge(a, b)'), ('var.x ? 1 : 2', 'choice', 'var.x ? 1 : 2', 'var.x ? 1 : 2'),
    ],
)  # fmt: skip
def test_expressions(written: str, kind: str, text: str, place: str) -> None:
    found = blocks(f'resource "a" "é" {{\n  x = {written}\n}}\n')[0].attributes['x']
    assert (found.kind, found.text, found.place.text) == (kind, text, place)


def test_blocks_hold_attributes_and_blocks() -> None:
    first, second = blocks('x = 1\nresource "a" "b" {\n  p {\n    n = "c"\n  }\n  l = [{ n = "d", "v" : 2 }]\n}\n')
    assert (first.kind, first.attributes['x'].text) == ('', '1')
    assert (second.labels, second.place.text, [inner.attributes['n'].text for inner in second.inner('p')]) == (('a', 'b'), 'resource "a" "b"', ['c'])
    assert {name: value.text for name, value in second.attributes['l'].items[0].fields.items()} == {'n': 'd', 'v': '2'}


def test_an_attribute_goes_before_the_closing_brace() -> None:
    text = 'resource "a" "b" {\n  p {\n    n = 1\n  }\n}\n'
    block = blocks(text)[0]
    edit = insert(text, next(block.inner('p')).end, 'm', '2')
    assert text[: edit.start] + edit.text + text[edit.end :] == 'resource "a" "b" {\n  p {\n    n = 1\n    m = 2\n  }\n}\n'
    with pytest.raises(CannotEdit):
        insert('a { b = 1 }', blocks('a { b = 1 }')[0].end, 'm', '2')


def test_a_broken_block_does_not_hide_the_next() -> None:
    found = blocks('resource "a" "b" {\n  x = = 3\n  y = 4\n}\n\nresource "a" "c" {\n  x = 5\n}\n')
    assert [(block.labels[-1], block.broken) for block in found if block.labels][-1] == ('c', False)
    assert found[-1].attributes['x'].text == '5'


_FUZZ = """
import random, sys
from configaudit.extract.services.terraform import Modules, read
from configaudit.extract.files import Files
from configaudit.places import Document
random.seed(7)
seed = sys.stdin.buffer.read()
tokens = [b'{', b'}', b'[', b']', b'"', b'${', b'<<EOT\\n', b'=', b'(', b')', b'resource "a" "b" {', b'\\xff', b'%{', b'var.x', b',', b'#', b'/*', b'?', b':']
for _ in range(300):
    data = bytearray(seed)
    for _ in range(random.randint(1, 12)):
        at = random.randrange(len(data))
        choice = random.random()
        data[at:at + (random.randint(0, 30) if choice < 0.4 else 0)] = b'' if choice < 0.4 else random.choice(tokens) * random.choice((1, 1, 40))
    Modules(read(Document('main.tf', 'terraform', bytes(data))).data, Files())
"""


def test_mutated_source_never_ends_the_process() -> None:
    pytest.importorskip('tree_sitter_hcl')
    seed = (Path(__file__).parents[2] / 'fixtures/first-token-after-read-timeout/terraform/bad/edge.tf').read_bytes()
    done = subprocess.run([sys.executable, '-c', _FUZZ], input=seed, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()[-2000:]
