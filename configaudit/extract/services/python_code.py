"""Python programs: the engines they start, and what they set up of gRPC and connection pools."""

from configaudit.extract.carriers import python as engines
from configaudit.extract.process import Data, Reading, nothing
from configaudit.extract.services.source_role import is_served
from configaudit.parse.python import Source, Unreadable
from configaudit.patterns import regex
from configaudit.places import Document

_SERVER_FILE = regex(r'(?:^|/)gunicorn(?:[._-]\w+)*\.py$')


def read(document: Document) -> Reading | None:
    """What a file sets up; None when that is nothing, or it is no part of a service."""
    found = engines.read(document) if any(word in document.parsed for word in (b'vllm', b'sglang', b'LLMConfig')) else None
    asks = _HTTP.search(document.parsed) is not None and _ASKS.search(document.parsed) is not None
    if not is_served(document.below) or not (asks or _SERVER_FILE.search(document.path) or any(word in document.parsed for word in WORDS)):
        return found
    try:
        source = Source(document)
    except Unreadable:
        return found
    reading = found or nothing()
    if _SERVER_FILE.search(document.path):
        from configaudit.extract.services.gunicorn_file import words_of

        words = words_of(source)
        if words:
            reading.data.append(Data('gunicorn', '', document.path, words))
    else:
        _program(document, source, asks, reading)
    return reading if found is not None or reading.components or reading.data else None


def _program(document: Document, source: Source, asks: bool, reading: Reading) -> None:
    from configaudit.extract.services.python_grpc import grpc_components
    from configaudit.extract.services.python_pools import pools_of

    reading.components.extend((*grpc_components(source), *pools_of(source)))
    if asks:
        from configaudit.extract.services.python_http import clients_of

        reading.components.extend(clients_of(source))
    if b'.Timeout' in document.parsed and b'httpx' in document.parsed:
        from configaudit.extract.services.python_http import timeouts_of

        reading.components.extend(timeouts_of(source))
    if b'uvicorn' in document.parsed:
        from configaudit.extract.services.uvicorn_calls import words_of as server_words

        words = server_words(source)
        if words is not None:
            reading.data.append(Data('uvicorn', '', document.path, words))
    if b'DATABASES' in document.parsed:
        from configaudit.extract.services.python_django import changes_of
        from configaudit.extract.services.python_django import pools_of as databases_of

        reading.components.extend(databases_of(source))
        changes = changes_of(source)
        if changes is not None:
            reading.data.append(changes)
    if b'SQLALCHEMY_ENGINE_OPTIONS' in document.parsed:
        from configaudit.extract.services.python_flask import pools_of as options_of

        reading.components.extend(options_of(source))
    if b'BaseSettings' in document.parsed:
        from configaudit.extract.services.python_environment import fields_of

        fields = fields_of(source)
        if fields:
            reading.data.append(Data('pydantic', '', document.path, fields))


_HTTP = regex(rb'\b(?:httpx|requests|aiohttp|openai|anthropic)\b')
_ASKS = regex(rb'completions|/generate_stream|/v1/|/api/generate|\bhttp2\b|fastapi|starlette|quart|responses\.|messages\.')
"""Words of a file that asks for generated text, speaks HTTP/2, or serves on an event loop."""
WORDS = (b'create_engine', b'create_async_engine', b'ConnectionPool', b'create_pool', b'grpc', b'DATABASES', b'SQLALCHEMY_ENGINE_OPTIONS', b'BaseSettings', b'uvicorn.', b'Pooled', b'databases', b'httpx.Timeout')
"""A file without any of these sets up nothing that is read here."""
