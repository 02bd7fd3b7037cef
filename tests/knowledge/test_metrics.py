"""Metric names by release, against what vLLM's own loggers register."""

import pytest

from configaudit.knowledge.metrics import ask, engine_of
from configaudit.knowledge.versions import parse


@pytest.mark.parametrize(
    ('name', 'version', 'state', 'use'),
    [
        ('vllm:gpu_cache_usage_perc', '0.10.2', 'known', ''),
        ('vllm:gpu_cache_usage_perc', '0.11.0', 'hidden', 'vllm:kv_cache_usage_perc'),
        ('vllm:gpu_cache_usage_perc', '0.11.1', 'hidden', 'vllm:kv_cache_usage_perc'),
        ('vllm:gpu_cache_usage_perc', '0.12.0', 'removed', 'vllm:kv_cache_usage_perc'),
        ('vllm:gpu_cache_usage_perc', '', 'removed', 'vllm:kv_cache_usage_perc'),
        ('vllm:kv_cache_usage_perc', '0.9.0', 'too-new', 'vllm:gpu_cache_usage_perc'),
        ('vllm:kv_cache_usage_perc', '', 'known', ''),
        ('vllm:time_per_output_token_seconds_bucket', '0.14.1', 'hidden', 'vllm:inter_token_latency_seconds_bucket'),
        ('vllm:time_per_output_token_seconds_sum', '0.15.1', 'removed', 'vllm:inter_token_latency_seconds_sum'),
        ('vllm:prompt_tokens_total', '0.6.6', 'known', ''),
        ('vllm:prompt_tokens_total', '0.33.0', 'known', ''),
        ('vllm:prompt_tokens_created', '0.33.0', 'known', ''),
        ('vllm:prompt_tokens', '0.33.0', 'series', 'vllm:prompt_tokens_total'),
        ('vllm:num_requests_running_total', '0.33.0', 'series', 'vllm:num_requests_running'),
        ('vllm:iteration_tokens_total_bucket', '0.33.0', 'known', ''),
        ('vllm:iteration_tokens_total', '0.33.0', 'series', ''),
        ('vllm:num_requests_swapped', '0.8.2', 'known', ''),
        ('vllm:num_requests_swapped', '0.8.5', 'hidden', ''),
        ('vllm:num_requests_swapped', '0.16.0', 'removed', ''),
        ('vllm:num_requests_swapped_out', '', 'unknown', ''),
        ('vllm:num_request_waiting', '', 'unknown', 'vllm:num_requests_waiting'),
        ('vllm:gpu_cache_usage_percent', '0.16.0', 'unknown', 'vllm:kv_cache_usage_perc'),
        ('vllm:deployment_replicas', '', 'known', ''),  # AIBrix
        ('vllm:current_qps', '', 'known', ''),  # the production stack's router
        ('vllm:num_requests_waiting:sum', '', 'open', ''),  # a recording rule
        ('vllm:something_else', '', 'open', ''),
        ('vllm_num_requests_running', '', 'underscored', 'vllm:num_requests_running'),
        ('vllm_num_request_running', '', 'unknown', 'vllm:num_requests_running'),
        ('vllm:request_queue_size', '', 'unknown', ''),
        ('vllm_request_failure_total', '', 'unknown', ''),
        ('vllm:request_errors_total', '', 'known', ''),  # the production stack's router
        ('vllm_something_else', '', 'open', ''),
        ('sglang:num_running_reqs', '0.5.9', 'known', ''),
        ('sglang:time_per_output_token_seconds_bucket', '0.5.9', 'removed', 'sglang:inter_token_latency_seconds_bucket'),
        ('sglang:inter_token_latency_seconds_bucket', '0.4.3', 'too-new', 'sglang:time_per_output_token_seconds_bucket'),
        ('sglang:num_queue_req', '0.5.9', 'unknown', 'sglang:num_queue_reqs'),
        ('sglang:queue_time_secs_bucket', '0.5.9', 'unknown', 'sglang:queue_time_seconds_bucket'),
        ('sglang:foo_tokens_total', '', 'open', ''),
        ('sglang:num_requests_running', '', 'unknown', ''),
        ('tgi_request_duration_bucket', '', 'known', ''),
        ('tgi_request_count', '', 'known', ''),
        ('tgi_request_count_total', '', 'series', 'tgi_request_count'),
        ('nv_inference_request_success', '', 'known', ''),
        ('nv_inference_compute_duration_us', '', 'removed', 'nv_inference_compute_infer_duration_us'),
        ('nv_something_else', '', 'open', ''),
        ('ollama_inference_duration_seconds_bucket', '', 'unknown', ''),
        ('ollama_requests_total', '', 'open', ''),
    ],
)
def test_answers(name: str, version: str, state: str, use: str) -> None:
    answer = ask(name, parse(version) if version else None)
    assert (answer.state, answer.use) == (state, use)


def test_what_another_program_exports_too_is_never_certain() -> None:
    assert not ask('vllm:num_requests_swapped', parse('0.16.0')).exact
    assert ask('vllm:cpu_cache_usage_perc', parse('0.16.0')).exact


def test_series_of_one_metric_share_its_name() -> None:
    names = {ask(f'vllm:time_to_first_token_seconds{suffix}', None).metric for suffix in ('_bucket', '_sum', '_count')}
    assert names == {'vllm:time_to_first_token_seconds'}


def test_prefixes() -> None:
    assert [engine_of(name) for name in ('vllm:a', 'sglang:a', 'tgi_a', 'nv_a', 'DCGM_FI_DEV_GPU_UTIL', 'ray_vllm_a')] == ['vllm', 'sglang', 'tgi', 'triton', '', '']
