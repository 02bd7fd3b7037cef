"""`configaudit explain RULE`: one rule in full."""

import click

from configaudit.command.streams import emit
from configaudit.config_check import hint
from configaudit.errors import UsageError
from configaudit.explain import markdown, page, text
from configaudit.registry import Registry, load
from configaudit.suppression_rules import RULES


@click.command(short_help='Say why a rule is there, and when it is wrong.')
@click.argument('rule')
@click.option('-f', '--format', 'form', type=click.Choice(['text', 'markdown']), default='text', show_default=True)
@click.option('--rules', 'files', multiple=True, metavar='PATH', help='Python files or folders with more rules. Repeatable.')
@click.option('--plugin', 'plugins', multiple=True, metavar='NAME', help='An installed plugin with more rules. Repeatable.')
def command(rule: str, form: str, files: tuple[str, ...], plugins: tuple[str, ...]) -> int:
    """Explain RULE: what hurts, why, the evidence, when the rule is wrong, its options, and an example of its fix."""
    every = load(None, plugins, files)
    found = Registry((*every.rules, *RULES)).by_id(rule)
    if found is None:
        raise UsageError(f'no rule is called {rule!r}{hint(rule, every)}')
    emit((markdown if form == 'markdown' else text)(page(found)))
    return 0
