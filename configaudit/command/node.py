"""`configaudit node`: audit a host, the live one or a captured one."""

from contextlib import suppress
from importlib.util import find_spec
from typing import Any

import click

from configaudit.audit import audit_node
from configaudit.command.declare import options
from configaudit.command.options import JUDGING, config_of
from configaudit.command.streams import emit, is_colored, say, width
from configaudit.command.verdict import NOTHING, Limits, status
from configaudit.config import Config
from configaudit.errors import UsageError
from configaudit.fix_plan import plan, write
from configaudit.host.archive import load, load_sysctl_dump, load_sysroot, save
from configaudit.host.reader import read_host
from configaudit.host.snapshot import Snapshot
from configaudit.report import REPORTERS, Options, render
from configaudit.result import Result
from configaudit.units import seconds

_OWN = (
    click.option('--save', default='', metavar='FILE', help='Also write what was read: a .tar.gz, or a folder when the name ends in `/`.'),
    click.option('--snapshot', default='', metavar='FILE', help='Audit what --save wrote, instead of this host.'),
    click.option('--sysroot', default='', metavar='DIR', help='Audit a captured tree, such as a sosreport, instead of this host.'),
    click.option('--static-root', default='', envvar='CONFIGAUDIT_STATIC_ROOT', show_envvar=True, metavar='DIR', help='Where the files of /etc, /run and /usr of this host are mounted (in a container).'),
    click.option('--nvidia-smi', default='', metavar='FILE', help='Also what `nvidia-smi -q` or `nvidia-smi -q -x` wrote.'),
    click.option('--ask-gpus', is_flag=True, help='Also ask the driver of NVIDIA (NVML with `configaudit[gpu]`, else nvidia-smi is run).'),
    click.option('--sysctl-dump', default='', metavar='FILE', help='Audit the output of `sysctl -a`, instead of this host.'),
    click.option('--fix-plan', default='', metavar='DIR', help='Write the fixes there as files to review, with a script that applies and undoes them. The host is not changed.'),
    click.option('-f', '--format', 'form', type=click.Choice((*REPORTERS, 'npd')), default='text', show_default=True, help='How the report looks.'),
    click.option('--fail-on', type=click.Choice(['error', 'warning', 'advice', 'never']), default='warning', show_default=True, help='The least severity that makes the exit status 1.'),
    click.option('--strict', is_flag=True, help='A rule for errors or warnings that could not be assessed counts like a finding.'),
    click.option('--color', type=click.Choice(['auto', 'always', 'never']), default='auto', show_default=True),
    click.option('--watch', default='', metavar='INTERVAL', help='Run as an agent: audit again after each INTERVAL (`10m`), one line of JSON for each run.'),
    click.option('--listen', default='', metavar='[ADDRESS:]PORT', help='With --watch: serve metrics for Prometheus. A port alone is served on 127.0.0.1.'),
    click.option('--textfile', default='', metavar='FILE', help='With --watch: write the metrics to a .prom file of node_exporter.'),
    click.option('--publish', multiple=True, type=click.Choice(('openreports', 'policyreport')), help='With --watch: apply a report object to the cluster. Repeatable.'),
    click.option('--quiet', is_flag=True, help='With --watch: nothing on standard output.'),
    click.option('-v', '--verbose', is_flag=True, help='Also what was not assessed, and why.'),
)


@click.command(short_help='Audit a host: live values and the files that set them.')
@options(_OWN, JUDGING)
def command(**given: Any) -> int:
    """Audit this host: what /proc and /sys show, and the files that set it up (sysctl.d, units, udev rules, runtimes, kubelet).

    Nothing is changed and nothing is started. What is read can be saved and audited elsewhere. Secrets and environments of
    processes are never read into it.
    """
    config = config_of({**given, 'exclude': (), 'values': (), 'stdin_filename': '<stdin>', 'no_gate': False, 'jobs': 0})
    _refuse(given)
    if given['watch']:
        return _watch(given, config)
    snapshot = _snapshot(given)
    if given['save']:
        save(snapshot, given['save'])
    result = audit_node(snapshot, config)
    _say_unread(snapshot)
    if given['fix_plan']:
        written = write(plan(result.findings), given['fix_plan'], result.findings, snapshot.files)
        say(f'{given["fix_plan"]}: {", ".join(written)}')
    if given['form'] == 'npd':
        from configaudit.outcomes import outcomes
        from configaudit.report.npd import npd

        code, line = npd(outcomes(result), given['fail_on'])
        emit(line + '\n')
        return code
    emit(_rendered(result, snapshot, given))
    if not snapshot.files:
        say('nothing of a host was found there: the root of a captured tree has folders such as proc, sys and etc')
        return NOTHING
    return status(result, (), Limits(given['fail_on'], given['strict']))


def _refuse(given: dict[str, Any]) -> None:
    """UsageError for options that would do nothing."""
    names = ('save', 'fix_plan') if given['watch'] else ('listen', 'textfile', 'publish', 'quiet')
    unused = [f'--{name.replace("_", "-")}' for name in names if given[name]]
    if given['watch'] and given['form'] not in ('text', 'json'):
        unused.append(f'--format {given["form"]}')
    if unused:
        raise UsageError(f'{" and ".join(unused)}: {"not with --watch" if given["watch"] else "only with --watch"}')
    if given['publish'] and find_spec('kubernetes') is None:
        raise UsageError("--publish needs the extra: pip install 'configaudit[cluster]'")


def _say_unread(snapshot: Snapshot) -> None:
    """Files that are there and could not be read: what stands in them is not assessed."""
    lost = [f'{path}: {reason}' for path, reason in sorted(snapshot.unread.items()) if not path.startswith('/proc/sys/')]
    if lost:
        say(f'not read: {lost[0]}' + (f', and {len(lost) - 1} more (-v names them)' if len(lost) > 1 else ''))


def _rendered(result: Result, snapshot: Snapshot, given: dict[str, Any]) -> str:
    if given['form'] == 'json':
        from configaudit.report.escape import json_text
        from configaudit.report.node_document import node_document

        return json_text(node_document(result, snapshot))
    return render(given['form'], result, Options(color=is_colored(given['color']), width=width(), verbose=given['verbose']))


def _watch(given: dict[str, Any], config: Config) -> int:
    """Run as an agent. The process ends here: no thread is waited for."""
    from configaudit.agent import Agent, Targets, end

    interval = seconds(given['watch'])
    if not interval or interval < 1:
        raise UsageError(f'--watch: {given["watch"]!r} is not a duration of a second or more, such as 10m')

    def audit() -> tuple[Snapshot, Result]:
        snapshot = _snapshot(given)
        return snapshot, audit_node(snapshot, config)

    def tell(message: str) -> None:
        with suppress(OSError):  # nobody reads standard error any more
            say(message)

    targets = Targets(given['listen'], given['textfile'], given['publish'], given['quiet'])
    end(Agent(audit, interval, targets, emit, tell).run())
    return 0


def _snapshot(given: dict[str, Any]) -> Snapshot:
    """What is audited: this host unless an option names something else."""
    readers = {'snapshot': load, 'sysroot': load_sysroot, 'sysctl_dump': load_sysctl_dump}
    named = [name for name in readers if given[name]]
    if len(named) > 1:
        raise UsageError('--snapshot, --sysroot and --sysctl-dump exclude one another')
    snapshot = readers[named[0]](given[named[0]]) if named else read_host(static_root=given['static_root'])
    return _with_gpus(snapshot, given, bool(named))


def _with_gpus(snapshot: Snapshot, given: dict[str, Any], captured: bool) -> Snapshot:
    """The snapshot with what the driver of the GPUs says, where it was asked for."""
    if not given['nvidia_smi'] and not given['ask_gpus']:
        return snapshot
    if given['ask_gpus'] and (captured or given['nvidia_smi']):
        raise UsageError('--ask-gpus asks the driver of this host: not with --nvidia-smi, --snapshot, --sysroot or --sysctl-dump')
    from configaudit.host.nvidia import PATH, ask_driver, read_report

    text = read_report(given['nvidia_smi']) if given['nvidia_smi'] else ask_driver()
    return Snapshot({**snapshot.files, PATH: text}, links=snapshot.links, unread=snapshot.unread, facts=snapshot.facts)
