"""Regular expressions that are compiled when they are first used, not when their module is imported.

A run needs a tenth of all patterns; compiling every one of them took a third of the start-up time.
"""

import re
from typing import Any, overload

_METHODS = ('match', 'search', 'fullmatch', 'finditer', 'findall', 'sub', 'subn', 'split', 'pattern', 'groups', 'flags')


class _Lazy:
    """Stands in for a compiled pattern; the first use of a method replaces them all."""

    def __init__(self, source: Any, flags: int) -> None:
        self._source = source
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        if name not in _METHODS:
            raise AttributeError(name)
        compiled = re.compile(self._source, self._flags)
        for method in _METHODS:
            setattr(self, method, getattr(compiled, method))
        return getattr(compiled, name)


@overload
def regex(source: str, flags: int = 0) -> 're.Pattern[str]': ...
@overload
def regex(source: bytes, flags: int = 0) -> 're.Pattern[bytes]': ...
def regex(source: Any, flags: int = 0) -> Any:
    """A pattern with the methods of `re.Pattern`."""
    return _Lazy(source, flags)
