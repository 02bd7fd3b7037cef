"""What a process's variables and words come to: ConfigMaps, env files and $(VAR) resolved across the run."""

import re
from collections.abc import Iterable, Mapping

from configaudit.extract.files import Files
from configaudit.extract.process import Data, Imported, Process, Reference
from configaudit.extract.words import Word
from configaudit.patterns import regex
from configaudit.units import HOLE

_KUBERNETES = regex(r'\$\$|\$\(([A-Za-z_][\w.-]*)\)')
_BRACED = regex(r'\$\$|\$\{([A-Za-z_]\w*)(?:(:?[-?+])([^{}]*))?\}|\$([A-Za-z_]\w*)')
_WHOLE_TAIL = regex(r'(--?[\w.-]+=)(\$\([A-Za-z_][\w.-]*\)|\$\{[A-Za-z_]\w*[^{}]*\}|\$[A-Za-z_]\w*)$')


class Stores:
    """The named text of a run: ConfigMaps, Secrets and env files by scope and name, files by path."""

    def __init__(self, data: Iterable[Data], files: Files | None = None) -> None:
        self.files = files or Files()
        self._by_name: dict[tuple[str, str], list[Data]] = {}
        for item in data:
            self._by_name.setdefault((item.kind, item.name), []).append(item)
        self._users: dict[tuple[int, str], set[str]] = {}
        self.has_modules = any(kind == 'go.mod' for kind, _ in self._by_name)
        """Whether a go.mod was read: any process may be built from it."""

    def find(self, kind: str, scope: str, name: str) -> Data | None:
        """The one store of that name in the scope; an unwritten namespace matches any single one."""
        found = [item for item in self._by_name.get((kind, name), ()) if item.scope == scope or not item.scope or not scope]
        exact = [item for item in found if item.scope == scope]
        found = exact or found
        return found[0] if len(found) == 1 else None

    def every(self, kind: str, name: str) -> tuple[Data, ...]:
        """All stores of that name, in the order they were read: drop-ins of one unit."""
        return tuple(self._by_name.get((kind, name), ()))

    def of_kind(self, kind: str) -> list[Data]:
        """All stores of a kind."""
        return [item for (own, _), items in self._by_name.items() if own == kind for item in items]

    def count(self, processes: Iterable[Process]) -> None:
        """Note who takes which value, so that none is changed under somebody else's feet."""
        for process in processes:
            references = [variable.value for variable in process.environment if isinstance(variable.value, Reference)]
            asked = [(item.kind, item.name, '') for item in process.imported] + [(item.kind, item.name, item.key) for item in references]
            for kind, name, key in asked:
                data = self.find(kind, process.component.scope, name)
                if data is not None:
                    self._users.setdefault((id(data), key), set()).add(process.component.identity)

    def given(self, data: Data, key: str) -> Word | None:
        """A value of a store; no fix may write there when several take it."""
        word = data.values.get(key)
        users = self._users.get((id(data), ''), set()) | self._users.get((id(data), key), set())
        if word is None or len(users) < 2 or word.locked:
            return word
        return word._replace(locked=f'several take it from {data.kind} {data.name}: {", ".join(sorted(users)[:3])}')


def environment_of(process: Process, stores: Stores) -> dict[str, Word]:
    """Every variable the process will see that the run shows, in the order the runtime applies them."""
    result: dict[str, Word] = {}
    scope = process.component.scope
    for imported in process.imported:
        result.update(_imported(imported, scope, stores))
    for variable in process.environment:
        value = variable.value
        if isinstance(value, Reference):
            result[variable.name] = _referenced(value, scope, stores)
        else:
            result[variable.name] = expand(value, result, process.syntax)
    return result


def _imported(imported: Imported, scope: str, stores: Stores) -> dict[str, Word]:
    data = stores.find(imported.kind, scope, imported.name)
    if data is None:
        return {}
    return {imported.prefix + key: word for key in data.values if (word := stores.given(data, key)) is not None}


def unseen_imports(process: Process, stores: Stores) -> str:
    """Why variables may exist that the run does not show, or ''."""
    for imported in process.imported:
        data = stores.find(imported.kind, process.component.scope, imported.name)
        if data is None:
            return f'{imported.kind} {imported.name} is not among the files read'
        if data.partial:
            return data.partial
    return ''


def _referenced(reference: Reference, scope: str, stores: Stores) -> Word:
    if reference.kind in ('ConfigMap', 'Secret'):
        data = stores.find(reference.kind, scope, reference.name)
        word = stores.given(data, reference.key) if data else None
        if word is not None and reference.kind == 'ConfigMap':
            return word._replace(use=reference.place)
        where = f'{reference.kind} {reference.name}'
        return Word(HOLE, reference.place, False, f'its value is in {where}' + ('' if data else ', which was not read'))
    return Word(HOLE, reference.place, False, f'it is filled from the {reference.kind} {reference.name}')


def expand(word: Word, variables: Mapping[str, Word], syntax: str) -> Word:
    """A word with its variables replaced; what nobody sets becomes unknown, or stays where the syntax keeps it."""
    if '$' not in word.value or syntax == 'none':
        return word
    tail = _WHOLE_TAIL.match(word.value)
    if tail is not None:
        rest = word._replace(value=tail[2], place=word.place.part(len(tail[1]), len(word.value)))
        value = expand(rest, variables, syntax)
        return word._replace(value=tail[1] + value.value, pure=False, reason=value.reason, tail=value)
    pattern = _KUBERNETES if syntax == 'kubernetes' else _BRACED
    whole = pattern.fullmatch(word.value)
    if whole is not None and whole[0] != '$$':
        return _whole(word, whole, variables, syntax)
    reasons: list[str] = []

    def fill(match: re.Match[str]) -> str:
        if match[0] == '$$':
            return '$'
        value = _whole(word, match, variables, syntax)
        reasons.append(value.reason)
        return value.value

    text = pattern.sub(fill, word.value)
    reason = next(filter(None, reasons), '')
    return word if text == word.value else word._replace(value=text, pure=False, reason=reason or word.reason)


def _whole(word: Word, match: re.Match[str], variables: Mapping[str, Word], syntax: str) -> Word:
    """What one variable reference comes to, with the place where that is defined."""
    if syntax == 'kubernetes':
        found = variables.get(match[1])
        return found._replace(use=word.place) if found is not None else word._replace(value=match[0])
    name, operator, default = match[1] or match[4], match[2] or '', match[3] or ''
    found = variables.get(name)
    if found is not None and (found.value or ':' not in operator):
        if operator.endswith('+'):
            return word._replace(value=default, pure=False)
        return found._replace(use=word.place)
    if operator.endswith('-'):
        start = word.value.index(default, match.start(3)) if default else match.start(3)
        return Word(default, word.place.part(start, start + len(default)), word.pure, use=word.place)
    if operator.endswith('+'):
        return word._replace(value='', pure=False)
    return word._replace(value=HOLE, pure=False, reason=f'${name} is not set in the files read')
