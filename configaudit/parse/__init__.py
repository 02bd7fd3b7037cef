"""From the bytes of a file to documents with places."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from configaudit.findings import Error
from configaudit.parse import template
from configaudit.parse.formats import format_of
from configaudit.parse.stream import GATED_KINDS, is_empty, is_read, kind_of, split
from configaudit.places import Document, Place, Segment, locate

MAX_SLICES = 200_000


class Parsed(NamedTuple):
    """One document, and for YAML and JSON its root node."""

    document: Document
    root: Any = None
    duplicates: tuple[Any, ...] = ()


class Unread(NamedTuple):
    """A document that was left out: by the gate, or because nothing in it is configuration that is read."""

    path: str
    line: int
    reason: str


def decode(data: bytes) -> tuple[bytes, str]:
    """UTF-8 bytes of a file in any Unicode encoding with a byte order mark; why no fix can be written, or ''."""
    for mark, encoding in ((b'\xff\xfe\x00\x00', 'utf-32'), (b'\x00\x00\xfe\xff', 'utf-32'), (b'\xff\xfe', 'utf-16'), (b'\xfe\xff', 'utf-16')):
        if data.startswith(mark):
            return data.decode(encoding, 'replace').encode(), f'the file is {encoding.upper()}'
    return data, ''


def documents(path: str, data: bytes, *, gate: bool = True) -> Iterator[Parsed | Error | Unread]:
    """The documents of a file, the errors in it, and what the gate left out."""
    data, note = decode(data)
    kind = format_of(path, data)
    if kind in ('yaml', 'json', 'docker-daemon'):
        yield from _trees(path, data, kind, note, gate)
    elif kind:
        problem = _not_text(data)
        if problem:
            yield Error(path, 1, 1, 'encoding', problem)
        else:
            yield Parsed(Document(path, kind, data, note=note))


def _not_text(data: bytes) -> str:
    if b'\0' in data:
        return 'holds NUL bytes: not a text file'
    try:
        data.decode()
    except UnicodeDecodeError as error:
        return f'not UTF-8: byte {error.start} cannot be decoded'
    return ''


def _trees(path: str, data: bytes, kind: str, note: str, gate: bool) -> Iterator[Parsed | Error | Unread]:
    from configaudit.parse.placeholder import unfilled, without_placeholders
    from configaudit.parse.yaml import SyntaxProblem, check, parse

    templated = template.is_templated(data)
    if templated and gate and all(kind_of(data, piece.start, piece.end) in GATED_KINDS for piece in split(data)):
        return
    hidden = template.mask(data) if templated else None
    masked = hidden.masked if hidden else data
    slices = split(masked, data) if kind != 'json' else iter([next(split(b''))._replace(end=len(data))])
    for number, piece in enumerate(slices):
        if number > MAX_SLICES:
            yield Error(path, piece.line, 1, 'limit', f'over {MAX_SLICES} documents in one file: the rest is not read')
            return
        if is_empty(masked, piece.start, piece.end):
            continue
        object_kind = kind_of(masked, piece.start, piece.end)
        gated = object_kind in GATED_KINDS
        if gated and gate:
            continue
        if gate and not object_kind and kind == 'yaml' and not is_interesting(masked, piece.start, piece.end):
            yield Unread(path, piece.line, 'not configuration that is read')
            continue
        only_check = object_kind and (gated or not is_read(object_kind, masked, piece.start, piece.end))
        original = data[piece.start : piece.end]
        parsed = masked[piece.start : piece.end] if hidden else original
        document = Document(path, 'yaml', original, piece.start, piece.line, parsed, note=note)
        document.template = hidden.part(piece.start, piece.end) if hidden else None
        try:
            if only_check and document.template is None:
                check(parsed)
                continue
            tree = parse(parsed, hidden is not None)
        except SyntaxProblem as problem:
            plain = without_placeholders(original) if document.template is not None and problem.kind != 'limit' else None
            if plain is None:
                yield _unreadable(document, problem, original, kind)
                continue
            document.template, document.parsed, tree = None, original, plain
        if document.template is not None and not hidden_is_template(path, hidden):
            yield from unfilled(document, tree.roots)
        if only_check:
            continue
        duplicates = tuple(tree.duplicates)
        for root in tree.roots:
            yield Parsed(document, root, duplicates)
            duplicates = ()


_TEMPLATE_NAMES = ('.j2', '.jinja', '.jinja2', '.tpl', '.tmpl', '.gotmpl', '.template')


def hidden_is_template(path: str, hidden: template.Template | None) -> bool:
    """Whether a file is written for a template engine, so that expressions in it are no mistake."""
    return hidden is None or hidden.is_chart or path.endswith(_TEMPLATE_NAMES) or '/templates/' in f'/{path}'


def _unreadable(document: Document, problem: Any, original: bytes, kind: str) -> Error | Unread:
    """An Error for what may be configuration; a file of helpers, prose or foreign data is only left out."""
    if problem.kind != 'limit':
        if document.template is not None and (document.path.endswith('.tpl') or not is_kubernetes_text(original)):
            return Unread(document.path, document.line, 'a template that is not YAML by itself')
        if kind == 'json' and not is_interesting(original, 0, len(original)):
            return Unread(document.path, document.line, 'not configuration that is read')
    return _error(document, problem, original)


def _error(document: Document, problem: Any, original: bytes) -> Error:
    size = len(document.text)
    at = locate(Place(document, min(problem.index, size), min(problem.index, size)))
    fatal = problem.kind == 'limit' or is_kubernetes_text(original)
    message, kind = problem.message, problem.kind
    if document.template is not None and kind != 'limit':
        fatal, kind = False, 'template'
        message = f'does not read as YAML even with its actions masked: {message}'
    elif b'<<<<<<< ' in original and b'>>>>>>> ' in original:
        message = f'unresolved merge conflict: {message}'
    return Error(document.path, at.line, at.column, kind, message, fatal)


def is_kubernetes_text(data: bytes) -> bool:
    """Whether bytes that may not parse are meant as a Kubernetes object or a compose file."""
    return (b'apiVersion:' in data and b'kind:' in data) or b'\nservices:' in data or data.startswith(b'services:')


_MARKERS = (
    b'apiVersion', b'services:', b'static_resources', b'datasource', b'hikari', b'spec:', b'vllm', b'sglang', b'image:',
    b'batching', b'batch_wait', b'envs:', b'http_filters', b'clusters:', b'max_connections', b'pool', b'model_list', b'vm.', b'net.', b'fs.', b'write_files',
    b'grpc:', b'ConnectionStrings', b'max_open', b'maxOpen', b'maxConns', b'general_settings',
)  # fmt: skip


def is_interesting(data: bytes, start: int, end: int) -> bool:
    """Whether some reader may want a document: a Kubernetes object, or one with a word that leads to one."""
    if data.find(b'kind:', start, end) >= 0 or data.find(b'"kind"', start, end) >= 0:
        return True
    return any(data.find(marker, start, end) >= 0 for marker in _MARKERS)


def nested_documents(name: str, text: str, place: Place) -> Iterator[Parsed | Error]:
    """The documents of a file that is written inside a string, with places that lead to the outer file."""
    from configaudit.parse.yaml import SyntaxProblem, parse

    kind = format_of(name, text.encode())
    if not kind:
        return
    outer = place.document
    if outer.format == 'string' and place.start == 0:
        document = Document(outer.path, kind, text.encode(), outer=outer.outer, segments=lambda: outer.segments, note=outer.note)
    else:
        whole = (Segment(0, place.start, len(text)),) if place.text == text else ()
        document = Document(outer.path, kind, text.encode(), outer=place, segments=lambda: whole)
    if kind not in ('yaml', 'json', 'docker-daemon'):
        yield Parsed(document)
        return
    document.format = 'yaml'
    if template.is_templated(document.data):
        return
    try:
        tree = parse(document.parsed)
    except SyntaxProblem as problem:
        if is_kubernetes_text(document.data):
            at = locate(Place(document, min(problem.index, len(text)), min(problem.index, len(text))))
            yield Error(document.path, at.line, at.column, problem.kind, f'{name}: {problem.message}', False)
        return
    for root in tree.roots:
        yield Parsed(document, root)
