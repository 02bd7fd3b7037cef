"""The exceptions that are meant for a person at the command line."""

USAGE = 2
"""Exit status of wrong usage, beside those of an audit (`configaudit.command.verdict`)."""


class UsageError(Exception):
    """Wrong arguments or configuration: the run ends with exit status 2 and this message."""
