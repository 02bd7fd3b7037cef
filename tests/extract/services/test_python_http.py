"""HTTP clients in Python source: what they wait for (TOTAL and GAP), what goes through them, and whose event loop they hold up."""

import math
from pathlib import Path

import pytest

from configaudit.audit import audit
from configaudit.config import Config
from configaudit.model import Component
from configaudit.result import Result


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):  # type: ignore[no-untyped-def]
    def python(text: str, files: dict[str, str] | None = None) -> Result:
        for name, content in {'app/a.py': text, **(files or {})}.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(content)
        monkeypatch.chdir(tmp_path)
        return audit(['.'], Config())

    return python


def clients(result: Result) -> list[Component]:
    return [component for component in result.components if component.kind.name == 'http-client']


def ids(result: Result) -> set[str]:
    return {finding.rule.id for finding in result.findings}


_POST = 'c.post("http://llm/v1/chat/completions", json={})\n'


@pytest.mark.parametrize(
    ('made', 'gap', 'total'),
    [
        ('c = httpx.Client()', 5, math.inf), ('c = httpx.Client(timeout=None)', math.inf, math.inf), ('c = httpx.Client(timeout=60)', 60, math.inf),
        ('c = httpx.Client(timeout=httpx.Timeout(10, read=300))', 300, math.inf), ('c = httpx.Client(timeout=httpx.Timeout(timeout=20))', 20, math.inf),
        ('T = httpx.Timeout(None, connect=5)\nc = httpx.Client(timeout=T)', math.inf, math.inf), ('c = httpx.Client(timeout=(5, 40))', 40, math.inf),
        ('c = aiohttp.ClientSession()', math.inf, 300), ('c = aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=None, sock_read=90))', 90, math.inf),
        ('c = aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=60))', math.inf, 60), ('c = aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(sock_read=60))', 60, math.inf),
        ('c = requests.Session()', math.inf, math.inf),
    ],
)  # fmt: skip
def test_a_timeout_is_a_gap_or_a_total(run, made: str, gap: float, total: float) -> None:  # type: ignore[no-untyped-def]
    (client,) = clients(run(f'import aiohttp, httpx, requests\n{made}\n{_POST}'))
    assert (client['gap_timeout_s'].value, client['timeout_s'].value) == (gap, total)
    assert client['target'].value == 'http://llm/v1/chat/completions'


@pytest.mark.parametrize(
    ('made', 'used'),
    [
        ('c = None\nasync def up():\n    global c\n    c = aiohttp.ClientSession()', 'c'),
        ('async def up(app):\n    app["http"] = aiohttp.ClientSession()', 'request.app["http"]'),
        ('async def up(app):\n    app.state.http = aiohttp.ClientSession()', 'request.app.state.http'),
        ('async def up():\n    c = aiohttp.ClientSession()', 'c'),
        ('async def up(app, key):\n    app[key] = aiohttp.ClientSession()', 'request.app["http"]'),
    ],
)  # fmt: skip
def test_a_client_that_one_function_makes_and_another_uses(run, made: str, used: str) -> None:  # type: ignore[no-untyped-def]
    found = clients(run(f'import aiohttp\n{made}\nasync def chat(request):\n    async with {used}.post("http://llm/v1/chat/completions") as r:\n        return await r.json()\n'))
    assert len(found) == (0 if 'key' in made or 'async def up():\n    c' in made else 1)
    assert not any(client['per_request'].value for client in found)


def test_the_timeout_of_a_request_goes_before_that_of_its_client(run) -> None:  # type: ignore[no-untyped-def]
    (client,) = clients(run('import httpx\nc = httpx.Client(timeout=5)\nc.post("http://llm/v1/completions", timeout=200)\n'))
    assert client['gap_timeout_s'].value == 200
    assert client['gap_timeout_s'].is_set


@pytest.mark.parametrize(
    ('limits', 'connections'),
    [
        ('httpx.Client()', 100), ('httpx.Client(limits=httpx.Limits(max_connections=7))', 7), ('httpx.Client(limits=httpx.Limits(max_connections=None))', math.inf),
        ('aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0))', math.inf), ('aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=50, limit_per_host=5))', 5),
        ('openai.OpenAI()', 1000),
    ],
)  # fmt: skip
def test_connections(run, limits: str, connections: float) -> None:  # type: ignore[no-untyped-def]
    (client,) = clients(run(f'import aiohttp, httpx, openai\nc = {limits}\n{_POST}'))
    assert client['connections'].value == connections


def test_limits_that_are_not_shown_are_unknown(run) -> None:  # type: ignore[no-untyped-def]
    (client,) = clients(run(f'import httpx\nc = httpx.Client(limits=limits(), timeout=wait())\n{_POST}'))
    assert client['connections'].reason
    assert client['gap_timeout_s'].reason


_SDK = 'from openai import AsyncOpenAI\n'


def test_an_sdk_waits_ten_minutes_and_tries_three_times(run) -> None:  # type: ignore[no-untyped-def]
    text = _SDK + 'class A:\n    def __init__(self):\n        self.llm = AsyncOpenAI(base_url="http://qwen:8000/v1")\n    async def ask(self):\n        await self.llm.chat.completions.create(stream=True)\n'
    (client,) = clients(run(text))
    assert (client['gap_timeout_s'].value, client['retries'].value, client['timeout_s'].value) == (600, 2, math.inf)
    assert client['streams'].value
    assert not client['per_request'].value
    assert client['target'].value == 'http://qwen:8000/v1'


@pytest.mark.parametrize(
    ('function', 'anew'),
    [
        ('async def ask():\n    async with httpx.AsyncClient() as c:\n        await c.post("/v1/completions")\n', True),
        ('async def ask():\n    c = httpx.AsyncClient()\n    await c.post("/v1/completions")\n', True),
        ('async def get_llm_response():\n    c = httpx.AsyncClient()\n    await c.post("/v1/completions")\n', True),
        ('c = httpx.AsyncClient()\nasync def ask():\n    await c.post("/v1/completions")\n', False),
        ('async def get_client():\n    c = httpx.AsyncClient()\n    await c.post("/v1/completions")\n', False),
        ('async def ask():\n    c = httpx.AsyncClient()\n    for a in b:\n        await c.post("/v1/completions")\n', False),
        ('async def ask():\n    c = httpx.AsyncClient()\n    await c.post("/v1/completions")\n    return c\n', False),
    ],
)  # fmt: skip
def test_a_client_that_is_made_for_one_request(run, function: str, anew: bool) -> None:  # type: ignore[no-untyped-def]
    (client,) = clients(run('import httpx\n' + function))
    assert client['per_request'].value is anew


@pytest.mark.parametrize(
    ('function', 'closes'),
    [
        ('async def ask():\n    async with httpx.AsyncClient() as c:\n        await c.post("/v1/completions")\n', True),
        ('async def ask():\n    c = httpx.AsyncClient()\n    async with c:\n        await c.post("/v1/completions")\n', True),
        ('async def ask():\n    c = httpx.AsyncClient()\n    await c.post("/v1/completions")\n    await c.aclose()\n', True),
        ('async def ask():\n    c = httpx.AsyncClient()\n    await c.post("/v1/completions")\n    await d.aclose()\n', False),
        ('async def ask():\n    c = httpx.AsyncClient()\n    await c.post("/v1/completions")\n', False),
        ('import openai\ndef ask():\n    c = openai.OpenAI()\n    c.chat.completions.create()\n', True),
    ],
)  # fmt: skip
def test_a_client_that_is_closed_after_its_request_leaks_nothing(run, function: str, closes: bool) -> None:  # type: ignore[no-untyped-def]
    result = run('import httpx\n' + function)
    assert clients(result)[0]['closes'].value is closes
    assert [finding.severity for finding in result.findings if finding.rule.id == 'http-client-per-request'] == ['advice' if closes else 'warning']


@pytest.mark.parametrize(
    ('text', 'found'),
    [
        ('@app.get("/a")\nasync def a():\n    return requests.get("http://b")\n', True), ('@app.get("/a")\ndef a():\n    return requests.get("http://b")\n', False),
        ('async def a():\n    return requests.get("http://b")\n', False), ('async def a():\n    return requests.post("http://b/v1/completions")\n', True),
        ('@app.get("/a")\nasync def a():\n    def b():\n        return requests.get("http://b")\n    return await to_thread(b)\n', False),
        ('@app.get("/a")\nasync def a():\n    return await run_in_threadpool(lambda: requests.get("http://b"))\n', False),
        ('@app.get("/a")\nasync def a():\n    return await run_in_threadpool(requests.get, "http://b")\n', False),
        ('c = OpenAI()\n@app.post("/a")\nasync def a():\n    return c.chat.completions.create()\n', True),
        ('c = AsyncOpenAI()\n@app.post("/a")\nasync def a():\n    return await c.chat.completions.create()\n', False),
    ],
)  # fmt: skip
def test_a_call_that_holds_up_the_event_loop(run, text: str, found: bool) -> None:  # type: ignore[no-untyped-def]
    result = run('import requests\nfrom fastapi import FastAPI\nfrom openai import AsyncOpenAI, OpenAI\napp = FastAPI()\n' + text)
    assert ('event-loop-blocked-by-request' in ids(result)) is found


@pytest.mark.parametrize(('first', 'found'), [('import argparse\n', 0), ('import argparse\nfrom fastapi import FastAPI\n', 1), ('', 1)])
def test_a_script_with_options_of_its_own_is_no_service(run, first: str, found: int) -> None:  # type: ignore[no-untyped-def]
    assert len(clients(run(f'{first}import httpx\nc = httpx.Client()\n{_POST}'))) == found


def test_what_asks_for_nothing_generated_is_no_client_of_ours(run) -> None:  # type: ignore[no-untyped-def]
    assert clients(run('import httpx\nc = httpx.Client()\nc.get("http://a/v1/models")\n')) == []
    assert clients(run('import openai\nc = openai.OpenAI()\nc.embeddings.create()\n')) == []


@pytest.mark.parametrize(
    ('files', 'found'),
    [
        ({'requirements.txt': 'httpx\n'}, 'warning'), ({'requirements.txt': 'httpx[http2]>=0.28\n'}, ''), ({'requirements.txt': 'httpx\nh2==4.3\n'}, ''),
        ({'requirements.txt': 'httpx\nhypercorn\n'}, ''), ({'requirements.txt': '-r base.txt\nhttpx\n'}, ''), ({}, ''), ({'requirements.txt': 'fastapi\n'}, ''),
        ({'pyproject.toml': '[project]\ndependencies = ["httpx>=0.27"]\n'}, 'warning'), ({'pyproject.toml': '[project]\ndependencies = ["httpx[http2]>=0.27"]\n'}, ''),
        ({'pyproject.toml': '[tool.poetry.dependencies]\nhttpx = {version = "*", extras = ["http2"]}\n'}, ''),
        ({'poetry.lock': '[[package]]\nname = "httpx"\n'}, 'error'), ({'poetry.lock': '[[package]]\nname = "h2"\n[[package]]\nname = "httpx"\n'}, ''),
        ({'app/requirements.txt': 'httpx[http2]\n', 'requirements.txt': 'httpx\n'}, ''), ({'uv.lock': 'name = "httpx"\n' + '# \n' * 2**19}, ''),
    ],
)  # fmt: skip
def test_http2_needs_a_package(run, files: dict[str, str], found: str) -> None:  # type: ignore[no-untyped-def]
    result = run('import httpx\nc = httpx.Client(http2=True)\n', files)
    assert [finding.severity for finding in result.findings if finding.rule.id == 'httpx-http2-not-installed'] == ([found] if found else [])


def test_a_client_reaches_the_engine_it_names(run) -> None:  # type: ignore[no-untyped-def]
    compose = 'services:\n  llm:\n    image: vllm/vllm-openai:v0.10.2\n    command: --model a --max-num-seqs 64\n'
    (client,) = clients(run(f'import httpx\nc = httpx.Client()\n{_POST}', {'compose.yaml': compose}))
    (engine,) = client.peers('engine')
    assert engine['max_num_seqs'].value == 64


@pytest.mark.parametrize(
    ('call', 'found'),
    [
        ('httpx.Timeout(read=5)', True), ('httpx.Timeout(connect=5, read=5, write=5)', True), ('httpx.Timeout(connect=5, read=5, write=5, pool=5)', False), ('httpx.Timeout(5, read=6)', False),
        ('httpx.Timeout(None)', False), ('httpx.Timeout(timeout=5, read=6)', False), ('httpx.Timeout(**words)', False), ('httpx.Timeout()', False), ('Timeout(read=5)', False),
    ],
)  # fmt: skip
def test_a_timeout_without_a_default(run, call: str, found: bool) -> None:  # type: ignore[no-untyped-def]
    assert ('httpx-timeout-incomplete' in ids(run(f'import httpx\nt = {call}\n'))) is found


@pytest.mark.parametrize(
    ('lines', 'found'),
    [
        ('', False),
        ('pool = ThreadPoolExecutor(max_workers=64)', True),
        ('pool = ThreadPoolExecutor(8)', False),
        ('pool = ThreadPoolExecutor(64)\nc.mount("http://", HTTPAdapter(pool_maxsize=64))', False),
        ('pool = ThreadPoolExecutor(64)\nc.mount("http://", HTTPAdapter(pool_connections=64))', True),
        ('pool = ThreadPoolExecutor(64)\nc.mount("http://", HTTPAdapter(**options))', False),
    ],
)  # fmt: skip
def test_threads_that_share_a_session_of_requests(run, lines: str, found: bool) -> None:  # type: ignore[no-untyped-def]
    text = f'import requests\nfrom concurrent.futures import ThreadPoolExecutor\nfrom requests.adapters import HTTPAdapter\nc = requests.Session()\n{lines}\n{_POST}'
    assert ('http-idle-connections-few' in ids(run(text))) is found
