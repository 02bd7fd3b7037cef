"""The table of removed API versions."""

import re

import pytest

from configaudit.knowledge.kubernetes_versions import REMOVED, Removal


@pytest.mark.parametrize(('key', 'removal'), sorted(REMOVED.items()))
def test_rows_are_whole(key: tuple[str, str], removal: Removal) -> None:
    assert re.fullmatch(r'1\.\d\d', removal.release)
    assert removal.instead != key[0]
    assert removal.instead or not removal.same_schema


@pytest.mark.parametrize(
    ('version', 'kind', 'release'),
    [
        ('autoscaling/v2beta1', 'HorizontalPodAutoscaler', '1.25'), ('autoscaling/v2beta2', 'HorizontalPodAutoscaler', '1.26'),
        ('policy/v1beta1', 'PodDisruptionBudget', '1.25'), ('batch/v1beta1', 'CronJob', '1.25'), ('extensions/v1beta1', 'Deployment', '1.16'),
    ],
)  # fmt: skip
def test_known_facts(version: str, kind: str, release: str) -> None:
    assert REMOVED[version, kind].release == release


def test_nothing_points_to_a_version_that_is_gone_too() -> None:
    assert [kind for (_, kind), removal in REMOVED.items() if (removal.instead, kind) in REMOVED] == []
