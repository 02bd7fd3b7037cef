"""A unified diff of changed files, without the credentials in them and with nothing that a terminal would obey."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from configaudit.patterns import regex
from configaudit.redact import LONGEST, MASK, line_spans, mask
from configaudit.report.escape import UNSAFE, shown, visible

_SECRET_OBJECT = regex(r'kind:\s*["\']?Secret["\']?\s*$')
_DOCUMENT = regex(r'---(\s|$)')
_NEAR = 40
"""Lines around a line that may say that it holds a credential."""


class Patch(NamedTuple):
    """A diff, and whether it is the files' own text: otherwise it shows the change and cannot be applied."""

    text: str
    exact: bool


def patch(old: Mapping[str, bytes], new: Mapping[str, bytes]) -> Patch:
    """The diff between old and new contents by path."""
    lines: list[str] = []
    exact = True
    for path in sorted(new):
        before, after = _Text.of(old[path]), _Text.of(new[path])
        lines += _diff(path, before.lines, after.lines)
        exact = exact and before.exact and after.exact
    return Patch(''.join(lines), exact)


class _Text(NamedTuple):
    lines: list[str]
    exact: bool

    @classmethod
    def of(cls, data: bytes) -> '_Text':
        """A file's lines as they may be shown."""
        raw = re.findall(r'[^\n]*\n|[^\n]+', data.decode('utf-8', 'replace'))
        lines = list(_harmless(raw))
        return cls(lines, lines == raw)


def _harmless(raw: list[str]) -> Iterator[str]:
    bare = [line.rstrip('\r\n') for line in raw]
    secret = list(_in_secrets(bare))
    for at, line in enumerate(bare):
        end = raw[at][len(line) :]
        if len(line) > LONGEST:
            yield MASK + end
            continue
        spans = line_spans(line, bare[max(0, at - _NEAR) : at], bare[at + 1 : at + _NEAR], secret=secret[at])
        yield UNSAFE.sub(lambda match: match[0] if match[0] == '\t' else shown(match[0]), mask(line, spans)) + end


def _in_secrets(lines: Iterable[str]) -> Iterator[bool]:
    """For every line: whether its YAML document is a Kubernetes Secret."""
    held: list[str] = []
    for line in (*lines, None):
        if line is None or _DOCUMENT.match(line):
            yield from [any(map(_SECRET_OBJECT.match, held))] * len(held)
            held = []
        if line is not None:
            held.append(line)


def _diff(path: str, before: list[str], after: list[str]) -> Iterator[str]:
    from difflib import unified_diff

    name = visible(path.removeprefix('/'))
    name += '\t' if ' ' in name else ''  # patch takes a bare name to end at its first space
    for line in unified_diff(before, after, f'a/{name}', f'b/{name}'):
        yield line if line.endswith('\n') else line + '\n\\ No newline at end of file\n'
