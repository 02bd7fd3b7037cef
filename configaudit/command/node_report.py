"""`configaudit node-report FILE...`: the reports of many nodes as one."""

import click

from configaudit.command.streams import emit
from configaudit.command.verdict import CLEAN, FINDINGS
from configaudit.errors import UsageError
from configaudit.fleet import aggregate, node_report, read_reports
from configaudit.report.fleet import FORMATS, render


@click.command(short_help='Aggregate the reports of many nodes: rules, groups, outliers.')
@click.argument('files', nargs=-1, metavar='[FILE]...')
@click.option('--cluster', type=click.Choice(('openreports', 'policyreport')), help='Read the report objects of the cluster instead of files.')
@click.option('--group', default='', metavar='REGEX', help='What makes a group in a node\'s name: `^(.*)-[^-]+$`. [default: nodes of the same size]')
@click.option('-f', '--format', 'form', type=click.Choice(FORMATS), default='text', show_default=True)
def command(files: tuple[str, ...], cluster: str | None, group: str, form: str) -> int:
    """Aggregate reports of `configaudit node -f json` (one a file, or the agent's lines) into one view of the fleet.

    Which rules fail on how many nodes, and which nodes differ from the others of their group: "3 of 200 differ in vm.swappiness".

    Exit status: 0 no node has an error or a warning, 1 one has.
    """
    if bool(files) == bool(cluster):
        raise UsageError('either FILE or --cluster')
    if cluster:
        from configaudit.fleet import group_pattern
        from configaudit.publish.cluster_reports import list_reports

        reports = [node_report(held, group_pattern(group), '--cluster') for held in list_reports(cluster)]
    else:
        reports = read_reports(files, group)
    fleet = aggregate(reports)
    emit(render(form, fleet))
    return FINDINGS if any(bad for _, _, bad in fleet.groups) else CLEAN
