"""Arguments that SGLang (from 0.5.14) derives from fields such as `port: A[int, Arg(help='...')] = 30000`.

Source: add_cli_args_from_dataclass of sglang/srt/arg_groups/arg_utils.py; from 0.5.19 the fields lie in namespace
classes that server_args.py lists in _INPUT_NAMESPACES.
"""

import ast
from typing import Any

from .evaluate import Evaluator
from .hints import Annotated, Hint, annotation
from .values import UNKNOWN, Applied, ClassRef, Name

Fields = dict[str, tuple[ClassRef, ast.AnnAssign]]


class Records:
    """The fields of the record that holds the arguments of a server."""

    def __init__(self, evaluator: Evaluator) -> None:
        self._evaluator = evaluator

    def fields(self, cls: ClassRef) -> Fields:
        """The fields of the record, collected from its namespaces where the release has them."""
        spaces = self._evaluator.named(cls.module, '_INPUT_NAMESPACES')
        found: Fields = {}
        for space in (*spaces, cls) if isinstance(spaces, list) else (cls,):
            if isinstance(space, ClassRef):
                found.update(self._evaluator.modules.fields(space))
        return found

    def default(self, module: str, name: str) -> Any:
        """The declared default of a field of ServerArgs."""
        cls = self._evaluator.modules.find_class(module, 'ServerArgs')
        found = self.fields(cls).get(name) if cls else None
        if found is None or found[1].value is None:
            return UNKNOWN
        return self._evaluator.field_default(self._evaluator.value(found[1].value, found[0].module, {}))

    def arguments(self, cls: ClassRef) -> list[tuple[tuple[str, ...], dict[str, Any]]]:
        """(spellings, keywords) of each field that is an argument."""
        found = []
        for name, (where, node) in self.fields(cls).items():
            types = annotation(node.annotation, where.module, self._evaluator)
            marks = [_mark(extra) for extra in types.extra]
            mark = next((each for each in marks if each is not None), None)
            if mark is None or mark.get('no_cli'):
                continue
            default: dict[str, Any] = {}
            if node.value is not None:
                value = self._evaluator.value(node.value, where.module, {})
                default = {'default': self._evaluator.field_default(value)}
            found.append(_argument(name, types, mark, default))
        return found


def _mark(extra: Any) -> dict[str, Any] | None:
    """The keywords of Arg(...), of which a text alone is the short form; None for any other value."""
    if isinstance(extra, str):
        return {'help': extra}
    if isinstance(extra, Applied) and extra.function.rpartition('.')[2] == 'Arg':
        return dict(extra.keywords)
    return None


def _argument(
    name: str, types: Annotated, mark: dict[str, Any], default: dict[str, Any]
) -> tuple[tuple[str, ...], dict[str, Any]]:
    option = mark.get('cli_name') or '--' + name.replace('_', '-')
    names = (option, *(mark.get('aliases') or ()))
    found = {**default, 'dest': name, 'help': mark.get('help', '')}
    if mark.get('action') is not None:
        extra = mark.get('action_kwargs')
        return names, found | {'action': mark['action']} | (extra if isinstance(extra, dict) else {})
    found.update(_type(types, mark))
    for key in ('choices', 'nargs'):
        if mark.get(key) is not None:
            found[key] = mark[key]
    if mark.get('required') or (mark.get('required') is None and not default):
        found['required'] = True
    if types.get('none'):
        found['nullable'] = True
    return names, found


def _type(types: Annotated, mark: dict[str, Any]) -> dict[str, Any]:
    inner = next((hint for hint in types.hints if hint.kind != 'none'), Hint('str'))
    single = len([hint for hint in types.hints if hint.kind != 'none']) == 1
    if mark.get('type_parser') is not None:
        return {'type': mark['type_parser']}
    if single and inner.kind == 'literal':
        kind = type(inner.options[0]).__name__ if inner.options else 'str'
        return {'type': Name(kind if kind in ('int', 'float') else 'str'), 'choices': list(inner.options)}
    if single and inner.kind == 'list':
        item = inner.items[0].kind if len(inner.items) == 1 else 'str'
        return {'type': Name(item if item in ('int', 'float') else 'str'), 'nargs': '+'}
    if single and inner.kind == 'bool':
        return {'action': 'store_true'}
    return {'type': Name(inner.kind if single and inner.kind in ('int', 'float') else 'str')}
