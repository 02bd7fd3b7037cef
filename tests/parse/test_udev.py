from configaudit.parse.entries import Edit
from configaudit.parse.udev import insert, read, replace

TEXT = """# \u6ce8
ACTION=="add|change", KERNEL=="nvme[0-9]*", \\
  # between
  ATTR{queue/scheduler}="kyber"
SUBSYSTEM=="block" ENV{X}!="a\\"b", RUN+=e"x\\x41"
KERNEL=="sda
ACTION="add
"""


def applied(text: str, edit: Edit) -> str:
    return text[: edit.start] + edit.text + text[edit.end :]


def test_read() -> None:
    file = read(TEXT)
    first, second = file.rules
    assert [(term.key, term.attribute, term.operator, term.value) for term in first.terms] == [
        ('ACTION', '', '==', 'add|change'),
        ('KERNEL', '', '==', 'nvme[0-9]*'),
        ('ATTR', 'queue/scheduler', '=', 'kyber'),
    ]
    assert [(term.operator, term.value) for term in second.terms] == [('==', 'block'), ('!=', 'a"b'), ('+=', 'xA')]
    assert [TEXT[term.start : term.end] for term in first.terms] == ['add|change', 'nvme[0-9]*', 'kyber']
    assert TEXT[first.terms[2].key_start :].startswith('ATTR{')
    assert len(file.problems) == 2


def test_edits() -> None:
    scheduler = read(TEXT).rules[0].terms[2]
    assert applied(TEXT, replace(scheduler, 'none')) == TEXT.replace('kyber', 'none')
    assert read(applied(TEXT, insert(TEXT, 'A=="b"'))).rules[-1].terms[0].value == 'b'
