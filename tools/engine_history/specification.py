"""What the catalogue keeps of one argument: spellings, type, default, choices, bounds, boolean style, deprecation."""

import re
from typing import Any

from .execute import Argument
from .values import Applied, ClassRef, FunctionRef, Member, is_plain

Spec = dict[str, Any]

ACTIONS = {
    'BooleanOptionalAction': 'bool_optional',
    'store_true': 'store_true',
    'DeprecatedStoreTrueAction': 'store_true',
    'StoreBoolean': 'StoreBoolean',
    'store_false': 'store_const',
    'store_const': 'store_const',
    'DeprecatedStoreConstAction': 'store_const',
    'DeprecatedAction': 'store_const',
}
TYPES = {
    'human_readable_int': 'human-int',
    'human_readable_int_or_auto': 'human-int-or-auto',
    'json.loads': 'json',
    'loads': 'json',
    'json_list_type': 'json',
    'from_cli': 'json',
    'from_json': 'json',
    'nullable_str': 'str',
    'union_dict_and_str': 'json-or-str',
}
PLAIN = {'int', 'float', 'str', 'bool'}
WRAPPERS = {'optional_type', 'parse_type'}
REMOVAL = re.compile(r'removed?\s+(?:in|after|by)\s+(?:version\s+|release\s+)?v?(\d+\.\d+(?:\.\d+)?)', re.IGNORECASE)
DEPRECATED = re.compile(r'^\W*(?:note|warning)?\W*deprecated|[(\[]deprecated|\bis (?:now )?deprecated', re.IGNORECASE)


def last_word(value: Any) -> str:
    """The bare name of a function, a class or something that is not in the sources."""
    if isinstance(value, (FunctionRef, ClassRef)):
        return value.node.name
    text = value if isinstance(value, str) else getattr(value, 'text', '')
    return text.rpartition('.')[2]


def type_of(value: Any) -> tuple[str, bool]:
    """(type, whether `None` is taken too) of the `type` keyword; no keyword means text."""
    if value is None:
        return 'str', False
    if isinstance(value, Applied):
        inner = value.arguments[0] if value.arguments and value.function.rpartition('.')[2] in WRAPPERS else ''
        kind = type_of(inner)[0] if inner != '' else 'custom'
        return kind, value.function.rpartition('.')[2] == 'optional_type'
    text = getattr(value, 'text', '')
    word = last_word(value)
    if text in TYPES or word in TYPES:
        return TYPES.get(text) or TYPES[word], word == 'nullable_str'
    return word if word in PLAIN else 'custom', False


def default_of(value: Any) -> Spec:
    """The default, or that the engine works it out; an unset one is left out."""
    if isinstance(value, Member):
        value = value.value
    if isinstance(value, (set, frozenset)):
        value = sorted(value)
    if value is None:
        return {}
    return {'default': value} if is_plain(value) else {'computed': True}


def deprecation(keywords: Spec, action: str) -> Spec:
    """Whether the help text or the action says that the argument is going away, and in which release."""
    text = ' '.join(str(keywords.get('help', '')).split()) if isinstance(keywords.get('help'), str) else ''
    if not (keywords.get('deprecated') is True or 'Deprecated' in action or DEPRECATED.search(text)):
        return {}
    removal = REMOVAL.search(text)
    return {'deprecated': True, **({'removal': removal[1]} if removal else {})}


def specification(argument: Argument) -> Spec:
    """What the catalogue says of an argument; `names` holds its spellings, the first one first."""
    given = argument.keywords
    action = last_word(given.get('action'))
    # `nargs=None` makes even an action that stores a constant take a word.
    boolean = '' if given.get('nargs', '') is None else ACTIONS.get(action, '')
    kind, nullable = type_of(given.get('type'))
    found: Spec = {'names': [name for name in argument.names if name.startswith('-')]}
    found['type'] = 'bool' if boolean and action not in ('DeprecatedStoreConstAction', 'DeprecatedAction') else kind
    if boolean:
        found['boolean'] = boolean
    if action in ('append', 'extend'):
        found['repeated'] = True
    found.update(_values(given, found['type']))
    default = given.get('default', False if action in ('store_true', 'DeprecatedStoreTrueAction') else None)
    found.update(default_of(default))
    if nullable or given.get('nullable'):
        found['nullable'] = True
    if given.get('required') is True:
        found['required'] = True
    if given.get('bounds'):
        found['bounds'] = given['bounds']
    found.update(deprecation(given, action))
    return _with_target(found, given)


def _values(given: Spec, kind: str) -> Spec:
    """`nargs` and `choices`, as far as they are known."""
    found: Spec = {}
    nargs = given.get('nargs')
    if isinstance(nargs, (str, int)) and nargs != 0:
        found['nargs'] = str(nargs)
        if nargs != '?' and kind in PLAIN:
            found['type'] = f'list[{kind}]'
    choices = given.get('choices')
    compared = kind != 'custom'  # else a function changes the text before it is compared
    if compared and isinstance(choices, (list, tuple, set, dict)) and choices and all(_is_choice(each) for each in choices):
        found['choices'] = sorted({str(each) for each in choices if each is not None})
        if kind == 'str' and 'nargs' not in found:
            found['type'] = 'enum'
    if isinstance(choices, (list, tuple, set)) and None in choices:
        found['nullable'] = True
    return found


def _is_choice(value: Any) -> bool:
    return value is None or isinstance(value, (str, int, float))


def _with_target(found: Spec, given: Spec) -> Spec:
    """Adds the flag that a deprecated one stores into."""
    target = given.get('dest')
    own = {name.lstrip('-').replace('-', '_') for name in found['names']}
    if found.get('deprecated') and isinstance(target, str) and target not in own:
        found['target'] = '--' + target.replace('_', '-')
    return found

