"""Rules for batchers that wait for requests to come together (july-4)."""

from collections.abc import Iterator

from configaudit.knowledge.batching_kinds import in_file_unit
from configaudit.model import Component, NotApplicable, Problem, Severity, rule

CHECKLIST = 'July tuning checklist, change 4'
EFFECT = 'P99 latency -18 % with a window of 30 ms instead of 100 ms'
SIDE_EFFECT = 'smaller batches: the GPU idles 5-8 % more'
TRITON = 'Triton docs, user_guide/batcher'


def _is_single(batcher: Component) -> bool:
    """Whether a batch is one request."""
    size = batcher['batch_size']
    return bool(size.is_known and size.value == 1)


def _never_waits(batcher: Component) -> bool:
    """Whether one request makes a batch: batches of one, or Triton's preferred sizes hold 1."""
    return _is_single(batcher) or '1' in batcher['preferred_sizes'].value


@rule('batching-window-long', on='batcher', severity='warning', checklist='july-4', source=CHECKLIST, effect=EFFECT, side_effect=SIDE_EFFECT)
def window_long(batcher: Component, *, limit_ms: float = 30, warn_ms: float = 100) -> Iterator[Problem]:
    """Every request may wait the whole window for company before the model sees it: at low load that is added to each answer.

    When it is wrong: offline batches, where only throughput counts. BentoML adapts its wait and drops what passes the limit, so there
    the number is the longest that a request may take: set it to the latency that you promise, not to a window.
    """
    window, product = batcher['window_ms'], batcher['product'].value
    if not window.is_set or _never_waits(batcher):
        raise NotApplicable('no window is set, or a batch is one request')
    if window.value <= limit_ms:
        return
    severity: Severity = 'warning' if window.value >= warn_ms and product != 'bentoml' else 'advice'
    yield Problem(
        window, 'a request may wait {value} ms for its batch, over {limit} ms: all of it adds to the latency', limit=limit_ms,
        severity=severity, fix=None if product == 'bentoml' else window.set(in_file_unit(limit_ms, window.unit)),
    )  # fmt: skip


@rule('batching-window-default', on='batcher', severity='warning', checklist='july-4', source='KServe pkg/batcher/handler.go; TorchServe and BentoML default configuration', effect=EFFECT, side_effect=SIDE_EFFECT)
def window_default(batcher: Component, *, limit_ms: float = 30) -> Iterator[Problem]:
    """The framework's own window holds where nobody sets one, and it is made for throughput: 5 s in KServe's batcher, 100 ms in TorchServe."""
    window, product = batcher['window_ms'], batcher['product'].value
    if window.is_set or _never_waits(batcher):
        raise NotApplicable('the window is set, or a batch is one request')
    if window.value <= limit_ms:
        return
    yield Problem(
        window, 'no batching window is set: the default lets a request wait {value} ms, over {limit} ms', limit=limit_ms,
        severity='warning' if product == 'kserve' else 'advice', fix=window.set(limit_ms) if product == 'kserve' else None,
    )  # fmt: skip


@rule('batching-size-one-with-window', on='batcher', severity='advice', checklist='july-4', source='TorchServe docs, batch_inference_with_ts')
def size_one_with_window(batcher: Component) -> Iterator[Problem]:
    """A batch of one is full at once: the window does nothing, and the GPU serves one request at a time."""
    window, size = batcher['window_ms'], batcher['batch_size']
    if not window.is_set or not _is_single(batcher):
        raise NotApplicable('batches may hold several requests, or no window is set')
    if window.value > 0:
        yield Problem(window, 'the window of {value} ms does nothing: batches hold 1 request', see=[('batch size', size)])


@rule('triton-preferred-batch-size', on='batcher', severity='advice', checklist='july-4', side_effect='batches of other sizes are formed', source=f'{TRITON}, Preferred Batch Sizes')
def triton_preferred_batch_size(batcher: Component) -> Iterator[Problem]:
    """Triton then holds requests back to reach one of these sizes; its documentation says not to set them for most models.

    When it is wrong: TensorRT models with optimization profiles for exactly these sizes.
    """
    sizes, backend = batcher['preferred_sizes'], str(batcher['backend'].value or '')
    if not sizes.is_set or backend.startswith('tensorrt'):
        raise NotApplicable('no preferred sizes, or a TensorRT model')
    shown = ', '.join(sizes.value)
    yield Problem(sizes, 'batches of {shown} are preferred, which delays the others: most models are faster without', shown=shown, fix=sizes.remove())


@rule('triton-queue-unbounded', on='batcher', severity='advice', checklist='july-4', side_effect='requests beyond the limit are refused at once', source=f'{TRITON}, Queue Policy')
def triton_queue_unbounded(batcher: Component) -> Iterator[Problem]:
    """Without a queue size or a timeout, requests pile up under overload until memory ends or every client has given up."""
    size, timeout = batcher['queue_size'], batcher['queue_timeout_ms']
    policies = batcher['queue_policies']
    if not policies.is_set or policies.value:
        raise NotApplicable('no dynamic batching of Triton, or its queues are limited by priority')
    if size.value == 0 and timeout.value == 0:
        batch = batcher['batch_size']
        bound = 4 * batch.value if batch.is_known and batch.value else 128
        fix = size.set(f'{{ max_queue_size: {bound} }}' if size.slot and size.slot.path == ('default_queue_policy',) else bound)
        yield Problem(size, 'the queue of the dynamic batcher has no limit: under overload requests wait without end', fix=fix)
