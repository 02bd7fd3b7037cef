"""Files that a configuration carries in encoded form: data URLs, base64 and gzip.

Sources: RFC 2397 (data URLs); Ignition specification 3.5, storage.files; cloud-init documentation, write_files.
"""

import base64
import binascii
import zlib
from collections.abc import Callable
from typing import Any
from urllib.parse import unquote_to_bytes

from configaudit.extract.words import Word, word_of
from configaudit.parse.tree import Scalar, place_of
from configaudit.patterns import regex
from configaudit.places import Document

MAX_SIZE = 1 << 20
"""Bytes of an unpacked file; a longer one is left unread."""
_GZIP = 31
"""zlib's number for a gzip header and the largest window."""
_URL = regex(r'data:(?P<type>[^,]*),(?P<data>.*)\Z')


def from_url(document: Document, node: Any, compression: str = '') -> Word | None:
    """The text that a data URL holds; None for every other URL, and for what is no text."""
    found = _URL.match(node.value) if isinstance(node, Scalar) else None
    if found is None:
        return None
    packed = unquote_to_bytes(found['data'])
    kinds = found['type'].split(';')
    return _text(document, node, packed, ('base64' if 'base64' in kinds[1:] else '', compression), 'it is a data URL')


def unpacked(document: Document, node: Any, encoding: str) -> Word | None:
    """The text of a scalar in one of cloud-init's encodings: b64, gz+b64, gz, or none. None where it does not unpack."""
    word = word_of(document, node)
    if word is None or encoding in ('', 'text/plain', 'text'):
        return word
    steps = ['base64' if step in ('b64', 'base64') else 'gzip' if step in ('gz', 'gzip') else step for step in encoding.split('+')]
    return _text(document, node, word.value.encode('latin-1', 'replace'), tuple(reversed(steps)), f'it is {" of ".join(reversed(steps))}')


def _text(document: Document, node: Any, data: bytes, steps: tuple[str, ...], locked: str) -> Word | None:
    """Undo the steps in order. The word's place is the whole scalar, which no fix may write."""
    try:
        for step in steps:
            data = _STEPS[step](data)
        text = data.decode()
    except (KeyError, ValueError, binascii.Error, zlib.error):
        return None
    return Word(text, place_of(document, node), False, locked=locked) if len(text) <= MAX_SIZE else None


def _gunzip(data: bytes) -> bytes:
    """Never more than one byte over the limit: a small file may hold a huge one. ValueError for a stream that is cut off."""
    stream = zlib.decompressobj(_GZIP)
    text = stream.decompress(data, MAX_SIZE + 1)
    if not stream.eof and len(text) <= MAX_SIZE:
        raise ValueError('the stream ends early')
    return text


_STEPS: dict[str, Callable[[bytes], bytes]] = {
    '': bytes, 'none': bytes, 'gzip': _gunzip,
    'base64': lambda data: base64.b64decode(b''.join(data.split()), validate=True),
}  # fmt: skip
