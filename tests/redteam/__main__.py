"""Judge the bundles of this folder and print what each got. Exits with 1 if a verdict is not as stated.

python -m tests.redteam [cheats|honest] [NAME ...] [--device cuda] [--folder OF_MORE_BUNDLES]"""

import argparse
import json
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from passnet_core.bundles.reading import read_bundle
from passnet_core.corpus.layout import read_task
from passnet_core.corpus.packs import Pack
from passnet_core.records import Bundle, Device, EvalSpec, Job, Outcome, Stage, Subgraph, Verdict
from tests.real_judge import running_backend

FOLDER = Path(__file__).resolve().parent
TASKS = FOLDER.parents[1] / "data" / "tasks"
KINDS = ("cheats", "honest")
ACCEPTED = "accepted"


@dataclass(frozen=True)
class Example:
    """A bundle with the subgraph that it is for. expected: the verdicts that are right."""

    name: str
    subgraph: Subgraph
    bundle: Bundle
    expected: tuple[str, ...]

    def as_expected(self, outcome: Outcome) -> bool:
        """Whether the outcome has one of these verdicts; that of right values without times is "accepted"."""
        accepted = outcome.verdict is Verdict.VALUES_ONLY and ACCEPTED in self.expected
        # nothing can be told on the subgraph: neither accepted nor refused
        return accepted or outcome.verdict is Verdict.INCONCLUSIVE or outcome.verdict.value in self.expected


def examples(place: Path, kind: str, names: list[str]) -> Iterator[Example]:
    """The examples of a kind in a folder, all or those of these names. Since plans are executed, the verdicts that are
    "planned" are right, if there are any."""
    for folder in sorted(each.parent for each in (place / kind).glob("*/about.json")):
        if names and folder.name not in names:
            continue
        about = json.loads((folder / "about.json").read_text(encoding="utf-8"))
        subgraphs = _subgraphs(folder, about["task"])
        found = next((each for each in subgraphs if each.id == about["subgraph"]), subgraphs[0])
        stated = about.get("planned", about["expect"])
        expected = tuple(each.strip() for each in stated.split("|"))
        yield Example(f"{kind}/{folder.name}", found, read_bundle(folder), expected)


def _subgraphs(folder: Path, named: str) -> tuple[Subgraph, ...]:
    if beside := next((folder / "subgraph").rglob("model.py"), None):
        return read_task(beside.parent).subgraphs
    if (TASKS / named).is_dir():
        return read_task(TASKS / named).subgraphs
    return Pack(TASKS / "models.jsonl.gz").task(named).subgraphs


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.redteam", description="Judge the bundles of this folder.")
    parser.add_argument("names", nargs="*", help="cheats, honest, or names of bundles; by default all")
    parser.add_argument("--device", choices=[each.value for each in Device], default=Device.CPU.value)
    parser.add_argument("--folder", type=Path, default=FOLDER, help="judge the bundles of another such folder")
    given = parser.parse_args(arguments)
    kinds = [each for each in given.names if each in KINDS] or list(KINDS)
    names = [each for each in given.names if each not in KINDS]
    spec = EvalSpec(stage=Stage.VERIFY, device=Device(given.device))
    counts = {True: 0, False: 0}
    with tempfile.TemporaryDirectory() as home, running_backend(Path(home)) as backend:
        for kind in kinds:
            for each in examples(given.folder, kind, names):
                start = time.monotonic()
                outcome = backend.run(Job(each.subgraph, each.bundle, spec), lambda event: None, threading.Event())
                right = each.as_expected(outcome)
                counts[right] += 1
                seconds = time.monotonic() - start
                print(f"{'' if right else 'NOT AS STATED ':14}{each.name}: {outcome.verdict.value} ({seconds:.1f} s)")
                if not right:
                    print(f"{'':14}expected {' or '.join(each.expected)}; {outcome.reason}", flush=True)
    print(f"{counts[True]} of {counts[True] + counts[False]} as stated on {given.device}.")
    return 1 if counts[False] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
