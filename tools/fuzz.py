"""Mutated configuration through every reader: no crash, no hang, whatever the bytes. Fixed seed, bounded time.

Seeds are the fixtures and examples of this repository. Exits 1 with the input that broke something.
"""

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from configaudit.audit import audit
from configaudit.config import Config
from configaudit.report import REPORTERS, render

ROOT = Path(__file__).parent.parent
SLOWEST = 5.0
_TOKENS = (
    b'{{ .Values.x }}', b'{{- if .a }}', b'{{- end }}', b'&a ', b'*a', b'<<: *a', b'"', b"'", b'\\', b'\n', b'\r\n', b'\t', b'---\n', b'...\n',
    b'[', b']', b'{', b'}', b': ', b'- ', b'|\n', b'>-\n', b'#', b'$(X)', b'${X:-1}', b'$X', b'`', b'\0', b'\xff', b'\xef\xbb\xbf', b'\xe2\x80\xa8',
    b'!!python/object:x ', b'=', b'999999999999999999999', b'-1', b'1e309', b'null', b'\xef\xbf\xbc', b'<<EOF\n', b'@@', b'%s', b'::error::', b'\x1b[31m',
)  # fmt: skip


def seeds() -> list[tuple[str, bytes]]:
    """(file name, bytes) of every fixture and example."""
    folders = (ROOT / 'fixtures', ROOT / 'examples')
    files = sorted(path for folder in folders for path in folder.rglob('*') if path.is_file() and path.name != 'expected.txt')
    return [(path.name, path.read_bytes()) for path in files if path.stat().st_size < 20_000]


def mutated(data: bytes, others: list[tuple[str, bytes]], chance: random.Random) -> bytes:
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
            other = chance.choice(others)[1]
            cut = chance.randrange(len(other) + 1)
            data = data[:at] + other[cut : cut + 300] + data[at:]
        elif action == 4:
            data = data[:at] + bytes(chance.randrange(256) for _ in range(chance.randint(1, 4))) + data[end:]
        else:
            data = data[end:] + data[:at]
    return data[:200_000]


def run(seconds: float, seed: int) -> Iterator[str]:
    """Fuzz for a while; yields a line for everything that went wrong."""
    chance = random.Random(seed)
    pool = seeds()
    until = time.monotonic() + seconds
    count = 0
    with tempfile.TemporaryDirectory() as folder:
        while time.monotonic() < until:
            name, data = chance.choice(pool)
            data = mutated(data, pool, chance)
            path = Path(folder) / name
            path.write_bytes(data)
            started = time.monotonic()
            try:
                result = audit([str(path)], Config())
                for form in REPORTERS:
                    render(form, result)
            except Exception as error:  # any exception is what is looked for
                yield _keep(data, name, f'{type(error).__name__}: {error}')
            if time.monotonic() - started > SLOWEST:
                yield _keep(data, name, f'took {time.monotonic() - started:.1f} s')
            path.unlink()
            count += 1
    print(f'{count} inputs')


def _keep(data: bytes, name: str, what: str) -> str:
    with tempfile.NamedTemporaryFile(prefix='fuzz-', suffix='-' + name, delete=False) as file:
        file.write(data)
    return f'{file.name}: {what}'


def main() -> None:
    """Parse the arguments and fuzz."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--seconds', type=float, default=60)
    parser.add_argument('--seed', type=int, default=1)
    given = parser.parse_args()
    problems = list(run(given.seconds, given.seed))
    print('\n'.join(problems))
    sys.exit(1 if problems else 0)


if __name__ == '__main__':
    main()
