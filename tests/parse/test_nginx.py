import pytest

from configaudit.parse.entries import Edit
from configaudit.parse.nginx import Directive, insert, read, replace

TEXT = """# 注释 {
worker_processes auto;
http {
    include mime.types; # x }
    log_format main '$a "$b" \\'c\\''
                    "d;e";
    map $http_upgrade $c { default upgrade; '' close; }
    upstream llm {
        server 10.0.0.1:8000;
    }
    server {
        location ~ ^/v1/(?<n>\\d+)$ {
            proxy_pass http://llm/${n}x;
            if ($a ~ "b{2}") { return 404; }
        }
        access_by_lua_block {
            -- } comment
            local t = { "}", '}' }
            if x then y() end
        }
        proxy_read_timeout 60s;
    }
}
"""


def applied(text: str, edit: Edit) -> str:
    return text[: edit.start] + edit.text + text[edit.end :]


def every(directives: tuple[Directive, ...]) -> list[Directive]:
    return [inner for outer in directives for inner in (outer, *every(outer.block or ()))]


def named(text: str, name: str) -> Directive:
    return next(found for found in every(read(text).directives) if found.name == name)


def test_read() -> None:
    file = read(TEXT)
    assert not file.problems
    assert [found.name for found in file.directives] == ['worker_processes', 'http']
    assert [arg.text for arg in named(TEXT, 'log_format').args] == ['main', '$a "$b" \'c\'', 'd;e']
    assert [arg.text for arg in named(TEXT, 'location').args] == ['~', '^/v1/(?<n>\\d+)$']
    assert [arg.text for arg in named(TEXT, 'proxy_pass').args] == ['http://llm/${n}x']
    assert [arg.text for arg in named(TEXT, 'if').args] == ['($a', '~', 'b{2}', ')']
    assert [found.name for found in named(TEXT, 'map').block or ()] == ['default', '']
    timeout = named(TEXT, 'proxy_read_timeout')
    assert TEXT[timeout.args[0].start : timeout.args[0].end] == '60s'
    assert TEXT[timeout.start : timeout.end] == 'proxy_read_timeout 60s;'


def test_lua_is_passed_over() -> None:
    lua = named(TEXT, 'access_by_lua_block')
    assert lua.block == ()
    assert TEXT[lua.inner.start : lua.inner.end].rstrip().endswith('y() end')


@pytest.mark.parametrize(
    'text', ['a {', 'a', '}', 'a "b;', '{ }', ';', 'a { b }', 'x_by_lua_block { {', 'a {' * 200, 'a b; }\nc d;']
)
def test_problems(text: str) -> None:
    assert read(text).problems


def test_reading_goes_on_after_a_problem() -> None:
    assert [found.name for found in read('a b; }\nc d;').directives] == ['a', 'c']


@pytest.mark.parametrize(('value', 'expected'), [('600s', '600s'), ('a b', '"a b"'), ('x;"', '"x;\\""')])
def test_replace(value: str, expected: str) -> None:
    changed = applied(TEXT, replace(TEXT, named(TEXT, 'proxy_read_timeout').args[0], value))
    assert changed == TEXT.replace('60s', expected)
    assert named(changed, 'proxy_read_timeout').args[0].text == value


def test_insert() -> None:
    upstream = named(TEXT, 'upstream')
    line = '        server 10.0.0.1:8000;\n'
    assert applied(TEXT, insert(TEXT, upstream, 'keepalive 32;')) == TEXT.replace(
        line, line + '        keepalive 32;\n'
    )
    assert applied(TEXT, insert(TEXT, upstream, 'zone z 64k;', at_start=True)) == TEXT.replace(
        line, '        zone z 64k;\n' + line
    )
    assert applied('a b;', insert('a b;', None, 'c d;')) == 'a b;\nc d;\n'
    assert applied('a b;', insert('a b;', None, 'c d;', at_start=True)) == 'c d;\na b;'
    one = 'u { a 1; }'
    assert applied(one, insert(one, named(one, 'u'), 'b 2;', at_start=True)) == 'u { b 2; a 1; }'
