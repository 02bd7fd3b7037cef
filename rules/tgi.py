"""Rules for Text Generation Inference."""

from collections.abc import Iterator

from configaudit.model import Component, Problem, rule

LAUNCHER = 'text-generation-inference launcher/src/main.rs'


@rule('tgi-token-limits-contradict', on='tgi', severity='error', source=f'{LAUNCHER}; tgi#1572, tgi#710')
def token_limits_contradict(engine: Component) -> Iterator[Problem]:
    """The launcher stops when the token limits contradict one another: input below total, total at most the batch's total."""
    new, old = engine['max_input_tokens'], engine['max_input_length']
    total, batch = engine['max_total_tokens'], engine['max_batch_total_tokens']
    if new.is_set and old.is_set:
        yield Problem(old, 'max_input_length and max_input_tokens are the same limit: the launcher refuses both', see=[('the other', new)], detail='both')
    given = new if new.is_set else old
    if given.is_set and total.is_set and given.value >= total.value:
        yield Problem(given, '{value} input tokens of {total} tokens in total leave none to generate: the launcher stops', total=total.value, see=[('total', total)])
    if total.is_set and batch.is_set and total.value > batch.value:
        yield Problem(batch, '{value} tokens a batch for requests of up to {total}: the launcher stops', total=total.value, see=[('total', total)])


@rule('tgi-concurrency-unset', on='tgi', severity='advice', source=LAUNCHER)
def concurrency_unset(engine: Component) -> Iterator[Problem]:
    """Above 128 concurrent requests TGI answers 429: a limit that nobody chose for this model and GPU."""
    limit = engine['max_concurrent_requests']
    if not limit.is_set:
        limit.value  # noqa: B018 - raises when arguments are unseen
        yield Problem(limit, 'max_concurrent_requests is not set: above {value} requests at once TGI refuses; measure and pin it')


@rule('tgi-quantize-slow', on='tgi', severity='advice', source='text-generation-inference docs, conceptual/quantization')
def quantize_slow(engine: Component) -> Iterator[Problem]:
    """bitsandbytes in 8 bits unpacks the weights in every layer of every step: it saves memory and costs latency."""
    quantize = engine['quantize']
    if quantize.is_set and quantize.value == 'bitsandbytes':
        yield Problem(quantize, '{value} is the slow 8-bit path: awq, gptq, eetq or fp8 weights are faster')
