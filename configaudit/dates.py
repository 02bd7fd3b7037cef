"""Days as '2027-01-31', which compare as text."""

import os
import time

from configaudit.patterns import regex

_DATE = regex(r'\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])\Z')


def is_date(text: str) -> bool:
    """Whether a text is a day."""
    return _DATE.match(text) is not None


def today() -> str:
    """The day of SOURCE_DATE_EPOCH (reproducible-builds.org), else of the clock, in UTC."""
    epoch = os.environ.get('SOURCE_DATE_EPOCH', '')
    return time.strftime('%Y-%m-%d', time.gmtime(int(epoch) if epoch.isdecimal() and len(epoch) < 12 else None))
