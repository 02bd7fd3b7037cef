"""The sentences that the reports for people share."""

from typing import Any


def plural(count: int, word: str) -> str:
    """'1 file', '2 files'; words that do not count stay as they are."""
    return f'{count} {word}' if count == 1 or word == 'advice' else f'{count} {word}s'


def headline(counts: dict[str, Any]) -> str:
    """What was found, in how much, and what nobody could tell: one sentence from a summary."""
    found = [plural(number, severity) for severity, number in counts['severity'].items() if number]
    scope = f'{plural(counts["files"], "file")}, {plural(counts["components"], "component")}'
    nothing = 'no problem found' if counts['components'] else 'nothing was audited'
    parts = [f'{", ".join(found) or nothing} in {scope}']
    parts += [f'{counts[name]} {name}' for name in ('suppressed', 'skipped') if counts[name]]
    if counts['errors']:
        parts.append(f'{counts["errors"]} not audited')
    parts.append(f'{counts["not_assessed"]} not assessed')
    return '; '.join(parts)
