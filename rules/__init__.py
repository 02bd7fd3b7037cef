"""The built-in rules: which module judges which kind. Only modules whose kind was met are imported."""

SUBJECTS: dict[str, tuple[str, ...]] = {
    'vllm': ('vllm',),
}
