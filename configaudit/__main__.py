"""`python -m configaudit` and the console script."""

import gc
import sys

from configaudit import VERSION


def main() -> None:
    """Run the command line; `--version` answers before anything is imported."""
    if sys.argv[1:] == ['--version']:
        print(f'configaudit {VERSION}')
        return
    gc.disable()  # the process is short, and imports alone would start a dozen scans for cycles
    from configaudit.cli import run

    sys.exit(run())


if __name__ == '__main__':
    main()
