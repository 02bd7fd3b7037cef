import datetime
import re
import subprocess
import sys

import pytest
import yaml

from configaudit.parse.libyaml import yaml as ours


def test_everybody_else_finds_pyyaml_and_re_as_they_should_be() -> None:
    assert ours is yaml
    assert re.compile('a+').fullmatch('aa') is not None
    assert isinstance(re.compile('a+'), re.Pattern)
    assert yaml.load('{a: 2026-01-02, b: 0x1f, c: yes}', Loader=yaml.SafeLoader) == {'a': datetime.date(2026, 1, 2), 'b': 31, 'c': True}
    with pytest.raises(yaml.reader.ReaderError):
        yaml.load('a: \x00', Loader=yaml.SafeLoader)


def test_the_import_leaves_the_reader_s_pattern_for_later() -> None:
    code = 'import configaudit.parse.yaml, re, yaml; print(isinstance(yaml.reader.Reader.NON_PRINTABLE, re.Pattern), re.compile.__module__)'
    shown = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True, check=True).stdout
    assert shown.split() == ['False', 're']
