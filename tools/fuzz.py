"""Mutated configuration through every reader: no crash, no hang, whatever the bytes. Fixed seed, bounded time.

Seeds are the fixtures and examples of this repository. One file is mutated and audited together with those beside it: a model's
config.json, a chart's values and a file of options are read only where another file names them. Exits 1 with the input that broke something.
A child process does the work: what ends it or holds it up, as a native parser could, is an input like another, and the next child goes on.
"""

import argparse
import faulthandler
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from configaudit.audit import audit
from configaudit.config import Config
from configaudit.report import REPORTERS, render

ROOT = Path(__file__).parent.parent
SLOWEST = 5.0
HUNG = 30
"""Seconds after which a child is ended: nothing in Python can interrupt a native parser."""
TOGETHER = 12
"""Files of a folder that are audited as one; of larger ones each by itself."""
_TOKENS = (
    b'{{ .Values.x }}', b'{{- if .a }}', b'{{- end }}', b'&a ', b'*a', b'<<: *a', b'"', b"'", b'\\', b'\n', b'\r\n', b'\t', b'---\n', b'...\n',
    b'[', b']', b'{', b'}', b': ', b'- ', b'|\n', b'>-\n', b'#', b'$(X)', b'${X:-1}', b'$X', b'`', b'\0', b'\xff', b'\xef\xbb\xbf', b'\xe2\x80\xa8',
    b'!!python/object:x ', b'=', b'999999999999999999999', b'-1', b'1e309', b'null', b'\xef\xbf\xbc', b'<<EOF\n', b'@@', b'%s', b'::error::', b'\x1b[31m',
    b'/*', b'"""', b'<<-X\n', b'${', b'%{', b'=>', b'(', b'a<', b'func f(', b'class A{', b'r#"', b'//',
)  # fmt: skip


class Seed(NamedTuple):
    """A file, and those of its case by their paths in it."""

    name: str
    data: bytes
    beside: dict[str, bytes]


def seeds() -> list[Seed]:
    """Every file of every fixture and example."""
    sides = [path.parent / side for path in (ROOT / 'fixtures').rglob('expected.txt') for side in ('bad', 'good')]
    found: list[Seed] = []
    for folder in sorted({*sides, ROOT / 'examples'}):
        paths = [path for path in sorted(folder.rglob('*')) if path.is_file() and path.stat().st_size < 20_000]
        files = {str(path.relative_to(folder)): path.read_bytes() for path in paths}
        together = files if len(files) <= TOGETHER else {}
        found.extend(Seed(name, data, {other: text for other, text in together.items() if other != name}) for name, data in files.items())
    return found


def mutated(data: bytes, others: list[Seed], chance: random.Random) -> bytes:
    """A few random edits: cut, repeat, swap, insert a token, splice another file in."""
    for _ in range(chance.randint(1, 6)):
        at = chance.randrange(len(data) + 1)
        end = min(len(data), at + chance.choice((1, 1, 2, 8, 40, 200)))
        action = chance.randrange(6)
        if action == 0:
            data = data[:at] + data[end:]
        elif action == 1:
            data = data[:at] + data[at:end] * chance.choice((2, 3, 50)) + data[end:]
        elif action == 2:
            data = data[:at] + chance.choice(_TOKENS) * chance.choice((1, 1, 1, 3, 300)) + data[at:]
        elif action == 3:
            other = chance.choice(others).data
            cut = chance.randrange(len(other) + 1)
            data = data[:at] + other[cut : cut + 300] + data[at:]
        elif action == 4:
            data = data[:at] + bytes(chance.randrange(256) for _ in range(chance.randint(1, 4))) + data[end:]
        else:
            data = data[end:] + data[:at]
    return data[:200_000]


def _by_format(pool: list[Seed]) -> dict[str, list[Seed]]:
    """The seeds by the ending of their names, so that a format with few fixtures is tried as well."""
    found: dict[str, list[Seed]] = {}
    for one in pool:
        path = Path(one.name)
        found.setdefault(path.name if path.suffix == '.json' or not path.suffix else path.suffix, []).append(one)
    return found


def run(seconds: float, seed: int, current: Path) -> Iterator[str]:
    """Fuzz for a while; yields a line for everything that went wrong. `current`: where each input is kept while it is tried."""
    chance = random.Random(seed)
    pool = seeds()
    groups = list(_by_format(pool).values())
    until = time.monotonic() + seconds
    count = 0
    while time.monotonic() < until:
        seed_file = chance.choice(chance.choice(groups) if chance.random() < 0.5 else pool)
        data = mutated(seed_file.data, pool, chance)
        current.write_bytes(seed_file.name.encode() + b'\n' + data)
        faulthandler.dump_traceback_later(HUNG, exit=True)
        with tempfile.TemporaryDirectory() as folder:
            for name, content in (*seed_file.beside.items(), (seed_file.name, data)):
                path = Path(folder, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
            started = time.monotonic()
            try:
                result = audit([folder], Config())
                broken = [error.message for error in result.errors if error.kind == 'internal']
                if broken:
                    raise AssertionError(broken[0])
                for form in REPORTERS:
                    render(form, result)
            except Exception as error:  # any exception is what is looked for
                yield _keep(data, seed_file.name, f'{type(error).__name__}: {error}')
            if time.monotonic() - started > SLOWEST:
                yield _keep(data, seed_file.name, f'took {time.monotonic() - started:.1f} s')
        count += 1
    faulthandler.cancel_dump_traceback_later()
    print(f'{count} inputs')


def supervised(seconds: float, seed: int) -> Iterator[str]:
    """Fuzz in child processes; yields a line for everything that went wrong, an input that ended a child among them."""
    until = time.monotonic() + seconds
    with tempfile.TemporaryDirectory(prefix='fuzzing-') as folder:
        current = Path(folder, 'current')
        while (left := until - time.monotonic()) > 0:
            command = [sys.executable, __file__, '--seconds', str(left), '--seed', str(seed), '--current', str(current)]
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True, errors='replace', check=False)
            yield from filter(None, done.stdout.splitlines())
            if done.returncode == 0:
                return
            name, _, data = current.read_bytes().partition(b'\n')
            yield _keep(data, name.decode(), f'ended the process ({done.returncode})')
            seed += 1


def _keep(data: bytes, name: str, what: str) -> str:
    with tempfile.NamedTemporaryFile(prefix='fuzz-', suffix='-' + Path(name).name, delete=False) as file:
        file.write(data)
    return f'{file.name}: {what}'


def main() -> None:
    """Parse the arguments and fuzz."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--seconds', type=float, default=60)
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--current', type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.current is not None:
        for problem in run(given.seconds, given.seed, given.current):
            print(problem, flush=True)
        return
    problems = [line for line in supervised(given.seconds, given.seed) if not _is_count(line)]
    print('\n'.join(problems))
    sys.exit(1 if problems else 0)


def _is_count(line: str) -> bool:
    counts = line.endswith(' inputs') and line.removesuffix(' inputs').isdigit()
    if counts:
        print(line)
    return counts


if __name__ == '__main__':
    main()
