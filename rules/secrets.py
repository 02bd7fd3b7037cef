"""Rules for credentials that stand in configuration as they are."""

import re
from collections.abc import Iterator
from typing import Any

from configaudit.model import Component, Problem, Setting, rule
from configaudit.patterns import regex
from configaudit.redact import is_secret_name, redact

_REFERENCES = regex(r'\$\(?\{?[A-Za-z_][^$]*|.*\{\{.*|.*\ufffc.*|%\(.*\)s|@.*', re.DOTALL)
_NO_SECRET = regex(r'|none|null|nil|empty|n/?a|not[-_ ]?(needed|used|required|set|provided|a-real-key)|unused|dummy\w*|fake\w*|x|-+|false|true|local\w*|ollama|'
                        r'sk-no-key\w*|no-?key\w*|no-key-required|ignored|any\w*|disabled|enabled|yes|no|on|off|anonymous|simple|jwt|basic|bearer|\d{1,3}|/.*|https?://[^@]*|[\w.-]+\.(json|ya?ml|pem|key|crt|txt)', re.IGNORECASE)  # fmt: skip
_PLACEHOLDER = regex(
    r'<.*>|.*(change|replace|fill|insert|put|add|enter)([-_ ]?(me|this|with|in|here|your|it))?([-_ ].*)?|.*your.*|.*(example|placeholder|redacted|secret-?key|demo|sample|dummy|p[a@]ss(w[o0]rd|w0rt|123)).*|todo|tbd'
    r'|(hf_|sk-|ghp_)?[xX*.]{3,}.*|.*x{6,}.*|sk-12\d*|sk-[a-z]{2,16}|(my|test|demo)?[-_]?(super)?[-_]?(secret|password|passwd|passw0rd|token|key|admin|root|postgres|minio|redis|mysql|minioadmin|litellm|guest|user)'
    r'[-_]?\d{0,6}!?|(hf|sk)[-_.]*|\d{1,8}|abc\w{0,6}',
    re.IGNORECASE,
)
_LOCAL_KEY = regex(r'sk-(ollama|llama-?cpp|llama|vllm|sglang|tgi|lmdeploy|lm-?studio|litellm|local\w*|none|no-?key\w*)', re.IGNORECASE)
"""What clients send to a server of their own that asks for no key."""
_MAY_BE_SHAPED = regex(r'://[^/\s]*@|hf_|sk-|gh[pousr]_|github_pat|xox|A[KS]IA|nvapi-|glpat-|AIza|eyJ|hooks\.|PRIVATE KEY|(?i:password|pwd|token|key)=')
"""A cheap look before the exact one."""
_STRONG = regex(r'pass(word|wd|phrase|code)|pwd|secret|token|(api|access|private|master|signing|encryption|account|shared|license)[-_]?key|requirepass|salt', re.IGNORECASE)
_ABOUT = regex(r'[-_](image|host|port|addr(ess)?|server|service|endpoint|domain|issuer|audience|version|prefix|scopes?|groups?|users?|role|realm|store|backend|location|lifetime|age|cert|cluster_token|manager|format|source|key_id|pattern|regex|policy|rule|length|image_tag)$', re.IGNORECASE)
"""Ends of names that only say something about a credential."""
_TOKEN = regex(
    r'(hf_[A-Za-z0-9]{30,}|sk-[A-Za-z0-9_-]{20,}|gh[pousr]_[A-Za-z0-9]{30,}|github_pat_\w{40,}|xox[abeprs]-[\w-]{20,}|(AKIA|ASIA)[0-9A-Z]{16}|nvapi-[\w-]{40,}|glpat-[\w-]{20,}|AIza[\w-]{35})\Z'
    r'|-----BEGIN [A-Z ]*PRIVATE KEY-----\s+[A-Za-z0-9+/]',
)
_LONGEST = 4096
_URL_PASSWORD = regex(r'://[^\s/:@]*:([^\s@]+)@')
_PAIR_PASSWORD = regex(r'(?:\A|[;\s?&])(?:password|pwd)\s*=\s*([^;\s&]+)', re.IGNORECASE)
_DEFAULT_OF = regex(r'\$\{\w+:?-\Z')
_OBJECT_NAME = regex(r'[a-z]+([-.][a-z0-9]+)+')
_OPTIONS = ('--api-key', '--api-keys', '--hf-token', '--hf-overrides-token')


def kind_of(name: str, value: str) -> str:
    """'' for what is no credential, else 'placeholder' or 'real'."""
    if not value or len(value) > _LONGEST or _REFERENCES.fullmatch(value) or _LOCAL_KEY.fullmatch(value):
        return ''
    shaped = bool(_MAY_BE_SHAPED.search(value)) and redact(value) != value
    if not shaped and (not is_secret_name(name) or not _STRONG.search(name) or _ABOUT.search(name) or _NO_SECRET.fullmatch(value)):
        return ''
    inner = _URL_PASSWORD.search(value) or _PAIR_PASSWORD.search(value)
    if not shaped and _OBJECT_NAME.fullmatch(value) and name.lower().rstrip('s').endswith(('secret', 'secret_id', 'credential', 'key')):
        return ''
    secret = inner[1] if inner else value
    if inner and _REFERENCES.fullmatch(secret):
        return ''
    if _PLACEHOLDER.fullmatch(secret) or len(secret) < 8:
        return 'placeholder'
    mixed = re.search(r'\d', secret) and re.search(r'[A-Za-z]', secret)
    return 'real' if mixed or (shaped and not inner) else 'placeholder'


@rule(
    'secret-inline', on=('container', 'compose-service', 'docker-run', 'dockerfile', 'unit', 'sky-task', 'litellm', 'engine'), severity='error', confidence='medium',
    source='Kubernetes documentation, concepts/configuration/secret', effect='the credential is not in version control', side_effect='a Secret to create beside the manifest',
)  # fmt: skip
def secret_inline(holder: Component) -> Iterator[Problem]:
    """A credential stands in the file as it is: whoever reads the repository, the object or `ps` has it, and it cannot be rotated alone.

    Take it from a Secret, an env file that is not committed, or the shell. A value that looks like a placeholder is a warning: the real
    one is put in its place one day. The fallback of a variable (`${PASSWORD:-postgres}`) is advice: the environment can set it, and does
    not have to.
    """
    for name, value in _values(holder):
        found = kind_of(name, _as_written(value))
        if not found or value.place.document.path != holder.place.document.path:
            continue
        setting = Setting(name if name.startswith('--') else f'env {name}', value.value, value.place, secret=True)
        if found == 'placeholder' and _is_fallback(value):
            message = '{name} falls back to a credential that everybody knows: the form with :? stops where nobody sets it'
            yield Problem(setting, message, name=name, severity='advice')
        elif found == 'real':
            yield Problem(setting, '{name} holds a credential as it is: take it from a Secret or the environment, and replace it', name=name)
        else:
            yield Problem(setting, '{name} holds a credential or its placeholder as it is: take it from a Secret or the environment', name=name, severity='warning')


def _as_written(value: Any) -> str:
    """The value with its variables as they stand in the file: what they bring comes from elsewhere."""
    place = value.place.outermost()
    if b'${' not in place.document.parsed:
        return str(value.value)
    written = place.text
    return str(written if '${' in written and '${' not in value.value else value.value)


def _is_fallback(value: Any) -> bool:
    """Whether the value is the default of a variable: `${NAME:-value}`."""
    place = value.place
    return bool(_DEFAULT_OF.search(place.document.text[max(0, place.start - 80) : place.start]))


def _values(holder: Component) -> Iterator[tuple[str, Any]]:
    if 'engine' in holder.kind.traits:
        for option in holder['options'].value:
            if option.name in _OPTIONS and option.value is not None and option.value.use is None:
                yield option.name, option.value
        return
    for variable in holder['env'].value.values():
        if isinstance(getattr(variable.value, 'value', None), str):
            yield variable.name, variable.value


@rule(
    'secret-in-manifest', on='secret', severity='warning', confidence='medium', source='Kubernetes documentation, concepts/configuration/secret: good practices',
    effect='the credential is not in version control', side_effect='another way to bring it into the cluster: sealed or external secrets',
)  # fmt: skip
def secret_in_manifest(secret: Component) -> Iterator[Problem]:
    """A token or private key stands in a Secret manifest, which is plain text or base64: whoever reads the file has it.

    Only values of a known shape are reported (hub and provider tokens, private keys), never passwords of examples.
    """
    for name, word in secret['values'].value.items():
        value = word.value.strip()
        if len(value) <= _LONGEST and _TOKEN.match(value) and not _PLACEHOLDER.fullmatch(value):
            setting = Setting(f'key {name}', value, word.place, secret=True)
            yield Problem(setting, '{name} is a credential in a manifest, as plain text or base64: bring it into the cluster another way, and replace it', name=name)
