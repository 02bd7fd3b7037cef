"""What Go source sets up: gRPC channels and servers, pools, HTTP clients; and what is not judged."""

from pathlib import Path

import pytest

from configaudit.audit import audit
from configaudit.config import Config
from configaudit.model import Component
from configaudit.result import Result

pytest.importorskip('tree_sitter_go')
_IMPORTS = '''package a

import (
	"bufio"
	"database/sql"
	"net/http"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"google.golang.org/grpc"
	"google.golang.org/grpc/keepalive"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"
)

'''


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):  # type: ignore[no-untyped-def]
    def go(text: str, path: str = 'svc/a.go', named: bool = False, **others: str) -> Result:
        for name, content in {path: _IMPORTS + text, **{f'svc/{other}.go': _IMPORTS + more for other, more in others.items()}}.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(content)
        monkeypatch.chdir(tmp_path)
        return audit([path if named else '.'], Config())

    return go


def one(result: Result, kind: str) -> Component:
    (found,) = (component for component in result.components if component.kind.name == kind)
    return found


def ids(result: Result) -> set[str]:
    return {finding.rule.id for finding in result.findings}


def test_keepalive_of_a_client(run) -> None:  # type: ignore[no-untyped-def]
    client = one(run('func f(a string) { grpc.Dial(a, grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: 3 * time.Minute, PermitWithoutStream: true})) }'), 'grpc-client')
    assert (client['time_s'].value, client['timeout_s'].value, client['permit_without_stream'].value) == (180, 20, True)


@pytest.mark.parametrize('fields', ['', 'Time: time.Second', 'Timeout: 5 * time.Second'])
def test_a_time_below_the_floor_is_ten_seconds(run, fields: str) -> None:  # type: ignore[no-untyped-def]
    client = one(run(f'func f(a string) {{ grpc.NewClient(a, grpc.WithKeepaliveParams(keepalive.ClientParameters{{{fields}}})) }}'), 'grpc-client')
    assert client['time_s'].value == 10


def test_what_the_program_works_out_is_not_known(run) -> None:  # type: ignore[no-untyped-def]
    result = run('func f(a string, o grpc.DialOption, s ...grpc.ServerOption) {\n\tgrpc.NewClient(a, o)\n\tgrpc.NewServer(s...)\n}')
    assert one(result, 'grpc-client')['time_s'].reason
    assert one(result, 'grpc-server')['min_time_s'].reason
    assert ids(result) == set()


@pytest.mark.parametrize('target', ['"localhost:9000"', '"dns:///127.0.0.1:1"', '"passthrough:///bufnet"', '"unix:///run/a.sock"'])
def test_a_channel_to_this_machine_is_not_judged(run, target: str) -> None:  # type: ignore[no-untyped-def]
    assert not [item for item in run(f'func f() {{ grpc.NewClient({target}) }}').components if item.kind.name == 'grpc-client']


def test_a_server_that_allows_the_pings_anywhere_in_the_program_is_no_contradiction(run) -> None:  # type: ignore[no-untyped-def]
    client = 'func f(a string) { grpc.NewClient(a, grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: 30 * time.Second})) }'
    server = 'func g() { grpc.NewServer(grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: 10 * time.Second})) }'
    assert 'grpc-keepalive-unmatched' in ids(run(client))
    assert not ids(run(client, other=server)) & {'grpc-keepalive-unmatched', 'grpc-keepalive-punished'}


def test_limits_of_a_gorm_pool_are_set_through_its_view(run) -> None:  # type: ignore[no-untyped-def]
    pool = one(run('func f(d string) {\n\tdb, _ := gorm.Open(postgres.Open(d))\n\tv, _ := db.DB()\n\tv.SetMaxOpenConns(9)\n\tv.SetConnMaxLifetime(time.Hour)\n}'), 'pool')
    assert (pool['max_open'].value, pool['max_lifetime_s'].value, pool['product'].value) == (9, 3600, 'postgres')


@pytest.mark.parametrize('lines', ['v.SetMaxOpenConns(10)\n\tif lite { v.SetMaxOpenConns(1) }', 'if n > 0 { v.SetMaxOpenConns(7) }', 'switch d { case "a": v.SetMaxOpenConns(7) }'])
def test_a_limit_under_a_condition_is_not_known(run, lines: str) -> None:  # type: ignore[no-untyped-def]
    pool = one(run(f'func f(d string) {{\n\tv, _ := sql.Open("mysql", d)\n\t{lines}\n}}'), 'pool')
    assert pool['max_open'].reason == 'the program sets it under a condition'


def test_a_pool_whose_limits_another_function_sets_is_not_judged(run) -> None:  # type: ignore[no-untyped-def]
    opens = 'func f(d string) (*sql.DB, error) { return sql.Open("postgres", d) }'
    assert 'db-pool-unbounded' in ids(run(opens))
    assert not ids(run(opens, limits='func tune(db *sql.DB, n int) { db.SetMaxOpenConns(n) }'))


@pytest.mark.parametrize(
    'text',
    [
        'func f(d string) { db, _ := sql.Open("sqlite3", d); db.Ping() }', 'func f(n, d string) { sql.Open(n, d) }',
        'func check(d string) { db, _ := sql.Open("mysql", d); defer db.Close(); db.Ping() }', 'func f(d string) { pgxpool.New(ctx, d) }',
        '// sql.Open("mysql", d)\nvar s = `db, _ := sql.Open("mysql", d)`',
    ],
)  # fmt: skip
def test_no_pool_of_a_service_is_no_finding(run, text: str) -> None:  # type: ignore[no-untyped-def]
    assert not {finding.severity for finding in run(text).findings} & {'error', 'warning'}
    assert 'db-pool-unbounded' not in ids(run(text))


def test_fields_of_a_pgx_configuration_are_read(run) -> None:  # type: ignore[no-untyped-def]
    pool = one(run('func f() {\n\tcfg, _ := pgxpool.ParseConfig(d)\n\tcfg.MaxConns = 12\n\tpgxpool.NewWithConfig(ctx, cfg)\n}'), 'pool')
    assert (pool['max_open'].value, pool['max_lifetime_s'].value, pool['library'].value) == (12, 3600, 'pgxpool')


@pytest.mark.parametrize(
    ('timeout', 'use', 'found'),
    [
        ('time.Minute', 'w.(http.Flusher).Flush()', True), ('time.Minute', 'streamTo(w, resp.Body)', True), ('time.Minute', 'io.ReadAll(resp.Body)', False),
        ('time.Minute', 'upstreamOf(resp.Body)', False), ('0', 'w.(http.Flusher).Flush()', False), ('cfg.Timeout', 'w.(http.Flusher).Flush()', False),
        ('time.Minute', '// text/event-stream', False),
        ('time.Minute', 'flusher.Flush()', True), ('time.Minute', 'table.Flush()', False), ('time.Minute', 'http.NewResponseController(w).Flush()', True),
    ],
)  # fmt: skip
def test_a_total_timeout_over_a_stream(run, timeout: str, use: str, found: bool) -> None:  # type: ignore[no-untyped-def]
    result = run(f'func f() {{\n\tc := http.Client{{Timeout: {timeout}}}\n\tresp, _ := c.Do(req)\n\t{use}\n}}')
    assert ('http-timeout-cuts-streams' in ids(result)) is found


def test_a_stream_is_followed_through_the_method_that_sends(run) -> None:  # type: ignore[no-untyped-def]
    send = 'func New() *C {\n\th := &http.Client{Timeout: time.Minute}\n\treturn &C{http: h}\n}\n\nfunc (c *C) send(r R) R { return c.http.Do(r) }\n\n'
    assert 'http-timeout-cuts-streams' in ids(run(send + 'func (c *C) ChatStream(r R) { x := c.send(r); bufio.NewReader(x.Body) }'))
    assert 'http-timeout-cuts-streams' not in ids(run(send + 'func (c *C) Chat(r R) { x := c.send(r); bufio.NewReader(x.Body) }'))


_PROXY = 'func f() { p := &httputil.ReverseProxy{Transport: &http.Transport{TLSClientConfig: c%s}}; _ = p }'


@pytest.mark.parametrize(
    ('text', 'found'),
    [
        (_PROXY % '', True), (_PROXY % ', ForceAttemptHTTP2: true', False), (_PROXY.replace('TLSClientConfig: c%s', 'MaxIdleConnsPerHost: 9'), False),
        ('func f() { t := &http.Transport{TLSClientConfig: c} }', False),
        (_PROXY.replace('TLSClientConfig: c%s', 'DialContext: d.DialContext'), False),
        (_PROXY.replace('TLSClientConfig: c%s', 'DialContext: d.DialContext') + '\n\nconst target = "https://llm.example.com"\n', True),
        (_PROXY.replace('TLSClientConfig: c%s', 'DialContext: d.DialContext, ForceAttemptHTTP2: true') + '\n\nconst target = "https://llm.example.com"\n', False),
    ],
)  # fmt: skip
def test_a_gateway_that_loses_http2(run, text: str, found: bool) -> None:  # type: ignore[no-untyped-def]
    assert ('go-http2-silently-off' in ids(run(text))) is found


@pytest.mark.parametrize('path', ['svc/a_test.go', 'examples/a.go', 'testdata/a.go', 'hack/a.go', 'db/migrations/a.go'])
def test_what_no_service_runs_is_not_judged(run, path: str) -> None:  # type: ignore[no-untyped-def]
    assert not run('func f(d string) (*sql.DB, error) { return sql.Open("postgres", d) }', path).components


def test_a_broken_file_is_an_error_only_when_named(run) -> None:  # type: ignore[no-untyped-def]
    assert run('func f( {{ .X }} grpc.Dial(').errors == ()
    assert [error.kind for error in run('func f( {{ .X }} grpc.Dial(', named=True).errors] == ['go']
    assert run('func f() {}', named=True).errors == ()


def test_a_time_that_is_raised_is_told(run) -> None:  # type: ignore[no-untyped-def]
    text = 'func f(a string) {{ grpc.NewClient(a, grpc.WithKeepaliveParams(keepalive.ClientParameters{{{}}})) }}'
    assert 'grpc-keepalive-too-fast' in ids(run(text.format('Time: time.Second')))
    assert 'grpc-keepalive-too-fast' in ids(run(text.format('PermitWithoutStream: true')))
    assert 'grpc-keepalive-too-fast' not in ids(run(text.format('Time: 10 * time.Second')))
    assert 'grpc-keepalive-too-fast' not in ids(run(text.format('Time: configured')))


@pytest.mark.parametrize(('fields', 'found'), [('Time: time.Hour, Timeout: time.Second', True), ('Time: time.Hour, Timeout: 5 * time.Second', False), ('Time: time.Hour, Timeout: t', False)])
def test_a_ping_that_must_be_answered_at_once(run, fields: str, found: bool) -> None:  # type: ignore[no-untyped-def]
    assert ('grpc-keepalive-timeout-short' in ids(run(f'func f(a string) {{ grpc.NewClient(a, grpc.WithKeepaliveParams(keepalive.ClientParameters{{{fields}}})) }}'))) is found


@pytest.mark.parametrize(('listens', 'port'), [('net.Listen("tcp", ":9000")', '9000'), ('net.Listen("tcp", address)', None), ('net.Listen("tcp", ":1"); net.Listen("tcp", ":2")', None)])
def test_the_port_of_a_server(run, listens: str, port: str | None) -> None:  # type: ignore[no-untyped-def]
    text = f'func f() {{ l, _ := {listens}; grpc.NewServer(grpc.MaxConcurrentStreams(8)).Serve(l) }}'.replace('; net', '\n\tnet')
    server = one(run('import "net"\n\n' + text), 'grpc-server')
    assert (server['port'].known_value, server['max_concurrent_streams'].value) == (port, 8)


@pytest.mark.parametrize(('grace', 'severity'), [('time.Second', 'advice'), ('2 * time.Minute', None)])
def test_calls_that_outlive_the_grace_of_a_connection(run, grace: str, severity: str | None) -> None:  # type: ignore[no-untyped-def]
    result = run(f'func f() {{ grpc.NewServer(grpc.KeepaliveParams(keepalive.ServerParameters{{MaxConnectionAge: time.Hour, MaxConnectionAgeGrace: {grace}}})) }}')
    assert next((finding.severity for finding in result.findings if finding.rule.id == 'grpc-connection-age-cuts-calls'), None) == severity


_PARAMS = 'grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: 10 * time.Second, PermitWithoutStream: true})'


def test_options_that_a_function_gathers_for_others_to_dial_with(run) -> None:  # type: ignore[no-untyped-def]
    gathered = f'func dialOptions() []grpc.DialOption {{\n\topts := []grpc.DialOption{{{_PARAMS}}}\n\treturn opts\n}}\n'
    assert 'grpc-keepalive-unmatched' in ids(run(gathered))
    assert 'grpc-keepalive-unmatched' in ids(run(f'func keep() grpc.DialOption {{ return {_PARAMS} }}\n'))
    assert 'grpc-keepalive-unmatched' not in ids(run('func dialOptions() []other.DialOption { return nil }\n' + f'func g() {{ use({_PARAMS}) }}'))


def test_a_policy_that_a_function_gathers_for_servers_permits_the_pings(run) -> None:  # type: ignore[no-untyped-def]
    policy = 'func serverOptions() []grpc.ServerOption {\n\treturn []grpc.ServerOption{grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: %s, PermitWithoutStream: true})}\n}\n'
    client = f'func f() {{ grpc.NewClient(target(), {_PARAMS}) }}\n'
    assert not {'grpc-keepalive-unmatched', 'grpc-keepalive-punished'} & ids(run(client + policy % '5 * time.Second'))
    assert 'grpc-keepalive-punished' in ids(run(client + policy % 'time.Minute'))


@pytest.mark.parametrize(
    ('close', 'number'),
    [('defer v.Close()', 0), ('defer func() { _ = v.Close() }()', 0), ('defer func() { if v == nil { return }; v.Close() }()\n\tv = nil', 0), ('defer func() { _ = other.Close() }()', 1), ('v.Close()', 1)],
)
def test_a_pool_of_gorm_that_its_function_closes_is_none_of_the_service(run, close: str, number: int) -> None:  # type: ignore[no-untyped-def]
    found = run(f'func check(d string) {{\n\tdb, _ := gorm.Open(postgres.Open(d))\n\tv, _ := db.DB()\n\t{close}\n\tdb.Exec("select 1")\n}}')
    assert len([one for one in found.components if one.kind.name == 'pool']) == number


@pytest.mark.parametrize('path', ['cmd/fake-model/a.go', 'mock-server/a.go', 'cmd/benchmark-chat/a.go', 'acme_evals/run/a.go', 'svc/mock_db.go', 'testonly/mdm/a.go'])
def test_stand_ins_and_measurements_are_not_judged(run, path: str) -> None:  # type: ignore[no-untyped-def]
    text = 'func main() { db, _ := sql.Open("mysql", d); db.Ping() }\n'
    assert [one.kind.name for one in run(text, path).components] == []
    assert run(text, 'svc/b.go').components


@pytest.mark.parametrize(('named', 'count'), [('.', 0), ('examples', 1), ('examples/shop', 1), ('absolute', 1)])
def test_a_folder_that_a_person_names_is_judged_whatever_it_is_called(run, tmp_path: Path, named: str, count: int) -> None:  # type: ignore[no-untyped-def]
    run('func f(a string) { grpc.NewClient(a) }', 'examples/shop/a.go')
    found = audit([str(tmp_path / 'examples') if named == 'absolute' else named], Config()).components
    assert sum(component.kind.name == 'grpc-client' for component in found) == count


@pytest.mark.parametrize(
    ('connector', 'product'),
    [('pgdriver.NewConnector(pgdriver.WithDSN(d))', 'postgres'), ('made', 'postgres'), ('other.NewConnector(d)', None)],
)
def test_pools_that_are_opened_with_a_connector(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, connector: str, product: str | None) -> None:
    head = 'package a\n\nimport (\n\t"database/sql"\n\n\t"github.com/lib/pq"\n\t"github.com/uptrace/bun/driver/pgdriver"\n)\n\n'
    (tmp_path / 'a.go').write_text(head + f'func f(d string) {{\n\tmade, err := pq.NewConnector(d)\n\tdb := sql.OpenDB({connector})\n\tdb.SetMaxOpenConns(12)\n\tserve(db, err)\n}}\n')
    monkeypatch.chdir(tmp_path)
    pools = [one for one in audit(['.'], Config()).components if one.kind.name == 'pool']
    assert [(pool['product'].known_value, pool['max_open'].known_value) for pool in pools] == ([(product, 12)] if product else [])


@pytest.mark.parametrize(
    ('dialect', 'product', 'host'),
    [
        ('d := postgres.New(postgres.Config{DSN: "postgres://a@db/a", PreferSimpleProtocol: true})', 'postgres', 'db'), ('d := postgres.New(postgres.Config{Conn: conn})', '', None),
        ('d := postgres.New(config())', '', None), ('var d gorm.Dialector\n\tif x {\n\t\td = postgres.Open(s)\n\t} else {\n\t\td = mysql.Open(s)\n\t}', None, None),
        ('var d gorm.Dialector\n\tif x {\n\t\td = postgres.Open(s)\n\t} else {\n\t\td = sqlite.Open(s)\n\t}', None, None),
    ],
)  # fmt: skip
def test_dialects_of_gorm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dialect: str, product: str | None, host: str | None) -> None:
    head = 'package a\n\nimport (\n\t"gorm.io/driver/mysql"\n\t"gorm.io/driver/postgres"\n\t"gorm.io/driver/sqlite"\n\t"gorm.io/gorm"\n)\n\n'
    (tmp_path / 'a.go').write_text(head + f'func f(s string) {{\n\t{dialect}\n\tdb, err := gorm.Open(d, &gorm.Config{{}})\n\tv, err := db.DB()\n\tv.SetMaxOpenConns(500)\n\tserve(db, err)\n}}\n')
    monkeypatch.chdir(tmp_path)
    pools = [one for one in audit(['.'], Config()).components if one.kind.name == 'pool']
    assert [(pool['product'].known_value, pool['host'].known_value, pool['max_open'].known_value) for pool in pools] == ([] if product == '' else [(product, host, 500)])
