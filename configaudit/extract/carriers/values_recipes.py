"""Google's GPU recipes: flags as a mapping below the engine's name, the model and its parallel sizes beside it.

Source: AI-Hypercomputer/gpu-recipes, src/helm-charts/a3mega/{sglang,vllm}-inference/**/templates: `--flag value`, a true one bare.
"""

from collections.abc import Iterator

from configaudit.extract.carriers.pods import environment
from configaudit.extract.carriers.values_pod import Part
from configaudit.extract.process import Variable
from configaudit.extract.words import Word, word_of
from configaudit.parse.tree import Map, Scalar, Seq, get, key_place, mapping, place_of, plain, text
from configaudit.places import Document

_PROGRAMS = {'vllm': ('vllm', 'serve'), 'sglang': ('python3', '-m', 'sglang.launch_server')}
_SIZES = {
    'vllm': (('tp_size', '--tensor-parallel-size'), ('pp_size', '--pipeline-parallel-size')),
    'sglang': (('tp_size', '--tp'),),
}
_LOCKED = 'the chart writes it'


def recipe_parts(document: Document, root: Map) -> Iterator[Part]:
    """The servers of such a chart."""
    for engine, program in _PROGRAMS.items():
        flags = mapping(root, engine, 'serverArgs')
        if flags:
            start = Word('', place_of(document, flags), False, locked=_LOCKED)
            command = tuple(start._replace(value=value) for value in program)
            words = (*_model(document, root, engine), *(word for key in flags for word in flag_words(document, flags, key)))
            yield Part(engine, 'chart values', root[engine], None, command, words, form='values', variables=tuple(_variables(document, root)))


def _model(document: Document, root: Map, engine: str) -> Iterator[Word]:
    model = mapping(root, 'model')
    if model is None:
        return
    name = word_of(document, model.get('name'))
    if name is not None and name.value:
        if engine == 'sglang':
            yield Word('--model-path', key_place(document, model, 'name'), False, locked=_LOCKED)
        yield name
    for key, flag in _SIZES[engine]:
        size = word_of(document, model.get(key)) if text(model, key) else None
        if size is not None:
            yield Word(flag, key_place(document, model, key), False, locked=_LOCKED)
            yield size


def flag_words(document: Document, flags: Map, key: str) -> Iterator[Word]:
    """A flag of a mapping as words: a true one bare, a false one with its value."""
    value = plain(flags[key])
    yield Word(f'--{key}=False' if value is False else f'--{key}', key_place(document, flags, key), False, locked=_LOCKED)
    word = word_of(document, flags[key]) if isinstance(flags[key], Scalar) else None
    if not isinstance(value, bool) and word is not None:
        yield word


def _variables(document: Document, root: Map) -> Iterator[Variable]:
    """NCCL's settings, which the chart puts into the server's environment."""
    settings = get(root, 'network', 'ncclSettings')
    if isinstance(settings, Seq):
        holder = Map(settings.start, False)
        holder['env'] = settings
        yield from environment(document, holder)[0]
