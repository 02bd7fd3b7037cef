"""Source code through tree-sitter grammars: what each is called, and what a native parser is never given.

Sizes of the wheels: 54 to 345 kB a language. A grammar is imported when a file of its language sets up something that is judged.
"""

import re
import time
from collections.abc import Iterator
from importlib import import_module
from typing import Any, NamedTuple

from configaudit.patterns import regex
from configaudit.places import Document, Place

MAX_BYTES = 256 * 2**10
"""Of a file: the native parser gets no more."""
MAX_NESTING = 200
"""Of brackets."""
MAX_CHAIN = 1000
"""Of `<` in one statement: the Java grammar takes 4 minutes for 128,000 of them, and cannot be stopped there."""
MAX_SECONDS = 1
"""Of processor time for a file: some short texts, repeated, take a grammar minutes; a program of the largest size takes 0.1 s."""
_STATEMENTS = regex(rb'[;{}]')
_BRACKETS = regex(rb'[(\[{}\])]')
_QUOTED, _OPEN_QUOTED = rb'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'', rb'["\'][^\n]*'
_COMMENTS, _OPEN_COMMENT = rb'//[^\n]*|/\*.*?\*/', rb'/\*.*'
_TEXT_BLOCK, _OPEN_BLOCK = rb'"""(?:[^\\]|\\.)*?"""', rb'""".*'
_HEREDOC, _OPEN_HEREDOC = rb'<<-?(\w+)\n.*?\n[ \t]*\1[ \t]*\n', rb'<<-?\w+\n.*'


class Unreadable(Exception):
    """The parser is not installed, or the file is more than it is given."""


class Grammar(NamedTuple):
    """How a language is parsed. `literals`: strings and comments, whose brackets do not nest; its group `open`: one that does not end."""

    language: str
    package: str
    literals: Any
    function: str = 'language'


def _literals(*closed: bytes, unclosed: tuple[bytes, ...]) -> Any:
    return regex(b'|'.join(closed) + b'|(?P<open>' + b'|'.join(unclosed) + b')', re.DOTALL)


_JVM = _literals(_TEXT_BLOCK, _QUOTED, _COMMENTS, unclosed=(_OPEN_BLOCK, _OPEN_QUOTED, _OPEN_COMMENT))
_SCRIPT = _literals(rb'`(?:[^`\\]|\\.)*`', _QUOTED, _COMMENTS, unclosed=(rb'`.*', _OPEN_QUOTED, _OPEN_COMMENT))
GRAMMARS: dict[str, Grammar] = {
    'go': Grammar('Go', 'tree_sitter_go', _literals(rb'`[^`]*`', _QUOTED, _COMMENTS, unclosed=(rb'`.*', _OPEN_QUOTED, _OPEN_COMMENT))),
    'java': Grammar('Java', 'tree_sitter_java', _JVM),
    'kotlin': Grammar('Kotlin', 'tree_sitter_kotlin', _JVM),
    'javascript': Grammar('JavaScript', 'tree_sitter_javascript', _SCRIPT),
    'typescript': Grammar('TypeScript', 'tree_sitter_typescript', _SCRIPT, 'language_typescript'),
    'tsx': Grammar('TypeScript', 'tree_sitter_typescript', _SCRIPT, 'language_tsx'),
    'rust': Grammar('Rust', 'tree_sitter_rust', _literals(rb'"(?:[^"\\]|\\.)*"', _COMMENTS, unclosed=(rb'".*', _OPEN_COMMENT))),
    'terraform': Grammar('Terraform', 'tree_sitter_hcl', _literals(_HEREDOC, rb'"(?:[^"\\\n]|\\.)*"', _COMMENTS, rb'#[^\n]*', unclosed=(_OPEN_HEREDOC, rb'"[^\n]*', _OPEN_COMMENT))),
}
"""By the format of a document."""


def ready(form: str, data: bytes) -> Any:
    """The parser for a file. Raises Unreadable: when it is not installed, and for what it is not given."""
    grammar = GRAMMARS[form]
    if len(data) > MAX_BYTES:
        raise Unreadable(f'a {grammar.language} file over {MAX_BYTES >> 10} KiB')
    bare = grammar.literals.sub(rb'\g<open>', data)
    if _nesting(bare) > MAX_NESTING:
        raise Unreadable(f'brackets nest deeper than {MAX_NESTING}')
    if bare.count(b'<') > MAX_CHAIN and max(part.count(b'<') for part in _STATEMENTS.split(bare)) > MAX_CHAIN:
        raise Unreadable(f'over {MAX_CHAIN} angle brackets in one statement')
    try:
        from tree_sitter import Language, Parser

        module = import_module(grammar.package)
    except ImportError:
        package = grammar.package.replace('_', '-')
        raise Unreadable(f'reading {grammar.language} needs the packages tree-sitter and {package}: pip install "configaudit[code]"') from None
    return Parser(Language(getattr(module, grammar.function)()))


def tree_of(form: str, data: bytes) -> Any:
    """The root of the syntax tree. Raises Unreadable."""
    parser, until = ready(form, data), time.thread_time() + MAX_SECONDS
    try:
        return parser.parse(lambda at, _: data[at:], progress_callback=lambda *_: time.thread_time() > until).root_node
    except ValueError:
        raise Unreadable(f'the {GRAMMARS[form].language} grammar needs more than {MAX_SECONDS} s for it') from None


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
