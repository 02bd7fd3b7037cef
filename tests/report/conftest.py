"""One fixed result over three files, and a hostile one: what every reporter is tested on."""

from collections.abc import Callable, Iterator

import pytest

from configaudit.findings import Error, Finding, NotAssessed, Skipped, Suppressed
from configaudit.model import Change, Component, Fix, Kind, Problem, Rule, Setting, SettingSpec, Slot, rule
from configaudit.places import Document, Place
from configaudit.registry import Registry
from configaudit.result import Result

CHAT = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: chat
spec:
  template:
    spec:
      terminationGracePeriodSeconds: 30
      containers:
        - name: vllm
          args: ["--model=大模型/チャット", "--api-key", "hunter2", "--max-num-seqs=512"]
          env:
            - name: DB_PASSWORD
              value: s3cr3t-pa55
"""
NGINX = 'http {\n\tupstream chat { server chat:8000; }\n\tproxy_read_timeout\t60s;\t# too short\n}\n'
WIDE = 'args: ' + ' '.join(f'--flag-{number}=value' for number in range(30)) + ' --gpu-memory-utilization=0.99 --tail\n'

ENGINE = Kind('vllm', ('engine',), {'max_num_seqs': SettingSpec('sequences', 256), 'grace': SettingSpec('s'), 'password': SettingSpec()})
ROUTE = Kind('route', (), {'read_timeout': SettingSpec('s', 60)})


@rule(
    'grace-shorter-than-answer', on='vllm', severity='error', source='Kubernetes documentation, termination of pods',
    checklist='july-4', effect='answers longer than the grace period are cut off at every rollout',
)  # fmt: skip
def too_short(engine: Component, *, margin_s: int = 10) -> Iterator[Problem]:
    """A pod is killed while it still answers.

    The grace period has to cover the longest answer
    and the time until the endpoint is gone.

    Evidence: {braces}, [brackets](https://example.org) and `code`.
    """
    yield from ()


@rule(
    'read-timeout-short', on='route', severity='warning', source='nginx documentation, proxy_read_timeout', confidence='medium',
    side_effect='a hung upstream is noticed later',
)  # fmt: skip
def short(route: Component) -> Iterator[Problem]:
    """A proxy gives up before the engine has answered."""
    yield from ()


@rule('batch-wide', on='vllm', severity='advice', source='July tuning checklist, change 1', effect='P99 -35 %', side_effect='throughput -15 %')
def wide(engine: Component, *, limit: int = 128) -> Iterator[Problem]:
    """A wide batch makes sequences compete."""
    yield from ()


def place(document: Document, text: str) -> Place:
    """Where a text stands in a document."""
    start = document.text.index(text)
    return Place(document, start, start + len(text))


def finding(of: Rule, component: Component, at: Place, message: str, **more: object) -> Finding:
    """A finding with what a test does not care about filled in."""
    base = Finding(of, of.severity, of.confidence, message, {}, component, at, (), None, '', 'f0' * 16)
    return base._replace(**more)  # type: ignore[arg-type]


def result_of(*findings: Finding, **more: object) -> Result:
    """A result that holds nothing else."""
    rules = Registry(tuple({item.rule.id: item.rule for item in findings}.values()))
    base = Result(findings, (), (), (), (), tuple({item.component for item in findings}), {}, {}, 1, rules)
    return base._replace(**more)  # type: ignore[arg-type]


@pytest.fixture
def sample() -> Result:
    """Findings of every severity with every kind of fix, and one of everything else."""
    chat = Document('deploy/chat.yaml', 'yaml', CHAT.encode())
    nginx = Document('nginx/nginx.conf', 'nginx', NGINX.encode())
    long = Document('deploy/args.yaml', 'yaml', WIDE.encode())
    password = Setting('password', 's3cr3t-pa55', place(chat, 's3cr3t-pa55'), secret=True)
    engine = Component(ENGINE, 'vllm', 'Deployment/default/chat/containers/vllm', place(chat, 'vllm'), {'password': password}, version='0.10.2', version_from='image tag v0.10.2')
    engine.note = 'newer than the data (0.9.0)'
    route = Component(ROUTE, 'chat', 'nginx/http/chat', place(nginx, 'upstream'), {})
    grace = place(chat, '30')
    safe = Fix((Change(Slot('yaml_edit', grace), 90, 'terminationGracePeriodSeconds'),), (), True)
    refused = Fix((Change(None, 300, 'proxy_read_timeout', 'shared by 3 services'),), ('nginx -s reload',), False)
    unsafe = Fix((Change(Slot('yaml_edit', grace), 60, 'grace'),), (), False, 'halve the batch')
    reads = place(nginx, '60s')
    return Result(
        findings=(
            finding(wide, engine, place(long, '--gpu-memory-utilization=0.99'), '0.99 of the memory leaves nothing', fix=unsafe, fingerprint='04' * 16),
            finding(
                too_short, engine, grace, '30 s of grace, and the longest answer takes 60 s', fix=safe, fingerprint='01' * 16,
                values={'value': 30, 'longest': 60.0, 'limit': float('inf')}, related=(('the proxy waits as long', reads),),
            ),
            finding(wide, engine, place(chat, '512'), '512 sequences a batch, over 128', setting='max_num_seqs', fingerprint='02' * 16),
            finding(short, engine, place(chat, 's3cr3t-pa55'), 'the password s is weak', setting='password', fingerprint='05' * 16),
            finding(
                short, route, reads, '60 s is below the 120 s of the longest answer', fix=refused, fingerprint='03' * 16,
                related=tuple((f'also for route {number}', reads) for number in range(5)),
            ),
        ),
        not_assessed=(
            NotAssessed(wide, engine, 'gpu: the files do not show which GPU it runs on'),
            NotAssessed(wide, route, 'gpu: the files do not show which GPU it runs on'),
            NotAssessed(too_short, engine, 'longest answer: not declared under `service:`'),
        ),
        suppressed=(Suppressed(finding(wide, engine, place(chat, '512'), '512 is wide', fingerprint='06' * 16), 'measured, DB-17', 'comment'),),
        skipped=(Skipped('deploy/crd.yaml', 'no kind that is read'),),
        errors=(Error('deploy/broken.yaml', 3, 7, 'syntax', 'a mapping key is missing'),),
        components=(engine, route),
        passed={'batch-wide': 1},
        not_applicable={'read-timeout-short': 2},
        files=5,
        registry=Registry((too_short, short, wide)),
    )  # fmt: skip


HOSTILE = '\x1b]0;owned\x07\x9b31m\u202egnp.exe\u2066\r\n::error::forged\n##[set-env name=X]<script>alert(1)</script> `x` [a](javascript:b) | @admins {0} %0A, ]]> & "q" \ud800\x00\ufffe'


@pytest.fixture
def hostile() -> Result:
    """Every text that a file can bring in is hostile: path, names, message, values, reasons, source line, fix."""
    name = f'a{HOSTILE}.yaml'
    document = Document(name, 'yaml', f'name: {HOSTILE.splitlines()[0]} 512\n'.encode('utf-8', 'surrogatepass'))
    at = Place(document, 6, 12)
    component = Component(ENGINE, HOSTILE, f'Deployment/{HOSTILE}', at, {}, version_from=HOSTILE)
    component.note = HOSTILE
    fix = Fix((), (HOSTILE,), False, HOSTILE)
    found = finding(too_short, component, at, HOSTILE, values={'value': HOSTILE}, related=((HOSTILE, at),), fix=fix)
    return result_of(
        found,
        not_assessed=(NotAssessed(wide, component, HOSTILE),),
        suppressed=(Suppressed(found, HOSTILE, 'comment'),),
        skipped=(Skipped(name, HOSTILE),),
        errors=(Error(name, 1, 1, HOSTILE, HOSTILE),),
    )


@pytest.fixture
def one() -> Callable[..., Result]:
    """A result with one finding on a text: one(source, span, message)."""

    def make(source: str, span: str, message: str = 'wrong', path: str = 'a.yaml', **more: object) -> Result:
        document = Document(path, 'yaml', source.encode('utf-8', 'surrogatepass'))
        at = place(document, span)
        component = Component(ENGINE, 'x', 'Deployment/default/x', at, {})
        return result_of(finding(too_short, component, at, message, **more))

    return make
