"""The fixes of a node as files to review: what would be installed, and one script that applies and undoes it."""

import os
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from configaudit.errors import UsageError
from configaudit.findings import Finding
from configaudit.host.snapshot import Snapshot
from configaudit.knowledge.node_fixes import SYSCTL_FILE, Step, step_of
from configaudit.model import REMOVE, Slot
from configaudit.places import locate

LIVE = 'live'


class Planned(NamedTuple):
    """A finding with the steps of its fix."""

    finding: Finding
    steps: tuple[Step, ...]


def steps_of(finding: Finding) -> tuple[Step, ...]:
    """The steps of a finding's fix on a live host; none where it changes a file or has no fix."""
    steps = ((slot, step_of(slot.path, value, ' '.join(slot.place.text.split()))) for slot, value in _live(finding))
    return tuple(_ranked(step, slot.path, finding) for slot, step in steps)


def _live(finding: Finding) -> list[tuple[Slot, object]]:
    """The values that a fix writes to a live host."""
    changes = finding.fix.changes if finding.fix is not None else ()
    return [(change.slot, change.value) for change in changes if change.slot is not None and change.slot.format == LIVE and change.value is not REMOVE]


def _largest(findings: Iterable[Finding]) -> dict[tuple[str, ...], int]:
    """Target -> the largest number that any finding asks for there: two rules may want more of one limit."""
    found: dict[tuple[str, ...], int] = {}
    for slot, value in (pair for finding in findings for pair in _live(finding)):
        if isinstance(value, int) and not isinstance(value, bool):
            found[slot.path] = max(value, found.get(slot.path, value))
    return found


def _ranked(step: Step, target: tuple[str, ...], finding: Finding) -> Step:
    """The step with a word on the file that would have the last one."""
    own = finding.component
    entries = (own, *own.peers('sysctl')) if target[0] == 'sysctl' else ()
    setters = [setter for entry in entries if entry.name == target[1] for setter in entry.peers('setter')]
    path = setters[0].place.outermost().document.path if setters else ''
    later = os.path.basename(path) > os.path.basename(SYSCTL_FILE) or path == '/etc/sysctl.conf'
    return step._replace(note=f'{path} sets {target[1]} too and is read later: change it there') if later else step


def _raised(finding: Finding, largest: Mapping[tuple[str, ...], int]) -> Finding:
    """The finding with a fix that writes the largest numbers."""
    if finding.fix is None or not _live(finding):
        return finding
    changes = (change._replace(value=largest.get(change.slot.path, change.value)) if change.slot is not None and change.slot.format == LIVE else change for change in finding.fix.changes)
    return finding._replace(fix=finding.fix._replace(changes=tuple(changes)))


def plan(findings: Iterable[Finding]) -> list[Planned]:
    """The findings that have steps; a step that several findings ask for belongs to the first."""
    seen: set[Step] = set()
    found: list[Planned] = []
    findings = list(findings)
    largest = _largest(findings)
    for finding in (_raised(finding, largest) for finding in findings):
        steps = tuple(step for step in steps_of(finding) if step not in seen)
        seen.update(steps)
        if steps:
            found.append(Planned(finding, steps))
    return found


def write(planned: list[Planned], folder: str, findings: Sequence[Finding] = (), held: Mapping[str, str] | None = None) -> list[str]:
    """Write the plan into a folder; the names of what was written. `findings`: all of them; `held`: the files of the host."""
    contents = {'PLAN.md': _document(planned, findings), 'configaudit-fix.sh': _script(planned)}
    contents |= {'files' + path: text for path, text in files(planned, held).items()}
    try:
        for name, text in contents.items():
            path = os.path.join(folder, name)
            os.makedirs(os.path.dirname(path) or '.', exist_ok=True)
            with open(path, 'w', encoding='utf-8', newline='\n') as file:
                file.write(text)
        os.chmod(os.path.join(folder, 'configaudit-fix.sh'), 0o755)
    except OSError as error:
        raise UsageError(f'--fix-plan {folder}: {error.strerror or error}') from None
    return sorted(contents)


_HEAD = '# written by configaudit; see PLAN.md'


def files(planned: list[Planned], held: Mapping[str, str] | None = None) -> dict[str, str]:
    """Path on the host -> text of every file that makes the changes last. What an earlier plan put there (`held`) stays."""
    found: dict[str, list[str]] = {}
    for step in (step for item in planned for step in item.steps if step.file):
        new = step.text.splitlines()
        keys = {_key(line) for line in new}
        lines = found.setdefault(step.file, [line for line in (held or {}).get(step.file, '').splitlines() if line != _HEAD])
        kept = [line for line in lines if line in new or _key(line) not in keys]
        found[step.file] = [*kept, *(line for line in new if line not in kept)]
    return {path: '\n'.join((_HEAD, *lines)) + '\n' for path, lines in sorted(found.items())}


def _key(line: str) -> str:
    """What a line sets: the part before the value."""
    name, sign, _ = line.rpartition('=')
    return name.strip() if sign else ' '.join(line.split()[:2])


def applied(snapshot: Snapshot, planned: list[Planned]) -> Snapshot:
    """The host as it would show after the plan: with the values that its steps write, and the files that it installs."""
    held = dict(snapshot.files) | files(planned)
    for slot, value in (pair for item in planned for pair in _live(item.finding)):
        for path in _shown_in(slot.place.document.path, slot.path, held):
            held[path] = _after(held.get(path, ''), slot.path, str(value))
    return Snapshot(held, links=snapshot.links, unread=snapshot.unread, facts=snapshot.facts)


def _shown_in(path: str, target: tuple[str, ...], files: Iterable[str]) -> list[str]:
    """The files in which the kernel shows a value: all CPUs have the governor, fs.file-nr repeats fs.file-max."""
    if target[0] == 'governor':
        return [name for name in files if name.endswith('/cpufreq/scaling_governor')]
    return [path, '/proc/sys/fs/file-nr'] if target == ('sysctl', 'fs.file-max') and '/proc/sys/fs/file-nr' in files else [path]


_ROWS = {'LimitNOFILE': 'Max open files', 'LimitMEMLOCK': 'Max locked memory'}


def _after(text: str, target: tuple[str, ...], value: str) -> str:
    """What a file shows once a value is written: one of a list gets the brackets, a limit its row."""
    if target[0] == 'unit' and target[-1] in _ROWS:
        soft, _, hard = value.partition(':')
        row = ' '.join((_ROWS[target[-1]], *((soft, hard or soft) if value != 'infinity' else ('unlimited', 'unlimited'))))
        return '\n'.join(row if line.startswith(_ROWS[target[-1]]) else line for line in text.split('\n'))
    if target == ('sysctl', 'fs.file-max') and len(text.split()) == 3:
        return ' '.join((*text.split()[:2], value)) + '\n'
    if target[0] == 'swap':
        return '\n'.join(line for line in text.split('\n') if not line.startswith(target[1] + ' '))
    if '[' in text:
        words = text.replace('[', '').replace(']', '').split()
        return ' '.join(f'[{word}]' if word == value else word for word in words) + '\n'
    if target == ('kubelet', 'podPidsLimit'):
        return value + '\n' if text.strip() == 'max' else text
    return value + '\n' if target[0] not in ('unit', 'kubelet') else text


def _document(planned: list[Planned], findings: Sequence[Finding] = ()) -> str:
    parts = ['# Fix plan', 'Nothing was changed. `configaudit-fix.sh apply` installs what stands below `files/` and applies it, `configaudit-fix.sh undo` takes it back.']
    for item in planned:
        finding = item.finding
        parts += [f'## {finding.rule.id}', finding.message]
        if finding.rule.side_effect:
            parts.append(f'Side effect: {finding.rule.side_effect}.')
        parts += ['\n'.join(_bullets(step)) for step in item.steps]
    mended = {id(item.finding) for item in planned}
    lines = [_line(finding) for finding in findings if id(finding) not in mended and not finding.place.document.path.startswith(('/proc/', '/sys/'))]
    if lines:
        parts += ['## Files to edit', 'These files belong to somebody else and are left as they are:', '\n'.join(lines)]
    return '\n\n'.join(parts if planned or lines else [*parts[:1], 'There is nothing to change on this host.']) + '\n'


def _line(finding: Finding) -> str:
    at = locate(finding.place)
    return f'- `{at.path}:{at.line}` ({finding.rule.id}): {finding.message}'


def _bullets(step: Step) -> Iterator[str]:
    if step.now:
        yield f'- now: `{step.now}`'
    if step.file:
        yield f'- for good: `{step.file}`'
    if step.note:
        yield f'- note: {step.note}'


_SCRIPT = """\
#!/bin/sh
# Applies or undoes the plan in this folder. Written by configaudit; read PLAN.md first.
set -eu
cd "$(dirname "$0")"

failed=0

step() { # a command; the others are still carried out when it fails
  eval "$1" || { echo "failed: $1" >&2; failed=1; }
}

install_file() { # path on the host
  if [ ! -e "backup$1" ] && [ ! -e "backup$1.none" ]; then
    mkdir -p "backup$(dirname "$1")"
    if [ -e "$1" ]; then cp -p "$1" "backup$1"; else : > "backup$1.none"; fi
    [ -d "$(dirname "$1")" ] || : > "backup$1.folder"
  fi
  mkdir -p "$(dirname "$1")"; cp "files$1" "$1"
}

restore_file() { # only what apply has replaced
  if [ -e "backup$1" ]; then cp -p "backup$1" "$1"; elif [ -e "backup$1.none" ]; then rm -f "$1"; fi
  if [ -e "backup$1.folder" ]; then rmdir "$(dirname "$1")" 2>/dev/null || true; fi
  rm -f "backup$1" "backup$1.none" "backup$1.folder"
}

case "${1:-}" in
  apply)
%s    ;;
  undo)
%s    ;;
  *) echo "usage: $0 apply|undo" >&2; exit 2 ;;
esac
exit "$failed"
"""


def _script(planned: list[Planned]) -> str:
    paths = list(files(planned))
    steps = [step for item in planned for step in item.steps]
    apply = [*(f'step {shlex.quote(f"install_file {shlex.quote(path)}")}' for path in paths), *(f'step {shlex.quote(line)}' for line in dict.fromkeys(step.now for step in steps if step.now))]
    undo = [*(f'step {shlex.quote(f"restore_file {shlex.quote(path)}")}' for path in paths), *(f'step {shlex.quote(line)}' for line in dict.fromkeys(step.undo for step in reversed(steps) if step.undo))]
    return _SCRIPT % tuple(''.join(f'    {line}\n' for line in lines) or '    :\n' for lines in (apply, undo))
