"""Cloud user data in several parts (MIME): each part is read as what its type says.

Sources: cloud-init documentation, user-data formats; Amazon EKS nodeadm (application/node.eks.aws).
"""

import base64
import binascii
import re
from collections.abc import Iterator
from itertools import pairwise

from configaudit.extract.process import Nested, Reading, nothing
from configaudit.extract.words import Word
from configaudit.patterns import regex
from configaudit.places import Document, Place

_NAMES = {
    'text/cloud-config': 'user-data.yaml', 'text/jinja2': 'user-data.yaml', 'application/node.eks.aws': 'node-config.yaml',
    'text/x-shellscript': 'user-data.sh', 'text/x-shellscript-per-boot': 'user-data.sh', 'text/x-shellscript-per-instance': 'user-data.sh',
    'text/x-shellscript-per-once': 'user-data.sh', 'text/cloud-boothook': 'user-data.sh', 'text/plain': 'user-data',
}  # fmt: skip
"""Type of a part -> the name by which its format is told."""
_BOUNDARY = regex(r'(?im)^content-type:\s*multipart/[^\n]*?(?:\n[ \t][^\n]*?)?boundary="?([^"\s;]+)"?')
_HEAD = regex(r'(?:(?:[^\s:][^\n:]*:|[ \t]+\S)[^\n]*\n)*[ \t\r]*\n')
_TYPE = regex(r'(?im)^content-type:\s*([\w./+-]+)')
_ENCODED = regex(r'(?im)^content-transfer-encoding:\s*base64\s*$')


def read(document: Document) -> Reading:
    """The parts as nested documents."""
    reading = nothing()
    boundary = _BOUNDARY.search(document.text)
    for start, end in _parts(document.text, boundary[1]) if boundary else ():
        part = document.text[start:end]
        head = _HEAD.match(part)
        kind = _TYPE.search(head[0]) if head else None
        name = _NAMES.get(kind[1].lower() if kind else 'text/plain')
        if head is None or name is None:
            continue
        place = Place(document, start + head.end(), end)
        word = _decoded(place) if _ENCODED.search(head[0]) else Word(place.text, place)
        if word is not None:
            reading.nested.append(Nested(name, word))
    return reading


def _parts(text: str, boundary: str) -> Iterator[tuple[int, int]]:
    """What stands between the lines of a boundary."""
    ends = list(re.finditer(rf'(?m)^--{re.escape(boundary)}(?:--)?[ \t]*\r?\n?', text))
    for this, after in pairwise(ends):
        yield this.end(), after.start()


def _decoded(place: Place) -> Word | None:
    try:
        text = base64.b64decode(''.join(place.text.split()), validate=True).decode()
    except (binascii.Error, ValueError):
        return None
    return Word(text, place, False, locked='it is base64')
