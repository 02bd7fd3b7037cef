"""Rules for how a vLLM engine schedules and serves: context length, prefill, caching, logs, the model itself."""

from collections.abc import Iterator

from configaudit.knowledge.gpus import Gpu
from configaudit.knowledge.models import Model, lookup
from configaudit.knowledge.versions import release as version_of
from configaudit.knowledge.vllm import chunked_prefill_forced, log_requests, max_num_batched_tokens
from configaudit.model import REMOVE, Change, Component, Fix, NotApplicable, Problem, Severity, Slot, Unknown, rule

from .engine_model import Fit, fit, subject
from .releases import is_among, release
from .serving import generates
from .vllm import DOCS, default_of, on_gpu, serves

LARGE_STEP = 8192
LONG_PROMPT = 8192
BUILT_IN = ('Pod', 'Deployment', 'StatefulSet', 'DaemonSet', 'ReplicaSet', 'Job', 'CronJob', 'LeaderWorkerSet')


def _known_fit(engine: Component) -> Fit | None:
    """How the model's own context fits, where model and GPU are known; LongRoPE models start with a shorter one in newer releases."""
    try:
        model = subject(engine).model
        return None if model.stretched else fit(engine, model.context)
    except (Unknown, NotApplicable):
        return None


@rule('vllm-max-model-len-unset', on='vllm', severity='error', source='vllm#2418; vllm/v1/core/kv_cache_utils.py')
def max_model_len_unset(engine: Component, *, short: int = 16384) -> Iterator[Problem]:
    """The context length comes from the model's configuration, often 131072: one request may then fill the KV cache.

    vLLM stops at start when not even one sequence of that length fits ("max seq len is larger than the maximum number of tokens that
    can be stored in KV cache"). It is an error when it does not fit at best, advice otherwise: also when it does not fit beside the 2 GiB a
    GPU that activations and CUDA graphs take in practice. Models whose own context is at most `short` tokens are left alone.
    """
    generates(engine)
    length, found, model = engine['max_model_len'], _known_fit(engine), engine['model_config'].known_value or lookup(str(engine['model'].known_value or ''))
    if length.is_set or (isinstance(model, Model) and model.context <= short and (found is None or found.state == 'fits')):
        return
    if found is not None and found.state != 'fits':
        words = ', and {gpus} at a share of {share} leave at most {left} beside {weights} GiB of weights: the engine stops at start'
        if found.state == 'tight':
            words = ', and {gpus} at a share of {share} leave about {room} beside {weights} GiB of weights and 2 GiB a GPU for activations: it may not start'
        message = '--max-model-len is not set: one sequence of the {tokens} tokens of {model} needs {needed} GiB of KV cache' + words
        severity: Severity | None = 'advice' if found.state == 'tight' else None if found.known.certain else 'warning'
        yield Problem(length, message, severity=severity, fix=length.set(min(found.fitting, 8192)) if found.fitting else None, **found.values)
        return
    serves(engine)
    if isinstance(model, Model):
        yield Problem(length, '--max-model-len is not set: one request may take {context} tokens of KV cache', context=model.context, severity='advice')
    else:
        yield Problem(length, '--max-model-len is not set: the model decides, often 131072 tokens for one request', severity='advice')


def computes_prompts(engine: Component) -> None:
    """NotApplicable for the decoding half of a pair, whose prompts the other half computes, and for an encoder of images."""
    if _hands_over(engine, 'kv_consumer'):
        raise NotApplicable('it takes the KV cache of its prompts from another engine')
    if _hands_over(engine, 'ec_producer'):
        raise NotApplicable('it encodes for another engine')


def _hands_over(engine: Component, *roles: str) -> bool:
    """Whether the engine has one of these roles in a pair of engines."""
    transfers = [option.value.value for option in engine['options'].value if option.name in ('--kv-transfer-config', '--ec-transfer-config') and option.value is not None]
    return any(role in text for role in roles for text in transfers)


@rule('vllm-batched-tokens-low', on='vllm', severity='advice', source=DOCS, effect='time to first token', side_effect='inter-token latency')
def batched_tokens_low(engine: Component, *, least: int = 2048) -> Iterator[Problem]:
    """Few tokens a step cut long prompts into many chunks: time to first token grows, throughput falls.

    2048 favours inter-token latency; above 8192 favours throughput on large GPUs, where vLLM takes 8192 or more by itself.
    """
    computes_prompts(engine)
    if any(option.value is not None and option.value.value == 'deepep_low_latency' for option in engine['options'].value):
        raise NotApplicable('its low-latency kernels are for decoding and hold few tokens a step')
    tokens, gpu = engine['max_num_batched_tokens'], engine['gpu'].known_value
    if not tokens.is_set or tokens.value > least:
        return
    default = max_num_batched_tokens(engine.version, gpu).value if engine.version is not None and isinstance(gpu, Gpu) else None
    if isinstance(default, int) and default >= LARGE_STEP and isinstance(gpu, Gpu):
        message = '{value} tokens a step on {gpu}, where {engine} takes {default} by itself: unless the time between tokens matters most, leave it'
        yield Problem(tokens, message, gpu=gpu.name, engine=release(engine), default=default, fix=tokens.set(default))
        return
    context = engine['max_model_len'].known_value
    prompt = min(int(context), LONG_PROMPT) if isinstance(context, int) and context > 0 else LONG_PROMPT
    if tokens.value < min(least, prompt):
        message = '{value} tokens a step, under {least}: a prompt of {prompt} tokens takes {chunks} steps'
        yield Problem(tokens, message, least=least, prompt=prompt, chunks=-(-prompt // max(tokens.value, 1)), fix=tokens.set(least))


@rule('vllm-batched-tokens-too-few', on='vllm', severity='error', side_effect='a step takes longer: more time between tokens while prompts come in', source='vllm 0.8.5 config.py, 0.16.0 config/scheduler.py; vllm 0.8.5, 0.9.2 engine/arg_utils.py')
def batched_tokens_too_few(engine: Component) -> Iterator[Problem]:
    """The engine stops at start: a step must hold one token for every sequence, and a whole prompt where prefill is not chunked.

    The sequences may be those of the default, which releases from 0.10.1 lower to the tokens; the context may be the model's own.
    """
    tokens, seqs = engine['max_num_batched_tokens'], engine['max_num_seqs']
    if not tokens.is_set:
        raise NotApplicable('--max-num-batched-tokens is not set')
    if seqs.is_set and seqs.is_known and tokens.value < seqs.value:
        yield Problem(tokens, '{value} tokens a step for {seqs} sequences: the engine stops at start', seqs=seqs.value, see=[('sequences', seqs)], fix=tokens.set(max(2048, seqs.value)))
    elif not seqs.is_set and engine.version is not None and engine.version < version_of('0.10.1'):
        on_gpu(engine)
        if seqs.all(lambda width: width > tokens.value):
            message = '{value} tokens a step for {seqs} sequences, the default of {engine}: the engine stops at start'
            yield Problem(tokens, message, seqs=default_of(seqs), engine=release(engine), fix=tokens.set(2048), detail='default')
    chunked = engine['enable_chunked_prefill']
    if chunked.is_set and chunked.value is False and is_among(engine, '0.11.1'):
        length, certain = _context(engine)
        if tokens.value < length:
            message = '{value} tokens a step for a context of {length} without chunked prefill: the engine stops at start'
            see = [('chunked prefill is off', chunked), ('context length', engine['max_model_len'])]
            yield Problem(tokens, message, length=length, see=see, fix=tokens.set(length), severity=None if certain else 'warning', detail='length')


def _context(engine: Component) -> tuple[int, bool]:
    """The context length that is given, or the model's own, and whether that is certain."""
    length = engine['max_model_len']
    if length.is_set:
        return int(length.value), True
    known = subject(engine)
    return known.model.context, known.certain


def _has_value(engine: Component) -> bool:
    """Whether the flag is written with a value ('--enable-chunked-prefill false'), as releases whose default is off take it."""
    option = engine['arguments'].value.last('--enable-chunked-prefill')
    return option is not None and option.value is not None


def _forced(engine: Component) -> bool:
    return engine.version is not None and chunked_prefill_forced(engine.version) and engine['generation'].known_value == 'V1'


@rule('vllm-chunked-prefill-off', on='vllm', severity='warning', side_effect='the first token of a long prompt comes a little later', source=f'{DOCS}; vllm/engine/arg_utils.py', effect='no stalls of running streams behind a long prompt')
def chunked_prefill_off(engine: Component) -> Iterator[Problem]:
    """Without chunked prefill a long prompt stalls every running stream for one whole prefill."""
    computes_prompts(engine)
    serves(engine)
    chunked = engine['enable_chunked_prefill']
    if chunked.is_set and chunked.value is False and not _forced(engine):
        yield Problem(chunked, 'chunked prefill is switched off: a long prompt stalls all running streams', fix=chunked.set(True) if _has_value(engine) else chunked.remove())
    elif not chunked.is_set and chunked.is_known and chunked.value is False:
        message = 'chunked prefill is off by default in {engine} at this context length: a long prompt stalls all running streams'
        yield Problem(chunked, message, engine=release(engine), severity='advice', fix=chunked.set(True))


@rule('vllm-chunked-prefill-ignored', on='vllm', severity='advice', source='vllm#18547, vllm#20914')
def chunked_prefill_ignored(engine: Component) -> Iterator[Problem]:
    """V1 keeps chunked prefill on in these releases whatever the flag says; from 0.11.1 the flag takes effect, so an upgrade changes latency."""
    chunked = engine['enable_chunked_prefill']
    if chunked.is_set and chunked.value is False and _forced(engine):
        yield Problem(chunked, '{engine} keeps chunked prefill on for generative models; from 0.11.1 this switches it off', engine=release(engine), fix=chunked.remove())


@rule('vllm-prefix-caching-off', on='vllm', severity='advice', side_effect='latency tells whether a prefix was asked before: salt the cache between tenants', source=f'{DOCS}; vLLM docs, features/automatic_prefix_caching')
def prefix_caching_off(engine: Component) -> Iterator[Problem]:
    """Shared prompt beginnings (system prompts, chat history) are computed again for every request."""
    computes_prompts(engine)
    serves(engine)
    caching = engine['enable_prefix_caching']
    if caching.is_set and caching.value is False:
        yield Problem(caching, 'prefix caching is switched off: every shared beginning of a prompt is computed again', fix=caching.remove())


@rule('vllm-enforce-eager', on='vllm', severity='advice', source='vllm#4449; vLLM docs, configuration/optimization', effect='decode up to several times faster on small models', side_effect='longer start, 1-3 GiB for CUDA graphs')
def enforce_eager(engine: Component) -> Iterator[Problem]:
    """Without CUDA graphs every decode step pays the launch of each kernel: from nothing to several times slower, by model and GPU.

    When it is wrong: an old GPU or a model that fails to compile; say so beside the flag.
    """
    on_gpu(engine)
    if _hands_over(engine, 'kv_producer', 'ec_producer'):
        raise NotApplicable('another engine decodes')
    eager = engine['enforce_eager']
    if eager.is_set and eager.value:
        yield Problem(eager, 'CUDA graphs are off: decode steps pay the launch of every kernel', fix=eager.remove())


@rule('vllm-log-stats-off', on='vllm', severity='warning', side_effect='a log line every 10 s', source='vllm/v1/metrics/loggers.py')
def log_stats_off(engine: Component) -> Iterator[Problem]:
    """Without the stat loggers /metrics has no running, waiting or KV-cache series: nothing to alert on or to scale by."""
    serves(engine)
    stats = engine['disable_log_stats']
    if stats.is_set and stats.value:
        yield Problem(stats, 'statistics are off: /metrics lacks queue depth and KV-cache usage, so no alert or autoscaler can work', fix=stats.remove())


@rule('vllm-request-logging-on', on='vllm', severity='advice', side_effect='prompts are no longer in the log when something has to be reproduced', source='vllm/entrypoints/openai/cli_args.py 0.10.0, 0.10.1')
def request_logging_on(engine: Component) -> Iterator[Problem]:
    """Every prompt is written to the log: cost on the event loop, and user data in a place that keeps it. The default until 0.10.0."""
    asked, refused = engine['enable_log_requests'], engine['disable_log_requests']
    if engine['command'].known_value in ('library', 'offline'):
        raise NotApplicable('a program makes the engine itself')
    if asked.is_set and asked.value:
        needed = any(option.name == '--enable-log-outputs' for option in engine['options'].value)  # it stops at start without the other
        yield Problem(asked, 'every request is logged with its prompt', fix=asked.remove() if not needed else None)
    elif not asked.is_set and not refused.is_set and log_requests(engine.version).value:
        asked.value  # noqa: B018 - raises when arguments are unseen
        yield Problem(engine.place, '{engine} logs every request with its prompt unless --disable-log-requests is given', engine=release(engine))


@rule('vllm-swap-space-ignored', on='vllm', severity='advice', source='vllm V1 guide; vllm 0.18.0 removes the flag')
def swap_space_ignored(engine: Component) -> Iterator[Problem]:
    """V1 never swaps: the flag does nothing, and 0.18.0 stops at start with "unrecognized arguments"."""
    swap = engine['swap_space']
    if engine['arguments'].value.last('--swap-space') is None or (engine.version is not None and engine.version >= version_of('0.18.0')):
        raise NotApplicable('no swap space is set, or the flag is gone')
    if engine['generation'].value == 'V1':
        yield Problem(swap, 'swap space does nothing in the V1 engine of {engine}, and 0.18.0 no longer knows the flag', engine=release(engine), fix=_without(engine, '--swap-space'))


def _without(engine: Component, name: str) -> Fix | None:
    """A fix that takes a flag and its value off the command line."""
    option = next((option for option in reversed(engine['options'].value) if option.name == name), None)
    if option is None or not option.word.pure:
        return None
    word = option.word if option.joined or option.value is None else option.value
    return Fix((Change(Slot('argument', word.place), REMOVE, name, word.locked),), (), True)


@rule('vllm-model-as-option', on='vllm', severity='error', source='vllm#17944, vllm#16691; vllm 0.11.0 utils/__init__.py FlexibleArgumentParser')
def model_as_option(engine: Component) -> Iterator[Problem]:
    """`vllm serve` wants the model as its first argument and stops at start when it comes as --model; from 0.11.1 it only warns."""
    option = next((option for option in engine['options'].value if option.name == '--model'), None)
    if engine['command'].value != 'serve' or option is None or option.value is None or '-' not in option.word.place.text:
        return  # a --config file may name the model
    if engine.version is None:
        raise Unknown(f'releases from 0.6.3 to 0.11.0 refuse it, and the version is not known ({engine.version_from})')
    if not version_of('0.6.3') <= engine.version < version_of('0.11.1'):
        return
    if option.joined and engine.version > version_of('0.8.0'):
        return  # from 0.8.5 (0.8.0 refuses both) the check looks for the bare word, so that --model=NAME passes
    yield Problem(
        option.word.place, '`vllm serve` of {engine} refuses --model: give the model as the first argument', engine=release(engine),
        fix=_as_first(engine, option) if engine['options'].value[0] is option else None,
    )  # fmt: skip


def _as_first(engine: Component, option: object) -> Fix | None:
    word, value = option.word, option.value  # type: ignore[attr-defined]
    if not word.pure:
        return None
    written: object = value.value if option.joined else REMOVE  # type: ignore[attr-defined]
    return Fix((Change(Slot('argument', word.place), written, 'model', word.locked),), (), True)


@rule('vllm-model-missing', on='vllm', severity='error', source='vllm/config/model.py: Qwen/Qwen3-0.6B from 0.10.0, facebook/opt-125m before')
def model_missing(engine: Component) -> Iterator[Problem]:
    """No model is named: the engine serves the toy model that is its default, and every request gets a useless answer or a 404."""
    model, options = engine['model'], engine['options'].value
    if model.is_set or not options:
        return
    for pod in engine.peers('pod'):
        if pod['object_kind'].known_value not in BUILT_IN:
            raise NotApplicable('an operator may add the model')
    if engine.partial or any(option.name in ('--config', '--help', '-h', '--version', '--headless') for option in options):
        return
    toy = 'facebook/opt-125m' if engine.version is not None and engine.version < version_of('0.10.0') else 'Qwen/Qwen3-0.6B'
    yield Problem(model, 'no model is named: {engine} would serve {toy}', engine=release(engine), toy=toy)


@rule('vllm-trust-remote-code', on='vllm', severity='warning', side_effect='a model that needs its own code does not load', source='vLLM docs, usage/security')
def trust_remote_code(engine: Component) -> Iterator[Problem]:
    """Python files of the model's repository run in the server; without a pinned revision whoever can push there changes what runs."""
    trust, model = engine['trust_remote_code'], engine['model']
    if not trust.is_set or not trust.value or engine['revision'].is_set:
        return
    name = str(model.known_value or '')
    if name.startswith(('/', './', 's3:', 'gs:')) or name.count('/') > 1:
        return
    message = 'code of the model repository runs in the server and no --revision pins it'
    yield Problem(trust, message, severity=None if name and model.is_known else 'advice', fix=trust.remove())
