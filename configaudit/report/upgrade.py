"""What an upgrade changes, as text, Markdown and JSON."""

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from configaudit.findings import Finding
from configaudit.knowledge.images import identify
from configaudit.model import Component
from configaudit.release_sheet import PRODUCTS
from configaudit.report.document import Values, document, findings, locator
from configaudit.report.escape import json_text, visible
from configaudit.report.markdown import safe, table
from configaudit.report.release import columns, cut
from configaudit.report.wording import plural
from configaudit.upgrade import Difference, Impact, Moved, Named, Releases

Section = tuple[str, tuple[str, ...], list[tuple[str, ...]]]
"""(heading, names of the columns, rows)."""


def render(form: str, shown: Difference | Impact) -> str:
    """A difference between two releases, or its impact on files, as text, markdown or json."""
    if form == 'json':
        return json_text(_impact_data(shown)) if isinstance(shown, Impact) else json.dumps(_difference_data(shown), indent=2, ensure_ascii=False) + '\n'
    sections = list(_impact(shown) if isinstance(shown, Impact) else _difference(shown))
    lines = _markdown(shown.releases, sections) if form == 'markdown' else _text(shown.releases, sections)
    return '\n'.join(lines) + '\n'


def _text(asked: Releases, sections: list[Section]) -> Iterator[str]:
    yield asked.title
    yield from asked.notes
    for heading, names, rows in sections:
        yield from ('', heading)
        arrows = ['-> ' if name == str(asked.after) else '' for name in names]
        yield from (f'  {line}' for line in columns(tuple(arrow + visible(cell) for arrow, cell in zip(arrows, row, strict=True)) for row in rows))


def _markdown(asked: Releases, sections: list[Section]) -> Iterator[str]:
    yield f'## {safe(asked.title)}'
    yield from (f'\n{safe(note)}' for note in asked.notes)
    for heading, names, rows in sections:
        yield f'\n### {safe(heading)}\n'
        if rows:
            yield table(names, (tuple(map(safe, row)) for row in rows))


def _difference(shown: Difference) -> Iterator[Section]:
    asked = shown.releases
    named: tuple[tuple[str, tuple[Named, ...]], ...] = (
        ('Flags that are gone', shown.gone), ('Environment variables that are gone', shown.variables_gone), ('Metrics that are gone', shown.metrics_gone),
    )  # fmt: skip
    yield from _named(named[:1])
    if shown.syntax:
        yield 'Flags that are written otherwise', ('Flag', 'Before', 'After', 'Now'), [(item.name, cut(item.before), cut(item.after), item.why) for item in shown.syntax]
    if shown.defaults:
        heads = ('Flag', str(asked.before), str(asked.after), 'Depends on')
        yield 'Defaults that move', heads, [(item.name, cut(item.before), cut(item.after), item.why) for item in shown.defaults]
    yield from _named(named[1:])
    new = (('New flags', shown.new), ('New environment variables', shown.variables_new), ('New metrics', shown.metrics_new))
    yield from _named(new)
    if not any((*(items for _, items in (*named, *new)), shown.syntax, shown.defaults)):
        yield 'Nothing differs between them', (), []


def _named(groups: Iterable[tuple[str, tuple[Named, ...]]]) -> Iterator[Section]:
    for heading, items in groups:
        if items:
            yield f'{heading} ({len(items)})', ('Name', 'Instead'), [(item.name, item.use) for item in items]


def _impact(shown: Impact) -> Iterator[Section]:
    where = _places()
    breaks = [item for item in shown.appear if item.severity == 'error']
    others = [item for item in shown.appear if item.severity != 'error']
    engines: list[tuple[str, ...]] = [(where(engine), engine.identity, _runs(engine, shown)) for engine in shown.engines]
    found = plural(len(engines), 'engine') if engines else f'No {PRODUCTS[shown.releases.engine]} engine'
    yield f'{found} in {plural(shown.result.files, "file")}', ('Place', 'Engine', 'Image'), engines
    for heading, items in (('Breaks', breaks), ('To review', others), ('Solved by the upgrade', shown.disappear)):
        if items:
            yield f'{heading} ({len(items)})', ('Place', 'Severity', 'Rule', 'Finding'), [_finding_row(item, where) for item in items]
    if shown.defaults:
        heads = ('Default', str(shown.releases.before), str(shown.releases.after), 'Depends on', 'Not set at')
        yield f'Defaults that move ({len(shown.defaults)})', heads, [_moved_row(item, where) for item in shown.defaults]
    if engines and not (shown.appear or shown.disappear or shown.defaults):
        yield 'Nothing changes for these files', (), []


def _places() -> Callable[[Component | Finding], str]:
    """'path:line:column' of a component or a finding."""
    at = locator()

    def where(item: Component | Finding) -> str:
        found = at(item.place)
        return f'{found["path"]}:{found["line"]}:{found["column"]}'

    return where


def _runs(engine: Component, shown: Impact) -> str:
    image = engine['image'].known_value
    version = identify(str(image)).version if image else None
    if version is None or version == shown.releases.before:
        return str(image or '')
    return f'{image} (by its tag {PRODUCTS[shown.releases.engine]} {version}, judged as {shown.releases.before})'


def _finding_row(item: Finding, where: Callable[[Component | Finding], str]) -> tuple[str, ...]:
    return where(item), item.severity, item.rule.id, item.message


def _moved_row(item: Moved, where: Callable[[Component | Finding], str]) -> tuple[str, ...]:
    spots = [f'{at["path"]}:{at["line"]}' for at in map(locator(), (place for _, place in item.places))]
    more = f' and {len(spots) - 3} more' if len(spots) > 3 else ''
    return item.name, cut(item.before), cut(item.after), item.why, ', '.join(spots[:3]) + more


def _releases_data(asked: Releases) -> Values:
    gpu = asked.gpu
    return {
        'schema': 1, 'engine': asked.engine, 'before': str(asked.before), 'after': str(asked.after), 'notes': list(asked.notes),
        'gpu': (gpu.name or gpu.slice) if gpu else None,
    }  # fmt: skip


def _difference_data(shown: Difference) -> Values:
    def named(items: tuple[Named, ...]) -> list[Values]:
        return [{'name': item.name, 'use': item.use or None} for item in items]

    return {
        **_releases_data(shown.releases), 'flags_gone': named(shown.gone), 'flags_new': named(shown.new),
        'syntax': [_moved_data(item, None) for item in shown.syntax], 'defaults': [_moved_data(item, None) for item in shown.defaults],
        'variables_gone': named(shown.variables_gone), 'variables_new': named(shown.variables_new),
        'metrics_gone': named(shown.metrics_gone), 'metrics_new': named(shown.metrics_new),
    }  # fmt: skip


def _impact_data(shown: Impact) -> Values:
    at = locator()
    whole = document(shown.result)
    return {
        **_releases_data(shown.releases),
        'engines': [{'name': item.identity, 'image': item['image'].known_value, 'location': at(item.place)} for item in shown.engines],
        'appear': findings(shown.result._replace(findings=shown.appear), at), 'disappear': findings(shown.result._replace(findings=shown.disappear), at),
        'defaults': [_moved_data(item, at) for item in shown.defaults], 'errors': whole['errors'], 'skipped': whole['skipped'],
    }  # fmt: skip


def _moved_data(item: Moved, at: Any) -> Values:
    held: Values = {'name': item.name, 'before': item.before, 'after': item.after, 'depends_on': item.why, 'source': item.source}
    return held if at is None else {**held, 'not_set_at': [{'engine': name, 'location': at(place)} for name, place in item.places]}
