"""Sends one report object to the API server by server-side apply; run as a program, so that the client's memory goes with it.

    python -m configaudit.publish.cluster_object PLURAL < report.json

Exit status 0: applied; 1: refused or not reached, with one line on standard error.
"""

import json
import os
import sys
from typing import Any

FIELD_MANAGER = 'configaudit'
TIMEOUT_S = 10
MAX_PROBLEM = 500
CONTENT_TYPE = 'application/apply-patch+yaml'


def configure() -> None:
    """Choose the cluster: that of KUBECONFIG or ~/.kube/config, else the one this pod runs in.

    The client's own choice takes no list of files in KUBECONFIG, and prints.
    """
    from kubernetes import config

    chosen = os.environ.get('KUBECONFIG') or os.path.expanduser('~/.kube/config')
    if os.environ.get('KUBECONFIG') or os.path.exists(chosen):
        config.load_kube_config(config_file=chosen)
    else:
        config.load_incluster_config()


def apply(body: dict[str, Any], plural: str) -> None:
    """Create or replace a cluster-scoped object. Raises whatever the client raises."""
    from kubernetes import client

    configure()
    settings = client.Configuration.get_default_copy()
    settings.retries = False  # the agent waits between its tries; the client would not
    group, version = body['apiVersion'].split('/')
    client.CustomObjectsApi(client.ApiClient(settings)).patch_cluster_custom_object(
        group, version, plural, body['metadata']['name'], body,
        field_manager=FIELD_MANAGER, force=True, _content_type=CONTENT_TYPE, _request_timeout=TIMEOUT_S,
    )  # fmt: skip


def problem_of(error: Exception) -> str:
    """One line: the answer's status and its message, or why there was no answer."""
    status, reason = getattr(error, 'status', ''), getattr(error, 'reason', '') or error
    try:
        message = json.loads(getattr(error, 'body', '') or '{}').get('message', '')
    except (ValueError, TypeError, AttributeError):
        message = ''
    return ' '.join(f'{status or ""} {message or reason}'.split())[:MAX_PROBLEM]


def main(arguments: list[str]) -> int:
    """Apply the object on standard input."""
    try:
        apply(json.load(sys.stdin), arguments[0])
    except Exception as error:
        print(problem_of(error), file=sys.stderr)
        return 1
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
