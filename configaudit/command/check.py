"""`configaudit check` as click declares it; `command.checking` does the work."""

from typing import Any

import click

from configaudit.command.checking import OPTIONS, check
from configaudit.command.declare import options
from configaudit.command.quick import spread


class _Check(click.Command):
    """A command whose --report-only takes all words up to the next option, as a pre-commit hook appends them."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, spread(args))


@click.command(cls=_Check, short_help='Audit files, folders or standard input.')
@click.argument('paths', nargs=-1, metavar='[PATH]...')
@options(OPTIONS)
def command(paths: tuple[str, ...], **given: Any) -> int:
    """Audit files, folders (default: the working directory) or standard input (`-`).

    Everything that is named is judged together: the flags of an engine with its pod, its node, its proxy and its database.
    Nothing is executed and no connection is opened.

    \b
    Exit status:
      0  nothing at or above --fail-on was found
      1  findings (with --diff: something would change)
      2  wrong usage or configuration
      3  something could not be audited
      4  nothing to audit was found
    """
    return check(paths, given)
