"""Flask-SQLAlchemy's SQLALCHEMY_ENGINE_OPTIONS: the keywords of an engine, in a module, a class of settings or `app.config`."""

import ast
from collections.abc import Iterator

from configaudit.extract.services.pool_drafts import Draft, component_of
from configaudit.extract.services.python_values import keywords, setting_at
from configaudit.knowledge.pool_libraries import LIBRARIES, squash
from configaudit.model import Component, Setting
from configaudit.parse.python import Source
from configaudit.patterns import regex

_NAME = 'SQLALCHEMY_ENGINE_OPTIONS'
_NOT_SERVED = regex(r'dev|test|local|debug|sqlite', 2)


def pools_of(source: Source) -> Iterator[Component]:
    """The pool of every literal mapping of engine options; classes of settings for development and tests are left out."""
    left_out = {id(item) for node in source.nodes if isinstance(node, ast.ClassDef) and _NOT_SERVED.search(node.name) for item in ast.walk(node)}
    path = source.document.path
    for number, node in enumerate(_options(source)):
        pairs = source.pairs(node) if id(node) not in left_out else None
        if not pairs:
            continue
        place = source.place(node)
        settings: dict[str, Setting] = {'written_in': Setting('written_in', 'Python', place)}
        library = LIBRARIES['sqlalchemy']
        for key, value in pairs.items():
            found = library.keys.get(squash(key))
            if found is not None:
                made = setting_at(source, found[0], value, found[1])
                unlimited = made.is_known and made.known_value in library.unlimited.get(found[0], ())
                settings[found[0]] = made._replace(known_value=float('inf')) if unlimited else made
            elif key == 'pool_pre_ping':
                settings['pre_ping'] = setting_at(source, 'pre_ping', value)
        if 'poolclass' not in pairs:
            yield component_of(Draft('code', 'sqlalchemy', settings, place), path.rpartition('/')[2], f'python/{path}/engine-options/{number}', path, '')


def _options(source: Source) -> Iterator[ast.expr]:
    for node in source.nodes:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None and len(targets) == 1 and _is_options(targets[0]):
            yield node.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ('update', 'from_mapping'):
            given, _ = keywords(source, node)
            if _NAME in given:
                yield given[_NAME]


def _is_options(target: ast.expr) -> bool:
    if isinstance(target, ast.Name):
        return target.id == _NAME
    return isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Constant) and target.slice.value == _NAME
