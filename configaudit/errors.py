"""The exceptions that are meant for a person at the command line."""


class UsageError(Exception):
    """Wrong arguments or configuration: the run ends with exit status 2 and this message."""
