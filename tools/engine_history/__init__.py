"""Writes the histories of flags, environment variables and metrics that the package ships, from published releases.

    python -m tools.engine_history update --engine vllm            add the releases that the catalogue lacks
    python -m tools.engine_history update --engine sglang --since 0.5 --rebuild
    python -m tools.engine_history update --engine vllm --release 0.33.0

A release is read by static analysis of a few of its files: no engine is ever imported or installed.
"""
