"""YAML and JSON that is no Kubernetes object: which reader a root belongs to, told by its keys."""

from configaudit.parse.tree import Map, Seq, get, mapping, text
from configaudit.patterns import regex
from configaudit.places import Document

CLOUD_CONFIG = regex(r'(?:## template: *jinja[^\n]*\n)?#cloud-config\b')
"""The line by which cloud-init knows its own data, behind the one that asks for Jinja."""


def reader_of(document: Document, root: Map) -> str:
    """The module that reads a root, or '' when it is nothing that is read."""
    name = document.path.rpartition('/')[2]
    services = mapping(root, 'services')
    if services is not None and any(_is_service(value) for value in services.values()):
        return 'carriers.compose'
    if document.text.startswith('#') and CLOUD_CONFIG.match(document.text):
        return 'carriers.cloudinit'
    if ('ignition' in root and isinstance(root['ignition'], Map)) or ('variant' in root and 'version' in root) or _is_machine_part(root):
        return 'carriers.ignition'
    if _is_node_system(root):
        return 'carriers.node_systems'
    if 'static_resources' in root or 'dynamic_resources' in root or _lists(root, 'clusters', 'listeners'):
        return 'services.envoy'
    if '_format_version' in root and _lists(root, 'services'):
        return 'services.kong'
    if _is_traefik(root):
        return 'services.traefik'
    if name == 'daemon.json' or ('ociVersion' in root and 'process' in root):
        return 'services.runtime'
    if ('applications' in root and isinstance(root['applications'], Seq)) or ('model_loading_config' in root and 'engine_kwargs' in root):
        return 'carriers.ray'
    if any(mapping(value, 'traffic') is not None or 'batching' in value for value in root.values() if isinstance(value, Map)):
        return 'services.batching'
    if name in ('bentofile.yaml', 'bentofile.yml', 'bentoml_configuration.yaml', 'bentoml_configuration.yml'):
        return 'services.batching'
    if ('run' in root or 'setup' in root) and _is_sky_task(root):
        return 'carriers.skypilot'
    if 'model_list' in root and _is_litellm(root):
        return 'services.litellm'
    if _is_chart_values(document, root):
        return 'carriers.values'
    if _is_application(name, root):
        return 'services.pools'
    return ''


def _is_traefik(root: Map) -> bool:
    """Traefik's own configuration, or a file of its file provider."""
    if any(isinstance(root.get(key), Map) for key in ('entryPoints', 'entrypoints', 'serversTransport')):
        return True
    http = mapping(root, 'http')
    return http is not None and any(key in http for key in ('routers', 'middlewares', 'serversTransports'))


def _is_machine_part(root: Map) -> bool:
    """One file or unit of an Ignition configuration, as OpenShift's machine configuration keeps them."""
    if 'contents' in root and 'mode' in root and 'path' in root:
        return mapping(root, 'contents') is not None
    return ('contents' in root or 'dropins' in root) and (text(root, 'name') or '').endswith('.service')


def _is_node_system(root: Map) -> bool:
    if mapping(root, 'linuxConfig', 'sysctl') is not None or mapping(root, 'kubeletConfig') is not None:
        return True  # the system configuration of a GKE node pool
    sysctls = mapping(root, 'sysctls')
    if sysctls is not None and any(name.startswith(('netCore', 'netIpv4', 'fsFile', 'fsNr', 'fsInotify', 'vmMax', 'vmSwap')) for name in sysctls):
        return True  # the Linux configuration of an AKS node pool
    machine = mapping(root, 'machine')
    return machine is not None and any(isinstance(machine.get(key), (Map, Seq)) for key in ('sysctls', 'sysfs', 'kubelet', 'install', 'files'))


def _is_sky_task(root: Map) -> bool:
    from configaudit.extract.carriers.skypilot import is_task

    return is_task(root)


def _is_litellm(root: Map) -> bool:
    from configaudit.extract.services.litellm import is_proxy

    return is_proxy(root)


def _is_chart_values(document: Document, root: Map) -> bool:
    if b'image' not in document.parsed and b'Args' not in document.parsed and b'args' not in document.parsed and b'servingEngineSpec' not in document.parsed:
        return False
    from configaudit.extract.carriers.values import is_values

    return is_values(document, root)


def _is_service(value: object) -> bool:
    return isinstance(value, Map) and any(key in value for key in ('image', 'build', 'command', 'extends', 'environment', 'ports', 'volumes', 'deploy'))


def _lists(root: Map, *keys: str) -> bool:
    return all(isinstance(root.get(key), Seq) for key in keys)


def _is_application(name: str, root: Map) -> bool:
    if name.startswith(('application', 'bootstrap')) or 'spring' in root or 'micronaut' in root or 'quarkus' in root:
        return True
    if any(get(root, *path) is not None for path in (('datasource',), ('general_settings', 'database_url'), ('persistence', 'datastores'), ('ConnectionStrings',))):
        return True
    return name.startswith(('database.', 'appsettings', 'config.', 'settings.')) and any(
        key in root for key in ('production', 'database', 'db', 'databases', 'postgres', 'postgresql', 'mysql', 'redis')
    )
