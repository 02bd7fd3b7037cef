"""Terraform: the files of a folder are one module; variables come from its defaults, its values files and the modules that call it."""

from collections.abc import Iterator, Mapping
from posixpath import dirname, join, normpath

from configaudit.extract.environment import Stores
from configaudit.extract.files import Files
from configaudit.extract.process import Data, Reading, nothing
from configaudit.extract.words import Word
from configaudit.model import Component, Setting, Slot
from configaudit.parse.grammar import Unreadable
from configaudit.parse.terraform import Block, Expression
from configaudit.parse.terraform import read as blocks_of
from configaudit.places import Document, Place
from configaudit.units import HOLE

MAX_HOPS = 8
"""Of a value from variable to variable."""
MAX_FILES = 200
"""Of a folder."""
MAX_CALLERS = 2000
"""Files of a run in which calls of a module are looked for."""


def read(document: Document) -> Reading:
    """A file that declares what is judged; its folder is read when all files of the run are known."""
    reading = nothing()
    text = Word(document.text, Place(document, 0, len(document.text)))
    reading.data.append(Data('terraform', dirname(document.path), document.path, {'': text}))
    return reading


class Found:
    """What an expression comes to: a constant with its place, or why it is none and what it may be."""

    def __init__(self, word: Word, choices: tuple[str, ...] = (), inherited: bool = False) -> None:
        self.word = word
        self.choices = choices
        self.inherited = inherited


class Module:
    """The files of one folder."""

    def __init__(self, folder: str, blocks: list[Block], modules: 'Modules') -> None:
        self.folder = folder
        self.blocks = blocks
        self.modules = modules
        self._loaded = False
        self._named: dict[str, Expression] = {}
        """'var.x' (its default) and 'local.x'."""
        self._given: dict[str, list[Expression]] = {}
        """Values that files of values give a variable: those that Terraform reads by itself, then all others."""
        self._asked: dict[str, list[Expression]] = {}

    def resources(self, *kinds: str) -> Iterator[Block]:
        """The resources of these types."""
        return (block for block in self.blocks if block.kind == 'resource' and len(block.labels) == 2 and block.labels[0] in kinds)

    def calls(self) -> Iterator[Block]:
        """The modules that it calls."""
        return (block for block in self.blocks if block.kind == 'module')

    def resource(self, reference: Expression | None) -> Block | None:
        """The resource that `aws_lb.main.arn` names."""
        parts = reference.text.split('.') if reference is not None and reference.kind == 'reference' else []
        return next((block for block in self.resources(parts[0]) if block.labels[1] == parts[1]), None) if len(parts) > 1 else None

    def value(self, expression: Expression, hops: int = MAX_HOPS) -> Found:
        """A constant, resolved through variables and locals."""
        if expression.kind == 'constant':
            return Found(Word(expression.text, expression.place, HOLE not in expression.text, 'a part of it is put in' if HOLE in expression.text else ''))
        if expression.kind == 'choice':
            sides = [self.value(item, hops - 1) for item in expression.items] if hops else []
            choices = tuple(side.word.value for side in sides) if sides and all(side.word.known for side in sides) else ()
            return Found(_open(expression, f'{expression.text} is decided when it is applied'), choices)
        if expression.kind != 'reference' or not hops:
            return Found(_open(expression, f'{_short(expression.text)} is computed when it is applied'))
        return self._reference(expression, hops)

    def whole(self, expression: Expression | None) -> Expression | None:
        """The list or object that an expression names: a local, or a variable whose value or default the folder's files say; None for others."""
        for _ in range(MAX_HOPS):
            if expression is None or expression.kind != 'reference':
                break
            self._load()
            given = self._given.get(expression.text, [])
            if self.modules.passed(self.folder, expression.text, 2) or len(given) > 1 or expression.text in self._asked:
                return None
            expression = given[0] if given else self._named.get(expression.text)
        return expression if expression is not None and expression.kind in ('list', 'object') else None

    def _reference(self, expression: Expression, hops: int) -> Found:
        self._load()
        name = '.'.join(expression.text.split('.')[:2])
        found = [self.value(one, hops - 1) for one in self._given.get(name, ())]
        found = found or self.modules.passed(self.folder, name, hops) or [self.value(one, hops - 1) for one in self._asked.get(name, ())]
        if not found and name in self._named and name == expression.text:
            found = [self.value(self._named[name], hops - 1)]
        values = dict.fromkeys(one.word.value for one in found)
        if not found or name != expression.text:
            return Found(_open(expression, f'{expression.text} is not set in the files read'))
        if len(values) > 1:
            choices = tuple(values) if all(one.word.known for one in found) else ()
            return Found(_open(expression, f'{expression.text} differs: {", ".join(values)}' if choices else f'{expression.text} differs'), choices)
        return Found(found[0].word._replace(use=expression.place), found[0].choices, True)

    def _load(self) -> None:
        """The variables, locals and values of the folder's other files."""
        if self._loaded:
            return
        self._loaded = True
        for block in (*self.blocks, *self.modules.others(self.folder, '.tf')):
            if block.kind == 'variable' and block.labels and 'default' in block.attributes:
                self._named.setdefault(f'var.{block.labels[0]}', block.attributes['default'])
            elif block.kind == 'locals':
                for name, value in block.attributes.items():
                    self._named.setdefault(f'local.{name}', value)
        for block in self.modules.others(self.folder, '.tfvars'):
            path = block.place.document.path.rpartition('/')[2]
            target = self._given if path == 'terraform.tfvars' or path.endswith('.auto.tfvars') else self._asked
            for name, value in block.attributes.items():
                target.setdefault(f'var.{name}', []).append(value)


class Modules:
    """All Terraform of a run."""

    def __init__(self, data: list[Data], files: Files) -> None:
        self.files = files
        self._read: dict[str, tuple[Block, ...]] = {}
        self._calls: dict[str, list[tuple[Module, Block]]] = {}
        folders: dict[str, list[Block]] = {}
        for item in data:
            folders.setdefault(item.scope, []).extend(self._blocks(item.values[''].place.document))
        self.modules = {folder: Module(folder, blocks, self) for folder, blocks in folders.items()}

    def others(self, folder: str, extension: str) -> Iterator[Block]:
        """The blocks of the folder's files with this extension."""
        for path in self.files.in_folder(folder, extension)[:MAX_FILES]:
            word = self.files.at(path) if path not in self._read else None
            yield from self._blocks(word.place.document) if word is not None else self._read.get(path, ())

    def passed(self, folder: str, name: str, hops: int) -> list[Found]:
        """The values that calls of this folder's module give a variable."""
        kind, _, variable = name.partition('.')
        if kind != 'var':
            return []
        found: list[Found] = []
        if folder not in self._calls:
            self._calls[folder] = list(self._callers(folder))
        for module, call in self._calls[folder]:
            if variable in call.attributes:
                found.append(module.value(call.attributes[variable], hops - 1))
        return found

    def _callers(self, folder: str) -> Iterator[tuple[Module, Block]]:
        """The calls of a folder's module, wherever they stand in the run."""
        name = folder.rpartition('/')[2]
        for path in self.files.ending_in('.tf')[:MAX_CALLERS] if name else ():
            word = self.files.at(path)
            if word is None or 'module' not in word.value or f'/{name}"' not in word.value:
                continue
            own = dirname(path)
            for call in self._blocks(word.place.document):
                source = call.attributes.get('source') if call.kind == 'module' else None
                if source is not None and source.text.startswith('.') and normpath(join(own, source.text)) == folder:
                    yield self.modules.get(own) or Module(own, [], self), call

    def _blocks(self, document: Document) -> tuple[Block, ...]:
        if document.path not in self._read:
            try:
                self._read[document.path] = blocks_of(document)
            except Unreadable:
                self._read[document.path] = ()
        return self._read[document.path]


def settle(reading: Reading, stores: Stores) -> list[Component]:
    """The databases and load balancers of all modules."""
    from configaudit.extract.services.terraform_balancers import balancers
    from configaudit.extract.services.terraform_databases import databases

    modules = Modules([item for item in reading.data if item.kind == 'terraform'], stores.files)
    found: list[Component] = []
    for _, module in sorted(modules.modules.items()):
        found.extend((*databases(module), *balancers(module)))
    return found


def setting(module: Module, name: str, expression: Expression, unit: str) -> Setting:
    """The setting that an attribute spells; what a condition chooses between stays as candidates."""
    from configaudit.extract.services.values import CONVERT, setting_of

    found = module.value(expression)
    given = setting_of(name, found.word, unit)
    values = [CONVERT[unit](choice) for choice in found.choices]
    shared = 'a variable that other resources may take too' if found.inherited else given.locked
    return given._replace(candidates=tuple(values) if None not in values else (), locked=shared)


def default(module: Module, block: Block, name: str, attribute: str, value: object, source: str) -> Setting:
    """What holds where a block does not have an attribute."""
    slot = Slot('terraform', Place(block.place.document, block.end, block.end), (attribute,)) if block.end else None
    reason = 'a syntax error in the block' if block.broken else ''
    return Setting(name, value, block.place, 'default', reason, slot=slot, source=source)


def parameters(blocks: Iterator[Block], listed: Expression | None) -> Iterator[tuple[str, Expression]]:
    """Name and value of `parameter { name = .. value = .. }` blocks, or of a list of such objects."""
    rows: list[Mapping[str, Expression]] = [block.attributes for block in blocks]
    rows.extend(item.fields for item in (listed.items if listed is not None else ()))
    for row in rows:
        name, value = row.get('name'), row.get('value')
        if name is not None and value is not None and name.kind == 'constant':
            yield name.text, value


def text_of(module: Module, expression: Expression | None) -> str:
    """What an expression comes to; '' when that is not known."""
    word = module.value(expression).word if expression is not None else None
    return word.value if word is not None and word.known else ''


def _open(expression: Expression, reason: str) -> Word:
    return Word(HOLE, expression.place, False, reason)


def _short(text: str) -> str:
    line = ' '.join(text.split())
    return line if len(line) <= 60 else line[:57] + '...'
