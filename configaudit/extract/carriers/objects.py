"""Kubernetes objects that run nothing themselves: services, autoscalers, budgets, data."""

import base64
import binascii
from collections.abc import Callable

from configaudit import units
from configaudit.extract.carriers.pods import Owner
from configaudit.extract.process import Data, Nested, Reading, nothing
from configaudit.extract.settings import read_settings, setting
from configaudit.extract.words import Word, is_open, word_of
from configaudit.knowledge.metric_kinds import PREFIXES
from configaudit.knowledge.objects import AUTOSCALER, BUDGET, MONITOR, SECRET, SERVICE
from configaudit.model import Component, Kind, Setting, Slot
from configaudit.parse.formats import is_dashboard
from configaudit.parse.tree import Map, get, key_place, mapping, maps, place_of, plain, text
from configaudit.places import Document, Place


def component_of(owner: Owner, root: Map, kind: Kind) -> Component:
    """A component for a whole object, with every setting its kind declares."""
    settings: dict[str, Setting] = {}
    read_settings(owner.document, root, kind, settings)
    place = key_place(owner.document, root, 'spec' if 'spec' in root else 'kind')
    slot = Slot('yaml_edit', Place(owner.document, root.start, root.start))
    return Component(
        kind, owner.name, owner.identity, place, settings, slot=slot, partial=owner.partial, scope=owner.namespace
    )


def _data(owner: Owner, root: Map) -> Reading:
    """A ConfigMap or Secret: its text by key, and the files that its keys are."""
    reading = nothing()
    values: dict[str, Word] = {}
    for field in ('data', 'stringData'):
        for key, node in (mapping(root, field) or {}).items():
            word = word_of(owner.document, node)
            if word is None:
                continue
            if owner.kind == 'Secret' and field == 'data':
                word = _decoded(word)
            values[key] = word
            if key in ('config', 'tuning') and _holds_node_object(word.value):
                reading.nested.append(Nested(f'{key}.yaml', word))
            if '.' in key and ('\n' in word.value or is_dashboard(word.value.encode())):
                reading.nested.append(Nested(key, word))
    if owner.kind == 'ConfigMap' and 'nginx' in owner.name and values.keys() & {'proxy-read-timeout', 'proxy-buffering', 'proxy-body-size', 'retry-non-idempotent'}:
        from configaudit.knowledge.proxy_kinds import INGRESS_CONTROLLER

        reading.components.append(component_of(owner, root, INGRESS_CONTROLLER))
    partial = owner.partial or ('filled by a template' if is_open(owner.document, root) else '')
    reading.data.append(Data(owner.kind, owner.namespace, owner.name, values, partial))
    if owner.kind == 'Secret' and values:
        secret = component_of(owner, root, SECRET)
        secret.settings['values'] = Setting('values', values, secret.place)
        reading.components.append(secret)
    return reading


def _holds_node_object(text: str) -> bool:
    """Whether a ConfigMap of HyperShift's node pools holds an object: a MachineConfig, KubeletConfig or Tuned."""
    return 'machineconfiguration.openshift.io/' in text or 'tuned.openshift.io/' in text


def _node_pool(owner: Owner, root: Map) -> Reading:
    from configaudit.extract.carriers.node_pools import read_pool

    return read_pool(owner, root)


def _decoded(word: Word) -> Word:
    try:
        value = base64.b64decode(word.value, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError, ValueError):
        return word._replace(pure=False)
    return Word(value, word.place, False, locked='it is base64')


def _service(owner: Owner, root: Map) -> Reading:
    service = component_of(owner, root, SERVICE)
    ports = tuple(
        {
            'port': units.integer(plain(port.get('port'))), 'target': text(port, 'targetPort') or text(port, 'port'),
            'name': text(port, 'name'), 'app_protocol': text(port, 'appProtocol'), 'place': place_of(owner.document, port),
        }
        for port in maps(root, 'spec', 'ports')
    )  # fmt: skip
    service.settings['ports'] = Setting('ports', ports, service.place)
    if text(root, 'spec', 'type') == 'LoadBalancer':
        from configaudit.extract.services.cloud_balancer import balancer_of

        service.settings.update(balancer_of(owner, root, service.place))
    return Reading([service], [], [], [])


def _autoscaler(owner: Owner, root: Map) -> Reading:
    scaler = component_of(owner, root, AUTOSCALER)
    document = owner.document
    metrics = []
    for metric in maps(root, 'spec', 'metrics'):
        source = (text(metric, 'type') or '').lower()
        inner = mapping(metric, {'containerresource': 'containerResource'}.get(source, source))
        target = mapping(inner, 'target') or inner or metric
        metrics.append({
            'type': source, 'name': text(inner, 'name') or text(inner, 'metric', 'name') or text(inner, 'metricName'),
            'target': plain(target), 'place': place_of(document, metric), 'target_place': _value_place(document, target),
        })  # fmt: skip
    if 'targetCPUUtilizationPercentage' in (mapping(root, 'spec') or {}):
        place = key_place(document, mapping(root, 'spec') or root, 'targetCPUUtilizationPercentage')
        metrics.append({'type': 'resource', 'name': 'cpu', 'target': {}, 'place': place, 'target_place': place})
    scaler.settings['metrics'] = Setting('metrics', tuple(metrics), scaler.place)
    return Reading([scaler], [], [], [])


def _value_place(document: Document, target: Map) -> Place:
    """Where the number of a metric's target stands."""
    for key in ('averageValue', 'value', 'averageUtilization', 'targetAverageValue', 'targetAverageUtilization'):
        if key in target:
            return place_of(document, target[key])
    return place_of(document, target)


def _scaled_object(owner: Owner, root: Map) -> Reading:
    scaler = component_of(owner, root, AUTOSCALER)
    document = owner.document
    settings = scaler.settings
    for name, key, default in (('min_replicas', 'minReplicaCount', 0), ('max_replicas', 'maxReplicaCount', 100)):
        spec = mapping(root, 'spec')
        if spec is not None and key in spec:
            count = units.integer(plain(spec[key]))
            reason = '' if count is not None else 'filled by a template'
            settings[name] = Setting(name, count, place_of(document, spec[key]), reason=reason)
        else:
            settings[name] = Setting(name, default, scaler.place, 'default', source='KEDA ScaledObject reference')
    behavior = mapping(root, 'spec', 'advanced', 'horizontalPodAutoscalerConfig', 'behavior', 'scaleDown')
    if behavior is not None and 'stabilizationWindowSeconds' in behavior:
        settings['scale_down_window_s'] = setting('scale_down_window_s', document, behavior, 'stabilizationWindowSeconds', 's')
    target = mapping(root, 'spec', 'scaleTargetRef')
    kind = Setting('target_kind', text(target, 'kind') or 'Deployment', scaler.place)
    settings['target_kind'] = kind
    metrics = tuple(
        {
            'type': text(trigger, 'type'), 'name': text(trigger, 'metadata', 'metricName'),
            'target': plain(trigger.get('metadata')) or {},
            'query': word_of(document, get(trigger, 'metadata', 'query')),
            'place': place_of(document, get(trigger, 'metadata', 'query') or trigger),
            'target_place': place_of(document, get(trigger, 'metadata', 'threshold') or trigger),
        }
        for trigger in maps(root, 'spec', 'triggers')
    )  # fmt: skip
    settings['metrics'] = Setting('metrics', metrics, scaler.place)
    return Reading([scaler], [], [], [])


def _monitor(owner: Owner, root: Map) -> Reading:
    monitor = component_of(owner, root, MONITOR)
    monitor.settings['object_kind'] = Setting('object_kind', owner.kind, monitor.place)
    endpoints = tuple(
        {'port': text(endpoint, 'port'), 'target': text(endpoint, 'targetPort') or text(endpoint, 'portNumber'), 'path': text(endpoint, 'path') or '/metrics', 'place': place_of(owner.document, endpoint)}
        for endpoint in maps(root, 'spec', 'endpoints' if owner.kind == 'ServiceMonitor' else 'podMetricsEndpoints')
    )
    monitor.settings['endpoints'] = Setting('endpoints', endpoints, monitor.place)
    return Reading([monitor], [], [], [])


def _kubelet(owner: Owner, root: Map) -> Reading:
    from configaudit.knowledge.node_kinds import KUBELET

    folder = owner.document.called.rpartition('/')[0]
    component = component_of(owner._replace(partial=owner.partial or ('merged over the main file' if folder.endswith('.d') else '')), root, KUBELET)
    component.place = key_place(owner.document, root, 'kind')
    return Reading([component], [], [], [])


def _node_object(reader: str) -> Callable[[Owner, Map], Reading]:
    """A reader of `carriers.node_objects`, imported when its kind is met."""

    def read(owner: Owner, root: Map) -> Reading:
        from configaudit.extract.carriers import node_objects

        result: Reading = getattr(node_objects, reader)(owner, root)
        return result

    return read


def _budget(owner: Owner, root: Map) -> Reading:
    return Reading([component_of(owner, root, BUDGET)], [], [], [])


def _ray_service(owner: Owner, root: Map) -> Reading:
    from configaudit.extract.carriers.ray import read_ray_service

    return read_ray_service(owner, root)


def _runtime(owner: Owner, root: Map) -> Reading:
    from configaudit.extract.carriers.kserve import runtime

    return runtime(owner, root)


def _llm_configuration(owner: Owner, root: Map) -> Reading:
    from configaudit.extract.carriers.kserve_llm import configuration

    return configuration(owner, root)


def _service_kind(module: str, reader: str) -> Callable[[Owner, Map], Reading]:
    """A reader of `extract.services`, imported when its kind is met."""

    def read(owner: Owner, root: Map) -> Reading:
        from importlib import import_module

        result: Reading = getattr(import_module(f'configaudit.extract.services.{module}'), reader)(owner, root)
        return result

    return read


def _with_metrics(read: Callable[[Owner, Map], Reading]) -> Callable[[Owner, Map], Reading]:
    """The reader of an autoscaler, and the metrics it names when these may be an engine's."""

    def read_both(owner: Owner, root: Map) -> Reading:
        reading = read(owner, root)
        if any(prefix in owner.document.parsed for prefix in PREFIXES):
            reading.add(_service_kind('metrics', 'read_autoscaler')(owner, root))
        return reading

    return read_both


def _chart_values(owner: Owner, root: Map) -> Reading:
    from configaudit.extract.carriers.values_inline import read_values

    return read_values(owner, root)


def _with_renames(read: Callable[[Owner, Map], Reading]) -> Callable[[Owner, Map], Reading]:
    """The reader of a monitor, and whether it gives metrics other names."""

    def read_both(owner: Owner, root: Map) -> Reading:
        reading = read(owner, root)
        if b'__name__' in owner.document.parsed:
            reading.add(_service_kind('metrics', 'read_rules')(owner, root))
        return reading

    return read_both


OBJECTS: dict[str, Callable[[Owner, Map], Reading]] = {
    'ConfigMap': _data,
    'Secret': _data,
    'Service': _service,
    'HorizontalPodAutoscaler': _with_metrics(_autoscaler),
    'ScaledObject': _with_metrics(_scaled_object),
    **dict.fromkeys(('ScaledJob', 'PodAutoscaler', 'AutoscalingPolicy'), _service_kind('metrics', 'read_autoscaler')),
    **dict.fromkeys(('PrometheusRule', 'VMRule', 'Rules', 'ClusterRules', 'GlobalRules', 'PersesDashboard', 'EndpointPickerConfig'), _service_kind('metrics', 'read_rules')),
    'GrafanaDashboard': _service_kind('metrics_grafana', 'read_resource'),
    'PodDisruptionBudget': _budget,
    'ServiceMonitor': _with_renames(_monitor),
    'PodMonitor': _with_renames(_monitor),
    'KubeletConfiguration': _kubelet,
    'MachineConfig': _node_object('machine_config'),
    'KubeletConfig': _node_object('kubelet_config'),
    **dict.fromkeys(('InitConfiguration', 'JoinConfiguration'), _node_object('kubeadm')),
    'AzureManagedMachinePool': _node_object('azure_pool'),
    'PerformanceProfile': _node_object('performance_profile'),
    'Tuned': _node_object('tuned'),
    'NodeConfig': _node_object('node_config'),
    **dict.fromkeys(('EC2NodeClass', 'AKSNodeClass'), _node_object('node_class')),
    **dict.fromkeys(('NodePool', 'Provisioner', 'ComputeClass'), _node_pool),
    **dict.fromkeys(
        ('Cluster', 'postgresql', 'PostgresCluster', 'PerconaPGCluster', 'PerconaXtraDBCluster', 'PerconaServerMySQL', 'InnoDBCluster', 'MariaDB', 'SGCluster'),
        _service_kind('database_resources', 'read_cluster'),
    ),
    'Pooler': _service_kind('database_resources', 'read_pooler'),
    'InferenceService': _service_kind('batching', 'read_inference_service'),
    'ServingRuntime': _runtime,
    'ClusterServingRuntime': _runtime,
    'LLMInferenceServiceConfig': _llm_configuration,
    'RayService': _ray_service,
    'Ingress': _service_kind('ingress', 'read_ingress'),
    **dict.fromkeys(('HelmRelease', 'HelmChart', 'HelmChartConfig', 'Application'), _chart_values),
    'DestinationRule': _service_kind('mesh', 'read_destination_rule'),
    'EnvoyFilter': _service_kind('mesh', 'read_envoy_filter'),
    'VirtualService': _service_kind('mesh', 'read_virtual_service'),
    'IngressRoute': _service_kind('traefik_objects', 'read_route'),
    'Middleware': _service_kind('traefik_objects', 'read_middleware'),
    'ServersTransport': _service_kind('traefik_objects', 'read_transport'),
    'AIGatewayRoute': _service_kind('gateway_api', 'read_ai_route'),
    'HTTPRoute': _service_kind('gateway_api', 'read_route'),
    'Gateway': _service_kind('gateway_api', 'read_gateway'),
    'InferencePool': _service_kind('gateway_api', 'read_inference_pool'),
    'GatewayClass': _service_kind('gateway_api', 'read_gateway_class'),
    'BackendTrafficPolicy': _service_kind('gateway_api', 'read_traffic_policy'),
    **dict.fromkeys(('GCPBackendPolicy', 'BackendConfig'), _service_kind('gateway_api', 'read_backend_policy')),
}
"""How each kind is read; a module of `extract.services` adds its own kinds to `extract`'s table."""
