"""What an engine's catalogue adds to a run that meets the engine: milliseconds in fresh processes, the best of several.

    python benchmarks/catalogue.py [--runs 15]
"""

import argparse
import os
import subprocess
import sys

MEASURE = """
import json  # a run that meets an engine has it already: the limits of a model, the report
import time
from configaudit.knowledge.versions import release
begin = time.perf_counter()
from configaudit.knowledge.flags import catalogue
imported = time.perf_counter()
known = catalogue({engine!r})
loaded = time.perf_counter()
version = release({version!r})
for option in {options!r}:
    known.find(option, version)
    known.status(option, version)
looked_up = time.perf_counter()
known.env_status({variable!r}, version)
print(imported - begin, loaded - imported, looked_up - loaded, time.perf_counter() - looked_up)
"""
RUNS = {
    'vllm': ('0.10.2', '--model --max-num-seqs --gpu-memory-utilization --max-model-len -tp --dtype --no-enable-chunked-prefill --port', 'VLLM_USE_V1'),
    'sglang': ('0.5.9', '--model-path --mem-fraction-static --tp-size --chunked-prefill-size --host --port --max-running-requests --dtype', 'SGLANG_X'),
}
STEPS = ('import', 'load', 'eight flags', 'a variable')


def measure(engine: str) -> list[float]:
    """Milliseconds of each step in one fresh process."""
    version, options, variable = RUNS[engine]
    script = MEASURE.format(engine=engine, version=version, options=options.split(), variable=variable)
    environment = {name: value for name, value in os.environ.items() if name != 'PYTHONDONTWRITEBYTECODE'}  # as installed: compiled
    output = subprocess.run([sys.executable, '-c', script], capture_output=True, text=True, check=True, env=environment).stdout
    return [float(text) * 1000 for text in output.split()]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--runs', type=int, default=15)
    runs = parser.parse_args().runs
    print(f'| engine | {" | ".join(STEPS)} | load and flags |')
    print('|---' * (len(STEPS) + 2) + '|')
    for engine in RUNS:
        best = [min(step) for step in zip(*(measure(engine) for _ in range(runs)))]
        cells = ' | '.join(f'{step:.1f} ms' for step in best)
        print(f'| {engine} | {cells} | {best[1] + best[2]:.1f} ms |')
    return 0


if __name__ == '__main__':
    sys.exit(main())
