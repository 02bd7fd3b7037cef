"""The kind of what a configuration adds to the command line of a kernel."""

from configaudit.knowledge.kinds import declare
from configaudit.model import Kind, SettingSpec

BOOT_PARAMETER = declare(Kind('boot-parameter', ('booted',), {
    'boot_parameters': SettingSpec(default={}),
    'is_node': SettingSpec('bool', False),
}))  # fmt: skip
"""One parameter that somebody adds: `boot_parameters` has its name and value, as a live host has all of them."""
