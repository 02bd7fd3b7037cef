"""Java and Kotlin source: constants, names, chains of calls; hostile input never ends the process."""

import random
import subprocess
import sys
from importlib import import_module

import pytest

from configaudit.parse.grammar import MAX_BYTES, MAX_NESTING, Unreadable
from configaudit.parse.jvm import Source, links
from configaudit.parse.jvm_values import Span, Unfolded, value
from configaudit.places import Document, locate

pytest.importorskip('tree_sitter_java')
pytest.importorskip('tree_sitter_kotlin')


def source(text: str, language: str = 'java') -> Source:
    return import_module(f'configaudit.parse.{language}').source_of(Document('A', language, text.encode()), (b'take(',))  # type: ignore[no-any-return]


def folded(expression: str, fields: str = '', inside: str = '', language: str = 'java') -> object:
    if language == 'java':
        text = f'class A {{\n{fields}\nvoid g(int p) {{\n{inside}\ntake({expression});\n}}\n}}\n'
    else:
        text = f'class A {{\n{fields}\nfun g(p: Int) {{\n{inside}\ntake({expression})\n}}\n}}\n'
    scope = source(text, language).scopes[-1]
    call = next(event.expr for event in scope.events if event.expr.name == 'take')
    return value(call.arguments[0], scope)


@pytest.mark.parametrize(
    ('expression', 'fields', 'inside', 'result'),
    [
        ('30_000L', '', '', 30000), ('0x10', '', '', 16), ('017', '', '', 15), ('2 * (3 + 4)', '', '', 14), ('-7 / 2', '', '', -3), ('1.5', '', '', 1.5), ('true', '', '', True),
        ('N', 'static final int N = 4;', '', 4), ('A.N', 'static final int N = 4;', '', 4), ('this.n', 'private final int n = 5;', '', 5), ('n', 'private int n = 6;', '', 6),
        ('x', '', 'var x = 3;', 3), ('(int) 3L', '', '', 3), ('"a:" + N', 'static final int N = 4;', '', 'a:4'), (r'"a\tb"', '', '', 'a\tb'),
        ('Duration.ofSeconds(30)', '', '', Span(30)), ('java.time.Duration.ofMinutes(2)', '', '', Span(120)), ('Duration.ofMinutes(2).toMillis()', '', '', 120000),
        ('Duration.of(3, ChronoUnit.HOURS)', '', '', Span(10800)), ('TimeUnit.MINUTES.toMillis(5)', '', '', 300000), ('Duration.ZERO', '', '', Span(0)),
        ('Long.MAX_VALUE', '', '', 2**63 - 1), ('t', '', 'Duration t = Duration.ofHours(1);', Span(3600)),
    ],
)  # fmt: skip
def test_constants_of_java_are_folded(expression: str, fields: str, inside: str, result: object) -> None:
    assert folded(expression, fields, inside) == result


@pytest.mark.parametrize(
    ('expression', 'fields', 'inside'),
    [
        ('x', '', 'int x = 3; x = 4;'), ('p', '', ''), ('cfg.n()', '', ''), ('n', 'int n = 6;', ''), ('n', 'private int n = 6; void set(int v) { this.n = v; }', ''),
        ('n', '@Parameter private int n = 6;', ''), ('1 / 0', '', ''), ('N', 'static final int N = N + 1;', ''), ('x > 1 ? 2 : 3', '', ''), ('System.nanoTime()', '', ''),
        ('x', '', 'for (int x : xs) {}'), ('f(1)', '', ''), ('Other.N', '', ''), (r'"\u00e9"', '', ''),
    ],
)  # fmt: skip
def test_what_only_running_tells_is_not_folded(expression: str, fields: str, inside: str) -> None:
    with pytest.raises(Unfolded):
        folded(expression, fields, inside)


def test_a_property_of_spring_says_its_name_and_default() -> None:
    with pytest.raises(Unfolded, match=r'the property pool.size decides it \(7 unless it is set\)'):
        folded('n', '@Value("${pool.size:7}") private int n;')
    with pytest.raises(Unfolded, match=r'the property pool.size decides it$'):
        folded('n', r'@Value("\${pool.size}") private var n: Int = 0', language='kotlin')


@pytest.mark.parametrize(
    ('expression', 'fields', 'inside', 'result'),
    [
        ('30_000L', '', '', 30000), ('30.seconds', '', '', Span(30)), ('2.minutes.inWholeMilliseconds', '', '', 120000), ('Duration.ofSeconds(N)', 'companion object { const val N = 4L }', '', Span(4)),
        ('A.N', 'companion object { private const val N = 4 }', '', 4), ('"$H:${P}"', 'val H = "db"\nval P = 5', '', 'db:5'), ('x', '', 'val x: Int = 3', 3), ('3.toLong()', '', '', 3),
        ('-1', '', '', -1), ('(2 * 3)', '', '', 6), ('5.seconds.toJavaDuration()', '', '', Span(5)), ('false', '', '', False), (r'"a\$b"', '', '', 'a$b'),
    ],
)  # fmt: skip
def test_constants_of_kotlin_are_folded(expression: str, fields: str, inside: str, result: object) -> None:
    assert folded(expression, fields, inside, 'kotlin') == result


@pytest.mark.parametrize(
    ('expression', 'fields', 'inside'),
    [('x', '', 'var x = 3\nx = 4'), ('p', '', ''), ('n', 'var n = 6', ''), ('env("A") ?: "3"', '', ''), ('"${f(1)}"', '', ''), ('if (p) 1 else 2', '', ''), ('n', 'val n: Int get() = 3', '')],
)
def test_what_only_running_tells_is_not_folded_in_kotlin(expression: str, fields: str, inside: str) -> None:
    with pytest.raises(Unfolded):
        folded(expression, fields, inside, 'kotlin')


def test_chains_and_their_holders() -> None:
    read = source('class A { void g() { B b = B.of(1)\n  .c(2); /* b.e(4); */ b.d(take(3)); } }')
    events = [(event.holder, [link.name for link in links(event.expr)]) for event in read.scopes[-1].events]
    assert events == [('b', ['B', 'of', 'c']), ('', ['b', 'd']), ('', ['take'])]


def test_places_count_code_points() -> None:
    read = source('class A { void g() { take("é", 5); } }')
    at = locate(read.place(read.scopes[-1].events[0].expr.arguments[1].node))
    assert (at.line, at.column, at.end_column) == (1, 32, 33)


@pytest.mark.parametrize(
    ('language', 'text'),
    [('java', 'class A { void g() { take(4); take(1 2); }\n void h() { take(5); } }'), ('kotlin', 'class A { fun g() { take(4); take(1 2) }\n fun h() { take(5) } }')],
)
def test_a_broken_function_does_not_hide_the_next(language: str, text: str) -> None:
    read = source(text, language)
    assert 'take(5)' in [read.text(event.expr.node) for scope in read.scopes for event in scope.events]
    assert 'take(4)' not in [read.text(event.expr.node) for scope in read.scopes for event in scope.events]


@pytest.mark.parametrize('language', ['java', 'kotlin'])
def test_what_the_parser_is_not_given(language: str) -> None:
    for text in ('x' * (MAX_BYTES + 1), 'class A { int x = ' + '(' * (MAX_NESTING + 1)):
        with pytest.raises(Unreadable):
            source(text, language)


_JAVA = 'import io.grpc.*;\nclass A {\n  private final int n = 3 * 2;\n  void g(NettyChannelBuilder b) { b = b.keepAliveTime(n, TimeUnit.SECONDS).build(); take("a" + n); for (X x : y) { take(x -> x.f()); } }\n}\n'
_KOTLIN = 'import io.grpc.*\nclass A(val p: Int = 3) {\n  val n = 3 * 2\n  fun g(b: NettyChannelBuilder<*>) { b.apply { keepAliveTime(n, SECONDS); x = 3 }.build(); take("a$n${p}") }\n}\n'
_HOSTILE = """
import sys
from importlib import import_module
from configaudit.places import Document
from configaudit.extract.services.jvm_code import read
for language, text in {texts!r}:
    read(Document('A.' + language, language, text))
print('done')
"""


def test_hostile_input_never_ends_the_process() -> None:
    texts = [('java', ('class A { Object x = b' + '.f()' * 5000 + '; void take() { y = ' + '-' * 3000 + '1' + '+1' * 5000 + '; } }').encode())]
    texts.append(('kotlin', ('fun take() { val x = b' + '.f()' * 5000 + '\nval y = 1' + '+1' * 5000 + '\nval z = ' + 'if (a) ' * 500 + ' 1 }').encode()))
    generator = random.Random(7)
    for language, start in (('java', _JAVA), ('kotlin', _KOTLIN)):
        for _ in range(150):
            data = bytearray(start.encode())
            for _ in range(generator.randrange(1, 8)):
                at = generator.randrange(len(data))
                data[at : at + generator.randrange(3)] = bytes(generator.choice(b'(){}[];:"$.,=<>@ \n\x00\xffax0') for _ in range(generator.randrange(4)))
            texts.append((language, bytes(data)))
    result = subprocess.run([sys.executable, '-c', _HOSTILE.format(texts=texts)], capture_output=True, text=True, timeout=120)
    assert result.stdout == 'done\n', result.stderr[-2000:]


@pytest.mark.parametrize(
    ('language', 'expression', 'variable'),
    [
        ('java', 'System.getenv("POOL_SIZE")', 'POOL_SIZE'), ('java', 'Integer.parseInt(System.getenv().getOrDefault("POOL_SIZE", "7"))', 'POOL_SIZE'), ('java', 'System.getProperty("a")', ''),
        ('kotlin', 'System.getenv("POOL_SIZE")?.toInt() ?: 10', 'POOL_SIZE'), ('kotlin', '(System.getenv("POOL_SIZE") ?: "10").toInt()', 'POOL_SIZE'), ('kotlin', 'env("POOL_SIZE")', ''),
    ],
)  # fmt: skip
def test_the_variable_that_decides(language: str, expression: str, variable: str) -> None:
    with pytest.raises(Unfolded) as why:
        folded(expression, language=language)
    assert why.value.variable == variable


def test_parsed_numbers_are_folded() -> None:
    assert (folded('Long.valueOf("12")'), folded('"12".toInt()', language='kotlin')) == (12, 12)
