"""The files that a process opens: keys of mounted ConfigMaps, files of the run that are mounted or named by path."""

import os.path
from posixpath import basename, dirname, join

from configaudit.extract.environment import Stores
from configaudit.extract.process import Process
from configaudit.extract.words import Word

_SHELLS = frozenset(('sh', 'bash', 'ash', 'dash', 'zsh', 'ksh'))


def file_of(process: Process, stores: Stores, path: str) -> Word | None:
    """The text of the file that a process opens at `path`, when the run shows it."""
    inside = [place for place in process.files if path == place or path.startswith(place.rstrip('/') + '/')]
    if not inside:
        return None
    place = max(inside, key=len)
    mount, rest = process.files[place], path[len(place) :].strip('/')
    if mount.kind == 'path':
        return stores.files.at(join(mount.name, rest) if rest else mount.name)
    data = stores.find(mount.kind, process.component.scope, mount.name)
    key = mount.key or (mount.items.get(rest, '') if mount.items else rest)
    return data.values.get(key) if data is not None else None


def named_file(process: Process, stores: Stores, path: str) -> Word | None:
    """The same, also for a path in the tree: beside the file that names it, else the one file that ends so."""
    found = file_of(process, stores, path)
    if found is not None or any(path.startswith(place.rstrip('/') + '/') for place in process.files):
        return found
    beside = join(dirname(process.component.place.outermost().document.path), path)
    return (stores.files.at(beside) if not os.path.isabs(path) else None) or stores.files.ending_with(path)


def with_script(process: Process, stores: Stores) -> Process:
    """A process that starts a script of a mounted file, as one that runs its text."""
    words = (*(process.entrypoint or ()), *(process.arguments or ()))
    if not process.files or not words or process.shell:
        return process
    at = 0
    if basename(words[0].value) in _SHELLS:
        at = next((at for at, word in enumerate(words[1:], 1) if not word.value.startswith('-')), 0)
        if not at or any('c' in word.value for word in words[1:at] if not word.value.startswith('--')):
            return process
    script = file_of(process, stores, words[at].value) if '/' in words[at].value else None
    if script is None or (at == 0 and not _is_shell(words[0].value, script.value)):
        return process
    shell = words[0]._replace(value='sh', pure=False)
    return process._replace(entrypoint=(shell, shell._replace(value='-c'), script), arguments=None)


def _is_shell(path: str, text: str) -> bool:
    first = text.partition('\n')[0]
    return (first.startswith('#!') and first.rstrip().endswith('sh')) or (not first.startswith('#!') and path.endswith('.sh'))
