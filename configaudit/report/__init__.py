"""Reporters: one Result in, one text out. Only the module of the format that was asked for is imported."""

from collections.abc import Callable
from importlib import import_module
from typing import NamedTuple

from configaudit.result import Result

REPORTERS: dict[str, str] = {
    'text': 'configaudit.report.text',
    'json': 'configaudit.report.json',
    'sarif': 'configaudit.report.sarif',
    'github': 'configaudit.report.github',
    'gitlab': 'configaudit.report.gitlab',
    'junit': 'configaudit.report.junit',
    'markdown': 'configaudit.report.markdown',
}


class Options(NamedTuple):
    """How a report is to look; formats for machines ignore all of it."""

    color: bool = False
    width: int = 100
    """Columns: source lines and notes of the text report are cut and wrapped there."""
    verbose: bool = False
    """Also sources, evidence, suppressed findings, and all that was skipped or not assessed."""
    show_fix: bool = True
    show_source: bool = True


def render(name: str, result: Result, options: Options = Options()) -> str:  # noqa: B008 - immutable
    """The report in a format of REPORTERS (KeyError for another name), ending with a line end."""
    reporter: Callable[[Result, Options], str] = import_module(REPORTERS[name]).render
    return reporter(result, options)
