"""From a mapping to the settings its kind declares: one table says where each value stands."""

from collections.abc import Callable
from typing import Any

from configaudit import units
from configaudit.extract.words import is_hidden, is_open, word_of
from configaudit.model import Kind, Setting, Slot
from configaudit.parse.tree import Map, Scalar, key_place, place_of, plain
from configaudit.places import Document, Place
from configaudit.units import HOLE


def _share(value: Any) -> Any:
    return value if isinstance(value, str) and value.endswith('%') else units.integer(value)


def _text(value: Any) -> str | None:
    return None if value is None else str(value).lower() if isinstance(value, bool) else str(value)


CONVERT: dict[str, Callable[[Any], Any]] = {
    's': units.seconds, 'bytes': units.quantity, 'cores': units.quantity, 'count': units.integer,
    'share': _share, 'bool': units.boolean, 'number': units.number,
}  # fmt: skip


def read_settings(document: Document, root: Map, kind: Kind, settings: dict[str, Setting]) -> None:
    """Fill `settings` with every value of the kind that stands below `root`, known or not."""
    templated = document.template is not None
    opened: dict[int, bool] = {}
    for name, spec in kind.settings.items():
        if not spec.path:
            continue
        parent, node = root, None
        for key in spec.path:
            node = parent.get(key)
            if node is None or key == spec.path[-1]:
                break
            if not isinstance(node, Map):
                break
            parent = node
        if isinstance(node, Scalar) and not node.style and node.value in ('', '~', 'null'):
            if templated and is_hidden(document, node):
                settings[name] = hidden(name, key_place(document, parent, key), spec.unit)
            continue
        if node is None or (key != spec.path[-1] and not isinstance(node, Map)):
            if templated and id(parent) not in opened:
                opened[id(parent)] = is_open(document, parent)
            if templated and opened[id(parent)]:
                settings[name] = hidden(name, place_of(document, parent), spec.unit)
            continue
        settings[name] = setting(name, document, parent, key, spec.unit)


def hidden(name: str, place: Place, unit: str = '') -> Setting:
    """A setting that a template may fill."""
    return Setting(name, None, place, 'inherited', 'filled by a template', unit=unit)


def setting(name: str, document: Document, parent: Map, key: str, unit: str = '') -> Setting:
    """The setting of a key that stands in a mapping, converted to its unit."""
    node = parent[key]
    if not isinstance(node, Scalar):
        slot = Slot('yaml_edit', Place(document, parent.start, parent.start), (key,))
        reason = f'a list or mapping is not a {_NOUN.get(unit, "value")}' if unit in CONVERT else ''
        return Setting(name, None if reason else plain(node), key_place(document, parent, key), reason=reason, slot=slot, unit=unit)
    place = place_of(document, node)
    slot = Slot('yaml_edit', place)
    if HOLE in node.value:
        word = word_of(document, node)
        assert word is not None
        if not word.known:
            return Setting(name, None, place, 'inherited', word.reason, slot=slot, unit=unit)
        value: Any = CONVERT[unit](word.value) if unit in CONVERT else word.value
        target = word.place if word.pure else place
        uses = (word.use,) if word.use is not None else ()
        return Setting(name, value, target, 'inherited', slot=Slot('yaml_edit', target), unit=unit, uses=uses, locked=word.locked)
    raw = plain(node)
    if unit == 'text':
        raw = node.value if isinstance(raw, (int, float)) and not isinstance(raw, bool) else _text(raw)
    value = CONVERT[unit](raw) if unit in CONVERT else raw
    reason = f'{node.value!r} is not a {_NOUN.get(unit, "value")}' if value is None and raw is not None else ''
    return Setting(name, value, place, 'explicit', reason, (), slot, unit)


_NOUN = {'s': 'number of seconds', 'bytes': 'size', 'cores': 'number of cores', 'count': 'whole number', 'bool': 'truth value'}

