"""Rules for the metric names in alerts, dashboards, autoscalers and adapters: whether the engine exports them at its release."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from configaudit.knowledge.metric_kinds import RENAMED, MetricUse
from configaudit.knowledge.metrics import Answer, ask, engine_of
from configaudit.knowledge.versions import Version
from configaudit.model import Change, Component, Fix, NotApplicable, Problem, Rule, Severity, Slot, Unknown, rule

from .releases import PRODUCTS, release

_SOURCE = 'the metrics that each published release registers: vLLM v1/metrics/loggers.py and engine/metrics.py, SGLang srt metrics collectors'
_OUTCOME = {
    'alert': 'the alert sees no data', 'recording rule': 'the rule records nothing', 'dashboard': 'the panel stays empty',
    'autoscaler': 'nothing is scaled by it', 'adapter': 'no autoscaler gets it', 'scheduler': 'the scheduler never sees it',
}  # fmt: skip
_ACTS = ('alert', 'autoscaler', 'adapter', 'scheduler')
_SHOWN = 5
_SHOW_HIDDEN = '--show-hidden-metrics-for-version'


class _Asked(NamedTuple):
    """One metric as all engines in sight answer for it."""

    name: str
    uses: tuple[MetricUse, ...]
    answers: tuple[tuple[Component | None, Answer], ...]
    """One for each engine, of the first use; None stands for no engine seen."""
    stated: Version | None = None
    """The version that the run's option gives, where no engine is seen."""

    @property
    def engine(self) -> str:
        return engine_of(self.uses[0].name)

    @property
    def version(self) -> Version | None:
        first = self.answers[0][0]
        return first.version if first is not None else self.stated


def _asked(queries: Component) -> Iterator[_Asked]:
    """Every engine's metric that an object asks for, once for all its series, without names that rules of the run make."""
    made = queries['known_elsewhere'].value
    found: dict[str, list[MetricUse]] = {}
    for use in queries['uses'].value:
        if use.name not in made:
            found.setdefault(ask(use.name, None).metric or use.name, []).append(use)
    for metric, uses in found.items():
        name, engine = uses[0].name, engine_of(uses[0].name)
        seen = tuple((peer, _answer(peer, name)) for peer in queries.peers(engine)) if engine else ()
        stated = queries['stated'].value.get(engine)
        yield _Asked(metric, tuple(uses), seen or ((None, ask(name, stated)),), None if seen else stated)


def _answer(engine: Component, name: str) -> Answer:
    answer = ask(name, engine.version)
    shown = answer.state == 'hidden' and any(option.name == _SHOW_HIDDEN for option in engine['options'].value)
    return Answer('known') if shown else answer


def _needed(asked: _Asked) -> tuple[MetricUse, ...]:
    """The uses that nothing else in the query or the panel makes up for."""
    return tuple(use for use in asked.uses if not _served(use, asked.version))


def _served(use: MetricUse, version: Version | None) -> bool:
    others = any(ask(name, version).state in ('known', 'open') for name in use.alternatives)
    return others or ask(use.name, version).use in use.beside


def _severity(uses: tuple[MetricUse, ...], sure: bool) -> Severity | None:
    """An error where somebody acts on the metric and it is certainly not there; advice for a dashboard where that is not certain."""
    if any(use.role in _ACTS for use in uses):
        return None if sure else 'warning'
    return 'warning' if sure or any(use.role != 'dashboard' for use in uses) else 'advice'


def _fix(asked: _Asked, uses: tuple[MetricUse, ...]) -> Fix | None:
    """The new name in every place, when all engines in sight have one for each."""
    new = [ask(use.name, asked.version).use for use in uses]
    engines = [engine.version if engine is not None else asked.stated for engine, _ in asked.answers]
    if not all(name and ask(name, version).state == 'known' for name in new for version in engines):
        return None
    return Fix(tuple(Change(Slot('argument', use.place), name, use.name, use.locked) for use, name in zip(uses, new, strict=True)))


def _problem(asked: _Asked, uses: tuple[MetricUse, ...], template: str, severity: Severity | None, fix: Fix | None, **values: Any) -> Problem:
    """The problem at the first use, with the others and the engines beside it, one of each release."""
    answer, new = asked.answers[0][1], ask(asked.name, asked.version).use or asked.answers[0][1].use
    advice = f'; use {new}' if new else f'; {answer.hint}' if answer.hint else ''
    places = [('also here', use.place) for use in uses[1:]]
    engines = {release(engine): engine.place for engine, _ in asked.answers if engine is not None}
    return Problem(
        uses[0].place, template + '{advice}', name=asked.name, outcome=_OUTCOME[uses[0].role], advice=advice, severity=severity,
        see=[*places, *list(engines.items())[:_SHOWN]], fix=fix, detail=asked.name, **values,
    )  # fmt: skip


def _absent(asked: _Asked, states: tuple[str, ...], word: Callable[[Answer], str]) -> Problem | None:
    """A metric that exists in other releases only, judged by the engines in sight."""
    wrong = [pair for pair in asked.answers if pair[1].state in states]
    right = [pair for pair in asked.answers if pair[1].state not in states]
    asked = asked._replace(answers=(*wrong, *right))
    uses = _needed(asked)
    if not wrong or not uses:
        return None
    (engine, answer), product = wrong[0], PRODUCTS[asked.engine]
    if asked.version is None:
        if answer.state != 'removed':
            return None
        since = f'gone since {product} {answer.between[1]}' if answer.between[1] else f'an earlier name in {product}'
        return _problem(asked, uses, '{name} is {since}: {outcome} from there on', 'advice', None, since=since)
    where = release(engine) if engine is not None else f'{product} {asked.version} (as given)'
    if right:
        return _problem(asked, uses, '{name} does not exist in {engine}, one of the releases here: {since}', 'advice', None, engine=where, since=word(answer))
    unseen = any(one is not None and one.partial and given.state == 'hidden' for one, given in wrong)
    severity = _severity(uses, not unseen and all(given.exact for _, given in wrong))
    return _problem(asked, uses, '{name} does not exist in {engine}: {since}, so {outcome}', severity, _fix(asked, uses), engine=where, since=word(answer))


def _gone(answer: Answer) -> str:
    first = answer.between[1]
    if answer.state == 'hidden':
        return f'hidden since {first} unless {_SHOW_HIDDEN} asks for it'
    return f'gone in {first}' if first else 'an earlier name'


def _removed(asked: _Asked) -> Problem | None:
    return _absent(asked, ('removed', 'hidden'), _gone)


def _too_new(asked: _Asked) -> Problem | None:
    return _absent(asked, ('too-new',), lambda answer: f'it first appears in {answer.between[1]}')


def _unknown(asked: _Asked) -> Problem | None:
    state, uses = asked.answers[0][1].state, _needed(asked)
    if state not in ('unknown', 'series') or not uses:
        return None
    why = 'no series has this very name' if state == 'series' else 'no release exports it'
    return _problem(asked, uses, '{name}: {why}, so {outcome}', _severity(uses, False), _fix(asked, uses), why=why)


def _underscored(asked: _Asked) -> Problem | None:
    uses = _needed(asked)
    if asked.answers[0][1].state != 'underscored' or not uses:
        return None
    return _problem(asked, uses, '{name} exists only where something renames it, and nothing among these files does: else {outcome}', _severity(uses, False), None)


ROWS: tuple[tuple[str, Severity, Callable[[_Asked], Problem | None], str], ...] = (
    ('metric-removed', 'error', _removed, 'The engine no longer exports this metric: the alert is silent, the autoscaler stands still, the panel is empty.'),
    ('metric-too-new', 'error', _too_new, 'Only later releases of the engine export this metric: until then the query finds nothing.'),
    ('metric-unknown', 'warning', _unknown, 'No release of the engine exports a series of this name: the query finds nothing, and says so to nobody.'),
    ('metric-underscored', 'warning', _underscored, 'The engine writes this name with a colon; with an underscore it exists only behind Ray, a relabelling or a recording rule.'),
)


def _make(row: tuple[str, Severity, Callable[[_Asked], Problem | None], str]) -> Rule:
    name, severity, judge_one, doc = row

    def judge(queries: Component) -> Iterator[Problem]:
        if not queries['uses'].value and not queries['unread'].value:
            raise NotApplicable('it names no metric of an engine')
        unlisted = []
        renamed = judge_one is _underscored and RENAMED in queries['known_elsewhere'].value
        for asked in _asked(queries):
            if renamed and asked.answers[0][1].state == 'underscored':
                raise Unknown('a relabelling among these files gives metrics other names')
            problem = judge_one(asked)
            if problem is not None:
                yield problem
            elif judge_one is _unknown and asked.answers[0][1].state == 'open':
                unlisted.append(asked.name)
        if unlisted:
            raise Unknown(f'no list here has {", ".join(unlisted[:_SHOWN])}: a router, a plugin or a recording rule may export that')
        for query in queries['unread'].value:
            raise Unknown(f'a query in it was not read: {query.reason}')

    judge.__doc__ = f'{doc}\n\nJudged by the releases of the engines in the same run; a metric that an `or` or another query of the panel makes up for is left alone.'
    return rule(name, on='metric-query', severity=severity, source=_SOURCE)(judge)


METRIC_RULES = [_make(row) for row in ROWS]


@rule('metric-query-broken', on='metric-query', severity='error', source='Prometheus refuses a rule group with such an expression; promql-parser 0.12.0')
def metric_query_broken(queries: Component) -> Iterator[Problem]:
    """A query with a bracket, a brace or a string that nothing closes is refused: with it the whole rule group, or every turn of the autoscaler.

    In a dashboard the panel shows the error. What a template fills in is not judged.
    """
    for query in queries['unread'].value:
        if query.broken:
            severity: Severity | None = None if query.role in _ACTS or query.role == 'recording rule' else 'warning'
            yield Problem(query.place, 'this is no PromQL: {reason}', reason=query.reason, severity=severity, detail=query.place.text)


_SOURCE_OFF = {
    'sglang': ('enable_metrics', False, 'without --enable-metrics SGLang has no /metrics'),
    'vllm': ('disable_log_stats', True, 'with --disable-log-stats vLLM exports no numbers of its own'),
}


@rule('metric-source-off', on='metric-query', severity='error', source='sglang srt/server_args.py enable_metrics; vllm engine/arg_utils.py disable_log_stats')
def metric_source_off(queries: Component) -> Iterator[Problem]:
    """Metrics are asked of an engine that is started without them: the alert is silent, the autoscaler stands still."""
    for kind, (name, off, why) in _SOURCE_OFF.items():
        uses = tuple(use for use in queries['uses'].value if engine_of(use.name) == kind)
        engines = queries.peers(kind)
        if not uses or not engines or any(engine[name].value != off for engine in engines):
            continue
        severity = _severity(uses, queries['target_name'].is_set)
        see = [('the engine', engine[name]) for engine in engines[:_SHOWN]]
        message = '{engine} exports nothing: {why}, so {outcome}'
        yield Problem(uses[0].place, message, engine=engines[0].identity, why=why, outcome=_OUTCOME[uses[0].role], severity=severity, see=see, detail=kind)
