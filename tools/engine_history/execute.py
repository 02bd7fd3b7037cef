"""Follows the functions that build an engine's argument parser, statement by statement, and notes every argument."""

import ast
import copy
from collections.abc import Iterable
from typing import Any, NamedTuple

from .config_fields import Derivation
from .evaluate import Evaluator, Scope, known
from .hints import annotation
from .modules import Modules
from .records import Records
from .values import UNKNOWN, Applied, ClassRef, FunctionRef, Name, Parser, Super

DEPTH = 8  # calls from the entry point to an add_argument
# They make parsers of one value: what they are given tells all.
TYPE_MAKERS = {'optional_type', 'parse_type', 'nullable_kvs', 'get_attr_docs'}


class Argument(NamedTuple):
    """One call of add_argument: the spellings and the keywords, and the subcommand it is for."""

    names: tuple[str, ...]
    keywords: dict[str, Any]
    command: str


class Returned(Exception):
    """The followed function returned a value."""

    def __init__(self, value: Any) -> None:
        super().__init__()
        self.value = value


class Follower(Evaluator):
    """Follows functions of one release; `arguments` holds what they added to a parser."""

    def __init__(self, modules: Modules) -> None:
        super().__init__(modules)
        self.arguments: list[Argument] = []
        self.records = Records(self)
        self._nesting = 0

    def follow(self, function: FunctionRef, arguments: list[Any], keywords: dict[str, Any]) -> Any:
        """Runs a function with these arguments; its result, None when it returns nothing."""
        if self._nesting >= DEPTH:
            return UNKNOWN
        self._nesting += 1
        try:
            scope = self._bind(function, arguments, keywords)
            self.run(function.node.body, function.module, scope)
        except Returned as found:
            return found.value
        finally:
            self._nesting -= 1
        return None

    def _bind(self, function: FunctionRef, arguments: list[Any], keywords: dict[str, Any]) -> Scope:
        signature = function.node.args
        names = [each.arg for each in (*signature.posonlyargs, *signature.args)]
        marks = {ast.unparse(each) for each in function.node.decorator_list}
        scope: Scope = {'$function': function}
        if function.owner is not None and 'staticmethod' not in marks and names:
            scope[names.pop(0)] = function.owner
        defaults = dict(zip(reversed(names), reversed(signature.defaults)))
        for each, default in zip(signature.kwonlyargs, signature.kw_defaults):
            names.append(each.arg)
            if default is not None:
                defaults[each.arg] = default
        for name in names:
            scope[name] = self.value(defaults[name], function.module, {}) if name in defaults else UNKNOWN
        scope.update(zip(names, arguments))
        scope.update({name: value for name, value in keywords.items() if name in names})
        return scope

    def run(self, body: Iterable[ast.stmt], module: str, scope: Scope) -> None:
        """Runs statements. Raises Returned at a return."""
        for node in body:
            method = getattr(self, f'_do_{type(node).__name__.lower()}', None)
            if method is not None:
                method(node, module, scope)

    def _do_return(self, node: ast.Return, module: str, scope: Scope) -> None:
        raise Returned(self.value(node.value, module, scope) if node.value else None)

    def _do_expr(self, node: ast.Expr, module: str, scope: Scope) -> None:
        self.value(node.value, module, scope)

    def _do_assign(self, node: ast.Assign, module: str, scope: Scope) -> None:
        value = self.value(node.value, module, scope)
        for target in node.targets:
            self._store(target, value, module, scope)

    def _do_annassign(self, node: ast.AnnAssign, module: str, scope: Scope) -> None:
        if node.value is not None:
            self._store(node.target, self.value(node.value, module, scope), module, scope)

    def _do_augassign(self, node: ast.AugAssign, module: str, scope: Scope) -> None:
        load = ast.parse(ast.unparse(node.target), mode='eval').body
        joined = ast.BinOp(load, node.op, node.value)
        self._store(node.target, self.value(joined, module, scope), module, scope)

    def _do_delete(self, node: ast.Delete, module: str, scope: Scope) -> None:
        for target in node.targets:
            if isinstance(target, ast.Subscript):
                box = self.value(target.value, module, scope)
                if isinstance(box, dict):
                    box.pop(self.value(target.slice, module, scope), None)

    def _do_importfrom(self, node: ast.ImportFrom, module: str, scope: Scope) -> None:
        for alias in node.names:
            found = self.modules.resolve(node.module or '', alias.name)
            scope[alias.asname or alias.name] = self.defined(*found) if found else Name(f'{node.module}.{alias.name}')

    def _do_if(self, node: ast.If, module: str, scope: Scope) -> None:
        test = self.value(node.test, module, scope)
        if known(test):
            self.run(node.body if test else node.orelse, module, scope)
            return
        for block in (node.body, node.orelse):
            self._perhaps(block, module, scope)

    def _perhaps(self, block: list[ast.stmt], module: str, scope: Scope) -> None:
        """Runs what the engine runs under a condition that is not known: an early end counts for nothing."""
        try:
            self.run(block, module, scope)
        except Returned:
            return

    def _do_try(self, node: ast.Try, module: str, scope: Scope) -> None:
        self.run([*node.body, *node.orelse, *node.finalbody], module, scope)

    def _do_with(self, node: ast.With, module: str, scope: Scope) -> None:
        self.run(node.body, module, scope)

    def _do_for(self, node: ast.For, module: str, scope: Scope) -> None:
        for item in self.iterate(self.value(node.iter, module, scope)) or ():
            self._store(node.target, item, module, scope)
            self.run(node.body, module, scope)

    def _store(self, target: ast.expr, value: Any, module: str, scope: Scope) -> None:
        if isinstance(target, ast.Name):
            scope[target.id] = value
        elif isinstance(target, ast.Tuple):
            items = self.iterate(value) or []
            for index, each in enumerate(target.elts):
                self._store(each, items[index] if index < len(items) else UNKNOWN, module, scope)
        elif isinstance(target, ast.Subscript):
            box = self.value(target.value, module, scope)
            if isinstance(box, dict):
                box[self.value(target.slice, module, scope)] = value

    def _attribute(self, node: ast.Attribute, module: str, scope: Scope) -> Any:
        box = self.value(node.value, module, scope)
        if isinstance(box, Super):
            return self.member(box.owner, node.attr, after=box.defined_in)
        return self.attribute(box, node.attr)

    def call(
        self, function: Any, arguments: list[Any], keywords: dict[str, Any], node: ast.Call, module: str, scope: Scope
    ) -> Any:
        """Parser calls are noted, functions of the engine are followed, anything else is the call itself."""
        if isinstance(node.func, ast.Attribute):
            box = self.value(node.func.value, module, scope)
            if isinstance(box, Parser):
                return self._on_parser(box, node.func.attr, arguments, keywords)
            if node.func.attr == 'remove' and isinstance(box, list) and known(*arguments):
                return box.remove(arguments[0])
        if isinstance(function, FunctionRef):
            return self._function(function, arguments, keywords, node)
        name = ast.unparse(node.func)
        if name.rpartition('.')[2] == 'get_args' and node.args:
            literal = annotation(node.args[0], module, self).get('literal')
            return literal.options if literal else UNKNOWN
        if name == 'super':
            return self._super(scope)
        if name.endswith(('ArgumentParser', 'FlexibleArgumentParser')):
            return Parser()
        return super().call(function, arguments, keywords, node, module, scope)

    def _super(self, scope: Scope) -> Any:
        """`super()` of the method that is being followed."""
        function = scope.get('$function')
        if function is None or function.owner is None:
            return UNKNOWN
        found = self.modules.member(function.owner, function.node.name)
        return Super(found[0], function.owner) if found else UNKNOWN

    def _on_parser(self, parser: Parser, method: str, arguments: list[Any], keywords: dict[str, Any]) -> Any:
        if method == 'add_argument':
            names = tuple(each for each in arguments if isinstance(each, str))
            self.arguments.append(Argument(names, dict(keywords), parser.command))
            return UNKNOWN
        if method == 'add_parser':
            return Parser(str(arguments[0]) if arguments else 'other')
        return parser

    def _function(self, function: FunctionRef, arguments: list[Any], keywords: dict[str, Any], node: ast.Call) -> Any:
        name = function.node.name
        if name in TYPE_MAKERS:
            return Applied(name, tuple(arguments), tuple(keywords.items()))
        if name == 'get_kwargs' and arguments and isinstance(arguments[0], ClassRef):
            derive = self.modules.find_function(function.module, '_compute_kwargs') or function
            return copy.deepcopy(Derivation(self, derive).kwargs(arguments[0]))
        if name == 'get_field' and len(arguments) == 2 and isinstance(arguments[0], ClassRef):
            return self.member(arguments[0], arguments[1])
        if name == 'add_cli_args_from_dataclass' and isinstance(arguments[1], ClassRef):
            for argument in self.records.arguments(arguments[1]):
                self._on_parser(arguments[0], 'add_argument', list(argument[0]), argument[1])
            return None
        if name == '_declared_default' and arguments:
            return self.records.default(function.module, arguments[0])
        parses = any(isinstance(each, (Parser, dict)) for each in (*arguments, *keywords.values()))
        if parses or (not arguments and not keywords and not function.owner):
            return self.follow(function, arguments, keywords)
        return Applied(name, tuple(arguments), tuple(keywords.items()))

