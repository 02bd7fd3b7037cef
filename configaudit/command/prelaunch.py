"""`configaudit prelaunch`: the launch checklist, and a gate by exit status."""

from typing import Any

import click

from configaudit.command.declare import options
from configaudit.command.options import JUDGING, READING, config_of, outputs_of
from configaudit.command.streams import emit, write_report
from configaudit.command.verdict import Limits, audited, status
from configaudit.prelaunch import assess
from configaudit.report.launch import FORMATS, GATES, render

_OWN = (
    click.option('-f', '--format', 'form', type=click.Choice(FORMATS), default='text', show_default=True, help='How the document looks.'),
    click.option('--output', multiple=True, metavar='FORMAT=FILE', help='Write the document to a file too: `markdown=launch.md`. Repeatable.'),
    click.option('--fail-on', type=click.Choice(['error', 'warning', 'advice', 'never']), default='advice', show_default=True, help='The least severity in a checklist item that closes the gate.'),
    click.option('--strict/--no-strict', default=True, show_default=True, help='An item that could not be assessed closes the gate.'),
    click.option('--ignores/--no-ignores', default=False, show_default=True, help='Honour suppressions.'),
    click.option('--allow-empty', is_flag=True, help='Exit 0 instead of 4 when there is nothing to audit.'),
    click.option('-v', '--verbose', is_flag=True, help='Show the traceback of an internal error.'),
)


@click.command(short_help='The launch checklist: ten items, and a gate by exit status.')
@click.argument('paths', nargs=-1, metavar='[PATH]...')
@options(_OWN, JUDGING, READING)
def command(paths: tuple[str, ...], **given: Any) -> int:
    """Check the ten items of the July tuning list before a launch: pass, fail, not applicable or not assessed.

    Each item has its places, the arithmetic, the expected effect, the side effect, the fix, and what the list got wrong.
    The gate is closed (exit status 1) by a failed item, by an item that could not be assessed (--no-strict lets it pass),
    and by an error anywhere beyond the list. Suppressions do not count unless --ignores says so.
    """
    outputs = outputs_of(given['output'], FORMATS)
    config = config_of(given)._replace(ignores=given['ignores'])
    result = audited(paths, config)
    launch = assess(result)
    errors = [finding for finding in launch.others if finding.severity == 'error']
    counted = result._replace(
        findings=(*(finding for answer in launch.answers for finding in answer.findings), *errors),
        not_assessed=tuple(item for answer in launch.answers for item in answer.not_assessed),
    )
    code = status(counted, paths, Limits(given['fail_on'], given['strict'], given['allow_empty']))
    for form, file in outputs:
        write_report(file, render(form, launch, result, GATES[code]))
    emit(render(given['form'], launch, result, GATES[code]))
    return code
