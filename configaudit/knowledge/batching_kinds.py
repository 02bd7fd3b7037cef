"""The kind of a batcher that waits for requests: what each serving framework calls its window, and its defaults.

Windows are in milliseconds whatever a file writes; `unit` of the setting says what the file writes ('us', 'ms', 's').
vLLM, SGLang and TGI schedule at every step and have no window.
"""

from configaudit.knowledge.kinds import declare
from configaudit.model import Kind, SettingSpec

BATCHER = declare(Kind('batcher', (), {
    'product': SettingSpec('text'),
    'backend': SettingSpec('text'),
    'window_ms': SettingSpec(),
    'batch_size': SettingSpec('count'),
    'preferred_sizes': SettingSpec(default=()),
    'queue_size': SettingSpec('count'),
    'queue_timeout_ms': SettingSpec(),
    'queue_policies': SettingSpec(),
    'response_timeout_s': SettingSpec('s'),
}))  # fmt: skip
"""`queue_policies`: the field that sets queue limits by priority, or ''; set for Triton's dynamic batching only."""

TRTLLM_MODEL = declare(Kind('triton-trtllm-model', (), {
    'capacity_scheduler_policy': SettingSpec('text', 'guaranteed_no_evict', source='tensorrtllm_backend docs/model_config.md'),
    'free_gpu_memory_fraction': SettingSpec('number', 0.9, source='tensorrtllm_backend docs/model_config.md'),
    'batching_type': SettingSpec('text', 'inflight_fused_batching', source='tensorrtllm_backend docs/model_config.md'),
}))  # fmt: skip
"""A model of Triton's TensorRT-LLM backend: parameters of its config.pbtxt."""

RAY_DEPLOYMENT = declare(Kind('ray-deployment', (), {
    'max_ongoing_requests': SettingSpec('count', None, ('max_ongoing_requests',)),
    'max_concurrent_queries': SettingSpec('count', None, ('max_concurrent_queries',)),
    'max_queued_requests': SettingSpec('count', -1, ('max_queued_requests',), source='Ray Serve schema.py'),
    'max_batch_size': SettingSpec('count', None, ('user_config', 'max_batch_size')),
    'gpus': SettingSpec('number', 0, ('ray_actor_options', 'num_gpus')),
    'import_path': SettingSpec('text'),
}))  # fmt: skip
"""A deployment that a Serve configuration lists; what it leaves out, the code's decorator decides."""

DEFAULTS: dict[str, tuple[float | None, int | None, str]] = {
    'triton': (0, None, 'Triton model configuration, ModelDynamicBatching'),
    'torchserve': (100, 1, 'TorchServe docs, batch_inference_with_ts'),
    'tf-serving': (0, 1000, 'TensorFlow Serving batching guide'),
    'kserve': (5000, 32, 'KServe pkg/batcher/handler.go'),
    'bentoml': (60000, 100, 'BentoML 1.4 default configuration'),
    'ray-serve': (10, 10, 'Ray Serve 2.60 @serve.batch'),
}
"""Product -> window in ms and batch size when nobody sets them, and what says so."""

SCALE_MS = {'us': 1e-3, 'ms': 1.0, 's': 1e3}
"""Milliseconds of one unit of a file."""


def in_file_unit(milliseconds: float, unit: str) -> float:
    """A window as its file writes it."""
    return milliseconds / SCALE_MS[unit]
