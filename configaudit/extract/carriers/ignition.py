"""Machines that are set up at their first boot: Ignition, and the Butane that is written for it.

Files and units become nested documents under the path that they get on the host.
Sources: Ignition configuration specification 3.5 (2.x has the same shape); Butane specifications fcos 1.6, openshift 4.18.
"""

from collections.abc import Iterator
from typing import Any

from configaudit.extract.embedded import from_url
from configaudit.extract.process import Nested, Reading, nothing
from configaudit.extract.services.boot import boot_parameters
from configaudit.extract.words import Word, word_of
from configaudit.parse.tree import Map, Scalar, get, items, maps, text
from configaudit.places import Document

_UNITS = '/etc/systemd/system'


def read_tree(document: Document, root: Map, partial: str) -> Reading:
    """A configuration of Ignition or Butane, or one file or unit of it."""
    if 'path' in root or 'name' in root:
        reading = nothing()
        _file(reading, document, root)
        _unit_files(reading, document, root)
        return reading
    return read_machine(document, root, document.called.rpartition('/')[2])


def read_machine(document: Document, root: Map, owner: str, *, node: bool | None = None) -> Reading:
    """The files, units and boot parameters of a configuration, which may be a part of another object."""
    reading = nothing()
    for file in maps(root, 'storage', 'files'):
        _file(reading, document, file)
    for unit in maps(root, 'systemd', 'units'):
        _unit_files(reading, document, unit)
    for keys in (('kernelArguments', 'shouldExist'), ('kernel_arguments', 'should_exist'), ('openshift', 'kernel_arguments')):
        reading.components.extend(boot_parameters(document, get(root, *keys), owner, node_of_cluster=node))
    return reading


def _file(reading: Reading, document: Document, file: Map) -> None:
    path = text(file, 'path')
    for word in _contents(document, file) if path else ():
        reading.nested.append(Nested(path or '', word))


def _unit_files(reading: Reading, document: Document, unit: Map) -> None:
    """A unit and its drop-ins."""
    name = text(unit, 'name') or ''
    _unit(reading, f'{_UNITS}/{name}', word_of(document, get(unit, 'contents')))
    for drop_in in (*maps(unit, 'dropins'), *maps(unit, 'dropin')):
        _unit(reading, f'{_UNITS}/{name}.d/{text(drop_in, "name") or ""}', word_of(document, get(drop_in, 'contents')))


def _unit(reading: Reading, path: str, word: Word | None) -> None:
    if word is not None:
        reading.nested.append(Nested(path, word))


def _contents(document: Document, file: Map) -> Iterator[Word]:
    """What a file is given: its contents and what is appended; files elsewhere (`local`, https) are not here."""
    for holder in (get(file, 'contents'), *items(file, 'append')):
        word = _content(document, holder)
        if word is not None:
            yield word


def _content(document: Document, holder: Any) -> Word | None:
    inline = get(holder, 'inline')
    if isinstance(inline, Scalar):
        return word_of(document, inline)
    return from_url(document, get(holder, 'source'), text(holder, 'compression') or '')
