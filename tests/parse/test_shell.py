"""Commands of shell scripts: which words they have, and where each value is defined."""

from __future__ import annotations

import pytest

from configaudit.parse.shell import Command, Token, commands
from configaudit.units import HOLE

LAUNCHER = """#!/bin/bash
set -eu
UTIL="${UTIL:-0.93}"
FLAGS=(
  --model /srv/weights
  --max-num-seqs 320 # --max-num-seqs 1
  "--served-model-name" 'my chat'
)
cat > /etc/motd <<'END'
vllm serve /nowhere --max-num-seqs 7777
END
start() {
  python -m vllm.entrypoints.openai.api_server "${FLAGS[@]}" \\
    --gpu-memory-utilization "$UTIL" --port "$1" >> /var/log/engine.log 2>&1 &
}
for port in 9000 9001; do start "$port"; done
# vllm serve /srv/weights --max-num-seqs 6666
wait
"""

CONTAINER = """set -eu
# --max-num-seqs 555 is a remark
export DIR=${DIR:-/weights}
if [ ! -e "$DIR/ready" ]; then echo "no --max-num-seqs yet"; sleep 2; fi
LEVEL=INFO exec vllm serve "$DIR" \\
  --max-num-seqs=224 \\
  --gpu-memory-utilization 0.91 \\
  --kv-transfer-config '{"kv_role":"kv_both"}' 2>&1 | tee /tmp/out.log
"""


def running(text: str, program: str, **variables: Token | str) -> Command:
    """The only command of the script that runs the program."""
    (found,) = [command for command in commands(text, variables) if command.argv[0].value == program]
    return found


def values(command: Command) -> list[str]:
    return [token.value for token in command.argv]


def spelled(text: str, token: Token) -> str:
    return text[token.start : token.end]


def test_array_function_and_default_lead_to_their_definitions() -> None:
    engine = running(LAUNCHER, 'python')
    assert values(engine)[3:] == [
        '--model', '/srv/weights', '--max-num-seqs', '320', '--served-model-name', 'my chat',
        '--gpu-memory-utilization', '0.93', '--port', HOLE,
    ]  # fmt: skip
    by_value = {token.value: token for token in engine.argv}
    assert by_value['320'].start == LAUNCHER.index('320')
    assert spelled(LAUNCHER, by_value['my chat']) == "'my chat'"
    assert by_value['0.93'].start == LAUNCHER.index('0.93')
    assert spelled(LAUNCHER, by_value['0.93']) == '0.93'
    assert LAUNCHER[slice(*by_value['0.93'].use)] == '"$UTIL"'
    assert LAUNCHER[slice(*by_value['320'].use)] == '"${FLAGS[@]}"'
    assert by_value['320'].pure
    assert by_value['0.93'].pure
    assert engine.argv[-1].reason == 'the arguments of a function are not known'
    assert (engine.background, engine.conditional, engine.piped, engine.exec) == (True, True, False, False)


def test_heredocs_and_comments_hold_no_commands() -> None:
    found = [token.value for command in commands(LAUNCHER) for token in command.argv]
    assert '7777' not in found
    assert '6666' not in found
    assert '1' not in found


def test_container_script() -> None:
    engine = running(CONTAINER, 'vllm')
    assert (engine.background, engine.conditional, engine.piped, engine.exec) == (False, False, True, True)
    assert values(engine) == [
        'vllm', 'serve', '/weights', '--max-num-seqs=224', '--gpu-memory-utilization', '0.91',
        '--kv-transfer-config', '{"kv_role":"kv_both"}',
    ]  # fmt: skip
    assert [(name, token.value) for name, token in engine.assignments] == [('LEVEL', 'INFO')]
    assert spelled(CONTAINER, engine.argv[2]) == '/weights'
    assert spelled(CONTAINER, engine.argv[3].cut(len('--max-num-seqs='))) == '224'
    assert spelled(CONTAINER, engine.argv[7]) == '\'{"kv_role":"kv_both"}\''
    assert engine.environment['DIR'].value == '/weights'
    assert engine.environment['LEVEL'].value == 'INFO'
    assert CONTAINER[engine.start : engine.end].startswith('LEVEL=INFO exec vllm')
    assert CONTAINER[engine.start : engine.end].endswith("'")


@pytest.mark.parametrize(
    ('text', 'expected'),
    [
        pytest.param('x a\\\n  b', ['x', 'a', 'b'], id='continuation-joins-nothing-but-lines'),
        pytest.param('x a\\\nb', ['x', 'ab'], id='continuation-inside-a-word'),
        pytest.param('x a \\\r\n  b\r\ny c\r\n', ['x', 'a', 'b'], id='crlf'),
        pytest.param('x "a \\"b\\" \\c $$(" \'$Q\' c\\ d', ['x', f'a "b" \\c {HOLE}(', '$Q', 'c d'], id='quotes'),
        pytest.param("x $'a\\tb\\x41\\u00e9\\'' ''", ['x', "a\tbAé'", ''], id='ansi-quotes'),
        pytest.param('x a#b # c', ['x', 'a#b'], id='comment-begins-a-word'),
        pytest.param('x 2>&1 >o a &>p <i b >>q 3<&- c <<<word', ['x', 'a', 'b', 'c'], id='redirections'),
        pytest.param('x 2 >o', ['x', '2'], id='number-apart-from-redirection'),
        pytest.param('! time x a', ['x', 'a'], id='negation-and-time'),
        pytest.param('exec -a name x a', ['x', 'a'], id='exec-options'),
        pytest.param('x "never closed\ny', ['x', 'never closed\ny'], id='unterminated-double-quote'),
        pytest.param("x 'never closed\ny", ['x', 'never closed\ny'], id='unterminated-single-quote'),
        pytest.param('x <<-E a\n\ty 1\n\tE\n', ['x', 'a'], id='heredoc-with-tabs'),
        pytest.param('x <<A <<"B"\ny\nA\nz\nB\n', ['x'], id='two-heredocs'),
        pytest.param('[[ $a == (b|c) && -n d ]] && x e', ['x', 'e'], id='test-expression'),
        pytest.param('(( a > 1 )); for ((i=0; i<3; i++)); do x e; done', ['x', 'e'], id='arithmetic'),
        pytest.param('x --a={\\"b\\":1}', ['x', '--a={"b":1}'], id='escaped-json'),
    ],
)
def test_words(text: str, expected: list[str]) -> None:
    assert values(running(text, 'x')) == expected


@pytest.mark.parametrize(
    ('text', 'expected'),
    [
        pytest.param('x & y', '&|', id='background'),
        pytest.param('x | y', '|', id='piped'),
        pytest.param('{ x; } | y', '|', id='group-piped'),
        pytest.param('( x ) &', '&', id='subshell-in-background'),
        pytest.param('y | x', '', id='last-of-pipeline'),
        pytest.param('y && x', '', id='and'),
        pytest.param('y && x &', '&', id='chain-in-background'),
        pytest.param('y || x', '?', id='or'),
        pytest.param('y || z && x', '?', id='and-after-or'),
        pytest.param('if y; then x; fi', '?', id='if'),
        pytest.param('if y; then z; elif w; then v; else x; fi', '?', id='else'),
        pytest.param('while y; do x; done', '?', id='while'),
        pytest.param('case $1 in (a|b) y;; *) x;; esac', '?', id='case'),
        pytest.param('function f { x; }', '?', id='function-never-called'),
        pytest.param('f() { x; }; f | y', '|?', id='function-called-in-a-pipe'),
        pytest.param('exec x', '!', id='exec'),
        pytest.param("exec bash -c 'exec x' | y", '|!', id='inline-script-in-a-pipe'),
    ],
)
def test_flow(text: str, expected: str) -> None:
    command = running(text, 'x')
    marks = ('&', command.background), ('|', command.piped), ('?', command.conditional), ('!', command.exec)
    assert ''.join(mark for mark, holds in marks if holds) == expected.replace('&|', '&')


def test_commands_of_substitutions_are_listed() -> None:
    text = 'a "$(b `c`)" <(d) > >(e)\nwhile f; do g; done < <(h)\n${X:-$(i)} j'
    assert sorted(command.argv[0].value for command in commands(text)) == [*'abcdefgh', 'i', HOLE]


def test_malformed_scripts_still_yield_the_rest() -> None:
    text = 'fi\ndone )\nx 1\n}\ny 2\nif a; then z 3'
    assert [command.argv[-1].value for command in commands(text)] == ['1', '2', 'a', '3']


@pytest.mark.parametrize(
    'text',
    [
        'bash -c \'exec x --n "0.9"\'',
        'nohup sh -lc "exec x --n \\"0.9\\"" >/dev/null &',
        'timeout 60 /bin/bash -euo pipefail -c \'exec x --n "0.9"\'',
        'eval "exec x --n 0.9"',
        'S="exec x --n 0.9"\neval "$S"',
        'S="exec x --n 0.9"\nbash -c "$S"',
        'bash -c "eval \'exec x --n 0.9\'"',
    ],
)
def test_scripts_in_arguments_keep_outer_offsets(text: str) -> None:
    engine = running(text, 'x')
    assert engine.exec
    assert values(engine) == ['x', '--n', '0.9']
    assert spelled(text, engine.argv[1]) == '--n'
    assert '0.9' in spelled(text, engine.argv[2])
    assert spelled(text, engine.argv[2]).strip('\\"') == '0.9'
    assert all(token.pure for token in engine.argv)
    assert text[engine.start : engine.end].startswith('exec x')


def test_inline_script_sees_its_arguments() -> None:
    text = 'sh -c \'x "$@" $1 $U\' name /m 1'
    engine = running(text, 'x')
    assert values(engine) == ['x', '/m', '1', '/m', HOLE]
    assert spelled(text, engine.argv[2]) == '1'


def test_printed_script_is_not_run() -> None:
    assert [command.argv[0].value for command in commands("echo bash -c 'x 1'")] == ['echo']
