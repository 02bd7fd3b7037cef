"""What is a credential, what stands for one, and what only sounds like one."""

import base64
from collections.abc import Callable

import pytest

from configaudit.audit import Result

POD = 'apiVersion: v1\nkind: Pod\nmetadata: {{name: p}}\nspec:\n  containers:\n    - name: c\n      image: "gateway:1.2.0"\n      env:\n        - name: {name}\n          value: {value}\n'


@pytest.mark.parametrize(
    ('name', 'value', 'expected'),
    [
        ('OPENAI_API_KEY', 'sk-proj-8fK2mQ7vT1xR5bN9', ['error']),
        ('AZURE_API_KEY', '0f3e9a71c2d84b65', ['error']),
        ('DB_PASSWORD', 'qA7-wN3-xP9z', ['error']),
        ('DATABASE_URL', 'postgresql://app:gT5kP2mW9z@db/app', ['error']),
        ('DATABASE_URL', 'postgresql://app:changeme@db/app', ['warning']),
        ('POSTGRES_PASSWORD', 'postgres', ['warning']),
        ('LITELLM_MASTER_KEY', 'sk-1234', ['warning']),
        ('LITELLM_MASTER_KEY', 'sk-harbor', ['warning']),
        ('OPENAI_API_KEY', 'sk-llamacpp', []),
        ('OPENAI_API_KEY', 'sk-ollama', []),
        ('HF_TOKEN', '<your token>', ['warning']),
        ('HF_TOKEN', '$HF_TOKEN', []),
        ('HF_TOKEN', '$(HUB_TOKEN)', []),
        ('DATABASE_URL', 'postgresql://app:$(DB_PASSWORD)@db/app', []),
        ('DATABASE_URL', 'postgresql://app@db/app', []),
        ('OPENAI_API_KEY', 'EMPTY', []),
        ('OPENAI_API_KEY', 'not-needed', []),
        ('API_KEY', '""', []),
        ('ALLOW_EMPTY_PASSWORD', '"yes"', []),
        ('PASSWORD_FILE', '/run/secrets/db', []),
        ('TLS_SECRET', 'gateway-tls', []),
        ('SECRET_ID', 'warehouse-reader-key', []),
        ('VAULT_SECRET_ID', '6a174c20-f6de-a53c-74d2-6018fcceff64', ['error']),
        ('AUTH_PROXY_IMAGE', 'gcr.io/proxy@sha256:0123456789abcdef0123456789abcdef', []),
        ('SASL_PASSWORD_LOCATION', 'conf/sasl1.password', []),
        ('MAX_NUM_BATCHED_TOKENS', '"8192"', []),
        ('PUBLIC_URL', 'https://models.example.com/', []),
        ('ETCD_AUTH_TOKEN', 'simple', []),
    ],
)
def test_value(run: Callable[..., Result], name: str, value: str, expected: list[str]) -> None:
    result = run({'p.yaml': POD.format(name=name, value=value)})
    assert [item.severity for item in result.findings if item.rule.id == 'secret-inline'] == expected


def test_the_value_is_never_in_the_finding(run: Callable[..., Result]) -> None:
    result = run({'p.yaml': POD.format(name='DB_PASSWORD', value='qA7-wN3-xP9z')})
    finding = next(item for item in result.findings if item.rule.id == 'secret-inline')
    assert 'qA7' not in finding.message
    assert 'qA7' not in str(dict(finding.values))


def test_a_secret_from_a_reference_is_where_it_belongs(run: Callable[..., Result]) -> None:
    text = POD.format(name='DB_PASSWORD', value='x').replace('value: x', 'valueFrom: {secretKeyRef: {name: db, key: password}}')
    assert [item for item in run({'p.yaml': text}).findings if item.rule.id == 'secret-inline'] == []


TOKEN = 'hf_' + 'aB3' * 11
SECRET = 'apiVersion: v1\nkind: Secret\nmetadata: {{name: hub}}\n{field}:\n  token: {value}\n'


@pytest.mark.parametrize(
    ('field', 'value', 'count'),
    [
        ('stringData', TOKEN, 1), ('data', base64.b64encode(TOKEN.encode()).decode(), 1), ('stringData', 'hf_' + 'x' * 34, 0), ('stringData', 'minio123', 0),
        ('data', base64.b64encode(b'-----BEGIN RSA PRIVATE KEY-----\nMIIE\n').decode(), 1), ('stringData', '"{{ .Values.token }}"', 0),
    ],
)  # fmt: skip
def test_a_token_in_a_manifest(run: Callable[..., Result], field: str, value: str, count: int) -> None:
    result = run({'templates/s.yaml': SECRET.format(field=field, value=value)})
    assert len([item for item in result.findings if item.rule.id == 'secret-in-manifest']) == count


@pytest.mark.parametrize(('body', 'count'), [('...', 0), ('MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSj' * 2, 1)])
def test_a_private_key_of_the_documentation_has_no_key_in_it(run: Callable[..., Result], body: str, count: int) -> None:
    key = f'-----BEGIN PRIVATE KEY-----\\n{body}\\n-----END PRIVATE KEY-----\\n'
    result = run({'s.yaml': SECRET.format(field='stringData', value=f'"{key}"')})
    assert len([item for item in result.findings if item.rule.id == 'secret-in-manifest']) == count


@pytest.mark.parametrize(('value', 'severity'), [('${PW:-postgres}', 'advice'), ('${PW-postgres}', 'advice'), ('${PW:-q7Kd92mXw41Lz}', 'error'), ('${PW:-StrongPassword123!}', 'advice'), ('MyPassw0rd2024', 'warning'), ('postgres', 'warning')])
def test_the_fallback_of_a_variable_may_be_replaced_from_outside(run: Callable[..., Result], value: str, severity: str) -> None:
    result = run({'compose.yaml': f'services:\n  db:\n    image: postgres:17\n    environment: {{POSTGRES_PASSWORD: "{value}"}}\n'})
    assert [item.severity for item in result.findings if item.rule.id == 'secret-inline'] == [severity]


@pytest.mark.parametrize(
    ('value', 'expected'),
    [
        ('Host=db;Username=app;Password=${PW};Database=a', []), ('postgres://app:${PW}@db/a', []), ('postgres://app:${PW:-postgres}@db/a', []),
        ('Host=db;Username=app;Password=q7Kd92mXw41Lz;Database=${NAME}', ['error']), ('postgres://app:q7Kd92mXw41Lz@db/${NAME}', ['error']),
    ],
)  # fmt: skip
def test_a_password_that_a_variable_brings_is_not_in_the_file(run: Callable[..., Result], value: str, expected: list[str]) -> None:
    text = f'services:\n  a:\n    image: app:1.2.3\n    environment: ["DB_CONNECTION_STRING={value}"]\n'
    result = run({'compose.yaml': text, '.env': 'PW=yT5kWm2Qz8\nNAME=shop\n'})
    assert [item.severity for item in result.findings if item.rule.id == 'secret-inline'] == expected
