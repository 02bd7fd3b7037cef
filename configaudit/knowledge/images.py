"""Which engine a container image holds, and which release of it the tag names.

Sources: the registries' own tag lists: hub.docker.com/r/vllm/vllm-openai, hub.docker.com/r/lmsysorg/sglang,
hub.docker.com/r/rocm/vllm, catalog.ngc.nvidia.com (calendar tags), github.com/aws/deep-learning-containers,
catalog.redhat.com (rhaiis), hub.docker.com/r/ollama/ollama.
"""

import re
from functools import cache
from typing import NamedTuple

from configaudit.knowledge.versions import Version, parse
from configaudit.patterns import regex

HOLE = '\ufffc'  # stands for a part of a text that cannot be known


class Image(NamedTuple):
    """What a reference says.

    `version` is the engine's, never the vendor's: where they differ it is None and `reason` says so.
    """

    engine: str | None
    version: Version | None
    tag: str
    digest: str
    floating: bool  # the tag moves, or there is none
    reason: str = ''
    repository: str = ''
    placeholder: bool = False  # the tag stands for a value to fill in
    vendor: bool = False  # the tag counts a product that contains the engine
    product: str = ''  # that product


# (pattern for the repository, engine, name of the product whose version the tag carries, '' for the engine's own).
# First match wins.
REPOSITORIES: tuple[tuple[str, str, str], ...] = (
    (r'(^|/)nim/.+', 'nim', ''),
    (r'(^|/)nvidia/vllm$', 'vllm', 'the NVIDIA container'),
    (r'(^|/)nvidia/sglang$', 'sglang', 'the NVIDIA container'),
    (r'(^|/)ai-dynamo[/-]vllm-runtime(-cu\d+)?$', 'vllm', 'NVIDIA Dynamo'),
    (r'(^|/)ai-dynamo[/-]sglang-runtime(-cu\d+)?$', 'sglang', 'NVIDIA Dynamo'),
    (r'(^|/)ai-dynamo/tensorrtllm-runtime$', 'tensorrt-llm', 'NVIDIA Dynamo'),
    (r'(^|/)(rhaiis|rhaii)[^/]*/vllm[^/]*$', 'vllm', 'Red Hat AI Inference Server'),
    (r'(^|/)rhoai/[^/]*vllm[^/]*$', 'vllm', 'Red Hat OpenShift AI'),
    (r'(^|/)lmcache/vllm-openai$', 'vllm', 'LMCache'),
    (r'(^|/)llm-d/llm-d-(cuda|aws)$', 'vllm', 'llm-d'),
    (r'(^|/)llm-d/llm-d(-(cuda|rocm|xpu|cpu|hpu|aws|gke|dev))*$', 'vllm', 'a build of llm-d'),
    (r'(^|/)worker-v1-vllm$', 'vllm', 'the RunPod worker'),
    (r'(^|/)vertex-[^/]*/pytorch-vllm-serve$', 'vllm', 'the Vertex AI container'),
    (r'(^|/)[^/]*(exporter|router|operator|scheduler|proxy|sidecar|gateway|controller|benchmark|-bench|-sim)$', '', ''),
    (r'(^|/)([^/]*[-_])?(mock(er)?|simulator|fake|stub|dummy)([-_][^/]*)?$', '', ''),
    (r'(^|/)vllm/vllm-[^/]+$', 'vllm', ''),
    (r'(^|/)[^/]*vllm[^/]*$', 'vllm', ''),
    (r'(^|/)[^/]*sglang[^/]*$', 'sglang', ''),
    (r'(^|/)[^/]*text-generation-inference[^/]*$|(^|/)tgi[^/]*$|(^|/)(hf|huggingface|optimum|neuronx?|gaudi|rocm)[^/]*-tgi$', 'tgi', ''),
    (r'(^|/)tritonserver$', 'triton', ''),
    (r'(^|/)tensorrt-?llm/[^/]+$|(^|/)tensorrt-?llm$', 'tensorrt-llm', ''),
    (r'(^|/)ollama/ollama$|(^|/)ollama$', 'ollama', ''),
    (r'(^|/)llama\.cpp$|(^|/)llama-cpp[^/]*$', 'llama.cpp-server', ''),
    (r'(^|/)lmdeploy$', 'lmdeploy', ''),
    (r'(^|/)torchserve[^/]*$', 'torchserve', ''),
    (r'(^|/)tensorflow/serving$|(^|/)tensorflow-serving[^/]*$', 'tf-serving', ''),
    (r'(^|/)kserve/[^/]*server[^/]*$', 'kserve', ''),
    (r'(^|/)ray-llm$', 'vllm', 'Ray'),
    (r'(^|/)rayproject/ray(-ml)?$|(^|/)ray-ml$', 'ray-serve', ''),
    (r'(^|/)bentoml/[^/]+$', 'bentoml', ''),
    (r'(^|/)djl-(inference|serving)$', 'djl-serving', ''),
)  # fmt: skip
_WORDS = (
    'nim/', 'vllm', 'sglang', 'sgl', 'rhaii', 'rhoai', 'llm', 'lmstack', 'generation', 'tgi', 'triton', 'tensorrt', 'tensorflow', 'llama',
    'lmdeploy', 'torchserve', 'kserve', 'ray', 'bentoml', 'djl',
)  # fmt: skip
"""One of these is in every name that REPOSITORIES knows."""
FREQUENT = {'vllm/vllm-openai': 'vllm', 'lmsysorg/sglang': 'sglang', 'ollama/ollama': 'ollama'}
"""What most files name: told without compiling the patterns, which say the same."""
_PATTERNS = tuple((regex(pattern), engine, product) for pattern, engine, product in REPOSITORIES)

FLOATING = regex(
    r'(latest|nightly|main|master|head|dev|devel|develop|development|stable|edge|canary|rolling|preview|next'
    r'|cuda|rocm|cpu|gpu|server|full|light)'
    r'([-_.](latest|main|master|dev|cuda|rocm|cpu|gpu|vulkan|musa|intel|sagemaker|alpine'
    r'|\d{1,4}|cu\d+|py\d+|arm64|amd64))*'
    r'|.*[-_]latest',
    re.IGNORECASE,
)
PLACEHOLDER = regex(
    r'<.*>|\$\{?.*|.*(replace|change|fill)[-_ ]?(me|this|with)?|your[-_ ].*|.*placeholder.*|todo|tbd|xxx+'
    r'|v?x\.y(\.z)?|tag|image[-_]?tag|version|none',
    re.IGNORECASE,
)
_OPEN_NAME = regex(r'.*\$\{?\w+\}?|<.*>|\{.*|.*:')
"""A reference whose end is a variable or a blank: its tag is whatever is filled in."""
_REBUILDS = regex(r'vllm-ascend$')
"""Plugins counted like the vLLM release they are for; their own release candidates are none of vLLM's."""
_COMMIT = regex(r'[0-9a-f]{7,40}', re.ASCII)
# rocm/vllm writes the engine's version in the middle: rocm6.3.1_instinct_vllm0.8.3_20250410
_INSIDE = regex(r'(?:vllm|sglang)[-_]?(v?\d+\.\d+[0-9a-z.]*)')


@cache
def identify(image: str) -> Image:
    """What an image reference says. Parts that hold a HOLE are unknown, the others stay known."""
    reference = image.strip().removeprefix('docker://').removeprefix('oci://')
    named, _, digest = reference.partition('@')
    if '/' in digest:  # no digest holds a slash: what stands before it is a login, which a report must not repeat
        named, _, digest = digest.partition('@')
    repository, tag = name_and_tag(named)
    engine, product = _engine(repository)
    numbered = tag.removeprefix('v').replace('.', '').isdigit()
    placeholder = not numbered and bool(PLACEHOLDER.fullmatch(tag) if tag else not digest and _OPEN_NAME.fullmatch(named))
    floating = not digest and not placeholder and not numbered and _floats(repository, tag)
    version, reason = (None, '') if placeholder or floating else _version(engine, product, repository, tag)
    if placeholder:
        reason = f'{f"the tag {tag!r}" if tag else named} stands for a value to fill in'
    elif floating:
        reason = f'the tag {tag!r} moves' if tag else 'no tag: the registry serves latest'
    elif not tag:
        reason = 'pinned by digest, which names no version' if digest else 'the tag is not known'
    return Image(
        engine, version, tag, digest, floating, reason, repository, placeholder, bool(product) or engine == 'nim', product
    )


def name_and_tag(reference: str) -> tuple[str, str]:
    """An image's repository and tag, without a digest; a colon before the last slash belongs to the registry's port."""
    named = reference.partition('@')[0]
    head, colon, tail = named.rpartition(':')
    return (head, tail) if colon and '/' not in tail else (named, '')


def _engine(repository: str) -> tuple[str | None, str]:
    path = repository.lower()
    if path in FREQUENT:
        return FREQUENT[path], ''
    if not any(word in path for word in _WORDS):
        return None, ''
    for pattern, engine, product in _PATTERNS:
        if pattern.search(path):
            return engine or None, product
    return None, ''


def _floats(repository: str, tag: str) -> bool:
    if not tag:
        return HOLE not in repository.rpartition('/')[2]
    return HOLE not in tag and bool(FLOATING.fullmatch(tag))


def _version(engine: str | None, product: str, repository: str, tag: str) -> tuple[Version | None, str]:
    """(the engine's version, why there is none or what is uncertain about it)."""
    if not tag:
        return None, ''
    name = tag.lower()
    inside = _INSIDE.search(name) if 'vllm' in name or 'sglang' in name else None
    text = inside[1] if inside else tag
    known = text.partition(HOLE)[0]
    if HOLE in text and known[-1:] not in ('-', '+', '_'):
        return None, 'the tag is not known'
    version = parse(known.removeprefix('release-').removeprefix('version-'))
    if product and not inside:
        from configaudit.knowledge.vendor_images import contained  # most images count the engine itself

        held = contained(product, engine or '', known)
        return (held, '') if held else (None, f'the tag counts {product}, not the engine')
    if version is not None and _REBUILDS.search(repository):
        version = version._replace(phase=0, number=0)
    if version is None:
        return None, 'the tag is a commit' if _COMMIT.fullmatch(tag) else f'the tag {tag!r} names no version'
    if engine in ('vllm', 'sglang') and version.release[0] > 0:
        return None, f'{engine} has no release {version}: the tag counts something else'
    if re.fullmatch(r'v?\d+\.\d+', re.split(r'[-+_]', known)[0]) and engine in ('vllm', 'sglang'):
        return version, 'the tag names the minor release only'
    return version, ''
