"""The subcommands as click knows them."""

import os
from importlib import import_module

import click

from configaudit import VERSION
from configaudit.errors import USAGE, UsageError

COMMANDS = ('check', 'node', 'node-report', 'prelaunch', 'baseline', 'rules', 'explain', 'engine', 'upgrade', 'graph', 'init')


class _Commands(click.Group):
    """Subcommands that are imported when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module('configaudit.command.' + cmd_name.replace('-', '_')).command
        return command

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith('-'):
            raise click.UsageError(_unknown(args[0]), ctx)
        return super().resolve_command(ctx, args)


def _unknown(word: str) -> str:
    if os.path.exists(word):
        return f'{word!r} is not a command: did you mean `configaudit check {word}`?'
    from difflib import get_close_matches

    close = get_close_matches(word, COMMANDS, 1)
    return f'no command {word!r}' + (f': did you mean {close[0]!r}?' if close else f' (there are: {", ".join(COMMANDS)})')


@click.group(
    cls=_Commands,
    invoke_without_command=True,
    no_args_is_help=False,
    context_settings={'help_option_names': ['-h', '--help'], 'max_content_width': 100},
    epilog='Exit status: 0 clean, 1 findings, 2 wrong usage or configuration, 3 something could not be audited, '
    '4 nothing to audit, 130 interrupted.',
)
@click.version_option(VERSION, prog_name='configaudit', message='%(prog)s %(version)s')
@click.pass_context
def main(ctx: click.Context) -> None:
    """Audit the configuration of inference services.

    configaudit reads engine flags, Kubernetes objects, compose files, systemd units, shell scripts, proxies, pools and host
    settings, judges them together, and says with file, line and arithmetic what is not safe for production, and how to fix it.

    \b
    configaudit check                     audit the files below the working directory
    configaudit check deploy/ -f sarif    one folder, for code scanning
    helm template . | configaudit check - rendered manifests
    configaudit prelaunch deploy/         the launch checklist, as a gate
    configaudit graph deploy/             who asks whom, and what is wrong where
    configaudit explain RULE              why a rule is there, and when it is wrong
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help(), err=True)
        ctx.exit(USAGE)


def run(words: list[str]) -> int:
    """Run the subcommand that `words` name and return its exit status."""
    try:
        return main.main(words, prog_name='configaudit', standalone_mode=False) or 0
    except click.Abort:
        raise KeyboardInterrupt from None
    except click.ClickException as error:
        where = error.ctx.command_path if isinstance(error, click.UsageError) and error.ctx else 'configaudit'
        raise UsageError(f'{error.format_message()} (see `{where} --help`)') from None
