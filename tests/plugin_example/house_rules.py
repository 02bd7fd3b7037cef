"""Rules of our own house, as a plugin for configaudit."""

from collections.abc import Iterator

from configaudit.model import Component, Problem, rule


@rule('house-batch-odd', on='vllm', severity='advice', source='house rule 7')
def batch_odd(engine: Component, *, multiple: int = 8) -> Iterator[Problem]:
    """A batch width that is no multiple of 8 falls between the sizes that CUDA graphs were captured for."""
    seqs = engine['max_num_seqs']
    if seqs.is_set and seqs.value % multiple:
        wider = seqs.value + multiple - seqs.value % multiple
        yield Problem(seqs, '{value} sequences are no multiple of {multiple}', multiple=multiple, fix=seqs.set(wider))
