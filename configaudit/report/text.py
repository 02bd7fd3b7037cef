"""The report for people: what is wrong, where, what it does, how to fix it; counts and gaps at the end."""

from collections.abc import Iterable, Iterator
from typing import Any

from configaudit.findings import Finding
from configaudit.report import Options
from configaudit.report.document import docs_of, errors, findings, locator, reasons, skipped, summary, suppressed
from configaudit.report.escape import visible
from configaudit.report.excerpt import excerpt
from configaudit.report.wording import headline, plural
from configaudit.result import Result

Line = list[tuple[str, str]]
"""Pieces of a line, each with its style: '' or a style of rich."""

_STYLES = {'error': 'bold red', 'warning': 'bold yellow', 'advice': 'bold cyan'}
_FRAME = 'blue'
_RELATED = 3
_REASONS = 3


def render(result: Result, options: Options) -> str:
    """The report as text, with colours only when asked for."""
    lines = [line for block in _blocks(result, options) for line in block]
    return painted(lines) if options.color else ''.join(plain(line) + '\n' for line in lines)


def _blocks(result: Result, options: Options) -> Iterator[Iterable[Line]]:
    where = locator()
    items = findings(result, where)
    for finding, item in zip(result.findings, items):
        yield [*_finding(finding, item, options), []]
    for item in errors(result):
        yield _error(item)
    if options.verbose:
        yield _left_out(result, suppressed(result, where))
    yield _end(result, items, options)


def _finding(finding: Finding, item: dict[str, Any], options: Options) -> Iterator[Line]:
    at, style = item['location'], _STYLES[item['severity']]
    gutter = len(str(at['line']))
    yield [(f'{item["severity"]}[{visible(item["rule"])}]', style), (': ' + visible(item['message']), 'bold')]
    component = f' in {visible(item["component"])}' if item['component'] else ''
    yield [(' ' * gutter + '--> ', _FRAME), (_place(at), ''), (component, 'dim')]
    if options.show_source and (options.verbose or item['severity'] != 'advice'):
        yield from _source(finding, gutter, style, options.width)
    for name, text in _notes(finding, item, options):
        yield from _note(name, text, gutter, options.width)


def _source(finding: Finding, gutter: int, style: str, width: int) -> Iterator[Line]:
    setting = finding.component.settings.get(finding.setting)
    cut = excerpt(finding.place, max(width - gutter - 3, 20), setting is not None and setting.secret)
    if cut is None:
        return
    bar = ' ' * (gutter + 1) + '|'
    yield [(bar, _FRAME)]
    number = str(locator()(finding.place)['line']).rjust(gutter)
    yield [(f'{number} |', _FRAME), (f' {cut.text}', '')]
    yield [(bar, _FRAME), (' ' * (cut.start + 1), ''), ('^' * cut.length, style)]


def _notes(finding: Finding, item: dict[str, Any], options: Options) -> Iterator[tuple[str, str]]:
    """Everything below the source line, as pairs of a word and a text."""
    related = item['related'] if options.verbose else item['related'][:_RELATED]
    for near in related:
        yield 'see', f'{_place(near["location"])} {near["message"]}'
    if len(item['related']) > len(related):
        yield 'see', f'{len(item["related"]) - len(related)} more places (-v)'
    yield 'effect', item['effect']
    yield 'side effect', item['side_effect']
    yield 'note', '' if finding.component.note in finding.message else finding.component.note
    if options.verbose:
        yield 'source', item['source']
        yield 'confidence', item['confidence']
        yield 'checklist', ', '.join(item['checklist'])
        yield 'docs', docs_of(item['rule'])
    if options.show_fix and item['fix']:
        yield from _fix(item['fix'])


def _fix(fix: dict[str, Any]) -> Iterator[tuple[str, str]]:
    flag = '' if not fix['edits'] else ' (--fix)' if fix['safe'] else ' (--unsafe-fixes)'
    yield 'fix', fix['description'] + flag
    for command in fix['commands']:
        yield 'run', command


def _note(name: str, text: str, gutter: int, width: int) -> Iterator[Line]:
    """A note, wrapped with its lines below each other; none for an empty text."""
    if not text:
        return
    head = ' ' * (gutter + 1) + '= '
    indent = ' ' * (len(head) + len(name) + 2)
    rows = _wrapped(visible(text), max(width - len(indent), 20))
    yield [(head, _FRAME), (f'{name}: ', 'bold'), (rows[0], '')]
    for row in rows[1:]:
        yield [(indent + row, '')]


def _wrapped(text: str, width: int) -> list[str]:
    """Lines of whole words; a word that is too long has a line of its own. (Loading textwrap would cost a percent of a small run.)"""
    rows: list[str] = []
    for word in text.split():
        if rows and len(rows[-1]) + 1 + len(word) <= width:
            rows[-1] += ' ' + word
        else:
            rows.append(word)
    return rows or ['']


def _error(item: dict[str, Any]) -> list[Line]:
    return [
        [(f'not audited[{visible(item["kind"])}]', _STYLES['error']), (': ' + visible(item['message']), 'bold')],
        [('  --> ', _FRAME), (_place(item) if item['line'] else visible(item['path']), '')],
        [],
    ]


def _left_out(result: Result, hidden: list[dict[str, Any]]) -> Iterator[Line]:
    """What a verbose report adds: suppressed findings, skipped files, rules that could not judge."""
    for item in hidden:
        yield [('suppressed', 'dim'), (f' {_place(item["location"])} {visible(item["rule"])}: {visible(item["reason"])}', '')]
    for item in skipped(result):
        yield [('skipped', 'dim'), (f' {visible(item["path"])}: {visible(item["reason"])}', '')]
    for item in summary(result)['not_assessed_by_rule']:
        for reason, count in item['reasons'].items():
            yield [('not assessed', 'dim'), (f' {visible(item["rule"])} ({count}): {visible(reason)}', '')]
    if hidden or result.skipped or result.not_assessed:
        yield []


def _end(result: Result, items: list[dict[str, Any]], options: Options) -> Iterator[Line]:
    counts = summary(result)
    worst = next((name for name, number in counts['severity'].items() if number), '')
    yield [(headline(counts), _STYLES.get(worst, 'bold'))]
    fixes = [item['fix']['safe'] for item in items if item['fix'] and item['fix']['edits']]
    if options.show_fix and fixes:
        safe = fixes.count(True)
        unsafe = [f'{len(fixes) - safe}{" more" if safe else ""} with --fix --unsafe-fixes'] if len(fixes) > safe else []
        yield [('fixable: ' + ', '.join([*([f'{safe} with --fix'] if safe else []), *unsafe]), '')]
    why = reasons(result)
    if why and not options.verbose:
        text = '; '.join(f'{visible(reason)} ({count})' for reason, count in why[:_REASONS])
        more = f'; {plural(len(why) - _REASONS, "more reason")} (-v)' if len(why) > _REASONS else ''
        yield [(f'not assessed: {text}{more}', 'dim')]


def _place(at: dict[str, Any]) -> str:
    return visible(f'{at["path"]}:{at["line"]}:{at["column"]}')


def plain(line: Line) -> str:
    """The line without styles; at its start no `::`, which a workflow runner would obey."""
    text = ''.join(piece for piece, _ in line).rstrip()
    return text.replace('::', ': :', 1) if text.lstrip().startswith('::') else text


def painted(lines: Iterable[Line]) -> str:
    from io import StringIO

    from rich.console import Console
    from rich.text import Text

    out = StringIO()
    console = Console(
        file=out, force_terminal=True, color_system='standard', no_color=False, highlight=False, markup=False, emoji=False,
        soft_wrap=True, legacy_windows=False, _environ={},
    )  # fmt: skip
    for line in lines:
        console.print(Text.assemble(*line))
    return out.getvalue()
