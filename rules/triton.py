"""Rules for the Triton Inference Server itself; its batchers and gRPC settings are judged with those of others."""

from collections.abc import Iterator

from configaudit.model import Component, Problem, rule


@rule(
    'triton-model-control-poll', on='triton', severity='warning', source='Triton docs, user_guide/model_management: Model Control Mode POLL',
    side_effect='models are loaded and unloaded through the API, or by a restart',
)  # fmt: skip
def model_control_poll(server: Component) -> Iterator[Problem]:
    """Triton loads whatever lies in the repository at the moment it looks: a model that is half copied, or one that somebody put there.

    Its documentation advises against polling in production.
    """
    mode = server['model_control_mode']
    if mode.is_set and mode.value == 'poll':
        yield Problem(mode, '--model-control-mode=poll loads models that are still being copied: use explicit, or none', fix=mode.set('explicit'))
