"""Rails: what database.yml computes with ERB, and the workers and threads of puma.rb, whose every process has the pools of database.yml.

Sources: Rails guide "Configuring a Database" (pool, checkout_timeout), Puma DSL reference (workers, threads: the last number is the most).
"""

from collections.abc import Iterable

from configaudit.extract.process import Data, Reading, nothing
from configaudit.extract.words import Word
from configaudit.model import Component, Setting
from configaudit.patterns import regex
from configaudit.places import Document, Place
from configaudit.units import HOLE

_ENV = r'(?:Integer\()?\s*ENV(?:\.fetch\(\s*|\[\s*)[\'"](\w+)[\'"]\s*(?:\]\s*\|\|\s*[\'"]?(\w+)[\'"]?|,\s*[\'"]?(\w+)[\'"]?\s*\)|\)\s*\{\s*[\'"]?(\w+)[\'"]?\s*\})\s*\)?(?:\.to_i)?'
_ERB = regex(r'<%=\s*' + _ENV + r'\s*%>$')
_RUBY = regex(_ENV + r'$')
_ASSIGNED = regex(r'^[ \t]*(\w+)[ \t]*=[ \t]*([^\n#]+)', 8)
_SAID = regex(r'^[ \t]*(workers|threads)[ \t(]+([^\n#]+?)\)?[ \t]*(?:#[^\n]*)?$', 8)
_ENVIRONMENTS = ('development', 'test', 'default', 'local', 'ci')


def erb_default(word: Word) -> Word:
    """`<%= ENV.fetch("NAME") { 5 } %>` as what it comes to where the environment says nothing; other ERB is unknown."""
    if '<%' not in word.value:
        return word
    found = _ERB.match(word.value)
    if found is None:
        return word._replace(value=HOLE, pure=False, reason='it is computed by ERB')
    return word._replace(value=found[2] or found[3] or found[4], pure=False, locked='it is computed by ERB')


def is_other_environment(key: str, keys: Iterable[str]) -> bool:
    """Whether a section of database.yml is not the one that production takes."""
    return key in _ENVIRONMENTS and 'production' in keys


def read(document: Document) -> Reading:
    """A puma.rb."""
    reading = nothing()
    text = document.text
    variables = {found[1]: found[2].strip() for found in _ASSIGNED.finditer(text)}
    values: dict[str, Word] = {}
    for found in _SAID.finditer(text):
        last = _last(found[2])
        number = _number(variables.get(last, last))
        if number:
            values['processes' if found[1] == 'workers' else 'threads'] = Word(number, Place(document, found.start(2), found.end(2)), False)
    if values:
        reading.data.append(Data('puma', '', document.path.rpartition('/')[0], values))
    return reading


def _last(text: str) -> str:
    """The last of several arguments; a call in parentheses is one."""
    depth, start = 0, 0
    for at, letter in enumerate(text):
        depth += (letter in '([{') - (letter in ')]}')
        if letter == ',' and not depth:
            start = at + 1
    return text[start:].strip()


def _number(text: str) -> str:
    found = _RUBY.match(text)
    value = (found[2] or found[3] or found[4]) if found is not None else text
    return value if value.isdigit() else ''


def join_puma(reading: Reading) -> None:
    """What puma.rb says belongs to the pools of the database.yml beside it."""
    servers = {data.name: data.values for data in reading.data if data.kind == 'puma'}
    for pool in reading.components:
        if pool.kind.name == 'pool' and pool['library'].known_value == 'rails':
            _take(pool, servers.get(pool.place.outermost().document.path.rpartition('/')[0], {}))


def _take(pool: Component, values: object) -> None:
    for name, word in values.items() if isinstance(values, dict) else ():
        if name not in pool.settings and int(word.value) > 0:
            pool.settings[name] = Setting(name, int(word.value), word.place)
