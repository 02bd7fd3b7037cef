"""Rules for deployments of Ray Serve, by release."""

from collections.abc import Callable

import pytest

Audit = Callable[..., list[str]]


def service(deployment: str, version: str = '2.52.0') -> str:
    return (
        'apiVersion: ray.io/v1\nkind: RayService\nmetadata: {name: chat}\nspec:\n  serveConfigV2: |\n    applications:\n      - name: a\n        import_path: m:app\n'
        f'        deployments:\n          - {deployment}\n  rayClusterConfig: {{rayVersion: "{version}"}}\n'
    )


@pytest.mark.parametrize(('version', 'count'), [('2.9.3', 0), ('2.32.0', 0), ('2.33.0', 1), ('2.52.0', 1)])
def test_the_old_name_is_ignored_since_2_33(found: Audit, version: str, count: int) -> None:
    text = service('{name: d, max_concurrent_queries: 100}', version)
    assert len(found({'s.yaml': text}, 'ray-concurrent-queries-ignored')) == count


@pytest.mark.parametrize(
    ('deployment', 'version', 'count'),
    [
        ('{name: d, ray_actor_options: {num_gpus: 1}}', '2.52.0', 1), ('{name: d, ray_actor_options: {num_gpus: 1}}', '2.24.0', 0),
        ('{name: d}', '2.52.0', 0), ('{name: d, ray_actor_options: {num_gpus: 1}, max_ongoing_requests: 20}', '2.52.0', 0),
    ],
)  # fmt: skip
def test_five_requests_on_a_gpu(found: Audit, deployment: str, version: str, count: int) -> None:
    assert len(found({'s.yaml': service(deployment, version)}, 'ray-ongoing-requests-default')) == count


def test_a_configuration_without_a_cluster_has_no_release(found: Audit) -> None:
    text = 'applications:\n  - name: a\n    import_path: m:app\n    deployments:\n      - {name: d, max_concurrent_queries: 100}\n'
    assert len(found({'serve.yaml': text}, 'ray-concurrent-queries-ignored')) == 1
