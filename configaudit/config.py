"""configaudit.yaml as a frozen value."""

from collections.abc import Mapping
from typing import NamedTuple

from configaudit.context import Context
from configaudit.engine import Choice
from configaudit.model import Component, Rule
from configaudit.registry import Registry


class Config(NamedTuple):
    """What the configuration and the command line ask for."""

    context: Context = Context()
    exclude: tuple[str, ...] = ()
    plugins: tuple[str, ...] = ()
    rule_files: tuple[str, ...] = ()
    gate: bool = True
    stdin_name: str = '<stdin>'
    ignores: bool = True
    options: Mapping[str, Mapping[str, object]] = {}

    def choose(self, rule: Rule, component: Component) -> Choice | None:
        """How a rule runs on a component; None: it is off."""
        return Choice(self.options.get(rule.id, {}))

    def check_rules(self, registry: Registry) -> None:
        """Complain about names in the configuration that no rule has."""
