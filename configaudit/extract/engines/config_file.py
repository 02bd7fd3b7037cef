"""Options in a YAML file that an engine merges with its command line (`--config file.yaml`)."""

from collections.abc import Callable, Iterator

from configaudit.extract.arguments import Arguments, Option, Shape, canonical
from configaudit.extract.commands import Invocation
from configaudit.extract.environment import Stores
from configaudit.extract.mounts import named_file
from configaudit.extract.words import Word, word_of
from configaudit.parse.tree import Map, Scalar, Seq, key_place
from configaudit.parse.yaml import SyntaxProblem, parse
from configaudit.places import Document, Segment


def with_config_file(
    arguments: Arguments, invocation: Invocation, stores: Stores, shape_of: Callable[[str], Shape | None]
) -> Arguments:
    """The arguments with those of the file that `--config` names; the command line wins."""
    config = arguments.last('--config')
    if config is None or config.value is None:
        return arguments
    extra, unseen = _config_options(invocation, stores, config.value, shape_of)
    given = {option.name for option in arguments.options}
    return arguments._replace(
        options=(*(option for option in extra if option.name not in given), *arguments.options),
        unknown_tail=arguments.unknown_tail or unseen,
    )


def _config_options(
    invocation: Invocation, stores: Stores, path: Word, shape_of: Callable[[str], Shape | None]
) -> tuple[tuple[Option, ...], str]:
    """The options of the file at `path`, and why some are unseen when it is not among the files read."""
    found, unseen = yaml_file(invocation, stores, path)
    return (tuple(_options(*found, shape_of)), '') if found is not None else ((), unseen)


def yaml_file(invocation: Invocation, stores: Stores, path: Word) -> tuple[tuple[Document, Map] | None, str]:
    """The mapping in the YAML file at `path`, or why it is not seen ('' for an empty file)."""
    found = named_file(invocation.process, stores, path.value)
    if found is None:
        return None, f'the options in {path.value} are not among the files read'
    document = found.place.document
    if document.format != 'string':
        whole = (Segment(0, found.place.start, len(found.value)),) if found.place.text == found.value else ()
        document = Document(document.path, 'string', found.value.encode(), outer=found.place, segments=lambda: whole)
    try:
        roots = parse(found.value.encode()).roots
    except SyntaxProblem:
        return None, f'{path.value} does not read as YAML'
    root = roots[0] if roots else None
    return ((document, root), '') if isinstance(root, Map) else (None, '')


def _options(document: Document, root: Map, shape_of: Callable[[str], Shape | None]) -> Iterator[Option]:
    for key, node in root.items():
        shape = shape_of(canonical('--' + key))
        name = Word('--' + key, key_place(document, root, key))
        value = word_of(document, node) if isinstance(node, Scalar) else None
        values = tuple(w for item in node if (w := word_of(document, item))) if isinstance(node, Seq) else (value,) if value else ()
        if shape is not None and shape.values == 'none' and value is not None:
            negated = value.value.lower() in ('false', 'no', 'off')
            yield Option(shape.name, name.value, name, None, (), False, negated != shape.negated, False, shape)
            continue
        yield Option(
            shape.name if shape else name.value, name.value, name, values[-1] if values else None, values, False,
            shape.negated if shape else False, False, shape,
        )  # fmt: skip
