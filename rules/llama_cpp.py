"""Rules for llama.cpp's server."""

from collections.abc import Iterator

from configaudit.model import Component, NotApplicable, Problem, rule

from .serving import NO_ANSWERS, scraped

README = 'llama.cpp tools/server/README.md'
_PUBLIC = ('LoadBalancer', 'NodePort')


@rule('llama-server-equals-sign', on='llama.cpp-server', severity='error', source='llama.cpp common/arg.cpp: "error: invalid argument"')
def equals_sign(engine: Component) -> Iterator[Problem]:
    """llama-server looks an argument up as it stands: `--flag=value` in one word is a flag that it does not know, and it stops."""
    for option in engine['options'].value:
        if option.joined and option.word.value.startswith('--'):
            name, _, value = option.word.value.partition('=')
            yield Problem(option.word.place, '{argument} is one word: llama-server stops with "invalid argument", write {name} and {setting} as two', argument=option.word.value, name=name, setting=value, detail=name)


@rule(
    'llama-server-context-divided', on='llama.cpp-server', severity='warning', source=f'{README}: --ctx-size, --parallel, --kv-unified',
    side_effect='memory for the larger KV cache',
)  # fmt: skip
def context_divided(engine: Component, *, least: int = 2048) -> Iterator[Problem]:
    """The context is shared out among the slots: each request has context / slots tokens, and a longer prompt is refused.

    With --kv-unified the slots take from one pool.
    """
    context, slots, unified = engine['ctx_size'], engine['parallel'], engine['kv_unified']
    if not slots.is_set or slots.value < 2 or not context.is_set or context.value == 0 or (unified.is_set and unified.value):
        raise NotApplicable('one slot, the context of the model, or one pool')
    each = context.value // slots.value
    if each < least:
        message = '{value} tokens for {slots} slots = {each} for each request, under {least}: longer prompts are refused'
        yield Problem(context, message, slots=slots.value, each=each, least=least, see=[('the slots', slots)], fix=context.set(least * slots.value))


@rule('llama-server-generation-unbounded', on='llama.cpp-server', severity='advice', source=f'{README}: --n-predict -1 = infinity', side_effect='longer answers are cut')
def generation_unbounded(engine: Component) -> Iterator[Problem]:
    """An answer may go on until the context is full: one that repeats itself keeps its slot for minutes, and others wait.

    A request may set its own `max_tokens`; this is the bound for those that do not.
    """
    predict = engine['n_predict']
    if any(option.name in NO_ANSWERS for option in engine['options'].value) or 'LLAMA_ARG_EMBEDDINGS' in engine['environment'].value:
        raise NotApplicable('it generates nothing')
    if predict.value == -1:
        yield Problem(predict, '--n-predict is {word}: an answer ends with the context only', word=-1 if predict.is_set else 'not set')


@rule('llama-server-metrics-off', on='llama.cpp-server', severity='warning', source=f'{README}: --metrics (default: disabled)', side_effect='whoever reaches the port reads the counters')
def metrics_off(engine: Component) -> Iterator[Problem]:
    """Without --metrics there is no /metrics: nothing to alert on or to scale by.

    It is a warning where a ServiceMonitor, PodMonitor or annotation has Prometheus scrape the server, elsewhere advice.
    """
    metrics = engine['metrics']
    if metrics.value:
        return
    scraper = scraped(engine)
    if scraper is not None:
        message = '--metrics is not given, and Prometheus scrapes the server: /metrics answers with an error'
        yield Problem(metrics, message, see=[('what scrapes it', scraper.place)], fix=metrics.set(True))
    else:
        yield Problem(metrics, '--metrics is not given: /metrics answers with an error', severity='advice', fix=metrics.set(True))


@rule('llama-server-tools-on', on='llama.cpp-server', severity='error', source=f'{README}: "do not enable in untrusted environments"')
def tools_on(engine: Component) -> Iterator[Problem]:
    """Whoever reaches the port may run the server's tools, shell commands and the reading of files among them.

    It is an error behind a LoadBalancer or NodePort Service and a warning elsewhere.
    """
    public = [service for pod in engine.peers('pod') for service in pod.peers('service') if service['type'].known_value in _PUBLIC]
    for name in ('tools', 'agent'):
        setting = engine[name]
        if setting.is_set and setting.value:
            where = f'behind {public[0]["type"].value} Service {public[0].name}' if public else 'in production'
            given = any(option.name == '--agent' for option in engine['options'].value)
            message = '--{flag} lets whoever reaches the port run commands and read files, {where}'
            fix = setting.remove() if name == 'agent' and given else None
            yield Problem(setting, message, flag=name, where=where, severity=None if public else 'warning', fix=fix, detail=name)
