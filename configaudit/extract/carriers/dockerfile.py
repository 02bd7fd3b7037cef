"""Dockerfiles: what the image of the last stage runs when nobody says otherwise."""

from configaudit.extract.process import Process, Reading, Variable, nothing
from configaudit.extract.words import Word
from configaudit.knowledge.carrier_kinds import DOCKERFILE
from configaudit.model import Component, Setting, Slot
from configaudit.parse.dockerfile import Dockerfile, Instruction, Stage, environment
from configaudit.parse.dockerfile import read as parse
from configaudit.places import Document, Place
from configaudit.units import HOLE


def read(document: Document) -> Reading:
    """The last stage, as a component and the process it starts."""
    reading = nothing()
    parsed = parse(document.text)
    if not parsed.stages:
        return reading
    chain = _chain(parsed)
    image = _image(document, chain[-1])
    settings: dict[str, Setting] = {}
    name = document.path.rpartition('/')[2]
    origin = _first(chain[0], 'FROM')
    place = Place(document, origin.start, origin.start + len('FROM')) if origin else Place(document, 0, 1)
    component = Component(DOCKERFILE, name, f'dockerfile/{name}', place, settings, scope=document.path)
    if image is not None:
        reason = '' if image.known else image.reason
        slot = Slot('dockerfile', image.place) if image.pure else None
        settings['image'] = Setting('image', image.value, image.place, 'explicit', reason, (), slot)
    for key, instruction in (('healthcheck', 'HEALTHCHECK'), ('user', 'USER')):
        found = _last(chain, instruction)
        if found is not None:
            settings[key] = Setting(key, found.value, Place(document, found.start, found.end))
    variables = tuple(_environment(document, parsed))
    settings['env'] = Setting('env', {variable.name: variable for variable in variables}, place)
    reading.components.append(component)
    process = _process(
        document, chain, Process(component, image, None, None, variables, syntax='none', form='dockerfile')
    )
    reading.processes.append(process)
    if b'pip' in document.parsed:
        _installations(document, parsed, reading)
    return reading


def _installations(document: Document, parsed: Dockerfile, reading: Reading) -> None:
    """Packages that its build installs."""
    from configaudit.extract.services.pip_bounds import read_script

    owner = f'dockerfile/{document.path.rpartition("/")[2]}'
    for stage in parsed.stages:
        for made in stage.instructions:
            if made.name == 'RUN' and made.form == 'shell' and 'pip' in made.value:
                reading.components.extend(read_script(_script(document, made), owner))


def _chain(parsed: Dockerfile) -> list[Stage]:
    """The last stage and those it builds on, the one with the image last."""
    chain = [parsed.stages[-1]]
    while chain[-1].base is not None and len(chain) <= len(parsed.stages):
        chain.append(parsed.stages[chain[-1].base])
    return chain


def _first(stage: Stage, name: str) -> Instruction | None:
    return next((made for made in stage.instructions if made.name == name), None)


def _last(chain: list[Stage], name: str) -> Instruction | None:
    """The instruction that counts: the last one of the nearest stage that has it."""
    for stage in chain:
        found = [made for made in stage.instructions if made.name == name]
        if found:
            return found[-1]
    return None


def _image(document: Document, stage: Stage) -> Word | None:
    origin = _first(stage, 'FROM')
    if origin is None or not origin.words:
        return None
    start, end = origin.words[0].start, origin.words[0].end
    pure = document.text[start:end] == stage.image
    return Word(
        stage.image,
        Place(document, start, end),
        pure,
        'a build argument without a default' if HOLE in stage.image else '',
    )


def _environment(document: Document, parsed: Dockerfile) -> list[Variable]:
    found = []
    for entry in environment(parsed, len(parsed.stages) - 1).values():
        place = Place(document, entry.start, entry.end)
        pure = document.text[entry.start : entry.end] == entry.value
        word = Word(entry.value, place, pure, 'a build argument without a default' if HOLE in entry.value else '')
        found.append(Variable(entry.key, word, Place(document, entry.key_start, entry.key_end)))
    return found


def _process(document: Document, chain: list[Stage], process: Process) -> Process:
    """ENTRYPOINT and CMD joined as Docker joins them: a shell-form ENTRYPOINT ignores CMD, a new one resets it."""
    entry, command = _last(chain, 'ENTRYPOINT'), _last(chain, 'CMD')
    if entry is not None and entry.form == 'shell':
        return process._replace(arguments=(_script(document, entry),), shell=True)
    if entry is not None and command is not None and command.start < entry.start and command.stage != entry.stage:
        command = None
    if command is not None and command.form == 'shell' and entry is None:
        return process._replace(arguments=(_script(document, command),), shell=True)
    words = _words(document, command) if command is not None and command.form == 'exec' else ()
    if entry is not None and entry.words:
        return process._replace(entrypoint=_words(document, entry), arguments=words)
    return process._replace(arguments=words or None)


def _words(document: Document, made: Instruction) -> tuple[Word, ...]:
    text = document.text
    return tuple(
        Word(word.text, Place(document, word.start, word.end), text[word.start : word.end] == word.text)
        for word in made.words
    )


def _script(document: Document, made: Instruction) -> Word:
    """A shell form as a script; its continuations lead back to the file."""
    outer = Place(document, made.value_start, made.end)
    inner = Document(document.path, 'string', made.value.encode(), outer=outer, segments=lambda: made.segments)
    return Word(made.value, Place(inner, 0, len(made.value)))
