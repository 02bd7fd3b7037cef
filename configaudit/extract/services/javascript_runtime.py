"""The runtime of Node.js programs: the thread pool they size themselves, and the processes that PM2 starts of them."""

import os.path
from collections.abc import Iterator

from configaudit.extract.process import Reading
from configaudit.extract.services.javascript_settings import LOCKED, WORKED_OUT, WRITTEN_IN, component, fold
from configaudit.extract.words import Word
from configaudit.knowledge.service_kinds import NODE_RUNTIME
from configaudit.model import Component, Setting
from configaudit.parse.grammar import below
from configaudit.parse.javascript import Source
from configaudit.parse.javascript_values import Unfolded, to_number
from configaudit.patterns import regex
from configaudit.units import HOLE

_THREADPOOL = 'process.env.UV_THREADPOOL_SIZE'
_MODULE = regex(rb'(?m)^import\s[^\n]*\sfrom\s|^import\s*["\']|\bimport\.meta\b')
_EVERY_CPU = ('max', '0', '-1')
"""Of `instances`: one for each CPU, or one less."""


def runtime_components(source: Source) -> Iterator[Component]:
    """A module that sizes the thread pool which loaded it. TypeScript may become CommonJS, where the first line is early enough."""
    if source.document.path.endswith(('.ts', '.mts', '.cts', '.tsx', '.cjs')) or not (source.document.path.endswith('.mjs') or _MODULE.search(source.data)):
        return
    for value in source.file.bound.get(_THREADPOOL, ()):
        if value is not None:
            settings = {'threadpool': Setting('threadpool', source.text(value), source.place(value), locked=LOCKED)}
            yield component(NODE_RUNTIME, source, value, settings)


def instances_of(source: Source) -> dict[str, Word]:
    """How many processes an ecosystem.config.js starts of its one application."""
    found = [node for node in below(source.root) if node.type == 'pair' and source.text(node.child_by_field_name('key')) in ('instances', 'script')]
    scripts = [node for node in found if source.text(node.child_by_field_name('key')) == 'script']
    counts = [node.child_by_field_name('value') for node in found if source.text(node.child_by_field_name('key')) == 'instances']
    if len(scripts) != 1 or len(counts) != 1:
        return {}
    place = source.place(counts[0])
    try:
        value = fold(source, source.file, counts[0])[0]
    except Unfolded:
        return {'processes': Word(HOLE, place, False, WORKED_OUT, LOCKED)}
    if str(value) in _EVERY_CPU:
        return {'processes': Word(HOLE, place, False, 'one process for each CPU that Node.js sees', LOCKED)}
    number = to_number(value)
    return {'processes': Word(str(int(number)), place, False, locked=LOCKED)} if number == number and number > 0 else {}


def join_instances(reading: Reading) -> None:
    """What the nearest ecosystem.config.js says belongs to the pools of the programs in its folder and below."""
    files = {data.name: data.values for data in reading.data if data.kind == 'pm2'}
    for pool in reading.components:
        if pool.kind.name != 'pool' or pool['written_in'].known_value != WRITTEN_IN:
            continue
        folder = os.path.dirname(pool.place.outermost().document.path)
        while folder not in files and folder:
            folder = os.path.dirname(folder)
        for name, word in files.get(folder, {}).items():
            pool.settings[name] = Setting(name, int(word.value) if word.known else None, word.place, reason='' if word.known else word.reason)
