"""Options as click declares them."""

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import click

from configaudit.command.options import Option

Command = TypeVar('Command', bound=Callable[..., Any])


def options(*groups: Iterable[Option | Callable[[Any], Any]]) -> Callable[[Command], Command]:
    """A decorator that adds options in the order they are listed; one that only a single command has may be click's own."""

    def add(command: Command) -> Command:
        for option in reversed([option for group in groups for option in group]):
            command = (_declared(option) if isinstance(option, Option) else option)(command)
        return command

    return add


def _declared(option: Option) -> Callable[[Command], Command]:
    if option.is_flag:
        return click.option(*option.flags.split(), option.key, is_flag=True, help=option.help)
    kind = click.IntRange(0) if option.is_count else click.Choice(option.choices) if option.choices else None
    return click.option(
        *option.flags.split(),
        option.key,
        type=kind,
        multiple=option.multiple,
        default=option.absent,
        show_default=bool(option.choices and option.default),
        metavar=option.metavar or None,
        help=option.help,
    )
