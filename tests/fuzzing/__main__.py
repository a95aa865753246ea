"""python -m tests.fuzzing [--cases N] [--seed N] [--only KIND ...] [--case N] feeds commands with altered input.

Prints each case that ended otherwise than with a clear error, and how to repeat it. Exit code 1 if there was one."""

import argparse
import resource
import sys
import tempfile
from collections import Counter
from pathlib import Path

from tests.fuzzing.addresses import playground
from tests.fuzzing.drawing import KINDS, drawn
from tests.fuzzing.ground import Ground
from tests.fuzzing.requests import judge

MOST_MEMORY = 8 << 30
"""Bytes that this process may have: a case that needs more fails, and not the machine."""


def main() -> int:
    flags = argparse.ArgumentParser(description="Feed the playground with altered input.")
    flags.add_argument("--cases", type=int, default=10_000, help="number of cases (default: %(default)s)")
    flags.add_argument("--seed", type=int, default=0, help="what the cases are drawn from (default: %(default)s)")
    flags.add_argument("--only", nargs="+", choices=list(KINDS), default=list(KINDS), help="kinds of cases")
    flags.add_argument("--case", type=int, help="carry out only the case of this number")
    args = flags.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    numbers = range(args.cases // len(args.only)) if args.case is None else [args.case]
    bad: Counter[str] = Counter()
    done = 0
    with tempfile.TemporaryDirectory(prefix="passnet-fuzzing-") as folder:
        ground = Ground(Path(folder))
        with playground(ground), judge(ground):
            for number in numbers:
                for kind in args.only:
                    case = drawn(kind, args.seed, number, ground)
                    done += 1
                    if case.problems:
                        bad[kind] += 1
                        print(f"\n{kind} {number}: {case.told}", *case.problems, sep="\n  ")
                        print(f"  again: python -m tests.fuzzing --seed {args.seed} --only {kind} --case {number}")
    print(f"\n{done:,} cases, {bad.total()} of them bad" + "".join(f"; {kind}: {n}" for kind, n in bad.items()))
    return int(bool(bad))


if __name__ == "__main__":
    sys.exit(main())
