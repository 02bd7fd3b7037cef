"""Files below a root that nobody vouches for: links lead nowhere outside of it, and nothing but a plain file is opened."""

import errno
import os
import stat

MAX_FILE = 1 << 20
"""Bytes; nothing of a host that is read here has more."""
_LINKS = 40
"""As many links in one path as the kernel follows (Linux include/linux/namei.h, MAXSYMLINKS)."""
_ONE_READ = ('/proc/sys/', '/sys/')
"""What the kernel gives in one read; lists such as /proc/modules come page by page (Linux fs/seq_file.c)."""


def resolve(root: str, path: str) -> str:
    """Where a path of the host stands below a root, as a process with that root would see it. OSError for a loop of links."""
    if not root:
        return path
    parts, found, links = path.split('/')[::-1], '', 0
    while parts:
        part = parts.pop()
        if part in ('', '.'):
            continue
        if part == '..':
            found = found.rpartition('/')[0]
            continue
        there = f'{found}/{part}'
        if not os.path.islink(root + there):
            found = there
            continue
        links += 1
        if links > _LINKS:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        target = os.readlink(root + there)
        found = '' if target.startswith('/') else found
        parts += target.split('/')[::-1]
    return root + (found or '/')


def read(root: str, path: str) -> bytes:
    """The bytes of a plain file. OSError for any other (a pipe is not waited for) and for one that is too large."""
    number = os.open(resolve(root, path), os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    try:
        mode = os.fstat(number).st_mode
        if not stat.S_ISREG(mode):
            raise OSError(errno.EISDIR if stat.S_ISDIR(mode) else errno.ENXIO, 'no plain file')
        data = os.read(number, MAX_FILE + 1)
        if data and not path.startswith(_ONE_READ):
            data = _rest(number, data)
    finally:
        os.close(number)
    if len(data) > MAX_FILE:
        raise OSError(errno.EFBIG, f'over {MAX_FILE >> 20} MiB')
    return data


def _rest(number: int, data: bytes) -> bytes:
    while len(data) <= MAX_FILE and (more := os.read(number, MAX_FILE + 1 - len(data))):
        data += more
    return data
