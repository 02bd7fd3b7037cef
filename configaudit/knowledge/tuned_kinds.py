"""Kinds of what tuned's files and systemd's tmpfiles say of a host."""

from configaudit.knowledge.kinds import declare
from configaudit.model import Kind, SettingSpec

TUNED = declare(Kind('tuned', (), {
    'role': SettingSpec('text'),
    'includes': SettingSpec(default=()),
    'active': SettingSpec(default=()),
    'reapply': SettingSpec('bool', True),
}))  # fmt: skip
"""A file of tuned: `role` profile (with the names it includes), active (the profiles in force) or main (`reapply`: sysctl.d goes last)."""

HUGE_PAGE_MODE = declare(Kind('huge-page-mode', (), {'mode': SettingSpec('text'), 'file': SettingSpec('text', 'enabled')}))
"""A mode of transparent huge pages that a file sets: `file` enabled or defrag, as below /sys/kernel/mm/transparent_hugepage."""
