"""The command line: `python -m tools.engine_history update --engine vllm`."""

import argparse
import json
import sys
from collections.abc import Iterable
from pathlib import Path

from configaudit.knowledge.versions import release as version_of

from .entry_points import flags
from .history import Json, Snapshot, collapse, expand, in_order, keys_of, rekey, snapshot
from .index import Release, fetch, releases
from .review import changes
from .sources import cache_folder, sources

SHIPPED = Path(__file__).parents[2] / 'configaudit' / 'knowledge' / 'engines'
# The first releases that the catalogues hold.
SINCE = {'vllm': '0.2.7', 'sglang': '0.3.0'}
EMPTY: Json = {'versions': [], 'flags': {}, 'env': {}, 'metrics': {}}
# Files beside ENGINE.json for what is rarely asked for: it is loaded only then.
PARTS = {'env': ('env',), 'metrics': ('metrics', 'hidden_metrics', 'metric_kinds')}


def lines(value: Json) -> str:
    """JSON with one line for each name, so that a change shows in a diff as the name it touches."""
    parts = []
    for key, content in sorted(value.items()):
        if isinstance(content, dict):
            rows = [f'{json.dumps(name)}:{dump(entry)}' for name, entry in sorted(content.items())]
            parts.append(f'{json.dumps(key)}: {{\n' + ',\n'.join(rows) + '\n}')
        else:
            parts.append(f'{json.dumps(key)}: {dump(content)}')
    return '{\n' + ',\n'.join(parts) + '\n}\n'


def dump(value: object) -> str:
    return json.dumps(value, sort_keys=True, separators=(',', ':'), ensure_ascii=True)


def load(folder: Path, engine: str) -> Json:
    """What the catalogue holds, all its files together; nothing when it is not there."""
    files = [folder / f'{engine}.json', *(folder / f'{engine}_{part}.json' for part in PARTS)]
    found = dict(EMPTY)
    for file in files:
        found.update(json.loads(file.read_text()) if file.exists() else {})
    return found


def write(folder: Path, engine: str, shipped: Json) -> None:
    """The catalogue as its files."""
    for part, keys in PARTS.items():
        (folder / f'{engine}_{part}.json').write_text(lines({key: shipped.pop(key) for key in keys}))
    (folder / f'{engine}.json').write_text(lines(shipped))


def read(engine: str, release: Release, folder: Path) -> Snapshot:
    """A release as its published files say."""
    found = sources(engine, release, folder)
    return snapshot(engine, flags(engine, release.version, found), found)


def report(snapshots: dict[str, Snapshot], shown: Iterable[str]) -> None:
    """Prints what each of the shown releases changes."""
    order = in_order(snapshots)
    for name in in_order(shown):
        place = order.index(name)
        print(f'== {name}')
        print('\n'.join(changes(snapshots[order[place - 1]] if place else None, snapshots[name])) or 'no change')


def update(options: argparse.Namespace) -> int:
    """Adds the releases that are missing (or the one that is asked for) and prints what they change."""
    shipped = EMPTY if options.rebuild else load(options.output, options.engine)
    snapshots = expand(shipped)
    since = version_of(options.since or SINCE[options.engine])
    listed = releases(fetch(options.engine), since)
    wanted = [each for each in listed if each.name == options.release or (not options.release and each.name not in snapshots)]
    if options.release and not wanted:
        print(f'{options.engine} {options.release}: not in the index', file=sys.stderr)
        return 1
    failed = 0
    for release in wanted:
        try:
            snapshots[release.name] = read(options.engine, release, options.cache)
        except (OSError, ValueError, LookupError) as error:
            print(f'{options.engine} {release.name}: {error}', file=sys.stderr)
            failed = 1
    snapshots = rekey(snapshots, keys_of(shipped))
    write(options.output, options.engine, collapse(options.engine, snapshots))
    report(snapshots, (release.name for release in wanted if release.name in snapshots))
    return failed


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog='python -m tools.engine_history', description='histories of engine settings')
    command = parser.add_subparsers(required=True).add_parser('update', help='add releases to a catalogue')
    command.add_argument('--engine', choices=sorted(SINCE), required=True)
    command.add_argument('--since', help='oldest release to read')
    command.add_argument('--release', help='only this release, also when the catalogue has it')
    command.add_argument('--rebuild', action='store_true', help='forget what the catalogue holds')
    command.add_argument('--cache', type=Path, default=cache_folder(), help='folder for the files of the releases')
    command.add_argument('--output', type=Path, default=SHIPPED, help='folder of the catalogues')
    command.set_defaults(run=update)
    options = parser.parse_args(arguments)
    status: int = options.run(options)
    return status


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
