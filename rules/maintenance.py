"""Rules on servers that are no longer developed."""

from collections.abc import Iterator

from configaudit.knowledge.images import identify
from configaudit.model import Component, Problem, rule

_UNMAINTAINED = {
    'tgi': ('Text Generation Inference', 'in maintenance mode, as its README says'),
    'torchserve': ('TorchServe', 'no longer actively maintained, as its README says'),
}
_WORDS = ('tgi', 'text-generation', 'torchserve')
"""One of these is in every such image: the others are not looked at further."""


@rule('engine-unmaintained', on='image-user', severity='advice', source='READMEs of huggingface/text-generation-inference and pytorch/serve')
def unmaintained(user: Component) -> Iterator[Problem]:
    """The server is no longer developed: security fixes and new models come late or never. Plan the move to a maintained engine."""
    image = user['image']
    if not image.is_set or not image.is_known:
        return
    if not any(word in image.value for word in _WORDS):
        return
    found = _UNMAINTAINED.get(identify(str(image.value)).engine or '')
    if found is not None:
        yield Problem(image, '{product} is {state}', product=found[0], state=found[1])
