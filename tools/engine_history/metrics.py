"""The Prometheus metrics that a release declares: name, kind, engine generation, and whether it is hidden by default."""

import ast
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from .modules import last_name, parse

KINDS = ('gauge', 'counter', 'histogram', 'summary', 'info')
# They name metrics that other code declares.
READ_ONLY = ('reader.py', 'orca_metrics.py', 'serve.py')


class Metric(NamedTuple):
    """`kind`: gauge, counter, histogram, summary, info or ''; `hidden`: only with --show-hidden-metrics-for-version."""

    name: str
    kind: str
    hidden: bool


class _Finder(ast.NodeVisitor):
    """Collects the names of one file: where they are declared, and below which condition."""

    def __init__(self, engine: str) -> None:
        self.name = re.compile(rf'{engine}:[A-Za-z0-9_]+')
        self.found: dict[str, Metric] = {}
        self.constants: dict[str, str] = {}
        self._hidden = False

    def _add(self, name: str, kind: str) -> None:
        old = self.found.get(name, Metric(name, '', True))
        self.found[name] = Metric(name, kind or old.kind, old.hidden and self._hidden)

    def visit_If(self, node: ast.If) -> None:
        """What stands below `if show_hidden_metrics` is hidden unless it is asked for."""
        before, self._hidden = self._hidden, self._hidden or 'show_hidden' in ast.unparse(node.test)
        for each in node.body:
            self.visit(each)
        self._hidden = before
        for each in node.orelse:
            self.visit(each)

    def visit_Assign(self, node: ast.Assign) -> None:
        if isinstance(node.targets[0], ast.Name) and isinstance(node.value, ast.Constant):
            self.constants[node.targets[0].id] = str(node.value.value)
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        function = last_name(node.func).lower()
        kind = next((kind for kind in KINDS if kind in function), '')
        named = next((each.value for each in node.keywords if each.arg == 'name'), node.args[0] if node.args else None)
        name = self._text(named)
        if kind and name:
            self._add(name, kind)
        self.generic_visit(node)

    def _text(self, node: ast.expr | None) -> str:
        """The metric that an expression names, '' when it names none."""
        if isinstance(node, ast.Constant):
            text = str(node.value)
        elif isinstance(node, (ast.Name, ast.Attribute)):
            text = self.constants.get(node.id if isinstance(node, ast.Name) else node.attr, '')
        else:
            text = ''
        return text if self.name.fullmatch(text) else ''

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, str) and self.name.fullmatch(node.value):
            self._add(node.value, '')


@lru_cache(maxsize=8192)
def _of_file(engine: str, text: str) -> tuple[Metric, ...]:
    if f'{engine}:' not in text:
        return ()
    finder = _Finder(engine)
    finder.visit(parse(text))
    return tuple(finder.found.values())


def generation(engine: str, path: str) -> str:
    """'V0' or 'V1' for vLLM's two engines, '' for an engine that has one."""
    if engine != 'vllm':
        return ''
    return 'V0' if path == 'vllm/engine/metrics.py' else 'V1'


def metrics(engine: str, sources: Mapping[str, str]) -> dict[str, dict[str, Metric]]:
    """Name -> generation -> the metric."""
    found: dict[str, dict[str, Metric]] = {}
    for path, text in sorted(sources.items()):
        if path.endswith(READ_ONLY) or (engine == 'sglang' and not path.startswith('sglang/srt/')):
            continue
        for metric in _of_file(engine, text):
            of_name = found.setdefault(metric.name, {})
            old = of_name.get(generation(engine, path))
            hidden = metric.hidden and (old is None or old.hidden)
            of_name[generation(engine, path)] = Metric(metric.name, metric.kind or (old.kind if old else ''), hidden)
    return found
