"""Step over what separates shell commands: blanks, comments, line ends and here-documents."""

from __future__ import annotations

import re

from configaudit.parse.shell_words import Reader
from configaudit.patterns import regex

NEW_LINE = '\n'
CLOSERS = frozenset({'then', 'elif', 'else', 'fi', 'do', 'done', 'esac', '}', ')', ';;'})
SEPARATORS = regex(r'(?:[ \t\r]|\\\r?\n|;(?![;&])|&(?![>&]))+')
_AHEAD = regex(r'[()]|;;|[^ \t\r\n\'"\\$`;&|<>()]+(?=[ \t\r\n;&|<>()]|\Z)')


def ahead(reader: Reader) -> str:
    """Return the unquoted word or closing mark at the cursor, else ''."""
    if reader.text.startswith(';&', reader.pos, reader.limit):
        return ';;'
    match = _AHEAD.match(reader.text, reader.pos, reader.limit)
    return match.group() if match else ''


def take(reader: Reader, word: str) -> bool:
    """Step over `word` when it stands at the cursor."""
    if ahead(reader) != word:
        return False
    reader.pos += len(word)
    return True


def skip(reader: Reader, separators: re.Pattern[str] | None = None) -> None:
    """Skip blanks, comments and line ends with the here-documents that begin there."""
    while reader.pos < reader.limit:
        before = reader.pos
        match = separators.match(reader.text, before, reader.limit) if separators else None
        if match:
            reader.pos = match.end()
        else:
            reader.blanks()
        if reader.at('#'):
            _skip_comment(reader)
        if reader.at(NEW_LINE):
            reader.pos += 1
            _skip_heredocs(reader)
        if reader.pos == before:
            return


def _skip_comment(reader: Reader) -> None:
    end = reader.text.find(NEW_LINE, reader.pos, reader.limit)
    reader.pos = reader.limit if end < 0 else end


def _skip_heredocs(reader: Reader) -> None:
    for delimiter, strips_tabs in reader.heredocs:
        while reader.pos < reader.limit:
            end = reader.text.find(NEW_LINE, reader.pos, reader.limit)
            end = reader.limit if end < 0 else end
            line = reader.text[reader.pos : end].rstrip('\r')
            reader.pos = min(end + 1, reader.limit)
            if (line.lstrip('\t') if strips_tabs else line) == delimiter:
                break
    reader.heredocs.clear()
