"""The names that vLLM's parsers of tool calls and of reasoning are registered under, release by release.

`python -m tools.engine_history.parser_names` writes `configaudit/knowledge/engines/parser_names.json` from the published wheels, for the releases that
the catalogue of flags holds. Nothing of the engine is imported.
"""

import ast
import re
import sys
from collections.abc import Iterable, Iterator, Mapping

from configaudit.knowledge.flags import catalogue

from .__main__ import SHIPPED, lines
from .index import fetch, releases
from .remote import members
from .sources import cache_folder, read_cached, write_cached

KINDS = {
    'tool': re.compile(r'vllm/(entrypoints/openai/)?tool_parsers/.*\.py'),
    'reasoning': re.compile(r'vllm/(entrypoints/openai/reasoning_parsers|reasoning)/.*\.py'),
}
"""Where each kind of parser is registered."""
SOURCE = 'vLLM tool_parsers/ and reasoning/ (before: entrypoints/openai/) of the published wheels: what is registered by name'


def registered(text: str) -> set[str]:
    """The names in a file: first arguments of register_module, keys of a table *_PARSERS_TO_REGISTER."""
    return {name for node in ast.walk(ast.parse(text)) for name in _names(node)}


def _names(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == 'register_module':
        given = [*node.args[:1], *(word.value for word in node.keywords if word.arg == 'name')]
        for value in given:
            yield from _texts(value.elts if isinstance(value, ast.List) else [value])
    elif isinstance(node, (ast.Assign, ast.AnnAssign)) and isinstance(node.value, ast.Dict):
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target
        if isinstance(target, ast.Name) and target.id.endswith('_PARSERS_TO_REGISTER'):
            yield from _texts(key for key in node.value.keys if key is not None)


def _texts(nodes: Iterable[ast.expr]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def spans(order: list[str], having: set[str]) -> list[list[str]]:
    """[first, last] of every unbroken run of releases."""
    found: list[list[str]] = []
    for before, name in zip(['', *order], order, strict=False):
        if name in having:
            if found and found[-1][1] == before:
                found[-1][1] = name
            else:
                found.append([name, name])
    return found


def history(order: list[str], sources: Mapping[str, Mapping[str, str]]) -> dict[str, object]:
    """Kind -> name -> spans, for releases in order with the texts of their files."""
    result: dict[str, object] = {'source': SOURCE}
    for kind, where in KINDS.items():
        of_release = {name: {each for path, text in files.items() if where.fullmatch(path) for each in registered(text)} for name, files in sources.items()}
        every = sorted(set().union(*of_release.values()))
        result[kind] = {name: spans(order, {at for at in order if name in of_release[at]}) for name in every}
    return result


def main() -> int:
    order = catalogue('vllm').names
    listed = {release.name: release for release in releases(fetch('vllm'), catalogue('vllm').versions[0]) if release.name in order}
    sources = {}
    for name in order:
        file = cache_folder() / f'vllm-parsers-{name}.zip'
        if not file.exists():
            release = listed[name]
            write_cached(file, members(release.wheel, release.source, lambda path: any(where.fullmatch(path) for where in KINDS.values())))
        sources[name] = read_cached(file)
    (SHIPPED / 'parser_names.json').write_text(lines(history(order, sources)))
    return 0


if __name__ == '__main__':
    sys.exit(main())
