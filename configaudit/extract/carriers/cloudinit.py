"""cloud-init user data (`#cloud-config`): the files it writes and the commands it runs, read as what they are.

Source: cloud-init documentation, modules write_files, runcmd and bootcmd.
"""

from configaudit.extract.process import Nested, Reading, nothing
from configaudit.extract.services.host_commands import sysctl_command, writes
from configaudit.extract.services.sysctl import is_node
from configaudit.extract.words import word_of
from configaudit.parse.tree import Map, Scalar, Seq, get, items, maps, text
from configaudit.places import Document

HEADER = '#cloud-config'


def read_tree(document: Document, root: Map, partial: str) -> Reading:
    """Files become nested documents under their own path; commands that tune the host become components."""
    reading = nothing()
    for entry in maps(root, 'write_files'):
        path, content = text(entry, 'path'), word_of(document, get(entry, 'content'))
        encoding = (text(entry, 'encoding') or 'text/plain').lower()
        if path and content is not None and encoding in ('text/plain', 'text'):
            reading.nested.append(Nested(path, content))
    for section in ('bootcmd', 'runcmd'):
        for command in items(root, section):
            _command(document, command, section, reading)
    return reading


def _command(document: Document, command: object, section: str, reading: Reading) -> None:
    """A list is executed as it is, a string is a line for sh."""
    node = is_node(document)
    if isinstance(command, Seq):
        argv = tuple(word for item in command if (word := word_of(document, item)) is not None)
        reading.components.extend(sysctl_command(argv, section, node))
        if len(argv) == 3 and argv[1].value == '-c':
            reading.nested.append(Nested('runcmd.sh', argv[2]))
            reading.components.extend(writes(argv[2], section, node))
    elif isinstance(command, Scalar):
        script = word_of(document, command)
        if script is not None:
            reading.nested.append(Nested('runcmd.sh', script))
            reading.components.extend(writes(script, section, node))
