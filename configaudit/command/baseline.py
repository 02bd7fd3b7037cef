"""`configaudit baseline`: write down what is found today, so that `check --baseline` reports what is new."""

import os
from collections.abc import Iterable
from typing import Any

import click

from configaudit import baseline
from configaudit.command.declare import options
from configaudit.command.options import JUDGING, READING, config_of
from configaudit.command.streams import say
from configaudit.command.verdict import Limits, audited, status
from configaudit.errors import UsageError
from configaudit.report.wording import plural

_FILE = click.option('-o', '--output', default=baseline.DEFAULT, show_default=True, metavar='FILE', help='The baseline file.')
_EMPTY = click.option('--allow-empty', is_flag=True, help='Exit 0 instead of 4 when there is nothing to audit.')


@click.group(no_args_is_help=False, short_help='Accept the findings of today, so that only new ones count.')
def command() -> None:
    """Accept the findings of today, so that only new ones count.

    A baseline holds fingerprints with counts, not places: moving a file changes nothing, a second copy of a mistake is new.
    Commit the file, and write a `reason` beside what is meant to stay.

    \b
    configaudit baseline create deploy/
    configaudit check deploy/ --baseline .configaudit-baseline.json
    """


@command.command(short_help='Write a new baseline.')
@click.argument('paths', nargs=-1, metavar='[PATH]...')
@options((_FILE, _EMPTY), JUDGING, READING)
def create(paths: tuple[str, ...], **given: Any) -> int:
    """Audit and write every finding to a new baseline file."""
    if os.path.exists(given['output']):
        raise UsageError(f'{given["output"]} exists: `configaudit baseline update` renews it and keeps the reasons in it')
    return _write(paths, given, ())


@command.command(short_help='Renew a baseline and keep its reasons.')
@click.argument('paths', nargs=-1, metavar='[PATH]...')
@options((_FILE, _EMPTY), JUDGING, READING)
def update(paths: tuple[str, ...], **given: Any) -> int:
    """Audit again: what is gone leaves the baseline, what is new joins it, reasons stay."""
    return _write(paths, given, baseline.read(given['output']))


def _write(paths: tuple[str, ...], given: dict[str, Any], old: Iterable[baseline.Entry]) -> int:
    result = audited(paths, config_of(given))
    old = list(old)
    entries = baseline.entries_of(result.findings, old)
    try:
        with open(given['output'], 'w', encoding='utf-8', newline='\n') as file:
            file.write(baseline.dump(entries))
    except OSError as error:
        raise UsageError(f'{given["output"]}: {error.strerror or error}') from None
    kept = {entry.fingerprint for entry in entries}
    gone = sum(entry.fingerprint not in kept for entry in old)
    total = sum(entry.times for entry in entries)
    say(f'{given["output"]}: {plural(total, "finding")}' + (f', {gone} gone' if gone else ''))
    return status(result, paths, Limits('never', allow_empty=given['allow_empty']))
