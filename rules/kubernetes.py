"""Rules for Kubernetes objects as such: versions that are gone, keys that stand twice."""

from collections.abc import Iterator

from configaudit.model import Component, Problem, rule


@rule('api-version-removed', on='removed-api', severity='error', source='Kubernetes documentation, reference/using-api/deprecation-guide')
def api_version_removed(item: Component) -> Iterator[Problem]:
    """The API server no longer serves this version of the kind: the object is rejected."""
    version, instead = item['api_version'], item['instead'].value
    message = '{value} {kind} was removed in Kubernetes {release}' + (': use {instead}' if instead else ' without a successor')
    if instead and not item['same_schema'].value:
        message += ', whose fields differ'
    fix = version.set(instead, safe=True) if item['same_schema'].value else None
    yield Problem(version, message, kind=item['object_kind'].value, release=item['removed_in'].value, instead=instead, fix=fix)


@rule('yaml-key-duplicate', on='document', severity='warning', source='YAML 1.2.2, section 3.2.1.3: keys are unique')
def yaml_key_duplicate(document: Component) -> Iterator[Problem]:
    """A key stands twice in one mapping: the earlier value is lost without a word, or the file is rejected."""
    for key, first, second in document['duplicates'].value:
        yield Problem(second, '{key} stands twice in one mapping: this one counts, the earlier value is lost', key=key, see=[('the earlier one', first)], detail=key)
