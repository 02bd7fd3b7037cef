"""The DaemonSet's security profile run for real with runc: what uid 65534 sees without a capability."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parent.parent.parent
POD: dict[str, Any] = yaml.safe_load((ROOT / 'deploy/base/daemonset.yaml').read_text())['spec']['template']['spec']
SYSTEM = ('/usr', '/lib', '/lib64', '/bin')
SOMAXCONN = Path('/proc/sys/net/core/somaxconn')
PID_MAX = Path('/proc/sys/kernel/pid_max')

pytestmark = pytest.mark.real


@pytest.fixture
def runc(program: Callable[[str], str]) -> str:
    if os.getuid() != 0:
        pytest.skip('runc needs root to make a container without a user namespace')
    return program('runc')


@pytest.fixture(scope='module')
def bundle() -> Iterator[Path]:
    """A root file system with this interpreter and this package, below a folder that anybody may enter."""
    folder = Path('/tmp') / f'configaudit-runc-{os.getpid()}'
    rootfs = folder / 'rootfs'
    for name in ('proc', 'sys', 'dev', 'tmp', 'etc', 'opt/python', 'opt/app', 'opt/site', 'host', *(path.lstrip('/') for path in SYSTEM)):
        (rootfs / name).mkdir(parents=True, exist_ok=True)
    shutil.copytree(ROOT / 'configaudit', rootfs / 'opt/app/configaudit', ignore=shutil.ignore_patterns('__pycache__'))
    shutil.copytree(ROOT / 'rules', rootfs / 'opt/app/configaudit/rules', ignore=shutil.ignore_patterns('__pycache__'))
    yield folder
    shutil.rmtree(folder)


def bind(source: str, target: str, *options: str) -> dict[str, Any]:
    return {'destination': target, 'type': 'bind', 'source': source, 'options': ['rbind', 'ro', *options]}


def specification(*, host_network: bool, host_pid: bool, arguments: list[str]) -> dict[str, Any]:
    """The OCI specification that a runtime makes of the DaemonSet's pod."""
    security, pod = POD['containers'][0]['securityContext'], POD['securityContext']
    assert security['capabilities'] == {'drop': ['ALL']}
    names = ['ipc', 'uts', 'mount', *([] if host_network else ['network']), *([] if host_pid else ['pid'])]
    site = next(path for path in sys.path if path.endswith('site-packages'))
    static = [bind(volume['hostPath']['path'], '/host' + volume['hostPath']['path']) for volume in POD['volumes'] if 'hostPath' in volume and os.path.isdir(volume['hostPath']['path'])]
    return {
        'ociVersion': '1.0.2',
        'process': {
            'terminal': False, 'user': {'uid': pod['runAsUser'], 'gid': pod['runAsGroup']}, 'cwd': '/', 'args': ['/opt/python/bin/python3', '-m', 'configaudit', *arguments],
            'env': ['PYTHONPATH=/opt/app:/opt/site', 'LD_LIBRARY_PATH=/opt/python/lib', 'PYTHONDONTWRITEBYTECODE=1', 'NODE_NAME=n', 'CONFIGAUDIT_STATIC_ROOT=/host'],
            'capabilities': {kind: [] for kind in ('bounding', 'effective', 'inheritable', 'permitted', 'ambient')},
            'noNewPrivileges': not security['allowPrivilegeEscalation'],
        },
        'root': {'path': 'rootfs', 'readonly': security['readOnlyRootFilesystem']},
        'mounts': [
            {'destination': '/proc', 'type': 'proc', 'source': 'proc'},
            {'destination': '/sys', 'type': 'sysfs', 'source': 'sysfs', 'options': ['nosuid', 'noexec', 'nodev', 'ro']},
            {'destination': '/dev', 'type': 'tmpfs', 'source': 'tmpfs', 'options': ['nosuid', 'mode=755']},
            {'destination': '/tmp', 'type': 'tmpfs', 'source': 'tmpfs', 'options': ['nosuid', 'nodev', 'size=16m']},
            *(bind(path, path) for path in SYSTEM if os.path.isdir(path)), bind(sys.base_prefix, '/opt/python'), bind(site, '/opt/site'), *static,
        ],
        'linux': {'namespaces': [{'type': name} for name in names]},
    }  # fmt: skip


def run(runc: str, bundle: Path, **options: bool) -> dict[str, Any]:
    (bundle / 'config.json').write_text(json.dumps(specification(arguments=['node', '--no-config', '-f', 'json'], **options)))
    for volume in POD['volumes']:
        (bundle / 'rootfs/host' / volume.get('hostPath', {'path': '/'})['path'].lstrip('/')).mkdir(parents=True, exist_ok=True)
    done = subprocess.run([runc, 'run', f'configaudit-{os.getpid()}'], cwd=bundle, capture_output=True, text=True, timeout=60, check=False)
    if 'runc run failed' in done.stderr:
        pytest.skip(f'runc cannot start a container here: {done.stderr.strip()[-200:]}')
    assert done.returncode in (0, 1), done.stderr
    held: dict[str, Any] = json.loads(done.stdout)
    return held


def as_root() -> dict[str, Any]:
    done = subprocess.run([sys.executable, '-m', 'configaudit', 'node', '--no-config', '-f', 'json'], capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode in (0, 1), done.stderr
    held: dict[str, Any] = json.loads(done.stdout)
    return held


def live(held: dict[str, Any]) -> set[tuple[str, str]]:
    """The findings about live values: files are mounted only in part."""
    return {(item['rule'], item['location']['path']) for item in held['findings'] if item['location']['path'].startswith('/proc/sys') and 'differs' not in item['rule']}


@pytest.fixture
def lowered() -> Iterator[None]:
    """Two values that a container of its own would not see, lowered and put back."""
    if os.environ.get('CONFIGAUDIT_HOSTMUTATE') != '1':
        pytest.skip('changes kernel parameters: needs CONFIGAUDIT_HOSTMUTATE=1')
    kept = {path: path.read_text() for path in (SOMAXCONN, PID_MAX)}
    try:
        SOMAXCONN.write_text('256')
        PID_MAX.write_text('30000')
    except OSError as error:
        pytest.skip(f'the kernel parameters cannot be changed here: {error}')
    try:
        yield
    finally:
        for path, text in kept.items():
            path.write_text(text)


@pytest.mark.usefixtures('lowered')
def test_without_privileges_it_finds_what_root_finds(runc: str, bundle: Path) -> None:
    found = run(runc, bundle, host_network=True, host_pid=True)
    assert (found['node']['netns'], found['node']['pidns']) == ('host', 'host')
    assert {('sysctl-somaxconn-low', str(SOMAXCONN)), ('sysctl-pid-max-low', str(PID_MAX))} <= live(found)
    assert live(found) == live(as_root())


@pytest.mark.usefixtures('lowered')
def test_an_ordinary_pod_says_that_it_sees_the_wrong_namespace(runc: str, bundle: Path) -> None:
    found = run(runc, bundle, host_network=False, host_pid=False)
    assert (found['node']['netns'], found['node']['pidns']) == ('other', 'other')
    reasons = {item['rule']: item['reason'] for item in found['not_assessed']}
    for rule in ('sysctl-somaxconn-low', 'sysctl-pid-max-low'):
        assert 'wrong namespace' in reasons[rule]
        assert found['outcomes'][rule] == 'not-assessed'
    assert not [item for item in found['findings'] if item['location']['path'].startswith('/proc/sys/net')]
