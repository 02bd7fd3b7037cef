"""A rule as a page: what it says, why, when it is wrong, what it costs, an example. For the terminal and for the docs."""

import json
import os
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from configaudit.model import Rule
from configaudit.patterns import regex

EXAMPLES = os.path.join(os.path.dirname(__file__), 'knowledge', 'examples.json')
_HEADING = regex(r'(Why|When it is wrong|Evidence|Side effect|Effect|Condition):[ \n]*')


class Page(NamedTuple):
    """A rule's page, in the order it is read."""

    rule: Rule
    summary: str
    sections: tuple[tuple[str, str], ...]
    """(heading, text), Why, Effect, Side effect, When it is wrong and Evidence, in this order; only Effect and When it is wrong may be missing."""
    condition: str
    options: tuple[tuple[str, str], ...]
    """(name, default)."""
    example: str
    """A unified diff, or ''."""


def page(rule: Rule, examples: Mapping[str, str] | None = None) -> Page:
    """The page of a rule."""
    summary, parts = _parts(rule.doc)
    if rule.effect:
        parts['Effect'] = _joined(rule.effect, parts.get('Effect', ''))
    if rule.side_effect:
        parts['Side effect'] = _joined(rule.side_effect, parts.get('Side effect', ''))
    parts.setdefault('Why', summary)
    parts.setdefault('Side effect', 'None is known.')
    parts['Evidence'] = _joined(parts.get('Evidence', ''), f'Source: {rule.source}.')
    order = ('Why', 'Effect', 'Side effect', 'When it is wrong', 'Evidence')
    options = tuple((name, _default(value)) for name, value in rule.options.items())
    found = read_examples() if examples is None else examples
    return Page(
        rule, summary, tuple((name, parts[name]) for name in order if parts.get(name)),
        _joined(_condition(rule), parts.get('Condition', '')), options, found.get(rule.id, ''),
    )  # fmt: skip


def read_examples() -> dict[str, str]:
    """Rule id -> what its fix changes in an example, as a unified diff (`tools/generate_docs.py` writes the file)."""
    try:
        with open(EXAMPLES, encoding='utf-8') as file:
            held: dict[str, str] = json.load(file)
            return held
    except OSError:
        return {}


def _parts(doc: str) -> tuple[str, dict[str, str]]:
    """(first sentence, heading -> text) of a docstring; paragraphs without a heading are the Why."""
    paragraphs = [' '.join(block.split()) for block in re.split(r'\n\s*\n', doc.strip())]
    parts: dict[str, str] = {}
    for paragraph in paragraphs[1:]:
        match = _HEADING.match(paragraph)
        heading = match[1] if match else 'Why'
        text = paragraph[match.end() :] if match else paragraph
        parts[heading] = f'{parts[heading]}\n\n{text}' if heading in parts else text
    return paragraphs[0], parts


def _joined(one: str, other: str) -> str:
    return '\n\n'.join(filter(None, (one, other)))


def _default(value: object) -> str:
    return ', '.join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)


def _condition(rule: Rule) -> str:
    on = ' or '.join(rule.on)
    versions = f', versions {rule.versions}' if rule.versions else ''
    profiles = f', with --profile {" or ".join(rule.profiles)}' if rule.profiles else ''
    return f'Every component of kind {on}{versions}{profiles}.'


def facts(rule: Rule) -> str:
    """Severity, confidence and checklist items in one line."""
    listed = f' · checklist {", ".join(rule.checklist)}' if rule.checklist else ''
    return f'{rule.severity} · confidence {rule.confidence}{listed}'


def _is_why(shown: Page) -> bool:
    """Whether the summary says the whole why."""
    return ('Why', shown.summary) in shown.sections


def text(shown: Page) -> str:
    """The page for a terminal."""
    rule = shown.rule
    lines = [rule.id, facts(rule)]
    if not _is_why(shown):
        lines += ['', *_wrapped(shown.summary, '')]
    for heading, body in (*shown.sections, ('Applies to', shown.condition)):
        lines += ['', heading, *_wrapped(body, '  ')]
    if shown.options:
        lines += ['', 'Options', *(f'  {name}: {default}' for name, default in shown.options)]
    if shown.example:
        lines += ['', 'Example', *(f'  {line}' for line in shown.example.splitlines())]
    lines += ['', 'Suppress', f'  # configaudit: ignore[{rule.id}] reason']
    return '\n'.join(line.rstrip() for line in lines) + '\n'


def _wrapped(body: str, indent: str) -> Iterator[str]:
    import textwrap

    for number, paragraph in enumerate(body.split('\n\n')):
        if number:
            yield ''
        yield from textwrap.wrap(paragraph, 100, initial_indent=indent, subsequent_indent=indent, break_long_words=False)


def markdown(shown: Page) -> str:
    """The page for the docs."""
    rule = shown.rule
    parts = [f'# {rule.id}', f'*{facts(rule)}*', *([] if _is_why(shown) else [shown.summary])]
    for heading, body in (*shown.sections, ('Applies to', shown.condition)):
        parts += [f'## {heading}', body]
    if shown.options:
        rows = [f'| `{name}` | `{default}` |' for name, default in shown.options]
        lines = '\n'.join(['rules:', f'  {rule.id}:', *(f'    {name}: {default}' for name, default in shown.options)])
        parts += ['## Options', '\n'.join(['| Option | Default |', '| --- | --- |', *rows]), f'```yaml\n{lines}\n```']
    if shown.example:
        parts += ['## Example', f'```diff\n{shown.example.rstrip()}\n```']
    parts += ['## Suppress', f'```yaml\n# configaudit: ignore[{rule.id}] reason\n```']
    if rule.aliases:
        parts.append(f'Former names: {", ".join(rule.aliases)}.')
    return '\n\n'.join(parts) + '\n'
