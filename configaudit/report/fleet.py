"""The fleet view as text, JSON and one HTML page that needs nothing else."""

import html
from collections.abc import Iterable, Iterator
from typing import Any

from configaudit.fleet import Fleet, Outlier, RuleRow
from configaudit.report.escape import json_text, visible
from configaudit.report.release import columns
from configaudit.report.wording import plural

FORMATS = ('text', 'json', 'html')
_NAMES = 5
"""Nodes that are named in a row of text; the others are counted."""


def render(form: str, fleet: Fleet) -> str:
    """The fleet in one of the FORMATS."""
    if form == 'json':
        return json_text(_data(fleet))
    return _page(fleet) if form == 'html' else '\n'.join(_text(fleet)) + '\n'


def _headline(fleet: Fleet) -> str:
    bad = sum(count for _, _, count in fleet.groups)
    return f'{plural(len(fleet.nodes), "node")} in {plural(len(fleet.groups), "group")}: {bad} with an error or a warning, {plural(len(fleet.outliers), "difference")} within groups'


def _text(fleet: Fleet) -> Iterator[str]:
    yield _headline(fleet)
    sections: tuple[tuple[str, list[tuple[str, ...]]], ...] = (
        ('Groups', [(name, plural(count, 'node'), f'{bad} with an error or a warning') for name, count, bad in fleet.groups]),
        ('Rules', [_rule_cells(row, len(fleet.nodes)) for row in fleet.rules]),
        ('Differences', [_outlier_cells(item) for item in fleet.outliers]),
        ('Old reports (an agent that stopped, or a node that is gone)', list(fleet.late)),
    )
    for heading, rows in sections:
        if rows:
            yield from ('', heading)
            yield from (f'  {line}' for line in columns(tuple(map(visible, row)) for row in rows))


def _rule_cells(row: RuleRow, nodes: int) -> tuple[str, ...]:
    failed = f'{len(row.failed)} of {nodes}' if row.failed else ''
    gaps = f'{row.not_assessed} not assessed' if row.not_assessed else ''
    return row.severity or '-', row.rule, failed, gaps, _some(row.failed), row.message


def _outlier_cells(item: Outlier) -> tuple[str, ...]:
    values = [f'{node} has {value or "nothing"}' for node, value in item.nodes]
    return f'{len(item.nodes)} of {item.of} differ in {item.name}', f'usual {item.usual or "nothing"}', item.group, _some(values)


def _some(names: Iterable[str]) -> str:
    held = list(names)
    return ', '.join(held[:_NAMES]) + (f' and {len(held) - _NAMES} more' if len(held) > _NAMES else '')


def _data(fleet: Fleet) -> dict[str, Any]:
    return {
        'schema': 1, 'nodes': len(fleet.nodes),
        'groups': [{'group': name, 'nodes': count, 'with_problems': bad} for name, count, bad in fleet.groups],
        'rules': [{'rule': row.rule, 'severity': row.severity or None, 'failed': list(row.failed), 'not_assessed': row.not_assessed, 'message': row.message} for row in fleet.rules],
        'outliers': [{'group': item.group, 'name': item.name, 'usual': item.usual, 'of': item.of, 'nodes': dict(item.nodes)} for item in fleet.outliers],
        'late': [{'node': node, 'taken': taken} for node, taken in fleet.late],
    }  # fmt: skip


_STYLE = (
    'body{font:14px/1.5 system-ui,sans-serif;margin:2rem;max-width:80rem;color:#1b1f24}table{border-collapse:collapse;width:100%;margin:.5rem 0 2rem}'
    'th,td{text-align:left;padding:.35rem .6rem;border-bottom:1px solid #d8dee4;vertical-align:top}th{background:#f6f8fa;position:sticky;top:0}'
    '.error{color:#a40e26}.warning{color:#7d4e00}.advice{color:#0550ae}code{font:13px ui-monospace,monospace}details{display:inline}'
    '@media(prefers-color-scheme:dark){body{background:#0d1117;color:#e6edf3}th{background:#161b22}th,td{border-color:#30363d}.error{color:#ff7b72}.warning{color:#e3b341}.advice{color:#79c0ff}}'
)


def _page(fleet: Fleet) -> str:
    groups = [(name, str(count), str(bad)) for name, count, bad in fleet.groups]
    parts = [
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Fleet audit</title>',
        f'<style>{_STYLE}</style></head><body><h1>Fleet audit</h1><p>{html.escape(_headline(fleet))}</p>',
        _table('Groups', ('Group', 'Nodes', 'With an error or a warning'), (tuple(map(html.escape, row)) for row in groups)),
        _table('Rules', ('Severity', 'Rule', 'Nodes', 'Not assessed', 'For example'), (_rule_row(row, len(fleet.nodes)) for row in fleet.rules)),
        _table('Differences within groups', ('What', 'Usual', 'Group', 'Nodes'), map(_outlier_row, fleet.outliers)),
        _table('Old reports', ('Node', 'Of'), (tuple(map(html.escape, row)) for row in fleet.late)),
        '</body></html>\n',
    ]
    return ''.join(parts)


def _rule_row(row: RuleRow, nodes: int) -> tuple[str, ...]:
    severity = f'<b class="{html.escape(row.severity)}">{html.escape(row.severity or "-")}</b>'
    return severity, f'<code>{html.escape(row.rule)}</code>', _folded(f'{len(row.failed)} of {nodes}', row.failed), str(row.not_assessed or ''), html.escape(row.message)


def _outlier_row(item: Outlier) -> tuple[str, ...]:
    nodes = [f'{node}: {value or "nothing"}' for node, value in item.nodes]
    return f'<code>{html.escape(item.name)}</code>', html.escape(item.usual), html.escape(item.group), _folded(f'{len(item.nodes)} of {item.of} differ', nodes)


def _folded(summary: str, names: Iterable[str]) -> str:
    held = ', '.join(map(html.escape, names))
    return f'<details><summary>{html.escape(summary)}</summary>{held}</details>' if held else html.escape(summary)


def _table(heading: str, names: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    body = ''.join(f'<tr>{"".join(f"<td>{cell}</td>" for cell in row)}</tr>' for row in rows)
    head = ''.join(f'<th>{name}</th>' for name in names)
    return f'<h2>{heading}</h2><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>' if body else f'<h2>{heading}</h2><p>None.</p>'
