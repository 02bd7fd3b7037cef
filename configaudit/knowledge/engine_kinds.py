"""Kinds of inference engines and the settings of theirs that rules judge."""

from configaudit.knowledge.kinds import declare
from configaudit.model import Kind, SettingSpec

TGI_SOURCE = 'text-generation-inference launcher/src/main.rs'
TRITON_SOURCE = 'Triton server src/grpc/grpc_server.h, src/command_line_parser.h'
TRTLLM_SOURCE = 'TensorRT-LLM tensorrt_llm/commands/serve.py'


def _flags(**units: str) -> dict[str, SettingSpec]:
    """Settings that are command-line flags: name -> unit; the flag's spelling is the path."""
    return {name: SettingSpec(unit, None, ('--' + name.replace('_', '-'),)) for name, unit in units.items()}


def _known(source: str, **defaults: tuple[str, object]) -> dict[str, SettingSpec]:
    """The same with a default that is one in every release: name -> (unit, default)."""
    return {
        name: SettingSpec(unit, default, ('--' + name.replace('_', '-'),), source=source)
        for name, (unit, default) in defaults.items()
    }


def _variables(**units: str) -> dict[str, SettingSpec]:
    """Settings that are environment variables of Ollama: name -> unit."""
    return {name: SettingSpec(unit, None, ('OLLAMA_' + name.upper(),)) for name, unit in units.items()}


_ENGINE: dict[str, SettingSpec] = {
    'options': SettingSpec(default=()),
    'arguments': SettingSpec(),
    'environment': SettingSpec(default={}),
    'image': SettingSpec(),
    'gpu': SettingSpec(),
    'command': SettingSpec(),
    'model': SettingSpec('text'),
    'model_config': SettingSpec(),
    'world_size': SettingSpec('count', 1),
    'port': SettingSpec('count'),
    'piped': SettingSpec('bool', False),
    'ray_cluster': SettingSpec('bool', False),
    'nodes': SettingSpec('count', 1),
}
"""What every engine has: its parsed options, environment, GPU, model and what the model's config.json says where the run
shows one, GPUs that one replica needs (`world_size`), the pods these are spread over (`nodes`), whether its output goes
into a pipe and its process joins a Ray cluster, its port."""

VLLM = declare(Kind('vllm', ('engine',), {
    **_ENGINE,
    **_flags(
        max_num_seqs='count', max_num_batched_tokens='count', gpu_memory_utilization='number', kv_cache_dtype='text',
        tensor_parallel_size='count', pipeline_parallel_size='count', data_parallel_size='count', max_model_len='count',
        enable_chunked_prefill='bool', enable_prefix_caching='bool', swap_space='number', enforce_eager='bool',
        disable_log_stats='bool', enable_log_requests='bool', disable_log_requests='bool', quantization='text', dtype='text',
        block_size='count', served_model_name='text', trust_remote_code='bool', revision='text',
        distributed_executor_backend='text', calculate_kv_scales='bool', host='text', attention_backend='text',
        performance_mode='text', kv_cache_memory_bytes='count', data_parallel_size_local='count', nnodes='count',
    ),
    **_flags(
        node_rank='count', data_parallel_rank='count', data_parallel_hybrid_lb='bool', data_parallel_external_lb='bool',
        data_parallel_multi_port_external_lb='bool', prefill_context_parallel_size='count', api_server_count='count', headless='bool',
        enable_auto_tool_choice='bool', tool_call_parser='text', enable_reasoning='bool', reasoning_parser='text', enable_log_outputs='bool',
        enable_per_request_metrics='bool', enable_eplb='bool', enable_expert_parallel='bool', long_prefill_token_threshold='count',
        max_num_partial_prefills='count', fail_on_environ_validation='bool', shutdown_timeout='s', async_scheduling='bool',
        max_num_queued_reqs='count', max_num_queued_tokens='count',
    ),
    'generation': SettingSpec(),
    'cpu': SettingSpec('bool', False),
}))  # fmt: skip

SGLANG = declare(Kind('sglang', ('engine',), {
    **_ENGINE,
    **_flags(mem_fraction_static='number', max_running_requests='count', kv_cache_dtype='text', tp_size='count', pp_size='count',
             dp_size='count', context_length='count', host='text', enable_metrics='bool', enable_torch_compile='bool',
             disable_cuda_graph='bool', enable_dp_attention='bool', chunked_prefill_size='count', quantization='text', dtype='text', trust_remote_code='bool',
             revision='text', nnodes='count', node_rank='count', watchdog_timeout='number', max_queued_requests='count',
             disable_radix_cache='bool', disaggregation_mode='text'),
}))  # fmt: skip

TGI = declare(Kind('tgi', ('engine',), {
    **_ENGINE,
    **_flags(max_input_tokens='count', max_input_length='count', max_total_tokens='count', max_batch_total_tokens='count',
             max_batch_prefill_tokens='count', num_shard='count', quantize='text', dtype='text', trust_remote_code='bool',
             revision='text'),
    **_known(TGI_SOURCE, max_concurrent_requests=('count', 128), cuda_memory_fraction=('number', 1.0),
             graceful_termination_timeout=('s', 90)),
}))  # fmt: skip

TRITON = declare(Kind('triton', ('engine', 'grpc-server'), {
    **_ENGINE,
    **_flags(model_repository='text', model_control_mode='text'),
    'python_shm_bytes': SettingSpec('count', 2**20, source='Triton python_backend README, Managing Shared Memory'),
    **_known(TRITON_SOURCE, exit_timeout_secs=('s', 30), grpc_keepalive_time=('ms', 7200000), grpc_keepalive_timeout=('ms', 20000),
             grpc_keepalive_permit_without_calls=('bool', False), grpc_http2_max_pings_without_data=('count', 2),
             grpc_http2_min_recv_ping_interval_without_data=('ms', 300000), grpc_http2_max_ping_strikes=('count', 2),
             grpc_port=('count', 8001)),
}))  # fmt: skip

OLLAMA = declare(Kind('ollama', ('engine',), {
    **_ENGINE,
    **_variables(num_parallel='count', context_length='count', max_loaded_models='count', max_queue='count', keep_alive='s', kv_cache_type='text',
                 flash_attention='bool', host='text', models='text'),
    'alone': SettingSpec('bool', False),
}))  # fmt: skip
"""`alone`: no script around it, so that nothing else reads the variables. `keep_alive`: negative is for ever."""

LLAMA_CPP = declare(Kind('llama.cpp-server', ('engine',), {
    **_ENGINE,
    **_flags(host='text', ctx_size='count', parallel='count', n_predict='count', gpu_layers='text', flash_attn='text', cache_type_v='text',
             cache_type_k='text', metrics='bool', slots='bool', props='bool', tools='text', agent='bool', api_key='text', api_key_file='text',
             kv_unified='bool', batch_size='count', ubatch_size='count', timeout='count', hf_repo='text', cont_batching='bool'),
}))  # fmt: skip

TRTLLM = declare(Kind('tensorrt-llm', ('engine',), {
    **_ENGINE,
    **_flags(max_batch_size='count', max_num_tokens='count', max_seq_len='count', tensor_parallel_size='count', pipeline_parallel_size='count',
             context_parallel_size='count', free_gpu_memory_fraction='number', host='text', trust_remote_code='bool', revision='text',
             backend='text', enable_chunked_prefill='bool', server_role='text'),
    'capacity_scheduler_policy': SettingSpec('text', 'GUARANTEED_NO_EVICT', source=TRTLLM_SOURCE),
    'extra_options': SettingSpec('text'),
    'return_perf_metrics': SettingSpec('bool', False),
}))  # fmt: skip
"""`extra_options`: the path of the YAML file whose values win over the flags."""

LMDEPLOY = declare(Kind('lmdeploy', ('engine',), {
    **_ENGINE,
    **_flags(server_name='text', tp='count', dp='count', nnodes='count', node_rank='count', cache_max_entry_count='number', max_batch_size='count',
             session_len='count', max_concurrent_requests='count', quant_policy='count', backend='text', trust_remote_code='bool', revision='text',
             max_prefill_token_num='count'),
}))  # fmt: skip

TORCHSERVE = declare(Kind('torchserve', ('engine',), {**_ENGINE, **_flags(ts_config='text', model_store='text')}))

TF_SERVING = declare(Kind('tf-serving', ('engine',), {
    **_ENGINE,
    **_flags(rest_api_port='count', model_name='text', enable_batching='bool', batching_parameters_file='text'),
}))  # fmt: skip

ENGINES = tuple(kind.name for kind in (VLLM, SGLANG, TGI, TRITON, OLLAMA, LLAMA_CPP, TRTLLM, LMDEPLOY, TORCHSERVE, TF_SERVING))
"""The names of the engines, as options and configuration write them."""
