"""All that one release of an engine has: flags, environment variables, metrics, and the defaults that its code works out."""

from configaudit.knowledge import sglang, vllm
from configaudit.knowledge.defaults import Default
from configaudit.knowledge.flag import Flag
from configaudit.knowledge.flags import Catalogue
from configaudit.knowledge.gpus import Gpu
from configaudit.knowledge.versions import Version, parse


def flags_at(known: Catalogue, version: Version) -> dict[str, Flag]:
    """Main spelling -> flag, of every flag that the release has."""
    found: dict[str, Flag] = {}
    for option in sorted(known.options):
        flag = known.find(option, version).flag if known.status(option, version).state == 'known' else None
        if flag is not None and not flag.abbreviated and flag.option == option:
            found[option] = flag
    return found


def variables_at(known: Catalogue, version: Version) -> dict[str, object]:
    """Environment variable -> its default, of every one that the release reads."""
    names = (name for name in sorted(known.variables) if known.env_status(name, version).state == 'known')
    return {name: known.env_default(name, version) for name in names}


def metrics_at(known: Catalogue, version: Version) -> frozenset[str]:
    """Names of the Prometheus metrics that the release emits, in either of vLLM's two engines; counters as scrapes name them."""
    return frozenset(_exposed(known, name) for name in known.metrics if emits(known, name, version))


def _exposed(known: Catalogue, name: str) -> str:
    """The text format gives a counter the suffix _total, which some releases write themselves."""
    return name.removesuffix('_total') + '_total' if known.metric_kinds.get(name) == 'counter' else name


def emits(known: Catalogue, name: str, version: Version) -> bool:
    """Whether the release has a metric of the catalogue; what the newest recorded one has, later ones have."""
    spans = ((parse(first), parse(last)) for _, first, last in known.metric_history(name))
    return any(low is not None and high is not None and low <= version and (version <= high or high == known.newest) for low, high in spans)


def resolved(engine: str, version: Version, gpu: Gpu | None, usage: str = 'server') -> dict[str, Default]:
    """Flag -> what it becomes when nobody gives it, for the flags whose default the engine's code works out.

    `usage`: 'server' (`vllm serve`) or 'library' (the LLM class), which vLLM gives other batch limits.
    """
    if engine == 'sglang':
        return {
            '--mem-fraction-static': sglang.mem_fraction_static(version, gpu), '--chunked-prefill-size': sglang.chunked_prefill_size(version, gpu),
            '--cuda-graph-max-bs': sglang.cuda_graph_max_bs(version, gpu), '--max-running-requests': sglang.max_running_requests(version),
            '--max-total-tokens': sglang.max_total_tokens(version), '--context-length': sglang.context_length(version),
        }  # fmt: skip
    serving = vllm.SERVER._replace(usage=usage)
    generation = vllm.engine_generation(version, {}, gpu)
    runs = str(generation.value) if generation.known else None
    return {
        '--max-num-seqs': vllm.max_num_seqs(version, gpu, serving),
        '--max-num-batched-tokens': vllm.max_num_batched_tokens(version, gpu, serving),
        '--enable-chunked-prefill': vllm.enable_chunked_prefill(version, generation=runs),
        '--enable-prefix-caching': vllm.enable_prefix_caching(version, generation=runs),
        '--max-model-len': vllm.max_model_len(version), '--block-size': vllm.block_size(version),
        '--async-scheduling': vllm.async_scheduling(version),
    }  # fmt: skip
