"""What a model's config.json says of its shape, weights and context, as the engines read it.

Sources: vllm/config/model.py and transformers_utils/model_arch_config_convertor.py (vLLM 0.8.5 to 0.33.0), the published
config.json files of the families named below. What a family does in ways of its own is left unknown, never guessed: the
number of layers whose cache grows is then 0, a lower bound.
"""

from collections.abc import Mapping
from typing import Any

from configaudit.knowledge.models import MLA_ELEMENTS, Model

_INNER = ('text_config', 'llm_config', 'language_config', 'language_model')
_CONTEXT = ('max_position_embeddings', 'n_positions', 'max_seq_len', 'seq_length', 'max_sequence_length', 'max_seq_length', 'model_max_length')
_PLAIN = frozenset((
    'llama', 'qwen2', 'qwen3', 'qwen2_moe', 'qwen3_moe', 'qwen2_vl', 'qwen2_5_vl', 'qwen3_vl', 'qwen3_vl_moe', 'mistral', 'mixtral', 'phi3', 'gemma',
    'granite', 'granitemoe', 'glm4', 'glm4_moe', 'opt', 'olmo', 'olmo2', 'exaone', 'internlm2', 'minimax_m2', 'seed_oss', 'starcoder2', 'stablelm', 'mllama',
    'qwen2_vl_text', 'qwen2_5_vl_text', 'qwen3_vl_text', 'qwen3_vl_moe_text', 'deepseek_v2', 'deepseek_v3', 'deepseek_v32', 'glm_moe_dsa', 'kimi_k2', 'kimi_k25', 'mistral3', 'pixtral', 'ministral', 'ministral3', 'smollm3', 'gpt_bigcode', 'yi', 'baichuan',
))  # fmt: skip
"""Families whose layers all keep the whole context, but for a sliding window that the configuration names."""
_WINDOWED = {'gemma2': 2, 'gemma3': 6, 'gemma3_text': 6, 'cohere2': 4, 'llama4': 4, 'llama4_text': 4}
"""Families where every nth layer keeps the whole context, if the configuration lists no layer types."""
_BITS = {'fp8': 8, 'fbgemm_fp8': 8, 'mxfp4': 4.25, 'awq': 4, 'awq_marlin': 4, 'gptq': 4, 'gptq_marlin': 4, 'bitsandbytes': 4, 'nvfp4': 4.5}
FOUR_BITS = 0.5  # bytes: the least that 4-bit weights take, without scales and without layers kept at full width


def model_of(config: Mapping[str, Any], source: str, weight_bytes: int = 0) -> Model | None:
    """The model that a config.json describes; None when it does not say layers, heads and context. `weight_bytes`: of its weight index."""
    text = next((inner for key in _INNER if isinstance(inner := config.get(key), Mapping)), config)
    layers, heads = _number(text, 'num_hidden_layers', 'n_layer', 'num_layers'), _number(text, 'num_attention_heads', 'n_head', 'n_heads')
    hidden, context = _number(text, 'hidden_size', 'n_embd', 'd_model'), _context(text)
    if not layers or not heads or not hidden or not context:
        return None
    kv_heads = _number(text, 'num_key_value_heads', 'num_kv_heads', 'multi_query_group_num') or (1 if text.get('multi_query') is True else heads)
    head_dim = _number(text, 'head_dim') or hidden // heads
    rank = _number(text, 'kv_lora_rank')
    full, window = _layers_in_full(text, layers)
    if full and (wide := _number(text, 'global_head_dim')):  # Gemma 4: the layers in full have heads of their own
        head_dim, kv_heads = wide, _number(text, 'num_global_key_value_heads') or kv_heads
    width = _bytes(config, text)
    return Model(
        weight_bytes / width / 1e9, layers, heads, kv_heads, head_dim, context, source, mla=rank > 0, bytes_per_parameter=width,
        full_layers=full, window=window, dtype=str(text.get('dtype') or text.get('torch_dtype') or config.get('torch_dtype') or config.get('dtype') or ''),
        quantization=_method(config, text), mla_elements=rank + _number(text, 'qk_rope_head_dim') if rank else MLA_ELEMENTS,
        stretched=str(_rope(text).get('rope_type') or _rope(text).get('type')) in ('longrope', 'su'),
    )  # fmt: skip


def _number(text: Mapping[str, Any], *names: str) -> int:
    """The first of these that is a whole number above zero; 0 without one."""
    return next((value for name in names if isinstance(value := text.get(name), int) and not isinstance(value, bool) and value > 0), 0)


def _context(text: Mapping[str, Any]) -> int:
    """The longest context that any release derives: from 0.33.0 a YaRN factor is not applied to the scaled length again."""
    lengths = [value for name in _CONTEXT if (value := _number(text, name))]
    longest = _number(text, 'model_max_length') or min(lengths, default=0)
    rope = _rope(text)
    kind, factor = str(rope.get('rope_type') or rope.get('type') or ''), rope.get('factor')
    if kind in ('', 'default', 'su', 'longrope', 'llama3', 'proportional') or not isinstance(factor, (int, float)) or 'gemma3' in str(text.get('model_type')):
        return longest
    original = _number(rope, 'original_max_position_embeddings') or longest
    return max(longest, int(original * factor)) if kind.endswith('yarn') else int(longest * factor)


def _rope(text: Mapping[str, Any]) -> Mapping[str, Any]:
    rope = text.get('rope_scaling') or text.get('rope_parameters')
    return rope if isinstance(rope, Mapping) else {}


def _layers_in_full(text: Mapping[str, Any], layers: int) -> tuple[int, int]:
    """(layers whose cache grows with the context, window of the others in tokens: 0 when unknown or none)."""
    kind, window = str(text.get('model_type') or ''), _number(text, 'sliding_window', 'attention_chunk_size')
    kinds = text.get('layer_types')
    if isinstance(kinds, list) and kinds:
        return sum(str(each) in ('full_attention', 'attention') for each in kinds), window
    pattern = text.get('hybrid_override_pattern')
    if isinstance(pattern, str):
        return pattern.count('*'), 0
    if every := _number(text, 'full_attention_interval'):
        return layers // every, 0
    if kind in _WINDOWED:
        return layers // (_number(text, 'sliding_window_pattern') or _WINDOWED[kind]), window
    if kind in _PLAIN:
        slides = window and text.get('use_sliding_window') is not False and kind in ('mistral', 'mixtral', 'phi3', 'qwen2', 'qwen3', 'starcoder2', 'ministral')
        return (0, window) if slides else (layers, 0)
    return 0, 0


def _quantization(config: Mapping[str, Any], text: Mapping[str, Any]) -> Mapping[str, Any]:
    found = config.get('quantization_config') or text.get('quantization_config') or config.get('compression_config')
    return found if isinstance(found, Mapping) else {}


def _method(config: Mapping[str, Any], text: Mapping[str, Any]) -> str:
    return str(_quantization(config, text).get('quant_method') or '').lower()


def _bytes(config: Mapping[str, Any], text: Mapping[str, Any]) -> float:
    """The least bytes that a parameter takes on the GPU: engines load 32-bit weights as 16-bit ones."""
    quantization, method = _quantization(config, text), _method(config, text)
    if not quantization:
        return 2.0
    if method == 'bitsandbytes' and quantization.get('load_in_8bit') is True:
        return 1.0
    bits = _number(quantization, 'bits', 'w_bit')
    if method in _BITS:
        return (bits or _BITS[method]) / 8
    return 1.0 if method == 'modelopt' and str(quantization.get('quant_algo')).upper() == 'FP8' else FOUR_BITS
