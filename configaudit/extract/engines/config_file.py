"""Options in a YAML file that an engine merges with its command line (`--config file.yaml`)."""

from collections.abc import Callable
from typing import NamedTuple

from configaudit.extract.arguments import Arguments, Option, Shape, Style, canonical, parse_arguments
from configaudit.extract.commands import Invocation
from configaudit.extract.environment import Stores
from configaudit.extract.mounts import named_file
from configaudit.extract.words import Word, word_of
from configaudit.parse.tree import Map, Node, Scalar, Seq, key_place, place_of, plain
from configaudit.parse.yaml import SyntaxProblem, parse
from configaudit.places import Document, Segment
from configaudit.units import HOLE


class Reader(NamedTuple):
    """How an engine turns the keys of the file into arguments."""

    shape_of: Callable[[str], Shape | None]
    style: Style = Style()
    false: str = 'passed over'
    """What becomes of `key: false`: 'passed over', 'no' (`--no-key` where there is one) or 'value' (behind flags that take one)."""
    nested: bool = True
    """A mapping becomes JSON; else Python's spelling of it, which is none."""


def with_config_file(arguments: Arguments, invocation: Invocation, stores: Stores, reader: Reader) -> Arguments:
    """The arguments with those of the file that `--config` names; the command line wins.

    `--config=file` is no configuration file to vLLM and SGLang: both look for the bare word (`"--config" in args`).
    """
    config = arguments.last('--config')
    if config is None or config.value is None or config.joined:
        return arguments
    extra, unseen = _config_arguments(invocation, stores, config.value, reader)
    given = {option.name for option in arguments.options}
    return arguments._replace(
        options=(*(option for option in extra.options if option.name not in given), *arguments.options),
        positional=(*extra.positional, *arguments.positional), words=(*extra.words, *arguments.words),
        unknown_tail=arguments.unknown_tail or unseen or extra.unknown_tail, unread=extra.unread,
        overridden=tuple(option for option in extra.options if option.name in given), no_mapping=extra.no_mapping,
    )  # fmt: skip


def _config_arguments(invocation: Invocation, stores: Stores, path: Word, reader: Reader) -> tuple[Arguments, str]:
    """The arguments of the file at `path`, and why some are unseen when it is not among the files read."""
    found, unseen = yaml_file(invocation, stores, path)
    if found is not None:
        return _arguments(*found, reader), ''
    text = named_file(invocation.process, stores, path.value)
    if text is not None and HOLE in text.value:
        return Arguments((), (), ''), text.reason or 'a template fills in the file'
    return Arguments((), (), '', no_mapping=not unseen), unseen


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


def _arguments(document: Document, root: Map, reader: Reader) -> Arguments:
    """The file's keys as the arguments that the engine makes of them."""
    words: list[Word] = []
    unread: list[Option] = []
    for key, node in root.items():
        name = Word('--' + key, key_place(document, root, key))
        value = plain(node)
        shape = reader.shape_of(_folded(name.value, reader))
        if isinstance(value, bool):
            given = _boolean(name, word_of(document, node), value, shape, reader)
            words.extend(given)
            unread.extend(() if given or value else [_option(name, shape, word_of(document, node))])
        elif not isinstance(value, list) or value:
            words.extend((name, *_values(document, node, reader)))
    return parse_arguments(tuple(words), reader.shape_of, reader.style)._replace(unread=tuple(unread))


def _folded(name: str, reader: Reader) -> str:
    return canonical(name.partition('.')[0]) if reader.style.folded else name


def _boolean(name: Word, value: Word | None, given: bool, shape: Shape | None, reader: Reader) -> tuple[Word, ...]:
    """The arguments of `key: true` or `key: false`."""
    if reader.false == 'value' and value is not None and (shape is None or shape.values != 'none'):
        return name, value
    if given:
        return (name,)
    opposite = name._replace(value=f'--no-{name.value[2:]}')
    if reader.false == 'no' and reader.shape_of(_folded(opposite.value, reader)) is not None:
        return (opposite,)
    # vLLM before 0.8.5: a flag with an optional value keeps it, when the key is spelled as in Python.
    return (name, value) if shape is not None and shape.values == 'optional' and value is not None and '-' not in name.value[2:] else ()


def _values(document: Document, node: Node, reader: Reader) -> tuple[Word, ...]:
    """The words of a list, a mapping or a scalar."""
    if isinstance(node, Seq):
        return tuple(word for item in node for word in _values(document, item, reader))
    if isinstance(node, Scalar):
        word = word_of(document, node)
        value = plain(node)
        if word is None or not word.known or isinstance(value, str | float):
            return (word,) if word is not None else ()
        return (word._replace(value=str(value)),)
    import json

    text = json.dumps(plain(node)) if reader.nested else str(plain(node))
    return (Word(text, place_of(document, node), False),)


def _option(name: Word, shape: Shape | None, value: Word | None) -> Option:
    return Option(
        shape.name if shape else name.value, name.value, name, value, (value,) if value is not None else (), False, False, False, shape,
    )  # fmt: skip
