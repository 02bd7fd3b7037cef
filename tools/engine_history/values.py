"""What an expression of a release's source stands for when it is read without running it."""

import ast
from typing import Any, NamedTuple


class Unknown(NamedTuple):
    """A value that only the running engine knows."""


class Name(NamedTuple):
    """Something that is not defined in the files that are read: `int`, `json.loads`, `argparse.SUPPRESS`."""

    text: str


class Applied(NamedTuple):
    """The result of calling something that is not interpreted: `optional_type(str)`."""

    function: str
    arguments: tuple[Any, ...]
    keywords: tuple[tuple[str, Any], ...] = ()


class ClassRef(NamedTuple):
    """A class of the sources, in the module that defines it."""

    module: str
    node: ast.ClassDef


class FunctionRef(NamedTuple):
    """A function of the sources; `owner` is the class it is looked up on, when it is a method."""

    module: str
    node: ast.FunctionDef
    owner: ClassRef | None = None


class Super(NamedTuple):
    """`super()` inside a method found on `defined_in`, called for `owner`."""

    defined_in: ClassRef
    owner: ClassRef


class Parser(NamedTuple):
    """An argument parser or one of its groups; `command` is the subcommand it belongs to."""

    command: str = ''


class Member(NamedTuple):
    """A member of an enumeration."""

    name: str
    value: Any


UNKNOWN = Unknown()


def is_plain(value: object) -> bool:
    """Whether a value can be written as JSON."""
    if isinstance(value, list) or (isinstance(value, tuple) and type(value) is tuple):
        return all(is_plain(each) for each in value)
    if isinstance(value, dict):
        return all(isinstance(key, str) and is_plain(each) for key, each in value.items())
    return value is None or isinstance(value, (bool, int, float, str))
