"""Every key of configaudit.yaml, in one table: what is accepted, what the reference says, what the JSON Schema holds."""

from typing import NamedTuple

TITLE = 'configaudit.yaml'
SELECTOR = 'Rule ids, globs (`vllm-*`), subjects (`vllm`), checklist tags (`july-1`, `july`) or severities.'


class Shape(NamedTuple):
    """What a value may be.

    `kind`: text, number, boolean, date, duration (seconds or '30s'), any; texts (one or a list), choice
    (of `choices`), map (of `keys`), table (free names to `of`), list (of `of`), either (text or a map/table `of`).
    """

    kind: str
    choices: tuple[str, ...] = ()
    keys: tuple['Key', ...] = ()
    of: 'Shape | None' = None


class Key(NamedTuple):
    """One key of a map."""

    name: str
    shape: Shape
    doc: str
    required: bool = False


TEXT = Shape('text')
TEXTS = Shape('texts')
NUMBER = Shape('number')
BOOLEAN = Shape('boolean')
DURATION = Shape('duration')
DATE = Shape('date')
LEVEL = Shape('choice', ('error', 'warning', 'advice', 'off'))
SEVERITY_TABLE = Shape('table', of=LEVEL)
VERSIONS = Shape('either', of=Shape('table', of=TEXT))
OPTIONS_TABLE = Shape('table', of=Shape('table', of=Shape('any')))

SERVICE = Shape('map', keys=(
    Key('longest_generation_s', DURATION, 'How long the longest answer takes to generate, in seconds or as `90s`: grace periods and timeouts are judged by it.'),
    Key('max_ttft_s', DURATION, 'The time to first token that the service promises.'),
    Key('target_rps', NUMBER, 'Requests a second that the service must carry.'),
))  # fmt: skip

OVERRIDE = Shape('map', keys=(
    Key('paths', TEXTS, 'Files and folders it holds for, as .gitignore patterns relative to this file.'),
    Key('objects', TEXTS, 'Objects it holds for: globs over `Kind/namespace/name`, or a bare name.'),
    Key('select', TEXTS, 'The only rules to run there.'),
    Key('ignore', TEXTS, 'Rules not to run there.'),
    Key('severity', SEVERITY_TABLE, 'Other severities there.'),
    Key('rules', OPTIONS_TABLE, 'Other rule options there.'),
    Key('engine_version', VERSIONS, 'The engine version there, where image tags do not say.'),
    Key('gpu', TEXT, 'The GPU product there, where no file names it.'),
    Key('reason', TEXT, 'Why.'),
    Key('expires', DATE, 'The first day on which the override no longer holds.'),
))  # fmt: skip

IGNORED = Shape('map', keys=(
    Key('rule', TEXTS, 'The rules whose findings are ignored. ' + SELECTOR, True),
    Key('path', TEXTS, 'Only in these files, as .gitignore patterns relative to this file.'),
    Key('object', TEXTS, 'Only on these objects: globs over `Kind/namespace/name`, or a bare name.'),
    Key('reason', TEXT, 'Why the finding is accepted.', True),
    Key('expires', DATE, 'The first day on which the finding is reported again.'),
))  # fmt: skip

LINK = Shape('map', keys=(
    Key('client', TEXT, 'Name or identity of the component that connects.', True),
    Key('server', TEXT, 'Name or identity of the component it connects to.', True),
))  # fmt: skip

DECLARED = Shape('map', keys=(
    Key('name', TEXT, 'What findings and `links` call it.', True),
    Key('hosts', TEXTS, 'Host names under which it is reached; its name is one too.'),
    Key('product', Shape('choice', ('postgres', 'mysql')), 'What it speaks; `postgres` when it is left out.'),
    Key('max_connections', NUMBER, 'Connections that it accepts: of a managed database, what its parameter group or memory comes to.'),
    Key('reserved', NUMBER, 'Of these, what is kept from applications: superuser_reserved_connections + reserved_connections. 3 for `postgres` when it is left out.'),
    Key('idle_timeout_s', DURATION, 'How long it, or a load balancer in front of it, keeps a connection without a query: 1800 for RDS Proxy, 350 behind an NLB.'),
    Key('pool_mode', Shape('choice', ('session', 'transaction', 'statement')), 'It is a pooler (PgBouncer, RDS Proxy) that works in this mode.'),
))  # fmt: skip

ROOT = Shape('map', keys=(
    Key('required-version', TEXT, 'The configaudit versions this file is written for: `>=0.1,<1`.'),
    Key('select', TEXTS, 'The only rules to run. ' + SELECTOR),
    Key('ignore', TEXTS, 'Rules not to run. ' + SELECTOR),
    Key('severity', SEVERITY_TABLE, 'Severity by rule: error, warning, advice or off.'),
    Key('rules', OPTIONS_TABLE, 'Options by rule id; `configaudit explain RULE` lists them.'),
    Key('exclude', TEXTS, 'Files and folders that are not read, as .gitignore patterns relative to this file.'),
    Key('overrides', Shape('list', of=OVERRIDE), 'Other choices for some paths or objects; later entries win.'),
    Key('ignores', Shape('list', of=IGNORED), 'Findings that are accepted, with the reason and how long.'),
    Key('service', SERVICE, 'Numbers of the service that no file shows.'),
    Key('engine_version', VERSIONS, 'The engine version where image tags do not say: one for all, or by engine.'),
    Key('gpu', TEXT, 'The GPU product where no file names it: `H100`, `A100-80G`.'),
    Key('links', Shape('list', of=LINK), 'Who connects to whom, where the files do not show it.'),
    Key('databases', Shape('list', of=DECLARED), 'Database servers and poolers that no file shows, such as managed ones.'),
    Key('complete', BOOLEAN, 'The files are the whole application: what is not among them does not exist.'),
    Key('profile', Shape('choice', ('latency', 'throughput', 'dev')), 'What the service is tuned for.'),
    Key('values', TEXTS, 'Chart values files that resolve `.Values`, relative to this file.'),
    Key('plugins', TEXTS, 'Installed packages with rules: names of entry points of group `configaudit.rules`.'),
    Key('rule-files', TEXTS, 'Python files or folders with rules. Only in a file that --config names: a checkout cannot make you run its code.'),
    Key('fail-on', Shape('choice', ('error', 'warning', 'advice', 'never')), 'The least severity that makes the exit status 1.'),
    Key('min-confidence', Shape('choice', ('high', 'medium', 'low')), 'Findings of lower confidence are not shown.'),
    Key('baseline', TEXT, 'A baseline file, relative to this file.'),
))  # fmt: skip

_PLAIN: dict[str, dict[str, object]] = {
    'text': {'type': 'string'},
    'number': {'type': 'number', 'exclusiveMinimum': 0},
    'boolean': {'type': 'boolean'},
    'duration': {'type': ['number', 'string'], 'pattern': r'^(\d+(\.\d+)?(ms|s|m|h|d))+$', 'exclusiveMinimum': 0},
    'date': {'type': 'string', 'format': 'date', 'pattern': r'^\d{4}-\d{2}-\d{2}$'},
    'any': {},
}


def json_schema() -> dict[str, object]:
    """The JSON Schema of the configuration, for editors."""
    return {'$schema': 'https://json-schema.org/draft/2020-12/schema', 'title': TITLE, **_schema(ROOT)}


def _schema(shape: Shape) -> dict[str, object]:
    if shape.kind in _PLAIN:
        return dict(_PLAIN[shape.kind])
    if shape.kind == 'texts':
        return {'anyOf': [{'type': 'string'}, {'type': 'array', 'items': {'type': 'string'}}]}
    if shape.kind == 'choice':
        return {'enum': list(shape.choices)}
    if shape.kind == 'map':
        properties = {key.name: {'description': key.doc, **_schema(key.shape)} for key in shape.keys}
        required = [key.name for key in shape.keys if key.required]
        return {
            'type': 'object', 'properties': properties, 'additionalProperties': False,
            **({'required': required} if required else {}),
        }  # fmt: skip
    assert shape.of is not None
    inner = _schema(shape.of)
    if shape.kind == 'table':
        return {'type': 'object', 'additionalProperties': inner}
    if shape.kind == 'list':
        return {'type': 'array', 'items': inner}
    return {'anyOf': [{'type': 'string'}, inner]}
