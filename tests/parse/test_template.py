"""Template masks: what parses behind them, and braces that are no template at all."""

import pytest

from configaudit.findings import Error
from configaudit.parse import Parsed, Unread, documents
from configaudit.parse.tree import get, key_place, text
from configaudit.places import locate
from configaudit.units import HOLE

HEAD = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n'


def read(path: str, source: str) -> list[Parsed | Error | Unread]:
    return list(documents(path, source.encode()))


def tree(path: str, source: str) -> Parsed:
    found = read(path, source)
    assert [item.__class__ for item in found] == [Parsed], found
    return found[0]


@pytest.mark.parametrize('action', ['{{- if .Values.long.enough.to.be.wide }}', '{{- /* a comment that is wide */ -}}'])
@pytest.mark.parametrize('indent', ['', '  ', '      '])
def test_an_action_that_opens_a_block_scalar_sets_no_indentation(action: str, indent: str) -> None:
    source = f'{HEAD}data:\n  run.sh: |\n{indent}{action}\n    exec serve\n{indent}{{{{- end }}}}\n  other: b\n'
    parsed = tree('chart/templates/a.yaml', source)
    assert (text(parsed.root, 'data', 'run.sh') or '').strip() == 'exec serve'
    data = get(parsed.root, 'data')
    assert locate(key_place(parsed.document, data, 'other')).line == 9


def test_the_lines_of_later_documents_are_those_of_the_file() -> None:
    source = f'{{{{- if .Values.a }}}}\n{HEAD}{{{{- end }}}}\n---\n{HEAD}data:\n  x: y\n'
    parsed = [item for item in read('chart/templates/a.yaml', source) if isinstance(item, Parsed)]
    place = key_place(parsed[1].document, get(parsed[1].root, 'data'), 'x')
    assert (locate(place).line, locate(place).column) == (11, 3)


def test_an_end_behind_a_quoted_value_is_no_part_of_it() -> None:
    parsed = tree('chart/templates/a.yaml', f'{HEAD}data:\n  {{{{with .Values.x}}}}a: "{{{{.}}}}"{{{{end}}}}\n  b: c\n')
    assert text(parsed.root, 'data', 'b') == 'c'


def test_braces_inside_strings_and_comments_are_no_placeholders() -> None:
    source = (
        f'{HEAD}# host: {{{{ name }}}}\ndata:\n  domain: |-\n    {{{{.Name}}}}.example.com\n    path:\n      {{{{.Path}}}}\n'
        '  quoted: "{{ x }}"\n'
    )
    tree('plain/a.yaml', source)


def test_the_placeholders_of_a_document_are_one_error_at_the_first() -> None:
    found = [item for item in read('plain/a.yaml', f'{HEAD}data:\n  ä: "{{{{q}}}}"\n  b: {{{{ x }}}}\n  c: {{{{ y }}}}\n') if isinstance(item, Error)]
    assert [(item.line, item.column, item.kind, item.fatal) for item in found] == [(6, 6, 'template', False)]
    assert found[0].message.startswith('placeholder {{ x }} and 1 more not filled in')


def test_chart_values_with_template_text_in_them_are_plain_yaml() -> None:
    source = 'image: vllm\nconfig: |\n  {{- if .Values.a }}\n  x: {{ .Values.b }}\n  {{- end }}\nlist:\n  - "{{ .Values.c }}"}\n'.replace('"}', '"')
    parsed = tree('chart/values.yaml', source)
    assert text(parsed.root, 'image') == 'vllm'
    broken = 'image: vllm\na: {{ .Values.x }}: {\n'
    assert [item.__class__ for item in read('chart/values.yaml', broken)] == [Unread]


def test_masked_text_that_still_fails_is_read_as_it_stands_when_its_braces_are_text() -> None:
    # Masked, the script's quote has no end; as it stands it is a string.
    source = "image: vllm\nscript: 'a {{ \"it''s\" }} b'\n"
    assert text(tree('plain/values.yaml', source).root, 'image') == 'vllm'


@pytest.mark.parametrize(('path', 'source'), [
    ('chart/templates/_helpers.tpl', '{{- define "a" -}}\nkind: x: y: z\napiVersion: {{ .Values.v }}\n{{- end }}\n'),
    ('chart/templates/NOTES.txt', '{{ .Chart.Name }}: installed\n\napiVersion: v1\nkind: Pod: x\n'),
    ('chart/README.md.gotmpl', '# {{ .Name }}\n\n`kind: Pod` and: more: text\n'),
    ('web/tsconfig.json', '/* comment */\n{\n  // why\n  "extends": "./base"\n}\n'),
    ('samples/rows.txt', '{"inputs": 1}\n{"inputs": 2}\n'),
])  # fmt: skip
def test_prose_helpers_and_foreign_data_are_no_errors(path: str, source: str) -> None:
    assert not [item for item in read(path, source) if not isinstance(item, Unread)]


def test_a_manifest_template_that_does_not_parse_is_an_error_that_loses_nothing_else() -> None:
    found = read('chart/templates/a.yaml', f'{HEAD}data: {{{{ .Values.a }}}}\n  - a: b: c\n---\n{HEAD}')
    assert [item.__class__ for item in found] == [Error, Parsed]
    assert isinstance(found[0], Error)
    assert (found[0].kind, found[0].fatal) == ('template', False)


def test_a_name_that_says_template_excuses_the_placeholders() -> None:
    source = f'{HEAD}data:\n  b: {{{{ x }}}}\n'
    assert [item.__class__ for item in read('plain/gate-template.yaml', source)] == [Parsed]
    assert [item.__class__ for item in read('plain/gate.yaml', source)] == [Error, Parsed]


@pytest.mark.parametrize(('path', 'source'), [
    ('releases/v1.toml', 'text = """\nkind: Pod\napiVersion: v1\n a: b: c\n"""\n'),
    ('user-data.yaml', 'MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="//"\n\n--//\n\n---\napiVersion: v1\nkind: NodeConfig\n\n--//\nx\n'),
])  # fmt: skip
def test_what_only_quotes_yaml_is_not_read_as_yaml(path: str, source: str) -> None:
    assert not [item for item in read(path, source) if not isinstance(item, Parsed) or item.document.format == 'yaml']


def test_json_objects_one_after_the_other_are_documents_with_their_own_lines() -> None:
    one = '{\n  "apiVersion": "v1",\n  "kind": "ConfigMap",\n  "data": {"a": "b"}\n}\n'
    found = read('all.json', one + one)
    assert [item.__class__ for item in found] == [Parsed, Parsed]
    lines = [locate(key_place(item.document, item.root, 'data')).line for item in found if isinstance(item, Parsed)]
    assert lines == [4, 9]


@pytest.mark.parametrize(('source', 'fatal'), [('{"apiVersion": "v1", "kind": "Pod", }}', True), ('{"image:": [}', False)])
def test_a_broken_json_manifest_is_a_loss(source: str, fatal: bool) -> None:
    found = read('pod.json', source)
    assert [item.fatal for item in found if isinstance(item, Error)] == [fatal]


def test_an_action_over_two_lines_adds_nothing_to_the_value() -> None:
    parsed = tree('chart/templates/a.yaml', f"{HEAD}data:\n  a: '{{{{ .Values.a\n    }}}}:{{{{ .Values.b }}}}'\n  c: d\n")
    assert text(parsed.root, 'data', 'a') == f'{HOLE}:{HOLE}'
    assert locate(key_place(parsed.document, get(parsed.root, 'data'), 'c')).line == 7


def test_escaped_surrogates_are_json() -> None:
    pod = r'{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "\ud83d\ude80"}, "spec": {"containers": [{"name": "c"}]}}'
    (found,) = read('pod.json', pod)
    assert isinstance(found, Parsed)
