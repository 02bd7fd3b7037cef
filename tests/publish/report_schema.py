"""The report objects as JSON schemas: names, types, required fields and enumerations of their CRDs.

openreports.io/v1alpha1 ClusterReport of reports-api v0.2.1; wgpolicyk8s.io/v1alpha2 ClusterPolicyReport, which knows neither
`source` and `configuration` of a report nor the severities critical and info. Server-side apply refuses fields that a CRD does not declare,
so no other is allowed here.
"""

from typing import Any

Schema = dict[str, Any]

TEXT: Schema = {'type': 'string'}
TEXTS: Schema = {'type': 'object', 'additionalProperties': TEXT}
COUNT: Schema = {'type': 'integer', 'minimum': 0}
RESULT: Schema = {'enum': ['pass', 'fail', 'warn', 'error', 'skip']}


def thing(required: str = '', **members: Schema) -> Schema:
    """An object with these members only."""
    return {'type': 'object', 'properties': members, 'required': required.split(), 'additionalProperties': False}


def many(item: Schema) -> Schema:
    """A list."""
    return {'type': 'array', 'items': item}


REFERENCE = thing(**dict.fromkeys(('apiVersion', 'fieldPath', 'kind', 'name', 'namespace', 'resourceVersion', 'uid'), TEXT))
SELECTOR = thing(matchLabels=TEXTS, matchExpressions=many(thing('key operator', key=TEXT, operator=TEXT, values=many(TEXT))))
TIMESTAMP = thing('nanos seconds', nanos={'type': 'integer', 'minimum': 0, 'maximum': 999_999_999}, seconds={'type': 'integer'})
NAME: Schema = {'type': 'string', 'pattern': r'^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$', 'maxLength': 253}
METADATA = thing('name', name=NAME, labels=TEXTS, annotations=TEXTS)


def report(api_version: str, kind: str, severities: list[str], **own: Schema) -> Schema:
    """A cluster-scoped report."""
    result = thing(
        'policy', category=TEXT, message=TEXT, policy=TEXT, properties=TEXTS, resourceSelector=SELECTOR, resources=many(REFERENCE), result=RESULT, rule=TEXT,
        scored={'type': 'boolean'}, severity={'enum': severities}, source=TEXT, timestamp=TIMESTAMP,
    )  # fmt: skip
    summary = thing(**dict.fromkeys(('pass', 'fail', 'warn', 'error', 'skip'), COUNT))
    return thing(
        'apiVersion kind metadata', apiVersion={'const': api_version}, kind={'const': kind}, metadata=METADATA, results=many(result), scope=REFERENCE,
        scopeSelector=SELECTOR, summary=summary, **own,
    )  # fmt: skip


LIMITS = thing('limits', limits=thing(maxResults={'type': 'integer'}, statusFilter=many(RESULT)))
SCHEMAS = {
    '/apis/openreports.io/v1alpha1/clusterreports': report(
        'openreports.io/v1alpha1', 'ClusterReport', ['critical', 'high', 'low', 'medium', 'info'], source=TEXT, configuration=LIMITS
    ),
    '/apis/wgpolicyk8s.io/v1alpha2/clusterpolicyreports': report('wgpolicyk8s.io/v1alpha2', 'ClusterPolicyReport', ['high', 'low', 'medium']),
}
"""Path of a collection -> what its objects are."""
