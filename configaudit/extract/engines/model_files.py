"""A model's own config.json, where the files show the folder that the engine names."""

import os.path
from collections.abc import Iterator, Mapping
from posixpath import dirname, join
from typing import Any

from configaudit.extract.commands import Invocation
from configaudit.extract.environment import Stores
from configaudit.extract.words import Word
from configaudit.knowledge.models import Model, lookup
from configaudit.model import Setting
from configaudit.units import HOLE

_PARTS = 2  # of a path, at the least, to be looked for below any folder of the run


def model_config(model: Setting, invocation: Invocation, stores: Stores) -> Setting:
    """The model that a config.json in the run describes, as a setting at that file; None without one."""
    path = str(model.known_value or '') if model.is_known else ''
    if path and HOLE not in path:
        for word in _found(path.rstrip('/'), invocation, stores):
            described = _described(word, path, stores)
            if described is not None:
                return Setting('model_config', described, word.place)
    return Setting('model_config', None, model.place, 'default')


def _found(path: str, invocation: Invocation, stores: Stores) -> Iterator[Word]:
    process, files = invocation.process, stores.files
    for mounted, mount in process.files.items():
        if mount.kind == 'path' and f'{path}/'.startswith(mounted.rstrip('/') + '/'):
            yield from filter(None, [files.at(join(mount.name, path[len(mounted.rstrip('/')) :].lstrip('/'), 'config.json'))])
    if not path.startswith('/'):
        yield from filter(None, [files.at(join(dirname(process.component.place.outermost().document.path), path, 'config.json'))])
    if len(path.strip('/.').split('/')) >= _PARTS:
        yield from filter(None, [files.ending_with(f'{path}/config.json')])


def _described(word: Word, path: str, stores: Stores) -> Model | None:
    from configaudit.knowledge.model_config import model_of

    config = _json(word)
    folder = os.path.dirname(word.place.document.path)
    beside = _json(stores.files.at(join(folder, 'hf_quant_config.json'))).get('quantization')
    if isinstance(beside, Mapping) and 'quantization_config' not in config:
        config = {**config, 'quantization_config': {'quant_method': 'modelopt', **beside}}
    index = _json(stores.files.at(join(folder, 'model.safetensors.index.json'))).get('metadata')
    size = index.get('total_size') if isinstance(index, Mapping) else 0
    model = model_of(config, word.place.document.path, size if isinstance(size, int) else 0)
    named = lookup(path)
    if model is not None and not model.parameters and named is not None and (named.layers, named.heads) == (model.layers, model.heads):
        return model._replace(parameters=named.parameters)
    return model


def _json(word: Word | None) -> Mapping[str, Any]:
    """The mapping in a JSON file; empty where it holds something else."""
    import json

    try:
        value = json.loads(word.value) if word is not None else None
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, Mapping) else {}
