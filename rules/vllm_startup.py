"""Rules for what vLLM itself checks at start: flags that need one another, that exclude one another, sizes that do not fit."""

from collections.abc import Iterator
from typing import NamedTuple

from configaudit.knowledge.history import Status
from configaudit.knowledge.models import is_published, lookup
from configaudit.knowledge.versions import release as version_of
from configaudit.model import Component, NotApplicable, Problem, Setting, Severity, rule
from configaudit.units import boolean

from .releases import is_among, release


class Pair(NamedTuple):
    """Two flags of which vLLM's start-up check speaks. `since`: first release with the check, '' for all that have the flags."""

    flag: str
    others: tuple[str, ...]
    since: str = ''
    least: int = 1
    """From which number on `others` count, where they are numbers."""
    before: str = ''
    """First release without the check."""


NEEDS = (
    Pair('enable_auto_tool_choice', ('tool_call_parser',)),
    Pair('enable_reasoning', ('reasoning_parser',)),
    Pair('enable_log_outputs', ('enable_log_requests',), '0.11.0'),
    Pair('enable_eplb', ('enable_expert_parallel',), '0.10.2'),
    Pair('data_parallel_hybrid_lb', ('data_parallel_size_local', 'nnodes')),
    Pair('data_parallel_external_lb', ('data_parallel_rank', 'nnodes')),
)
"""The flag stops the engine unless one of the others is given."""
EXCLUDES = (
    Pair('enable_per_request_metrics', ('disable_log_stats',)),
    Pair('data_parallel_hybrid_lb', ('data_parallel_external_lb', 'data_parallel_multi_port_external_lb')),
    Pair('data_parallel_external_lb', ('data_parallel_multi_port_external_lb',)),
    Pair('headless', ('data_parallel_hybrid_lb',)),
    Pair('headless', ('api_server_count',), '0.16.0'),
    Pair('headless', ('api_server_count',), '0.9.2', 2),
    Pair('async_scheduling', ('pipeline_parallel_size',), '', 2, '0.15.0'),
)
"""The flag stops the engine beside any of the others."""


def option_of(setting: Setting) -> str:
    """The flag of a setting, as it is written on the command line."""
    return '--' + setting.name.replace('_', '-')


def is_given(setting: Setting, least: int = 1) -> bool:
    """Whether a flag is given and on: a switch, a word, a number that counts. Unknown where a template or unseen arguments decide."""
    if not setting.is_set and setting.is_known:
        return False
    value = setting.value
    return value >= least if isinstance(value, int) and not isinstance(value, bool) else bool(value)


def _severity(engine: Component, pair: Pair) -> tuple[bool, Severity | None]:
    """Whether the release checks a pair, and how sure that is."""
    if engine.version is None:
        return not pair.before, None if not pair.since else 'warning'
    late = pair.before and engine.version >= version_of(pair.before)
    return not late and (not pair.since or engine.version >= version_of(pair.since)), None


@rule(
    'vllm-flag-needs-another', on='vllm', severity='error',
    source='vllm entrypoints/openai/cli_args.py validate_parsed_serve_args, engine/arg_utils.py, config/parallel.py of 0.7.3 to 0.33.0; vllm#9986',
)  # fmt: skip
def flag_needs_another(engine: Component) -> Iterator[Problem]:
    """The engine stops at start: one flag needs another that is not given.

    --enable-auto-tool-choice needs --tool-call-parser, --enable-log-outputs (from 0.11.0) --enable-log-requests, --enable-eplb
    --enable-expert-parallel, --data-parallel-hybrid-lb --data-parallel-size-local, --data-parallel-external-lb a rank.
    """
    for pair in NEEDS:
        flag = engine[pair.flag]
        checked, severity = _severity(engine, pair)
        if not flag.is_set or not checked or not is_given(flag):
            continue
        if not any(engine[other].is_set or is_given(engine[other]) for other in pair.others):
            message = '{flag} needs {other}, which is not given: {engine} stops at start'
            others = ' or '.join(option_of(engine[other]) for other in pair.others)
            yield Problem(flag, message, flag=option_of(flag), other=others, engine=release(engine), severity=severity, detail=pair.flag)


@rule(
    'vllm-flags-exclude-each-other', on='vllm', severity='error',
    source='vllm entrypoints/cli/serve.py, entrypoints/openai/cli_args.py, engine/arg_utils.py of 0.9.2 to 0.33.0',
)  # fmt: skip
def flags_exclude_each_other(engine: Component) -> Iterator[Problem]:
    """The engine stops at start: two flags contradict one another.

    Per-request metrics without the statistics they come from, two ways to balance data parallel ranks, API servers or hybrid
    balancing in a headless worker, asynchronous scheduling with pipeline stages (until 0.14), several API servers (which would not share the adapters) with VLLM_ALLOW_RUNTIME_LORA_UPDATING.
    """
    found: set[tuple[str, str]] = set()
    for pair in EXCLUDES:
        flag = engine[pair.flag]
        checked, severity = _severity(engine, pair)
        if not flag.is_set or not checked or not is_given(flag):
            continue
        for other in (engine[name] for name in pair.others):
            if other.is_set and is_given(other, pair.least) and (flag.name, other.name) not in found:
                found.add((flag.name, other.name))
                message = '{flag} and {other} exclude each other: {engine} stops at start'
                yield Problem(flag, message, flag=option_of(flag), other=option_of(other), engine=release(engine), severity=severity, see=[('the other flag', other)], detail=other.name)
    servers, word = engine['api_server_count'], engine['environment'].value.get('VLLM_ALLOW_RUNTIME_LORA_UPDATING')
    if servers.is_set and word is not None and word.known and boolean(word.value) and servers.value > 1:
        message = '{value} API servers and VLLM_ALLOW_RUNTIME_LORA_UPDATING exclude each other: {engine} stops at start'
        yield Problem(servers, message, engine=release(engine), see=[('the variable', word.place)], detail='lora')


@rule('vllm-parallel-sizes-contradict', on='vllm', severity='error', source='vllm config/parallel.py, engine/arg_utils.py create_engine_config of 0.9.2 to 0.33.0')
def parallel_sizes_contradict(engine: Component) -> Iterator[Problem]:
    """The engine stops at start: its GPUs do not divide over its nodes, or a rank or a local size lies outside the whole.

    The nodes must divide tensor x pipeline x data parallel size, and a node's rank counts from 0.
    """
    ranks, local, rank = engine['data_parallel_size'], engine['data_parallel_size_local'], engine['data_parallel_rank']
    nodes, node = engine['nnodes'], engine['node_rank']
    if not any(setting.is_set for setting in (local, rank, nodes, node)):
        raise NotApplicable('it runs on one node, without data parallel ranks of its own')
    for part, whole, most, see in ((local, ranks, 0, 'the whole'), (rank, ranks, 1, 'the ranks'), (node, nodes, 1, 'the nodes')):
        if part.is_set and part.is_known and whole.is_known and part.value > (whole.value or 1) - most and not _given_elsewhere(engine, whole):
            message = '{flag} {value} lies outside {whole} {size}{count}: {engine} stops at start'
            size = whole.value or 1
            count = ', counted from 0' if most else ''
            yield Problem(part, message, flag=option_of(part), whole=option_of(whole), size=size, count=count, engine=release(engine), see=[(see, whole)], detail=part.name)
    world = engine['world_size']
    if nodes.is_set and nodes.value > 1 and not engine['prefill_context_parallel_size'].is_set:
        total = world.value * ranks.value
        if total % nodes.value:
            message = 'tensor x pipeline x data parallel size is {total}, which {value} nodes do not divide: {engine} stops at start'
            yield Problem(nodes, message, total=total, engine=release(engine), see=[('the parallel size', world)], detail='nodes')


def _given_elsewhere(engine: Component, whole: Setting) -> bool:
    """Whether a variable says how many ranks there are."""
    return not whole.is_set and whole.name == 'data_parallel_size' and 'VLLM_DP_SIZE' in engine['environment'].value


@rule('vllm-external-ranks-of-dense-model', on='vllm', severity='error', source='vllm engine/arg_utils.py create_engine_config 0.21.0 to 0.33.0', side_effect='the replicas are independent: a load balancer sees them all')
def external_ranks_of_dense_model(engine: Component) -> Iterator[Problem]:
    """The engine stops at start: data parallel ranks behind an external load balancer are for mixtures of experts.

    Ranks of a dense model have nothing to exchange: run independent replicas without --data-parallel flags. Judged for well-known models.
    """
    rank, external = engine['data_parallel_rank'], engine['data_parallel_external_lb']
    flag = rank if rank.is_set else external
    if not flag.is_set or (flag is external and not external.value) or engine['data_parallel_size'].value <= 1:
        raise NotApplicable('it has no ranks of its own')
    name = str(engine['model'].value or '')
    model = lookup(name)
    if model is not None and is_published(name, model) and model.active is None and is_among(engine, '0.21.0'):
        message = '{flag} splits {model}, which is no mixture of experts, into data parallel ranks: {engine} stops at start'
        yield Problem(flag, message, flag=option_of(flag), model=name, engine=release(engine), see=[('the ranks', engine['data_parallel_size'])])


@rule('vllm-prefill-threshold-too-long', on='vllm', severity='error', source='vllm config/scheduler.py of 0.7.3 to 0.33.0')
def prefill_threshold_too_long(engine: Component) -> Iterator[Problem]:
    """The engine stops at start: a prompt cannot count as long only above the longest context.

    Until 0.26 the check runs only with --max-num-partial-prefills above 1.
    """
    threshold, length = engine['long_prefill_token_threshold'], engine['max_model_len']
    if not threshold.is_set or not length.is_set:
        raise NotApplicable('not both of the threshold and the context length are given')
    partial = engine['max_num_partial_prefills']
    checked = (engine.version is not None and engine.version >= version_of('0.27.0')) or (partial.is_set and partial.value > 1)
    if checked and threshold.value > length.value > 0:
        message = '{value} tokens as the threshold for a long prompt, over the {length} of the context: {engine} stops at start'
        yield Problem(threshold, message, length=length.value, engine=release(engine), see=[('context length', length)], fix=threshold.remove())


@rule('vllm-tool-parser-unused', on='vllm', severity='warning', source='vllm entrypoints/openai/serving_chat.py 0.12.0, chat_completion/message_assembly.py 0.33.0; vllm#9986')
def tool_parser_unused(engine: Component) -> Iterator[Problem]:
    """Requests that leave the choice of a tool to the model get a 400, or the call as text: --tool-call-parser alone does not turn it on.

    Tools that a request names, and models that speak the harmony format (gpt-oss), work without.
    """
    parser, choice = engine['tool_call_parser'], engine['enable_auto_tool_choice']
    if not parser.is_set or choice.is_set or parser.value in ('openai', 'mistral'):
        return
    if not choice.value:
        message = '--tool-call-parser {value} without --enable-auto-tool-choice: a request with tools and no tool_choice gets a 400, or the call as plain text'
        yield Problem(parser, message, fix=choice.set(True))


@rule('vllm-parser-unknown', on='vllm', severity='error', source='vLLM tool_parsers/ and reasoning/ of the releases; entrypoints/openai/api_server.py 0.6.6 to 0.18.1, common/cli_args.py 0.33.0: KeyError')
def parser_unknown(engine: Component) -> Iterator[Problem]:
    """The engine stops at start: the release registers no parser of that name.

    The parser of tool calls is looked up with --enable-auto-tool-choice, until 0.8 the one of reasoning with --enable-reasoning. A parser that a plugin brings is left alone; in an image that is
    not the project's own it is a warning.
    """
    early = engine.version is not None and engine.version < version_of('0.9.0')
    for setting, kind, switch in ((engine['tool_call_parser'], 'tool', 'enable_auto_tool_choice'), (engine['reasoning_parser'], 'reasoning', 'enable_reasoning' if early else '')):
        plugin = any(option.name == f'--{kind}-parser-plugin' for option in engine['options'].value)
        if not setting.is_set or plugin or not setting.value or (switch and not is_given(engine[switch])):
            continue
        from configaudit.knowledge.parser_names import status  # most engines name no parser

        found = status(kind, setting.value, engine.version)
        hint = _hint(found, kind, setting.value, engine)
        if hint:
            severity: Severity | None = None if found.exact and engine.version is not None and is_upstream_image(engine) else 'warning'
            yield Problem(setting, '{flag} {value} is not known to {engine}: {hint}', flag=option_of(setting), engine=release(engine), hint=hint, severity=severity)


def is_upstream_image(engine: Component) -> bool:
    """Whether the image is the project's own, or none is named: others may bring plugins."""
    image = engine['image']
    return not image.is_set or 'vllm/vllm-openai' in str(image.known_value or '')


def _hint(found: Status, kind: str, name: str, engine: Component) -> str:
    """What to do about a parser that the release does not have, or ''."""
    if found.state == 'removed' and found.between is not None:
        return f'{found.between[0]} had it last'
    if found.state == 'too-new' and found.between is not None:
        return f'it first appears in {found.between[1]}'
    if found.state != 'unknown':
        return ''
    from difflib import get_close_matches  # 5 ms, needed only for a name that no release has

    from configaudit.knowledge.parser_names import names

    near = get_close_matches(name, names(kind, engine.version), n=1, cutoff=0.6)
    return f'did you mean {near[0]}?' if near else 'no release has it'
