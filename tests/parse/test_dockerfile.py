import pytest

from configaudit.parse.dockerfile import (
    Instruction,
    append_words,
    environment,
    read,
    replace_pair,
    replace_shell,
    replace_word,
)
from configaudit.parse.entries import Edit
from configaudit.parse.lines import outer_span
from configaudit.units import HOLE

TEXT = r"""# syntax=docker/dockerfile:1
# 注释
ARG TAG=v0.8.5
ARG BARE
FROM --platform=${P:-linux/amd64} vllm/vllm-openai:${TAG} AS Base
ENV A=1 B="two words" C=x\ y
ENV OLD the rest of it
FROM base
ARG TAG
ENV D=$A-${B} E='$A' F=${NOPE} G=${NOPE:-d$A}
LABEL "a.b"="c"
RUN apt-get update && \
    # a comment
    \
    pip install 'vllm==0.8.5' \
      ray
RUN <<EOF
CMD not an instruction
EOF
HEALTHCHECK --interval=30s --timeout=3s CMD curl -f http://localhost:8000/health
EXPOSE 8000/tcp 9000
ENTRYPOINT ["vllm", "serve", \
  "a\"b"]
CMD --model x
"""


def applied(text: str, edit: Edit) -> str:
    return text[: edit.start] + edit.text + text[edit.end :]


def only(text: str, name: str) -> Instruction:
    return next(made for made in read(text).instructions if made.name == name)


def pairs(text: str) -> dict[str, str]:
    return {pair.key: pair.value for made in read(text).instructions for pair in made.pairs}


def test_stages() -> None:
    file = read(TEXT)
    first, second = file.stages
    assert (first.name, first.image, first.platform, first.base) == (
        'base',
        'vllm/vllm-openai:v0.8.5',
        'linux/amd64',
        None,
    )
    assert (second.name, second.image, second.base) == ('', 'base', 0)
    assert [made.stage for made in file.instructions[:3]] == [-1, -1, 0]
    assert not file.problems
    assert [made.name for made in second.instructions] == [
        *('FROM', 'ARG', 'ENV', 'LABEL', 'RUN', 'RUN', 'HEALTHCHECK', 'EXPOSE', 'ENTRYPOINT', 'CMD')
    ]


def test_assignments() -> None:
    found = pairs(TEXT)
    assert found == {
        'TAG': HOLE,
        'BARE': HOLE,
        'A': '1',
        'B': 'two words',
        'C': 'x y',
        'OLD': 'the rest of it',
        'D': '1-two words',
        'E': '$A',
        'F': HOLE,
        'G': 'd1',
        'a.b': 'c',
    }
    pair = environment(read(TEXT), 1)['B']
    assert TEXT[pair.start : pair.end] == 'two words'
    assert TEXT[pair.key_start : pair.key_end] == 'B'
    assert {'A', 'OLD', 'D'} <= environment(read(TEXT), 1).keys()


def test_shell_form_over_continuations() -> None:
    run = only(TEXT, 'RUN')
    assert (run.form, run.value.split()[-3:]) == ('shell', ['install', "'vllm==0.8.5'", 'ray'])
    assert 'comment' not in run.value
    at = run.value.index('ray')
    start, end = outer_span(run.segments, at, at + 3)
    assert TEXT[start:end] == 'ray'
    assert TEXT[run.value_start :].startswith('apt-get')
    assert 'vllm==0.9' in applied(
        TEXT, replace_shell(run, run.value.index('0.8.5'), run.value.index('0.8.5') + 5, '0.9')
    )


def test_exec_form() -> None:
    entry = only(TEXT, 'ENTRYPOINT')
    assert [word.text for word in entry.words] == ['vllm', 'serve', 'a"b']
    assert [TEXT[word.start : word.end] for word in entry.words] == ['vllm', 'serve', r'a\"b']
    assert only(applied(TEXT, replace_word(entry.words[1], 'be"nch')), 'ENTRYPOINT').words[1].text == 'be"nch'
    longer = only(applied(TEXT, append_words(entry, ['--port', '1'])), 'ENTRYPOINT')
    assert [word.text for word in longer.words] == ['vllm', 'serve', 'a"b', '--port', '1']
    assert applied('CMD [ ]', append_words(only('CMD [ ]', 'CMD'), ['x'])) == 'CMD ["x" ]'


@pytest.mark.parametrize('value', ["['a']", '["a"', '["a",]', '["a"] b', '[1]', r'["\q"]'])
def test_what_is_no_json_is_a_script(value: str) -> None:
    made = only(f'CMD {value}', 'CMD')
    assert (made.form, made.value) == ('shell', value)


def test_healthcheck_and_heredoc() -> None:
    check = only(TEXT, 'HEALTHCHECK')
    assert [flag.text for flag in check.flags] == ['--interval=30s', '--timeout=3s']
    assert check.value.startswith('curl')
    [run] = [made for made in read(TEXT).instructions if made.heredocs]
    assert (run.heredocs[0].name, run.heredocs[0].text) == ('EOF', 'CMD not an instruction\n')
    assert TEXT[run.start : run.end].endswith('\nEOF')
    assert [word.text for word in only(TEXT, 'EXPOSE').words] == ['8000/tcp', '9000']


def test_quoted_and_here_string_are_no_heredoc() -> None:
    assert not only('RUN echo "<<EOF" <<< x\nCMD y\n', 'RUN').heredocs
    assert [doc.name for doc in only('COPY <<-"A" <<B /x\n\tA\nb\nB\n', 'COPY').heredocs] == ['A', 'B']


def test_escape_directive() -> None:
    text = '# escape=`\r\nFROM a`\r\n  b\r\nENV P=C:\\x\r\n'
    assert [made.name for made in read(text).instructions] == ['FROM', 'ENV']
    assert pairs(text) == {'P': 'C:\\x'}


@pytest.mark.parametrize(
    ('value', 'expected'),
    [
        ('${A:+yes}', 'yes'),
        ('${EMPTY:-d}', 'd'),
        ('${EMPTY-d}', ''),
        ('${A#x}', HOLE),
        ('"${NO:-${A}b}"c', '1bc'),
        (r'\$A', '$A'),
        ('${A', '1'),
        ('a$', 'a$'),
    ],
)
def test_replacement(value: str, expected: str) -> None:
    assert pairs(f'FROM x\nENV A=1 EMPTY=\nENV V={value}')['V'] == expected


def test_doubling_variables_end_in_a_hole() -> None:
    text = 'FROM x\nENV A=xx\n' + 'ENV A=$A$A\n' * 2000
    assert max(len(pair.value) for made in read(text).instructions for pair in made.pairs) <= 4000


def test_problems() -> None:
    assert [problem.message for problem in read('FROM a\nNONSENSE x\nRUN <<E\nx').problems] == [
        'unknown instruction',
        'the here-document E is not closed',
    ]


def test_replace_pair() -> None:
    pair = only(TEXT, 'ENV').pairs[0]
    assert 'ENV A=2 B=' in applied(TEXT, replace_pair(TEXT, pair, '2'))
    assert 'ENV A="2 3" B=' in applied(TEXT, replace_pair(TEXT, pair, '2 3'))
