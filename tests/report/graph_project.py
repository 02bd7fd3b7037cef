"""A small service as files: a proxy, a gateway with a pool, an engine, a database, and sides that nobody sees."""

from pathlib import Path

from configaudit.audit import audit
from configaudit.config import Config
from configaudit.graph import Graph, graph_of
from configaudit.graph_select import Wish, chosen

WORKLOAD = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: %(name)s, namespace: shop}
spec:
  replicas: %(replicas)d
  selector: {matchLabels: {app: %(name)s}}
  template:
    metadata: {labels: {app: %(name)s}}
    spec:
      containers:
        - name: %(name)s
          image: %(image)s
          args: %(args)s
          env: %(env)s
"""
SERVICE = """\
---
apiVersion: v1
kind: Service
metadata: {name: %(name)s, namespace: shop}
spec: {selector: {app: %(name)s}, ports: [{port: %(port)d}]}
"""
SCALER = """\
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: chat, namespace: shop}
spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: chat}, minReplicas: 2, maxReplicas: 5}
"""
INGRESS = """\
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: front
  namespace: shop
  annotations: {nginx.ingress.kubernetes.io/proxy-read-timeout: "45"}
spec:
  ingressClassName: nginx
  rules:
    - host: chat.example.com
      http: {paths: [{path: /v1/, pathType: Prefix, backend: {service: {name: chat, port: {number: 80}}}}]}
"""
POOL = '[{name: DATABASE_URL, value: "postgres://app:hunter2pw@%s:5432/chat?pool_max_conns=40"}]'


def workload(name: str, image: str, args: str = '[]', env: str = '[]', replicas: int = 2) -> str:
    return WORKLOAD % {'name': name, 'image': image, 'args': args, 'env': env, 'replicas': replicas}


def service(name: str, port: int = 80) -> str:
    return SERVICE % {'name': name, 'port': port}


def write(folder: Path) -> Path:
    """The files of the project."""
    files = {
        'chat.yaml': workload('chat', 'vllm/vllm-openai:v0.10.2', '[--model=/m, --max-num-seqs=512]') + service('chat') + SCALER,
        'front.yaml': INGRESS,
        'gateway.yaml': workload('gateway', 'registry.example.com/gateway:1.0', env=POOL % 'db', replicas=3),
        'db.yaml': workload('db', 'postgres:16.4', '["-c", "max_connections=100"]', replicas=1) + service('db', 5432),
        'report.yaml': workload('report', 'registry.example.com/report:1.0', env=POOL.replace(':hunter2pw', '') % 'archive.example.com', replicas=1),
        'plain.yaml': workload('plain', 'registry.example.com/plain:1.0') + service('plain'),
        'sysctl.d/90-host.conf': 'fs.file-max = 65536\n',
    }
    (folder / 'sysctl.d').mkdir()
    for name, text in files.items():
        (folder / name).write_text(text)
    return folder


def drawn(*paths: str, wish: Wish | None = None, config: Config | None = None) -> Graph:
    """The graph of some files."""
    config = config or Config()
    return chosen(graph_of(audit(paths or ('.',), config), config.context), wish or Wish())


def hops(graph: Graph) -> set[tuple[str, str, str]]:
    """(asking, word, answering) by kind and name."""
    names = {node.id: f'{node.component.kind.name} {node.component.name}' for node in graph.nodes}
    return {(names[link.source], link.word, names[link.target]) for link in graph.links}
