"""The command line: what runs, and what every exception becomes."""

import os
import sys
from collections.abc import Sequence

from configaudit.command.streams import close_stdout
from configaudit.errors import USAGE, UsageError

BROKEN, INTERRUPTED = 3, 130
"""Exit statuses beside those of an audit (`configaudit.command.verdict`)."""


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status. Nothing passes but what ends the process."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        status = _run(words)
        sys.stdout.flush()
        return status
    except KeyboardInterrupt:
        _say('interrupted')
        return INTERRUPTED
    except BrokenPipeError:
        close_stdout()
        return 0
    except Exception as error:
        _explain(error, verbose=any(word in ('-v', '--verbose') for word in words))
        return BROKEN


def _run(words: list[str]) -> int:
    try:
        if words[:1] == ['check']:
            from configaudit.command import checking, quick

            asked = quick.read(words[1:], checking.OPTIONS)
            if asked is not None:
                return checking.check(*asked)
        from configaudit.command.group import run as run_group

        return run_group(words)
    except UsageError as error:
        _say(str(error))
    return USAGE


def _say(message: str) -> None:
    print(f'configaudit: {message}', file=sys.stderr)


def _explain(error: Exception, *, verbose: bool) -> None:
    """A failure of this program: where it happened, or with -v the whole traceback."""
    import traceback

    if verbose:
        traceback.print_exception(error)
    frames = traceback.extract_tb(error.__traceback__)
    last = frames[-1] if frames else None
    where = f' ({os.path.basename(last.filename)}:{last.lineno}, in {last.name})' if last else ''
    hint = 'please report it' if verbose else 'run again with -v for the traceback, and please report it'
    _say(f'internal error: {type(error).__name__}: {error}{where}; {hint}')
