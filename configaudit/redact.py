"""Secrets never leave: values of keys that look like credentials, passwords in URLs, known token shapes."""

import re

MASK = '***'
_SECRET_NAME = re.compile(
    r'(?:^|[_.\-]|(?<=[a-z]))(?:password|passwd|passphrase|pwd|secret|token|api[_-]?key|apikey|access[_-]?key|private[_-]?key|'
    r'credential|credentials|auth|authorization|master[_-]?key|signing[_-]?key|encryption[_-]?key|connection[_-]?string|dsn|'
    r'webhook[_-]?url|cookie|salt)s?(?:$|[_.\-]|(?=[A-Z]))',
    re.IGNORECASE,
)
_NOT_SECRET_NAME = re.compile(
    r'(?:max|min|num|total|new|input|output|context|batch|batched|prefill|decode|per)[_-]?\w*tokens?|tokens?[_-]?(?:limit|count|length|budget|per|path|file|ttl|expiry|url)|'
    r'tokenizer|secret[_-]?(?:name|ref|key[_-]?ref|path|file)|(?:_FILE|_PATH|_NAME|_TTL)$',
    re.IGNORECASE,
)
_URL_PASSWORD = re.compile(r'([a-zA-Z][a-zA-Z0-9+.\-]*://[^\s/:@\'"]*:)([^\s@/\'"]+)(@)')
_QUERY_SECRET = re.compile(r'([?&;]\s*(?:password|pwd|passwd|token|secret|api_?key|sig|signature)=)([^&;\s\'"]+)', re.IGNORECASE)
_PAIR_SECRET = re.compile(r'(\b(?:password|pwd)\s*=\s*)([^;\s\'"]+)', re.IGNORECASE)
_TOKEN = re.compile(
    r'\b(?:hf_[A-Za-z0-9]{8,}|sk-[A-Za-z0-9_\-]{4,}|gh[pousr]_[A-Za-z0-9]{16,}|github_pat_\w{16,}|xox[abprs]-[\w-]{8,}|AKIA[0-9A-Z]{12,}|'
    r'nvapi-[\w-]{8,}|glpat-[\w-]{12,}|AIza[\w-]{20,}|npm_\w{20,}|eyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?)'
)
_HOOK = re.compile(r'(https?://hooks\.[^\s\'"]+?/services/)[^\s\'"]+')
_KEY_VALUE = re.compile(r'''(["']?)([\w.\-]+)\1(\s*[:=]\s*)(["']?)([^\s"',#}\]]{3,})(\4)''')
_LONG_SECRET = re.compile(r'-----BEGIN [A-Z ]*PRIVATE KEY-----.*', re.DOTALL)


def is_secret_name(name: str) -> bool:
    """Whether a key's name says that its value is a credential."""
    return _SECRET_NAME.search(name) is not None and _NOT_SECRET_NAME.search(name) is None


def redact(text: str) -> str:
    """Text with credentials replaced: URL passwords, tokens of known shape, values of secret-looking keys."""
    if len(text) < 6:
        return text
    text = _URL_PASSWORD.sub(rf'\1{MASK}\3', text)
    text = _QUERY_SECRET.sub(rf'\1{MASK}', text)
    text = _PAIR_SECRET.sub(rf'\1{MASK}', text)
    text = _HOOK.sub(rf'\1{MASK}', text)
    text = _LONG_SECRET.sub(MASK, text)
    text = _TOKEN.sub(MASK, text)
    return _KEY_VALUE.sub(_hide_value, text)


def _hide_value(match: re.Match[str]) -> str:
    if not is_secret_name(match[2]) or match[5].startswith('$'):
        return match[0]
    return f'{match[1]}{match[2]}{match[1]}{match[3]}{match[4]}{MASK}{match[6]}'


def safe_value(name: str, value: object) -> object:
    """A value fit for a report: credentials hidden, containers converted to plain text where needed."""
    if isinstance(value, str):
        return MASK if is_secret_name(name) else redact(value)
    if isinstance(value, (int, float, bool)) or value is None:
        return value
    if isinstance(value, (list, tuple)):
        return [safe_value(name, item) for item in value]
    return redact(str(value))
