"""Kubernetes objects that set up nodes: OpenShift's machine and kubelet configurations, tuned profiles, Amazon EKS and Karpenter.

Sources: OpenShift machine-config-operator docs/MachineConfiguration.md and KubeletConfigDesign.md; node tuning operator API v1 and
performance.openshift.io v2; Amazon EKS nodeadm API node.eks.aws/v1alpha1; Karpenter NodeClasses.
"""

from configaudit.extract.carriers.ignition import read_machine
from configaudit.extract.carriers.pods import Owner
from configaudit.extract.process import Nested, Reading, nothing
from configaudit.extract.services.boot import boot_parameters
from configaudit.extract.services.kubelet_flags import flag_setting
from configaudit.extract.settings import read_settings
from configaudit.extract.words import word_of
from configaudit.knowledge.node_kinds import KUBELET
from configaudit.model import Component, Setting, Slot
from configaudit.parse.tree import Map, get, key_place, mapping, maps, place_of, text
from configaudit.places import Place

_MERGED = 'merged over the configuration that the platform gives its nodes'


def kubelet_part(owner: Owner, root: Map, *path: str) -> list[Component]:
    """The part of a KubeletConfiguration that an object holds: what is absent there is the platform's."""
    part = mapping(root, *path)
    if part is None:
        return []
    settings: dict[str, Setting] = {}
    read_settings(owner.document, part, KUBELET, settings)
    parent = mapping(root, *path[:-1]) or root
    place, slot = key_place(owner.document, parent, path[-1]), Slot('yaml_edit', Place(owner.document, part.start, part.start))
    return [Component(KUBELET, owner.name, owner.identity, place, settings, slot=slot, partial=_MERGED, scope=owner.namespace)]


def kubeadm(owner: Owner, root: Map) -> Reading:
    """An InitConfiguration or JoinConfiguration of kubeadm: the flags of the kubelet."""
    arguments = get(root, 'nodeRegistration', 'kubeletExtraArgs')
    pairs = [(text(item, 'name'), item.get('value')) for item in maps(arguments)]
    pairs += list((arguments if isinstance(arguments, Map) else {}).items())
    settings: dict[str, Setting] = {}
    for flag, node in pairs:
        word = word_of(owner.document, node)
        if flag and word is not None and word.known:
            setting = flag_setting(flag, word.value, word.place, Slot('yaml_edit', place_of(owner.document, node)))
            if setting is not None:
                settings[setting.name] = setting
    if not settings:
        return nothing()
    place = key_place(owner.document, mapping(root, 'nodeRegistration') or root, 'kubeletExtraArgs')
    return Reading([Component(KUBELET, owner.name, owner.identity, place, settings, partial=_MERGED)], [], [], [])


def machine_config(owner: Owner, root: Map) -> Reading:
    """A MachineConfig: Ignition below spec.config, and boot parameters."""
    config = mapping(root, 'spec', 'config')
    reading = read_machine(owner.document, config, owner.identity, node=True) if config is not None else nothing()
    reading.components.extend(boot_parameters(owner.document, get(root, 'spec', 'kernelArguments'), owner.identity, node_of_cluster=True))
    return reading


def kubelet_config(owner: Owner, root: Map) -> Reading:
    """A KubeletConfig of OpenShift's machine configuration."""
    return Reading(kubelet_part(owner, root, 'spec', 'kubeletConfig'), [], [], [])


def performance_profile(owner: Owner, root: Map) -> Reading:
    """A PerformanceProfile: its additional boot parameters. The operator itself reserves the CPUs that it isolates."""
    found = boot_parameters(owner.document, get(root, 'spec', 'additionalKernelArgs'), owner.identity, node_of_cluster=True)
    return Reading(list(found), [], [], [])


def azure_pool(owner: Owner, root: Map) -> Reading:
    """An AzureManagedMachinePool of Cluster API: the Linux configuration of its nodes."""
    from configaudit.extract.carriers.node_systems import aks_sysctls

    linux = mapping(root, 'spec', 'linuxOSConfig')
    return Reading(aks_sysctls(owner.document, linux, owner.identity) if linux is not None else [], [], [], [])


def tuned(owner: Owner, root: Map) -> Reading:
    """A Tuned object: every profile in it is a tuned.conf."""
    reading = nothing()
    for profile in maps(root, 'spec', 'profile'):
        name, word = text(profile, 'name'), word_of(owner.document, get(profile, 'data'))
        if name and word is not None:
            reading.nested.append(Nested(f'/etc/tuned/{name}/tuned.conf', word))
    return reading


def node_config(owner: Owner, root: Map) -> Reading:
    """A NodeConfig of Amazon EKS: configuration of the kubelet and of containerd."""
    reading = nothing()
    if not (text(root, 'apiVersion') or '').startswith('node.eks.aws/'):
        return reading
    reading.components.extend(kubelet_part(owner, root, 'spec', 'kubelet', 'config'))
    word = word_of(owner.document, get(root, 'spec', 'containerd', 'config'))
    if word is not None:
        reading.nested.append(Nested('/etc/containerd/config.toml', word))
    return reading


def node_class(owner: Owner, root: Map) -> Reading:
    """An EC2NodeClass or AKSNodeClass of Karpenter: settings of the kubelet, and user data."""
    reading = Reading(kubelet_part(owner, root, 'spec', 'kubelet'), [], [], [])
    word = word_of(owner.document, get(root, 'spec', 'userData'))
    if word is not None:
        reading.nested.append(Nested('user-data', word))
    return reading
