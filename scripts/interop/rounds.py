"""The loop over random tables that several scripts share."""

import argparse
import random
import sys
import tempfile
from pathlib import Path

from .readers import is_installed


def check_tables(about, writers, try_table):
    """Tries random tables, and ends the program. `try_table` takes the path of brc, a directory and a seed, and returns
    what to print for a table that fails."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("brc", nargs="?", default="target/release/brc")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2**32))
    parser.add_argument("--tables", type=int, default=200, help="how many tables to try")
    parser.add_argument("--only", type=int, metavar="N", help="try just this table of the seed")
    parser.add_argument("--keep", type=Path, metavar="DIRECTORY", help="leave the files of the last table here")
    arguments = parser.parse_args()
    brc = Path(arguments.brc).absolute()
    for program in writers:
        if program != "python" and not is_installed(program):
            print(f"LEFT OUT: {program} is not installed")
    print(f"seed {arguments.seed}")
    numbers = range(arguments.tables) if arguments.only is None else [arguments.only]
    failed = 0
    with tempfile.TemporaryDirectory() as directory:
        for number in numbers:
            failure = try_table(brc, arguments.keep or Path(directory), f"{arguments.seed}/{number}")
            if failure:
                failed += 1
                print(f"FAILED  --seed {arguments.seed} --only {number}: {failure}")
    print(f"{len(numbers) - failed} tables came back equal, {failed} did not")
    sys.exit(1 if failed else 0)
