"""Write the bundles of the rules for all bundled tasks into one data file.

python -m tools.solving

For a task whose candidates were measured, the file gets the one that the judge's times and values speak for, which
data/solved/measured.json names. To choose anew from runs that tools.recording --ways recorded:

python -m tools.solving --measured FOLDER/*.jsonl.gz
"""

import argparse
import json
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from passnet_core.corpus.catalogue import Corpus
from passnet_core.corpus.solved import write_solved
from passnet_core.errors import BadInput, PlaygroundError
from passnet_core.records import Bundle, Capture, Outcome, Task
from passnet_core.settings import BUNDLED_DATA, rules_file
from passnet_core.solvers.rules.candidates import by_measurement, candidates
from passnet_core.solvers.rules.solver import written
from passnet_core.store import exchange

MEASURED = rules_file().with_name("measured.json")


def solved(corpus: Corpus, kept: Mapping[str, str]) -> tuple[dict[str, Bundle], dict[str, str]]:
    """A bundle for each task that the rules cover, and for each other task the reason. kept: the name of the candidate
    for tasks in which they were measured."""
    bundles, reasons = {}, {}
    for summary in corpus.tasks():
        try:
            bundles[summary.id] = bundle_for(corpus.task(summary.id), kept.get(summary.id))
        except BadInput as problem:
            reasons[summary.id] = str(problem)
    return bundles, reasons


def bundle_for(task: Task, kept: str | None) -> Bundle:
    """The candidate with this name, or the first one. Raises BadInput if there is none."""
    if kept is None:
        return written(task).bundle
    for each in candidates(task):
        if each.name == kept:
            return each.bundle
    raise BadInput(f"The rules have no candidate {kept} for {task.id}. Measure its candidates again.")


def measured(corpus: Corpus, files: Sequence[Path]) -> dict[str, object]:
    """What measurement keeps: the name of a candidate for each task of which these run files hold several in direct
    capture, with the devices and the day of the last run. Raises BadInput if there is no such task."""
    outcomes: dict[tuple[str, str], list[Outcome]] = {}
    for path in files:
        for file in exchange.read_file(path)[1]:
            for each in file.outcomes:
                if each.bundle_digest and each.spec.capture is Capture.DIRECT:
                    outcomes.setdefault((each.task_id, each.bundle_digest), []).append(each)
    kept: dict[str, str] = {}
    used: list[Outcome] = []
    for task_id in sorted({task_id for task_id, _ in outcomes}):
        found = candidates(corpus.task(task_id))
        judged = {
            each.bundle.digest: outcomes[key] for each in found if (key := (task_id, each.bundle.digest)) in outcomes
        }
        if len(judged) > 1:
            kept[task_id] = by_measurement(found, judged).name
            used += [each for several in judged.values() for each in several]
    if not used:
        raise BadInput("No task has several candidates in these run files. Record them with tools.recording --ways.")
    devices = sorted({each.environment.device for each in used if each.environment})
    return {"devices": devices, "date": max(each.finished_at for each in used)[:10], "kept": kept}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.solving", description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=rules_file())
    parser.add_argument("--measured", type=Path, nargs="+", metavar="FILE", help="run files to choose candidates by")
    options = parser.parse_args(arguments)
    began = time.monotonic()
    corpus = Corpus([BUNDLED_DATA / "tasks"])
    try:
        if options.measured:
            text = json.dumps(measured(corpus, options.measured), indent=2)
            MEASURED.write_text(text + "\n", encoding="utf-8")
        bundles, reasons = solved(corpus, json.loads(MEASURED.read_text(encoding="utf-8"))["kept"])
    except PlaygroundError as error:
        print(error, file=sys.stderr)
        return 2
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
