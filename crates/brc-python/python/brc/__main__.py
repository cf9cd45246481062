"""The program brc: ``python -m brc``."""

import os
import signal
import sys

from . import _brc


def main() -> None:
    """Runs the program with the arguments of this process, and ends with its exit code."""
    # The program handles signals itself; Python would only set a flag.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    code = _brc.main(sys.executable, ["-m", "brc"], sys.argv[1:])
    # Python needs no clean-up, and remaining threads are abandoned.
    os._exit(code)


if __name__ == "__main__":
    main()
