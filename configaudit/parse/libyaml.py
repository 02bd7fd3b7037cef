"""PyYAML, imported without compiling the patterns of its pure Python reader and resolver, which libyaml's parser does not use.

Compiling them takes 6 ms, a fifteenth of a run over three files. Whoever else uses PyYAML in the process finds them as they
should be: a pattern is compiled when it is first used.
"""

import re

from configaudit.patterns import regex

_compile = re.compile
re.compile = regex  # type: ignore[assignment]
try:
    import yaml
    from yaml.events import (
        AliasEvent,
        DocumentStartEvent,
        MappingStartEvent,
        ScalarEvent,
        SequenceStartEvent,
        StreamEndEvent,
    )
finally:
    re.compile = _compile

__all__ = ['AliasEvent', 'DocumentStartEvent', 'MappingStartEvent', 'ScalarEvent', 'SequenceStartEvent', 'StreamEndEvent', 'yaml']
