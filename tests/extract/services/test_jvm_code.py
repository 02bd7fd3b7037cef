"""What Java and Kotlin source sets up: gRPC channels and servers, pools, HTTP clients; and what is not judged."""

import math
from pathlib import Path

import pytest

from configaudit.audit import audit
from configaudit.config import Config
from configaudit.model import Component
from configaudit.result import Result

pytest.importorskip('tree_sitter_java')
pytest.importorskip('tree_sitter_kotlin')
_IMPORTS = (
    'io.grpc.*', 'io.grpc.netty.NettyServerBuilder', 'io.grpc.netty.NettyChannelBuilder', 'com.zaxxer.hikari.HikariConfig', 'com.zaxxer.hikari.HikariDataSource', 'com.alibaba.druid.pool.DruidDataSource',
    'org.apache.commons.dbcp2.BasicDataSource', 'redis.clients.jedis.JedisPoolConfig', 'okhttp3.OkHttpClient', 'java.net.http.HttpClient', 'java.net.http.HttpRequest', 'java.util.concurrent.TimeUnit',
)  # fmt: skip


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):  # type: ignore[no-untyped-def]
    def code(text: str, path: str = 'src/main/java/shop/A.java') -> Result:
        end = '' if path.endswith('.kt') else ';'
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text('package shop' + end + '\n' + ''.join(f'import {name}{end}\n' for name in _IMPORTS) + f'class A {{\n{text}\n}}\n')
        monkeypatch.chdir(tmp_path)
        return audit(['.'], Config())

    return code


def one(result: Result, kind: str) -> Component:
    (found,) = (component for component in result.components if component.kind.name == kind)
    return found


def ids(result: Result) -> set[str]:
    return {finding.rule.id for finding in result.findings}


_KT = 'src/main/kotlin/shop/A.kt'


def test_a_channel_and_its_builder_on_lines_of_its_own(run) -> None:  # type: ignore[no-untyped-def]
    client = one(run('ManagedChannel g(String h) { var b = ManagedChannelBuilder.forAddress("stock", 9000).keepAliveTime(2, TimeUnit.MINUTES); b.keepAliveWithoutCalls(true); return b.build(); }'), 'grpc-client')
    assert (client['target'].value, client['time_s'].value, client['timeout_s'].value, client['permit_without_stream'].value, client.partial) == ('stock:9000', 120, 20, True, '')


@pytest.mark.parametrize(('written', 'seconds'), [('1, TimeUnit.SECONDS', 10), ('Long.MAX_VALUE, TimeUnit.NANOSECONDS', 10), ('4000, TimeUnit.DAYS', math.inf), ('90_000, TimeUnit.MILLISECONDS', 90)])
def test_the_floor_and_the_ceiling_of_a_keepalive_time(run, written: str, seconds: float) -> None:  # type: ignore[no-untyped-def]
    if 'MAX_VALUE' in written:
        seconds = math.inf
    client = one(run(f'ManagedChannel g() {{ return Grpc.newChannelBuilder("dns:///a:1", creds()).keepAliveTime({written}).build(); }}'), 'grpc-client')
    assert client['time_s'].value == seconds


@pytest.mark.parametrize(
    'text',
    [
        'void g(NettyChannelBuilder b) { b.keepAliveTimeout(5, TimeUnit.SECONDS); }',
        'Object g() { var b = ManagedChannelBuilder.forTarget("dns:///a:1").keepAliveTimeout(5, TimeUnit.SECONDS); customize(b); return b.build(); }',
        'Object g() { var b = ManagedChannelBuilder.forTarget("dns:///a:1").keepAliveTimeout(5, TimeUnit.SECONDS); return b; }',
        'Object g(boolean x) { var b = ManagedChannelBuilder.forTarget("dns:///a:1").keepAliveTimeout(5, TimeUnit.SECONDS); if (x) { b.keepAliveTime(9, TimeUnit.MINUTES); } return b.build(); }',
        'Object g(long t) { return ManagedChannelBuilder.forTarget("dns:///a:1").keepAliveTimeout(5, TimeUnit.SECONDS).keepAliveTime(t, TimeUnit.SECONDS).build(); }',
    ],
)
def test_a_builder_that_is_set_up_elsewhere_is_not_judged(run, text: str) -> None:  # type: ignore[no-untyped-def]
    result = run(text)
    client = one(result, 'grpc-client')
    assert not client['time_s'].is_known
    assert not ids(result)


def test_a_local_target_and_an_in_process_channel_are_no_clients(run) -> None:  # type: ignore[no-untyped-def]
    result = run('void g() { ManagedChannelBuilder.forTarget("localhost:9000").build(); InProcessChannelBuilder.forName("x").keepAliveTimeout(5, TimeUnit.SECONDS).build(); }')
    assert not [component for component in result.components if component.kind.name == 'grpc-client']


def test_a_server(run) -> None:  # type: ignore[no-untyped-def]
    text = 'Server g() { return NettyServerBuilder.forPort(9000).permitKeepAliveTime(30, TimeUnit.SECONDS).permitKeepAliveWithoutCalls(true).maxConnectionAge(10, TimeUnit.MINUTES).build(); }'
    server = one(run(text), 'grpc-server')
    assert (server['min_time_s'].value, server['permit_without_stream'].value, server['max_connection_age_s'].value, server['max_connection_age_grace_s'].value) == (30, True, 600, math.inf)


def test_client_and_server_of_one_folder_contradict_each_other(run) -> None:  # type: ignore[no-untyped-def]
    run('Server s() { return NettyServerBuilder.forPort(9000).build(); }', 'src/main/java/shop/S.java')
    result = run('ManagedChannel c(String h) { return NettyChannelBuilder.forTarget(h).keepAliveTime(30, TimeUnit.SECONDS).build(); }', 'src/main/java/shop/C.java')
    assert 'grpc-keepalive-punished' in ids(result)


def test_a_pool_of_java(run) -> None:  # type: ignore[no-untyped-def]
    pool = one(run('Object g() { HikariConfig c = new HikariConfig(); c.setJdbcUrl("jdbc:postgresql://db/x"); c.setMaximumPoolSize(25); c.setMaxLifetime(TimeUnit.MINUTES.toMillis(20)); return new HikariDataSource(c); }'), 'pool')
    assert (pool['max_open'].value, pool['max_lifetime_s'].value, pool['wait_timeout_s'].value, pool['host'].value, pool['product'].value) == (25, 1200, 30, 'db', 'postgres')


def test_a_pool_of_kotlin(run) -> None:  # type: ignore[no-untyped-def]
    text = 'val pool = HikariDataSource(HikariConfig().apply {\n maximumPoolSize = 25\n maxLifetime = 20.minutes.inWholeMilliseconds\n jdbcUrl = "jdbc:mysql://db/x"\n if (big) minimumIdle = 3\n})'
    pool = one(run(text, _KT), 'pool')
    assert (pool['max_open'].value, pool['max_lifetime_s'].value, pool['product'].value, pool['min_idle'].is_known) == (25, 1200, 'mysql', False)


def test_seconds_where_hikari_takes_milliseconds(run) -> None:  # type: ignore[no-untyped-def]
    assert 'db-hikari-lifetime-ignored' in ids(run('void g() { HikariDataSource d = new HikariDataSource(); d.setMaximumPoolSize(5); d.setMaxLifetime(1800); }'))


@pytest.mark.parametrize('text', ['var d = new BasicDataSource(); d.setMaxTotal(-1);', 'var d = new JedisPoolConfig(); d.setMaxTotal(-1);'])
def test_a_pool_without_a_limit(run, text: str) -> None:  # type: ignore[no-untyped-def]
    assert 'db-pool-unbounded' in ids(run(f'void g() {{ {text} }}'))


def test_a_wait_without_a_limit(run) -> None:  # type: ignore[no-untyped-def]
    assert 'db-wait-unbounded' in ids(run('void g() { DruidDataSource d = new DruidDataSource(); d.setMaxActive(20); d.setMaxWait(-1); }'))


def test_a_pool_that_spring_fills_is_partial(run) -> None:  # type: ignore[no-untyped-def]
    pool = one(run('@Bean @ConfigurationProperties("app.db") HikariDataSource g() { var d = new HikariDataSource(); d.setMinimumIdle(2); return d; }'), 'pool')
    assert pool.partial
    assert not pool['max_open'].is_known


def test_timeouts_of_http_clients(run) -> None:  # type: ignore[no-untyped-def]
    client = one(run('final OkHttpClient c = new OkHttpClient.Builder().callTimeout(2, TimeUnit.MINUTES).readTimeout(0, TimeUnit.SECONDS).build();'), 'http-client')
    assert (client['timeout_s'].value, client['gap_timeout_s'].value, client['product'].value) == (120, math.inf, 'OkHttp')
    client = one(run('HttpRequest g() { return HttpRequest.newBuilder(u).timeout(Duration.ofSeconds(9)).build(); }'), 'http-client')
    assert (client['first_byte_timeout_s'].value, client['timeout_s'].value) == (9, math.inf)


def test_a_call_timeout_cuts_streams_but_not_those_of_an_event_source(run) -> None:  # type: ignore[no-untyped-def]
    text = 'final OkHttpClient c = new OkHttpClient.Builder().callTimeout(60, TimeUnit.SECONDS).build();\nvoid g() { request.header("Accept", "text/event-stream"); c.newCall(r).execute(); }'
    assert 'http-timeout-cuts-streams' in ids(run(text))
    assert 'http-timeout-cuts-streams' not in ids(run(text + '\nvoid h() { EventSources.createFactory(c); }'))


@pytest.mark.parametrize(
    ('text', 'each'),
    [
        ('String ask(R r) { return new OkHttpClient().newCall(r).execute().body().string(); }', True),
        ('String ask(R r) { HttpClient c = HttpClient.newHttpClient(); return c.send(r, b()).body(); }', True),
        ('OkHttpClient create(R r) { OkHttpClient c = new OkHttpClient(); c.newCall(r).execute(); return c; }', False),
        ('OkHttpClient c; String ask(R r) { if (c == null) { c = new OkHttpClient.Builder().build(); } return c.newCall(r).execute().body().string(); }', False),
        ('final OkHttpClient c = new OkHttpClient(); String ask(R r) { return c.newCall(r).execute().body().string(); }', False),
    ],
)
def test_a_client_for_every_request(run, text: str, each: bool) -> None:  # type: ignore[no-untyped-def]
    found = [component for component in run(text).components if component.kind.name == 'http-client' and component['per_request'].value]
    assert bool(found) is each


@pytest.mark.parametrize('path', ['src/test/java/shop/A.java', 'src/main/java/shop/ATest.java', 'examples/shop/A.java', 'src/integrationTest/kotlin/A.kt', 'shop-testing/src/main/java/A.java'])
def test_tests_and_examples_are_not_judged(run, path: str) -> None:  # type: ignore[no-untyped-def]
    assert not run('ManagedChannel c(String h) { return NettyChannelBuilder.forTarget(h).keepAliveTimeout(30, TimeUnit.SECONDS).build() }'.replace(' }', '; }'), path).components


def test_comments_and_types_of_other_packages_do_not_match(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    result = run('/* new HikariConfig().setMaximumPoolSize(5); */ void g() { // NettyChannelBuilder.forTarget("a:1").keepAliveTimeout(1, TimeUnit.SECONDS);\n }')
    assert not result.components
    (tmp_path / 'B.java').write_text('import own.HikariConfig;\nclass B { void g() { var c = new HikariConfig(); c.setMaximumPoolSize(5); } }\n')
    assert not audit(['B.java'], Config()).components


@pytest.mark.parametrize('of_type', ['if (b instanceof NettyServerBuilder) { ((NettyServerBuilder) b)', 'if (b instanceof NettyServerBuilder n) { n'])
def test_a_builder_that_is_cast(run, of_type: str) -> None:  # type: ignore[no-untyped-def]
    server = one(run(f'Object g() {{ return b -> {{ {of_type}.permitKeepAliveTime(20, TimeUnit.SECONDS).keepAliveTime(40, TimeUnit.SECONDS); }} }}; }}'), 'grpc-server')
    assert (server['min_time_s'].value, server['time_s'].value, server['permit_without_stream'].is_known) == (20, 40, False)


def test_a_builder_that_is_cast_in_kotlin(run) -> None:  # type: ignore[no-untyped-def]
    client = one(run('fun g(b: Any) { (b as NettyChannelBuilder).keepAliveTime(20, TimeUnit.MINUTES) }', _KT), 'grpc-client')
    assert (client['time_s'].value, client['timeout_s'].is_known) == (1200, False)


def test_port_and_streams_of_a_server(run) -> None:  # type: ignore[no-untyped-def]
    server = one(run('static final int PORT = 9000; Server g() { return NettyServerBuilder.forPort(PORT).maxConcurrentCallsPerConnection(64).build(); }'), 'grpc-server')
    assert (server['port'].value, server['max_concurrent_streams'].value) == ('9000', 64)


def test_a_client_that_asks_for_generated_text(run) -> None:  # type: ignore[no-untyped-def]
    client = one(run('final OkHttpClient c = new OkHttpClient(); // "/v1/embeddings"\nvoid g() { c.newCall(post("http://vllm:8000/v1/chat/completions")).enqueue(x); }'), 'http-client')
    assert (client['answers'].value, client['gap_timeout_s'].value, client['connections'].value) == ('the path /v1/chat/completions', 10, 5)


def test_a_size_that_the_environment_gives(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / 'compose.yaml').write_text('services:\n  shop:\n    image: example.com/shop:1\n    environment: {POOL_SIZE: "35", DATABASE_URL: "jdbc:postgresql://pg/shop"}\n')
    result = run('HikariConfig g() { HikariConfig c = new HikariConfig(); c.setJdbcUrl(System.getenv("DATABASE_URL")); c.setMaximumPoolSize(Integer.parseInt(System.getenv("POOL_SIZE"))); return c; }')
    assert [(pool['max_open'].value, pool['host'].value) for pool in result.components if pool.kind.name == 'pool'] == [(35, 'pg')]


def test_a_configuration_that_others_copy_is_no_pool(run) -> None:  # type: ignore[no-untyped-def]
    text = 'val common = HikariConfig().apply { maxLifetime = 1800000; jdbcUrl = url }\nval app = HikariDataSource(HikariConfig().apply {\n common.copyStateTo(this)\n maximumPoolSize = 25\n})'
    pool = one(run(text, _KT), 'pool')
    assert (pool['max_open'].value, pool['max_lifetime_s'].known_value, bool(pool.partial)) == (25, None, True)


def test_methods_have_no_names_that_are_ignored(run) -> None:  # type: ignore[no-untyped-def]
    client = one(run('void g(NettyChannelBuilder b) { b.keepAliveTime(6, TimeUnit.MINUTES); }'), 'grpc-client')
    assert (client.partial != '', client['unread'].value, client['without_effect'].value) == (True, (), ())


def test_a_client_of_an_import_with_a_star(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = 'package shop;\nimport okhttp3.*;\nclass A {\n  final OkHttpClient c = new OkHttpClient.Builder().callTimeout(java.time.Duration.ofSeconds(30)).build();\n}\n'
    (tmp_path / 'A.java').write_text(text)
    monkeypatch.chdir(tmp_path)
    assert one(audit(['.'], Config()), 'http-client')['timeout_s'].value == 30
