"""The rules about suppressions themselves. `suppress` judges them, when all other rules have spoken."""

from collections.abc import Iterator

from configaudit.model import Component, Problem, Rule, rule

_SOURCE = 'configaudit, docs/suppression.md'


@rule('suppression-unused', on='suppression', severity='advice', source=_SOURCE)
def unused(_: Component) -> Iterator[Problem]:
    """A suppression that hides nothing any more will hide the next mistake.

    Nothing is said while a named rule is switched off or could not be assessed there.
    """
    yield from ()


@rule('suppression-expired', on='suppression', severity='warning', source=_SOURCE)
def expired(_: Component) -> Iterator[Problem]:
    """A suppression ran out: what it hid is reported again, so decide anew."""
    yield from ()


@rule('suppression-invalid', on='suppression', severity='warning', source=_SOURCE)
def invalid(_: Component) -> Iterator[Problem]:
    """A suppression does not count, because it names no rule, an unknown one, or everything."""
    yield from ()


@rule('suppression-without-reason', on='suppression', severity='advice', source=_SOURCE)
def without_reason(_: Component) -> Iterator[Problem]:
    """A suppression does not say why.

    Off unless `severity:` in the configuration names it.
    """
    yield from ()


RULES: tuple[Rule, ...] = (unused, expired, invalid, without_reason)
