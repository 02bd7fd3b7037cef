"""Sends one report object to the API server by server-side apply; run as a program, so that the client's memory goes with it.

    python -m configaudit.publish.cluster_object PLURAL < report.json

Exit status 0: applied; 1: refused or not reached, with one line on standard error.
"""

import json
import sys
from typing import Any

FIELD_MANAGER = 'configaudit'
TIMEOUT_S = 10
CONTENT_TYPE = 'application/apply-patch+yaml'


def apply(body: dict[str, Any], plural: str) -> None:
    """Create or replace a cluster-scoped object. Raises whatever the client raises."""
    from kubernetes import client, config

    config.load_config()
    group, version = body['apiVersion'].split('/')
    client.CustomObjectsApi().patch_cluster_custom_object(
        group, version, plural, body['metadata']['name'], body,
        field_manager=FIELD_MANAGER, force=True, _content_type=CONTENT_TYPE, _request_timeout=TIMEOUT_S,
    )  # fmt: skip


def main(arguments: list[str]) -> int:
    """Apply the object on standard input."""
    try:
        apply(json.load(sys.stdin), arguments[0])
    except Exception as error:
        status, reason = getattr(error, 'status', ''), getattr(error, 'reason', '') or error
        print(' '.join(f'{status} {reason}'.split()), file=sys.stderr)
        return 1
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
