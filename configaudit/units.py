"""Numbers as people write them in configuration, and back: '30s', '2Gi', '500m', '85%', '8k'.

Unlimited is `math.inf`, so arithmetic needs no special case.
"""

import re

from configaudit.patterns import regex

HOLE = '\ufffc'
"""Stands for a part of a string that cannot be known: a template expression, a variable nobody sets."""

_SUFFIXES = {
    'n': 1e-9, 'u': 1e-6, 'm': 1e-3, '': 1, 'k': 1e3, 'M': 1e6, 'G': 1e9, 'T': 1e12, 'P': 1e15, 'E': 1e18,
    'Ki': 2**10, 'Mi': 2**20, 'Gi': 2**30, 'Ti': 2**40, 'Pi': 2**50, 'Ei': 2**60,
}  # fmt: skip
_SECONDS = {'ns': 1e-9, 'us': 1e-6, 'µs': 1e-6, 'ms': 1e-3, 's': 1, '': 1, 'm': 60, 'min': 60, 'h': 3600, 'd': 86400}
_QUANTITY = regex(r'([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*(Ki|Mi|Gi|Ti|Pi|Ei|n|u|m|k|M|G|T|P|E|)$')
_DURATION_PART = regex(r'(\d+\.?\d*|\.\d+)(ns|us|µs|ms|min|s|m|h|d)')
_BYTES = regex(r'(\d+\.?\d*)\s*([kmgtp]?)(i?)b?$', re.IGNORECASE)


def quantity(text: str | int | float) -> float | None:
    """A Kubernetes resource quantity ('500m', '2Gi', '1e3') as a number; None when it is not one."""
    if isinstance(text, (int, float)) and not isinstance(text, bool):
        return float(text)
    if not isinstance(text, str) or (match := _QUANTITY.match(text.strip())) is None:
        return None
    return float(match[1]) * _SUFFIXES[match[2]]


def seconds(text: str | int | float) -> float | None:
    """A duration ('30s', '1m30s', '100ms', Go and systemd spelling) in seconds; a bare number is seconds."""
    if isinstance(text, (int, float)) and not isinstance(text, bool):
        return float(text)
    if not isinstance(text, str):
        return None
    text = text.strip()
    try:
        return float(text)
    except ValueError:
        pass
    parts = _DURATION_PART.findall(text)
    if not parts or ''.join(number + unit for number, unit in parts) != text.replace(' ', ''):
        return None
    return sum(float(number) * _SECONDS[unit] for number, unit in parts)


def bytes_of(text: str | int) -> float | None:
    """A size as container runtimes write it ('64m', '2gb', '16GiB', '65536'; powers of 1024) in bytes."""
    if isinstance(text, int) and not isinstance(text, bool):
        return float(text)
    if not isinstance(text, str) or (match := _BYTES.match(text.strip())) is None:
        return None
    return float(float(match[1]) * 1024 ** ' kmgtp'.index(match[2].lower() or ' '))


def integer(value: object) -> int | None:
    """A whole number written as a number or as text ('256', '8k', '8K' as vLLM reads them); else None."""
    if isinstance(value, bool):
        return None
    if isinstance(value, (int, float)):
        return int(value) if value == int(value) else None
    if not isinstance(value, str):
        return None
    text = value.strip().replace('_', '')
    scale = {'k': 1000, 'm': 1000**2, 'g': 1000**3, 'K': 1024, 'M': 1024**2, 'G': 1024**3}.get(text[-1:], 0)
    if scale:
        text = text[:-1]
    try:
        return int(float(text) * scale) if scale else int(text)
    except (ValueError, OverflowError):
        return None


def number(value: object) -> float | None:
    """A number written as a number or as text; else None."""
    if isinstance(value, bool):
        return None
    if isinstance(value, (int, float)):
        return float(value)
    try:
        return float(value.strip()) if isinstance(value, str) else None
    except ValueError:
        return None


def boolean(value: object) -> bool | None:
    """A truth value in any usual spelling; else None."""
    if isinstance(value, bool):
        return value
    return {'true': True, 'yes': True, 'on': True, '1': True, 'false': False, 'no': False, 'off': False, '0': False}.get(
        str(value).strip().lower()
    )


def show(value: object) -> str:
    """A value as a message prints it: 12 not 12.0, 'off' spellings untouched, unknown parts as '…'."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    if isinstance(value, float):
        return f'{value:.4g}'
    return str(value).replace(HOLE, '…')


def show_bytes(value: float) -> str:
    """Bytes with a binary unit: 8Gi, 64Mi."""
    for unit in ('', 'Ki', 'Mi', 'Gi', 'Ti'):
        if abs(value) < 1024 or unit == 'Ti':
            return f'{value:.4g}{unit}'
        value /= 1024
    raise AssertionError
