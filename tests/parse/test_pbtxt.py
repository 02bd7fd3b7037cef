import pytest

from configaudit.parse.entries import Edit
from configaudit.parse.pbtxt import Message, insert, read, replace

TEXT = """# 注释
name: "m\\"x" 'y'
max_batch_size: 8
dynamic_batching {
  preferred_batch_size: [ 4, 8 ]
  max_queue_delay_microseconds: 100  # note
}
instance_group: < kind: KIND_GPU, count: 2; >
instance_group [ { kind: KIND_CPU } ]
parameters: { key: "a" value: { string_value: "b" } }
[ext.field]: -1.5e3
preferred: 1
preferred: 2
"""


def applied(text: str, edit: Edit) -> str:
    return text[: edit.start] + edit.text + text[edit.end :]


def message(text: str, name: str) -> Message:
    field = read(text).message.get(name)
    assert field is not None
    assert isinstance(field.value, Message)
    return field.value


def test_read() -> None:
    top, problems = read(TEXT)
    assert not problems
    assert [field.value for field in top.fields if isinstance(field.value, str)] == ['m"xy', '8', '-1.5e3', '1', '2']
    assert top.fields[-3].name == '[ext.field]'
    assert [item.value for item in top.all('preferred')] == ['1', '2']
    batching = message(TEXT, 'dynamic_batching')
    assert [item.value for item in batching.all('preferred_batch_size')] == ['4', '8']
    delay = batching.get('max_queue_delay_microseconds')
    assert delay
    assert TEXT[delay.start : delay.end] == '100'
    kinds = [item.value.get('kind') for item in top.all('instance_group') if isinstance(item.value, Message)]
    assert [kind.value for kind in kinds if kind] == ['KIND_GPU', 'KIND_CPU']


def test_list_of_messages_without_a_colon() -> None:
    top, problems = read('instance_group [ { count: 2 }, { count: 3 } ]')
    assert (len(top.all('instance_group')), problems) == (2, ())


@pytest.mark.parametrize(
    'text', ['a', 'a: ', 'a {', 'a: [1', '}', 'a: "x', 'a 1', '[a: 1', 'a: [1 : 2]', 'a {' * 101 + '}' * 101]
)
def test_problems(text: str) -> None:
    assert read(text).problems


def test_reading_goes_on_after_a_problem() -> None:
    assert [field.name for field in read('a: "x\nb: 1\n} c: 2').message.fields] == ['b', 'c']


def test_replace() -> None:
    size = read(TEXT).message.fields[1]
    joined = "name: 'a' \"b\" 'c'"
    assert applied(joined, replace(joined, read(joined).message.fields[0], "d'")) == "name: 'd\\''"
    assert applied(TEXT, replace(TEXT, size, '16')) == TEXT.replace(': 8\n', ': 16\n')
    single = 'name: "m"'
    assert applied(single, replace(single, read(single).message.fields[0], 'q"')) == 'name: "q\\""'


@pytest.mark.parametrize(
    ('text', 'expected'),
    [
        ('a {\n  b: 1\n}\n', 'a {\n  b: 1\n  c: 2\n}\n'),
        ('a {\r\n}\r\n', 'a {\r\n    c: 2\r\n}\r\n'),
        ('a { b: 1 }', 'a { b: 1 c: 2 }'),
        ('a {}', 'a { c: 2 }'),
        ('a {\n  b: 1 }\n', 'a {\n  b: 1  c: 2 }\n'),
    ],
)
def test_insert(text: str, expected: str) -> None:
    changed = applied(text, insert(text, message(text, 'a'), 'c', '2'))
    assert changed == expected
    assert message(changed, 'a').get('c')


def test_insert_at_the_top() -> None:
    assert applied('a: 1', insert('a: 1', read('a: 1').message, 'b', '2')) == 'a: 1\nb: 2\n'
