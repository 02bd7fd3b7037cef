"""What reading source code adds to a run: 2,000 Go and Python files (20 MB), 20 of which set up what is judged.

Prints seconds of CPU (user and system, median) of `configaudit check` over one manifest alone and with the source files beside it.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

FILES = 2000
RELEVANT = 20
SIZE = 10 * 1024
RUNS = 7

MANIFEST = 'apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: {ports: [{port: 1}]}\n'
GO_HEAD = 'package a\n\nimport (\n\t"net/http"\n\t"time"\n\n\t"google.golang.org/grpc"\n\t"google.golang.org/grpc/keepalive"\n)\n\n'
GO_BODY = """// Step {n} of the work.
func (s *Service) step{n}(ctx context.Context, items []Item) (map[string]int, error) {{
	found := make(map[string]int, len(items))
	for i, item := range items {{
		if item.Name == "" || i > {n} {{
			return nil, fmt.Errorf("item %d has no name: %w", i, ErrEmpty)
		}}
		found[item.Name] += item.Count * (i + 1)
	}}
	return found, nil
}}

"""
GO_RELEVANT = """func dial(address string) (*grpc.ClientConn, error) {
	return grpc.NewClient(address, grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: 5 * time.Minute}))
}

"""
PYTHON_HEAD = 'import os\n\nfrom sqlalchemy import create_engine\n\n\n'
PYTHON_BODY = """def step_{n}(items):
    \"\"\"Step {n} of the work.\"\"\"
    found = {{}}
    for i, item in enumerate(items):
        if not item.name or i > {n}:
            raise ValueError(f'item {{i}} has no name')
        found[item.name] = found.get(item.name, 0) + item.count * (i + 1)
    return found


"""
PYTHON_RELEVANT = 'engine = create_engine(os.environ["DATABASE_URL"], pool_size=5)\n\n\n'


def write(folder: Path) -> int:
    """The source files; how many bytes they have."""
    total = 0
    for number in range(FILES):
        go = number % 2 == 0
        relevant = number < RELEVANT
        head = (GO_HEAD if go else PYTHON_HEAD) if relevant else ('package a\n\n' if go else 'import os\n\n\n')
        text = head + ((GO_RELEVANT if go else PYTHON_RELEVANT) if relevant else '')
        step = 0
        while len(text) < SIZE:
            text += (GO_BODY if go else PYTHON_BODY).format(n=step)
            step += 1
        path = folder / f'part{number // 100}' / f'file{number}.{"go" if go else "py"}'
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        total += len(text)
    return total


def seconds(folder: Path) -> float:
    """CPU seconds of one run."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, '-m', 'configaudit', 'check', '.', '--no-config', '--format', 'json']
    subprocess.run(command, cwd=folder, env={**os.environ, 'NO_COLOR': '1'}, stdout=subprocess.DEVNULL, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Measure alternately and print the medians and what the source files add."""
    with tempfile.TemporaryDirectory() as place:
        alone, beside = Path(place, 'alone'), Path(place, 'beside')
        for folder in (alone, beside):
            folder.mkdir()
            (folder / 'service.yaml').write_text(MANIFEST)
        size = write(beside)
        pairs = [(seconds(alone), seconds(beside)) for _ in range(RUNS)]
    without, with_code = (statistics.median(column) for column in zip(*pairs))
    print(f'{FILES} files, {size / 1e6:.1f} MB, {RELEVANT} relevant: {without:.2f} s alone, {with_code:.2f} s with code, {with_code - without:+.2f} s')


if __name__ == '__main__':
    main()
