"""udev rules that set a scheduler."""

import pytest

from configaudit.extract.services import udev
from configaudit.places import Document

HEAD = 'ACTION=="add|change", '


def schedulers(text: str) -> list[tuple[str, str, str]]:
    found = udev.read(Document('60.rules', 'udev', text.encode())).components
    return [(item['device'].value, item['rotational'].value, item['scheduler'].value) for item in found]


def test_only_assignments_of_a_scheduler_are_read() -> None:
    text = (
        f'{HEAD}KERNEL=="sd*", ATTR{{queue/rotational}}=="1", ATTR{{queue/scheduler}}="bfq"\n'
        f'{HEAD}KERNEL=="sd*", ATTR{{queue/read_ahead_kb}}="4096"\n'
        f'{HEAD}ATTR{{queue/scheduler}}=="none", TAG+="x"\n'
    )
    assert schedulers(text) == [('sd*', '1', 'bfq')]


def test_the_later_rule_of_the_same_match_holds() -> None:
    text = (
        f'{HEAD}KERNEL=="nvme*", ATTR{{queue/scheduler}}="bfq"\n{HEAD}KERNEL=="nvme*", ATTR{{queue/scheduler}}="none"\n'
    )
    assert schedulers(text) == [('nvme*', '', 'none')]


@pytest.mark.parametrize(
    ('rule', 'expected'),
    [
        ('KERNEL=="nvme[0-9]n[0-9]", ATTR{queue/scheduler}="none"', []),
        ('KERNEL=="nvme[0-9]*", ATTR{queue/scheduler}="kyber"', []),
        ('KERNEL=="sd[a-z]|nvme*", ATTR{queue/scheduler}="bfq"', ['io-scheduler-not-none-on-nvme']),
        ('KERNEL!="nvme*", ATTR{queue/scheduler}="mq-deadline"', []),
        ('KERNEL=="vd*", ATTR{queue/rotational}=="1", ATTR{queue/scheduler}="none"', []),
        ('KERNEL=="sd*", ATTR{queue/rotational}=="1", ATTR{queue/scheduler}="bfq"', []),
        ('KERNEL=="sd*", ATTR{queue/scheduler}="cfq"', ['io-scheduler-unknown']),
    ],
)
def test_rules(run, rule: str, expected: list[str]) -> None:  # type: ignore[no-untyped-def]
    result = run({'etc/udev/rules.d/60.rules': HEAD + rule + '\n'})
    assert [item.rule.id for item in result.findings] == expected
