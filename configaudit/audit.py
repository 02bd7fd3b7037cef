"""The pipeline, to be read from top to bottom: discover, parse, extract, link, judge, suppress."""

import gc
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING

from configaudit import engine, registry
from configaudit.config import Config
from configaudit.config_check import check_rules
from configaudit.extract import finish
from configaudit.findings import Finding, Skipped, Suppressed
from configaudit.intake import Intake, read_files
from configaudit.link import link
from configaudit.model import Component
from configaudit.places import locate
from configaudit.result import Result

if TYPE_CHECKING:
    from configaudit.host.snapshot import Snapshot
    from configaudit.link_tuned import Tuning


def audit(paths: Sequence[str], config: Config) -> Result:
    """Audit files, folders and standard input."""
    collecting = gc.isenabled()
    gc.freeze()
    gc.disable()  # a run makes millions of small values and frees them by count; scanning for cycles doubles its time
    try:
        return judge(read_files(paths, config), (), config)
    finally:
        if collecting:
            gc.enable()


def audit_node(snapshot: 'Snapshot', config: Config) -> Result:
    """Audit a host: what is live there, and the files that set it up."""
    from configaudit.extract.node import live_components
    from configaudit.intake import read_texts

    static = {path: text.encode('utf-8', 'surrogatepass') for path, text in snapshot.files.items() if not path.startswith(('/proc/', '/sys/', '/configaudit/'))}
    intake = read_texts(static, config)
    intake.skipped.extend(Skipped(path, reason) for path, reason in snapshot.unread.items() if not path.startswith(('/proc/', '/sys/')))
    masks = [path for path, target in snapshot.links.items() if target == '/dev/null']
    return judge(intake, live_components(snapshot, intake.reading.components), config, masks)


def judge(intake: Intake, live: Iterable[Component], config: Config, masks: Collection[str] = ()) -> Result:
    """From what was read to what the rules say of it. `live`: components that stand in no file; `masks`: links to /dev/null."""
    components = [*finish(intake.reading, config.context, intake.texts), *live]
    if config.context.databases:
        from configaudit.link_databases import described

        components.extend(described(config.context))
    _connect(link(components, config.context), config, masks)
    met = {name for component in components for name in (component.kind.name, *component.kind.traits)}
    rules = registry.load(met, config.plugins, config.rule_files)
    check_rules(config, rules)
    outcome = engine.run(components, rules.rules, config.chooser())
    findings = outcome.findings
    suppressed: list[Suppressed] = []
    if intake.marked or config.ignored or config.expired:
        from configaudit.suppress import apply

        kept, suppressed, remarks = apply(outcome, components, config, intake.marked, rules)
        findings = [*kept, *remarks]
    if intake.rendered:
        from configaudit.rendered import lead_back

        findings = lead_back(findings, intake.rendered)
    if any(component.identity.startswith('chart values/') for component in components):
        from configaudit.charted import with_values

        findings = with_values(findings)
    return Result(
        tuple(sorted(merge(findings), key=_order)),
        tuple(sorted(outcome.not_assessed, key=lambda item: (item.rule.id, item.component.identity, item.component.place.document.path))),
        tuple(sorted(suppressed, key=lambda item: _order(item.finding))),
        tuple(sorted(item for item in set(intake.skipped) if item.path not in intake.texts.opened)), tuple(sorted(set(intake.errors))),
        tuple(sorted(components, key=_position)), outcome.passed, outcome.not_applicable, intake.files, rules, tuple(intake.beside),
    )  # fmt: skip


def _connect(by_kind: dict[str, list[Component]], config: Config, masks: Collection[str]) -> None:
    """The neighbours that only some kinds have, each by the module that knows them."""
    if by_kind.keys() & {'service', 'proxy-upstream', 'proxy-route', 'proxy-listener', 'nginx'}:
        if 'proxy-middleware' in by_kind or 'proxy-transport' in by_kind:
            from configaudit.link_traefik import link_traefik

            link_traefik(by_kind)
        from configaudit.link_proxies import link_proxies

        link_proxies(by_kind, config.context)
    if by_kind.keys() & {'pool', 'database'}:
        from configaudit.link_databases import link_databases

        link_databases(by_kind, config.context)
    if by_kind.keys() & {'grpc-client', 'grpc-server', 'http-server'}:
        from configaudit.link_code import link_code

        link_code(by_kind, config.context)
    if by_kind.keys() & {'http-client', 'http-server', 'proxy-route'}:
        from configaudit.link_chains import link_chains

        link_chains(by_kind, config.context)
    tuned: dict[str, Tuning] = {}
    if 'tuned' in by_kind:
        from configaudit.link_tuned import link_tuned

        tuned = link_tuned(by_kind)
    if 'sysctl' in by_kind:
        from configaudit.link_sysctls import link_sysctls

        link_sysctls(by_kind, masks, tuned)
    if by_kind.keys() & {'io-scheduler', 'container-runtime', 'nofile-limit'}:
        from configaudit.link_host_files import link_host_files

        link_host_files(by_kind, tuned)
    if 'monitor' in by_kind:
        from configaudit.link_monitors import link_monitors

        link_monitors(by_kind, config.context)
    if 'metric-query' in by_kind:
        from configaudit.link_metrics import link_metrics

        link_metrics(by_kind, config.context)


def merge(findings: Iterable[Finding]) -> list[Finding]:
    """One finding per cause: the same rule at the same place for several components is one, the others related."""
    groups: dict[tuple[str, str, int, int, str], list[Finding]] = {}
    for finding in findings:
        place = finding.place.outermost()
        key = (finding.rule.id, place.document.path, place.document.base + place.start, place.end, finding.message)
        groups.setdefault(key, []).append(finding)
    merged = []
    for same in groups.values():
        first = min(same, key=lambda finding: finding.component.identity)
        others = [finding for finding in same if finding.component.identity != first.component.identity]
        related = (*first.related, *((f'also for {other.component.identity}', other.component.place) for other in others))
        merged.append(first._replace(related=tuple(dict.fromkeys(related))))
    return merged


def _order(finding: Finding) -> tuple[str, int, int, str, str]:
    at = locate(finding.place)
    return at.path, at.line, at.column, finding.rule.id, finding.fingerprint


def _position(component: Component) -> tuple[str, int, int, str, str]:
    """Where a component stands: files are not read in one order by several workers."""
    place = component.place.outermost()
    return place.document.path, place.document.base + place.start, place.end, component.kind.name, component.identity
