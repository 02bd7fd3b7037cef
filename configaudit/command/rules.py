"""`configaudit rules`: every rule there is."""

import json
from typing import Any

import click

from configaudit.command.options import words
from configaudit.command.streams import emit
from configaudit.config_check import hint
from configaudit.errors import UsageError
from configaudit.explain import page
from configaudit.model import Rule
from configaudit.registry import load
from configaudit.selection import any_matches, matches


@click.command(short_help='List the rules.')
@click.option('-f', '--format', 'form', type=click.Choice(['table', 'json', 'markdown']), default='table', show_default=True)
@click.option('--select', multiple=True, metavar='RULES', help='Only these: ids, `vllm-*`, `vllm`, `july-1`, `error`; comma-separated, repeatable.')
@click.option('--rules', 'files', multiple=True, metavar='PATH', help='Python files or folders with more rules. Repeatable.')
@click.option('--plugin', 'plugins', multiple=True, metavar='NAME', help='An installed plugin with more rules. Repeatable.')
def command(form: str, select: tuple[str, ...], files: tuple[str, ...], plugins: tuple[str, ...]) -> int:
    """List the rules, as a table, as JSON or as Markdown. `configaudit explain RULE` tells more."""
    registry = load(None, plugins, files)
    wanted = words(select)
    for name in wanted:
        if not any(matches(name, rule) for rule in registry.rules):
            raise UsageError(f'no rule is called {name!r}{hint(name, registry)}')
    rules = [rule for rule in registry.rules if not wanted or any_matches(wanted, rule)]
    emit({'table': _table, 'json': _json, 'markdown': markdown}[form](rules))
    return 0


def _table(rules: list[Rule]) -> str:
    wide = max((len(rule.id) for rule in rules), default=0)
    rows = [f'{rule.id:{wide}}  {rule.severity:7}  {",".join(rule.checklist):8}  {page(rule, {}).summary}'.rstrip() for rule in rules]
    return '\n'.join([*rows, f'{len(rules)} rules']) + '\n'


def markdown(rules: list[Rule]) -> str:
    """The rules as a Markdown table, each a link to its page beside it."""
    rows = [
        f'| [{rule.id}]({rule.id}.md) | {rule.severity} | {", ".join(rule.checklist)} | {page(rule, {}).summary.replace("|", chr(92) + "|")} |'
        for rule in rules
    ]
    return '\n'.join(['| Rule | Severity | Checklist | What hurts |', '| --- | --- | --- | --- |', *rows]) + '\n'


def _json(rules: list[Rule]) -> str:
    return json.dumps({'schema': 1, 'rules': [_row(rule) for rule in rules]}, indent=2, ensure_ascii=False) + '\n'


def _row(rule: Rule) -> dict[str, Any]:
    return {
        'id': rule.id, 'severity': rule.severity, 'confidence': rule.confidence, 'on': list(rule.on), 'versions': rule.versions,
        'profiles': list(rule.profiles), 'checklist': list(rule.checklist), 'summary': page(rule, {}).summary, 'effect': rule.effect,
        'side_effect': rule.side_effect, 'source': rule.source, 'options': dict(rule.options), 'aliases': list(rule.aliases),
        'docs': f'docs/rules/{rule.id}.md',
    }  # fmt: skip
