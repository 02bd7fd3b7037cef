"""Metrics as a file for node_exporter's textfile collector, which must never see half of one."""

import os
import tempfile


def write_atomically(path: str, text: str) -> None:
    """Write a file beside its place and rename it there. Raises OSError."""
    handle, temporary = tempfile.mkstemp(prefix='.configaudit-', dir=os.path.dirname(path) or '.')
    try:
        with os.fdopen(handle, 'w', encoding='utf-8', newline='\n') as file:
            file.write(text)
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
