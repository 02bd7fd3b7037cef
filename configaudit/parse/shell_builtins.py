"""What the command lines of shells and builtins say: scripts in arguments, the variables they name."""

from __future__ import annotations

import re
from collections.abc import Sequence

from configaudit.parse.shell_token import Token
from configaudit.patterns import regex

_SHELLS = frozenset({'sh', 'bash', 'dash', 'ash', 'ksh', 'zsh'})
_PRINTERS = frozenset({'echo', 'printf'})
_NAME = regex(r'[A-Za-z_]\w*(?=\+?=|\Z)', re.ASCII)


def inline_script(argv: Sequence[Token]) -> int | None:
    """Return the index of SCRIPT in `bash -c SCRIPT`, also behind a wrapper such as `nohup` or `timeout 60`."""
    if argv[0].value in _PRINTERS:
        return None
    for index, token in enumerate(argv):
        if token.value.rpartition('/')[2] in _SHELLS:
            return _after_options(argv, index + 1)
    return None


def _after_options(argv: Sequence[Token], index: int) -> int | None:
    """Step over the options of a shell; `-o` in a cluster takes the next word, as in `-euo pipefail -c`."""
    runs_text = False
    while index < len(argv) and argv[index].value[:1] in ('-', '+'):
        option = argv[index].value
        if option == '--':
            index += 1
            break
        if not option.startswith('--'):
            runs_text = runs_text or 'c' in option
            index += option.count('o')
        index += 1
    return index if runs_text and index < len(argv) else None


def without_exec(argv: tuple[Token, ...]) -> tuple[Token, ...]:
    """Strip `exec` and its options `-c`, `-l` and `-a NAME`."""
    index = 1
    while index < len(argv) and argv[index].value[:1] == '-' and not argv[index].reason:
        option = argv[index].value
        index += 2 if option.endswith('a') else 1
        if option == '--':
            break
    return argv[index:]


def names(argv: Sequence[Token]) -> list[str]:
    """Return the variables that `read`, `unset` or `local` names, with or without a value."""
    found = [_NAME.match(token.value) for token in argv[1:]]
    return [match.group() for match in found if match]


def positional_arguments(argv: Sequence[Token]) -> list[Token] | None:
    """Return the arguments that `set` assigns, None when it only sets options."""
    for index, token in enumerate(argv[1:], 1):
        if token.value == '--':
            return list(argv[index + 1 :])
        if token.value[:1] not in ('-', '+') and argv[index - 1].value[-1:] != 'o':
            return list(argv[index:])
    return None
