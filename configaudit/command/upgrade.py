"""`configaudit upgrade ENGINE FROM TO [PATH]...`: what a bump changes."""

from typing import Any

import click

from configaudit.command.declare import options
from configaudit.command.options import JUDGING, READING, config_of
from configaudit.command.streams import emit
from configaudit.command.verdict import CLEAN, FINDINGS, LOST, NOTHING, audited
from configaudit.config import Config
from configaudit.report.release import FORMATS
from configaudit.report.upgrade import render
from configaudit.result import Result
from configaudit.upgrade import difference, impact, releases

_OWN = (click.option('-f', '--format', 'form', type=click.Choice(FORMATS), default='text', show_default=True),)
_ASKED = tuple(option for option in JUDGING if option.flags != '--engine-version')


@click.command(short_help='Show what changes between two releases of an engine.')
@click.argument('name', metavar='ENGINE')
@click.argument('before', metavar='FROM')
@click.argument('after', metavar='TO')
@click.argument('paths', nargs=-1, metavar='[PATH]...')
@options(_OWN, _ASKED, READING)
def command(name: str, before: str, after: str, paths: tuple[str, ...], form: str, **given: Any) -> int:
    """Show what changes when ENGINE (vllm, sglang) goes from release FROM to TO.

    Without PATH everything that differs: flags that are gone (and what to use instead), defaults that move, environment
    variables, metrics. With PATH what changes for these files: every engine in them is judged as FROM and as TO, and the
    findings and defaults that differ are shown. --gpu makes defaults certain where no file names the GPU.

    Exit status: 0 nothing breaks, 1 an error or a warning appears, 3 something could not be audited, 4 PATH holds no such engine, and nothing
    else that changes.

    \b
    configaudit upgrade vllm 0.8.5 0.16.0
    configaudit upgrade vllm 0.8.5 newest deploy/ --gpu A100-80G
    """
    asked = releases(name, before, after, given['gpu'])
    if not paths:
        emit(render(form, difference(asked)))
        return CLEAN

    def audit(config: Config) -> Result:
        return audited(paths, config)

    found = impact(asked, config_of({**given, 'engine_version': ()}), audit)
    emit(render(form, found))
    if any(error.fatal for error in found.result.errors):
        return LOST
    if not found.engines and not found.appear:
        return NOTHING
    return FINDINGS if any(item.severity != 'advice' for item in found.appear) else CLEAN
