"""Rules for Kubernetes objects as such: versions that are gone, keys that stand twice, volumes over programs."""

from collections.abc import Iterator

from configaudit.knowledge.images import identify
from configaudit.model import Component, NotApplicable, Problem, rule
from configaudit.patterns import regex

_OWN_FOLDERS = (
    (regex(r'(^|/)litellm[\w-]*(?=[:@]|$)'), '/app'), (regex(r'(^|/)vllm-openai(?=[:@]|$)'), '/vllm-workspace'),
    (regex(r'(^|/)lmsysorg/sglang(?=[:@]|$)'), '/sgl-workspace'), (regex(r'(^|/)tritonserver(?=[:@]|$)'), '/opt/tritonserver'),
)  # fmt: skip
"""Images and the folder from which they start their own programs."""


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


@rule('volume-hides-image-dir', on='container', severity='warning', source='Dockerfiles of LiteLLM, vLLM, SGLang and Triton: WORKDIR')
def volume_hides_image_dir(container: Component) -> Iterator[Problem]:
    """A volume over the image's own folder hides every program and file that the image ships there.

    Mount the one file with `subPath`, or the volume somewhere else.
    """
    image = container['image']
    if not image.is_known:
        raise NotApplicable('which image runs is not known')
    reference = str(image.value or '')
    mounts = container['mounts'].value
    folder = next((own for pattern, own in _OWN_FOLDERS if own in mounts and pattern.search(reference)), None)
    mount = mounts[folder] if folder else None
    if mount is not None and not mount['sub_path']:
        yield Problem(mount['place'], 'the volume {volume} over {folder} hides what {image} ships there', volume=mount['volume'], folder=folder, image=identify(reference).repository, detail=folder or '')
