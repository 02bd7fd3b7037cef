"""Which release of the engine a vendor's own release contains, where the image's tag counts the vendor's.

Only what a public source says; everything else stays unknown. Sources: NVIDIA Dynamo: docs.nvidia.com/dynamo, Support
Matrix of 1.1.1 and Compatibility of 1.3.1, 1.4.2, 1.5.0; NVIDIA vLLM container: docs.nvidia.com/deeplearning/frameworks,
vLLM release notes 25.10 to 26.10; llm-d: github.com/llm-d/llm-d/releases, component summaries of 0.8.0, 0.8.1, 0.9.0; Red
Hat AI Inference Server: docs.redhat.com, product and version compatibility 3.0, and the model cards of RedHatAI that name
the image and the vLLM release they were validated on (3.2.1, 3.2.2, 3.2.5); Ray: the requirements of the package's extra
`llm` on pypi.org, which name one release from 2.56.0 on and only a lowest one before.
"""

from configaudit.knowledge.versions import Version, release
from configaudit.patterns import regex

_DYNAMO: tuple[tuple[tuple[str, ...], tuple[str, str, str]], ...] = (  # (Dynamo releases, vLLM, SGLang, TensorRT-LLM)
    (('0.6.0', '0.6.1', '0.6.1.post1'), ('0.11.0', '0.5.3.post2', '1.1.0rc5')),
    (('0.7.0',), ('0.11.0', '0.5.4.post3', '1.2.0rc2')),
    (('0.7.0.post1', '0.7.1'), ('0.11.0', '0.5.4.post3', '1.2.0rc3')),
    (('0.8.0', '0.8.1', '0.8.1.post1', '0.8.1.post2', '0.8.1.post3'), ('0.12.0', '0.5.6.post2', '1.2.0rc6')),
    (('0.9.0',), ('0.14.1', '0.5.8', '1.3.0rc1')),
    (('0.9.1',), ('0.14.1', '0.5.8', '1.3.0rc3')),
    (('1.0.0', '1.0.1', '1.0.2'), ('0.16.0', '0.5.9', '1.3.0rc5')),
    (('1.1.0', '1.1.1'), ('0.19.0', '0.5.10.post1', '1.3.0rc11')),
    (('1.3.0', '1.3.1'), ('0.23.0', '0.5.14', '1.3.0rc19')),
    (('1.4.0', '1.4.1', '1.4.2'), ('0.26.0', '0.5.16', '1.3.0rc22')),
    (('1.5.0',), ('0.28.0', '0.5.18', '1.3.0rc25')),
)
CONTAINED: dict[tuple[str, str], dict[str, str]] = {
    **{
        ('NVIDIA Dynamo', engine): {name: versions[column] for names, versions in _DYNAMO for name in names}
        for column, engine in enumerate(('vllm', 'sglang', 'tensorrt-llm'))
    },
    ('the NVIDIA container', 'vllm'): {'25.10': '0.10.2', '26.01': '0.11.1', '26.03': '0.17.1', '26.05': '0.20.1', '26.10': '0.31.0'},
    ('llm-d', 'vllm'): {'0.7.0': '0.19.1', '0.8.0': '0.23.0', '0.8.1': '0.23.0', '0.9.0': '0.26.0'},
    ('Ray', 'vllm'): {
        '2.56.0': '0.22.0', '2.56.1': '0.22.0', '2.57.0': '0.25.1', '2.57.1': '0.25.1', '2.58.0': '0.26.0', '2.58.1': '0.26.0', '2.59.0': '0.27.0',
        '2.60.0': '0.29.0',
    },
    ('Red Hat AI Inference Server', 'vllm'): {'3.0.0': '0.8.4', '3.0': '0.8.4', '3.2.1': '0.10.0', '3.2.2': '0.10.1.1', '3.2.5': '0.11.2'},
}
"""(product, engine) -> release of the product as its tags spell it -> release of the engine."""

_TAG = regex(r'v?(\d+(?:\.\d+)+(?:[.]post\d+)?)(?=$|-(?:py3|cuda|cu|efa|\d{6,}))')
"""A tag that is a release and no more: not of a pre-release, a model or a branch of its own."""


def contained(product: str, engine: str, tag: str) -> Version | None:
    """The engine's release in a vendor's image, by its tag; None where no source says it."""
    found = _TAG.match(tag)
    known = CONTAINED.get((product, engine), {}).get(found[1]) if found else None
    return release(known) if known else None
