"""JavaScript and TypeScript programs: what their source sets up of gRPC, connection pools, HTTP servers and clients."""

import re

from configaudit.extract.process import Data, Reading, nothing
from configaudit.extract.services.javascript_grpc import grpc_components
from configaudit.extract.services.javascript_http import http_components
from configaudit.extract.services.javascript_pools import pools_of
from configaudit.extract.services.javascript_runtime import instances_of, runtime_components
from configaudit.extract.services.nest_grpc import nest_components
from configaudit.extract.services.source_role import is_served
from configaudit.parse.grammar import Unreadable
from configaudit.parse.javascript import Source
from configaudit.patterns import regex
from configaudit.places import Document

_BROWSER = regex(rb'''^\s*["']use client["']|(?:from|require\()\s*["'](?:react|react-dom|vue|svelte|@angular/core|jquery)["']|\bdocument\.(?:getElementById|querySelector|createElement)\(|\bwindow\.''', re.MULTILINE)
_TESTS = regex(rb'''["'](?:vitest|@jest/globals|supertest|chai|mocha|sinon|node:test|@playwright/test|testcontainers|@testcontainers/[\w-]+)["']''')
_SERVICES = regex(r'(?:^|/)(?:ecosystem|pm2)\.config\.[cm]?js$')
_MINIFIED = 2000
"""Characters of a line that nobody writes."""


def read(document: Document) -> Reading | None:
    """The clients, servers and pools of a file; None when it has none, or is no part of a service."""
    data = document.parsed
    if not is_served(document.below) or _BROWSER.search(data) or _TESTS.search(data) or max(map(len, data.split(b'\n', 60)[:60])) > _MINIFIED:
        return None
    try:
        source = Source(document)
    except Unreadable:
        return None
    if _SERVICES.search(document.path):
        words = instances_of(source)
        return Reading([], [], [Data('pm2', '', document.path.rpartition('/')[0], words)], []) if words else None
    reading = nothing()
    numbers: dict[str, int] = {}
    for found in (*grpc_components(source), *nest_components(source), *pools_of(source), *http_components(source), *runtime_components(source)):
        number = numbers[found.kind.name] = numbers.get(found.kind.name, -1) + 1
        found.identity = f'node/{document.path}/{found.kind.name}/{number}'
        reading.components.append(found)
    return reading if reading.components else None
