"""Reads the report objects of all nodes from the API server."""

from typing import Any

from configaudit.errors import UsageError
from configaudit.publish.cluster_object import configure, problem_of
from configaudit.report.cluster_report import KINDS, SOURCE

PAGE = 500
TIMEOUT_S = 30


def list_reports(api: str = 'openreports') -> list[dict[str, Any]]:
    """Every report that agents published, page by page. UsageError when the cluster cannot be asked."""
    try:
        from kubernetes import client
    except ImportError:
        raise UsageError("--cluster needs the extra: pip install 'configaudit[cluster]'") from None
    version, _, plural = KINDS[api]
    group, name = version.split('/')
    found: list[dict[str, Any]] = []
    token = ''
    try:
        configure()
        while True:
            page = client.CustomObjectsApi().list_cluster_custom_object(
                group, name, plural, label_selector=f'app.kubernetes.io/managed-by={SOURCE}', limit=PAGE, _continue=token, _request_timeout=TIMEOUT_S
            )
            found.extend(page.get('items', ()))
            token = page.get('metadata', {}).get('continue') or ''
            if not token:
                return found
    except Exception as error:
        raise UsageError(f'--cluster: {problem_of(error)}') from None
