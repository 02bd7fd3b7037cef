from tools.engine_history.metrics import Metric, metrics

SOURCES = {
    'vllm/engine/metrics.py': '''
self.gauge = self._gauge_cls(name="vllm:running", documentation="vllm:not_a_name at all", labelnames=labels)
self.tokens = Counter("vllm:tokens_total", "Tokens.")
''',
    'vllm/v1/metrics/loggers.py': '''
LATENCY = "vllm:latency_seconds"
gauge = self._gauge_cls(name="vllm:running")
if self.show_hidden_metrics:
    self._histogram_cls(name="vllm:old_seconds")
    self._gauge_cls(name="vllm:running")
self._histogram_cls(name=LATENCY)
''',
    'vllm/v1/spec.py': 'for name, text in [("vllm:drafts", "Drafts.")]:\n    make(name)\n',
    'vllm/v1/metrics/reader.py': 'x = metric.name == "vllm:read_elsewhere"\n',
    'vllm/utils/op.py': 'define("vllm::op")\n',
}


def test_names_kinds_generations_and_hidden_ones() -> None:
    assert metrics('vllm', SOURCES) == {
        'vllm:running': {'V0': Metric('vllm:running', 'gauge', False), 'V1': Metric('vllm:running', 'gauge', False)},
        'vllm:tokens_total': {'V0': Metric('vllm:tokens_total', 'counter', False)},
        'vllm:old_seconds': {'V1': Metric('vllm:old_seconds', 'histogram', True)},
        'vllm:latency_seconds': {'V1': Metric('vllm:latency_seconds', 'histogram', False)},
        'vllm:drafts': {'V1': Metric('vllm:drafts', '', False)},
    }


def test_sglang_has_one_generation_and_its_tests_declare_nothing() -> None:
    sources = {
        'sglang/srt/m.py': 'self.n = Gauge(name="sglang:num_queue_reqs")\ntitle = "sglang::scheduler"\n',
        'sglang/test/t.py': 'Gauge(name="sglang:only_tested")\n',
    }
    assert metrics('sglang', sources) == {'sglang:num_queue_reqs': {'': Metric('sglang:num_queue_reqs', 'gauge', False)}}
