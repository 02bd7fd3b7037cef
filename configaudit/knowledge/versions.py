"""Release versions of engines: parsing, ordering and ranges, the part of PEP 440 that engines use.

Source of the ordering: https://peps.python.org/pep-0440/ (dev < a < b < rc < final < post).
"""

import re
from typing import NamedTuple

from configaudit.patterns import regex

DIGITS = 4  # '0.9.0.1' is the longest release any engine has published

_PHASES = {'dev': -4, 'a': -3, 'alpha': -3, 'b': -2, 'beta': -2, 'rc': -1, 'c': -1, '': 0, 'post': 1}
_NAMES = {-4: '.dev', -3: 'a', -2: 'b', -1: 'rc', 1: '.post'}

# A local part ('+cu124', '-cu124', '_rocm') or a '.dev' behind rc or post is cut off; letters glued to a number are
# not a version.
_VERSION = regex(
    r'v?(?P<release>\d{1,6}(?:\.\d{1,6})*)'
    r'(?:[._-]?(?P<phase>alpha|beta|post|dev|rc|a|b|c)\.?(?P<number>\d*))?'
    r'(?![A-Za-z0-9]|\.\d)',
    re.ASCII,
)
_CLAUSE = regex(r'(>=|<=|==|!=|~=|>|<)\s*(\S+)')


class Version(NamedTuple):
    """A release in PEP 440 order. `release` is padded with zeros, so 0.8 and 0.8.0 are equal."""

    release: tuple[int, ...]
    phase: int = 0
    number: int = 0

    def __str__(self) -> str:
        """The normalised spelling: at least three numbers, and `parse` reads it back to an equal version."""
        numbers = list(self.release)
        while len(numbers) > 3 and numbers[-1] == 0:
            numbers.pop()
        suffix = f'{_NAMES[self.phase]}{self.number}' if self.phase else ''
        return '.'.join(map(str, numbers)) + suffix

    @property
    def minor(self) -> tuple[int, ...]:
        """The first two numbers: releases that share them are patches of one another."""
        return self.release[:2]


def _read(match: 're.Match[str]') -> Version:
    numbers = tuple(map(int, match['release'].split('.')))
    padded = numbers + (0,) * (DIGITS - len(numbers))
    return Version(padded, _PHASES[match['phase'] or ''], int(match['number'] or 0))


def parse(text: str) -> Version | None:
    """The version a text starts with: 'v0.4.6.post5-cu124' is 0.4.6.post5.

    None when it starts with no dotted version.
    """
    match = _VERSION.match(text.strip())
    return _read(match) if match and '.' in match['release'] else None


def release(text: str) -> Version:
    """The version of a text that is known to be one. ValueError otherwise."""
    version = parse(text)
    if version is None:
        raise ValueError(f'not a version: {text!r}')
    return version


def satisfies(version: Version, spec: str) -> bool:
    """Whether a version lies in a range such as '>=0.8,<0.11.1' or '==0.8.*'. ValueError for a range that is none."""
    return all(_clause_holds(version, clause.strip()) for clause in spec.split(',') if clause.strip())


def _clause_holds(version: Version, clause: str) -> bool:
    parts = _CLAUSE.fullmatch(clause)
    target = _VERSION.match(parts[2]) if parts else None
    if parts is None or target is None:
        raise ValueError(f'not a version range: {clause!r}')
    operator, bound = parts[1], _read(target)
    given = len(target['release'].split('.'))
    if parts[2].endswith('.*'):
        return (version.release[:given] == bound.release[:given]) == (operator == '==')
    same = version.release == bound.release
    results = {
        '>=': version >= bound,
        '<=': version <= bound,
        '==': version == bound,
        '!=': version != bound,
        # PEP 440: '<X' leaves out pre-releases of X, '>X' leaves out its post-releases, unless X is one itself.
        '<': version < bound and not (same and version.phase < 0 <= bound.phase),
        '>': version > bound and not (same and version.phase > 0 >= bound.phase),
        '~=': version >= bound and version.release[: given - 1] == bound.release[: given - 1],
    }
    return results[operator]
