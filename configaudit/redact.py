"""Secrets never leave: values of keys that look like credentials, passwords in URLs, known token shapes.

Everything here works on spans, so that a shown source line keeps its carets where they belong.
Patterns are compiled on first use: most runs print no text that could hold a credential.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise

MASK = '***'
LONGEST = 20_000
"""Code points of a text that a report may show; the rest is cut off."""
Span = tuple[int, int]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_WORDS = _words(
    'password passwords passwd passphrase passcode pwd secret secrets token credential credentials auth authorization dsn cookie salt '
    'apikey apikeys privatekey accesskey secretkey masterkey requirepass masterauth jwt bearer'
)
_ENDINGS = ('password', 'passwd', 'passphrase', 'secret', 'token', 'apikey')
_KEYS = _words('api access private secret master signing encryption account shared license ssh storage')
_ABOUT = _words(
    'name names ref path file dir ttl type method mode enabled url uri timeout expiry expiration seconds limit count length budget per '
    'size policy provider class namespace algorithm encryption header id interval refresh rotation required'
)
"""Last words of names that say something about a credential and are none: TOKEN_FILE, auth_type, secretName."""
_COUNTED = _words(
    'max min num total new input output context batch batched prefill decode per eos bos pad unk sep mask special stop time first next '
    'image prompt completion speculative draft cost price latency begin end think chunk'
)
"""Words beside which a token is a piece of text."""
_GRANTED = _words('api auth access bearer refresh bot session admin secret')
_BOUNDARY = r'(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[^A-Za-z0-9]+'
_PLAIN = frozenset(('true', 'false', 'null', 'none', 'yes', 'no', 'on', 'off', '~', '|', '>', '|-', '>-', '|+', '>+', MASK, ''))

_SHAPES = (
    (('://',), r'://[^\s/:@\'"]{0,256}:(?P<secret>(?!\d{1,5}/)[^\s\'"]{1,512})@'),
    (('://',), r'://(?P<secret>[^\s/:@\'"]{20,})@'),
    (('tcp(', 'udp(', 'unix('), r'(?<![\w.\-])[\w.\-]+:(?P<secret>[^\s\'"@]{1,512})@(?:tcp|udp|unix)\('),
    (('@',), r'(?<![\w.\-/@])[\w.\-]+:(?P<secret>[^\s/:@\'"]{3,256})@[\w\-]+(?:\.[\w\-]+)+[:/]'),
    (('mysql', 'mariadb'), r'\b(?:mysql|mariadb)[\w\-]*\s[^|;&\n]{0,200}?(?<=\s)-p(?P<secret>[^\s\'"]+)'),
    (('=',), r'(?i:[?&;]\s*(?:password|pwd|passwd|token|secret|api_?key|sig|signature|access_?key|auth)=)(?P<secret>[^&;\s\'"]+)'),
    (('hooks.', 'HOOKS.', 'Hooks.'), r'(?i:https?://hooks\.[^\s\'"/]+/services/)(?P<secret>[^\s\'"]+)'),
    (('-----BEGIN',), r'(?P<secret>-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*)'),
    (('earer', 'EARER', 'asic', 'ASIC'), r'(?i:\b(?:bearer|basic)\s+)(?P<secret>(?=[^\s"\']*\d)[\w.~+/=\-]{6,})'),
    (('-u',), r'\s-u[ =]?["\']?[\w.\-@]+:(?P<secret>[^\s"\']+)'),
    (
        ('hf_', 'sk-', 'gh', 'xox', 'AKIA', 'ASIA', 'nvapi-', 'glpat-', 'AIza', 'npm_', 'dckr_pat_', 'pypi-', 'eyJ'),
        r'\b(?P<secret>hf_[A-Za-z0-9]{8,}|sk-[A-Za-z0-9_\-]{4,}|gh[pousr]_[A-Za-z0-9]{16,}|github_pat_\w{16,}|xox[abeprs]-[\w\-]{8,}|'
        r'(?:AKIA|ASIA)[0-9A-Z]{12,}|nvapi-[\w\-]{8,}|glpat-[\w\-]{12,}|AIza[\w\-]{20,}|npm_\w{20,}|dckr_pat_[\w\-]{16,}|'
        r'pypi-[\w\-]{20,}|eyJ[\w\-]{8,1024}\.[\w\-]{8,}(?:\.[\w\-]*)?)',
    ),
)
"""Texts that are secret whatever they are called, each with pieces of which one must be there: looking for those is cheap."""
_SUSPECT = ('pass', 'pwd', 'secret', 'token', 'cred', 'auth', 'dsn', 'cookie', 'salt', 'key', 'jwt', 'bearer', 'webhook', 'connection')
"""One of these is in every name that `is_secret_name` calls secret."""
_NAMED = r'(?<![\w.\-])(?P<name>[\w.\-]+)\\?["\']?\s*(?P<sign>[:=])\s*'
_DIRECTIVE = r'(?:_set_header|_param|add_header|request_header|SetEnv|ENV|requirepass|masterauth)\s+(?:(?P<name>[\w.\-]+)\s+)?'
_FLAG = r'(?<![\w\-])--(?P<name>[\w\-]+)["\']?,?\s+'
_PAIR = r'["\']?\b(?:name|key|Name|Key)["\']?\s*:\s*["\']?(?P<name>[\w.\-]+)["\']?\s*,\s*["\']?[vV]alue["\']?\s*:\s*'
_VALUE = (
    r'\\(?P<q>["\'])(?P<a>.*?)\\(?P=q)|"(?P<b>(?:[^"\\\n]|\\.)*)|\'(?P<c>(?:[^\'\n]|\'\')*)|(?P<bare>[^\s"\']\S*)'
)
_REST = r'(?P<a>(?P<q>["\'])(?:(?!(?P=q)).)*(?P=q)?)|(?P<bare>[^"\',\n](?:[^,\n]|,(?!\s))*)'
_REFERENCE = r'\$\{?\w+\}?|\$\(\w+\)|\$?\{\{.*|[\[{].*|<[^<>]*>|\*+'


@lru_cache(maxsize=32)
def _pattern(text: str) -> 're.Pattern[str]':
    return re.compile(text)


def is_secret_name(name: str) -> bool:
    """Whether a key's name says that its value is a credential."""
    words = [word.lower() for word in _pattern(_BOUNDARY).split(name) if word]
    if not words or name in ('PWD', 'OLDPWD'):
        return False
    pairs = set(pairwise(words))
    if not pairs.isdisjoint((('webhook', 'url'), ('connection', 'string'), ('secret', 'id'))):
        return True
    if words[-1] in _ABOUT:
        return False
    if any(second in ('key', 'keys') and first in _KEYS for first, second in pairs):
        return True
    if 'tokens' in words:
        return not _GRANTED.isdisjoint(words)
    secret = [word for word in words if word in _WORDS or word.endswith(_ENDINGS)]
    return bool(secret) and (secret != ['token'] or _COUNTED.isdisjoint(words))


def redact(text: str) -> str:
    """Text with credentials replaced: URL passwords, tokens of known shape, values of secret-looking keys."""
    if len(text) < 6:
        return text
    if len(text) > LONGEST:
        text = text[:LONGEST] + '…'
    named = (*_named(text, _VALUE), *_flagged(text, False)) if _is_suspect(text) else ()
    return mask(text, sorted([*_shaped(text), *named]))


def _is_suspect(text: str) -> bool:
    lower = text.lower()
    return any(word in lower for word in _SUSPECT)


def mask(text: str, spans: Sequence[Span]) -> str:
    """Text with spans (sorted by start) replaced; overlapping ones count as one."""
    parts, at = [], 0
    for start, end in spans:
        if end <= at:
            continue
        if start >= at:
            parts += [text[at:start], MASK]
        at = end
    return ''.join(parts) + text[at:]


def line_spans(line: str, before: Sequence[str] = (), after: Sequence[str] = (), *, secret: bool = False) -> list[Span]:
    """What must not be shown of a source line, sorted; its neighbours may say that its value is secret.

    `before` and `after` are the lines around it in file order; `secret` says that the document holds nothing but
    secrets (a Kubernetes Secret): then only keys are shown.
    """
    spans = list(_shaped(line))
    if _is_suspect(line):
        spans += [*_named(line, _REST), *_flagged(line, True)]
    begin = _secret_from(line, before, after)
    if begin is None and secret and line[:1].isspace():
        begin = len(line) if line.rstrip().endswith(':') else _after_key(line)
    if begin is not None and begin < len(line):
        spans.append((begin, len(line)))
    return sorted(spans)


def safe_value(name: str, value: object) -> object:
    """A value fit for a report: credentials hidden, containers converted to plain text where needed."""
    if isinstance(value, str):
        return MASK if is_secret_name(name) else redact(value)
    if isinstance(value, (int, float, bool)) or value is None:
        return value
    if hasattr(value, '_fields'):  # a word or a place: what it says, not where it stands
        return safe_value(name, getattr(value, 'value', None))
    if isinstance(value, Mapping):
        return {str(key): safe_value(str(key), item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [safe_value(name, item) for item in value]
    if isinstance(value, (set, frozenset)):
        return [safe_value(name, item) for item in sorted(value, key=str)]
    return redact(str(value))


def _shaped(text: str) -> Iterator[Span]:
    for pieces, shape in _SHAPES:
        if not any(piece in text for piece in pieces):
            continue
        for match in _pattern(shape).finditer(text):
            if not _is_open(match['secret']):
                yield match.span('secret')


def _named(text: str, bare: str) -> Iterator[Span]:
    """Values behind secret names: key: value, key=value, {name: KEY, value: value}, header and variable directives."""
    for pattern in (_NAMED, _PAIR, _DIRECTIVE):
        done = 0
        for match in _pattern(pattern).finditer(text):
            if match.start() < done or (match['name'] is not None and not is_secret_name(match['name'].strip('-.'))):
                continue
            assigned = pattern is _NAMED and match['sign'] == '='
            if match.start() and text[match.start() - 1] in ('?&;' if assigned else '$/'):
                continue  # a parameter of a URL, which has a pattern of its own; a variable in a sentence; an image's name before its tag
            for start, end in _value_at(text, match.end(), _VALUE if assigned else bare):
                if assigned or bare is _REST or not _is_prose(text, match.start(), start, end):
                    done = end
                    yield start, end


def _is_prose(text: str, name: int, start: int, end: int) -> bool:
    """Whether a colon stands in a sentence: 'scanning for the next token: found'."""
    return text[name - 2 : name - 1].isalpha() and text[name - 1] == ' ' and text[start:end].isalpha() and text[start:end].islower()


def _flagged(text: str, sure: bool) -> Iterator[Span]:
    """Values behind secret flags: --api-key value. In prose (not `sure`) only what does not look like a word."""
    for match in _pattern(_FLAG).finditer(text):
        if is_secret_name(match['name']) and text[match.end() : match.end() + 1] != '-':
            for start, end in _value_at(text, match.end(), _VALUE):
                if sure or end - start >= 16 or any(map(str.isdigit, text[start:end])):
                    yield start, end


def _value_at(text: str, at: int, pattern: str) -> Iterator[Span]:
    match = _pattern(pattern).match(text, at)
    if match is None:
        return
    group = next(name for name, value in match.groupdict().items() if value is not None and name != 'q')
    value = match[group].rstrip(' \t,;}])"\'') if group == 'bare' else match[group]
    if not _is_open(value.strip('"\'')):
        yield match.start(group), match.start(group) + len(value)


def _is_open(value: str) -> bool:
    """Whether a value is no secret itself: a reference, a template, a truth value."""
    return value.lower() in _PLAIN or _pattern(_REFERENCE).fullmatch(value) is not None


_ENTRY = r'\s*(?:-\s+)*["\']?(?P<key>[\w.\-/]+)["\']?\s*:(?:\s+|$)'
_ITEM = r'\s*-\s+'


def _after_key(line: str) -> int:
    match = _pattern(_ENTRY).match(line) or _pattern(_ITEM).match(line) or _pattern(r'\s*').match(line)
    return match.end() if match else 0


def _secret_from(line: str, before: Sequence[str], after: Sequence[str]) -> int | None:
    """The offset from which a line is secret because of its neighbours, or None."""
    entry = _pattern(_ENTRY).match(line)
    if entry is not None and entry['key'].lower() == 'value' and _sibling_is_secret(before, after):
        return None if _is_open(line[entry.end() :].strip().strip('"\'')) else entry.end()
    item = _pattern(_ITEM).match(line)
    if item is not None and before and (flag := _pattern(r'\s*-\s+["\']?--?([\w\-]+)["\']?,?\s*$').match(before[-1])):
        if is_secret_name(flag[1]) and not line[item.end() :].lstrip('"\'').startswith('-'):
            return item.end()
    return _below_secret(line, before)


def _sibling_is_secret(before: Sequence[str], after: Sequence[str]) -> bool:
    """Whether the mapping around a `value:` line has a `name:` that looks like a credential."""
    near: list[str] = []
    for text in reversed(before[-6:]):
        near.append(text)
        if _pattern(_ITEM).match(text):
            break
    for text in after[:6]:
        if _pattern(_ITEM).match(text):
            break
        near.append(text)
    names = [match[1] for text in near if (match := _pattern(r'\s*(?:-\s+)?["\']?(?:name|key)["\']?\s*:\s*["\']?([\w.\-]+)').match(text))]
    return any(map(is_secret_name, names))


def _below_secret(line: str, before: Sequence[str]) -> int | None:
    """The start of a line that is a block of text, or an item of a list, below a secret key."""
    indent = len(line) - len(line.lstrip())
    for number in range(len(before) - 1, -1, -1):
        parent = before[number]
        if not parent.strip() or len(parent) - len(parent.lstrip()) >= max(indent, 1):
            continue
        entry = _pattern(_ENTRY).match(parent)
        if entry is None:
            return None
        head = parent[entry.end() :].strip()
        is_text, is_list = head[:1] in ('|', '>', '"', "'"), not head and _pattern(_ITEM).match(line) is not None
        named = entry['key'].lower() == 'value' and _sibling_is_secret(before[:number], ())
        if (is_text or is_list) and (named or is_secret_name(entry['key'])):
            return indent
        return None
    return None
