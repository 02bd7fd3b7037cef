"""Rules for the environment of SGLang engines: variables that no release reads.

Nothing is said of removed ones: SGLang copies many an old name to its new one, which the history does not tell.
"""

import re
from collections.abc import Iterator

from configaudit.knowledge.flags import catalogue
from configaudit.model import Component, Problem, rule

from .releases import release
from .vllm_environment import as_written, respelt

_SOURCE = 'what the files of sglang/srt of the published releases read from the environment'


@rule('sglang-environment-unknown', on='sglang', severity='warning', source=_SOURCE)
def environment_unknown(engine: Component) -> Iterator[Problem]:
    """A misspelt variable is ignored without an error: the engine runs with other settings than the file says.

    Only names that are nearly those of a variable are reported: kernels, routers and patches read others.
    """
    known = catalogue('sglang')
    for name, word in sorted(engine['environment'].value.items()):
        if not name.startswith('SGLANG_') or known.env_status(name, engine.version).state != 'unknown':
            continue
        from difflib import get_close_matches  # 5 ms, needed only for a name that nothing reads

        names = [other for other in known.variables if known.env_status(other, engine.version).state == 'known']
        near = next(iter(get_close_matches(name, names, n=1, cutoff=0.9)), '')
        written = as_written(engine, name)
        place = written.place if written is not None else word.use or word.place
        if near and not re.search(rf'\$[({{]*{name}\b', place.document.text):
            message = '{name} is not known to {engine} and ignored: did you mean {near}?'
            yield Problem(place, message, name=name, engine=release(engine), near=near, fix=respelt(written, name, near), detail=name)
