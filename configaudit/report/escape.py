"""Text from files made harmless: what a terminal, a log or a parser would obey is shown as an escape."""


from configaudit.patterns import regex

_UNSAFE = (
    '\x00-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164'
    '\ud800-\udfff\ufdd0-\ufdef\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff\U0001bca0-\U0001bca3\U000e0000-\U000e0fff'
)
"""Controls, lone surrogates, and what has no width or turns the reading direction (Unicode: Cc, Cf, Cs, default ignorable)."""
UNSAFE = regex(f'[{_UNSAFE}]')
_NOT_JSON = regex(f'[{_UNSAFE}]'.replace('\x00-\x1f', ''))
_COMMAND = regex(r'##(?=(?:vso)?\[)')
_NAMES = {'\n': '\\n', '\r': '\\r', '\t': '\\t'}


def visible(text: str) -> str:
    r"""One line that is safe to print: '\x1b', '\u202e' and '\n' stand for what they name.

    The old workflow command prefix of GitHub and Azure runners, which works anywhere in a line, is broken up.
    """
    if text.isascii() and text.isprintable():
        return text if '##' not in text else _no_command(text)
    return _no_command(UNSAFE.sub(lambda match: shown(match[0]), text))


def shown(char: str) -> str:
    """How one unsafe character is shown."""
    code = ord(char)
    return _NAMES.get(char) or (f'\\x{code:02x}' if code < 0x100 else f'\\u{code:04x}' if code < 0x10000 else f'\\U{code:08x}')


def _no_command(text: str) -> str:
    return _COMMAND.sub('## ', text)


def json_text(value: object) -> str:
    """JSON, stable and readable, in which nothing unsafe stands unescaped."""
    import json

    text = json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False)
    return _NOT_JSON.sub(lambda match: _json_escape(match[0]), text) + '\n'


def _json_escape(char: str) -> str:
    code = ord(char)
    if code < 0x10000:
        return f'\\u{code:04x}'
    return f'\\u{0xD800 + ((code - 0x10000) >> 10):04x}\\u{0xDC00 + ((code - 0x10000) & 0x3FF):04x}'
