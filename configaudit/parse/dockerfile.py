"""Dockerfiles. Source: the Dockerfile reference and BuildKit's parser (docker/dockerfile 1.x).

An instruction is joined over its continuations; `segments` lead from offsets in `value` to the document.
"""

import json
import re
from typing import NamedTuple

from configaudit.parse.dockerwords import Scope, assignments, exec_words, expand, lookup, plain_words
from configaudit.parse.entries import Edit, Entry, Problem, Word
from configaudit.parse.lines import BLANK, Span, lines, outer_offset, outer_span, quote_of, trim
from configaudit.patterns import regex
from configaudit.places import Segment
from configaudit.units import HOLE

NAMES = frozenset(
    {'ADD', 'ARG', 'CMD', 'COPY', 'ENTRYPOINT', 'ENV', 'EXPOSE', 'FROM', 'HEALTHCHECK', 'LABEL', 'MAINTAINER'}
    | {'ONBUILD', 'RUN', 'SHELL', 'STOPSIGNAL', 'USER', 'VOLUME', 'WORKDIR'}
)
PAIRED = frozenset({'ARG', 'ENV', 'LABEL'})
SHELL = frozenset({'CMD', 'ENTRYPOINT', 'HEALTHCHECK', 'MAINTAINER', 'ONBUILD', 'RUN', 'SHELL'})
EXEC = frozenset({'ADD', 'CMD', 'COPY', 'ENTRYPOINT', 'HEALTHCHECK', 'RUN', 'SHELL', 'VOLUME'})
FLAGGED = frozenset({'ADD', 'COPY', 'FROM', 'HEALTHCHECK', 'RUN'})
DIRECTIVE = regex(r'[ \t]*#[ \t]*([A-Za-z]+)[ \t]*=[ \t]*([^ \t\r\n]*)')
KEYWORD = regex(r'[ \t]*([A-Za-z]+)(?:[ \t]+|$)')
FLAG = regex(r'(--[a-z][a-z-]*(?:=[^ \t]*)?)(?:[ \t]+|$)')
HEREDOC = regex(
    r'"[^"\\]*(?:\\.[^"\\]*)*"|\'[^\']*\'|\\.|<<<|<<(-?)(["\']?)([A-Za-z_][A-Za-z0-9_.]*)\2(?=[ \t;&|>)]|$)', re.DOTALL
)


class Heredoc(NamedTuple):
    """The lines of a here-document, without the line that ends it."""

    name: str
    text: str
    start: int
    end: int


class Instruction(NamedTuple):
    """`form` is exec (`words` are the JSON strings), shell (`value` is a script), pairs or words.

    `value` comes after the flags (and after CMD in HEALTHCHECK); `pairs` are the assignments of ENV, ARG, LABEL.
    Variables are replaced in words and pairs, but not in scripts and exec forms. `stage` is -1 before the first FROM.
    """

    name: str
    start: int
    end: int
    value: str
    value_start: int
    form: str
    words: tuple[Word, ...]
    pairs: tuple[Entry, ...]
    flags: tuple[Word, ...]
    segments: tuple[Segment, ...]
    heredocs: tuple[Heredoc, ...]
    stage: int


class Stage(NamedTuple):
    """One FROM and what follows; `base` is the index of the stage it builds on, None for an image."""

    name: str
    image: str
    platform: str
    base: int | None
    instructions: tuple[Instruction, ...]


class Dockerfile(NamedTuple):
    instructions: tuple[Instruction, ...]
    stages: tuple[Stage, ...]
    problems: tuple[Problem, ...]


class _Line(NamedTuple):
    """A joined line and the index of the row after it."""

    text: str
    segments: tuple[Segment, ...]
    end: int
    row: int


def read(text: str) -> Dockerfile:
    """Instructions, stages and problems; an unset variable is a HOLE where no default is given."""
    rows = list(lines(text))
    escape = _escape(text, rows)
    stages: list[Stage] = []
    scopes = [Scope({}, {}, None)]
    names: dict[str, int] = {}
    instructions: list[Instruction] = []
    problems: list[Problem] = []
    row = 0
    while (line := _joined(text, rows, row, escape)) is not None:
        row = line.row
        keyword = KEYWORD.match(line.text)
        if keyword is None or keyword[1].upper() not in NAMES:
            problems.append(Problem(line.segments[0].outer, line.end, 'unknown instruction'))
            continue
        made = _instruction(line, keyword, escape, scopes[0] if keyword[1].upper() == 'FROM' else scopes[-1])
        if made.name in ('ADD', 'COPY', 'RUN') and '<<' in made.value:
            heredocs, row, unclosed = _heredocs(text, rows, row, made.value)
            problems += unclosed
            made = made._replace(heredocs=heredocs, end=rows[row - 1].end)
        if made.name == 'FROM':
            stages.append(_stage(made, names, scopes[0]))
            if stages[-1].name:
                names[stages[-1].name] = len(stages) - 1
            base = stages[-1].base
            scopes.append(Scope({}, {}, None if base is None else scopes[base + 1]))
        _declare(made, scopes)
        instructions.append(made._replace(stage=len(stages) - 1))
    return Dockerfile(tuple(instructions), _filled(stages, instructions), tuple(problems))


def environment(dockerfile: Dockerfile, stage: int) -> dict[str, Entry]:
    """The ENV of a stage, those of the stages it builds on included."""
    found: dict[str, Entry] = {}
    index: int | None = stage
    while index is not None:
        own = dockerfile.stages[index]
        pairs = [pair for made in own.instructions if made.name == 'ENV' for pair in made.pairs]
        found = {pair.key: pair for pair in pairs} | found
        index = own.base
    return found


def _escape(text: str, rows: list[Span]) -> str:
    """The character of the `# escape=` directive; directives stand before everything else."""
    for start, end in rows:
        directive = DIRECTIVE.match(text, start, end)
        if not directive:
            break
        if directive[1].lower() == 'escape' and directive[2] in ('\\', '`'):
            return directive[2]
    return '\\'


def _joined(text: str, rows: list[Span], row: int, escape: str) -> _Line | None:
    """The next instruction over its continuations; blank and comment lines between them are left out."""
    parts: list[str] = []
    segments: list[Segment] = []
    inner = reached = 0
    continued = True
    while continued and row < len(rows):
        start, end = rows[row]
        row += 1
        first, last = trim(text, start, end)
        if first == last or text[first] == '#':
            continue
        # A doubled escape character at the end does not continue the line.
        continued = text[last - 1] == escape and (last - 1 == start or text[last - 2] != escape)
        part = text[start : last - 1 if continued else last]
        parts.append(part)
        segments.append(Segment(inner, start, len(part)))
        inner += len(part)
        reached = end
    return _Line(''.join(parts), tuple(segments), reached, row) if parts else None


def _instruction(line: _Line, keyword: re.Match[str], escape: str, scope: Scope) -> Instruction:
    name, at = keyword[1].upper(), keyword.end()
    flags: list[Word] = []
    while name in FLAGGED and (flag := FLAG.match(line.text, at)):
        flags.append(Word(flag[1], *outer_span(line.segments, *flag.span(1))))
        at = flag.end()
    command = KEYWORD.match(line.text, at) if name == 'HEALTHCHECK' else None
    if command and command[1].upper() == 'CMD':
        at = command.end()
    value, segments = line.text[at:].rstrip(BLANK), _from(line.segments, at)
    start = outer_offset(line.segments, keyword.start(1))
    words, form = exec_words(value, segments) if name in EXEC else None, 'exec'
    pairs: list[Entry] = []

    def find(variable: str) -> str | None:
        return lookup(scope, variable)

    if words is None:
        words, form = [], 'shell'
        if name in PAIRED:
            pairs, form = assignments(name, value, segments, find, escape), 'pairs'
        elif name not in SHELL:
            words, form = plain_words(value, segments, find, escape), 'words'
    value_start = outer_offset(segments, 0)
    return Instruction(
        name, start, line.end, value, value_start, form, tuple(words), tuple(pairs), tuple(flags), segments, (), -1
    )


def _from(segments: tuple[Segment, ...], at: int) -> tuple[Segment, ...]:
    """The segments of the text from `at` on."""
    rest = [segment for segment in segments if segment.inner + segment.length > at] or [segments[-1]]
    cut = max(at - rest[0].inner, 0)
    first = Segment(0, rest[0].outer + cut, rest[0].length - cut)
    return (first, *(Segment(inner - at, outer, length) for inner, outer, length in rest[1:]))


def _heredocs(text: str, rows: list[Span], row: int, value: str) -> tuple[tuple[Heredoc, ...], int, list[Problem]]:
    """The here-documents that `value` opens, from `row` on, and the row after them."""
    found: list[Heredoc] = []
    problems: list[Problem] = []
    for dash, _, name in (match.groups() for match in HEREDOC.finditer(value) if match[3]):
        begin = rows[row].start if row < len(rows) else len(text)
        while row < len(rows) and text[slice(*rows[row])].lstrip('\t' if dash else '') != name:
            row += 1
        end = rows[row].start if row < len(rows) else len(text)
        found.append(Heredoc(name, text[begin:end], begin, end))
        if row == len(rows):
            problems.append(Problem(begin, end, f'the here-document {name} is not closed'))
        row = min(row + 1, len(rows))
    return tuple(found), row, problems


def _stage(made: Instruction, names: dict[str, int], scope: Scope) -> Stage:
    words = [word.text for word in made.words]
    image = words[0] if words else HOLE
    name = words[2].lower() if len(words) > 2 and words[1].upper() == 'AS' else ''
    platforms = [flag.text.partition('=')[2] for flag in made.flags if flag.text.startswith('--platform=')]
    platform, _ = expand(platforms[-1] if platforms else '', 0, lambda variable: lookup(scope, variable))
    return Stage(name, image, platform, names.get(image.lower()), ())


def _declare(made: Instruction, scopes: list[Scope]) -> None:
    """Bring the ENV and ARG of an instruction into its scope; a bare ARG takes the value from before FROM."""
    for pair in made.pairs:
        if made.name == 'ENV':
            scopes[-1].env[pair.key] = pair.value
        elif made.name == 'ARG' and pair.start != pair.key_end:
            scopes[-1].args[pair.key] = pair.value
        elif made.name == 'ARG' and pair.key in scopes[0].args:
            scopes[-1].args[pair.key] = scopes[0].args[pair.key]


def _filled(stages: list[Stage], instructions: list[Instruction]) -> tuple[Stage, ...]:
    held: list[list[Instruction]] = [[] for _ in stages]
    for made in instructions:
        if made.stage >= 0:
            held[made.stage].append(made)
    return tuple(stage._replace(instructions=tuple(own)) for stage, own in zip(stages, held, strict=True))


def replace_word(word: Word, value: str) -> Edit:
    """A new string in an exec form."""
    return Edit(word.start, word.end, json.dumps(value, ensure_ascii=False)[1:-1])


def append_words(instruction: Instruction, values: list[str]) -> Edit:
    """More strings at the end of an exec form."""
    added = ', '.join(json.dumps(value, ensure_ascii=False) for value in values)
    if not instruction.words:
        return Edit(instruction.value_start + 1, instruction.value_start + 1, added)
    at = instruction.words[-1].end + 1
    return Edit(at, at, f', {added}')


def replace_shell(instruction: Instruction, start: int, end: int, text: str) -> Edit:
    """New text for `start`..`end` of a shell form's `value`."""
    return Edit(*outer_span(instruction.segments, start, end), text)


def replace_pair(text: str, pair: Entry, value: str) -> Edit:
    """A new value for an ENV, ARG or LABEL assignment `K=V`."""
    quoted = quote_of(text, pair.start, pair.end) or not re.search(r'[ \t"\'\\]', value)
    return Edit(pair.start, pair.end, value if quoted else json.dumps(value, ensure_ascii=False))
