"""`configaudit engine NAME [VERSION] [FLAG]...`: the flags and the effective defaults of one release."""

import click

from configaudit.command.streams import emit
from configaudit.knowledge.shipped import HISTORIES
from configaudit.release_sheet import known_engine, settings_named, sheet
from configaudit.report.release import FORMATS, render, server


@click.command(short_help='Show the flags and effective defaults of an engine at a version.', context_settings={'ignore_unknown_options': True})
@click.argument('name', metavar='ENGINE')
@click.argument('version', default='newest', metavar='[VERSION]')
@click.argument('names', nargs=-1, metavar='[FLAG]...')
@click.option('--gpu', default='', metavar='NAME', help='The GPU that defaults are worked out for: `H100`, `A100-80G`, `p5.48xlarge`.')
@click.option('--usage', type=click.Choice(['server', 'library']), default='server', show_default=True, help='`vllm serve`, or the LLM class in a program.')
@click.option('-f', '--format', 'form', type=click.Choice(FORMATS), default='text', show_default=True)
def command(name: str, version: str, names: tuple[str, ...], gpu: str, usage: str, form: str) -> int:
    """Show what ENGINE has at VERSION: every flag, its type, and the default that holds when nobody gives it.

    Some defaults are worked out at start from the GPU, its memory and the usage: --gpu makes them certain. With FLAG (or an
    environment variable, or a metric: `--max-num-seqs`, `max_num_seqs`, VLLM_USE_V1, vllm:num_requests_running) its whole
    history is shown instead. VERSION may be `newest`. For servers without a recorded history (tgi, ollama, triton ...) the settings that
    matter are listed as of one release, or those that FLAG names.

    \b
    configaudit engine vllm 0.10.2 --gpu H100
    configaudit engine vllm 0.16.0 max_num_seqs --swap-space
    configaudit engine ollama
    """
    engine = known_engine(name)
    if engine in HISTORIES:
        emit(render(form, sheet(engine, version, gpu, usage, names)))
    else:
        emit(server(form, engine, settings_named(engine, (version, *names))))
    return 0
