import pytest

from configaudit.knowledge.versions import parse, release, satisfies


@pytest.mark.parametrize(
    ('text', 'normal'),
    [
        ('0.10.2', '0.10.2'),
        ('v0.9.0.1', '0.9.0.1'),
        ('0.6.4.post1', '0.6.4.post1'),
        ('0.8.5rc1', '0.8.5rc1'),
        ('v0.4.6.post5-cu124', '0.4.6.post5'),
        ('0.8', '0.8.0'),
        ('0.11.0+cu128', '0.11.0'),
        ('v0.11.0rc2.dev12+g0a1b', '0.11.0rc2'),
        ('24.05-py3', '24.5.0'),
        ('2.9.0-py310-gpu', '2.9.0'),
        (' 1.0.0 ', '1.0.0'),
    ],
)
def test_parse(text: str, normal: str) -> None:
    version = parse(text)
    assert str(version) == normal
    assert parse(str(version)) == version


@pytest.mark.parametrize(
    'text', ['', 'latest', '12', 'b1234', 'sha-0.1', '0.10.2abc', 'main-0.5', '\ufffc', '0.5e3f1a']
)
def test_no_version(text: str) -> None:
    assert parse(text) is None


def test_release_refuses_what_is_none() -> None:
    with pytest.raises(ValueError, match='latest'):
        release('latest')


def test_order() -> None:
    ordered = [
        '0.8.5.dev1',
        '0.8.5a1',
        '0.8.5b1',
        '0.8.5rc1',
        '0.8.5rc2',
        '0.8.5',
        '0.8.5.post1',
        '0.8.5.1',
        '0.9.0',
        '0.10.0',
    ]
    assert [str(version) for version in sorted(map(release, reversed(ordered)))] == ordered


def test_trailing_zeros_do_not_count() -> None:
    assert parse('0.8') is not None
    assert parse('0.8') == parse('0.8.0')


@pytest.mark.parametrize(
    ('version', 'spec', 'holds'),
    [
        ('0.8.0', '>=0.8,<0.11.1', True),
        ('0.11.0', '>=0.8,<0.11.1', True),
        ('0.11.1', '>=0.8,<0.11.1', False),
        ('0.11.1rc1', '>=0.8,<0.11.1', False),
        ('0.7.3', '>=0.8,<0.11.1', False),
        ('0.8.0rc1', '>=0.8', False),
        ('0.8.5.post1', '>0.8.5', False),
        ('0.8.6', '>0.8.5', True),
        ('0.8.4', '==0.8.*', True),
        ('0.9.0', '==0.8.*', False),
        ('0.9.0', '!=0.8.*', True),
        ('0.8.5', '~=0.8.4', True),
        ('0.9.0', '~=0.8.4', False),
        ('0.8.5', '!=0.8.5', False),
        ('0.8.5', '== 0.8.5', True),
        ('0.8.5', '<= 0.8.5', True),
        ('1.2.3', '', True),
    ],
)
def test_satisfies(version: str, spec: str, holds: bool) -> None:
    assert satisfies(release(version), spec) is holds


@pytest.mark.parametrize('spec', ['0.8', '>=', '>=latest', '=>0.8'])
def test_bad_range(spec: str) -> None:
    with pytest.raises(ValueError, match='not a version range'):
        satisfies(release('0.8.0'), spec)
