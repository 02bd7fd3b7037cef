"""Compare the cost of configaudit with other programs on this machine, as a table in Markdown.

A figure is the median over interleaved pairs of the ratio of CPU time; seconds are medians, MiB maxima.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator
from typing import NamedTuple

from pairs import Command, Failed, Row, Runs, Session, Usage, compare, measure, own_peak

FLOOR_SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'floor.c')
YAML_SUFFIXES = ('.yaml', '.yml')
HEADER = '| row | A | B | A / B [least to most] | B / A | CPU A, s | CPU B, s | RSS A, MiB | RSS B, MiB | exit A, B |'


class Skipped(Exception):
    """A row cannot be measured here; the text says why."""


class Bench(NamedTuple):
    """The programs and inputs that the command line named, and how to measure them."""

    options: argparse.Namespace
    session: Session


def program(name: str, given: str | None) -> str:
    """The program to run: as given, beside this interpreter, or on the search path."""
    folders = os.path.dirname(sys.executable) + os.pathsep + os.environ.get('PATH', os.defpath)
    found = shutil.which(given or name, path=None if given else folders)
    if found is None:
        raise Skipped(f'{given or name} is not installed')
    return os.path.abspath(found)


def existing(paths: list[str], option: str) -> list[str]:
    """The absolute paths of an option, or the reason why a row is skipped."""
    if not paths:
        raise Skipped(f'no {option} given')
    for path in paths:
        if not os.path.exists(path):
            raise Skipped(f'{option}: {path} does not exist')
    return [os.path.abspath(path) for path in paths]


def listed(bench: Bench) -> list[str]:
    """The paths that the file of --list names, one on a line."""
    (listing,) = existing(bench.options.list, '--list')
    with open(listing, encoding='utf-8', errors='surrogateescape') as stream:
        return existing(stream.read().splitlines(), '--list')


def yaml_files(tree: str) -> list[str]:
    """Every regular YAML file of a tree, in a fixed order."""
    paths = (os.path.join(folder, name) for folder, _, names in os.walk(tree) for name in names)
    return sorted(path for path in paths if path.endswith(YAML_SUFFIXES) and not os.path.islink(path))


def python_pass(bench: Bench) -> Command:
    """The cost of the interpreter itself."""
    return Command('python -c pass', (program('python3', bench.options.python), '-c', 'pass'))


def check(bench: Bench, label: str, paths: list[str], *flags: str) -> Command:
    """An audit: findings (1), broken files (3) and nothing to audit (4) are work done, wrong usage (2) is not."""
    tool = program('configaudit', bench.options.configaudit)
    argv = (tool, 'check', '--format', 'json', '--jobs', str(bench.options.jobs), *flags, *paths)
    return Command(f'check {label}', argv, accepted=(0, 1, 3, 4))


def yamllint(bench: Bench, label: str, paths: list[str]) -> Command:
    """Run yamllint with its own default rules, whatever the tree configures."""
    argv = (program('yamllint', bench.options.yamllint), '-d', 'default', '-f', 'parsable', *paths)
    return Command(f'yamllint {label}', argv, accepted=(0, 1))


def checkov(bench: Bench, label: str, paths: list[str]) -> Command:
    """Run checkov with its Kubernetes rules and without its download of guidelines."""
    where = [part for path in paths for part in ('-d' if os.path.isdir(path) else '-f', path)]
    tool = program('checkov', bench.options.checkov)
    argv = (tool, '--framework', 'kubernetes', '--skip-download', '--quiet', '--compact', '-o', 'json', *where)
    return Command(f'checkov {label}', argv, accepted=(0, 1))


def floor(bench: Bench, label: str, paths: list[str]) -> Command:
    """The bare C event loop over the same files; built on first use."""
    binary, listing = bench.session.path('floor'), bench.session.path('floor.lst')
    if not os.path.exists(binary):
        build = Command('cc floor.c', (program('cc', None), '-O2', '-o', binary, FLOOR_SOURCE, '-lyaml'))
        try:
            measure(build, bench.session, bench.session.path('stdout-cc'))
        except Failed as error:
            raise Skipped(f'the floor does not build, is libyaml-dev there? {error}') from error
    with open(listing, 'w', encoding='utf-8', errors='surrogateescape') as stream:
        stream.writelines(f'{path}\n' for path in paths)
    return Command(f'floor {label}', (binary,), stdin=listing)


def version_row(bench: Bench) -> Row:
    """Start and stop, nothing else."""
    tool = program('configaudit', bench.options.configaudit)
    return Row('version', Command('configaudit --version', (tool, '--version')), python_pass(bench))


def few_row(bench: Bench) -> Row:
    """What a pre-commit hook runs."""
    few = existing(bench.options.few, '--few')
    return Row('few', check(bench, f'{len(few)} files', few), python_pass(bench))


def one_row(name: str, peer: Callable[[Bench, str, list[str]], Command], bench: Bench) -> Row:
    """One file against a peer."""
    one = existing(bench.options.one, '--one')
    return Row(name, check(bench, 'one file', one), peer(bench, 'one file', one))


def tree_row(name: str, peer: Callable[[Bench, str, list[str]], Command], bench: Bench) -> Row:
    """A folder, as found, against a peer."""
    tree = existing(bench.options.tree, '--tree')
    label = os.path.basename(tree[0])
    return Row(name, check(bench, label, tree), peer(bench, label, tree))


def tree_floor_row(bench: Bench) -> Row:
    """A folder, as found, against the floor over all its YAML files."""
    (tree,) = existing(bench.options.tree, '--tree')
    label = os.path.basename(tree)
    return Row('tree-floor', check(bench, label, [tree]), floor(bench, label, yaml_files(tree)))


def list_floor_row(bench: Bench) -> Row:
    """Every document parsed and judged, against the floor over the same files."""
    paths = listed(bench)
    label = f'{len(paths)} files'
    return Row('list-floor', check(bench, f'{label} --no-gate', paths, '--no-gate'), floor(bench, label, paths))


def cache_row(bench: Bench) -> Row:
    """The same audit with a filled cache and with an empty one; both must report the same."""
    paths, warm, cold = listed(bench), bench.session.path('warm'), bench.session.path('cold')
    a = check(bench, f'{len(paths)} files, warm cache', paths, '--cache', warm)
    b = check(bench, f'{len(paths)} files, empty cache', paths, '--cache', cold)
    measure(a, bench.session, bench.session.path('stdout-a'))
    return Row('cache', a, b._replace(prepare=lambda: shutil.rmtree(cold, ignore_errors=True)), same_output=True)


ROWS: dict[str, Callable[[Bench], Row]] = {
    'version': version_row,
    'few': few_row,
    'one-yamllint': lambda bench: one_row('one-yamllint', yamllint, bench),
    'one-checkov': lambda bench: one_row('one-checkov', checkov, bench),
    'tree-yamllint': lambda bench: tree_row('tree-yamllint', yamllint, bench),
    'tree-checkov': lambda bench: tree_row('tree-checkov', checkov, bench),
    'tree-floor': tree_floor_row,
    'list-floor': list_floor_row,
    'cache': cache_row,
}


def peak(side: list[Usage]) -> str:
    """Peak MiB of a side; what is not above this process's own peak is only an upper bound."""
    most = max(run.rss for run in side)
    return f'{"<= " if most <= own_peak() else ""}{most / 2**20:.0f}'


def table_line(row: Row, runs: Runs) -> str:
    """One row of the table."""
    ratios = runs.ratios()
    middle = statistics.median(ratios)
    exits = ('/'.join(str(status) for status in sorted({run.status for run in side})) for side in runs)
    spread = f'{middle:.3g} [{min(ratios):.3g} to {max(ratios):.3g}]'
    cells = [row.name, row.a.label, row.b.label, spread, f'{1 / middle:.3g}']
    cells += [f'{statistics.median(run.cpu for run in side):.3f}' for side in runs]
    cells += [*(peak(side) for side in runs), ', '.join(exits)]
    return f'| {" | ".join(cells)} |'


def table(bench: Bench, names: list[str], failures: list[str]) -> Iterator[str]:
    """The table as it grows, one line for each row; then the rows that are missing, with the reason."""
    skips: list[str] = []
    yield HEADER
    yield '|---' * (HEADER.count('|') - 1) + '|'
    for name in names:
        try:
            row = ROWS[name](bench)
            yield table_line(row, compare(row, bench.session))
        except Skipped as reason:
            skips.append(f'- {name}: skipped, {reason}')
        except Failed as reason:
            failures.append(f'- {name}: failed, {reason}')
    if skips or failures:
        yield '\n'.join(['', *skips, *failures])


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--one', nargs=1, default=[], metavar='FILE', help='the file of one-yamllint and one-checkov')
    parser.add_argument('--few', nargs='+', default=[], metavar='FILE', help='the files of row few, usually three')
    parser.add_argument('--tree', nargs=1, default=[], metavar='DIR', help='the folder of the tree rows')
    parser.add_argument('--list', nargs=1, default=[], metavar='FILE', help='a file of paths, for list-floor and cache')
    parser.add_argument('--only', nargs='+', default=[], choices=ROWS, metavar='ROW', help=', '.join(ROWS))
    parser.add_argument('--pairs', type=int, default=7, help='pairs in each row (default: 7)')
    parser.add_argument('--jobs', type=int, default=1, help='worker processes of configaudit (default: 1)')
    parser.add_argument('--timeout', type=int, default=900, metavar='S', help='limit of one run (default: 900 seconds)')
    for name in ('configaudit', 'yamllint', 'checkov'):
        parser.add_argument(f'--{name}', metavar='PROGRAM', help='default: beside this interpreter, else on PATH')
    parser.add_argument('--python', default=sys.executable, metavar='PROGRAM', help='default: this interpreter')
    options = parser.parse_args()
    if options.pairs < 1 or options.timeout < 1:
        parser.error('--pairs and --timeout must be at least 1')
    return options


def main() -> int:
    """Print the table; 1 when a command failed, else 0."""
    options, failures = arguments(), list[str]()
    with tempfile.TemporaryDirectory() as scratch:
        bench = Bench(options, Session(scratch, options.pairs, options.timeout))
        print(f'Python {sys.version.split()[0]}, {os.cpu_count()} CPUs, {options.pairs} pairs, --jobs {options.jobs}\n')
        for text in table(bench, options.only or list(ROWS), failures):
            print(text, flush=True)
    return 1 if failures else 0


if __name__ == '__main__':
    sys.exit(main())
