"""Python files: calls that make an engine in the program itself, and lists of words that start a server.

`LLM(max_num_seqs=64)` is the command line `vllm.LLM --max-num-seqs 64`: keywords of these classes are the engines' own flags
(vllm/entrypoints/llm.py and engine/arg_utils.py, sglang/srt/entrypoints/engine.py and server_args.py, ray/serve/llm LLMConfig).
"""

import ast
from collections.abc import Iterator, Sequence

from configaudit.extract.process import Process, Reading, nothing
from configaudit.extract.words import Word
from configaudit.knowledge.carrier_kinds import PYTHON_CALL, starts_engine
from configaudit.model import Component, Setting
from configaudit.parse.python import MAX_DEPTH, Source, Unfolded, Unreadable, spelled
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
_STARTERS = ('os.system', 'subprocess.Popen', 'subprocess.run', 'subprocess.call', 'subprocess.check_call', 'subprocess.check_output', 'asyncio.create_subprocess_exec')
_FIRST = {'vllm.LLM': 'model', 'vllm.EngineArgs': 'model', 'vllm.AsyncEngineArgs': 'model'}
"""The parameter that a first argument without a name fills."""
_NEGATABLE = frozenset(('enable_prefix_caching', 'enable_chunked_prefill', 'async_scheduling'))
"""Switches whose False is another thing than leaving them out."""
_TESTS = regex(r'(?:^|/)(?:tests?|testing|e2e|benchmarks?|conftest\.py|test_[^/]*|tests?\.py|[^/]*_test\.py)(?:/|$)', 2)
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
            yield _literal(source, node, spelled(value))


def _literal(source: Source, node: ast.expr, text: str) -> Word:
    """A value; what stands as a constant where it is used may be replaced there."""
    plain = isinstance(node, ast.Constant) and not text.startswith('-')
    return Word(text, source.place(source.settled(node)), plain, locked='' if plain else LOCKED)


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
    """Words that start a server, from a list or from one string for a shell."""
    several = len(call.args) > 1 and not isinstance(call.args[0], (ast.List, ast.Tuple, ast.Name))
    words, changed = _together(source, call.args) if several else _command(source, call.args[0], MAX_DEPTH)
    if not words or not starts_engine([word.value for word in words]):
        return None
    unseen = partial or ('the program adds words to it' if changed else '')
    return Process(component, None, words, None, partial=unseen, form='Python', syntax='none')


def _together(source: Source, nodes: Sequence[ast.expr]) -> tuple[tuple[Word, ...], bool]:
    """The words of a list's items; those of a list that is spread in it may be more."""
    spread = any(isinstance(node, ast.Starred) for node in nodes)
    return tuple(_argument(source, node) for node in nodes if not isinstance(node, ast.Starred)), spread


def _command(source: Source, node: ast.expr, depth: int) -> tuple[tuple[Word, ...], bool]:
    """The words of a command, and whether there may be more: a list, `" ".join(list)`, `shlex.split(text)`, a text, a sum of them."""
    node, changed = source.first(node)
    if not depth:
        return (), True
    if isinstance(node, (ast.List, ast.Tuple)):
        words, spread = _together(source, node.elts)
        return words, changed or spread
    if isinstance(node, ast.Call):
        inner = _inner(source, node)
        words, unseen = _command(source, inner, depth - 1) if inner is not None else ((), True)
        return words, changed or unseen
    try:
        text = source.value(node)
    except Unfolded:
        text = None
    if isinstance(text, str):
        place = source.place(node)
        return tuple(_made(word, place) for word in text.split()), changed
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = _command(source, node.left, depth - 1), _command(source, node.right, depth - 1)
        return (*left[0], *right[0]), changed or left[1] or right[1]
    return (), True


def _inner(source: Source, call: ast.Call) -> ast.expr | None:
    """What a call joins or splits; None when it does neither."""
    if source.name_of(call.func) in ('shlex.split', 'shlex.join') and call.args:
        return call.args[0]
    if not isinstance(call.func, ast.Attribute):
        return None
    if call.func.attr == 'join' and len(call.args) == 1:
        return call.args[0]
    return call.func.value if call.func.attr == 'split' and not call.args else None


def _argument(source: Source, node: ast.expr) -> Word:
    if source.name_of(node) == 'sys.executable':
        return _made('python', source.place(node))
    try:
        return _literal(source, node, spelled(source.value(node)))
    except Unfolded:
        return Word(HOLE, source.place(node), False, _IN_CODE, LOCKED)
