"""Variables, arrays and branches of shell scripts."""

from __future__ import annotations

import pytest

from configaudit.parse.shell import Command, Token, commands
from configaudit.units import HOLE


def last(text: str, **variables: Token | str) -> Command:
    return commands(text, variables)[-1]


def described(text: str, **variables: Token | str) -> list[tuple[str, str]]:
    """Values of the last command beside the text that defines them."""
    return [(token.value, text[token.start : token.end]) for token in last(text, **variables).argv[1:]]


@pytest.mark.parametrize(
    ('text', 'expected'),
    [
        pytest.param('N=96; x "$N"', [('96', '96')], id='assigned'),
        pytest.param('N="96"; M=$N; x ${M}', [('96', '"96"')], id='through-another-variable'),
        pytest.param('x "${N:-96}"', [('96', '96')], id='default-at-use'),
        pytest.param('N=${N-96}; x $N', [('96', '96')], id='default-at-assignment'),
        pytest.param(': "${N:=96}"; x $N', [('96', '96')], id='assigning-default'),
        pytest.param('N=; x "${N:-1}" "${N-2}" $N', [('1', '1'), ('', '')], id='empty'),
        pytest.param('N=4; x ${N:?gone} ${N:+"a b"}', [('4', '4'), ('a b', '"a b"')], id='known-alternatives'),
        pytest.param('x ${N:-a b} "${N:-c d}"', [('a', 'a'), ('b', 'b'), ('c d', 'c d')], id='default-splits'),
        pytest.param('x "${N:-${M:-7}}" ${1:-8}', [('7', '7'), ('8', '8')], id='nested-default'),
        pytest.param('F="--a 1  --b"; x $F', [('--a', '--a'), ('1', '1'), ('--b', '--b')], id='field-splitting'),
        pytest.param('F="--a 1"; x "$F"', [('--a 1', '"--a 1"')], id='quoted-never-splits'),
        pytest.param(
            'F="--a 1"; F="$F --b 2"; F+=" --c"; x $F',
            [('--a', '--a'), ('1', '1'), ('--b', '--b'), ('2', '2'), ('--c', '--c')],
            id='accumulated',
        ),
        pytest.param(
            'A=(--a "1 2"); A+=(--b); x "${A[@]}" ${A[0]} "${A[*]}"',
            [('--a', '--a'), ('1 2', '"1 2"'), ('--b', '--b'), ('--a', '--a'), ('--a 1 2 --b', '${A[*]}')],
            id='array',
        ),
        pytest.param('A=(); x "${A[@]}" a', [('a', 'a')], id='empty-array'),
        pytest.param('A=(b); x ${A[@]+"${A[@]}"}', [('b', 'b')], id='array-guard'),
        pytest.param('declare -a A=(b c); x "${A[@]}"', [('b', 'b'), ('c', 'c')], id='declared-array'),
        pytest.param(
            'set -e; set -- y "$@" 1; x "$@" $3', [('y', 'y'), (HOLE, '$@'), ('1', '1'), (HOLE, '$@')], id='set'
        ),
        pytest.param('export N=5 M; x $N', [('5', '5')], id='exported'),
        pytest.param('N=5; (N=6; true); x $N', [('5', '5')], id='subshell-keeps-to-itself'),
        pytest.param('N=5; { N=6; }; x $N', [('6', '6')], id='group-does-not'),
        pytest.param('for n in 5; do x $n; done', [('5', '5')], id='loop-over-one-value'),
        pytest.param('f() { x $N; }; N=5; f', [('5', '5')], id='function-reads-at-its-call'),
        pytest.param('f() { local N=6; M=7; }; N=5; f; x $N $M', [('5', '5'), ('7', '7')], id='local'),
    ],
)
def test_known_values(text: str, expected: list[tuple[str, str]]) -> None:
    assert described(text) == expected


@pytest.mark.parametrize(
    ('text', 'value', 'reason'),
    [
        ('x $N', HOLE, 'variable $N is not set here'),
        ('x --n="$N"', f'--n={HOLE}', 'variable $N is not set here'),
        ('N=$M; x $N', HOLE, 'variable $M is not set here'),
        ('N=1; unset N; x $N', HOLE, 'variable $N is not set here'),
        ('N=a/b; x ${N##*/}', HOLE, 'the value of ${N##*/} is only known when the script runs'),
        ('x $((1 + (2)))', HOLE, 'the value of $((1 + (2))) is only known when the script runs'),
        ('x $?', HOLE, 'the value of $? is only known when the script runs'),
        ('x "$@"', HOLE, 'the arguments of the script are not known here'),
        ('x $1', HOLE, 'argument $1 of the script is not known here'),
        ('x ${N:+--flag}', HOLE, 'the value of ${N:+--flag} is only known when the script runs'),
        ('for n in 1 2; do x $n; done', HOLE, 'variable $n changes in each round of the loop'),
        ('read N; x $N', HOLE, 'variable $N is read from input'),
        ('N=1; if t; then N=2; fi; x $N', HOLE, 'variable $N depends on a branch'),
        ('N=1; [ -n "$M" ] && N=2; x $N', HOLE, 'variable $N depends on a branch'),
        ('N=1; t || N=2; x $N', HOLE, 'variable $N depends on a branch'),
        ('N=1; while t; do N=2; done; x $N', HOLE, 'variable $N depends on a branch'),
        ('case $1 in a) N=1;; *) N=2;; esac; x $N', HOLE, 'variable $N depends on a branch'),
        ('f() { N=$1; }; f 1; x $N', HOLE, 'the arguments of a function are not known'),
        ('f() { N="$N a"; }; f; f; x $N', HOLE, 'variable $N is set by a function that runs more than once'),
        ('A[1]=2; x "${A[1]}"', HOLE, 'an element of $A is assigned'),
    ],
)
def test_unknown_values_say_why(text: str, value: str, reason: str) -> None:
    token = last(text).argv[1]
    assert (token.value, token.reason, token.pure) == (value, reason, False)


@pytest.mark.parametrize(
    ('text', 'value'),
    [
        ('N=1; if t; then N=1; fi; x $N', '1'),
        ('if t; then N=3; else N=3; fi; x $N', '3'),
        ('if [ -z "$N" ]; then N=3; fi; x $N', '3'),
        ('N=1; if t; then N=${N:-2}; fi; x $N', '1'),
        ('cd /w && N=4 && x $N', '4'),
        ('if t; then N=1; y $N; else N=2; x $N; fi', '2'),
    ],
)
def test_branches_that_agree(text: str, value: str) -> None:
    assert last(text).argv[1].value == value


@pytest.mark.parametrize(
    'text',
    [
        'F="--a 1"; if t; then F="$F --b"; fi; t && F+=" --c"; x $F',
        'F=(--a 1); if t; then F+=(--b); fi; t && F+=(--c); x "${F[@]}"',
    ],
)
def test_conditional_additions_keep_what_is_certain(text: str) -> None:
    assert [token.value for token in last(text).argv] == ['x', '--a', '1', HOLE]


@pytest.mark.parametrize('use', ['$RUN --y 2', 'exec $RUN --y 2', 'eval "$RUN --y 2"', 'eval $RUN --y 2'])
def test_command_in_a_variable(use: str) -> None:
    text = f'RUN="x serve --n 1"\n{use}\n'
    engine = last(text)
    assert [token.value for token in engine.argv] == ['x', 'serve', '--n', '1', '--y', '2']
    assert [token.start for token in engine.argv[:4]] == [text.index(word) for word in ('x', 'serve', '--n', '1')]
    assert all(token.pure for token in engine.argv)


def test_part_of_a_value_has_its_own_place() -> None:
    text = 'N=256; x --n=$N --m="a b"'
    whole, quoted = last(text).argv[1:]
    assert (text[whole.start : whole.end], whole.pure) == ('--n=$N', False)
    number = whole.cut(4)
    assert (number.value, number.start, number.end, number.pure) == ('256', 2, 5, True)
    assert text[quoted.cut(4).start : quoted.cut(4).end] == 'a b'
    assert quoted.cut(5).pure


def test_environment_is_that_of_the_moment() -> None:
    text = 'export A=1\nB=2 x\nA=3\ny\nunset A\nz\n'
    x, y, z = [command for command in commands(text) if command.argv[0].value in 'xyz']
    assert {name: token.value for name, token in x.environment.items()} == {'A': '1', 'B': '2'}
    assert {name: token.value for name, token in y.environment.items()} == {'A': '3'}
    assert dict(z.environment) == {}
    assert text[y.environment['A'].start] == '3'


def test_passed_in_string() -> None:
    text = 'x "$N" ${N:-5} $F'
    assert described(text, N='7', F='a b') == [('7', '$N'), ('7', '${N:-5}'), ('a', '$F'), ('b', '$F')]
    assert not any(token.pure for token in last(text, N='7', F='a b').argv[1:])
    assert last(text, N='7').environment['N'].start == -1


def test_passed_in_token_keeps_its_place() -> None:
    passed = Token('--a 12', 100, 106, (100, 106), '', True)
    whole, flag, number = last('x "$F" $F', F=passed).argv[1:]
    assert (whole.start, whole.end, whole.use, whole.pure, whole.variable) == (100, 106, (2, 6), True, 'F')
    assert (flag.value, flag.start, flag.end, flag.variable) == ('--a', 100, 103, 'F')
    assert (number.value, number.start, number.end, number.pure) == ('12', 104, 106, True)


def test_kubelet_expands_first() -> None:
    text = 'x $(N) --n=$(N) \'$(N)\' "$(N)" $$(N) $(M)'
    assert [token.value for token in last(text, N='7').argv] == ['x', '7', '--n=7', '7', '7', '$(N)', HOLE]
    assert [command.argv[0].value for command in commands(text, {'N': '7'})] == ['M', 'x']
    assert [command.argv[0].value for command in commands('x $(N)')] == ['N', 'x']
