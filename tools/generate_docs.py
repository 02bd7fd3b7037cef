"""Writes what the docs take from the code: rule pages, the rule table, the configuration reference, the JSON Schema, examples.

The README's sample of the output and its count of rules are taken from the code too.

    python tools/generate_docs.py            write
    python tools/generate_docs.py --check    exit 1 when something is out of date
"""

import contextlib
import difflib
import io
import json
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from configaudit.audit import audit  # noqa: E402 - the checkout, not an installed copy
from configaudit.cli import run  # noqa: E402
from configaudit.command.rules import markdown as rule_table  # noqa: E402
from configaudit.config import Config  # noqa: E402
from configaudit.config_schema import ROOT as KEYS  # noqa: E402
from configaudit.config_schema import Key, Shape, json_schema  # noqa: E402
from configaudit.explain import markdown, page  # noqa: E402
from configaudit.registry import load  # noqa: E402
from configaudit.report import render  # noqa: E402
from configaudit.suppression_rules import RULES  # noqa: E402

DIFF_LINES = 40
"""An example is cut there: it has to show one change, not a manifest."""
_NAMES = {'texts': 'text or list of texts', 'boolean': 'true or false', 'duration': 'seconds or duration', 'any': 'as the option'}


def examples() -> dict[str, str]:
    """Rule id -> the change from `bad` to `good` of its first fixture, as a unified diff."""
    found = {}
    for folder in sorted(path for path in (ROOT / 'fixtures').iterdir() if path.is_dir()):
        pairs = sorted(path.parent for path in folder.glob('**/bad') if (path.parent / 'good').is_dir())
        text = _difference(pairs[0]) if pairs else ''
        if text:
            found[folder.name] = text
    return found


def _difference(case: Path) -> str:
    names = sorted({path.relative_to(case / side) for side in ('bad', 'good') for path in (case / side).rglob('*') if path.is_file()})
    lines: list[str] = []
    for name in names:
        old, new = (_lines(case / side / name) for side in ('bad', 'good'))
        lines.extend(difflib.unified_diff(old, new, f'bad/{name.as_posix()}', f'good/{name.as_posix()}', lineterm=''))
    if len(lines) > DIFF_LINES:
        lines = [*lines[:DIFF_LINES], '...']
    return '\n'.join(lines)


def _lines(path: Path) -> list[str]:
    return path.read_text('utf-8', 'replace').splitlines() if path.is_file() else []


def outputs() -> Iterator[tuple[str, str]]:
    """(path, text) of every generated file."""
    found = examples()
    rules = load().rules
    yield 'configaudit/knowledge/examples.json', json.dumps(found, indent=0, ensure_ascii=False, sort_keys=True) + '\n'
    for rule in (*rules, *RULES):
        yield f'docs/rules/{rule.id}.md', markdown(page(rule, found))
    yield 'docs/rules/README.md', f'# Rules\n\n{rule_table(list(rules))}\n## About suppressions\n\n{rule_table(list(RULES))}'
    yield 'docs/configaudit.schema.json', json.dumps(json_schema(), indent=2) + '\n'
    yield 'docs/configuration.md', (ROOT / 'tools' / 'configuration.md').read_text('utf-8').replace('<!-- keys -->', reference())
    yield 'README.md', drawn(readme(len(rules)))
    yield 'docs/graph.md', drawn((ROOT / 'docs' / 'graph.md').read_text('utf-8'))


def readme(count: int) -> str:
    """The README with the findings of its sample as they are printed today, and the count of rules."""
    printed = {_rule(block): block for block in sample().split('\n\n')}
    text = (ROOT / 'README.md').read_text('utf-8')
    text = re.sub(r'the \d+ rules', f'the {count} rules', text)
    before, shown, after = re.split(r'(?<=```text\n)(.*?)(?=\n```)', text, maxsplit=1, flags=re.DOTALL)
    blocks = [block if block == '...' else printed.get(_rule(block), '') for block in shown.split('\n\n')]
    return before + '\n\n'.join(filter(None, blocks)) + after


def drawn(text: str) -> str:
    """A page whose `<!-- configaudit graph ... -->` comments are followed by what the command prints today."""
    fence = re.compile(r'(<!-- configaudit (graph [^>]*?) -->\n```\w+\n)(.*?)(?=```)', re.DOTALL)
    return fence.sub(lambda match: match[1] + printed(match[2].split()), text)


def printed(words: list[str]) -> str:
    """What a command writes to standard output, run in the checkout."""
    here, out = os.getcwd(), io.StringIO()
    os.chdir(ROOT)
    try:
        with contextlib.redirect_stdout(out):
            run(words)
    finally:
        os.chdir(here)
    return out.getvalue()


def _rule(block: str) -> str:
    """The rule that a finding of the text report names; '' for what stands at its end."""
    match = re.match(r'\w+\[([\w-]+)\]', block)
    return match[1] if match else ''


def sample() -> str:
    """The report on the shipped example, as `configaudit check examples` prints it."""
    here = os.getcwd()
    os.chdir(ROOT)
    try:
        return render('text', audit(['examples'], Config())).rstrip('\n')
    finally:
        os.chdir(here)


def reference() -> str:
    """The table of configuration keys."""
    rows = [f'| `{name}` | {_kind(key.shape)} | {key.doc} |' for name, key in _keys(KEYS, '')]
    return '\n'.join(['| Key | Value | Meaning |', '| --- | --- | --- |', *rows])


def _keys(shape: Shape, prefix: str) -> Iterator[tuple[str, Key]]:
    for key in shape.keys:
        yield prefix + key.name, key
        inner = key.shape.of if key.shape.kind == 'list' else key.shape
        if inner is not None and inner.kind == 'map':
            yield from _keys(inner, f'{prefix}{key.name}{"[]" if key.shape.kind == "list" else ""}.')


def _kind(shape: Shape) -> str:
    if shape.kind == 'choice':
        return ', '.join(f'`{choice}`' for choice in shape.choices)
    if shape.kind in ('table', 'list', 'either') and shape.of is not None:
        inner = 'mapping' if shape.of.kind == 'map' else _kind(shape.of)
        return {'table': f'name: {inner}', 'list': 'list of mappings', 'either': f'text, or {inner}'}[shape.kind]
    return 'mapping' if shape.kind == 'map' else _NAMES.get(shape.kind, shape.kind)


def stale() -> list[str]:
    """Paths of generated files that are missing, out of date, or left from a rule that is gone."""
    wanted = dict(outputs())
    wrong = [path for path, text in wanted.items() if not (ROOT / path).is_file() or (ROOT / path).read_text('utf-8') != text]
    pages = {path.relative_to(ROOT).as_posix() for path in (ROOT / 'docs' / 'rules').glob('*.md')}
    return sorted({*wrong, *(pages - wanted.keys())})


def write() -> None:
    """Bring every generated file up to date."""
    wanted = dict(outputs())
    for path in stale():
        if path not in wanted:
            (ROOT / path).unlink()
            continue
        (ROOT / path).parent.mkdir(parents=True, exist_ok=True)
        (ROOT / path).write_text(wanted[path], 'utf-8')
        print(path)


if __name__ == '__main__':
    if '--check' in sys.argv:
        wrong = stale()
        print('\n'.join(wrong) or 'the docs are current')
        sys.exit(1 if wrong else 0)
    write()
