"""A release sheet as text, Markdown and JSON: what `configaudit engine` prints."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from configaudit.release_sheet import Past, Row, Sheet, choices, kind, limits, spelled
from configaudit.report.markdown import safe, table

FORMATS = ('text', 'markdown', 'json')
_WIDE = 60
"""Longer defaults and choices are cut in the table; the page of the one flag shows them whole."""


def render(form: str, shown: Sheet) -> str:
    """A sheet in one of the FORMATS."""
    if form == 'json':
        return json.dumps(_data(shown), indent=2, ensure_ascii=False) + '\n'
    return '\n'.join(_markdown(shown) if form == 'markdown' else _text(shown)) + '\n'


def _headline(shown: Sheet) -> str:
    usage = ', LLM class' if shown.usage == 'library' else ''
    return f'{shown.title}{usage}' + (f' ({shown.note})' if shown.note else '')


def _text(shown: Sheet) -> Iterator[str]:
    yield _headline(shown)
    for past in shown.past:
        yield from ('', f'{past.name} ({past.kind}): {past.now}')
        yield from (f'  {line}' for line in _own(past))
        yield '  history'
        yield from (f'    {line}' for line in columns((first if first == last else f'{first} - {last}', what) for first, last, what in past.ranges))
    if not shown.rows:
        return
    open_rows = [row for row in shown.rows if row.source]
    yield from ('', 'Defaults that the engine works out')
    yield from (f'  {line}' for line in columns((row.flag.option, row.default, row.why) for row in open_rows))
    yield from ('', f'{len(shown.rows)} flags')
    yield from (f'  {line}' for line in columns(map(_cells, shown.rows)))


def _own(past: Past) -> Iterator[str]:
    if past.use:
        yield f'use       {past.use}'
    if past.row is None:
        return
    row, flag = past.row, past.row.flag
    yield f'type      {kind(flag)}'
    yield f'default   {row.default}' + (f': {row.why}' if row.why else '')
    if row.source:
        yield f'source    {row.source}'
    if choices(flag):
        yield f'choices   {", ".join(choices(flag))}'
    if flag.bounds:
        yield f'bounds    {limits(flag)}'
    if flag.aliases:
        yield f'also      {", ".join(flag.aliases)}'
    if flag.deprecated or flag.removal:
        yield 'deprecated' + (f', removal announced for {flag.removal}' if flag.removal else '')


def _cells(row: Row) -> tuple[str, str, str, str]:
    flag = row.flag
    detail = ', '.join(choices(flag)) or limits(flag)
    mark = 'deprecated' + (f' (removal in {flag.removal})' if flag.removal else '') if flag.deprecated or flag.removal else ''
    return ' '.join((flag.option, *flag.aliases)), kind(flag), cut(row.default), '; '.join(filter(None, (cut(detail), mark)))


def cut(text: str) -> str:
    """A text that fits into a column."""
    return text if len(text) <= _WIDE else text[: _WIDE - 1] + '…'


def columns(rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    """Rows with their cells below one another, two spaces between."""
    held = list(rows)
    wide = [max(len(row[at]) for row in held) for at in range(len(held[0]))] if held else []
    for row in held:
        yield '  '.join(f'{cell:{size}}' for cell, size in zip(row, wide, strict=True)).rstrip()


def _markdown(shown: Sheet) -> Iterator[str]:
    yield f'## {_headline(shown)}'
    for past in shown.past:
        yield from ('', f'### `{past.name}`', '', f'*{past.kind}: {past.now}*', '')
        yield from (f'- {line}' for line in _own(past))
        yield ''
        yield table(('Releases', 'What it was'), ((f'{first} - {last}', safe(what)) for first, last, what in past.ranges))
    if shown.rows:
        yield ''
        yield table(('Flag', 'Type', 'Default', 'Choices, bounds', 'Depends on'), (tuple(map(safe, (*_cells(row), row.why))) for row in shown.rows))


def _data(shown: Sheet) -> dict[str, Any]:
    gpu = shown.gpu
    return {
        'schema': 1, 'engine': shown.engine, 'version': str(shown.version), 'note': shown.note, 'usage': shown.usage,
        'gpu': {'name': gpu.name or gpu.slice, 'memory_gib': gpu.memory_gib, 'generation': gpu.generation} if gpu else None,
        'flags': [flag_data(row) for row in shown.rows], 'names': [_past_data(past) for past in shown.past],
    }  # fmt: skip


def flag_data(row: Row) -> dict[str, Any]:
    """A flag for JSON. `candidates` are all values that a default can have; null where it is open."""
    flag = row.flag
    value = row.candidates[0] if len(row.candidates) == 1 else None if row.source or flag.computed else flag.default
    return {
        'flag': flag.option, 'aliases': list(flag.aliases), 'type': flag.type, 'boolean': flag.boolean or None, 'default': value, 'default_text': row.default,
        'depends_on': row.why, 'source': row.source, 'candidates': list(row.candidates) or None, 'choices': list(choices(flag)), 'bounds': dict(flag.bounds),
        'deprecated': flag.deprecated, 'removal': flag.removal or None,
    }  # fmt: skip


def _past_data(past: Past) -> dict[str, Any]:
    ranges = [{'first': first, 'last': last, 'what': what} for first, last, what in past.ranges]
    return {'name': past.name, 'kind': past.kind, 'now': past.now, 'use': past.use or None, 'ranges': ranges, 'flag': flag_data(past.row) if past.row else None}


def server(form: str, name: str, held: Mapping[str, Any]) -> str:
    """The settings of a server that is recorded for one release only."""
    rows = [{key: row.get(key) for key in ('setting', 'default', 'where', 'note')} for row in held['settings']]
    verified = held.get('verified_at', '')
    if form == 'json':
        return json.dumps({'schema': 1, 'engine': name, 'source': held['source'], 'verified_at': verified or None, 'settings': rows}, indent=2, ensure_ascii=False) + '\n'
    cells = [(str(row['setting']), spelled(row['default']), str(row['where']), str(row['note'])) for row in rows]
    said = [f'Source: {held["source"]}', *([f'Verified: {verified}'] if verified else []), 'No history by release is kept for this server.']
    if form == 'markdown':
        body = table(('Setting', 'Default', 'Where', 'Note'), (tuple(map(safe, row)) for row in cells))
        return '\n\n'.join([f'## {name}', body, *map(safe, said)]) + '\n'
    return '\n'.join([name, '', *(f'  {line}' for line in columns(cells)), '', *said]) + '\n'
