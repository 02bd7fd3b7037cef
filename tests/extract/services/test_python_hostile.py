"""Python source that somebody broke on purpose: no reader of it ends the run."""

import random
import subprocess
import sys
from pathlib import Path

_PROGRAM = """
import argparse, asyncio, multiprocessing, os
import aiohttp, httpx, openai, requests, uvicorn, environ, dj_database_url
from fastapi import FastAPI
from pydantic_settings import BaseSettings, SettingsConfigDict
from sqlalchemy import create_engine
env = environ.Env()
class Settings(BaseSettings):
    model_config = SettingsConfigDict(env_prefix="A_")
    POOL: int = 5
DATABASES = {"default": {"ENGINE": "django.db.backends.postgresql", "CONN_MAX_AGE": env.int("AGE", 60), "OPTIONS": {"pool": {"max_size": 4}}}, "b": dj_database_url.config(conn_max_age=1)}
DATABASES["default"]["CONN_MAX_AGE"] = None
SQLALCHEMY_ENGINE_OPTIONS = {"pool_size": int(os.getenv("P", "3")), **{}}
engine = create_engine(os.environ["DATABASE_URL"], pool_size=settings.POOL, **{"max_overflow": -1})
llm = openai.AsyncOpenAI(base_url=os.getenv("LLM", "http://a:1/v1"), timeout=httpx.Timeout(5, read=9), http_client=httpx.AsyncClient(http2=True, limits=httpx.Limits(max_connections=4)))
app = FastAPI()
@app.post("/a")
async def a(b):
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=3, sock_read=1), connector=aiohttp.TCPConnector(limit=0)) as s:
        async with s.post(f"{b}/v1/chat/completions", timeout=(1, 2)) as r:
            async for line in r.content:
                yield line
    requests.post("http://x" + "/v1/completions", stream=True)
    await llm.chat.completions.create(stream=True)
workers = min(multiprocessing.cpu_count() * 2 + 1, 4) or os.cpu_count()
uvicorn.run(app, timeout_keep_alive=int(os.getenv("K", 5)), workers=workers)
"""
_PIECES = ('(', ')', '[', ']', '{', '}', '"', "'", '=', '*', '**', ',', '.', ':', '\n', ' ', 'lambda: ', 'os.getenv(', '-', 'None', '9' * 400, '\\', '#', 'f"{', '\x00', '\ud7ff')


def _broken(number: int) -> str:
    chance = random.Random(number)
    text = _PROGRAM
    for _ in range(chance.randint(1, 6)):
        at = chance.randrange(len(text))
        text = text[:at] + chance.choice(_PIECES) * chance.choice((1, 1, 2, 300)) + text[at + chance.choice((0, 1, 3)) :]
    return text


def test_broken_programs(tmp_path: Path) -> None:
    for number in range(300):
        name = 'gunicorn.conf.py' if number % 10 == 0 else 'a.py'
        (tmp_path / str(number)).mkdir()
        (tmp_path / str(number) / name).write_text(_broken(number))
    (tmp_path / 'a.py').write_text(_PROGRAM)
    (tmp_path / 'chain.py').write_text('import httpx\n' + 'c = httpx.Client()\n' * 3000 + 'c' + '.post' * 3000 + '("/v1/completions")\n')
    code = 'from configaudit.audit import audit\nfrom configaudit.config import Config\nprint(len(audit(["."], Config()).components))'
    done = subprocess.run([sys.executable, '-c', code], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert int(done.stdout) > 50
