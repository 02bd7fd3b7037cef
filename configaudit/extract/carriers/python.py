"""Python files: calls that make an engine in the program itself, and lists of words that start a server.

`LLM(max_num_seqs=64)` is the command line `vllm.LLM --max-num-seqs 64`: keywords of these classes are the engines' own flags
(vllm/entrypoints/llm.py and engine/arg_utils.py, sglang/srt/entrypoints/engine.py and server_args.py, ray/serve/llm LLMConfig).
"""

import ast
from collections.abc import Iterable, Iterator

from configaudit.extract.process import Process, Reading, nothing
from configaudit.extract.words import Word
from configaudit.knowledge.carrier_kinds import PYTHON_CALL, starts_engine
from configaudit.model import Component, Setting
from configaudit.parse.python import Source, Unfolded, Unreadable, spelled
from configaudit.patterns import regex
from configaudit.places import Document, Place
from configaudit.units import HOLE

_LIBRARIES: dict[str, str] = {
    'vllm.LLM': 'vllm.LLM', 'vllm.entrypoints.llm.LLM': 'vllm.LLM',
    **dict.fromkeys(('vllm.EngineArgs', 'vllm.engine.arg_utils.EngineArgs'), 'vllm.EngineArgs'),
    **dict.fromkeys(('vllm.AsyncEngineArgs', 'vllm.engine.arg_utils.AsyncEngineArgs'), 'vllm.AsyncEngineArgs'),
    **dict.fromkeys(('sglang.Engine', 'sglang.Runtime', 'sglang.srt.entrypoints.engine.Engine', 'sglang.srt.server_args.ServerArgs'), 'sglang.Engine'),
}  # fmt: skip
"""Full name of a class -> the program that its call is written as."""
_RAY = ('ray.serve.llm.LLMConfig', 'ray.data.llm.vLLMEngineProcessorConfig', 'ray.llm._internal.serve.configs.server_models.LLMConfig')
_STARTERS = ('subprocess.Popen', 'subprocess.run', 'subprocess.call', 'subprocess.check_call', 'subprocess.check_output', 'asyncio.create_subprocess_exec')
_FIRST = {'vllm.LLM': 'model', 'vllm.EngineArgs': 'model', 'vllm.AsyncEngineArgs': 'model'}
"""The parameter that a first argument without a name fills."""
_NEGATABLE = frozenset(('enable_prefix_caching', 'enable_chunked_prefill', 'async_scheduling'))
"""Switches whose False is another thing than leaving them out."""
_TESTS = regex(r'(?:^|/)(?:tests?|testing|e2e|benchmarks?|conftest\.py|test_[^/]*|[^/]*_test\.py)(?:/|$)', 2)
_EXAMPLES = regex(r'(?:^|/)(?:[^/]*examples?|samples?|tutorials?|docs?|notebooks?|demos?|cookbooks?)(?:/|$)', 2)
LOCKED = 'it is a program'
_IN_CODE = 'the program works it out'


def read(document: Document) -> Reading | None:
    """The engines that a file makes or starts; None when it makes none, or is a test."""
    if _TESTS.search(document.path):
        return None
    try:
        source = Source(document)
    except Unreadable:
        return None
    reading = nothing()
    partial = 'an example, which is changed before it is used' if _EXAMPLES.search(document.path) else ''
    for name, call in source.calls():
        process = _process(source, name, call, partial, len(reading.processes))
        if process is not None:
            reading.components.append(process.component)
            reading.processes.append(process)
    return reading if reading.processes else None


def _process(source: Source, name: str, call: ast.Call, partial: str, number: int) -> Process | None:
    program = _LIBRARIES.get(name)
    component = _component(source, call, number)
    if program is not None:
        words, unseen = _words(source, program, call)
        return Process(component, None, (_made(program, component.place), *words), None, partial=partial or unseen, form='Python', syntax='none')
    if name in _RAY:
        return _ray(source, call, component, partial)
    if name in _STARTERS and call.args:
        return _started(source, call, component, partial)
    return None


def _component(source: Source, call: ast.Call, number: int) -> Component:
    name = source.document.path.rpartition('/')[2]
    return Component(PYTHON_CALL, f'{name} call {number + 1}', f'python/{name}/{number}', source.place(call.func), {}, scope=source.document.path)


def _made(value: str, place: Place) -> Word:
    return Word(value, place, False, locked=LOCKED)


def _words(source: Source, program: str, call: ast.Call) -> tuple[tuple[Word, ...], str]:
    """The keywords as flags, and why there may be more."""
    given = {word.arg: word.value for word in call.keywords if word.arg}
    if call.args and program in _FIRST and not isinstance(call.args[0], ast.Starred):
        given = {_FIRST[program]: call.args[0], **given}
    unseen = ''
    for word in call.keywords:
        if word.arg is None:
            pairs = source.pairs(word.value)
            unseen = unseen or ('' if pairs is not None else 'keywords come from a mapping that is not shown')
            given = {**(pairs or {}), **given}
    return tuple(_flags(source, given)), unseen


def _flags(source: Source, given: dict[str, ast.expr]) -> Iterator[Word]:
    for name, node in given.items():
        place = source.place(node)
        try:
            value = source.value(node)
        except Unfolded:
            yield _made('--' + name.replace('_', '-'), place)
            yield Word(HOLE, place, False, _IN_CODE, LOCKED)
            continue
        flag = name.replace('_', '-')
        if value is None or (value is False and name not in _NEGATABLE):
            continue
        yield _made(f'--no-{flag}' if value is False else f'--{flag}', place)
        if not isinstance(value, bool):
            yield Word(spelled(value), source.place(source.settled(node)), False, locked=LOCKED)


def _ray(source: Source, call: ast.Call, component: Component, partial: str) -> Process | None:
    """Ray Serve and Ray Data: `engine_kwargs` are vLLM's, the model stands beside them."""
    given = {word.arg: word.value for word in call.keywords if word.arg}
    engine = given.get('engine_kwargs')
    pairs = source.pairs(engine) if engine is not None else {}
    loading = source.pairs(given['model_loading_config']) if 'model_loading_config' in given else None
    model = (loading or {}).get('model_source') or (loading or {}).get('model_id') or given.get('model_source')
    words = [*_flags(source, {'model': model}), *_flags(source, pairs or {})] if model is not None else list(_flags(source, pairs or {}))
    accelerator = given.get('accelerator_type')
    if isinstance(accelerator, ast.Constant) and isinstance(accelerator.value, str):
        component.settings['gpu_product'] = Setting('gpu_product', accelerator.value, source.place(accelerator))
    unseen = '' if pairs is not None else 'engine_kwargs are not shown'
    program = _made('vllm.LLMConfig', component.place)
    return Process(component, None, (program, *words), None, partial=partial or unseen, form='Python', syntax='none')


def _started(source: Source, call: ast.Call, component: Component, partial: str) -> Process | None:
    """A list of words, or one string for a shell, that starts a server."""
    first = source.settled(call.args[0])
    nodes = first.elts if isinstance(first, (ast.List, ast.Tuple)) else call.args if len(call.args) > 1 else None
    if nodes is not None:
        words = tuple(_argument(source, node) for node in nodes)
        if not starts_engine([word.value for word in words]):
            return None
        return Process(component, None, words, None, partial=partial, form='Python', syntax='none')
    try:
        text = source.value(first)
    except Unfolded:
        return None
    if not isinstance(text, str) or not _is_shell(call.keywords) or not starts_engine(text.split()):
        return None
    words = tuple(_made(word, source.place(first)) for word in text.split())
    return Process(component, None, words, None, partial=partial, form='Python', syntax='none')


def _is_shell(keywords: Iterable[ast.keyword]) -> bool:
    return any(word.arg == 'shell' and isinstance(word.value, ast.Constant) and word.value.value is True for word in keywords)


def _argument(source: Source, node: ast.expr) -> Word:
    if source.name_of(node) == 'sys.executable':
        return _made('python', source.place(node))
    try:
        return _made(spelled(source.value(node)), source.place(node))
    except Unfolded:
        return Word(HOLE, source.place(node), False, _IN_CODE, LOCKED)
