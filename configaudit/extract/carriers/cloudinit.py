"""cloud-init user data (`#cloud-config`): the files it writes and the commands it runs, read as what they are.

Source: cloud-init documentation, modules write_files, runcmd and bootcmd.
"""

from configaudit.extract.embedded import unpacked
from configaudit.extract.process import Nested, Reading, nothing
from configaudit.extract.services.host_commands import sysctl_command
from configaudit.extract.services.sysctl import is_node
from configaudit.extract.words import word_of
from configaudit.parse.tree import Map, Seq, get, items, maps, text
from configaudit.places import Document


def read_tree(document: Document, root: Map, partial: str) -> Reading:
    """Files become nested documents under their own path; commands that tune the host become components."""
    reading = nothing()
    for entry in maps(root, 'write_files'):
        path, encoding = text(entry, 'path'), (text(entry, 'encoding') or '').lower()
        content = unpacked(document, get(entry, 'content'), encoding)
        if path and content is not None:
            reading.nested.append(Nested(path, content))
    for section in ('bootcmd', 'runcmd'):
        for command in items(root, section):
            _command(document, command, section, reading)
    return reading


def _command(document: Document, command: object, section: str, reading: Reading) -> None:
    """A list is executed as it is, a string is a script for sh."""
    if isinstance(command, Seq):
        argv = tuple(word for item in command if (word := word_of(document, item)) is not None)
        reading.components.extend(sysctl_command(argv, section, is_node(document)))
        if len(argv) == 3 and argv[1].value == '-c':
            reading.nested.append(Nested(f'{section}.sh', argv[2]))
    else:
        script = word_of(document, command)
        if script is not None:
            reading.nested.append(Nested(f'{section}.sh', script))
