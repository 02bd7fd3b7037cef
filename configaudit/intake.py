"""Reading: every file of a run to the documents in it, each by the reader it belongs to. One bad file never hides another."""

import os.path
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from configaudit import sources
from configaudit.config import Config
from configaudit.extract import read_document
from configaudit.extract.charts import Charts, rendered_from
from configaudit.extract.files import Files
from configaudit.extract.process import Nested, Process, Reading, nothing
from configaudit.findings import Error, Skipped
from configaudit.parse import Parsed, Unread, documents, nested_documents
from configaudit.parse.formats import is_wanted
from configaudit.parse.grammar import GRAMMARS, Unreadable, first_error
from configaudit.parse.programs import EXTENSIONS, PROGRAMS
from configaudit.places import locate

if TYPE_CHECKING:
    from configaudit.extract.kustomize import Kustomize

MAX_NESTING = 3
MAX_COMMAND = 256 * 2**10
"""Characters; Linux takes 128 KiB in one argument (MAX_ARG_STRLEN in include/uapi/linux/binfmts.h)."""
TRACE = b'configaudit'
"""A file without this word holds no suppression."""
_KUSTOMIZATIONS = ('kustomization.yaml', 'kustomization.yml', 'Kustomization')


class Intake(NamedTuple):
    """What reading the files gave."""

    reading: Reading
    skipped: list[Skipped]
    errors: list[Error]
    files: int
    rendered: dict[str, str]
    """Of rendered charts: path and line of a document -> the template that wrote it."""
    marked: dict[str, bytes]
    """Files with a word addressed to this program."""
    beside: list[str]
    """Files that were read beside the audited ones: chart values."""
    texts: Files = Files()
    """The files by path, for what a command line names."""


def read_files(paths: Sequence[str], config: Config) -> Intake:
    """Read files, folders and standard input."""
    intake = Intake(nothing(), [], [], 0, {}, {}, [])
    found = sorted(
        sources.discover(paths, config.exclude, intake.skipped, intake.errors, is_wanted, config.stdin_name),
        key=lambda source: source.path,
    )
    kustomize = _kustomizations(found, config)
    charts = Charts(config.values)
    apart, rest = _divide(found, kustomize, config)
    if apart:
        from configaudit.workers import in_workers

        work = partial(_take_all, config=config)
        for part in in_workers(work, apart, [source.size for source in apart], config.jobs):
            _add(intake, part)
    for source in rest:
        _take(source, config, intake, kustomize, charts)
    for item, reason in kustomize.results() if kustomize is not None else ():
        _keep(item, reason, intake)
    _open_nested(intake)
    intake.beside.extend(charts.files)
    real = {source.path: source for source in found if source.real}
    return intake._replace(files=_count(found, intake.reading), texts=Files(real, lambda path: _bytes(real[path], config)))


def read_texts(contents: Mapping[str, bytes], config: Config) -> Intake:
    """Read files that are in memory already: those of a snapshot. Their paths are what findings show."""
    intake = Intake(nothing(), [], [], 0, {}, {}, [])
    held = config._replace(contents=contents)
    for path in sorted(contents):
        _take(sources.Source(path, path, False), held, intake, None, Charts())
    _open_nested(intake)
    return intake._replace(files=len(contents))


def _count(found: list[sources.Source], reading: Reading) -> int:
    """How many files were read as configuration: a program counts when it sets something up that is judged."""
    components = (*(process.component for process in reading.processes), *reading.components)
    documents = (component.place.outermost().document for component in components)
    programs = {document.path for document in documents if document.format == 'python' or document.format in GRAMMARS}
    return sum(not source.path.endswith(EXTENSIONS) for source in found) + len(programs)


def _kustomizations(found: list[sources.Source], config: Config) -> 'Kustomize | None':
    """What the kustomization files of the run say, learnt before anything else is read."""
    named = [os.path.normpath(source.path) for source in found if source.path.rpartition('/')[2] in _KUSTOMIZATIONS]
    if not named:
        return None
    from configaudit.extract.kustomize import Kustomize

    real = {os.path.normpath(source.path): source for source in found}
    ungated = config._replace(gate=False)  # a JSON patch is nothing that is read by itself
    kustomize = Kustomize(lambda path: _read(real[path], ungated) if path in real else ())
    for path in named:
        kustomize.learn(path)
    return kustomize


def _divide(
    found: list[sources.Source], kustomize: 'Kustomize | None', config: Config
) -> tuple[list[sources.Source], list[sources.Source]]:
    """What workers may read by themselves, and what is read here: standard input and what kustomize merges."""
    if config.jobs < 2:
        return [], found
    apart = [source for source in found if source.real and not (kustomize and kustomize.concerns(os.path.normpath(source.path)))]
    kept = set(apart)
    return apart, [source for source in found if source not in kept]


def _take_all(part: Sequence[sources.Source], config: Config) -> Intake:
    """A worker's share of the files."""
    intake = Intake(nothing(), [], [], 0, {}, {}, [])
    charts = Charts(config.values)
    for source in part:
        _take(source, config, intake, None, charts)
    return intake._replace(beside=charts.files)


def _add(intake: Intake, part: Intake) -> None:
    intake.reading.add(part.reading)
    intake.skipped.extend(part.skipped)
    intake.errors.extend(part.errors)
    intake.rendered.update(part.rendered)
    intake.marked.update(part.marked)
    intake.beside.extend(part.beside)


def _bytes(source: sources.Source, config: Config) -> bytes:
    return config.contents[source.path] if source.path in config.contents else sources.read(source)


def _read(source: sources.Source, config: Config, marked: dict[str, bytes] | None = None) -> Iterator[Parsed | Error | Unread]:
    try:
        data = _bytes(source, config)
    except OSError as error:
        yield Error(source.path, 0, 0, 'unreadable', error.strerror or str(error))
        return
    if len(data) > sources.MAX_BYTES:
        yield Error(source.path, 0, 0, 'limit', f'file over {sources.MAX_BYTES >> 20} MiB')
        return
    if marked is not None and TRACE in data:
        marked[source.path] = data
    yield from documents(source.path, data, gate=config.gate)


def _take(source: sources.Source, config: Config, intake: Intake, kustomize: 'Kustomize | None', charts: Charts) -> None:
    before = len(intake.errors)
    used = False
    for item in _read(source, config, intake.marked):
        if isinstance(item, Error):
            intake.errors.append(item)
        elif isinstance(item, Unread):
            if kustomize is None or not kustomize.is_patch(item.path):
                intake.skipped.append(Skipped(item.path, item.reason))
        else:
            item.document.below = source.below or item.document.path
            _prepare(item, intake, charts)
            used = (kustomize is not None and kustomize.takes(item)) or _keep(item, '', intake) or used
    if source.named and not used and before == len(intake.errors):
        problem = _program_problem(source, config)
        if problem is not None:
            intake.errors.append(problem)
        elif not any(item.path == source.path for item in intake.skipped):
            intake.skipped.append(Skipped(source.path, 'holds no configuration that is read'))


def _program_problem(source: sources.Source, config: Config) -> Error | None:
    """Why a program that a person named cannot be read; of any other, nobody asks."""
    if not source.path.endswith(EXTENSIONS):
        return None
    if not source.path.endswith('.py'):
        return _code_problem(source, config)
    from configaudit.parse import python

    try:
        python.tree_of(_bytes(source, config).decode('utf-8', 'replace').removeprefix('\ufeff'))
    except python.Unreadable as problem:
        return Error(source.path, problem.line, problem.column, 'python', str(problem))
    return None


def _code_problem(source: sources.Source, config: Config) -> Error | None:
    form = PROGRAMS[source.path.rpartition('.')[2]].format
    try:
        found = first_error(form, _bytes(source, config))
    except Unreadable:
        return None
    return Error(source.path, *found, form, 'a syntax error') if found is not None else None


def _prepare(item: Parsed, intake: Intake, charts: Charts) -> None:
    """What a chart adds to a document: values beside a template, or the template that rendered it."""
    document = item.document
    template = rendered_from(document.data) if b'# Source: ' in document.data[:4096] else ''
    if template:
        document.note = f'rendered from {template}'
        intake.rendered[f'{document.path}:{document.line}'] = template
    elif document.template is not None:
        document.values = charts.values_for(document.path)


def _keep(item: Parsed, reason: str, intake: Intake) -> bool:
    try:
        reading = read_document(item.document, item.root, item.duplicates, reason)
    except Exception as problem:
        if item.document.format != 'python' and item.document.format not in GRAMMARS:
            raise
        # One program among thousands ends no audit: what its reader cannot take is told, and the rest goes on.
        intake.errors.append(Error(item.document.path, 1, 1, 'internal', f'reading the program failed ({type(problem).__name__}: {problem}): please report it'))
        return False
    if reading is None:
        return False
    reading.processes[:] = [_bounded(process, intake) for process in reading.processes]
    intake.reading.add(reading)
    return True


def _bounded(process: Process, intake: Intake) -> Process:
    """A process whose command line a kernel would accept; of any other nothing is read."""
    words = (*(process.entrypoint or ()), *(process.arguments or ()))
    if sum(len(word.value) for word in words) <= MAX_COMMAND:
        return process
    at = locate(words[0].place)
    reason = f'a command line over {MAX_COMMAND >> 10} KiB'
    intake.errors.append(Error(at.path, at.line, at.column, 'limit', reason))
    return process._replace(entrypoint=None, arguments=None, partial=reason)


def _open_nested(intake: Intake) -> None:
    """Files inside ConfigMaps and the like, and files inside those."""
    waiting: Iterable[Nested] = list(intake.reading.nested)
    for _ in range(MAX_NESTING):
        intake.reading.nested.clear()
        for nested in waiting:
            for item in nested_documents(nested.name, nested.word.value, nested.word.place):
                if isinstance(item, Error):
                    intake.errors.append(item)
                else:
                    _keep(item, '', intake)
        waiting = list(intake.reading.nested)
        if not waiting:
            return
