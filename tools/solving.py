"""Write the bundles of the rules for all bundled tasks into one data file.

python -m tools.solving
"""

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from passnet_core.corpus.catalogue import Corpus
from passnet_core.corpus.solved import write_solved
from passnet_core.errors import BadInput
from passnet_core.records import Bundle
from passnet_core.settings import BUNDLED_DATA, rules_file
from passnet_core.solvers.rules.solver import written


def solved(corpus: Corpus) -> tuple[dict[str, Bundle], dict[str, str]]:
    """A bundle for each task that the rules cover, and for each other task the reason."""
    bundles, reasons = {}, {}
    for summary in corpus.tasks():
        try:
            bundles[summary.id] = written(corpus.task(summary.id)).bundle
        except BadInput as problem:
            reasons[summary.id] = str(problem)
    return bundles, reasons


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.solving", description=__doc__)
    parser.add_argument("--out", type=Path, default=rules_file())
    options = parser.parse_args(arguments)
    began = time.monotonic()
    bundles, reasons = solved(Corpus([BUNDLED_DATA / "tasks"]))
    options.out.parent.mkdir(parents=True, exist_ok=True)
    write_solved(options.out, bundles)
    for reason in reasons.values():
        print(reason)
    size = options.out.stat().st_size / 1e6
    took = time.monotonic() - began
    print(f"{len(bundles)} of {len(bundles) + len(reasons)} tasks, {size:.1f} MB, in {took:.0f} s: {options.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
