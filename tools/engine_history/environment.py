"""The environment variables that a release reads, with their defaults as texts.

vLLM: the table `environment_variables` of vllm/envs.py. SGLang: the class `Envs` of sglang/srt/environ.py (from
0.5.1), and everything else that reads a SGLANG_* or SGL_* variable of its own.
"""

import ast
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from .modules import Modules, last_name, parse

Variables = dict[str, dict[str, Any]]

# Functions that read one variable: (name, default).
READERS = {'getenv', 'get', 'pop', 'get_env_or_set_default'}
CHOOSERS = {'env_with_choices', 'env_list_with_choices', 'env_set_with_choices'}
OWN = r'SGL(?:ANG)?_[A-Z0-9_]+'
READ = re.compile(
    rf"""(?:getenv|environ\.get|environ\.pop|get_(?:bool|int|float)_env_var)\(\s*["'](?P<called>{OWN})["']
         (?:\s*,\s*(?P<default>"[^"\n]*"|'[^'\n]*'|-?\d[\d.]*|True|False|None)\s*[,)])?
       | environ\[\s*["'](?P<boxed>{OWN})["']
       | ["'](?P<asked>{OWN})["']\s+(?:not\s+)?in\s+(?:os\.)?environ""",
    re.VERBOSE,
)


def _constant(node: ast.expr | None) -> Any:
    return node.value if isinstance(node, ast.Constant) else None


def _default(value: Any) -> dict[str, Any]:
    return {} if value is None else {'default': str(value)}


def _reads(node: ast.AST) -> Iterator[tuple[str, dict[str, Any]]]:
    """(variable, specification) of every read below a node."""
    for call in ast.walk(node):
        if not isinstance(call, ast.Call) or not call.args:
            continue
        function = last_name(call.func)
        name = _constant(call.args[0])
        if isinstance(name, str) and function in READERS | CHOOSERS:
            yield name, _default(_constant(call.args[1]) if len(call.args) > 1 else None) | _choices(call, function)


def _choices(call: ast.Call, function: str) -> dict[str, Any]:
    if function not in CHOOSERS or len(call.args) < 3 or not isinstance(call.args[2], ast.List):
        return {}
    names = [_constant(each) for each in call.args[2].elts]
    return {'choices': sorted(str(name) for name in names if name is not None)}


def vllm_variables(sources: Mapping[str, str]) -> Variables:
    """The variables of vLLM's table; empty before it existed (0.4.2)."""
    table = Modules(sources).names('vllm.envs').get('environment_variables')
    if not isinstance(table, ast.Dict):
        return {}
    found: Variables = {}
    for key, value in zip(table.keys, table.values):
        name = _constant(key)
        if isinstance(name, str):
            found[name] = next((spec for read, spec in _reads(value) if read == name), {})
    return found


def _fields(text: str) -> Variables:
    """The variables that the class Envs declares."""
    found: Variables = {}
    for node in parse(text).body:
        if isinstance(node, ast.ClassDef) and node.name == 'Envs':
            for each in node.body:
                if isinstance(each, ast.Assign) and isinstance(each.targets[0], ast.Name):
                    call = each.value
                    default = _constant(call.args[0]) if isinstance(call, ast.Call) and call.args else None
                    found[each.targets[0].id] = _default(default)
    return found


@lru_cache(maxsize=8192)
def _own_reads(text: str) -> tuple[tuple[str, str | None], ...]:
    """(variable, default) of the reads of SGLang's own variables.

    Found in the text: parsing the 400 files of a release that hold such a name takes half a minute.
    """
    found: dict[str, str | None] = {}
    for match in READ.finditer(text):
        name = match['called'] or match['boxed'] or match['asked']
        default = (match['default'] or '').strip('"\'')
        if name not in found or default:
            found[name] = default if match['default'] not in (None, 'None') else None
    return tuple(sorted(found.items(), key=lambda item: item[0]))


def sglang_variables(sources: Mapping[str, str]) -> Variables:
    """The variables that SGLang declares or reads."""
    found: Variables = {}
    for path, text in sources.items():
        if path.startswith('sglang/srt/') or path.count('/') == 1:
            for name, default in _own_reads(text):
                found.setdefault(name, _default(default))
    return found | _fields(sources.get('sglang/srt/environ.py', ''))


def variables(engine: str, sources: Mapping[str, str]) -> Variables:
    return vllm_variables(sources) if engine == 'vllm' else sglang_variables(sources)
