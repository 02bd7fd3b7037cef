"""Rules for Ollama: values that its parsers drop, memory that requests share, models that come and go."""

from collections.abc import Iterator

from configaudit.knowledge import ollama as facts
from configaudit.knowledge.images import identify
from configaudit.knowledge.versions import release
from configaudit.model import Component, NotApplicable, Problem, Severity, rule
from configaudit.places import Place

from .releases import release as named_release
from .serving import runs_for_long, scraped

CONFIG = 'ollama envconfig/config.go'


def _readings(engine: Component) -> Iterator[tuple[str, Place, str]]:
    """Variables of the engine that are known and not empty: name, place of the value, its text without quotes."""
    for name, word in engine['environment'].value.items():
        if name.startswith('OLLAMA_') and word.known and facts.stripped(word.value):
            yield name, word.place, facts.stripped(word.value)


def _ignored(name: str, text: str, engine: Component) -> str:
    """What becomes of a value that the parser does not take, or ''."""
    if name in facts.COUNTS and facts.count(text) is None:
        return 'is no whole number: Ollama logs a warning and uses its default'
    if name in facts.TIMES and facts.duration(text) is None:
        return 'is no Go duration (30s, 10m, 24h): Ollama uses 5m without a word'
    if name in facts.SWITCHES and facts.switch(text) is None:
        old = engine.version is not None and engine.version < facts.ANY_WORD_IS_TRUE
        return 'is none of true, false, 1, 0: Ollama ignores it' if old else 'is none of true, false, 1, 0: Ollama takes it for true'
    old = engine.version is not None and engine.version < facts.LLAMA_SERVER
    if name == 'OLLAMA_KV_CACHE_TYPE' and not old and text.lower() not in facts.LLAMA_CACHE_TYPES:
        return 'is no type of cache: models do not load, or load with f16, by release'
    if name == 'OLLAMA_KV_CACHE_TYPE' and old and text.lower() not in (*facts.CACHE_TYPES, 'fp16'):
        return 'is no type of cache before 0.30 (f16, q8_0, q4_0): it is ignored'
    return ''


@rule('ollama-value-ignored', on='ollama', severity='warning', source=f'{CONFIG}: Uint, KeepAlive, BoolWithDefault')
def value_ignored(engine: Component) -> Iterator[Problem]:
    """Ollama starts with a value that it cannot read, and something else is in force than the file says.

    A number that is none becomes the default, a duration such as `1d` becomes 5m, and `off` or `no` turns a switch on.
    """
    for name, place, text in _readings(engine):
        why = _ignored(name, text, engine)
        if why:
            yield Problem(place, '{name}={text} {why}', name=name, text=text, why=why, detail=name)


@rule('ollama-variable-unread', on='ollama', severity='warning', source=f'{CONFIG} at the tags v0.1.30 to v0.32.15')
def variable_unread(engine: Component) -> Iterator[Problem]:
    """A variable that this release does not read changes nothing: it is misspelt, gone, or newer than the image.

    Judged where Ollama itself is what a container or unit starts: a script around it may read variables of its own.
    """
    if not engine['alone'].value:
        raise NotApplicable('a script may read variables of its own')
    version = engine.version
    for name, place, _ in _readings(engine):
        first, last = facts.FIRST.get(name), facts.LAST.get(name)
        if name in facts.MEANT:
            yield Problem(place, 'no release reads {name}: {meant} does that', name=name, meant=facts.MEANT[name], detail=name)
        elif first is None and (version is None or version <= facts.NEWEST):
            yield Problem(place, 'no release of Ollama reads {name}', name=name, severity='advice', confidence='medium', detail=name)
        elif first and version is not None and version < release(first):
            yield Problem(place, '{engine} does not read {name}, which is new in {first}', engine=named_release(engine), name=name, first=first, detail=name)
        elif last and version is not None and version > release(last):
            yield Problem(place, '{engine} does not read {name}, which is gone since {last}', engine=named_release(engine), name=name, last=last, severity='advice', detail=name)


@rule(
    'ollama-parallel-memory', on='ollama', severity='warning', source='ollama docs/faq: memory by OLLAMA_NUM_PARALLEL x OLLAMA_CONTEXT_LENGTH; ollama#11335',
    side_effect='longer prompts are cut at the context that you set',
)  # fmt: skip
def parallel_memory(engine: Component, *, limit: int = 131072) -> Iterator[Problem]:
    """Every model is loaded with a KV cache for all parallel requests at full context: what does not fit on the GPU runs on the CPU.

    From 0.15.5 the context that nobody sets follows the VRAM (4096, 32768 from 23 GiB, 262144 from 47 GiB), and each parallel
    request multiplies it. Set both. Advice where both are set and the product passes `limit` tokens.
    """
    parallel, context = engine['num_parallel'], engine['context_length']
    if not parallel.is_set or parallel.value < 2:
        raise NotApplicable('one request at a time')
    if context.is_set:
        tokens = parallel.value * context.value
        if tokens > limit:
            message = '{value} requests x {context} tokens = {tokens} tokens of KV cache for every loaded model'
            yield Problem(parallel, message, context=context.value, tokens=tokens, severity='advice', see=[('the context', context)])
        return
    if engine.version is None or engine.version >= release('0.15.5'):
        low, high = parallel.value * 4096, parallel.value * 262144
        severity: Severity | None = None if engine.version is not None else 'advice'
        message = '{value} requests x a context that follows the VRAM (OLLAMA_CONTEXT_LENGTH is not set) = {low} to {high} tokens of KV cache for every loaded model'
        yield Problem(parallel, message, low=low, high=high, severity=severity)


@rule('ollama-context-short', on='ollama', severity='advice', source=f'{CONFIG}: OLLAMA_CONTEXT_LENGTH', side_effect='more memory for every loaded model')
def context_short(engine: Component) -> Iterator[Problem]:
    """Longer prompts lose their beginning without an error: before 0.15.5 a context that nobody sets is 2048 or 4096 tokens, whatever the model can do."""
    context = engine['context_length']
    if engine.version is None or engine.version >= release('0.15.5') or context.is_set:
        raise NotApplicable('it is set, or follows the VRAM')
    name = 'OLLAMA_CONTEXT_LENGTH is not set' if engine.version >= release('0.5.13') else 'OLLAMA_CONTEXT_LENGTH does not exist before 0.5.13'
    yield Problem(context, '{name}: {engine} cuts prompts at {value} tokens unless the request or the Modelfile says more', name=name, engine=named_release(engine))


@rule('ollama-kv-type-without-flash-attention', on='ollama', severity='error', source='ollama llm/server.go, llm/llama_server.go; docs/faq')
def kv_type_without_flash_attention(engine: Component) -> Iterator[Problem]:
    """A quantized KV cache needs flash attention: without it Ollama keeps f16 and takes twice the memory; from 0.30 the model does not load."""
    kind, flash = engine['kv_cache_type'], engine['flash_attention']
    if not kind.is_set or str(kind.value).lower() not in ('q8_0', 'q4_0', 'q4_1', 'q5_0', 'q5_1', 'iq4_nl'):
        raise NotApplicable('the cache is not quantized')
    if flash.is_set and not flash.value:
        new = engine.version is not None and engine.version >= facts.LLAMA_SERVER
        what = 'models do not load' if new else 'the cache stays f16'
        message = 'OLLAMA_KV_CACHE_TYPE={value} with flash attention off: {what}'
        yield Problem(kind, message, what=what, severity=None if new else 'warning', see=[('flash attention', flash)])
    elif not flash.is_set and engine.version is not None and engine.version < release('0.12.4'):
        message = 'OLLAMA_KV_CACHE_TYPE={value} without OLLAMA_FLASH_ATTENTION=1: {engine} leaves flash attention off, and the cache stays f16'
        yield Problem(kind, message, engine=named_release(engine), severity='warning')


@rule('ollama-keep-alive-short', on='ollama', severity='warning', source=f'{CONFIG}: KeepAlive', side_effect='the model holds its memory while nobody asks')
def keep_alive_short(engine: Component, *, least_s: float = 300) -> Iterator[Problem]:
    """The model leaves the GPU soon after a request, and the next one waits until it is loaded again.

    0 unloads it at once: every request pays for a load. The default is 5 minutes, a negative number keeps it for ever.
    """
    keep = engine['keep_alive']
    if not keep.is_set or keep.value < 0 or keep.value >= least_s:
        return
    if keep.value == 0:
        yield Problem(keep, 'OLLAMA_KEEP_ALIVE=0 unloads the model after every request: the next one waits until it is loaded again', fix=keep.set('5m'))
    else:
        yield Problem(keep, 'the model is unloaded after {value} s without a request, and the next one waits for it', severity='advice', fix=keep.set('5m'))


@rule('ollama-metrics-missing', on='ollama', severity='warning', source='ollama server/routes.go; ollama#3144')
def metrics_missing(engine: Component) -> Iterator[Problem]:
    """Ollama has no /metrics: Prometheus gets 404 or a page of text, the target is down, and no alert on it ever fires.

    Scrape an exporter or a proxy in front of it.
    """
    scraper = scraped(engine)
    if scraper is not None:
        yield Problem(scraper.place, 'Prometheus scrapes {name}, and Ollama has no /metrics', name=engine.name, see=[('the engine', engine.place)])


@rule('ollama-models-not-kept', on='ollama', severity='warning', source='ollama envconfig/config.go: Models; ollama docs/docker', side_effect='a volume to pay for and to keep clean')
def models_not_kept(engine: Component) -> Iterator[Problem]:
    """Pulled models live in the container: a new one starts without them, and requests for them fail until somebody pulls again.

    Kubernetes makes a new container at every restart; Compose and Docker only when one is removed: advice there.

    When it is wrong: every start pulls what it needs, and the time for that is accepted.
    """
    models, home = engine['models'], engine['environment'].value.get('HOME')
    for carrier in (*engine.peers('container'), *engine.peers('compose-service'), *engine.peers('docker-run')):
        image = carrier['image']
        if not identify(str(image.value or '')).repository.endswith('ollama/ollama'):
            raise NotApplicable('its image may hold the models')
        if carrier.kind.name == 'container':
            runs_for_long(carrier)
        path = str(models.value) if models.is_set else f'{home.value if home is not None else "/root"}/.ollama/models'
        mounts = carrier['mounts'].value
        if not any(path == mounted or path.startswith(mounted.rstrip('/') + '/') or mounted.startswith(path + '/') for mounted in mounts):
            at = carrier['mounts'] if carrier['mounts'].is_set else engine.place
            yield Problem(at, 'no volume covers {path}: models that are pulled are gone with the container', path=path, severity=None if carrier.kind.name == 'container' else 'advice')
