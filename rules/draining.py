"""Rules on how long an engine lets requests finish when it is told to stop, and how long its pod lets it."""

from collections.abc import Iterator

from configaudit.model import Component, NotApplicable, Problem, rule

from .rollout import hook_sleeps

_TIMEOUT = {'tgi': 'graceful_termination_timeout', 'triton': 'exit_timeout_secs', 'vllm': 'shutdown_timeout'}


@rule(
    'drain-timeout-exceeds-grace', on=tuple(_TIMEOUT), severity='warning', side_effect='rollouts and drains take longer',
    source='text-generation-inference launcher/src/main.rs; Triton src/command_line_parser.h; vllm 0.18.1 entrypoints/launcher.py; Kubernetes documentation, concepts/workloads/pods/pod-lifecycle',
)  # fmt: skip
def drain_timeout_exceeds_grace(engine: Component) -> Iterator[Problem]:
    """The engine would let requests finish for longer than Kubernetes waits: it is killed with what still runs.

    The preStop hook counts inside the grace period. What nobody sets is judged with the longest answer, by grace-shorter-than-generation.
    """
    timeout = engine[_TIMEOUT[engine.kind.name]]
    if not timeout.is_set or not engine.peers('pod'):
        raise NotApplicable('it is not set, or the engine runs in no pod')
    grace, before = engine.peer('pod')['grace_s'], hook_sleeps(engine.peer('container')) or 0.0
    if before + timeout.value > grace.value:
        words = f'{before:g} s of preStop and ' if before else ''
        message = '{words}{value} s to finish requests, in a grace period of {grace} s'
        yield Problem(timeout, message, words=words, grace=grace.value, see=[('the grace period', grace)], fix=grace.set(int(before + timeout.value) + 10))
