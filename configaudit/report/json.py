"""The stable format for programs: the contract's document, indented, byte-identical for equal input."""

from configaudit.report import Options
from configaudit.report.document import document
from configaudit.report.escape import json_text
from configaudit.result import Result


def render(result: Result, options: Options) -> str:
    """The report as JSON."""
    return json_text(document(result))
