"""A node's audit for the node-problem-detector: an exit status of its own and one line (config/custom-plugin-monitor.json)."""

from collections.abc import Iterable

from configaudit.model import SEVERITIES
from configaudit.outcomes import Outcome
from configaudit.redact import redact

OK, NON_OK, UNKNOWN = 0, 1, 2
MAX_LENGTH = 80
"""max_output_length of a custom plugin, by default."""


def npd(outcomes: Iterable[Outcome], fail_on: str) -> tuple[int, str]:
    """(exit status, line): 0 when no finding counts, 1 when one does, 2 when nothing could be assessed."""
    held = list(outcomes)
    counted = SEVERITIES[: SEVERITIES.index(fail_on) + 1] if fail_on in SEVERITIES else ()
    bad = sorted((finding for outcome in held for finding in outcome.findings if finding.severity in counted), key=lambda finding: SEVERITIES.index(finding.severity))
    if bad:
        more = f' (+{len(bad) - 1})' if len(bad) > 1 else ''
        return NON_OK, _line(redact(bad[0].message), more)
    if not any(outcome.word in ('pass', 'fail') for outcome in held):
        return UNKNOWN, _line('nothing on this host could be assessed', '')
    return OK, _line('no configuration problem', '')


def _line(text: str, more: str) -> str:
    text = ' '.join(text.split())
    room = MAX_LENGTH - len(more)
    return (text if len(text) <= room else text[: room - 3] + '...') + more
