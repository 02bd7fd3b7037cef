"""Servers that programs start, and what stands before them: what compose builds, Terraform's only load balancer."""

from collections.abc import Callable, Mapping

import pytest

from configaudit.result import Result

Run = Callable[..., Result]
NODE = "import express from 'express';\nconst app = express();\napp.listen(3000);\n"
NGINX = 'http {\n  upstream api { server api:3000; keepalive 8; }\n  server { location / { proxy_pass http://api; proxy_http_version 1.1; proxy_set_header Connection ""; } }\n}\n'
COMPOSE = 'services:\n  api: {build: ./api}\n  edge: {image: "nginx:1.27"}\n'
GO = 'package main\n\nimport (\n\t"net/http"\n\t"time"\n)\n\nfunc main() {\n\ts := &http.Server{Addr: ":80", FIELD}\n\ts.ListenAndServe()\n}\n'
ALB = 'resource "aws_lb" "edge" {\n  load_balancer_type = "application"\n}\n'


def races(result: Result) -> list[tuple[str, float]]:
    return [(item.severity, item.values['closes']) for item in result.findings if item.rule.id == 'server-keepalive-shorter-than-proxy']


@pytest.mark.parametrize(
    ('files', 'found'),
    [
        ({'api/server.ts': NODE, 'compose.yaml': COMPOSE, 'nginx.conf': NGINX}, [('warning', 5)]),
        ({'api/server.ts': NODE.replace('app.listen(3000);', 'const s = app.listen(3000);\ns.keepAliveTimeout = 75_000;'), 'compose.yaml': COMPOSE, 'nginx.conf': NGINX}, []),
        ({'api/server.js': NODE, 'api/Dockerfile': 'FROM node:22\nCMD ["node", "server.js"]\n', 'compose.yaml': COMPOSE, 'nginx.conf': NGINX}, [('warning', 5)]),
        ({'web/server.ts': NODE, 'compose.yaml': COMPOSE, 'nginx.conf': NGINX}, []),
        ({'api/server.ts': NODE, 'api/admin.ts': NODE, 'compose.yaml': COMPOSE, 'nginx.conf': NGINX}, []),
        ({'main.go': GO.replace('FIELD', 'ReadTimeout: 10 * time.Second'), 'lb.tf': ALB}, [('advice', 10)]),
        ({'main.go': GO.replace('FIELD', 'ReadTimeout: 10 * time.Second, IdleTimeout: 90 * time.Second'), 'lb.tf': ALB}, []),
        ({'main.go': GO.replace('FIELD', 'WriteTimeout: 10 * time.Second'), 'lb.tf': ALB}, []),
        ({'main.go': GO.replace('FIELD', 'ReadTimeout: 10 * time.Second'), 'a/server.ts': NODE, 'lb.tf': ALB}, []),
        ({'main.go': GO.replace('FIELD', 'ReadTimeout: 10 * time.Second'), 'lb.tf': ALB, 'nginx.conf': NGINX}, []),
    ],
)  # fmt: skip
def test_an_idle_connection_that_the_server_closes_first(run: Run, files: Mapping[str, str], found: list[tuple[str, float]]) -> None:
    assert races(run(files)) == found
