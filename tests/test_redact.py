"""What is a secret and what only looks like one."""

import time

import pytest

from configaudit.redact import is_secret_name, line_spans, mask, redact, safe_value

SECRET_NAMES = ['HF_TOKEN', 'PGPASSWORD', 'dbPassword', 'APIKey', 'api-key', 'secretKey', 'AWS_SECRET_ACCESS_KEY', 'AZURE_STORAGE_ACCOUNT_KEY', 'apiTokens', 'WEBHOOK_URL', 'connectionString', 'requirepass', 'Authorization', 'X-Api-Key', 'VAULT_SECRET_ID']
OTHER_NAMES = ['max_num_batched_tokens', 'tokens', 'eos_token_id', 'secretKeyRef', 'authority', 'author', 'tokenizer', 'TOKEN_FILE', 'time_per_output_token', 'PWD', 'password_encryption', 'auth_type', 'secretName', 'monkey', 'keyspace', 'passthrough', 'compass', 'max_tokens', 'automountServiceAccountTokenPath']


@pytest.mark.parametrize('name', SECRET_NAMES)
def test_secret_name(name: str) -> None:
    assert is_secret_name(name)


@pytest.mark.parametrize('name', OTHER_NAMES)
def test_other_name(name: str) -> None:
    assert not is_secret_name(name)


TEXTS = [
    ('foo: password=abc123', 'foo: password=***'),
    ('postgres://u:p@ss@host/db', 'postgres://u:***@host/db'),
    ('mysql u:pw@tcp(h:3306)/d', 'mysql u:***@tcp(h:3306)/d'),
    ('image: user:pa55word@registry.example.com/app:1', 'image: user:***@registry.example.com/app:1'),
    ('mysqldump -h db -u root -ps3cr3t app', 'mysqldump -h db -u root -p*** app'),
    ('https://x/?a=1&token=abc&b=2', 'https://x/?a=1&token=***&b=2'),
    ('Server=x;Password=abc;Database=d', 'Server=x;Password=***;Database=d'),
    ('{"password": "a b", "x": 1}', '{"password": "***", "x": 1}'),
    ('--api-key sk-abcdef', '--api-key ***'),
    ('https://hooks.slack.com/services/T0/B0/xyz', 'https://hooks.slack.com/services/***'),
    ('a -----BEGIN PRIVATE KEY-----\nabc', 'a ***'),
    ('ghp_abcdefghijklmnop1234 glpat-abcdefghijkl12', '*** ***'),
]
KEPT = [
    'oci://registry:5000/image@sha256:abc',
    'max_tokens: 512',
    'registry.example.com/app:v1.2@sha256:abc',
    'see app:web@host and mysql -h db -P 3306',
    'author: Bob',
    'token: $HF_TOKEN',
    'password: ${PASSWORD}',
    'password: {{ .Values.password }}',
    'automountServiceAccountToken: false',
    'sk_buff max_num_seqs=512',
    'http://host:8000/v1',
    'set to the text $HF_TOKEN: Kubernetes expands only $(HF_TOKEN)',
    'image: registry.corp/team/secret-store:latest',
]
PROSE = ['while scanning for the next token: found character', '--api-key is not set']


@pytest.mark.parametrize(('text', 'expected'), TEXTS)
def test_redacted(text: str, expected: str) -> None:
    assert redact(text) == expected
    assert redact(expected) == expected


@pytest.mark.parametrize('text', KEPT)
def test_kept(text: str) -> None:
    assert redact(text) == text
    assert mask(text, line_spans(text)) == text


@pytest.mark.parametrize('text', PROSE)
def test_sentence_is_kept(text: str) -> None:
    assert redact(text) == text


def test_values() -> None:
    assert safe_value('password', 'x') == '***'
    assert safe_value('map', {'token': 'x', 'size': 3}) == {'token': '***', 'size': 3}
    assert safe_value('names', {'b', 'a'}) == ['a', 'b']
    assert safe_value('hosts', ('redis://:secret@h',)) == ['redis://:***@h']
    assert safe_value('limit', 1.5) == 1.5


def test_neighbours_that_are_no_secret_leave_a_line_alone() -> None:
    line = '    value: "512"'
    assert line_spans(line, ['env:', '  - name: DB_PASSWORD', '    value: x', '  - name: MAX_SEQS'], ['  - name: API_KEY']) == []


@pytest.mark.parametrize('text', ['a' * 100_000, 'a.' * 50_000, '://' * 30_000, 'a://b:' * 20_000, '--a ' * 20_000, 'password=' * 10_000, 'password={{' * 10_000, 'eyJabcdefgh-' * 10_000, 'password: ' + ' ' * 50_000 + 'x', '"' * 50_000])
def test_long_texts_take_no_time(text: str) -> None:
    begin = time.process_time()
    redact(text)
    line_spans(text[:20_000])
    assert time.process_time() - begin < 5
