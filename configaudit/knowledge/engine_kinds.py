"""Kinds of inference engines and the settings of theirs that rules judge."""

from configaudit.knowledge.kinds import declare
from configaudit.model import Kind, SettingSpec


def _flags(**units: str) -> dict[str, SettingSpec]:
    """Settings that are command-line flags: name -> unit; the flag's spelling is the path."""
    return {name: SettingSpec(unit, None, ('--' + name.replace('_', '-'),)) for name, unit in units.items()}


_ENGINE: dict[str, SettingSpec] = {
    'options': SettingSpec(default=()),
    'arguments': SettingSpec(),
    'environment': SettingSpec(default={}),
    'image': SettingSpec(),
    'gpu': SettingSpec(),
    'command': SettingSpec(),
    'model': SettingSpec('text'),
    'world_size': SettingSpec('count', 1),
    'port': SettingSpec('count'),
}
"""What every engine has: its parsed options, environment, GPU, model, GPUs it needs, port."""

VLLM = declare(Kind('vllm', ('engine',), {
    **_ENGINE,
    **_flags(
        max_num_seqs='count', max_num_batched_tokens='count', gpu_memory_utilization='number', kv_cache_dtype='text',
        tensor_parallel_size='count', pipeline_parallel_size='count', data_parallel_size='count', max_model_len='count',
        enable_chunked_prefill='bool', enable_prefix_caching='bool', swap_space='number', enforce_eager='bool',
        disable_log_stats='bool', quantization='text', dtype='text', block_size='count', served_model_name='text',
        trust_remote_code='bool', distributed_executor_backend='text', calculate_kv_scales='bool', host='text',
    ),
    'generation': SettingSpec(),
}))  # fmt: skip

SGLANG = declare(Kind('sglang', ('engine',), {
    **_ENGINE,
    **_flags(mem_fraction_static='number', max_running_requests='count', kv_cache_dtype='text', tp_size='count', pp_size='count',
             dp_size='count', context_length='count', host='text', enable_metrics='bool', enable_torch_compile='bool',
             disable_cuda_graph='bool', chunked_prefill_size='count'),
}))  # fmt: skip

TGI = declare(Kind('tgi', ('engine',), {
    **_ENGINE,
    **_flags(max_concurrent_requests='count', max_input_tokens='count', max_input_length='count', max_total_tokens='count',
             max_batch_total_tokens='count', max_batch_prefill_tokens='count', num_shard='count', quantize='text',
             cuda_memory_fraction='number', graceful_termination_timeout='s'),
}))  # fmt: skip

TRITON = declare(Kind('triton', ('engine', 'grpc-server'), {
    **_ENGINE,
    **_flags(model_repository='text', model_control_mode='text', exit_timeout_secs='s', grpc_keepalive_time='ms',
             grpc_keepalive_timeout='ms', grpc_keepalive_permit_without_calls='bool', grpc_http2_max_pings_without_data='count',
             grpc_http2_min_recv_ping_interval_without_data='ms', grpc_http2_max_ping_strikes='count', grpc_port='count'),
}))  # fmt: skip
