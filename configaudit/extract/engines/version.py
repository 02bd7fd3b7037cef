"""Which version an engine is, how that was found, and on which GPU it runs."""

from configaudit.context import Context
from configaudit.extract.commands import Invocation
from configaudit.extract.engines.launch import image_of
from configaudit.knowledge.flags import catalogue
from configaudit.knowledge.gpus import Gpu, lookup
from configaudit.knowledge.versions import Version, parse

_HISTORIES = ('vllm', 'sglang')


def engine_version(invocation: Invocation, engine: str, context: Context) -> tuple[Version | None, str, str]:
    """(version or None, how it was found or why not, a note when it is newer than the data)."""
    image = image_of(invocation)
    version, found = None, 'no image is named'
    if image is not None:
        version = image.version if image.engine == engine else None
        if version is not None:
            found = f'image tag {image.tag}'
        elif image.engine not in (engine, None):
            found = f'the image is {image.engine}'
        else:
            found = image.reason or ('a digest' if image.digest else f'image tag {image.tag!r}' if image.tag else 'no image tag')
    given = context.engine_versions.get(engine) or context.engine_versions.get('')
    if version is None and given:
        version, found = parse(given), 'given by option'
    if version is None:
        return None, found, ''
    newest = catalogue(engine).newest if engine in _HISTORIES else None
    note = f'newer than the data ({newest})' if newest is not None and version > newest else ''
    return version, found, note


def engine_gpu(invocation: Invocation, context: Context) -> Gpu | None:
    """The GPU by node label, resource name, or the run's option."""
    carrier = invocation.process.component
    for pod in carrier.peers('pod'):
        product = pod['gpu_product']
        if product.is_set and product.is_known and (found := lookup(str(product.known_value))):
            return found
    resource = carrier.settings.get('gpu_resource')
    if resource is not None and 'mig-' in str(resource.known_value) and (found := lookup(str(resource.known_value))):
        return found
    return lookup(context.gpu) if context.gpu else None
