"""Read a plain `check` command line without click: loading click takes a quarter of the time that a small audit takes."""

from collections.abc import Iterable
from typing import Any

from configaudit.command.options import Option


def read(args: list[str], options: Iterable[Option]) -> tuple[tuple[str, ...], dict[str, Any]] | None:
    """The paths and the option values of `args`; None where it takes click: help, a mistake, a rare spelling."""
    options = tuple(options)
    known = {flag: option for option in options for flag in option.flags.split()}
    given = {option.key: option.absent for option in options}
    paths = []
    words = iter(spread(args))
    for word in words:
        if word == '-' or not word.startswith('-'):
            paths.append(word)
            continue
        flag, joined, text = word.partition('=')
        option = known.get(flag)
        if option is None or (joined and not flag.startswith('--')):
            return None
        if option.is_flag:
            if joined:
                return None
            given[option.key] = True
            continue
        value = text if joined else next(words, '-')
        if not _is_plain(option, value):
            return None
        given[option.key] = (*given[option.key], value) if option.multiple else int(value) if option.is_count else value
    return tuple(paths), given


def _is_plain(option: Option, value: str) -> bool:
    if option.is_count:
        return value.isascii() and value.isdigit() and len(value) < 5
    return value in option.choices if option.choices else not value.startswith('-')


def spread(args: Iterable[str]) -> list[str]:
    """`--report-only a b` as `--report-only a --report-only b`."""
    found: list[str] = []
    collecting = False
    for word in args:
        if collecting and not word.startswith('-'):
            if found[-1] != '--report-only':
                found.append('--report-only')
        else:
            collecting = word == '--report-only'
        found.append(word)
    return found
