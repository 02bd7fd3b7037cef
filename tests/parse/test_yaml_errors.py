"""Where a file is not YAML, to the column."""

import pytest

from configaudit.findings import Error
from configaudit.parse import documents

POD = b'apiVersion: v1\nkind: Pod\n'


@pytest.mark.parametrize(
    ('data', 'line', 'column'),
    [
        (POD + b'# caf\xe9\nmetadata: {}\n', 3, 6),
        (b'\xef\xbb\xbf' + POD + b'# caf\xe9\nmetadata: {}\n', 3, 6),
        (POD + 'a: é '.encode() + b'\0\n', 3, 6),
        (POD + 'a: é '.encode() + b'\xff\n', 3, 6),
        (POD + b'a: {b: c\nd: [\n', 4, 2),
        ((POD + b'a: 1\n  b: 2\n').replace(b'\n', b'\r\n'), 4, 4),
        (b'---\na: 1\n---\n' + POD + b'a: *nowhere\n', 6, 4),
    ],
)
def test_the_place_of_an_error(data: bytes, line: int, column: int) -> None:
    (error,) = [item for item in documents('a.yaml', data) if isinstance(item, Error)]
    assert (error.line, error.column, error.fatal) == (line, column, True)
