"""The output of `sysctl -a` as the files that it shows."""

from configaudit.host import wanted

CAPTURED = '/sos_commands/kernel/sysctl_-a'
"""Where a sosreport has it: it copies few files of /proc/sys itself."""


def dump_files(text: str) -> dict[str, str]:
    """Path below /proc/sys -> value, without secrets. A dot of an interface's name is printed as a slash, and comes back as a dot."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        key, sign, value = line.partition('=')
        if not sign or line.startswith(('#', 'sysctl:')) or not key.strip():
            continue
        path = '/proc/sys/' + key.strip().translate(_SWAPPED)
        if not any(part in path for part in wanted.SKIPPED_SYSCTLS):
            found[path] = value.strip() + '\n'
    return found


_SWAPPED = str.maketrans('./', '/.')
