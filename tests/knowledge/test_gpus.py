import pytest

from configaudit.knowledge.gpus import PRODUCTS, SYNONYMS, lookup


@pytest.mark.parametrize(
    ('text', 'name', 'count'),
    [
        ('nvidia-l4', 'L4', 1),
        ('nvidia-h100-80gb', 'H100-80GB', 1),
        ('nvidia-h100-mega-80gb', 'H100-80GB', 1),
        ('nvidia-tesla-t4', 'T4', 1),
        ('nvidia-tesla-a100', 'A100-40GB', 1),
        ('nvidia-a100-80gb', 'A100-80GB', 1),
        ('nvidia-h200-141gb', 'H200', 1),
        ('nvidia-b200', 'B200', 1),
        ('nvidia-tesla-v100', 'V100-16GB', 1),
        ('NVIDIA-A100-SXM4-80GB', 'A100-80GB', 1),
        ('NVIDIA-A100-PCIE-40GB', 'A100-40GB', 1),
        ('NVIDIA-H100-80GB-HBM3', 'H100-80GB', 1),
        ('NVIDIA-H100-NVL', 'H100-NVL', 1),
        ('NVIDIA-H200', 'H200', 1),
        ('Tesla-T4', 'T4', 1),
        ('Tesla-V100-SXM2-32GB', 'V100-32GB', 1),
        ('Tesla-T4-SHARED', 'T4', 1),
        ('NVIDIA-L40S', 'L40S', 1),
        ('NVIDIA-GeForce-RTX-4090', 'RTX-4090', 1),
        ('NVIDIA RTX A6000', 'RTX-A6000', 1),
        ('AMD-Instinct-MI300X', 'MI300X', 1),
        ('p4d.24xlarge', 'A100-40GB', 8),
        ('p4de.24xlarge', 'A100-80GB', 8),
        ('p5.48xlarge', 'H100-80GB', 8),
        ('p5e.48xlarge', 'H200', 8),
        ('p5en.48xlarge', 'H200', 8),
        ('g4dn.xlarge', 'T4', 1),
        ('g4dn.12xlarge', 'T4', 4),
        ('g5.2xlarge', 'A10G', 1),
        ('g5.48xlarge', 'A10G', 8),
        ('ml.g6.12xlarge', 'L4', 4),
        ('g6e.xlarge', 'L40S', 1),
        ('a2-highgpu-1g', 'A100-40GB', 1),
        ('a2-ultragpu-4g', 'A100-80GB', 4),
        ('a3-highgpu-8g', 'H100-80GB', 8),
        ('g2-standard-12', 'L4', 1),
        ('g2-standard-48', 'L4', 4),
        ('Standard_NC24ads_A100_v4', 'A100-80GB', 1),
        ('NC96ads_A100_v4', 'A100-80GB', 4),
        ('Standard_ND96isr_H100_v5', 'H100-80GB', 8),
        ('ND96isr_H200_v5', 'H200', 8),
        ('Standard_ND96asr_v4', 'A100-40GB', 8),
        ('Standard_ND96amsr_A100_v4', 'A100-80GB', 8),
        ('Standard_NC40ads_H100_v5', 'H100-NVL', 1),
        ('Standard_NC4as_T4_v3', 'T4', 1),
        ('H100:8', 'H100-80GB', 8),
        ('A100-80GB:4', 'A100-80GB', 4),
        ('8xH100', 'H100-80GB', 8),
        ('H100', 'H100-80GB', 1),
        ('a100-80g', 'A100-80GB', 1),
        ('A100', 'A100-40GB', 1),
        ('4090', 'RTX-4090', 1),
        ('NVIDIA-H20-3e', 'H20-3e', 1),
        ('NVIDIA-A100-SXM-64GB', 'A100-64GB', 1),
        ('NVIDIA-RTX-PRO-6000-Blackwell-Server-Edition', 'RTX-PRO-6000', 1),
        ('nvidia-rtx-pro-6000', 'RTX-PRO-6000', 1),
        ('A100_NVLINK_80GB', 'A100-80GB', 1),
        ('g4-standard-96', 'RTX-PRO-6000', 2),
        ('g7e.48xlarge', 'RTX-PRO-6000', 8),
        ('Standard_NC6s_v3', 'V100-16GB', 1),
        ('AMD_Instinct_MI355X_OAM', 'MI355X', 1),
        ('tpu-v6e-slice', 'TPU-v6e', 1),
    ],
)
def test_lookup(text: str, name: str, count: int) -> None:
    gpu = lookup(text)
    assert gpu is not None
    assert (gpu.name, gpu.gpus) == (name, count)


@pytest.mark.parametrize(
    'text', ['', 'cpu', 'm5.xlarge', 'Standard_D4s_v5', 'nvidia.com/gpu', 'tpu-v5-lite', 'g5', 'H1000', '8', '\ufffc']
)
def test_unknown(text: str) -> None:
    assert lookup(text) is None


def test_mig_resource() -> None:
    gpu = lookup('nvidia.com/mig-1g.10gb')
    assert gpu is not None
    assert (gpu.name, gpu.memory_gib, gpu.slice, gpu.is_mig, gpu.capability) == ('', 10.0, '1g.10gb', True, None)


def test_mig_product_label_keeps_the_parent() -> None:
    gpu = lookup('NVIDIA-A100-SXM4-80GB-MIG-3g.40gb')
    assert gpu is not None
    assert (gpu.name, gpu.memory_gib, gpu.capability) == ('A100-80GB', 40.0, (8, 0))


@pytest.mark.parametrize(
    ('text', 'capability', 'generation'),
    [
        ('T4', (7, 5), 'Turing'),
        ('A100', (8, 0), 'Ampere'),
        ('A10G', (8, 6), 'Ampere'),
        ('L4', (8, 9), 'Ada'),
        ('H100', (9, 0), 'Hopper'),
        ('B200', (10, 0), 'Blackwell'),
        ('GB10', (12, 1), 'Blackwell'),
        ('V100', (7, 0), 'Volta'),
    ],
)
def test_capability(text: str, capability: tuple[int, int], generation: str) -> None:
    gpu = lookup(text)
    assert gpu is not None
    assert (gpu.capability, gpu.generation) == (capability, generation)


def test_tables_agree() -> None:
    assert set(SYNONYMS.values()) <= set(PRODUCTS)
    assert not set(SYNONYMS) & set(PRODUCTS)
