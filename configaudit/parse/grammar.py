"""Source code through tree-sitter grammars: what each is called, and what a native parser is never given.

Sizes of the wheels: 54 to 345 kB a language. A grammar is imported when a file of its language sets up something that is judged.
"""

import re
from collections.abc import Iterator
from importlib import import_module
from typing import Any, NamedTuple

from configaudit.patterns import regex
from configaudit.places import Document, Place

MAX_BYTES = 256 * 2**10
"""Of a file: the native parser gets no more. The worst text found of this size takes 2 s."""
MAX_NESTING = 200
"""Of brackets."""
_BRACKETS = regex(rb'[(\[{}\])]')
_QUOTED = rb'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|//[^\n]*|/\*.*?\*/'
_TEXT_BLOCK = rb'"""(?:[^\\]|\\.)*?"""'
_HEREDOC = rb'<<-?(\w+)\n.*?\n[ \t]*\1[ \t]*\n'


class Unreadable(Exception):
    """The parser is not installed, or the file is more than it is given."""


class Grammar(NamedTuple):
    """How a language is parsed. `literals`: strings and comments, whose brackets do not nest."""

    language: str
    package: str
    literals: Any
    function: str = 'language'


GRAMMARS: dict[str, Grammar] = {
    'go': Grammar('Go', 'tree_sitter_go', regex(rb'`[^`]*`|' + _QUOTED, re.DOTALL)),
    'java': Grammar('Java', 'tree_sitter_java', regex(_TEXT_BLOCK + rb'|' + _QUOTED, re.DOTALL)),
    'kotlin': Grammar('Kotlin', 'tree_sitter_kotlin', regex(_TEXT_BLOCK + rb'|' + _QUOTED, re.DOTALL)),
    'javascript': Grammar('JavaScript', 'tree_sitter_javascript', regex(rb'`(?:[^`\\]|\\.)*`|' + _QUOTED, re.DOTALL)),
    'typescript': Grammar('TypeScript', 'tree_sitter_typescript', regex(rb'`(?:[^`\\]|\\.)*`|' + _QUOTED, re.DOTALL), 'language_typescript'),
    'tsx': Grammar('TypeScript', 'tree_sitter_typescript', regex(rb'`(?:[^`\\]|\\.)*`|' + _QUOTED, re.DOTALL), 'language_tsx'),
    'rust': Grammar('Rust', 'tree_sitter_rust', regex(rb'"(?:[^"\\]|\\.)*"|//[^\n]*|/\*.*?\*/', re.DOTALL)),
    'terraform': Grammar('Terraform', 'tree_sitter_hcl', regex(_HEREDOC + rb'|"(?:[^"\\\n]|\\.)*"|//[^\n]*|#[^\n]*|/\*.*?\*/', re.DOTALL)),
}
"""By the format of a document."""


def ready(form: str, data: bytes) -> Any:
    """The parser for a file. Raises Unreadable: when it is not installed, and for what it is not given."""
    grammar = GRAMMARS[form]
    if len(data) > MAX_BYTES:
        raise Unreadable(f'a {grammar.language} file over {MAX_BYTES >> 10} KiB')
    if _nesting(grammar.literals.sub(b'', data)) > MAX_NESTING:
        raise Unreadable(f'brackets nest deeper than {MAX_NESTING}')
    try:
        from tree_sitter import Language, Parser

        module = import_module(grammar.package)
    except ImportError:
        package = grammar.package.replace('_', '-')
        raise Unreadable(f'reading {grammar.language} needs the packages tree-sitter and {package}: pip install "configaudit[code]"') from None
    return Parser(Language(getattr(module, grammar.function)()))


def tree_of(form: str, data: bytes) -> Any:
    """The root of the syntax tree. Raises Unreadable."""
    return ready(form, data).parse(data).root_node


def first_error(form: str, data: bytes) -> tuple[int, int] | None:
    """Line and column of the first syntax error, or None. Raises Unreadable."""
    root = tree_of(form, data)
    stack = [root] if root.has_error else []
    while stack:
        node = stack.pop()
        if node.type == 'ERROR' or node.is_missing:
            line, column = node.start_point
            return line + 1, len(data.split(b'\n')[line][:column].decode('utf-8', 'replace')) + 1
        stack.extend(child for child in reversed(node.children) if child.has_error or child.is_missing)
    return None


def place_of(document: Document, data: bytes, node: Any) -> Place:
    """Where a node stands; `data`: the bytes that were parsed."""
    if data.isascii():
        return Place(document, node.start_byte, node.end_byte)
    start, end = (len(data[:at].decode('utf-8', 'replace')) for at in (node.start_byte, node.end_byte))
    return Place(document, start, end)


def below(top: Any) -> Iterator[Any]:
    """All named nodes of a tree in the order of the text, without recursion."""
    stack = [top]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(reversed(node.named_children))


def _nesting(data: bytes) -> int:
    deepest = depth = 0
    for bracket in _BRACKETS.findall(data):
        depth += 1 if bracket in b'([{' else -1
        deepest = max(deepest, depth)
    return deepest
