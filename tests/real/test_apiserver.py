"""A real kube-apiserver with the CRDs of OpenReports and of the Prometheus operator: what it takes of the agent, of deploy/, and of the agent's rights.

Opt-in: `python tools/real_apiserver.py` builds the two programs, which takes minutes. Without them these tests are skipped.
"""

import contextlib
import copy
import json
import os
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml
from jsonschema import Draft202012Validator
from report_schema import SCHEMAS

from configaudit.audit import audit_node
from configaudit.config import Config
from configaudit.host.snapshot import Snapshot
from configaudit.outcomes import outcomes
from configaudit.publish import cluster_object
from configaudit.report.cluster_report import cluster_report

ROOT = Path(__file__).parent.parent.parent
DEPLOY = ROOT / 'deploy'
PROGRAMS = Path(os.environ.get('CONFIGAUDIT_APISERVER') or Path.home() / '.cache/configaudit/apiserver')
MISSING = [name for name in ('etcd', 'kube-apiserver', 'openreports.io_clusterreports.yaml') if not (PROGRAMS / name).exists()]
ADMIN = 'admin-of-a-test'
PATIENCE_S = 120.0
Object = dict[str, Any]

pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(bool(MISSING), reason=f'{" and ".join(MISSING)} not in {PROGRAMS}: `python tools/real_apiserver.py` builds them'),
    pytest.mark.skipif(shutil.which('openssl') is None, reason='the program openssl is missing: it makes the key that signs tokens'),
]


def answered(text: bytes) -> Object:
    """An object, or a text as its message."""
    try:
        held: Object = json.loads(text)
    except ValueError:
        return {'message': text.decode()}
    return held


class Cluster(NamedTuple):
    """A control plane that runs no pods."""

    address: str
    authority: str
    folder: Path

    def kubeconfig(self, user: str, token: str) -> str:
        """A file that leads a client here."""
        path = self.folder / f'kubeconfig-{user}'
        held = {
            'apiVersion': 'v1', 'kind': 'Config', 'current-context': 'test', 'users': [{'name': 'user', 'user': {'token': token}}],
            'clusters': [{'name': 'test', 'cluster': {'server': self.address, 'certificate-authority': self.authority}}],
            'contexts': [{'name': 'test', 'context': {'cluster': 'test', 'user': 'user'}}],
        }  # fmt: skip
        path.write_text(json.dumps(held))
        return str(path)

    def call(self, method: str, path: str, body: Object | None = None, *, token: str = ADMIN, content_type: str = 'application/json') -> tuple[int, Object]:
        """A request as it is, and its answer."""
        headers = {'Authorization': f'Bearer {token}', 'Content-Type': content_type}
        request = urllib.request.Request(self.address + path, method=method, headers=headers, data=json.dumps(body).encode() if body is not None else None)
        try:
            with urllib.request.urlopen(request, timeout=30, context=ssl.create_default_context(cafile=self.authority)) as answer:
                return answer.status, answered(answer.read())
        except urllib.error.HTTPError as error:
            return error.code, answered(error.read())

    def apply(self, body: Object, *, token: str = ADMIN, dry: bool = False) -> tuple[int, Object]:
        """Server-side apply of any object that the server knows."""
        path = self.path(body) + '?fieldManager=test&force=true&fieldValidation=Strict' + ('&dryRun=All' if dry else '')
        return self.call('PATCH', path, body, token=token, content_type='application/apply-patch+yaml')

    def path(self, body: Object) -> str:
        """Where an object stands."""
        version = body['apiVersion']
        prefix = f'/apis/{version}' if '/' in version else f'/api/{version}'
        kinds = {item['kind']: item for item in self.call('GET', prefix)[1].get('resources', ()) if '/' not in item['name']}
        assert body['kind'] in kinds, f'the server has no {version} {body["kind"]}'
        kind, meta = kinds[body['kind']], body['metadata']
        namespace = f'/namespaces/{meta["namespace"]}' if kind['namespaced'] else ''
        return f'{prefix}{namespace}/{kind["name"]}/{meta["name"]}'


def free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as held:
        return [held.enter_context(socket.create_server(('127.0.0.1', 0))).getsockname()[1] for _ in range(count)]


def until(condition: Callable[[], object], what: str, seconds: float = PATIENCE_S) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, what
        time.sleep(0.1)


@pytest.fixture(scope='module')
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    folder = tmp_path_factory.mktemp('apiserver')
    database, peer, port = free_ports(3)
    (folder / 'tokens.csv').write_text(f'{ADMIN},admin,1,system:masters\n')
    subprocess.run(['openssl', 'genrsa', '-out', folder / 'key.pem', '2048'], check=True, capture_output=True)
    held = Cluster(f'https://127.0.0.1:{port}', str(folder / 'certificates/apiserver.crt'), folder)
    with contextlib.ExitStack() as running:
        _start(running, folder, [
            'etcd', f'--data-dir={folder}/etcd', f'--listen-client-urls=http://127.0.0.1:{database}', f'--advertise-client-urls=http://127.0.0.1:{database}',
            f'--listen-peer-urls=http://127.0.0.1:{peer}', f'--initial-advertise-peer-urls=http://127.0.0.1:{peer}',
            f'--initial-cluster=default=http://127.0.0.1:{peer}', '--unsafe-no-fsync',
        ])  # fmt: skip
        process = _start(running, folder, [
            'kube-apiserver', f'--etcd-servers=http://127.0.0.1:{database}', '--bind-address=127.0.0.1', f'--secure-port={port}', f'--cert-dir={folder}/certificates',
            '--authorization-mode=RBAC', f'--token-auth-file={folder}/tokens.csv', '--service-cluster-ip-range=10.0.0.0/24', '--endpoint-reconciler-type=none',
            '--allow-privileged=true', f'--service-account-key-file={folder}/key.pem', f'--service-account-signing-key-file={folder}/key.pem',
            '--service-account-issuer=https://kubernetes.default.svc',
        ])  # fmt: skip

        def is_ready() -> bool:
            assert process.poll() is None, (folder / 'kube-apiserver.log').read_text()[-3000:]
            with contextlib.suppress(OSError):
                return held.call('GET', '/readyz')[0] == 200
            return False

        until(is_ready, 'kube-apiserver did not become ready')
        yield held


def _start(running: contextlib.ExitStack, folder: Path, argv: list[str]) -> 'subprocess.Popen[bytes]':
    log = running.enter_context((folder / f'{argv[0]}.log').open('wb'))
    process = subprocess.Popen([PROGRAMS / argv[0], *argv[1:]], stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def stop() -> None:
        process.send_signal(signal.SIGKILL)
        process.wait()

    running.callback(stop)
    return process


@pytest.fixture(scope='module')
def crds(cluster: Cluster) -> None:
    """The CRDs that manifests and reports need, in force."""
    for path in sorted(PROGRAMS.glob('*.yaml')):
        crd = yaml.safe_load(path.read_text())
        assert cluster.apply(crd)[0] in (200, 201)
        group = f'/apis/{crd["spec"]["group"]}/{crd["spec"]["versions"][0]["name"]}'
        kind = crd['spec']['names']['kind']
        until(lambda group=group, kind=kind: any(item['kind'] == kind for item in cluster.call('GET', group)[1].get('resources', ())), kind)


def rendered(folder: Path) -> list[Object]:
    """A kustomization with its resources and JSON patches, as kustomize renders it."""
    held = yaml.safe_load((folder / 'kustomization.yaml').read_text())
    objects: list[Object] = []
    for name in held.get('resources', ()):
        path = (folder / name).resolve()
        objects += rendered(path) if path.is_dir() else [item for item in yaml.safe_load_all(path.read_text()) if item]
    return patched(objects, held.get('patches', ()))


def patched(objects: list[Object], patches: list[Object]) -> list[Object]:
    objects = copy.deepcopy(objects)
    for patch in patches:
        (target,) = (item for item in objects if item['kind'] == patch['target']['kind'] and item['metadata']['name'] == patch['target']['name'])
        for step in yaml.safe_load(patch['patch']):
            assert step['op'] in ('add', 'replace')
            *parents, last = step['path'].split('/')[1:]
            at: Any = target
            for part in parents:
                at = at[int(part)] if isinstance(at, list) else at[part]
            if last == '-':
                at.append(step['value'])
            else:
                assert step['op'] == 'add' or last in at, step
                at[last] = step['value']
    return objects


def manifests() -> dict[str, list[Object]]:
    held = {str(path.parent.relative_to(DEPLOY)): rendered(path.parent) for path in sorted(DEPLOY.rglob('kustomization.yaml')) if 'components' not in path.parts}
    base = held['base']
    for path in sorted((DEPLOY / 'components').glob('*/kustomization.yaml')):
        held[f'base with {path.parent.name}'] = patched(base, yaml.safe_load(path.read_text())['patches'])
    held['node.yaml'] = list(yaml.safe_load_all((DEPLOY / 'node.yaml').read_text()))
    return held


@pytest.fixture(scope='module')
def namespace(cluster: Cluster) -> None:
    """The namespace and the service account, in force: a dry run of the rest needs them."""
    for item in rendered(DEPLOY / 'base'):
        if item['kind'] != 'DaemonSet':
            assert cluster.apply(item)[0] in (200, 201)


@pytest.mark.usefixtures('crds', 'namespace')
@pytest.mark.parametrize('name', manifests())
def test_manifests_are_accepted(cluster: Cluster, name: str) -> None:
    taken = []
    for item in manifests()[name]:
        status, answer = cluster.apply(item, dry=True)
        assert status in (200, 201), f'{item["kind"]}: {answer.get("message")}'
        taken.append(item['kind'])
    assert taken.count('DaemonSet') == 1


def test_a_wrong_manifest_is_refused(cluster: Cluster, namespace: None) -> None:
    (daemonset,) = (item for item in rendered(DEPLOY / 'base') if item['kind'] == 'DaemonSet')
    daemonset['spec']['template']['spec']['hostNetworks'] = True
    status, answer = cluster.apply(daemonset, dry=True)
    assert status >= 400
    assert 'hostNetworks' in answer['message']


@pytest.mark.parametrize('name', manifests())
def test_the_namespace_lets_the_pod_in_and_a_baseline_one_does_not(cluster: Cluster, namespace: None, name: str) -> None:
    (template,) = (item['spec']['template'] for item in manifests()[name] if item['kind'] == 'DaemonSet')
    strict = {'apiVersion': 'v1', 'kind': 'Namespace', 'metadata': {'name': 'strict', 'labels': {'pod-security.kubernetes.io/enforce': 'baseline'}}}
    account = {'apiVersion': 'v1', 'kind': 'ServiceAccount', 'metadata': {'name': 'configaudit-node', 'namespace': 'strict'}}
    assert all(cluster.apply(item)[0] in (200, 201) for item in (strict, account))
    pod = {'apiVersion': 'v1', 'kind': 'Pod', 'metadata': {'name': 'agent', 'namespace': 'configaudit'}, 'spec': template['spec']}
    assert cluster.apply(pod, dry=True)[0] == 201
    status, answer = cluster.apply({**pod, 'metadata': {'name': 'agent', 'namespace': 'strict'}}, dry=True)
    assert (status, 'violates PodSecurity "baseline' in answer['message']) == (403, True)


def role(verbs: list[str]) -> Object:
    (held,) = (item for item in rendered(DEPLOY / 'overlays/openreports') if item['kind'] == 'ClusterRole')
    held['rules'][0]['verbs'] = verbs
    return held


@pytest.fixture
def token(cluster: Cluster, crds: None, namespace: None) -> str:
    """What the agent's pod is given: a token of its service account, with the rights of the overlay in force."""
    for item in rendered(DEPLOY / 'overlays/openreports'):
        if item['kind'] in ('ClusterRole', 'ClusterRoleBinding'):
            assert cluster.apply(item)[0] in (200, 201)
    status, answer = cluster.call('POST', '/api/v1/namespaces/configaudit/serviceaccounts/configaudit-node/token', {'spec': {'expirationSeconds': 3600}})
    assert status == 201, answer
    value: str = answer['status']['token']
    until(lambda: may(cluster, value, 'patch') and may(cluster, value, 'create'), 'the rights are not in force')
    return value


def may(cluster: Cluster, token: str, verb: str, resource: str = 'clusterreports', group: str = 'openreports.io') -> bool:
    asked = {'apiVersion': 'authorization.k8s.io/v1', 'kind': 'SelfSubjectAccessReview', 'spec': {'resourceAttributes': {'verb': verb, 'resource': resource, 'group': group}}}
    return bool(cluster.call('POST', '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', asked, token=token)[1]['status']['allowed'])


def report(node: str, somaxconn: str = '256') -> Object:
    snapshot = Snapshot({'/proc/sys/net/core/somaxconn': somaxconn}, facts={'netns': 'host', 'pidns': 'host', 'name': node})
    return cluster_report(outcomes(audit_node(snapshot, Config())), node, 1.8e9)


def test_the_agent_publishes_with_its_own_token_and_updates(cluster: Cluster, token: str, tmp_path: Path) -> None:
    files = {'net/core/netdev_max_backlog': '1000', 'net/core/somaxconn': '256', 'kernel/osrelease': '6.8.0'}
    for name, text in files.items():
        (tmp_path / 'proc/sys' / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / 'proc/sys' / name).write_text(text)
    command = [sys.executable, '-m', 'configaudit', 'node', '--no-config', '--sysroot', str(tmp_path), '--watch', '2s', '--publish', 'openreports', '--quiet']
    environment = {**os.environ, 'NODE_NAME': 'Node_A.example', 'KUBECONFIG': cluster.kubeconfig('agent', token)}
    path = '/apis/openreports.io/v1alpha1/clusterreports/configaudit-node-a.example'

    def result() -> str:
        held = cluster.call('GET', path)[1]
        return next((item['result'] for item in held.get('results', ()) if item['policy'] == 'sysctl-somaxconn-low'), '')

    with (tmp_path / 'stderr').open('w') as log, subprocess.Popen(command, stderr=log, env=environment) as process:
        try:
            until(lambda: result() == 'fail', 'no report')
            held = cluster.call('GET', path)[1]
            assert held['scope'] == {'kind': 'Node', 'apiVersion': 'v1', 'name': 'Node_A.example'}
            assert [item['manager'] for item in held['metadata']['managedFields']] == ['configaudit']
            (tmp_path / 'proc/sys/net/core/somaxconn').write_text('65535')
            until(lambda: result() == 'pass', 'no newer report')
            assert cluster.call('GET', path)[1]['metadata']['uid'] == held['metadata']['uid']
        finally:
            process.terminate()
        assert process.wait(5) == 0
    assert (tmp_path / 'stderr').read_text() == ''
    environment['KUBECONFIG'] = cluster.kubeconfig('admin', ADMIN)
    read = subprocess.run([sys.executable, '-m', 'configaudit', 'node-report', '--cluster', 'openreports', '-f', 'json'], env=environment, capture_output=True, text=True, check=False)
    assert (read.returncode, json.loads(read.stdout)['nodes'], read.stderr) == (0, 1, '')


def test_inside_a_pod_the_mounted_token_is_used(cluster: Cluster, token: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from kubernetes.config import incluster_config

    (tmp_path / 'token').write_text(token)
    monkeypatch.setattr(incluster_config, 'SERVICE_TOKEN_FILENAME', str(tmp_path / 'token'))
    monkeypatch.setattr(incluster_config, 'SERVICE_CERT_FILENAME', cluster.authority)
    monkeypatch.setenv('HOME', str(tmp_path))
    monkeypatch.delenv('KUBECONFIG', raising=False)
    monkeypatch.setenv('KUBERNETES_SERVICE_HOST', '127.0.0.1')
    monkeypatch.setenv('KUBERNETES_SERVICE_PORT', cluster.address.rpartition(':')[2])
    cluster_object.apply(report('node-c'), 'clusterreports')
    held = cluster.call('GET', '/apis/openreports.io/v1alpha1/clusterreports/configaudit-node-c')[1]
    assert held['metadata']['managedFields'][0]['manager'] == 'configaudit'


def test_every_right_of_the_overlay_is_needed_and_there_is_no_other(cluster: Cluster, token: str) -> None:
    for verbs, wanted in ((['create', 'patch'], 201), (['patch'], 403), (['create'], 403)):
        assert cluster.apply(role(verbs))[0] == 200
        until(lambda verbs=verbs: [may(cluster, token, verb) for verb in ('create', 'patch')] == [verb in verbs for verb in ('create', 'patch')], 'the rights are not in force')
        status, answer = cluster.apply(report(f'node-{"-".join(verbs)}'), token=token)
        assert status == wanted, answer
    assert cluster.apply(role(['create', 'patch']))[0] == 200
    for verb, resource, group in [
        *((verb, 'clusterreports', 'openreports.io') for verb in ('get', 'list', 'watch', 'update', 'delete', 'deletecollection')),
        ('list', 'nodes', ''), ('get', 'secrets', ''), ('list', 'pods', ''), ('create', 'reports', 'openreports.io'),
    ]:  # fmt: skip
        assert not may(cluster, token, verb, resource, group), (verb, resource)


def token_on(cluster: Cluster, node: str) -> str:
    """The token that a pod of the agent is given on a node."""
    (template,) = (item['spec']['template'] for item in rendered(DEPLOY / 'base') if item['kind'] == 'DaemonSet')
    meta = {'name': f'agent-on-{node}', 'namespace': 'configaudit'}
    assert cluster.apply({'apiVersion': 'v1', 'kind': 'Node', 'metadata': {'name': node}})[0] in (200, 201)
    status, pod = cluster.apply({'apiVersion': 'v1', 'kind': 'Pod', 'metadata': meta, 'spec': {**template['spec'], 'nodeName': node}})
    assert status in (200, 201), pod
    bound = {'kind': 'Pod', 'apiVersion': 'v1', 'name': meta['name'], 'uid': pod['metadata']['uid']}
    answer = cluster.call('POST', '/api/v1/namespaces/configaudit/serviceaccounts/configaudit-node/token', {'spec': {'boundObjectRef': bound}})[1]
    value: str = answer['status']['token']
    return value


def test_with_the_policy_an_agent_writes_its_own_report_only(cluster: Cluster, token: str) -> None:
    mine = token_on(cluster, 'node-x')
    policies = [item for item in rendered(DEPLOY / 'overlays/openreports-own') if item['kind'].startswith('ValidatingAdmissionPolicy')]
    assert [cluster.apply(item)[0] for item in policies] == [201, 201]
    try:
        until(lambda: cluster.apply(report('node-y'), token=mine, dry=True)[0] == 422, 'the policy is not in force')
        status, answer = cluster.apply(report('node-y'), token=mine)
        assert (status, 'an agent writes the report of its own node only' in answer['message']) == (422, True)
        assert [cluster.apply(report('node-x', value), token=mine)[0] for value in ('256', '4096')] == [201, 200]
        assert cluster.apply(report('node-x'), token=token)[0] == 422  # a token that is bound to no pod
        assert cluster.apply(report('node-y'))[0] == 201  # others are not concerned
    finally:
        for item in policies:
            cluster.call('DELETE', cluster.path(item))


WRONG: dict[str, Object] = {
    'a severity of ours': {'severity': 'error'}, 'an outcome of ours': {'result': 'not-assessed'}, 'a time as text': {'timestamp': '2026-01-01T00:00:00Z'},
    'half a time': {'timestamp': {'seconds': 1}}, 'a name of the Go type': {'subjects': []}, 'a word for a truth': {'scored': 'yes'}, 'no policy': {'policy': None},
    'a property that is no text': {'properties': {'observed': 256}},
}  # fmt: skip


def test_the_schema_of_the_ordinary_tests_refuses_what_the_server_refuses(cluster: Cluster, crds: None) -> None:
    schema = Draft202012Validator(SCHEMAS['/apis/openreports.io/v1alpha1/clusterreports'])
    assert cluster.apply(report('node-b'), dry=True)[0] == 201
    for name, fields in WRONG.items():
        wrong = report('node-b')
        wrong['results'][0] = {key: value for key, value in {**wrong['results'][0], **fields}.items() if value is not None}
        assert cluster.apply(wrong, dry=True)[0] in (400, 422, 500), name
        assert not schema.is_valid(wrong), name
