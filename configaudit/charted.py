"""Findings that a chart's values file and its templates both show are one, at the value: there a person changes it."""

from collections.abc import Iterable

from configaudit.findings import Finding

_VALUES = ('values.yaml', 'values.yml')
"""What Helm fills the templates of a chart from when nothing else is given."""


def with_values(findings: Iterable[Finding]) -> list[Finding]:
    """The findings without those of templates that the values file of the same chart shows in the same words."""
    found = list(findings)
    values: dict[tuple[str, str, str], int] = {}
    for number, finding in enumerate(found):
        folder, _, name = _path(finding).rpartition('/')
        if name in _VALUES:
            values.setdefault((finding.rule.id, finding.message, folder), number)
    gone: set[int] = set()
    for number, finding in enumerate(found):
        chart, below, _ = f'/{_path(finding)}'.rpartition('/templates/')
        at = values.get((finding.rule.id, finding.message, chart.removeprefix('/'))) if below else None
        if at is not None and at != number:
            gone.add(number)
            found[at] = found[at]._replace(related=(*found[at].related, ('also used here', finding.place)))
    return [finding for number, finding in enumerate(found) if number not in gone]


def _path(finding: Finding) -> str:
    return finding.place.outermost().document.path
