"""Go source: names, scopes, constants, options; hostile input never ends the process."""

import random
import subprocess
import sys

import pytest

from configaudit.parse.golang import Source
from configaudit.parse.golang_values import Unfolded, value
from configaudit.parse.grammar import MAX_BYTES, MAX_NESTING, Unreadable, first_error, tree_of
from configaudit.places import Document, locate

pytest.importorskip('tree_sitter_go')
_HEAD = 'package a\n\nimport (\n\t"time"\n\tka "x.test/keepalive"\n\t_ "x.test/driver"\n)\n\n'


def source(text: str) -> Source:
    return Source(Document('a.go', 'go', text.encode()), (b'f(',))


def folded(expression: str, before: str = '', inside: str = '') -> object:
    read = source(f'{_HEAD}{before}\n\nfunc g() {{\n\t{inside}\n\tf({expression})\n}}\n')
    scope = read.scopes[-1]
    call = next(call for call in scope.calls if read.text(call.child_by_field_name('function')) == 'f')
    return value(read, read.arguments(call)[0], scope)


@pytest.mark.parametrize(
    ('expression', 'before', 'inside', 'result'),
    [
        ('30 * time.Second', '', '', 30 * 10**9), ('time.Duration(5) * time.Minute', '', '', 300 * 10**9), ('1_000', '', '', 1000), ('0x10', '', '', 16),
        ('017', '', '', 15), ('32 << 20', '', '', 32 << 20), ('-7 / 2', '', '', -3), ('N', 'const N = 4 * 2', '', 8), ('n', '', 'n := 3', 3), ('true', '', '', True),
        ('"a" + `b\\n`', '', '', 'ab\\n'), ('"a\\tb"', '', '', 'a\tb'), ('limit', 'var limit = time.Hour', '', 3600 * 10**9), ('int64(3)', '', '', 3), ('(2)', '', '', 2),
    ],
)  # fmt: skip
def test_constants_are_folded(expression: str, before: str, inside: str, result: object) -> None:
    assert folded(expression, before, inside) == result


@pytest.mark.parametrize(
    ('expression', 'before', 'inside'),
    [
        ('n', '', 'n := 3; n = 4'), ('cfg.N', '', ''), ('N', '', ''), ('limit', 'var limit = time.Hour', 'flag.DurationVar(&limit, "l", limit, "")'), ('1 / 0', '', ''),
        ('n', '', 'for n := range x {}'), ('h()', '', ''), ('1 << 400', '', ''), ('x', 'const x = x + 1', ''), ('"\\u00e9"', '', ''), ('time.Now()', '', ''),
    ],
)  # fmt: skip
def test_what_only_running_tells_is_not_folded(expression: str, before: str, inside: str) -> None:
    with pytest.raises(Unfolded):
        folded(expression, before, inside)


def test_names_are_resolved_through_imports() -> None:
    read = source(_HEAD + 'func g() { f(ka.New()); x.New() }\n')
    assert read.imports == {'time': 'time', 'ka': 'x.test/keepalive', 'x.test/driver': 'x.test/driver'}
    assert [name for name in map(read.called, read.scopes[-1].calls) if name] == ['x.test/keepalive.New']


def test_options_come_from_slices_and_append() -> None:
    read = source(_HEAD + 'func g(more ...O) {\n\topts := []O{ka.A()}\n\tif x {\n\t\topts = append(opts, ka.B())\n\t}\n\tf(opts...)\n\tf(more...)\n}\n')
    scope = read.scopes[-1]
    seen, unseen = (read.options(read.arguments(call), scope) for call in scope.calls if read.text(call).startswith('f('))
    assert [read.called(node) for node in seen.nodes] == ['x.test/keepalive.A', 'x.test/keepalive.B']
    assert (seen.complete, unseen.complete) == (True, False)


def test_places_count_code_points() -> None:
    read = source('package a\n\nfunc g() { f("é", 5) }\n')
    at = locate(read.place(read.arguments(read.scopes[-1].calls[0])[1]))
    assert (at.line, at.column, at.end_column) == (3, 19, 20)


def test_a_broken_function_does_not_hide_the_next() -> None:
    read = source('package a\n\nfunc g() {\n\tf(4)\n\tf(1 2)\n}\n\nfunc h() { f(5) }\n')
    assert [read.text(call) for scope in read.scopes for call in scope.calls] == ['f(5)']
    assert first_error('go', read.data) is not None
    assert first_error('go', b'package a\n') is None


@pytest.mark.parametrize('text', ['x' * (MAX_BYTES + 1), 'package a\nvar x = ' + '(' * (MAX_NESTING + 1)])
def test_the_parser_is_not_given_what_may_hurt_it(text: str) -> None:
    with pytest.raises(Unreadable):
        tree_of('go', text.encode())


def test_brackets_in_literals_and_comments_do_not_nest() -> None:
    assert tree_of('go', b'package a\nvar x = `' + b'(' * 500 + b'`\nvar y = "' + b'[' * 500 + b'" // ' + b'{' * 500 + b'\n').has_error is False


_FUZZ = """
import random, sys
from configaudit.extract.services.go_code import read
from configaudit.places import Document
random.seed(int(sys.argv[1]))
seed = sys.stdin.buffer.read()
tokens = [b'(', b')', b'{', b'}', b'[', b']', b'&', b'...', b'"', b'`', b'func', b':=', b'=', b',', b';', b'//', b'/*', b'\\x00', b'\\xff', b'.', b'opts', b'append(opts,', b'time.', b'-']
for _ in range(int(sys.argv[2])):
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
    read(Document('a.go', 'go', bytes(data)))
"""


def test_mutated_source_never_ends_the_process(fuzz_seed: bytes) -> None:
    done = subprocess.run([sys.executable, '-c', _FUZZ, str(random.Random(7).randrange(10**6)), '300'], input=fuzz_seed, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()[-2000:]


@pytest.fixture
def fuzz_seed() -> bytes:
    return b"""package a

import (
	"database/sql"
	"net/http"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/keepalive"
)

const wait = 30 * time.Second

func New(address string) error {
	opts := []grpc.DialOption{grpc.WithUserAgent("a")}
	opts = append(opts, grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: wait, PermitWithoutStream: true}))
	conn, err := grpc.NewClient(address, opts...)
	s := grpc.NewServer(grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: wait / 2}))
	db, err := sql.Open("mysql", "user:pw@tcp(db:3306)/x")
	db.SetMaxOpenConns(10)
	c := &http.Client{Timeout: wait}
	resp, err := c.Do(req)
	return stream(w, resp.Body)
}
"""
