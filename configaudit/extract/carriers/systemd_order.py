"""Which files make up a unit: where it lies, what hides it, in which order its drop-ins are read.

Source: systemd.unit(5): /etc goes before /run, /usr/local/lib and /usr/lib; a file hides those of its name in later folders. Drop-ins
are read by name, whatever folder they are in; of one name the unit's own goes before that of all services (service.d).
systemd-system.conf(5): the same for system.conf.d, behind system.conf.
"""

from collections.abc import Iterable

from configaudit.extract.process import Data
from configaudit.patterns import regex
from configaudit.places import Document

_HOST = regex(r'(?P<root>|.*?/)(?P<folder>etc|run|usr/local/lib|usr/lib|lib)/systemd/')
_RANKS = {'etc': 0, 'run': 1, 'usr/local/lib': 2, 'usr/lib': 3, 'lib': 3}
EVERY_SERVICE = 'service'
"""What the drop-ins of service.d are for."""


def root_of(document: Document, folder: str) -> str:
    """The host that a file belongs to: the path around /etc, or the folder given; for a file in a string the object around it."""
    match = _HOST.match(document.called)
    root = match['root'] if match else folder
    if document.outer is None:
        return root
    outer = document.outer.document
    return f'{document.path}#{outer.base}:{root}'


def rank(path: str) -> int:
    """The place of a file's folder in the order: the lowest hides the others."""
    match = _HOST.match(path)
    return _RANKS[match['folder']] if match else 0


def in_order(found: Iterable[Data]) -> list[Data]:
    """The drop-ins that are read, in their order. `scope` of each is its path."""
    chosen: dict[str, tuple[bool, int, str]] = {}
    kept: dict[str, Data] = {}
    for data in found:
        folder, _, name = data.scope.rpartition('/')
        key = folder.endswith('/service.d'), rank(data.scope), data.scope
        if name not in chosen or key < chosen[name]:
            chosen[name], kept[name] = key, data
    return [kept[name] for name in sorted(kept)]


def manager_order(found: Iterable[Data]) -> list[Data]:
    """The files of the manager's defaults that are read, in their order: the main one, then its drop-ins."""
    every = list(found)
    drop_ins = [data for data in every if data.scope.rpartition('/')[0].endswith('.d')]
    main = [data for data in every if data not in drop_ins]
    return [*sorted(main, key=lambda data: (rank(data.scope), data.scope))[:1], *in_order(drop_ins)]


def is_hidden(path: str, others: Iterable[str]) -> bool:
    """Whether a unit of the same host and name lies in an earlier folder."""
    return any(rank(other) < rank(path) for other in others)
