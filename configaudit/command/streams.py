"""Standard output for the report, standard error for everything else."""

import os
import sys


def say(message: str) -> None:
    """A line for the person at the terminal, apart from the report."""
    from configaudit.report.escape import visible

    print(f'configaudit: {visible(message)}', file=sys.stderr)


def emit(text: str) -> None:
    """Print a report as UTF-8, whatever the locale; a reader that has gone away is no failure."""
    try:
        sys.stdout.flush()
        binary = getattr(sys.stdout, 'buffer', None)
        if binary is None:
            sys.stdout.write(text)
        else:
            binary.write(text.encode('utf-8', 'backslashreplace'))
            binary.flush()
    except BrokenPipeError:
        close_stdout()


def close_stdout() -> None:
    """Nobody reads any more: what is still buffered goes nowhere, without a message at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def is_colored(wish: str) -> bool:
    """Whether to colour: 'always', 'never', or 'auto' (https://no-color.org)."""
    if wish != 'auto':
        return wish == 'always'
    return not os.environ.get('NO_COLOR') and os.environ.get('TERM') != 'dumb' and sys.stdout.isatty()


def width() -> int:
    """Columns of the terminal; 100 where there is none."""
    if not sys.stdout.isatty():
        return 100
    import shutil

    return shutil.get_terminal_size((100, 24)).columns


def write_report(path: str, text: str) -> None:
    """Write a report to a file, or for `-` to standard output."""
    from configaudit.errors import UsageError

    if path == '-':
        emit(text)
        return
    try:
        with open(path, 'w', encoding='utf-8', errors='backslashreplace', newline='\n') as file:
            file.write(text)
    except OSError as error:
        raise UsageError(f'{path}: {error.strerror or error}') from None
