"""Tasks of Ansible that tune hosts: sysctl, pam_limits, and files that copy, lineinfile and blockinfile write.

Sources: Ansible collection documentation: ansible.posix.sysctl, community.general.pam_limits, ansible.builtin.{copy,lineinfile,blockinfile,shell}.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from configaudit.extract.process import Nested, Reading, nothing
from configaudit.extract.services.limits import limit_component
from configaudit.extract.services.sysctl import is_node, sysctl_component
from configaudit.extract.words import Word, word_of
from configaudit.model import Component, Slot
from configaudit.parse.sysctl import normalised
from configaudit.parse.tree import Map, Scalar, Seq, get, mapping, maps, place_of, text
from configaudit.patterns import regex
from configaudit.places import Document

MARKERS = (b'sysctl', b'pam_limits', b'/etc/security/', b'/etc/udev/', b'/etc/systemd/', b'/etc/containerd/', b'/etc/docker/')
"""Words of every list of tasks that is read; others are not looked at."""
_LISTS = ('tasks', 'pre_tasks', 'post_tasks', 'handlers', 'block', 'rescue', 'always')
_LOOPS = ('loop', 'with_items', 'with_list')
_FILES = {'copy': 'content', 'lineinfile': 'line', 'blockinfile': 'block'}
"""Module -> the argument that has the text."""
_BY_COLLECTION = {'sysctl': 'ansible.posix.', 'pam_limits': 'community.general.'}
_ITEM = regex(r"""\{\{-?\s*item(?:\.(?P<dot>\w+)|\[['"](?P<key>\w+)['"]\])?\s*-?\}\}\Z""")
_NAME = regex(r'\{\{-?\s*(?P<name>\w+)\s*-?\}\}\Z')
_MAX_DEPTH = 20


class _Turn(NamedTuple):
    """A task at one turn of its loop: the arguments of its module, and the item."""

    document: Document
    arguments: Map
    item: Any

    def node(self, *names: str) -> Any:
        """The first argument of these names that is there, or the part of the item that it stands for."""
        node = next((self.arguments[name] for name in names if name in self.arguments), None)
        return node if node is None else self._resolved(node)

    def _resolved(self, node: Any) -> Any:
        match = _ITEM.match(spelled(self.document, node)) if isinstance(node, Scalar) and self.item is not None else None
        if match is None:
            return node
        part = match['dot'] or match['key']
        found = get(self.item, part) if part else self.item
        return node if found is None else found

    def word(self, *names: str) -> Word | None:
        """An argument as a word; None where it is not there or no scalar."""
        return word_of(self.document, self.node(*names))


def read_list(document: Document, root: Seq) -> Reading | None:
    """A playbook or a list of tasks; None when nothing in it tunes a host."""
    if not any(marker in document.parsed for marker in MARKERS):
        return None
    reading = nothing()
    for task, variables in _tasks(root, {}, 0):
        for turn, module in _turns(document, task, variables):
            _read(turn, module, reading)
    document.template = None  # tasks are YAML before Ansible fills their values in: the others may be changed
    return reading if reading.components or reading.nested else None


def spelled(document: Document, node: Any) -> str:
    """What a scalar is in the file, expressions included, without quotes."""
    place = place_of(document, node)
    start, end = (document.byte_of(at) - document.base for at in (place.start, place.end))
    return document.data[start:end].decode('utf-8', 'replace').strip('"\'')


def _tasks(items: Any, variables: dict[str, Any], depth: int) -> Iterator[tuple[Map, dict[str, Any]]]:
    """Every task of plays, blocks and lists, with the variables that stand around it."""
    for item in maps(items) if depth < _MAX_DEPTH else ():
        held = {**variables, **(mapping(item, 'vars') or {})}
        lists = [key for key in _LISTS if isinstance(item.get(key), Seq)]
        for key in lists:
            yield from _tasks(item[key], held, depth + 1)
        if not lists:
            yield item, held


def _turns(document: Document, task: Map, variables: dict[str, Any]) -> Iterator[tuple[_Turn, str]]:
    for key, arguments in task.items():
        module = key.removeprefix('ansible.builtin.').removeprefix(_BY_COLLECTION.get(key.rpartition('.')[2], '-'))
        if isinstance(arguments, Map) and module in ('sysctl', 'pam_limits', *_FILES) and text(arguments, 'state') != 'absent':
            for item in _items(document, task, variables):
                yield _Turn(document, arguments, item), module
        elif module in ('shell', 'command') and not any(name in task for name in _LOOPS):
            script = arguments if isinstance(arguments, Scalar) else get(arguments, 'cmd')
            if isinstance(script, Scalar):
                yield _Turn(document, task, script), 'shell'


def _items(document: Document, task: Map, variables: dict[str, Any]) -> Iterator[Any]:
    """The items of a task's loop: what is written there, or in variables beside it; None without a loop."""
    node = next((task[name] for name in _LOOPS if name in task), None)
    pairs = task.get('with_dict')
    if node is None and pairs is None:
        yield None
    elif isinstance(pairs, Scalar):
        yield from _pairs(_variable(document, pairs, variables))
    elif isinstance(pairs, Map):
        yield from _pairs(pairs)
    else:
        found = _variable(document, node, variables) if isinstance(node, Scalar) else node
        yield from found if isinstance(found, Seq) else [None]


def _variable(document: Document, node: Any, variables: dict[str, Any]) -> Any:
    match = _NAME.match(spelled(document, node))
    return variables.get(match['name']) if match else None


def _pairs(node: Any) -> Iterator[Any]:
    """The items of a mapping as Ansible gives them: key and value."""
    if not isinstance(node, Map):
        yield None
        return
    for key, value in node.items():
        yield {'key': node.names[key], 'value': value}


def _read(turn: _Turn, module: str, reading: Reading) -> None:
    if module == 'sysctl':
        reading.components.extend(_sysctl(turn))
    elif module == 'pam_limits':
        reading.components.extend(_limit(turn))
    elif module == 'shell':
        script = word_of(turn.document, turn.item)
        if script is not None and script.known and 'sysctl' in script.value:
            reading.nested.append(Nested('task.sh', script))
    else:
        path, body = turn.word('dest', 'path', 'name'), turn.word(_FILES[module])
        if path is not None and path.known and body is not None and path.value.startswith('/etc/') and '{{' not in path.value:
            reading.nested.append(Nested(path.value, body))


def _sysctl(turn: _Turn) -> Iterator[Component]:
    name, value = turn.word('name', 'key'), turn.word('value', 'val')
    if name is None or value is None or not name.known or '{{' in name.value:
        return
    place = place_of(turn.document, turn.node('value', 'val'))
    yield sysctl_component(
        normalised(name.value), value.value, value.place, name.place, turn.document.called.rpartition('/')[2], form='command',
        node=is_node(turn.document), slot=Slot('yaml_edit', place), reason=value.reason,
    )  # fmt: skip


def _limit(turn: _Turn) -> Iterator[Component]:
    domain, kind, item, value = turn.word('domain'), turn.word('limit_type'), turn.word('limit_item'), turn.word('value')
    if domain is None or kind is None or value is None or item is None or item.value != 'nofile':
        return
    slot = Slot('yaml_edit', place_of(turn.document, turn.node('value')))
    yield limit_component(domain, kind, value, turn.document.called.rpartition('/')[2], is_node(turn.document), slot)
