"""JavaScript and TypeScript source: names, scopes, constants, objects; hostile input never ends the process."""

import random
import subprocess
import sys

import pytest

from configaudit.parse.javascript import Source
from configaudit.parse.javascript_values import UNDEFINED, Reader, Unfolded
from configaudit.places import Document, locate

pytest.importorskip('tree_sitter_typescript')
FORMS = ('javascript', 'typescript', 'tsx')


def source(text: str, form: str = 'typescript') -> Source:
    return Source(Document('a.ts', form, text.encode()))


def call_of(read: Source, name: str):  # type: ignore[no-untyped-def]
    return next((call, scope) for scope in read.scopes for call in scope.calls if read.text(call).startswith((f'{name}(', f'new {name}(')))


def folded(expression: str, before: str = '', inside: str = '', form: str = 'typescript', **environment: str) -> object:
    read = source(f'{before}\nfunction g(q) {{ {inside}\n f({expression}); }}\n', form)
    call, scope = call_of(read, 'f')
    return Reader(read, environment).value(read.arguments(call)[0], scope)


@pytest.mark.parametrize(
    ('expression', 'before', 'inside', 'result'),
    [
        ('30_000', '', '', 30000), ('1 * 60 * 1000', '', '', 60000), ('0x10', '', '', 16), ('1e4', '', '', 10000), ('.5 * 10', '', '', 5), ('-3', '', '', -3),
        ('N', 'const N = 4 * 2;', '', 8), ('n', '', 'let n = 3;', 3), ('O.a.b', 'const O = { a: { b: 7 } };', '', 7), ('"a" + \'b\\n\'', '', '', 'ab\n'),
        ('`x${N}`', 'const N = 2;', '', 'x2'), ('process.env.X || 10', '', '', 10), ('process.env.X ?? 10', '', '', 10), ('Number(process.env.X) || 10', '', '', 10),
        ("parseInt(process.env.X ?? '10', 10)", '', '', 10), ("parseInt(process.env['X'] || '25 s')", '', '', 25), ('+(process.env.X || 5)', '', '', 5),
        ('process.env.X ? parseInt(process.env.X) : 20', '', '', 20), ("process.env.NODE_ENV === 'production' ? 20 : 5", '', '', 20), ('!0', '', '', True),
        ('X', "const { X = '6' } = process.env;", '', '6'), ('x', "const { X: x = 6 } = process.env;", '', 6), ('env.X || 3', 'const env = process.env;', '', 3),
        ("config.get('N', 7)", '', '', 7), ("config.get('N', { infer: true })", '', '', UNDEFINED),
        ("ms('30s')", "import ms from 'ms';", '', 30000), ('false', '', '', False), ('null', '', '', None), ('process.env.X', '', '', UNDEFINED),
    ],
)  # fmt: skip
def test_constants_are_folded(expression: str, before: str, inside: str, result: object) -> None:
    for form in FORMS:
        assert folded(expression, before, inside, form) == result


@pytest.mark.parametrize(('expression', 'result'), [("this.configService.get<number>('N') ?? 8", 8), ('(5 as number)', 5), ('process.env.X!', UNDEFINED), ("Number(process.env.X! ?? '4')", 4), ('(7 satisfies number)', 7)])
def test_types_are_looked_through(expression: str, result: object) -> None:
    assert folded(expression) == result


@pytest.mark.parametrize(
    ('expression', 'result'),
    [('process.env.X || 10', '20'), ('Number(process.env.X ?? 10)', 20), ('parseInt(process.env.X) * 1000', 20000), ('process.env.X ? +process.env.X : 3', 20)],
)  # fmt: skip
def test_the_environment_is_asked(expression: str, result: object) -> None:
    assert folded(expression, X='20') == result


@pytest.mark.parametrize(
    ('expression', 'before', 'inside'),
    [
        ('n', '', 'let n = 3; n = 4;'), ('n', 'let n = 3; function h() { n++; }', ''), ('q', '', ''), ('cfg.max', '', ''), ('N', '', ''), ('h()', '', ''), ('1 / 0', '', ''),
        ('O.a', 'const O = { a: 1 }; O.a = 2; O.a = 3;', ''), ('O.a', 'const O = { a: 1, ...more };', ''), ("config.get('db.max', 3)", '', ''), ("cache.get('N', 3)", '', ''), ('x', 'const x = x + 1;', ''), ('2 ** 3', '', ''),
        ('`a${q}`', '', ''), ('n', '', 'for (const n of list) {}'), ('9007199254740993 * 9007199254740993 * 9', '', ''), ('Number(1)', 'function Number() {}', ''),
    ],
)  # fmt: skip
def test_what_only_running_tells_is_not_folded(expression: str, before: str, inside: str) -> None:
    with pytest.raises(Unfolded):
        folded(expression, before, inside)


@pytest.mark.parametrize(
    ('before', 'expression', 'name'),
    [
        ("import { Pool } from 'pg';", 'Pool', 'pg.Pool'), ("import pg from 'pg';", 'pg.Pool', 'pg.Pool'), ("import * as pg from 'pg';", 'pg.Pool', 'pg.Pool'),
        ("import { Pool as P } from 'pg';", 'P', 'pg.Pool'), ("const { Pool } = require('pg');", 'Pool', 'pg.Pool'), ("const pg = require('pg');", 'pg.Pool', 'pg.Pool'),
        ("const Pool = require('pg').Pool;", 'Pool', 'pg.Pool'), ("import pg from 'pg'; const { Pool } = pg;", 'Pool', 'pg.Pool'),
        ("import h from 'node:http';", 'h.Agent', 'http.Agent'), ("const h = await import('http');", 'h.Agent', 'http.Agent'), ("import { Pool } from './pool';", 'Pool', './pool.Pool'),
        ("import type { Pool } from 'pg';", 'Pool', ''), ('class Pool {}', 'Pool', ''), ("import { Pool } from 'pg'; { const Pool = other(); }", 'Pool', ''),
        ("const { default: k } = require('knex');", 'k', 'knex.default'),
    ],
)  # fmt: skip
def test_names_are_resolved_through_imports(before: str, expression: str, name: str) -> None:
    read = source(f'{before}\nconst made = new {expression}({{}});\n')
    call, scope = call_of(read, expression)
    assert read.called(call, scope) == name


def test_a_spread_that_is_not_shown_may_replace_what_stands_before_it() -> None:
    read = source("const base = { a: 1 };\nf({ ...base, 'b-c': 2, d, ...more, e: 3, ['g']: 4 });\n")
    call, scope = call_of(read, 'f')
    fields = read.fields(read.arguments(call)[0], scope)
    assert {name: value is not None for name, value in fields.values.items()} == {'a': False, 'b-c': False, 'd': False, 'e': True, 'g': True}
    assert not fields.complete


def test_places_count_code_points() -> None:
    read = source('f("é", 5);\n', 'javascript')
    at = locate(read.place(read.arguments(read.file.calls[0])[1]))
    assert (at.line, at.column, at.end_column) == (1, 8, 9)


def test_a_broken_call_does_not_hide_the_next() -> None:
    read = source('function g() { f(4 5 6); }\nfunction h() { f(5); }\n')
    assert [read.text(call) for scope in read.scopes for call in scope.calls] == ['f(5)']


_FUZZ = """
import random, sys
from configaudit.extract.services.javascript_code import read
from configaudit.places import Document
random.seed(int(sys.argv[1]))
seed = sys.stdin.buffer.read()
tokens = [b'(', b')', b'{', b'}', b'[', b']', b'...', b'"', b'`', b'${', b'=>', b'=', b',', b';', b'//', b'/*', b'\\x00', b'\\xff', b'.', b'?.', b'new ', b'await ', b'<', b'as ', b'import ', b'const ']
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
    read(Document('a.ts', ('typescript', 'javascript', 'tsx')[number % 3], bytes(data)))
"""


def test_mutated_source_never_ends_the_process() -> None:
    seed = b"""import { Pool } from 'pg';
import * as grpc from '@grpc/grpc-js';
import express from 'express';
const { DB_MAX = '10' } = process.env;
const limits = { max: Number(DB_MAX), idleTimeoutMillis: 30_000 } as const;
export const pool = new Pool({ connectionString: process.env.DATABASE_URL, ...limits });
const client = new proto.Chat('chat:50051', grpc.credentials.createInsecure(), { 'grpc.keepalive_time_ms': 10 * 1000 });
const app = express();
app.post('/v1', async (req, res) => {
  const answer = await fetch(`${process.env.LLM}/v1/chat/completions`, { signal: AbortSignal.timeout(30_000) });
  for await (const piece of answer.body) res.write(piece);
});
const server = app.listen(3000);
server.keepAliveTimeout = 65 * 1000;
"""
    done = subprocess.run([sys.executable, '-c', _FUZZ, str(random.Random(7).randrange(10**6)), '300'], input=seed, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()[-2000:]
