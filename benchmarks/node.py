"""What the audit of a node costs on this host, and a fleet of reports on this machine: CPU seconds and MiB.

    python benchmarks/node.py [--runs 15] [--nodes 5000]
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

NODE = [sys.executable, '-m', 'configaudit', 'node', '--no-config']
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != 'PYTHONDONTWRITEBYTECODE'}  # as installed: compiled
TICKS = os.sysconf('SC_CLK_TCK')


def once() -> tuple[float, str]:
    """CPU seconds of one audit in a fresh process, and its report."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    report = subprocess.run([*NODE, '-f', 'json', '--fail-on', 'never'], stdout=subprocess.PIPE, text=True, check=True, env=ENVIRONMENT).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime, report


def cpu(pid: int) -> float:
    """CPU seconds of a process so far."""
    fields = Path(f'/proc/{pid}/stat').read_text().rpartition(')')[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def agent(runs: int) -> tuple[float, float]:
    """CPU seconds of a run after the first, and MiB resident between runs."""
    with subprocess.Popen([*NODE, '--watch', '1s'], stdout=subprocess.PIPE, text=True, env=ENVIRONMENT) as process:
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(0.5)
        before = cpu(process.pid)
        for _ in range(runs):
            process.stdout.readline()
        time.sleep(0.5)
        each = (cpu(process.pid) - before) / runs
        resident = next(int(line.split()[1]) for line in Path(f'/proc/{process.pid}/status').read_text().splitlines() if line.startswith('VmRSS:'))
        process.terminate()
    return each, resident / 1024


def fleet(report: str, nodes: int) -> tuple[float, float]:
    """CPU seconds and MiB of `node-report` over one file of many nodes, one in a hundred of which differs."""
    held = json.loads(report)
    with tempfile.NamedTemporaryFile('w', suffix='.jsonl') as file:
        for number in range(nodes):
            held['node']['name'] = f'node-{number}'
            held['values']['vm.swappiness'] = '1' if number % 100 else '60'
            file.write(json.dumps(held, separators=(',', ':')) + '\n')
        file.flush()
        with subprocess.Popen([sys.executable, '-m', 'configaudit', 'node-report', file.name], stdout=subprocess.DEVNULL, env=ENVIRONMENT) as process:
            _, _, used = os.wait4(process.pid, 0)
            process.returncode = 0
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--runs', type=int, default=15)
    parser.add_argument('--nodes', type=int, default=5000)
    options = parser.parse_args()
    once()
    single = [once() for _ in range(options.runs)]
    seconds = [used for used, _ in single]
    each, resident = agent(options.runs)
    aggregated, peak = fleet(single[0][1], options.nodes)
    print('| what | CPU, s | MiB |\n|---|---|---|')
    print(f'| `node`, a fresh process, median of {options.runs} [least to most] | {statistics.median(seconds):.2f} [{min(seconds):.2f} to {max(seconds):.2f}] | |')
    print(f'| a run of the agent, mean of {options.runs}; resident between runs | {each:.2f} | {resident:.0f} |')
    print(f'| `node-report` of {options.nodes} reports; peak | {aggregated:.1f} | {peak:.0f} |')
    return 0


if __name__ == '__main__':
    sys.exit(main())
