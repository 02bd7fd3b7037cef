"""go.mod. Source: the Go modules reference. Directives stand alone on a line or in `verb ( ... )` blocks."""

import re

from configaudit.parse.entries import Edit, Entry, File, Problem, Word, replace
from configaudit.parse.lines import append_line, insert_below, lines
from configaudit.patterns import regex

__all__ = ['insert', 'read', 'replace']

TOKEN = regex(r'//[^\n]*|"[^"\n]*"?|`[^`\n]*`?|=>|[()]|(?:(?!//)[^ \t\r\n"`()\[\],])+')
# These name themselves; the others hold lists, whose section is the verb.
SINGLE = frozenset({'go', 'module', 'toolchain'})
VERBS = SINGLE | {'exclude', 'godebug', 'ignore', 'replace', 'require', 'retract', 'tool'}


def read(text: str) -> File:
    """Entries: ('', 'go', '1.22'), ('require', path, version), ('godebug', name, value), ('replace', old, new)."""
    entries: list[Entry] = []
    problems: list[Problem] = []
    block = ''
    for start, end in lines(text):
        words = [Word(token[0].strip('"`'), *_inner(token)) for token in TOKEN.finditer(text, start, end)]
        words = words[:-1] if words and words[-1].text.startswith('//') else words
        if block and [word.text for word in words] == [')']:
            block = ''
        elif words and not block and words[0].text not in VERBS:
            problems.append(Problem(words[0].start, words[-1].end, 'unknown directive'))
        elif not block and len(words) == 2 and words[1].text == '(':
            block = words[0].text
        elif block and words:
            entries.append(_entry(block, words))
        elif len(words) > 1 and words[0].text in SINGLE:
            verb, value = words[:2]
            entries.append(Entry('', verb.text, value.text, verb.start, verb.end, value.start, value.end))
        elif len(words) > 1:
            entries.append(_entry(words[0].text, words[1:]))
        elif words:
            problems.append(Problem(words[0].start, words[0].end, 'a value is missing'))
    if block:
        problems.append(Problem(len(text), len(text), f'the block {block} is not closed'))
    return File(tuple(entries), (), tuple(problems))


def _inner(token: re.Match[str]) -> tuple[int, int]:
    quoted = len(token[0]) > 1 and token[0][0] in '"`' and token[0][-1] == token[0][0]
    return token.start() + quoted, token.end() - quoted


def _entry(verb: str, words: list[Word]) -> Entry:
    """The first word is the key, what follows `=>`, `=` or the key is the value."""
    first, last = words[0], words[-1]
    texts = [word.text for word in words]
    if verb == 'godebug':
        name, _, value = first.text.partition('=')
        equals = first.start + len(name)
        return Entry(verb, name, value, first.start, equals, min(equals + 1, first.end), first.end)
    at = texts.index('=>') + 1 if '=>' in texts else 1
    start = words[at].start if at < len(words) else last.end
    return Entry(verb, first.text, ' '.join(texts[at:]), first.start, first.end, start, last.end)


def insert(text: str, line: str) -> Edit:
    """A directive such as `toolchain go1.25.0` below the go line, else at the end."""
    after = [entry.end for entry in read(text).entries if entry.key in ('go', 'toolchain') and not entry.section]
    return insert_below(text, after[-1], line) if after else append_line(text, line)
