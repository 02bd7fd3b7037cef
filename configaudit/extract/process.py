"""A Process: what a carrier says will run. Engines and services read it; they know no carrier."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from configaudit.extract.words import Word
from configaudit.model import Component, Slot
from configaudit.places import Place


class Reference(NamedTuple):
    """An environment value that stands elsewhere: a key of a ConfigMap or Secret, a field of the pod."""

    kind: str
    """'ConfigMap', 'Secret', 'field', 'resource' or 'file'."""
    name: str
    key: str
    place: Place
    optional: bool = False


class Variable(NamedTuple):
    """One environment variable of a process, as written."""

    name: str
    value: Word | Reference
    place: Place
    """Where the name stands."""


class Imported(NamedTuple):
    """All keys of a ConfigMap, Secret or env file, taken into the environment."""

    kind: str
    name: str
    prefix: str
    place: Place


class Mount(NamedTuple):
    """A volume in a process: whose keys, or which folder or file of the run, stand there."""

    kind: str
    """'ConfigMap', 'Secret' or 'path'."""
    name: str
    """The object's name, or the path in the run."""
    key: str = ''
    """Of a `subPath`: the one key that is mounted."""
    items: Mapping[str, str] = {}
    """Path below the mount -> key, where the volume renames keys."""


class Keys(NamedTuple):
    """Where options are keys of a mapping: how one that is not there yet is added."""

    slot: Slot | None
    """The writer of the mapping; the key is appended to its path."""
    joint: str
    """What stands between the words of a key: '-' or '_'."""
    switches: bool
    """Whether a switch is given as true; where it becomes `--flag true`, none can be added."""
    fields: Mapping[str, tuple[str, ...]] = {}
    """Flag -> path below the mapping, where fields have names of their own and no others can be added."""


class Process(NamedTuple):
    """A program that a carrier starts: image, words of the command line, environment, files."""

    component: Component
    """The carrier's own component: a container, a compose service, a unit, a script."""
    image: Word | None
    entrypoint: tuple[Word, ...] | None
    """The program and its words; None: the image's own entry point runs."""
    arguments: tuple[Word, ...] | None
    """What follows the entry point; None: the image's own command."""
    environment: tuple[Variable, ...] = ()
    imported: tuple[Imported, ...] = ()
    files: Mapping[str, Mount] = {}
    """Mount path -> whose files stand there."""
    shell: bool = False
    """`arguments` is one string for a shell (a script, shell-form CMD, compose command string)."""
    partial: str = ''
    """Why a missing argument or variable says nothing here ('a kustomize patch'), or ''."""
    form: str = 'yaml_item'
    """How words are added: the writer's name for this carrier's argument list."""
    syntax: str = 'kubernetes'
    """How variables are written in words: 'kubernetes' $(VAR), 'compose' ${VAR}, 'shell', 'systemd', 'none'."""
    nofile_hint: str = ''
    keys: Keys | None = None
    """How options are added where they are keys of a mapping, not words."""
    settle: Callable[[Any, Any], Any] | None = None
    """(process, stores) -> process: reads it again once env files and drop-ins of the run are known."""


class Data(NamedTuple):
    """Named text in the run: a ConfigMap's or Secret's keys, an env file's variables."""

    kind: str
    scope: str
    name: str
    values: Mapping[str, Word]
    partial: str = ''


class Nested(NamedTuple):
    """A file inside a string: a ConfigMap key, a script, cloud-init content; read as a document of its own."""

    name: str
    """The file's name, from which its format is told."""
    word: Word
    owner: Component | None = None


class Reading(NamedTuple):
    """What one document yields before anything is linked."""

    components: list[Component]
    processes: list[Process]
    data: list[Data]
    nested: list[Nested]

    def add(self, other: 'Reading') -> None:
        """Take in what another document yielded."""
        self.components.extend(other.components)
        self.processes.extend(other.processes)
        self.data.extend(other.data)
        self.nested.extend(other.nested)


def nothing() -> Reading:
    """An empty Reading."""
    return Reading([], [], [], [])
