"""Kubernetes objects that are templates of Terraform."""

from configaudit.findings import Error
from configaudit.parse import documents

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
