"""Audit files and report: what `configaudit check` does."""

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from configaudit.command.options import JUDGING, READING, Option, config_of, outputs_of
from configaudit.command.streams import emit, is_colored, say, width, write_report
from configaudit.command.verdict import (
    CLEAN,
    FINDINGS,
    LOST,
    NOTHING,
    Limits,
    audited,
    dead_links,
    narrowed,
    status,
    without_known,
)
from configaudit.config import Config
from configaudit.errors import UsageError
from configaudit.report import REPORTERS, Options, render
from configaudit.report.wording import plural
from configaudit.result import Kept, Result

if TYPE_CHECKING:
    from configaudit.fix_rounds import Fixed

_FORMATS = tuple(REPORTERS)
_REPORTING = (
    Option('-f --format', 'How the report on standard output looks.', name='form', choices=_FORMATS, default='text'),
    Option('--output', 'Write a report to a file too: `sarif=out.sarif`. Repeatable.', multiple=True, metavar='FORMAT=FILE'),
    Option('--report-only', 'Audit all PATHs, report and exit on these files and folders only. Takes all words up to the next option.', multiple=True, metavar='FILE...'),
    Option('--color', 'auto: on a terminal, unless NO_COLOR is set.', choices=('auto', 'always', 'never'), default='auto'),
    Option('--cache', 'Keep reports in this folder, and print them again while nothing has changed.', metavar='DIR'),
    Option('-v --verbose', 'Also what was read, skipped, suppressed and not assessed, and why.', is_flag=True),
)
_DECIDING = (
    Option('--fail-on', 'The least severity that makes the exit status 1. [default: warning]', choices=('error', 'warning', 'advice', 'never')),
    Option('--strict', 'A rule for errors or warnings that could not be assessed counts like a finding, an unreadable template like a lost file.', is_flag=True),
    Option('--baseline', 'Leave out the findings that this file knows (`configaudit baseline create`).', metavar='FILE'),
    Option('--no-ignores', 'Honour no suppression: comments, annotations, ignores of the configuration, baseline.', is_flag=True),
    Option('--allow-empty', 'Exit 0 instead of 4 when there is nothing to audit.', is_flag=True),
)
_FIXING = (
    Option('--fix', 'Write the safe fixes into the files, then report what remains.', name='fixing', is_flag=True),
    Option('--unsafe-fixes', 'With --fix or --diff: also fixes that are a trade-off.', is_flag=True),
    Option('--diff', 'Print what --fix would change, and change nothing; exit 1 when it would.', name='diffing', is_flag=True),
)
OPTIONS = (*_REPORTING, *_DECIDING, *_FIXING, *JUDGING, *READING)


def check(paths: tuple[str, ...], given: dict[str, Any]) -> int:
    """Run an audit as the options say, print the report, and return the exit status."""
    asked = _asked(paths, given)
    for name in asked.only:
        if not os.path.lexists(name):  # the list of changed files that a commit gives names deleted ones too
            say(f'--report-only {name}: no such file')
    look = Options(color=is_colored(given['color']), width=width(), verbose=given['verbose'])
    if given['cache'] and not (given['fixing'] or given['diffing'] or given['verbose']):
        return _kept(paths, asked, given, look)
    result = _report_part(audited(paths, asked.config), asked)
    if given['diffing']:
        return _show_diff(result, paths, asked, unsafe=given['unsafe_fixes'])
    failed = given['fixing'] and _apply(result, paths, asked, given)
    if given['fixing']:
        result = _report_part(audited(paths, asked.config), asked)
    _tell_what_is_stale(result)
    tell_dead_links(result, asked.config)
    if given['verbose']:
        _tell_what_was_read(result, asked.config)
    kept = _rendered(result, paths, asked, given['form'], look)
    return _show(kept._replace(code=LOST) if failed else kept)


def _rendered(result: Result, paths: tuple[str, ...], asked: '_Asked', form: str, look: Options) -> Kept:
    """Every report of a run as text, and how the run ends."""
    written = tuple((file, render(other, result, Options(verbose=look.verbose))) for other, file in asked.outputs)
    return Kept(status(result, paths, asked.limits), render(form, result, look), written)


def _show(kept: Kept) -> int:
    for file, text in kept.written:
        write_report(file, text)
    emit(kept.printed)
    if kept.code == NOTHING:
        say('nothing to audit was found: no file there holds configuration of a kind that is read (-v says what was skipped)')
    return kept.code


def _kept(paths: tuple[str, ...], asked: '_Asked', given: dict[str, Any], look: Options) -> int:
    """Print what the last run printed when nothing has changed since, else run and keep it."""
    from configaudit import cache

    wanted = paths or ('.',)
    question = [given[name] for name in sorted(given)], look, asked.config.path, asked.config.day()
    beside = (asked.config.path, asked.baseline, *asked.config.values, *asked.config.rule_files)
    key = cache.key_of(wanted, asked.config, question, beside)
    kept = cache.load(given['cache'], key)
    if kept is None:
        result = _report_part(audited(paths, asked.config), asked)
        _tell_what_is_stale(result)
        tell_dead_links(result, asked.config)
        kept = _rendered(result, paths, asked, given['form'], look)
        cache.store(given['cache'], key, kept, result.beside)
    return _show(kept)


class _Asked(NamedTuple):
    config: Config
    limits: Limits
    outputs: tuple[tuple[str, str], ...]
    baseline: str
    only: tuple[str, ...]


def _asked(paths: tuple[str, ...], given: dict[str, Any]) -> _Asked:
    changes = given['fixing'] or given['diffing']
    if given['unsafe_fixes'] and not changes:
        raise UsageError('--unsafe-fixes goes with --fix or --diff')
    if given['fixing'] and given['diffing']:
        raise UsageError('--fix and --diff exclude each other')
    if changes and '-' in paths:
        raise UsageError('standard input cannot be changed: name the files')
    config = config_of(given)._replace(ignores=not given['no_ignores'])
    limits = Limits(given['fail_on'] or config.fail_on, given['strict'], given['allow_empty'])
    known = given['baseline'] or config.baseline
    return _Asked(config, limits, outputs_of(given['output'], _FORMATS), known if config.ignores else '', given['report_only'])


def _report_part(result: Result, asked: _Asked) -> Result:
    """The result without what a baseline knows, and of the files that are to be reported."""
    if asked.baseline:
        result, stale = without_known(result, asked.baseline)
        result = result._replace(stale=stale)
    return narrowed(result, asked.only)


def _tell_what_is_stale(result: Result) -> None:
    if result.stale:
        say(f'{plural(result.stale, "finding")} of the baseline gone: `configaudit baseline update` takes them out')


def tell_dead_links(result: Result, config: Config) -> None:
    """Say which names under `links:` are of nothing that was read."""
    for name in dead_links(result, config):
        say(f'links: nothing that was read is called {name!r} (`configaudit graph -f json` lists names and identities)')


def _show_diff(result: Result, paths: tuple[str, ...], asked: _Asked, *, unsafe: bool) -> int:
    from configaudit.report.patch import patch

    fixed = _fixed(result, paths, asked, unsafe=unsafe)
    shown = patch(fixed.old, fixed.new)
    emit(shown.text)
    if not shown.exact:
        say('the diff does not show credentials and control characters: it is to read, not to apply; --fix writes the files')
    code = status(result, paths, asked.limits._replace(fail_on='never'))
    return code if code == LOST else FINDINGS if fixed.new else CLEAN if result.components else code


def _fixed(result: Result, paths: tuple[str, ...], asked: _Asked, *, unsafe: bool) -> 'Fixed':
    """What fixing comes to, before anything is written."""
    from configaudit.fix_rounds import fix_all

    def judge(contents: Mapping[str, bytes]) -> Result:
        return _report_part(audited(paths, asked.config._replace(contents=contents)), asked)

    return fix_all(result, judge, unsafe)


def _apply(result: Result, paths: tuple[str, ...], asked: _Asked, given: dict[str, Any]) -> bool:
    """Write the fixes; whether a file could not be written."""
    from configaudit.fix import UNSAFE
    from configaudit.fix_rounds import write
    from configaudit.places import locate

    fixed = _fixed(result, paths, asked, unsafe=given['unsafe_fixes'])
    failed = write(fixed)
    for path, error in failed:
        say(f'{path}: not written: {error.strerror or error}')
    if not failed:
        traded = sum(reason == UNSAFE for _, reason in fixed.refused)
        left = f'{len(fixed.refused)} fixable left' + (f', {traded} of them a trade-off: --unsafe-fixes' if traded else '')
        say(f'fixed {plural(fixed.applied, "finding")} in {plural(len(fixed.new), "file")}, {left}')
    for finding, reason in fixed.refused if given['verbose'] else ():
        at = locate(finding.place)
        say(f'not fixed: {at.path}:{at.line}:{at.column} {finding.rule.id}: {reason}')
    return bool(failed)


def _tell_what_was_read(result: Result, config: Config) -> None:
    say(f'configuration: {config.path or "none"}')
    counts: dict[str, int] = {}
    for component in result.components:
        path = component.place.outermost().document.path
        counts[path] = counts.get(path, 0) + 1
    for path, count in sorted(counts.items()):
        say(f'read {path}: {count} components')
