"""Rules for SGLang that need the model's shape."""

from collections.abc import Iterator

from configaudit.model import Component, NotApplicable, Problem, rule

from .engine_model import subject

SWITCH = 'SGLANG_ALLOW_OVERWRITE_LONGER_CONTEXT_LEN'


@rule('sglang-context-over-model', on='sglang', severity='error', versions='>=0.5.2', source='sglang/srt/configs/model_config.py _derive_context_length 0.5.2 to 0.5.23')
def context_over_model(engine: Component) -> Iterator[Problem]:
    """SGLang stops at start: the context length is above what the model was made for, and nothing allows that.

    Releases from 0.4.6 to 0.4.9 only warned. A longer context needs RoPE scaling (`--json-model-override-args`), which changes what the engine derives.
    """
    length = engine['context_length']
    if not length.is_set or length.value is None:
        raise NotApplicable('--context-length is not set')
    model, name, certain = subject(engine)
    if length.value <= model.context or not certain:
        return
    word = engine['environment'].value.get(SWITCH)
    if word is not None and (not word.known or word.value.strip().lower() in ('1', 'true', 'yes', 'y')):
        raise NotApplicable(f'{SWITCH} allows it')
    message = 'a context of {value} tokens for {model}, which takes {context}: the engine stops at start'
    yield Problem(length, message, model=name, context=model.context, fix=length.set(model.context))
