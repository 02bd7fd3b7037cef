"""Which GPUs vLLM's quantisation kernels run on.

Source: get_min_capability of vllm/model_executor/layers/quantization in 0.8.5, 0.9.0, 0.9.2, 0.10.2, 0.11.0, 0.11.2,
0.13.0, 0.16.0, 0.20.2 and 0.33.0. Between two releases that were read the lower demand holds.
"""

from configaudit.knowledge.versions import Version, release

_WIDER = release('0.13.1')  # 8.0 in 0.13.0, 7.5 in 0.16.0
_NEWEST_READ = release('0.20.3')  # awq.py and gptq.py are gone in 0.33.0

# method -> (compute capability until 0.13.0, from there on)
_LEAST: dict[str, tuple[tuple[int, int], tuple[int, int]]] = {
    'fp8': ((8, 0), (7, 5)),
    'gptq_marlin': ((8, 0), (7, 5)),
    'awq_marlin': ((8, 0), (7, 5)),
    'mxfp4': ((8, 0), (8, 0)),
    'awq': ((7, 5), (7, 5)),
    'gptq': ((6, 0), (6, 0)),
    'bitsandbytes': ((7, 0), (7, 0)),
}


def least_capability(method: str, version: Version | None) -> tuple[int, int] | None:
    """The compute capability that a quantisation needs; the lowest of any release when the version is unknown."""
    found = _LEAST.get(method)
    if found is None or (method in ('awq', 'gptq') and (version is None or version >= _NEWEST_READ)):
        return None
    return found[0] if version is not None and version < _WIDER else found[1]
