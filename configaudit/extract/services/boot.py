"""Parameters of the kernel's command line that a machine configuration adds. Sources: Linux admin-guide/kernel-parameters; GRUB manual, simple configuration."""

from collections.abc import Iterator
from typing import Any

from configaudit.extract.process import Reading, nothing
from configaudit.extract.services.sysctl import is_node
from configaudit.extract.words import Word, word_of
from configaudit.knowledge.boot_kinds import BOOT_PARAMETER
from configaudit.model import Component, Setting
from configaudit.parse.tree import Seq
from configaudit.patterns import regex
from configaudit.places import Document, Place

_GRUB = regex(r'''(?m)^GRUB_CMDLINE_LINUX(?:_DEFAULT)?=(?:"(?P<words>[^"\n]*)"|'(?P<more>[^'\n]*)')''')
_WORD = regex(r'[^\s"]+(?:"[^"]*"\S*)?')


def read(document: Document) -> Reading:
    """/etc/default/grub and files of grub.d: what is added to every entry of the boot menu."""
    owner, node = document.called.rpartition('/')[2], is_node(document)
    reading = nothing()
    for line in _GRUB.finditer(document.text):
        start = max(line.start('words'), line.start('more'))
        word = Word(line['words'] or line['more'] or '', Place(document, start, line.end() - 1))
        reading.components.extend(spelled_parameters(word, owner, node))
    return reading


def boot_parameters(document: Document, node: Any, owner: str, *, node_of_cluster: bool | None = None) -> Iterator[Component]:
    """One component for every parameter in a list, or in one string with blanks."""
    cluster = is_node(document) if node_of_cluster is None else node_of_cluster
    for item in node if isinstance(node, Seq) else (node,):
        word = word_of(document, item)
        if word is not None:
            yield from spelled_parameters(word, owner, cluster)


def spelled_parameters(word: Word, owner: str, node: bool) -> Iterator[Component]:
    """The parameters in one string."""
    for match in _WORD.finditer(word.value):
        name, _, value = match[0].partition('=')
        yield boot_parameter(name, value, word.place.part(*match.span()) if word.pure else word.place, owner, node, word.reason)


def boot_parameter(name: str, value: str, place: Place, owner: str, node: bool, reason: str = '') -> Component:
    """One parameter; `reason` says why its value is unknown, or ''."""
    settings = {
        'boot_parameters': Setting('boot_parameters', {name: value}, place, reason=reason),
        'is_node': Setting('is_node', node, place),
    }
    return Component(BOOT_PARAMETER, name, f'{owner}/boot/{name}', place, settings)
