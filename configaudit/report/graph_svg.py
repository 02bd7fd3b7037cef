"""The graph as a picture: drawn by the `dot` program of Graphviz, which is run with the graph on its standard input."""

import shutil
import subprocess

from configaudit.errors import UsageError
from configaudit.graph import Graph
from configaudit.report import Options
from configaudit.report.graph_dot import render as dot

LONGEST_S = 300
"""dot takes seconds for hundreds of boxes, and has been seen to take minutes for thousands."""
_NARROWER = 'narrow it with --around, --kind or --severity'


def render(graph: Graph, options: Options) -> str:
    """The SVG that dot makes; UsageError when there is no dot, or it fails."""
    program = shutil.which('dot')
    if program is None:
        raise UsageError('--format svg needs the `dot` program: install Graphviz (apt install graphviz, dnf install graphviz, brew install graphviz), or use --format mermaid or dot')
    try:
        done = subprocess.run([program, '-Tsvg'], input=dot(graph, options).encode(), capture_output=True, timeout=LONGEST_S, check=False)
    except subprocess.TimeoutExpired:
        raise UsageError(f'dot did not finish in {LONGEST_S} s: {_NARROWER}') from None
    except OSError as error:
        raise UsageError(f'{program}: {error.strerror or error}') from None
    if done.returncode or not done.stdout:
        raise UsageError(f'dot failed with status {done.returncode}: {done.stderr.decode(errors="replace").strip()[:300]}')
    return done.stdout.decode('utf-8', 'replace')
