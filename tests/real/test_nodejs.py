"""What is said of Node.js holds on a real one: its thread pool, its keep-alive, the clock of AbortSignal.timeout."""

import shutil
import subprocess
from pathlib import Path

import pytest

from configaudit.audit import audit
from configaudit.config import Config

pytestmark = [pytest.mark.real, pytest.mark.skipif(shutil.which('node') is None, reason='needs node')]

THREADS = """
import crypto from 'crypto';
import fs from 'fs';
process.env.UV_THREADPOOL_SIZE ??= '32';
for (let i = 0; i < 64; i++) crypto.pbkdf2('a', 'b', 1000, 64, 'sha512', () => {});
setTimeout(() => console.log(fs.readdirSync('/proc/self/task').length), 300);
"""
STREAM = """
import http from 'http';
const server = http.createServer((req, res) => {
  res.writeHead(200);
  const timer = setInterval(() => res.write('x'), 100);
  res.on('close', () => clearInterval(timer));
}).listen(0, async () => {
  const upstream = await fetch(`http://127.0.0.1:${server.address().port}`, { signal: AbortSignal.timeout(600) });
  let pieces = 0;
  try {
    for await (const piece of upstream.body) pieces += 1;
  } catch (problem) {
    console.log(upstream.status, pieces > 1, problem.name);
  }
  process.exit(0);
});
"""
IDLE = """
import http from 'http';
import net from 'net';
const server = http.createServer((req, res) => res.end('x'));
KEEP
server.listen(0, () => {
  const socket = net.connect(server.address().port, '127.0.0.1');
  let answered = 0;
  socket.on('data', () => { answered = Date.now(); });
  socket.on('close', () => { console.log(Math.round((Date.now() - answered) / 1000)); process.exit(0); });
  socket.write('GET / HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n');
});
"""


def said(folder: Path, text: str, **environment: str) -> str:
    (folder / 'a.mjs').write_text(text)
    done = subprocess.run(['node', 'a.mjs'], cwd=folder, env={'PATH': '/usr/local/bin:/usr/bin:/bin', **environment}, capture_output=True, text=True, timeout=60, check=True)
    return done.stdout.strip()


@pytest.mark.skipif(not Path('/proc/self/task').exists(), reason='counts threads in /proc')
def test_a_module_cannot_size_the_pool_that_loaded_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own, given = int(said(tmp_path, THREADS)), int(said(tmp_path, THREADS, UV_THREADPOOL_SIZE='32'))
    assert given - own == 28
    (tmp_path / 'a.mjs').write_text(THREADS.replace('??=', '='))
    monkeypatch.chdir(tmp_path)
    assert 'node-threadpool-set-too-late' in {finding.rule.id for finding in audit(['.'], Config()).findings}


def test_the_clock_of_a_signal_runs_over_the_whole_stream(tmp_path: Path) -> None:
    assert said(tmp_path, STREAM) == '200 true TimeoutError'


@pytest.mark.parametrize(('keep', 'seconds'), [('', (5, 6, 7)), ('server.keepAliveTimeout = 2000;', (2, 3))])
def test_an_idle_connection_is_kept_as_long_as_is_said(tmp_path: Path, keep: str, seconds: tuple[int, ...]) -> None:
    """Newer releases keep it a second longer than they announce."""
    assert int(said(tmp_path, IDLE.replace('KEEP', keep))) in seconds
