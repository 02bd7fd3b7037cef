"""The July tuning checklist as a launch document: ten items, each pass, fail, not applicable or not assessed."""

from typing import Literal, NamedTuple

from configaudit.findings import Finding, NotAssessed
from configaudit.model import Rule
from configaudit.result import Result

Outcome = Literal['pass', 'fail', 'not applicable', 'not assessed']


class Item(NamedTuple):
    """One change of the checklist."""

    tag: str
    title: str
    effect: str
    """What the change brought where it was measured (July 2026, four inference services, six microservices)."""
    side_effect: str
    caution: str
    """What the list got wrong or left out, and what holds on current systems."""
    source: str


ITEMS: tuple[Item, ...] = (
    Item(
        'july-1', 'Batch width: vLLM max_num_seqs fits the latency target', 'P99 -35 % (256 to 128, A100-80G)',
        'peak throughput about -15 %',
        'The default is 256 only up to vLLM 0.6.4 and on smaller GPUs; since 0.8 it is 1024 on H100-class GPUs. '
        '128 was the best value of one service: sweep 64 to 256 under your own load.',
        'vLLM arg_utils by release',
    ),
    Item(
        'july-2', 'GPU memory: gpu_memory_utilization leaves room for the runtime', 'P99 -28 % (0.90 to 0.85), no more OOM restarts',
        'less KV cache: fewer sequences at a time, more preemption',
        'The default is 0.90 up to vLLM 0.19 and 0.92 in current releases. A CUDA out-of-memory is an exception in the engine, not the '
        'kernel OOM killer, which watches host memory. Under preemption the engine documentation advises to raise the value.',
        'vLLM cache configuration by release; vLLM docs, optimization',
    ),
    Item(
        'july-3', 'KV cache in FP8 where memory is the limit', 'P99 -22 % (72B model), twice the batch in the same memory',
        'some accuracy: measure it on your own task, above all on mathematics and long context',
        'It needs hardware and an attention backend that support it, and helps only where KV cache memory is the bottleneck.',
        'vLLM docs, quantized KV cache',
    ),
    Item(
        'july-4', 'Batching window: requests do not wait long for a batch to fill', 'P99 -18 % (100 ms to 30 ms)',
        'the GPU idles 5 to 8 % more at low load',
        'Engines that batch continuously (vLLM, SGLang, TGI) have no such window: this is about Triton, TorchServe, TensorFlow Serving, '
        'KServe batchers, Ray Serve and BentoML, whose units differ (microseconds, milliseconds, seconds).',
        'documentation of each server',
    ),
    Item(
        'july-5', 'HTTP/2 between gateway and services that can speak it', 'P99 -15 %, 500 connections to 8',
        'one connection pins a client to one backend behind a layer-4 balancer; a stream limit becomes the new ceiling',
        'vLLM serves HTTP/1.1 only (uvicorn): there, keep a pool of connections alive instead. In the clients of Go and most '
        'languages HTTP/2 over TLS is on by default unless a custom transport turned it off.',
        'uvicorn docs; Go net/http',
    ),
    Item(
        'july-6', 'gRPC keepalive finds dead peers, within what the server allows', 'P99 -12 % while nodes fail',
        'pings on idle connections; too many of them end the connection',
        'A server allows one ping in 5 minutes, and none without a stream, unless its enforcement policy says otherwise: the client '
        'settings of the list (30 s, without stream) alone make a default Go or C++ server answer GOAWAY too_many_pings.',
        'gRPC proposals A8 and A9; gRPC keepalive guide',
    ),
    Item(
        'july-7', 'Database pools are bounded, and fit the server at the most pods', 'P99 -10 %, 720 connections to 300',
        'requests queue for a connection when the pool is too small',
        'max_connections x 0.6 / pods counts the pods of a quiet day. At a rollout and at the autoscaler\'s maximum there are more: '
        'pods x processes x pool has to stay below 80 % of max_connections minus the reserved ones.',
        'PostgreSQL and MySQL manuals; Kubernetes Deployment maxSurge',
    ),
    Item(
        'july-8', 'Go uses the CPUs the container may use', 'P99 -8 %, GC pauses 15 ms to 2 ms', 'none',
        'A binary whose go.mod says go 1.25 or later follows the CPU limit by itself, unless GOMAXPROCS is set. Without a CPU limit '
        'no version does. automaxprocs rounds down, Go rounds up and uses at least 2.',
        'Go 1.25 release notes; runtime package',
    ),
    Item(
        'july-9', 'I/O scheduler fits the device', 'P99 of disk I/O 120 ms to 80 ms, end to end -6 %',
        'kyber costs throughput where nothing else competes for the device',
        'NVMe devices with several queues have none as their default, and it is right for most: mq-deadline there was set by a udev or '
        'tuned rule. Choose kyber only where it was measured under mixed load. For loading weights, read-ahead matters more.',
        'Linux block/elevator.c; RHEL 10, setting the disk scheduler',
    ),
    Item(
        'july-10', 'Enough file descriptors for the process', 'no more failures when descriptors run out', 'none to speak of',
        'The limit of a process is LimitNOFILE, ulimit -n or nofile. fs.file-max is the ceiling of the whole host: systemd has '
        'raised it to the maximum since version 240, and the 65536 of the list lowers it and starves the node.',
        'Linux Documentation/admin-guide/sysctl/fs.rst; systemd 240 NEWS',
    ),
)  # fmt: skip


class Answer(NamedTuple):
    """What the run says about one item."""

    item: Item
    outcome: Outcome
    findings: tuple[Finding, ...]
    not_assessed: tuple[NotAssessed, ...]
    passed: tuple[tuple[str, int], ...]
    """(rule, on how many components it found nothing wrong)."""


class Launch(NamedTuple):
    """The document."""

    answers: tuple[Answer, ...]
    others: tuple[Finding, ...]
    """Findings beyond the checklist."""


def assess(result: Result) -> Launch:
    """The ten answers of a run."""
    answers = tuple(_answer(item, result) for item in ITEMS)
    tags = {item.tag for item in ITEMS}
    return Launch(answers, tuple(finding for finding in result.findings if not tags & set(finding.rule.checklist)))


def _answer(item: Item, result: Result) -> Answer:
    """What was not seen is never green: a rule for errors or warnings that stays open keeps an item from passing."""

    def belongs(rule: Rule) -> bool:
        return item.tag in rule.checklist

    findings = tuple(finding for finding in result.findings if belongs(finding.rule))
    open_ones = tuple(entry for entry in result.not_assessed if belongs(entry.rule))
    passed = tuple((rule.id, result.passed[rule.id]) for rule in result.registry.rules if belongs(rule) and result.passed.get(rule.id))
    outcome: Outcome = 'not applicable'
    if findings:
        outcome = 'fail'
    elif open_ones and (not passed or any(entry.rule.severity != 'advice' for entry in open_ones)):
        outcome = 'not assessed'
    elif passed:
        outcome = 'pass'
    return Answer(item, outcome, findings, open_ones, passed)
