"""argparse keywords that vLLM derives from the fields of a configuration class (from 0.8.5).

Source: get_kwargs and _compute_kwargs of vllm/engine/arg_utils.py.
"""

import ast
from typing import Any

from .evaluate import Evaluator
from .hints import Annotated, Hint, annotation
from .values import UNKNOWN, Applied, ClassRef, FunctionRef, Name

Kwargs = dict[str, Any]
BOUNDS = ('gt', 'ge', 'lt', 'le')
HUMAN = ('human_readable_int', 'human_readable_int_or_auto')


def human_integers(function: FunctionRef) -> dict[str, str]:
    """Field -> the parser of integers such as 8k, as the function that derives the keywords picks it."""
    found: dict[str, str] = {}
    sets: dict[str, list[str]] = {}
    for node in ast.walk(function.node):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            sets[node.targets[0].id] = _texts(node.value)
    for node in ast.walk(function.node):
        if not isinstance(node, ast.If):
            continue
        parsers = [
            each.value.id
            for each in node.body
            if isinstance(each, ast.Assign) and isinstance(each.value, ast.Name) and each.value.id in HUMAN
        ]
        names = [item for each in ast.walk(node.test) if isinstance(each, ast.Name) for item in sets.get(each.id, ())]
        for name in (*names, *_texts(node.test)) if parsers else ():
            found[name] = parsers[0]
    return found


def _texts(node: ast.expr) -> list[str]:
    return [each.value for each in ast.walk(node) if isinstance(each, ast.Constant) and isinstance(each.value, str)]


class Derivation:
    """How one release derives keywords: `human` integers, and whether `bool | str | None` takes a word."""

    def __init__(self, evaluator: Evaluator, function: FunctionRef) -> None:
        self._evaluator = evaluator
        self._human = human_integers(function)
        self._optional_word = 'const' in _texts(ast.Tuple([ast.Constant('')] + _constants(function), ast.Load()))

    def kwargs(self, cls: ClassRef) -> dict[str, Kwargs]:
        """Field -> keywords of add_argument, and `bounds` that the class checks later."""
        return {
            name: self._field(name, where, node)
            for name, (where, node) in self._evaluator.modules.fields(cls).items()
            if not ast.unparse(node.annotation).startswith(('ClassVar', 'typing.ClassVar'))
        }

    def _field(self, name: str, where: ClassRef, node: ast.AnnAssign) -> Kwargs:
        types = annotation(node.annotation, where.module, self._evaluator)
        declared = self._evaluator.value(node.value, where.module, {}) if node.value else UNKNOWN
        found: Kwargs = {'default': self._evaluator.field_default(declared), 'help': described(where, node)}
        found.update(self._type(name, types))
        bounds = _bounds(declared, *types.extra)
        if bounds:
            found['bounds'] = bounds
        if types.get('none') and not types.get('bool'):
            found['nullable'] = True
        return found

    def _type(self, name: str, types: Annotated) -> Kwargs:
        """The keywords that follow from the types, in the order of the engine's own tests."""
        kinds = {hint.kind for hint in types.hints}
        if any(hint.is_dataclass for hint in types.hints):
            return {'type': Name('json.loads')}
        if self._optional_word and kinds == {'bool', 'str', 'none'}:
            return {'type': Name('str'), 'nargs': '?'}
        if 'bool' in kinds:
            return {'action': Name('argparse.BooleanOptionalAction')}
        literal = types.get('literal')
        if literal is not None:
            return _literal(literal, free='str' in kinds)
        for kind in ('tuple', 'list', 'set'):
            collection = types.get(kind)
            if collection is not None:
                return _collection(collection)
        if 'int' in kinds:
            return {'type': Name(self._human.get(name, 'int'))}
        if 'float' in kinds:
            return {'type': Name('float')}
        if 'dict' in kinds:
            other = kinds & {'str', 'class', 'other'}
            return {'type': Name('union_dict_and_str' if other else 'json.loads')}
        return {'type': Name('str')}


def described(cls: ClassRef, field: ast.AnnAssign) -> str:
    """The text that stands below a field."""
    body = cls.node.body
    below = body[body.index(field) + 1 : body.index(field) + 2]
    texts = [each.value.value for each in below if isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant)]
    return str(texts[0]) if texts else ''


def _constants(function: FunctionRef) -> list[ast.expr]:
    return [each for each in ast.walk(function.node) if isinstance(each, ast.Constant)]


def _literal(literal: Hint, *, free: bool) -> Kwargs:
    kind = type(literal.options[0]).__name__ if literal.options else 'str'
    choices = {} if free or not literal.options else {'choices': sorted(literal.options)}
    return {'type': Name(kind), **choices}


def _collection(collection: Hint) -> Kwargs:
    items = collection.items
    nargs: Any = '+' if collection.open_ended else 2
    if len(items) == 1 and items[0].kind == 'literal':
        return {**_literal(items[0], free=False), 'nargs': nargs}
    kind = items[0].kind if len(items) == 1 else 'str'
    return {'type': Name(kind if kind in ('int', 'float', 'str') else 'str'), 'nargs': nargs}


def _bounds(*sources: Any) -> dict[str, float]:
    """The limits that Field(gt=0, le=1) declares."""
    found = {}
    for source in sources:
        if isinstance(source, Applied):
            found.update({key: value for key, value in source.keywords if key in BOUNDS and isinstance(value, (int, float))})
    return found
