from configaudit.parse.entries import Edit
from configaudit.parse.limits import insert, read, replace

TEXT = """# <domain> <type> <item> <value>
*\tSoft\tNOFILE  1024 # \u6ce8
@gpu - memlock unlimited extra\r
root -
* hard nofile
"""


def applied(text: str, edit: Edit) -> str:
    return text[: edit.start] + edit.text + text[edit.end :]


def test_read() -> None:
    file = read(TEXT)
    rows = [tuple(word.text for word in row) for row in file.rows]
    assert rows == [
        ('*', 'soft', 'nofile', '1024'),
        ('@gpu', '-', 'memlock', 'unlimited'),
        ('root', '-', '', ''),
    ]
    assert TEXT[file.rows[0].item.start : file.rows[0].item.end] == 'NOFILE'
    assert [TEXT[problem.start : problem.end] for problem in file.problems] == ['* hard nofile']


def test_edits() -> None:
    assert applied(TEXT, replace(read(TEXT).rows[0], '65536')) == TEXT.replace('1024', '65536')
    assert applied('', insert('', '*', 'hard', 'nofile', '9')) == '* hard nofile 9\n'
