from configaudit.parse.entries import Edit
from configaudit.parse.gomod import insert, read, replace

TEXT = """// 注释
module example.com/x // y

go 1.22.0
toolchain go1.24.1
godebug default=go1.21
require go.uber.org/automaxprocs v1.6.0 // indirect
require (
\t"example.com/a" v1.0.0
\texample.com/b/v2 v2.3.4 // indirect
)
replace example.com/a v1.0.0 => ../a
retract [v1.0.0, v1.1.0]
godebug (
\tpanicnil=1
)
nonsense x
"""


def applied(text: str, edit: Edit) -> str:
    return text[: edit.start] + edit.text + text[edit.end :]


def test_read() -> None:
    file = read(TEXT)
    assert [(entry.section, entry.key, entry.value) for entry in file.entries] == [
        ('', 'module', 'example.com/x'),
        ('', 'go', '1.22.0'),
        ('', 'toolchain', 'go1.24.1'),
        ('godebug', 'default', 'go1.21'),
        ('require', 'go.uber.org/automaxprocs', 'v1.6.0'),
        ('require', 'example.com/a', 'v1.0.0'),
        ('require', 'example.com/b/v2', 'v2.3.4'),
        ('replace', 'example.com/a', '../a'),
        ('retract', 'v1.0.0', 'v1.1.0'),
        ('godebug', 'panicnil', '1'),
    ]
    values = [entry.value for entry in file.entries]
    assert [TEXT[entry.start : entry.end] for entry in file.entries] == values
    assert [TEXT[problem.start : problem.end] for problem in file.problems] == ['nonsense x']


def test_key_of_a_single_directive_is_its_verb() -> None:
    go = read(TEXT).entries[1]
    assert TEXT[go.key_start : go.key_end] == 'go'


def test_unclosed_block() -> None:
    assert len(read('require (\n a v1').problems) == 1


def test_edits() -> None:
    assert applied(TEXT, replace(read(TEXT).entries[1], '1.25')) == TEXT.replace('1.22.0', '1.25')
    assert applied('go 1.2\r\nx', insert('go 1.2\r\nx', 'toolchain t')) == 'go 1.2\r\ntoolchain t\r\nx'
    assert applied('module a', insert('module a', 'go 1.25')) == 'module a\ngo 1.25\n'
