"""Files of hosts that somebody made to waste time: each is read in about the time that its length asks for."""

import time

import pytest

from configaudit.extract import read_document
from configaudit.parse import Parsed, documents

FILES = {
    'u.yaml': 'MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="B"\n\n--B\n' + ' a: b\n' * 50000 + 'x\n--B--\n',
    'etc/tmpfiles.d/a.conf': 'w /sys/x - - - - ' + ' ' * 200000 + 'x\nw /a ' + '- ' * 100000,
    'etc/tuned/a/tuned.conf': '[main]\ninclude=' + ' ' * 200000 + 'x\n[bootloader]\ncmdline=' + 'a"' * 100001 + '\n[sysctl]\n' + 'vm.x = 1\n' * 5000,
    'p.toml': '\n' * 200000 + '[settings.kernel.sysctl]\n',
    'l.yml': '- hosts: a\n  tasks:\n' + '  - sysctl: {name: "{{ item.name }}", value: 1}\n    loop: "{{ x }}"\n' * 1000,
}


@pytest.mark.parametrize('name', FILES)
def test_length_is_all_that_costs(name: str) -> None:
    began = time.monotonic()
    for item in documents(name, FILES[name].encode()):
        if isinstance(item, Parsed):
            read_document(item.document, item.root, item.duplicates, '')
    assert time.monotonic() - began < 5
