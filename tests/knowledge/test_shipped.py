"""Which data files a run opens: none without an engine, and only what it asks for with one."""

import subprocess
import sys
from pathlib import Path

import pytest

WATCHED = '''
import sys
opened = []
def watch(event, arguments):
    if event == 'open' and isinstance(arguments[0], str) and '/knowledge/engines/' in arguments[0].replace('\\\\', '/'):
        opened.append(arguments[0].replace('\\\\', '/').rpartition('/')[2])
sys.addaudithook(watch)
from configaudit.__main__ import main
sys.argv = ['configaudit', 'check', '--no-config', sys.argv[1]]
try:
    main()
except SystemExit:
    pass
print('\\nOPENED', *sorted(set(opened)))
'''

POD = '''apiVersion: v1
kind: Pod
metadata:
  name: web
spec:
  containers:
    - name: web
      image: {image}
      args: {arguments}
      env: {env}
      resources:
        limits: {{memory: 1Gi}}
'''


def opened(folder: Path, image: str, arguments: str = '[]', env: str = '[]') -> list[str]:
    file = folder / 'pod.yaml'
    file.write_text(POD.format(image=image, arguments=arguments, env=env))
    run = subprocess.run([sys.executable, '-c', WATCHED, str(file)], capture_output=True, text=True, check=True)
    return run.stdout.rpartition('OPENED')[2].split()


@pytest.mark.parametrize('image', ['nginx:1.27', 'registry.example/team/service:2.1.0'])
def test_no_catalogue_is_opened_by_a_run_without_an_engine(tmp_path: Path, image: str) -> None:
    assert opened(tmp_path, image, '[--port=8080]', '[{name: LOG_LEVEL, value: info}]') == []


@pytest.mark.parametrize(
    ('image', 'arguments', 'engine', 'other'),
    [
        ('vllm/vllm-openai:v0.10.2', '[--model=/m, --max-num-seqs=8]', 'vllm', 'sglang'),
        ('lmsysorg/sglang:v0.5.9', '[python3, -m, sglang.launch_server, --model-path=/m]', 'sglang', 'vllm'),
    ],
)
def test_a_run_opens_the_catalogue_of_the_engine_that_it_meets(tmp_path: Path, image: str, arguments: str, engine: str, other: str) -> None:
    found = opened(tmp_path, image, arguments)
    assert f'{engine}.json' in found
    assert not any(name.startswith(other) or name.startswith('others') or name.endswith('_metrics.json') for name in found)
