"""The program brc: ``python -m brc``."""

import os
import signal
import sys

from . import _brc


def main() -> None:
    """Runs the program with the arguments of this process, and ends with its exit code."""
    # The program handles signals itself, while Python only takes note of them.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    code = _brc.main(sys.executable, ["-m", "brc"], sys.argv[1:])
    # Nothing of Python has to be cleaned up, and what still runs is given up.
    os._exit(code)


if __name__ == "__main__":
    main()
