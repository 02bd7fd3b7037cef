"""What JavaScript and TypeScript source sets up: pools, gRPC ends, HTTP servers and clients; and what is not judged."""

import math
from pathlib import Path

import pytest

from configaudit.audit import audit
from configaudit.config import Config
from configaudit.model import Component
from configaudit.result import Result

pytest.importorskip('tree_sitter_typescript')


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):  # type: ignore[no-untyped-def]
    def go(text: str, path: str = 'src/a.ts', **others: str) -> Result:
        for name, content in {path: text, **others}.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(content)
        monkeypatch.chdir(tmp_path)
        return audit(['.'], Config())

    return go


def some(result: Result, kind: str) -> list[Component]:
    return [component for component in result.components if component.kind.name == kind]


def one(result: Result, kind: str) -> Component:
    (found,) = some(result, kind)
    return found


def ids(result: Result) -> set[str]:
    return {finding.rule.id for finding in result.findings}


PG = "import { Pool } from 'pg';\n"


def test_node_postgres(run) -> None:  # type: ignore[no-untyped-def]
    pool = one(run(PG + "new Pool({ max: 30, min: 2, idleTimeoutMillis: 30_000, connectionTimeoutMillis: 2 * 1000, maxLifetimeSeconds: 900, connectionString: 'postgres://db/x' });"), 'pool')
    values = {name: pool[name].value for name in ('max_open', 'min_idle', 'idle_timeout_s', 'wait_timeout_s', 'max_lifetime_s', 'product', 'host', 'library')}
    assert values == {
        'max_open': 30, 'min_idle': 2, 'idle_timeout_s': 30, 'wait_timeout_s': 2, 'max_lifetime_s': 900, 'product': 'postgres', 'host': 'db', 'library': 'node-postgres',
    }  # fmt: skip


@pytest.mark.parametrize('made', ['new Pool()', 'new Pool({})', 'new Pool({ max: undefined })', "new Pool({ host: 'x' })"])
def test_defaults_of_node_postgres(run, made: str) -> None:  # type: ignore[no-untyped-def]
    result = run(f'{PG}export const pool = {made};')
    pool = one(result, 'pool')
    assert (pool['max_open'].value, pool['max_open'].is_set, pool['wait_timeout_s'].value, pool['idle_timeout_s'].value) == (10, False, math.inf, 10)
    assert ids(result) == {'db-pool-unstated', 'db-wait-unbounded'}
    assert 'in each of all that run its program: state its size' in ' '.join(finding.message for finding in result.findings)


@pytest.mark.parametrize(
    ('text', 'library', 'most', 'wait'),
    [
        ("import mysql from 'mysql2/promise';\nmysql.createPool({ host: 'm', connectionLimit: 20 });", 'mysql2', 20, None),
        ("const mysql = require('mysql2');\nmysql.createPool('mysql://m/x');", 'mysql2', 10, None),
        ("import { Sequelize } from 'sequelize';\nnew Sequelize('db', 'u', 'p', { dialect: 'postgres', pool: { max: 7, acquire: 30000 } });", 'sequelize', 7, 30),
        ("import { Sequelize } from 'sequelize';\nnew Sequelize('postgres://db/x');", 'sequelize', 5, 60),
        ("import knex from 'knex';\nknex({ client: 'pg', connection: process.env.DB, pool: { min: 0, max: 8, acquireTimeoutMillis: 5000 } });", 'knex', 8, 5),
        ("const knex = require('knex')({ client: 'mysql2', connection: {} });", 'knex', 10, 60),
        ("import { DataSource } from 'typeorm';\nnew DataSource({ type: 'postgres', extra: { max: 9, connectionTimeoutMillis: 4000 } });", 'node-postgres', 9, 4),
        ("import { DataSource } from 'typeorm';\nnew DataSource({ type: 'mysql', poolSize: 6 });", 'mysql2', 6, None),
        ("import { TypeOrmModule } from '@nestjs/typeorm';\nTypeOrmModule.forRootAsync({ inject: [C], useFactory: (config: C) => ({ type: 'postgres', poolSize: config.get<number>('POOL', 12) }) });", 'node-postgres', 12, math.inf),
        ("import { TypeOrmModule } from '@nestjs/typeorm';\nTypeOrmModule.forRootAsync({ useFactory: async (config: C) => { const type = 'mysql'; return { type, host: config.host }; } });", 'mysql2', 10, None),
        ("import postgres from 'postgres';\nexport const sql = postgres(process.env.DATABASE_URL!, { max: 3 });", 'postgres.js', 3, None),
        ("import { PrismaPg } from '@prisma/adapter-pg';\nnew PrismaPg({ connectionString: process.env.DATABASE_URL, max: 4 });", 'node-postgres', 4, math.inf),
        ("import { drizzle } from 'drizzle-orm/node-postgres';\nexport const db = drizzle(process.env.DATABASE_URL!);", 'node-postgres', 10, math.inf),
        ("import mariadb from 'mariadb';\nmariadb.createPool({ connectionLimit: 5 });", 'mariadb', 5, 10),
    ],
)  # fmt: skip
def test_every_library(run, text: str, library: str, most: int, wait: float | None) -> None:  # type: ignore[no-untyped-def]
    pool = one(run(text), 'pool')
    assert (pool['library'].value, pool['max_open'].value, pool['wait_timeout_s'].value) == (library, most, wait)


@pytest.mark.parametrize(
    'text',
    [
        "import { Pool } from './workers';\nnew Pool({ max: 1000 });", 'class Pool {}\nnew Pool({ max: 1000 });', "import { Sequelize } from 'sequelize';\nnew Sequelize({ dialect: 'sqlite' });",
        "import knex from 'knex';\nknex(config);", "import knex from 'knex';\nknex({ client: 'better-sqlite3' });", "import { DataSource } from 'typeorm';\nnew DataSource({ type: 'sqlite' });",
        "import { DataSource } from 'typeorm';\nconst type = process.env.DB_TYPE || 'postgres';\nif (type === 'sqlite') new DataSource({ type });",
        PG + 'async function f() { const pool = new Pool({ max: 9 }); await pool.end(); }', "import { Pool } from 'pg';\nimport { PrismaPg } from '@prisma/adapter-pg';\nnew PrismaPg(pool, { schema: 'a' });",
        "import { drizzle } from 'drizzle-orm/node-postgres';\ndrizzle(client, { schema });", "import type { Pool } from 'pg';\nnew Pool({ max: 1 });", '// new Pool({ max: 3 })\n' + PG,
    ],
)  # fmt: skip
def test_what_is_no_pool_of_the_service(run, text: str) -> None:  # type: ignore[no-untyped-def]
    assert some(run(text), 'pool') == []


@pytest.mark.parametrize(
    'path',
    [
        'src/a.test.ts', 'src/a.spec.js', 'test/a.ts', 'src/__tests__/a.ts', 'scripts/a.js', 'examples/a.ts', 'dist/a.js', 'a.min.js', 'src/a.d.ts', 'prisma/seed.ts', 'src/migrate.ts',
        'node_modules/x/a.js', 'src/components/a.tsx', 'integration-tests/a.ts', 'vite.config.ts',
    ],
)  # fmt: skip
def test_files_that_are_no_part_of_a_service(run, path: str) -> None:  # type: ignore[no-untyped-def]
    assert some(run(PG + 'new Pool({});', path), 'pool') == []


@pytest.mark.parametrize('head', ["'use client';\n", "import React from 'react';\n", "import { test } from 'vitest';\n"])
def test_what_runs_in_a_browser_or_a_test(run, head: str) -> None:  # type: ignore[no-untyped-def]
    assert some(run(head + PG + 'new Pool({});', 'src/a.tsx'), 'pool') == []


def test_options_from_elsewhere_are_not_known(run) -> None:  # type: ignore[no-untyped-def]
    result = run(PG + "import config from './config';\nnew Pool(config);\nnew Pool({ max: 5, ...config });\nnew Pool({ ...config, max: 5 });")
    assert [pool['max_open'].is_known for pool in some(result, 'pool')] == [False, False, True]
    assert ids(result) == set()


DEPLOYMENT = """apiVersion: apps/v1
kind: Deployment
metadata: {name: orders}
spec:
  replicas: 3
  selector: {matchLabels: {app: orders}}
  template:
    metadata: {labels: {app: orders}}
    spec:
      containers:
      - name: orders
        image: registry.example/orders:1.4
        env:
        - {name: DATABASE_URL, value: 'postgres://app@db:5432/orders'}
        - {name: POOL_MAX, value: '40'}
---
apiVersion: v1
kind: Service
metadata: {name: db}
spec: {selector: {app: db}, ports: [{port: 5432}]}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  serviceName: db
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec:
      containers:
      - {name: postgres, image: 'postgres:16', args: ['-c', 'max_connections=100']}
"""
JOINED = PG + 'export const pool = new Pool({ connectionString: process.env.DATABASE_URL, max: Number(process.env.POOL_MAX || 10), connectionTimeoutMillis: 2000 });\n'


def test_a_pool_is_sized_by_the_environment_of_the_process_that_runs_it(run) -> None:  # type: ignore[no-untyped-def]
    result = run(JOINED, 'services/orders/db.ts', **{'deploy.yaml': DEPLOYMENT})
    pool = one(result, 'pool')
    assert (pool['max_open'].value, pool['host'].value, pool['library'].value) == (40, 'db', 'node-postgres')
    (exceeds,) = (finding for finding in result.findings if finding.rule.id == 'db-pools-exceed-server')
    assert exceeds.severity == 'error'
    assert '160 connections' in exceeds.message


def test_the_default_holds_where_no_process_sets_the_variable(run) -> None:  # type: ignore[no-untyped-def]
    pool = one(run(JOINED, **{'deploy.yaml': DEPLOYMENT.replace('POOL_MAX', 'OTHER')}), 'pool')
    assert pool['max_open'].value == 10


@pytest.mark.parametrize(('image', 'sizes'), [('orders', [20, 40]), ('audit', [None, None, None])])
def test_processes_that_differ(run, image: str, sizes: list[int | None]) -> None:  # type: ignore[no-untyped-def]
    """Of one image each process has its own; of several nobody knows which of them runs the program."""
    other = DEPLOYMENT.partition('---')[0].replace('name: orders', 'name: audit').replace("'40'", "'20'").replace('/orders:', f'/{image}:')
    result = run(JOINED, 'src/db.ts', **{'deploy.yaml': DEPLOYMENT + '---\n' + other})
    assert sorted((pool['max_open'].known_value for pool in some(result, 'pool')), key=str) == sizes


GRPC = "import * as grpc from '@grpc/grpc-js';\n"


def test_grpc_client(run) -> None:  # type: ignore[no-untyped-def]
    client = one(run(GRPC + "new Chat('chat:50051', grpc.credentials.createInsecure(), { 'grpc.keepalive_time_ms': 5 * 60_000, 'grpc.keepalive_permit_without_calls': 1 });"), 'grpc-client')
    assert (client['target'].value, client['time_s'].value, client['timeout_s'].value, client['permit_without_stream'].value) == ('chat:50051', 300, 20, True)


def test_true_is_not_one(run) -> None:  # type: ignore[no-untyped-def]
    client = one(run(GRPC + "new Chat(address, credentials ?? grpc.credentials.createInsecure(), { 'grpc.keepalive_permit_without_calls': true });"), 'grpc-client')
    assert client['permit_without_stream'].value is False


@pytest.mark.parametrize(('address', 'count'), [("'localhost:1'", 0), ("'127.0.0.1:1'", 0), ("process.env.CHAT || 'localhost:1'", 1), ("'chat:1'", 1)])
def test_a_channel_to_this_machine_is_not_judged(run, address: str, count: int) -> None:  # type: ignore[no-untyped-def]
    assert len(some(run(GRPC + f'new Chat({address}, grpc.credentials.createInsecure());'), 'grpc-client')) == count


NEST = "import { ClientsModule, Transport } from '@nestjs/microservices';\n"
REGISTERED = NEST + "@Module({ imports: [ClientsModule.register([{ name: 'A', transport: Transport.GRPC, options: { url: 'orders:5000', package: 'a', %s } }])] })\nexport class M {}"


@pytest.mark.parametrize(
    ('options', 'time', 'permits'),
    [
        ('keepalive: { keepaliveTimeMs: 10 * 1000, keepalivePermitWithoutCalls: 1 }', 10, True), ("channelOptions: { 'grpc.keepalive_time_ms': 20_000 }", 20, False), ('protoPath: p', math.inf, False),
        ("channelOptions: { 'grpc.keepalive_time_ms': 20_000 }, keepalive: { keepaliveTimeMs: 40_000 }", 40, False),
    ],
)  # fmt: skip
def test_grpc_clients_of_nestjs(run, options: str, time: float, permits: bool) -> None:  # type: ignore[no-untyped-def]
    client = one(run(REGISTERED % options), 'grpc-client')
    assert (client['target'].value, client['time_s'].value, client['permit_without_stream'].value) == ('orders:5000', time, permits)


def test_a_grpc_client_of_nestjs_that_a_factory_makes(run) -> None:  # type: ignore[no-untyped-def]
    made = "ClientsModule.registerAsync([{ name: 'A', useFactory: (configService) => ({ transport: Transport.GRPC, options: { url: configService.get('A_URL'), keepalive } }) }]);"
    client = one(run(NEST + made), 'grpc-client')
    assert (client['variable'].value, client['time_s'].is_known) == ('A_URL', False)


def test_a_grpc_client_of_nestjs_in_a_file_of_its_own(run) -> None:  # type: ignore[no-untyped-def]
    text = "import { ClientProviderOptions, Transport } from '@nestjs/microservices';\nexport const orders = (config): ClientProviderOptions => ({ name: 'ORDERS', transport: Transport.GRPC, options: { url: config.get('ORDERS_URL'), keepalive: { keepaliveTimeMs: 10 * 1000 } } });"
    assert one(run(text), 'grpc-client')['time_s'].value == 10


@pytest.mark.parametrize('made', ['NestFactory.createMicroservice<MicroserviceOptions>(AppModule, %s)', 'app.connectMicroservice(%s)'])
def test_grpc_servers_of_nestjs(run, made: str) -> None:  # type: ignore[no-untyped-def]
    result = run(NEST + made % "{ transport: Transport.GRPC, options: { url: '0.0.0.0:5000', package: 'a', channelOptions: { 'grpc.max_connection_age_ms': 60_000 } } }")
    server = one(result, 'grpc-server')
    assert (server['port'].value, server['max_connection_age_s'].value, server['permit_without_stream'].value) == ('5000', 60, True)


@pytest.mark.parametrize('text', [REGISTERED.replace('orders:', 'localhost:') % 'package: 2', NEST + 'const options = { transport: Transport.GRPC, options: {} };', NEST + 'ClientsModule.register([{ transport: Transport.TCP, options: {} }]);'])
def test_what_is_no_grpc_end_of_nestjs(run, text: str) -> None:  # type: ignore[no-untyped-def]
    assert some(run(text), 'grpc-client') == some(run(text), 'grpc-server') == []


def test_a_node_server_polices_no_pings(run) -> None:  # type: ignore[no-untyped-def]
    text = GRPC + "new grpc.Server({ 'grpc.max_connection_age_ms': 600_000 });\nnew Chat(address, grpc.credentials.createInsecure(), { 'grpc.keepalive_time_ms': 20000, 'grpc.keepalive_permit_without_calls': 1 });"
    result = run(text)
    assert one(result, 'grpc-server')['max_connection_age_s'].value == 600
    assert ids(result) == set()


FASTIFY = "import { NestFactory } from '@nestjs/core';\nimport { FastifyAdapter } from '@nestjs/platform-fastify';\n"


@pytest.mark.parametrize(
    ('text', 'product', 'idle'),
    [
        ("import http from 'node:http';\nhttp.createServer(f).listen(80);", 'node:http', 5),
        ("const express = require('express');\nconst app = express();\nconst server = app.listen(80);\nserver.keepAliveTimeout = 65 * 1000;", 'express', 65),
        ("import Fastify from 'fastify';\nconst app = Fastify({ logger: true });\nawait app.listen({ port: 80 });", 'fastify', 72),
        ("import fastify from 'fastify';\nconst app = fastify({ keepAliveTimeout: 10_000 });\napp.listen({ port: 80 });", 'fastify', 10),
        ("import { NestFactory } from '@nestjs/core';\nconst app = await NestFactory.create(AppModule, { cors: true });\nawait app.listen(3000);", 'nestjs', 5),
        (FASTIFY + 'const app = await NestFactory.create(AppModule, new FastifyAdapter());\nawait app.listen(3000);', 'fastify', 72),
        (FASTIFY + 'const app = await NestFactory.create(AppModule, new FastifyAdapter({ keepAliveTimeout: 9000 }));\nawait app.listen(3000);', 'fastify', 9),
        ("import http from 'http';\nfunction start(app) { const server = http.createServer(app); const most = Number(process.env.X) || 65000; server.keepAliveTimeout = most; server.listen(80); }", 'node:http', 65),
        ("import http from 'http';\nclass A { start() { this.server = http.createServer(f); this.server.keepAliveTimeout = 90e3; this.server.listen(80); } }", 'node:http', 90),
    ],
)  # fmt: skip
def test_http_servers(run, text: str, product: str, idle: float) -> None:  # type: ignore[no-untyped-def]
    server = one(run(text), 'http-server')
    assert (server['product'].value, server['idle_timeout_s'].value) == (product, idle)


@pytest.mark.parametrize(
    'text',
    [
        "import fastify from 'fastify';\nimport { options } from './options';\nconst app = fastify(options);\napp.listen({ port: 80 });",
        FASTIFY + 'const app = await NestFactory.create(AppModule, adapterOf(settings));\nawait app.listen(3000);',
        "import { NestFactory } from '@nestjs/core';\nconst app = await NestFactory.create(AppModule);\nawait app.listen(3000);\nconst inner = app.getHttpServer();\ninner.keepAliveTimeout = 61_000;",
    ],
)  # fmt: skip
def test_an_idle_time_that_is_set_out_of_sight_is_unknown(run, text: str) -> None:  # type: ignore[no-untyped-def]
    assert not one(run(text), 'http-server')['idle_timeout_s'].is_known


def test_a_server_that_never_listens_is_none(run) -> None:  # type: ignore[no-untyped-def]
    assert some(run("import http from 'http';\nexport const server = http.createServer(f);"), 'http-server') == []


def test_clients(run) -> None:  # type: ignore[no-untyped-def]
    text = """import OpenAI from 'openai';
import axios from 'axios';
import { Agent } from 'undici';
new OpenAI({ baseURL: 'http://vllm:8000/v1', timeout: 30_000, maxRetries: 5 });
axios.create({ baseURL: 'http://vllm:8000', timeout: 20_000 });
new Agent({ headersTimeout: 60_000 });
new OpenAI({ baseURL: 'https://api.openai.com/v1' });
"""
    openai, axios, undici = some(run(text), 'http-client')
    assert (openai['first_byte_timeout_s'].value, openai['retries'].value, openai['timeout_s'].value) == (30, 5, math.inf)
    assert (axios['gap_timeout_s'].value, axios['first_byte_timeout_s'].value, axios['timeout_s'].value) == (20, 20, math.inf)
    assert (undici['first_byte_timeout_s'].value, undici['gap_timeout_s'].value) == (60, 300)


def test_an_agent_made_for_each_request(run) -> None:  # type: ignore[no-untyped-def]
    text = "import https from 'https';\nimport express from 'express';\nconst app = express();\napp.get('/', async (req, res) => { const agent = new https.Agent({ keepAlive: true }); });\nnew https.Agent({ maxSockets: 5 });"
    assert [bool(client['per_request'].value) for client in some(run(text), 'http-client')] == [True, False]


@pytest.mark.parametrize(
    ('inside', 'cut'),
    [
        ("headers: { Accept: 'text/event-stream' }, signal: AbortSignal.timeout(5000) }); return answer.text();", False),
        ("headers: { Accept: 'text/event-stream' }, signal: AbortSignal.timeout(5000) }); return new Response(answer.body);", True),
        ('body: JSON.stringify({ stream: true, max_tokens: 512 }), signal: AbortSignal.timeout(5000) }); return answer;', True),
        ('body: JSON.stringify({ stream: true, max_tokens: 1 }), signal: AbortSignal.timeout(5000) }); return answer;', False),
    ],
)  # fmt: skip
def test_a_stream_is_taken_piece_by_piece(run, inside: str, cut: bool) -> None:  # type: ignore[no-untyped-def]
    assert ('http-timeout-cuts-streams' in ids(run('export const f = async () => { const answer = await fetch(url, { ' + inside + ' };'))) is cut


def test_a_timeout_without_a_stream_is_fine(run) -> None:  # type: ignore[no-untyped-def]
    assert ids(run("export const f = async () => { const answer = await fetch(url, { signal: AbortSignal.timeout(5000) }); return answer.json(); };")) == set()


@pytest.mark.parametrize(
    ('instances', 'known', 'value'), [('4', True, 4), ("'2'", True, 2), ("'max'", False, None), ('os.cpus().length', False, None), ('process.env.N || 3', True, 3)],
)  # fmt: skip
def test_processes_that_pm2_starts(run, instances: str, known: bool, value: int | None) -> None:  # type: ignore[no-untyped-def]
    result = run(PG + 'new Pool({ max: 5 });', **{'ecosystem.config.js': f"module.exports = {{ apps: [{{ name: 'a', script: 'dist/a.js', instances: {instances} }}] }};\n"})
    processes = one(result, 'pool')['processes']
    assert (processes.is_known, processes.known_value) == (known, value)


def test_the_thread_pool_that_a_module_sizes_itself(run) -> None:  # type: ignore[no-untyped-def]
    size = "process.env.UV_THREADPOOL_SIZE = '32';\n"
    assert ids(run("import fs from 'fs';\n" + size, 'a.mjs')) == {'node-threadpool-set-too-late'}
    assert ids(run(size + "const fs = require('fs');\n", 'a.mjs', **{'b.cjs': size, 'c.js': size})) == {'node-threadpool-set-too-late'}
    assert ids(run(size, 'a.cjs', **{'a.mjs': ''})) == set()


SCHEMA = 'datasource db {\n  provider = "postgresql"\n  url      = env("DATABASE_URL") // set by the platform\n}\n'


def test_prisma_opens_as_many_as_the_url_of_the_process_says(run) -> None:  # type: ignore[no-untyped-def]
    limited = DEPLOYMENT.replace("5432/orders'", "5432/orders?connection_limit=7'")
    pool = one(run('', **{'prisma/schema.prisma': SCHEMA, 'deploy.yaml': limited}), 'pool')
    assert (pool['max_open'].value, pool['library'].value) == (7, 'prisma')


def test_prisma_without_a_limit(run) -> None:  # type: ignore[no-untyped-def]
    result = run('', **{'prisma/schema.prisma': SCHEMA, 'deploy.yaml': DEPLOYMENT.replace('POOL_MAX', 'OTHER')})
    pool = one(result, 'pool')
    assert (pool['library'].value, pool['host'].value, pool['max_open'].is_known, pool['statement_cache'].value) == ('prisma', 'db', False, 100)
    assert 'db-pool-unstated' in ids(result)


@pytest.mark.parametrize('schema', [SCHEMA.replace('postgresql', 'sqlite'), SCHEMA.replace('url ', '// '), 'datasource db {\n  provider = "postgresql"\n}\n', SCHEMA + 'previewFeatures = ["driverAdapters"]\n'])
def test_a_schema_without_a_pool(run, schema: str) -> None:  # type: ignore[no-untyped-def]
    assert some(run('', **{'prisma/schema.prisma': schema}), 'pool') == []


@pytest.mark.parametrize(('options', 'kept'), [('', 1), (', { prepare: false }', 0), (', { max: 4, prepare: true }', 1)])
def test_statements_that_postgres_js_keeps(run, options: str, kept: int) -> None:  # type: ignore[no-untyped-def]
    assert one(run(f"import postgres from 'postgres';\nexport const sql = postgres('postgres://pgbouncer/x'{options});"), 'pool')['statement_cache'].value == kept


@pytest.mark.parametrize(
    ('text', 'anew'),
    [
        ("app.post('/a', async (req, res) => { const pool = new Pool({ max: 2 }); });", True), ('export async function GET(request: Request) { const pool = new Pool({ max: 2 }); }', True),
        ('export function connect(request: string) { return new Pool({ max: 2 }); }', False), ("app.get('/a', (req, res) => res.end());\nnew Pool({ max: 2 });", False),
        ('class Db { open(options) { this.pool = new Pool({ max: 2 }); } }', False),
    ],
)  # fmt: skip
def test_a_pool_made_for_each_request(run, text: str, anew: bool) -> None:  # type: ignore[no-untyped-def]
    assert ('db-pool-per-request' in ids(run(PG + text))) is anew


def test_the_port_and_streams_of_a_grpc_server(run) -> None:  # type: ignore[no-untyped-def]
    server = one(run(GRPC + "const PORT = 50051;\nconst server = new grpc.Server({ 'grpc.max_concurrent_streams': 64 });\nserver.bindAsync(`0.0.0.0:${PORT}`, grpc.ServerCredentials.createInsecure(), f);"), 'grpc-server')
    assert (server['port'].value, server['max_concurrent_streams'].value) == ('50051', 64)


KNEXFILE = "export default { development: { client: 'sqlite3', connection: {} }, production: { client: 'pg', connection: process.env.DATABASE_URL, pool: { min: 2, max: 30 } } };"


@pytest.mark.parametrize(
    ('text', 'most'), [(KNEXFILE, [30]), ("module.exports = { client: 'mysql2', connection: { host: 'm' }, pool: { max: 4 } };", [4]), ("module.exports = { client: 'sqlite3', connection: {} };", [])],
)  # fmt: skip
def test_knexfile(run, text: str, most: list[int]) -> None:  # type: ignore[no-untyped-def]
    assert [pool['max_open'].value for pool in some(run(text, 'api/knexfile.js'), 'pool')] == most


def test_options_that_a_later_part_may_replace(run) -> None:  # type: ignore[no-untyped-def]
    text = "import { rest } from './rest.js';\nconst all = { client: 'pg', connection: { host: 'db' }, pool: { max: 20 }, ...(process.env.X ? rest() : {}) };\nexport default all;"
    pool = one(run(text, 'knexfile.js'), 'pool')
    assert (pool['product'].known_value, pool['max_open'].is_known) == (None, False)


@pytest.mark.parametrize('path', ['src/data/shop.prisma', 'examples/prisma/schema.prisma'])
def test_a_schema_that_is_no_part_of_the_service(run, path: str) -> None:  # type: ignore[no-untyped-def]
    assert some(run('', **{path: SCHEMA}), 'pool') == []


@pytest.mark.parametrize(
    ('text', 'found'),
    [
        ("import axios from 'axios';\nconst c = axios.create({ timeout: 20000 });\nc.post('/v1/chat/completions', {});\n", True),
        ("import axios from 'axios';\nconst c = axios.create({ timeout: 20000 });\nc.get('/users');\n// c.post('/v1/chat/completions')\n", False),
        ("import OpenAI from 'openai';\nconst c = new OpenAI({ baseURL: process.env.LLM_URL, timeout: 20000 });\n", True),
        ("import OpenAI from 'openai';\nconst c = new OpenAI({ baseURL: process.env.LLM_URL });\n", False),
        ("import { Agent } from 'undici';\nconst a = new Agent({ headersTimeout: 20000 });\nfetch(url + '/api/generate', { dispatcher: a });\n", True),
    ],
)
def test_what_asks_for_generated_text(run, text: str, found: bool) -> None:  # type: ignore[no-untyped-def]
    assert ('first-token-after-client-timeout' in ids(run(text, 'src/llm.ts'))) is found


@pytest.mark.parametrize(
    ('text', 'host'),
    [
        (PG + "new Pool({ host: 'pg.shop.svc', max: 5 });", 'pg.shop.svc'),
        (PG + "const HOST = 'pg';\nnew Pool({ host: HOST, max: 5 });", 'pg'),
        (PG + "new Pool({ host: process.env.PGHOST || 'pg', max: 5 });", None),
        ("import knex from 'knex';\nexport const db = knex({ client: 'pg', connection: { host: 'pg', user: 'u' }, pool: { max: 7 } });", 'pg'),
        ("import mysql from 'mysql2';\nexport const db = mysql.createPool({ host: 'my', connectionLimit: 7 });", 'my'),
    ],
)
def test_the_host_that_options_name(run, text: str, host: str | None) -> None:  # type: ignore[no-untyped-def]
    assert one(run(text), 'pool')['host'].known_value == host


EDGE = """apiVersion: v1
kind: Service
metadata: {name: chat}
spec: {selector: {app: chat}, ports: [{port: 80, targetPort: 3000}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: chat}
spec:
  selector: {matchLabels: {app: chat}}
  template:
    metadata: {labels: {app: chat}}
    spec: {containers: [{name: chat, image: "example.com/chat:1.0", command: %s}]}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: chat, annotations: {alb.ingress.kubernetes.io/load-balancer-attributes: "idle_timeout.timeout_seconds=300"}}
spec: {ingressClassName: alb, defaultBackend: {service: {name: chat, port: {number: 80}}}}
"""


@pytest.mark.parametrize(
    ('command', 'line', 'is_found'),
    [
        ('[node, dist/main.js]', 'const server = app.listen(3000);', True), ('[node, dist/main]', 'const server = app.listen(3000);', True), ('[node, --enable-source-maps, dist/main]', 'const server = app.listen(3000);', True),
        ('[sh, -c, "exec node dist/main.js"]', 'const server = app.listen(3000);', True),
        ('[node, dist/main.js]', 'const server = app.listen(3000);\nserver.keepAliveTimeout = 310_000;', False),
        ('[node, dist/worker.js]', 'const server = app.listen(3000);', False),
        ('[deno, main.ts]', 'const server = app.listen(3000);', False),
    ],
)
def test_a_server_behind_the_load_balancer_of_the_pod_that_starts_it(run, command: str, line: str, is_found: bool) -> None:  # type: ignore[no-untyped-def]
    result = run(f"import express from 'express';\nconst app = express();\n{line}\n", 'src/main.ts', **{'edge.yaml': EDGE % command})
    assert ('server-keepalive-shorter-than-proxy' in ids(result)) is is_found


def test_a_knexfile_whose_fields_something_unseen_may_replace(run) -> None:  # type: ignore[no-untyped-def]
    text = "const config = {\n  client: 'pg',\n  connection: { host: 'db' },\n  pool: { max: 20 },\n  ...(isTest ? mappers() : {}),\n};\nexport default config;\n"
    assert run(text, 'backend/knexfile.js').errors == ()
