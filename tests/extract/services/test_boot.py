"""Boot parameters in the files of GRUB."""

from collections.abc import Callable

import pytest

from configaudit.places import locate
from configaudit.result import Result

Run = Callable[..., Result]


@pytest.mark.parametrize(
    ('path', 'text', 'lines'),
    [
        ('etc/default/grub', 'GRUB_TIMEOUT=5\nGRUB_CMDLINE_LINUX_DEFAULT="quiet mitigations=off"\n', [2]),
        ('etc/default/grub.d/50-node.cfg', "GRUB_CMDLINE_LINUX='mitigations=off'\n", [1]),
        ('etc/default/grub', '# GRUB_CMDLINE_LINUX="mitigations=off"\nGRUB_CMDLINE_LINUX="mitigations=auto"\n', []),
        ('etc/default/grub', 'GRUB_CMDLINE_LINUX=""\n', []),
        ('bin/grub', 'x = "mitigations=off"\n', []),
    ],
)
def test_grub(run: Run, path: str, text: str, lines: list[int]) -> None:
    found = [item for item in run({path: text}).findings if item.rule.id == 'cpu-mitigations-off']
    assert [locate(item.place).line for item in found] == lines
    assert [item.place.text for item in found] == ['mitigations=off'] * len(lines)
