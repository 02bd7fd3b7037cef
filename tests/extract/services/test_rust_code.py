"""What Rust source sets up: tonic, sqlx, reqwest; and what is not judged. Hostile input never ends the process."""

import math
import random
import subprocess
import sys
from pathlib import Path

import pytest

from configaudit.audit import audit
from configaudit.config import Config
from configaudit.model import Component
from configaudit.result import Result

pytest.importorskip('tree_sitter_rust')
USES = 'use std::time::Duration;\nuse tonic::transport::{Channel, Endpoint, Server};\nuse sqlx::postgres::PgPoolOptions as Options;\nconst MAX: u32 = 1_0;\n'


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):  # type: ignore[no-untyped-def]
    def go(text: str, path: str = 'src/a.rs') -> Result:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(USES + text)
        monkeypatch.chdir(tmp_path)
        return audit(['.'], Config())

    return go


def one(result: Result, kind: str) -> Component:
    (found,) = (component for component in result.components if component.kind.name == kind)
    return found


def ids(result: Result) -> set[str]:
    return {finding.rule.id for finding in result.findings}


@pytest.mark.parametrize(
    'text',
    [
        'fn f() { Endpoint::from_static("http://ranker:1").http2_keep_alive_interval(Duration::from_secs(30)).keep_alive_while_idle(true).connect_lazy(); }',
        'fn f() { let e = Channel::from_static("http://ranker:1").http2_keep_alive_interval(Duration::from_millis(30_000)); let c = e.keep_alive_while_idle(true).connect_lazy(); }',
    ],
)  # fmt: skip
def test_tonic_client(run, text: str) -> None:  # type: ignore[no-untyped-def]
    client = one(run(text), 'grpc-client')
    assert (client['target'].value, client['time_s'].value, client['timeout_s'].value, client['permit_without_stream'].value) == ('http://ranker:1', 30, 20, True)


def test_keepalive_that_is_never_turned_on(run) -> None:  # type: ignore[no-untyped-def]
    assert 'grpc-keepalive-without-effect' in ids(run('fn f() { Endpoint::from_shared(url).keep_alive_timeout(Duration::from_secs(5)).connect_lazy(); }'))


def test_tonic_server(run) -> None:  # type: ignore[no-untyped-def]
    server = one(run('fn f() { Server::builder().http2_keepalive_interval(Some(Duration::from_secs(60))).max_connection_age(Duration::from_mins(10)).add_service(s); }'), 'grpc-server')
    assert (server['time_s'].value, server['max_connection_age_s'].value, server['max_ping_strikes'].value) == (60, 600, 0)


def test_sqlx(run) -> None:  # type: ignore[no-untyped-def]
    result = run('async fn f() { Options::new().max_connections(MAX * 3).acquire_timeout(Duration::from_secs(3)).max_lifetime(None).connect(&url).await?; }')
    pool = one(result, 'pool')
    assert [pool[name].value for name in ('library', 'product', 'max_open', 'wait_timeout_s', 'idle_timeout_s', 'max_lifetime_s')] == ['sqlx', 'postgres', 30, 3, 600, math.inf]
    assert ids(result) == {'db-lifetime-unbounded'}


@pytest.mark.parametrize(('url', 'host'), [('"postgres://u@pg:5432/x"', 'pg'), ('&config.url', None)])
def test_the_host_that_a_pool_connects_to(run, url: str, host: str | None) -> None:  # type: ignore[no-untyped-def]
    pool = one(run(f'async fn open() {{ let p = Options::new().max_connections(9).connect({url}).await; }}'), 'pool')
    assert pool['host'].known_value == host


def test_reqwest(run) -> None:  # type: ignore[no-untyped-def]
    made = 'fn f() { reqwest::Client::builder().timeout(Duration::from_secs(30)).build()?; }\n'
    result = run(made + 'fn g() { let s = answer.bytes_stream(); }')
    assert one(result, 'http-client')['timeout_s'].value == 30
    assert ids(result) == {'http-timeout-cuts-streams'}
    assert ids(run(made)) == set()


def test_a_client_made_for_each_request(run) -> None:  # type: ignore[no-untyped-def]
    assert 'http-client-per-request' in ids(run('async fn ask(State(app): State<App>) { reqwest::Client::new().get(u); }\nfn new() { reqwest::Client::new(); }'))


@pytest.mark.parametrize(
    'text',
    [
        '#[cfg(test)]\nmod tests { fn f() { Endpoint::from_static("http://a:1"); } }', '#[tokio::test]\nasync fn f() { Endpoint::from_static("http://a:1"); }',
        'fn f() { Endpoint::from_static("http://localhost:1"); }', 'fn f() { other::Endpoint::from_static("http://a:1"); }', '// Endpoint::from_static("http://a:1")',
        'fn f() { Endpoint::from_static("http://a:1" 5); }',
    ],
)  # fmt: skip
def test_what_is_not_judged(run, text: str) -> None:  # type: ignore[no-untyped-def]
    assert not [component for component in run(text).components if component.kind.name == 'grpc-client']


@pytest.mark.parametrize('path', ['tests/a.rs', 'benches/a.rs', 'examples/a.rs', 'build.rs'])
def test_files_that_are_no_part_of_a_service(run, path: str) -> None:  # type: ignore[no-untyped-def]
    assert run('fn f() { Options::new().max_connections(1); }', path).components == ()


def test_what_only_running_tells_is_not_known(run) -> None:  # type: ignore[no-untyped-def]
    pool = one(run('fn f(c: Config) { Options::new().max_connections(c.most).connect_lazy(&u); }'), 'pool')
    assert not pool['max_open'].is_known


_FUZZ = """
import random, sys
from configaudit.extract.services.rust_code import read
from configaudit.places import Document
random.seed(int(sys.argv[1]))
seed = sys.stdin.buffer.read()
tokens = [b'(', b')', b'{', b'}', b'[', b']', b'::', b'<', b'>', b'"', b"'", b'|', b'?', b'=', b',', b';', b'//', b'/*', b'\\x00', b'\\xff', b'.', b'use ', b'fn ', b'#[test]', b'Some(', b'r#"']
for number in range(int(sys.argv[2])):
    data = bytearray(seed)
    for _ in range(random.randint(1, 12)):
        at = random.randrange(len(data))
        choice = random.random()
        if choice < 0.4:
            data[at:at + random.randint(0, 30)] = b''
        elif choice < 0.8:
            data[at:at] = random.choice(tokens) * random.choice((1, 1, 1, 40))
        else:
            cut = random.randrange(len(data))
            data[at:at] = data[cut:cut + 200]
    read(Document('a.rs', 'rust', bytes(data)))
"""


def test_mutated_source_never_ends_the_process() -> None:
    text = """async fn f(State(app): State<App>) -> Result<(), E> {
    let e = Endpoint::from_static("http://a:1").http2_keep_alive_interval(Duration::from_secs(30));
    let c = e.keep_alive_timeout(Duration::from_secs(MAX as u64)).connect().await?;
    Server::builder().max_connection_age(Duration::from_secs(60 * 10)).add_service(s).serve(a).await?;
    let pool = Options::new().max_connections(MAX).connect(&env::var("DATABASE_URL")?).await?;
    let client = reqwest::Client::builder().timeout(Duration::from_secs(30)).build()?;
    client.get(u).send().await?.bytes_stream();
}
"""
    done = subprocess.run(
        [sys.executable, '-c', _FUZZ, str(random.Random(7).randrange(10**6)), '300'], input=(USES + text).encode(), capture_output=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr.decode()[-2000:]
