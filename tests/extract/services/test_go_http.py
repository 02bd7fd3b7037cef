"""HTTP in Go source: clients, transports, servers and handlers; what is good is recognised."""

import shutil
from pathlib import Path

import pytest

from configaudit.audit import audit
from configaudit.config import Config
from configaudit.result import Result

pytest.importorskip('tree_sitter_go')
FIXTURES = Path(__file__).parents[3] / 'fixtures'
_IMPORTS = '''package a

import (
	"context"
	"io"
	"net/http"
	"net/http/httputil"
	"time"

	"github.com/gin-gonic/gin"
	"golang.org/x/net/http2"
	"google.golang.org/grpc"
)

'''


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):  # type: ignore[no-untyped-def]
    def go(text: str, head: str = _IMPORTS) -> Result:
        (tmp_path / 'a.go').write_text(head + text)
        monkeypatch.chdir(tmp_path)
        return audit(['.'], Config())

    return go


def ids(result: Result) -> set[str]:
    return {finding.rule.id for finding in result.findings}


def test_everything_wrong_in_the_reference_gateway_is_found_and_the_repaired_one_is_clean(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(FIXTURES / 'http-timeout-cuts-streams/reference', tmp_path / 'gateway')
    monkeypatch.chdir(tmp_path / 'gateway')
    wrong = {'http-timeout-cuts-streams': 'warning', 'http-answer-headers-lost': 'warning', 'http-hop-headers-forwarded': 'advice', 'http-idle-connections-few': 'advice', 'http-header-timeout-unset': 'advice'}
    assert {finding.rule.id: finding.severity for finding in audit(['bad'], Config()).findings} == wrong
    assert ids(audit(['good'], Config())) == set()


_HANDLER = 'func h(w http.ResponseWriter, r *http.Request) {\n\t%s\n\tw.Header().Set("Content-Type", "text/event-stream")\n}\n'


@pytest.mark.parametrize(
    ('lines', 'found'),
    [
        ('req, _ := http.NewRequest("POST", u, r.Body)\n\tc.Do(req)', True), ('req, _ := http.NewRequestWithContext(r.Context(), "POST", u, r.Body)\n\tc.Do(req)', False),
        ('req, _ := http.NewRequest("POST", u, r.Body)\n\tc.Do(req.WithContext(r.Context()))', False), ('http.Post(u, "", r.Body)', True),
        ('ctx, stop := context.WithTimeout(context.TODO(), time.Minute)\n\tdefer stop()\n\thttp.NewRequestWithContext(ctx, "POST", u, r.Body)', True),
        ('ctx, stop := context.WithTimeout(r.Context(), time.Minute)\n\tdefer stop()\n\thttp.NewRequestWithContext(ctx, "POST", u, r.Body)', False),
        ('ctx := context.WithoutCancel(r.Context())\n\thttp.NewRequestWithContext(ctx, "POST", u, r.Body)', False),
        ('go func() { http.NewRequestWithContext(context.Background(), "POST", u, nil) }()', False), ('defer http.Post(u, "", nil)', False),
        ('ctx := r.Context()\n\tif late { ctx = context.Background() }\n\thttp.NewRequestWithContext(ctx, "POST", u, r.Body)', False),
        ('db.Exec(context.Background(), "x")', False), ('s.GenerateStream(context.Background(), ask)', True),
        ('stub := pb.NewModelClient(conn)\n\tstub.Predict(context.Background(), ask)', True), ('stub := pb.NewModelClient(conn)\n\tstub.Predict(r.Context(), ask)', False),
    ],
)  # fmt: skip
def test_calls_that_outlive_the_request(run, lines: str, found: bool) -> None:  # type: ignore[no-untyped-def]
    assert ('http-cancel-not-propagated' in ids(run(_HANDLER % lines))) is found


def test_a_helper_without_a_context_is_followed(run) -> None:  # type: ignore[no-untyped-def]
    helper = 'func send(u string) (*http.Response, error) {\n\treq, _ := http.NewRequest("POST", u, nil)\n\treturn http.DefaultClient.Do(req)\n}\n'
    assert 'http-cancel-not-propagated' in ids(run(helper + _HANDLER % 'send(u)'))
    assert 'http-cancel-not-propagated' not in ids(run(helper + _HANDLER % 'go send(u)'))
    assert 'http-cancel-not-propagated' not in ids(run(helper + 'func main() { send("x/v1/completions") }'))


def test_the_context_of_gin_itself_is_never_done(run) -> None:  # type: ignore[no-untyped-def]
    text = 'func h(c *gin.Context) {\n\treq, _ := http.NewRequestWithContext(c%s, "POST", u+"/v1/completions", c.Request.Body)\n\thttp.DefaultClient.Do(req)\n}\n'
    assert 'http-cancel-not-propagated' in ids(run(text % ''))
    assert 'http-cancel-not-propagated' not in ids(run(text % '.Request.Context()'))
    assert 'http-cancel-not-propagated' not in ids(run(text % '' + 'func e(g *gin.Engine) { g.ContextWithFallback = true }'))


_ANSWER = 'func h(w http.ResponseWriter, r *http.Request) {\n\tresp, _ := c.Do(r)\n\t%s\n\tio.Copy(w, resp.Body)\n}\nvar p httputil.ReverseProxy\n'


@pytest.mark.parametrize(
    ('lines', 'found'),
    [
        ('w.WriteHeader(resp.StatusCode)', True), ('w.Header().Set("Content-Type", "a/b")\n\tw.WriteHeader(resp.StatusCode)', False),
        ('copyHeaders(w, resp)\n\tw.WriteHeader(resp.StatusCode)', False), ('w.WriteHeader(http.StatusOK)', False),
    ],
)  # fmt: skip
def test_headers_of_an_answer(run, lines: str, found: bool) -> None:  # type: ignore[no-untyped-def]
    assert ('http-answer-headers-lost' in ids(run(_ANSWER % lines))) is found


@pytest.mark.parametrize(
    ('lines', 'found'),
    [
        ('out.Header = r.Header', True), ('out.Header = r.Header.Clone()\n\tstrip(out.Header)', False), ('out.Header = r.Header.Clone()\n\tout.Header.Del("Connection")', False),
        ('for k, v := range r.Header { out.Header[k] = v }', True), ('for k, v := range r.Header { if ok(k) { out.Header[k] = v } }', False),
        ('for k, v := range r.Header { log(k, v) }', False),
    ],
)  # fmt: skip
def test_headers_of_a_request(run, lines: str, found: bool) -> None:  # type: ignore[no-untyped-def]
    assert ('http-hop-headers-forwarded' in ids(run(_ANSWER % lines))) is found


@pytest.mark.parametrize(
    ('text', 'severities'),
    [
        ('func f(u *url.URL) { p := httputil.NewSingleHostReverseProxy(u); serve(p) }', ['advice']),
        ('func f(u *url.URL) { p := httputil.NewSingleHostReverseProxy(u); p.Transport = &http.Transport{MaxIdleConnsPerHost: 100}; serve(p) }', []),
        ('func f(u *url.URL) { p := httputil.NewSingleHostReverseProxy(u); p.Transport = tuned(); serve(p) }', []),
        ('func f() { p := &httputil.ReverseProxy{Transport: &http.Transport{MaxIdleConns: 500}}; serve(p) }', ['warning']),
        ('func f() { p := &httputil.ReverseProxy{Transport: &http.Transport{MaxConnsPerHost: 2}}; serve(p) }', []),
        ('func f() { c := http.Client{}; c.Do(req) }', []),
        ('func f(u *url.URL) *httputil.ReverseProxy { p := httputil.NewSingleHostReverseProxy(u); return p }', []),
        ('func f() *httputil.ReverseProxy { return &httputil.ReverseProxy{} }', []),
    ],
)  # fmt: skip
def test_idle_connections_of_a_gateway(run, text: str, severities: list[str]) -> None:  # type: ignore[no-untyped-def]
    assert [finding.severity for finding in run(text).findings if finding.rule.id == 'http-idle-connections-few'] == severities


@pytest.mark.parametrize(
    ('text', 'found'),
    [
        ('func h(w http.ResponseWriter, r *http.Request) { c := &http.Client{Transport: &http.Transport{}}; c.Do(r) }', True),
        ('func h(w http.ResponseWriter, r *http.Request) { c := &http.Client{Transport: shared}; c.Do(r) }', False),
        ('func h(w http.ResponseWriter, r *http.Request) { c := &http.Client{}; c.Do(r) }', False),
        ('func h(w http.ResponseWriter, r *http.Request) { c := &http.Client{Transport: &http.Transport{}}; c.Do(r); c.CloseIdleConnections() }', False),
        ('func wait() { c := &http.Client{Transport: &http.Transport{}}; c.Do(r) }', False),
        ('func wait() { c := &http.Client{Transport: &http.Transport{}}; c.Do(r) }\nfunc h(w http.ResponseWriter, r *http.Request) { wait() }', True),
    ],
)  # fmt: skip
def test_connections_made_for_every_request(run, text: str, found: bool) -> None:  # type: ignore[no-untyped-def]
    assert ('http-client-per-request' in ids(run(text))) is found


_SERVER = 'func f() {\n\ts := &http.Server{Addr: "%s"%s}\n\ts.ListenAndServe()\n}\n'


@pytest.mark.parametrize(
    ('text', 'found'),
    [
        (_SERVER % (':80', ''), True), (_SERVER % (':80', ', ReadTimeout: time.Second'), False), (_SERVER % (':80', ', ReadHeaderTimeout: limit'), False),
        (_SERVER % ('127.0.0.1:80', ''), False), ('func f() { http.ListenAndServe("localhost:6060", nil) }', False), ('func f() { http.ListenAndServeTLS(":443", a, b, nil) }', True),
        ('func f() { s := &http.Server{} // #nosec G112\n}', False), ('func f() { http.ListenAndServe(addr, nil) /* #nosec */ }', False),
    ],
)  # fmt: skip
def test_servers_without_a_limit_on_the_header(run, text: str, found: bool) -> None:  # type: ignore[no-untyped-def]
    assert ('http-header-timeout-unset' in ids(run(text))) is found


def test_a_write_timeout_matters_where_something_streams(run) -> None:  # type: ignore[no-untyped-def]
    server = _SERVER % (':80', ', WriteTimeout: 30 * time.Second')
    stream = 'func e(w http.ResponseWriter, r *http.Request) { w.(http.Flusher).Flush() }\n'
    assert 'http-write-timeout-cuts-streams' in ids(run(server + stream))
    assert 'http-write-timeout-cuts-streams' not in ids(run(server))
    assert 'http-write-timeout-cuts-streams' not in ids(run(_SERVER % (':80', ', WriteTimeout: 0') + stream))
    assert 'http-write-timeout-cuts-streams' not in ids(run(server + stream.replace('{ w', '{ http.NewResponseController(w).SetWriteDeadline(time.Time{}); w')))


def test_a_health_check_that_is_set_later_is_not_missed(run) -> None:  # type: ignore[no-untyped-def]
    assert 'http2-health-ping-off' in ids(run('func f() { t := &http2.Transport{}; use(t) }'))
    assert 'http2-health-ping-off' not in ids(run('func f() { t := &http2.Transport{}; t.ReadIdleTimeout = d; use(t) }'))


def test_a_write_timeout_over_handlers_of_an_imported_package_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    case = FIXTURES / 'http-write-timeout-cuts-streams/other-file/bad'
    shutil.copytree(case, tmp_path / 'a')
    monkeypatch.chdir(tmp_path / 'a')
    assert {finding.rule.id: finding.severity for finding in audit(['.'], Config()).findings} == {'http-write-timeout-cuts-streams': 'advice'}
    main = tmp_path / 'a/cmd/main.go'
    main.write_text(main.read_text().replace('example.com/gateway/internal/chat', 'example.com/gateway/internal/other'))
    assert ids(audit(['.'], Config())) == set()


def test_a_module_may_lie_deep_in_a_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(FIXTURES / 'http-write-timeout-cuts-streams/other-file/bad', tmp_path / 'platform' / 'edge')
    monkeypatch.chdir(tmp_path)
    assert 'http-write-timeout-cuts-streams' in ids(audit(['.'], Config()))


_CLEAR = 'const engine = "%s"\n\nvar p = httputil.ReverseProxy{Transport: &http.Transport{MaxIdleConnsPerHost: 99%s}}\n'


@pytest.mark.parametrize(
    ('text', 'found'),
    [
        (_CLEAR % ('http://vllm:8000', ', ForceAttemptHTTP2: true'), True), (_CLEAR % ('https://vllm', ', ForceAttemptHTTP2: true'), False), (_CLEAR % ('http://vllm:8000', ''), False),
        (_CLEAR % ('http://localhost:8000', ', ForceAttemptHTTP2: true'), False), ('const engine = "http://vllm:8000"\n\nvar t = http2.Transport{ReadIdleTimeout: d}', True),
        ('const engine = "http://vllm:8000"\n\nvar t = http2.Transport{ReadIdleTimeout: d, AllowHTTP: true}', False),
        (_CLEAR % ('http://vllm:8000', ', ForceAttemptHTTP2: true') + 'func init() { protocols.SetUnencryptedHTTP2(true) }', False),
    ],
)  # fmt: skip
def test_http2_without_tls(run, text: str, found: bool) -> None:  # type: ignore[no-untyped-def]
    assert ('go-http2-over-cleartext' in ids(run(text))) is found


def test_a_request_that_is_made_for_another_to_send_is_not_judged(run) -> None:  # type: ignore[no-untyped-def]
    made = 'func copied(r *http.Request) (*http.Request, error) {\n\treturn http.NewRequest(r.Method, u+"/v1/completions", r.Body)\n}\n'
    assert 'http-cancel-not-propagated' not in ids(run(made))
    assert 'http-cancel-not-propagated' in ids(run(made.replace('return http', 'q, _ := http').replace('Body)\n', 'Body)\n\treturn c.Do(q)\n')))


@pytest.mark.parametrize(('body', 'found'), [('{"stream": true}', True), ('{"stream": false}', False)])
def test_a_request_that_asks_for_a_stream_and_is_read_piece_by_piece(run, body: str, found: bool) -> None:  # type: ignore[no-untyped-def]
    client = 'type model struct { c *http.Client }\nfunc New() *model { return &model{c: &http.Client{Timeout: 120 * time.Second}} }\n'
    sends = 'func (m *model) ask() {\n\treq, _ := http.NewRequest("POST", u, strings.NewReader(`%s`))\n\tresp, _ := m.c.Do(req)\n\tlines := bufio.NewScanner(resp.Body)\n\tlines.Scan()\n}\n'
    text = 'package a\n\nimport (\n\t"bufio"\n\t"net/http"\n\t"strings"\n\t"time"\n)\n\n' + client + sends % body
    assert ('http-timeout-cuts-streams' in ids(run(text, head=''))) is found
