"""GPU products and the names that orchestrators and clouds give them.

Memory is what the driver reports (nvidia-smi memory.total, ECC on), in GiB: less than the number on the box. Sources:
compute capability https://developer.nvidia.com/cuda-gpus; cloud names https://cloud.google.com/kubernetes-
engine/docs/concepts/gpus, https://docs.aws.amazon.com/ec2/latest/instancetypes/ac.html,
https://learn.microsoft.com/azure/virtual-machines/sizes/overview; MIG https://docs.nvidia.com/datacenter/tesla/mig-
user-guide/.
"""

import re
from functools import cache
from typing import NamedTuple

from configaudit.patterns import regex


class Gpu(NamedTuple):
    """One GPU (or MIG slice).

    `gpus`: how many a machine type or an accelerator name stands for. Only NVIDIA's have a compute capability.
    """

    name: str
    memory_gib: float
    capability: tuple[int, int] | None
    generation: str
    gpus: int = 1
    slice: str = ''  # '1g.10gb' for a MIG slice; its name is '' when the parent GPU is unknown

    @property
    def is_mig(self) -> bool:
        return bool(self.slice)


# key: the plain name, lower case, no separators. The first word of the name is the vendor's product name.
PRODUCTS = {
    'k80': Gpu('K80', 11.2, (3, 7), 'Kepler'),
    'm60': Gpu('M60', 7.6, (5, 2), 'Maxwell'),
    'p4': Gpu('P4', 7.4, (6, 1), 'Pascal'),
    'p40': Gpu('P40', 22.4, (6, 1), 'Pascal'),
    'p100': Gpu('P100', 15.9, (6, 0), 'Pascal'),
    'v100': Gpu('V100-16GB', 16.0, (7, 0), 'Volta'),
    'v10032gb': Gpu('V100-32GB', 32.0, (7, 0), 'Volta'),
    't4': Gpu('T4', 15.0, (7, 5), 'Turing'),
    't4g': Gpu('T4G', 15.0, (7, 5), 'Turing'),
    'quadrortx6000': Gpu('Quadro-RTX-6000', 24.0, (7, 5), 'Turing'),
    'quadrortx8000': Gpu('Quadro-RTX-8000', 48.0, (7, 5), 'Turing'),
    'rtx2080ti': Gpu('RTX-2080-Ti', 11.0, (7, 5), 'Turing'),
    'a100': Gpu('A100-40GB', 40.0, (8, 0), 'Ampere'),
    'a10080gb': Gpu('A100-80GB', 80.0, (8, 0), 'Ampere'),
    'a10064gb': Gpu('A100-64GB', 64.0, (8, 0), 'Ampere'),
    'a800': Gpu('A800-80GB', 80.0, (8, 0), 'Ampere'),
    'a30': Gpu('A30', 24.0, (8, 0), 'Ampere'),
    'a2': Gpu('A2', 15.0, (8, 6), 'Ampere'),
    'a10': Gpu('A10', 22.5, (8, 6), 'Ampere'),
    'a10g': Gpu('A10G', 22.5, (8, 6), 'Ampere'),
    'a16': Gpu('A16', 15.0, (8, 6), 'Ampere'),
    'a40': Gpu('A40', 45.0, (8, 6), 'Ampere'),
    'rtxa4000': Gpu('RTX-A4000', 16.0, (8, 6), 'Ampere'),
    'rtxa5000': Gpu('RTX-A5000', 24.0, (8, 6), 'Ampere'),
    'rtxa6000': Gpu('RTX-A6000', 48.0, (8, 6), 'Ampere'),
    'rtx3060': Gpu('RTX-3060', 12.0, (8, 6), 'Ampere'),
    'rtx3090': Gpu('RTX-3090', 24.0, (8, 6), 'Ampere'),
    'orin': Gpu('Jetson-AGX-Orin', 61.4, (8, 7), 'Ampere'),
    'l2': Gpu('L2', 22.5, (8, 9), 'Ada'),
    'l4': Gpu('L4', 22.5, (8, 9), 'Ada'),
    'l20': Gpu('L20', 45.0, (8, 9), 'Ada'),
    'l40': Gpu('L40', 45.0, (8, 9), 'Ada'),
    'l40s': Gpu('L40S', 45.0, (8, 9), 'Ada'),
    'rtx4090': Gpu('RTX-4090', 24.0, (8, 9), 'Ada'),
    'rtx4000ada': Gpu('RTX-4000-Ada', 20.0, (8, 9), 'Ada'),
    'rtx5000ada': Gpu('RTX-5000-Ada', 32.0, (8, 9), 'Ada'),
    'rtx6000ada': Gpu('RTX-6000-Ada', 48.0, (8, 9), 'Ada'),
    'h100': Gpu('H100-80GB', 79.6, (9, 0), 'Hopper'),
    'h10094gb': Gpu('H100-NVL', 93.6, (9, 0), 'Hopper'),
    'h800': Gpu('H800-80GB', 79.6, (9, 0), 'Hopper'),
    'h10096gb': Gpu('H100-96GB', 95.6, (9, 0), 'Hopper'),
    'h20': Gpu('H20', 95.6, (9, 0), 'Hopper'),
    'h203e': Gpu('H20-3e', 140.4, (9, 0), 'Hopper'),
    'h200': Gpu('H200', 140.4, (9, 0), 'Hopper'),
    'gh200': Gpu('GH200-96GB', 95.6, (9, 0), 'Hopper'),
    'gh200144gb': Gpu('GH200-144GB', 140.4, (9, 0), 'Hopper'),
    'b200': Gpu('B200', 179.1, (10, 0), 'Blackwell'),
    'gb200': Gpu('GB200', 185.0, (10, 0), 'Blackwell'),
    'b300': Gpu('B300', 268.6, (10, 3), 'Blackwell'),
    'gb300': Gpu('GB300', 277.5, (10, 3), 'Blackwell'),
    'rtx5090': Gpu('RTX-5090', 31.8, (12, 0), 'Blackwell'),
    'rtxpro6000': Gpu('RTX-PRO-6000', 95.6, (12, 0), 'Blackwell'),
    'gb10': Gpu('GB10', 119.7, (12, 1), 'Blackwell'),
    'thor': Gpu('Jetson-AGX-Thor', 122.8, (11, 0), 'Blackwell'),
    'mi100': Gpu('MI100', 32.0, None, 'CDNA'),
    'mi210': Gpu('MI210', 64.0, None, 'CDNA2'),
    'mi250': Gpu('MI250', 64.0, None, 'CDNA2'),
    'mi300x': Gpu('MI300X', 192.0, None, 'CDNA3'),
    'mi300a': Gpu('MI300A', 128.0, None, 'CDNA3'),
    'mi308x': Gpu('MI308X', 192.0, None, 'CDNA3'),
    'mi325x': Gpu('MI325X', 256.0, None, 'CDNA3'),
    'mi350x': Gpu('MI350X', 288.0, None, 'CDNA4'),
    'mi355x': Gpu('MI355X', 288.0, None, 'CDNA4'),
    'inferentia2': Gpu('Inferentia2', 32.0, None, 'Neuron'),
    'trainium': Gpu('Trainium', 32.0, None, 'Neuron'),
    'gaudi2': Gpu('Gaudi-2', 96.0, None, 'Gaudi'),
    'gaudi3': Gpu('Gaudi-3', 128.0, None, 'Gaudi'),
    'tpuv4': Gpu('TPU-v4', 32.0, None, 'TPU'),
    'tpuv5e': Gpu('TPU-v5e', 16.0, None, 'TPU'),
    'tpuv5p': Gpu('TPU-v5p', 95.0, None, 'TPU'),
    'tpuv6e': Gpu('TPU-v6e', 32.0, None, 'TPU'),
    'tpu7x': Gpu('TPU-7x', 192.0, None, 'TPU'),
}
OTHER_DEVICES = ('TPU', 'Gaudi', 'Neuron')
"""Generations that are no GPUs: engines choose their defaults there in ways of their own."""
SEVERAL = {'a100': ('a100', 'a10080gb'), 'v100': ('v100', 'v10032gb'), 'gh200': ('gh200', 'gh200144gb')}
"""Products of several memory sizes: a label that a person or an autoscaler writes as the bare name may be any of them."""

# Other memory sizes and spellings -> key of PRODUCTS.
SYNONYMS = {
    'a10040gb': 'a100', 'a10080g': 'a10080gb', 'a10080': 'a10080gb', 'a10040g': 'a100', 'ultragpu': 'a10080gb',
    'a80080gb': 'a800', 'h10080gb': 'h100', 'h10080g': 'h100', 'h10080': 'h100', 'h100mega': 'h100',
    'h100mega80gb': 'h100',
    'h100nvl': 'h10094gb', 'h100nvl94gb': 'h10094gb', 'h80080gb': 'h800', 'h2096gb': 'h20', 'h200141gb': 'h200',
    'h200nvl': 'h200',
    'v10016gb': 'v100', 'v10016g': 'v100', 'v10032g': 'v10032gb', 'gh20096gb': 'gh200', 'gh200480gb': 'gh200',
    't416gb': 't4', 'l424gb': 'l4', 'l40s48gb': 'l40s', 'a10g24gb': 'a10g', 'a1024gb': 'a10', 'a3024gb': 'a30',
    'a4048gb': 'a40',
    'b200180gb': 'b200', 'b200192gb': 'b200', 'a6000': 'rtxa6000', 'a5000': 'rtxa5000', 'a4000': 'rtxa4000',
    '3090': 'rtx3090', '4090': 'rtx4090', '5090': 'rtx5090', '6000ada': 'rtx6000ada',
    'rtx6000adageneration': 'rtx6000ada',
    'rtxpro6000blackwellserver': 'rtxpro6000', 'rtxpro6000blackwell': 'rtxpro6000', 'mi300': 'mi300x',
    'mi250x': 'mi250', 'mi355xoam': 'mi355x', 'mi350': 'mi350x', 'mi355': 'mi355x', 'mi325': 'mi325x', 'mi300xoam': 'mi300x',
    'a100nvlink80gb': 'a10080gb', 'a100nvlink': 'a100', 'h100nvlink80gb': 'h100', 'h10080gbhigh': 'h100', 'h200141gbultra': 'h200',
    'h20141gb': 'h203e', 'h203e141gb': 'h203e', 'h100sxm80gb': 'h100', 'l4048gb': 'l40', 'l2048gb': 'l20',
    'rtx6000': 'quadrortx6000', 'rtx8000': 'quadrortx8000', 'rtx4000adageneration': 'rtx4000ada', 'rtx5000adageneration': 'rtx5000ada',
    'rtxpro6000blackwellserveredition': 'rtxpro6000', 'rtxpro6000blackwellworkstationedition': 'rtxpro6000', 'rtxpro600096gb': 'rtxpro6000',
    'rtxpro6000server': 'rtxpro6000', 'jetsonagxorin': 'orin', 'jetsonagxthor': 'thor', 'b300288gb': 'b300', 'gb300nvl72': 'gb300',
    'gb200nvl72': 'gb200', 'tpuv5litepodslice': 'tpuv5e', 'tpuv5litedevice': 'tpuv5e', 'tpuv5pslice': 'tpuv5p', 'tpuv6eslice': 'tpuv6e',
    'tpuv6edevice': 'tpuv6e', 'tpuv4podslice': 'tpuv4',
}  # fmt: skip

# Machine type -> (key of PRODUCTS, GPUs). AWS sizes without an entry follow the family.
MACHINES = {
    'p3.2xlarge': ('v100', 1), 'p3.8xlarge': ('v100', 4), 'p3.16xlarge': ('v100', 8), 'p3dn.24xlarge': ('v10032gb', 8),
    'p4d.24xlarge': ('a100', 8), 'p4de.24xlarge': ('a10080gb', 8), 'p5.4xlarge': ('h100', 1),
    'p5.48xlarge': ('h100', 8),
    'p5e.48xlarge': ('h200', 8), 'p5en.48xlarge': ('h200', 8), 'p6-b200.48xlarge': ('b200', 8),
    'p6-b300.48xlarge': ('b300', 8),
    'g4dn.12xlarge': ('t4', 4), 'g4dn.metal': ('t4', 8), 'g5.12xlarge': ('a10g', 4), 'g5.24xlarge': ('a10g', 4),
    'g5.48xlarge': ('a10g', 8),
    'g6.12xlarge': ('l4', 4), 'g6.24xlarge': ('l4', 4), 'g6.48xlarge': ('l4', 8),
    'g6e.12xlarge': ('l40s', 4), 'g6e.24xlarge': ('l40s', 4), 'g6e.48xlarge': ('l40s', 8),
    'g2-standard-24': ('l4', 2), 'g2-standard-48': ('l4', 4), 'g2-standard-96': ('l4', 8),
    'nc6s_v3': ('v100', 1), 'nc12s_v3': ('v100', 2), 'nc24s_v3': ('v100', 4), 'nc24rs_v3': ('v100', 4), 'nd40rs_v2': ('v10032gb', 8),
    'nv36ads_a10_v5': ('a10', 1), 'nv36adms_a10_v5': ('a10', 1), 'nv72ads_a10_v5': ('a10', 2),
    'p2.xlarge': ('k80', 1), 'g5g.xlarge': ('t4g', 1), 'gr6.4xlarge': ('l4', 1), 'gr6.8xlarge': ('l4', 1),
    'g7e.12xlarge': ('rtxpro6000', 2), 'g7e.24xlarge': ('rtxpro6000', 4), 'g7e.48xlarge': ('rtxpro6000', 8),
    'p6e-gb200.36xlarge': ('gb200', 4),
    'g4-standard-48': ('rtxpro6000', 1), 'g4-standard-96': ('rtxpro6000', 2), 'g4-standard-192': ('rtxpro6000', 4),
    'g4-standard-384': ('rtxpro6000', 8),
    'a2-megagpu-16g': ('a100', 16), 'a4-highgpu-8g': ('b200', 8), 'a4x-highgpu-4g': ('gb200', 4),
    'a4x-maxgpu-4g-metal': ('gb300', 4), 'a3-ultragpu-8g': ('h200', 8), 'a3-megagpu-8g': ('h100', 8), 'a3-edgegpu-8g': ('h100', 8),
}  # fmt: skip
FAMILIES = {'g4dn': 't4', 'g5': 'a10g', 'g6': 'l4', 'g6e': 'l40s', 'g7e': 'rtxpro6000', 'g2-standard': 'l4'}  # one GPU unless listed above
FAMILY_LABELS = {
    **FAMILIES, 'p3': 'v100', 'p3dn': 'v10032gb', 'p4d': 'a100', 'p4de': 'a10080gb', 'p5': 'h100', 'p5e': 'h200', 'p5en': 'h200',
    'p6-b200': 'b200', 'p6-b300': 'b300', 'p6e-gb200': 'gb200', 'gr6': 'l4', 'g5g': 't4g', 'g2': 'l4', 'g4': 'rtxpro6000', 'inf2': 'inferentia2', 'trn1': 'trainium',
}  # fmt: skip
"""Values of karpenter.k8s.aws/instance-family and cloud.google.com/machine-family that mean one product."""
GCP = regex(r'(a2-highgpu|a2-ultragpu|a3-highgpu)-(\d+)g')
GCP_FAMILIES = {'a2-highgpu': 'a100', 'a2-ultragpu': 'a10080gb', 'a3-highgpu': 'h100'}

AZURE = regex(r'n[cd](?:c|s)?(\d+)\w*?_(?:(a100|h100|h200|t4|gb200|mi300x|a10)_)?v(\d)')
# (model, vCPUs in the size's name) -> (key of PRODUCTS, GPUs)
AZURE_SIZES = {
    ('a100', 24): ('a10080gb', 1), ('a100', 48): ('a10080gb', 2), ('a100', 96): ('a10080gb', 4),
    ('h100', 40): ('h10094gb', 1), ('h100', 80): ('h10094gb', 2), ('h100', 96): ('h100', 8),
    ('h200', 96): ('h200', 8), ('mi300x', 96): ('mi300x', 8), ('gb200', 128): ('gb200', 4),
    ('t4', 4): ('t4', 1), ('t4', 8): ('t4', 1), ('t4', 16): ('t4', 1), ('t4', 64): ('t4', 4),
}  # fmt: skip

MIG = regex(r'(?:^|[.\-_/])mig-(\d+g)[.](\d+)gb(?:[.+]me(?:[.]all)?)?$')
_COUNTED = regex(r'(.+?)[:x*](\d{1,2})$')
_NOISE = regex(r'nvidia|geforce|tesla|amd|instinct|sxm\d?(?![a-z])|hbm\d\w?|pcie|shared|intel|habana|[\s_\-./()]')


def lookup(text: str) -> Gpu | None:
    """The GPU behind a label value, machine type, MIG resource, accelerator name or plain word; else None.

    A bare 'A100' is the 40 GB card, as in the names of Google and SkyPilot; 'V100' the 16 GB one.
    """
    return _lookup(text.strip().lower())


@cache
def _lookup(text: str) -> Gpu | None:
    return (_product(text) or _mig(text) or _machine(text) or _azure(text) or _counted(text)) if text else None


def possible(text: str) -> tuple[Gpu, ...]:
    """The GPUs that a label value may mean: several where a bare name has several memory sizes (a100: 40 or 80 GB)."""
    keys = SEVERAL.get(_NOISE.sub('', text.strip().lower()))
    found = lookup(text)
    return tuple(PRODUCTS[key] for key in keys) if keys else (found,) if found else ()


def of_family(text: str) -> Gpu | None:
    """The GPU of a cloud's machine family: g5, p4d, a2-ultragpu."""
    key = FAMILY_LABELS.get(text.strip().lower())
    return PRODUCTS[key] if key else None


def _product(text: str) -> Gpu | None:
    """A product name in any spelling: NVIDIA-A100-SXM4-80GB, nvidia-tesla-t4, a100-80g, RTX 4090."""
    plain = text.removeprefix('nvidia-').removeprefix('tesla-')
    key = plain if plain in PRODUCTS else _NOISE.sub('', text)
    return PRODUCTS.get(SYNONYMS.get(key, key))


def _mig(text: str) -> Gpu | None:
    """nvidia.com/mig-1g.10gb, or the product label of a partitioned GPU: NVIDIA-A100-SXM4-80GB-MIG-1g.10gb."""
    match = MIG.search(text)
    if match is None:
        return None
    parent = _product(text[: match.start()]) if match.start() and not text.startswith('nvidia.com/') else None
    name = f'{match[1]}.{match[2]}gb'
    if parent is None:
        return Gpu('', float(match[2]), None, '', slice=name)
    return parent._replace(memory_gib=float(match[2]), slice=name)


def _machine(text: str) -> Gpu | None:
    """AWS and Google machine types, with the number of GPUs in one machine."""
    name = text.removeprefix('ml.').removeprefix('standard_')
    key, count = MACHINES.get(name, ('', 0))
    gcp = GCP.fullmatch(name)
    if gcp:
        key, count = GCP_FAMILIES[gcp[1]], int(gcp[2])
    family = re.match(r'(g2-standard|g4dn|g5|g6e|g6|g7e)[.-]', name)
    if not key and family:
        key, count = FAMILIES[family[1]], 1
    return PRODUCTS[key]._replace(gpus=count) if key else None


def _azure(text: str) -> Gpu | None:
    """Azure sizes: Standard_NC24ads_A100_v4, ND96isr_H100_v5, ND96asr_v4 (A100 40 GB)."""
    match = AZURE.fullmatch(text.removeprefix('standard_'))
    if match is None:
        return None
    cores, model = int(match[1]), match[2] or ''
    if not model and cores == 96 and match[3] == '4':
        return PRODUCTS['a100']._replace(gpus=8)
    if model == 'a100' and text.removeprefix('standard_').startswith('nd96'):
        return PRODUCTS['a10080gb']._replace(gpus=8)
    key, gpus = AZURE_SIZES.get((model, cores), ('', 0))
    return PRODUCTS[key]._replace(gpus=gpus) if key else None


def _counted(text: str) -> Gpu | None:
    """SkyPilot and launcher names: H100:8, A100-80GB:4, 8xH100."""
    leading = re.fullmatch(r'(\d{1,2})\s*[x*]\s*(.+)', text)
    trailing = _COUNTED.fullmatch(text)
    name, count = (leading[2], leading[1]) if leading else (trailing[1], trailing[2]) if trailing else ('', '0')
    gpu = _product(name) if name else None
    return gpu._replace(gpus=int(count)) if gpu else None
