"""The part of SARIF 2.1.0 that is written here, as a JSON schema: names, types, required members and enumerations.

Stricter than the official schema: a member that is not listed is a mistake. The official one is not shipped by any
package that a test could depend on offline; CONFIGAUDIT_SARIF_SCHEMA names a copy of it to validate against as well.
"""

from typing import Any

Schema = dict[str, Any]

TEXT: Schema = {'type': 'string'}
COUNT: Schema = {'type': 'integer', 'minimum': 0}
FROM_ONE: Schema = {'type': 'integer', 'minimum': 1}
LEVEL: Schema = {'enum': ['none', 'note', 'warning', 'error']}


def thing(required: str = '', **members: Schema) -> Schema:
    """An object with these members only."""
    return {'type': 'object', 'properties': members, 'required': required.split(), 'additionalProperties': False}


def many(item: Schema, least: int = 0) -> Schema:
    """A list."""
    return {'type': 'array', 'items': item, 'minItems': least}


BAG: Schema = {'type': 'object', 'properties': {'tags': {**many(TEXT), 'uniqueItems': True}}}
MESSAGE = thing('text', text=TEXT, markdown=TEXT)
ARTIFACT = thing('uri', uri={'type': 'string', 'pattern': r"^[A-Za-z0-9._~/%:@!$&'()*+,;=-]+$"}, uriBaseId=TEXT)
REGION = {
    'oneOf': [
        thing('startLine', startLine=FROM_ONE, startColumn=FROM_ONE, endLine=FROM_ONE, endColumn=FROM_ONE),
        thing('byteOffset byteLength', byteOffset=COUNT, byteLength=COUNT),
    ]
}
LOCATION = thing(
    'physicalLocation',
    id=COUNT,
    message=MESSAGE,
    physicalLocation=thing('artifactLocation', artifactLocation=ARTIFACT, region=REGION),
    logicalLocations=many(thing('fullyQualifiedName', fullyQualifiedName=TEXT)),
)
REPLACEMENT = thing('deletedRegion', deletedRegion=REGION, insertedContent=thing('binary', binary=TEXT, text=TEXT))
FIX = thing(
    'artifactChanges',
    description=MESSAGE,
    artifactChanges=many(thing('artifactLocation replacements', artifactLocation=ARTIFACT, replacements=many(REPLACEMENT, 1)), 1),
)
SUPPRESSION = thing('kind', kind={'enum': ['inSource', 'external']}, status={'enum': ['accepted', 'underReview', 'rejected']}, justification=TEXT)
RESULT = thing(
    'message ruleId ruleIndex',
    ruleId=TEXT,
    ruleIndex=COUNT,
    level=LEVEL,
    message=MESSAGE,
    locations=many(LOCATION, 1),
    relatedLocations={**many(LOCATION), 'uniqueItems': True},
    partialFingerprints={'type': 'object', 'additionalProperties': TEXT},
    suppressions={**many(SUPPRESSION), 'uniqueItems': True},
    fixes={**many(FIX), 'uniqueItems': True},
    properties=BAG,
)
RULE = thing(
    'id',
    id=TEXT,
    shortDescription=MESSAGE,
    fullDescription=MESSAGE,
    help=MESSAGE,
    defaultConfiguration=thing(level=LEVEL),
    properties=BAG,
)
NOTIFICATION = thing('message', level=LEVEL, message=MESSAGE, locations=many(LOCATION), associatedRule=thing('id', id=TEXT))
INVOCATION = thing('executionSuccessful', executionSuccessful={'type': 'boolean'}, toolExecutionNotifications=many(NOTIFICATION))
RUN = thing(
    'tool results columnKind',
    tool=thing('driver', driver=thing('name version', name=TEXT, version=TEXT, rules={**many(RULE), 'uniqueItems': True})),
    columnKind={'enum': ['utf16CodeUnits', 'unicodeCodePoints']},
    invocations=many(INVOCATION),
    results=many(RESULT),
    properties=BAG,
)
LOG = thing('version runs', **{'$schema': TEXT, 'version': {'enum': ['2.1.0']}, 'runs': many(RUN, 1)})
