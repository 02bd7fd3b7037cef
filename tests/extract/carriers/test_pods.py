"""What a pod spec says: containers, their roles, ports, mounts, variables."""

from configaudit.extract.carriers.kubernetes import read_object
from configaudit.model import Component
from configaudit.parse.yaml import parse
from configaudit.places import Document, locate

POD = b"""apiVersion: v1
kind: Pod
metadata:
  name: chat
  namespace: text
spec:
  initContainers:
    - name: fetch
      image: alpine:3.22
    - name: logs
      image: alpine:3.22
      restartPolicy: Always
  containers:
    - name: engine
      image: vllm/vllm-openai:v0.11.0
      command: [vllm, serve]
      args: [/models/chat-8b]
      ports:
        - name: http
          containerPort: 8000
        - containerPort: 9000
      env:
        - name: TOKEN
          valueFrom: {secretKeyRef: {name: hub, key: token}}
      envFrom:
        - configMapRef: {name: shared}
      volumeMounts:
        - name: config
          mountPath: /etc/chat/
          subPath: chat
  volumes:
    - name: config
      configMap: {name: chat}
"""


def containers(data: bytes) -> dict[str, Component]:
    document = Document('pod.yaml', 'yaml', data)
    reading = read_object(document, parse(data).roots[0], '')
    return {component.name: component for component in reading.components if component.kind.name == 'container'}


def test_roles() -> None:
    found = containers(POD)
    roles = {name: (item['init'].value, item['sidecar'].value) for name, item in found.items()}
    assert roles == {'engine': (False, False), 'fetch': (True, False), 'logs': (False, True)}


def test_roles_are_known_in_a_patch() -> None:
    patch = b'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: chat}\nspec: {template: {spec: {containers: [{name: engine}]}}}\n'
    assert containers(patch)['engine']['init'].value is False
    assert not containers(patch)['engine']['image'].is_known


def test_ports_by_name_and_number() -> None:
    assert containers(POD)['engine']['ports'].value == {'http': 8000, '9000': 9000}


def test_a_mount_knows_its_volume_and_place() -> None:
    mount = containers(POD)['engine']['mounts'].value['/etc/chat']
    assert (mount['source'], mount['volume'], mount['sub_path']) == ('configMap', 'config', 'chat')
    assert locate(mount['place'])[1:3] == (29, 22)


def test_words_and_imports() -> None:
    engine = containers(POD)['engine']
    assert [word.value for word in engine['words'].value] == ['vllm', 'serve', '/models/chat-8b']
    assert [item.name for item in engine['imported'].value] == ['shared']
    assert list(engine['env'].value) == ['TOKEN']


def test_what_counts_as_a_gpu() -> None:
    """Memory and cores of a shared GPU are no devices."""
    limits = b'resources: {limits: {nvidia.com/gpu: 1, nvidia.com/gpumem: 20000, nvidia.com/gpucores: 50}}'
    engine = containers(POD.replace(b'command: [vllm, serve]', limits))['engine']
    assert (engine['gpu_limit'].value, engine['gpu_resource'].value) == (1, 'nvidia.com/gpu')


def test_a_list_where_a_number_belongs_is_unknown() -> None:
    document = Document('pod.yaml', 'yaml', POD.replace(b'image: alpine:3.22', b'image: alpine:3.22\n      resources: {limits: {cpu: [1]}}', 1))
    reading = read_object(document, parse(document.parsed).roots[0], '')
    (container,) = [item for item in reading.components if item.name == 'fetch']
    assert not container['cpu_limit'].is_known
