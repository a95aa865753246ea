"""Persons use a served app for as long as is asked for: how long they wait, and what the app holds at last.

python -m tests.soak [--persons 50] [--minutes 60] [--cores 2] [--attack loops] [--out build/soak.txt]

The table is written anew each minute, so that an hour that is interrupted is not lost."""

import argparse
import asyncio
import logging
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.serving import PROJECT
from tests.soak.attacking import ATTACKS
from tests.soak.soaking import Plan, served_town, soak
from tests.soak.table import table


def main(given: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--persons", type=int, default=50, metavar="N")
    parser.add_argument("--minutes", type=int, default=60, metavar="N")
    parser.add_argument("--cores", type=int, default=2, metavar="N", help="what app, judge and persons share")
    parser.add_argument("--out", type=Path, default=PROJECT / "build" / "soak.txt", metavar="FILE")
    parser.add_argument("--attack", choices=sorted(ATTACKS), default="", help="what somebody else does meanwhile")
    args = parser.parse_args(given)
    logging.getLogger("werkzeug").setLevel(logging.WARNING)  # of the provider with whom persons sign in
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: args.cores])
    args.out.parent.mkdir(parents=True, exist_ok=True)
    plan = Plan(args.persons, args.minutes, attack=args.attack)
    with tempfile.TemporaryDirectory() as folder, served_town(Path(folder), plan) as served:
        result = asyncio.run(soak(served, plan, lambda so_far: args.out.write_text(table(so_far))))
    args.out.write_text(table(result))
    print(table(result))


if __name__ == "__main__":
    main()
