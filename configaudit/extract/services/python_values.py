"""Expressions of Python source as settings: folded, placed, and honest about what only the running program knows."""

import ast

from configaudit.model import Setting
from configaudit.parse.python import Source, Unfolded

LOCKED = 'it is a program'
WORKED_OUT = 'the program works it out'


def keywords(source: Source, call: ast.Call) -> tuple[dict[str, ast.expr], str]:
    """The keywords of a call, and why there may be more."""
    given = {word.arg: word.value for word in call.keywords if word.arg}
    unseen = ''
    for word in call.keywords:
        if word.arg is None:
            pairs = source.pairs(word.value)
            unseen = unseen or ('' if pairs is not None else 'keywords come from a mapping that is not shown')
            given = {**(pairs or {}), **given}
    return given, unseen


def setting_at(source: Source, name: str, node: ast.expr, unit: str = '', scale: float = 1) -> Setting:
    """The setting that an expression gives; a number is divided by `scale`."""
    place = source.place(node)
    try:
        found = source.value(node)
    except Unfolded:
        return Setting(name, None, place, 'explicit', WORKED_OUT, unit=unit, locked=LOCKED)
    if isinstance(found, (int, float)) and not isinstance(found, bool) and scale != 1:
        found = found / scale
        found = int(found) if found == int(found) else found
    return Setting(name, found, place, unit=unit, locked=LOCKED)
