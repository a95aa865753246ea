"""python -m tests.benchmarks.accepted --out FILE counts the tasks for which the rules wrote a bundle that the judge
accepts on all subgraphs, by their values on the CPU.

It judges every subgraph of eval's tasks, which takes a core for a day, appends each outcome to the file as it comes,
and goes on where it ended before. Without --judges it only prints what the file holds."""

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from threading import Event, Lock

from passnet_core.corpus.solved import read_solved
from passnet_core.execution.backends.local import LocalBackend
from passnet_core.execution.jobs import jobs_of
from passnet_core.execution.scheduler import Scheduler
from passnet_core.records import Device, EvalSpec, Job, Outcome, Stage, Verdict, digest_of, to_json
from passnet_core.service import corpus_of
from passnet_core.settings import read_settings
from passnet_core.store import exchange

SPLIT = "eval"
AGAIN = (Verdict.INFRASTRUCTURE, Verdict.CANCELLED)
"""Verdicts that say nothing about a bundle: it is judged again the next time."""


def asked_jobs(deadline_s: float) -> dict[str, tuple[Job, ...]]:
    """The jobs of each task, in an order that looks random and is always the same."""
    settings = read_settings()
    corpus, solved = corpus_of(settings), read_solved(settings.rules_file)
    spec = EvalSpec(stage=Stage.VERIFY, device=Device.CPU, deadline_s=deadline_s)
    tasks = sorted((each.id for each in corpus.tasks() if each.split == SPLIT), key=digest_of)
    return {each: jobs_of(corpus.task(each), solved[each], spec) if each in solved else () for each in tasks}


def judge(jobs: Sequence[Job], file: Path, judges: int, within: float | None) -> None:
    """Judge these jobs, and append each outcome to the file."""
    settings, start, writing = read_settings(), time.monotonic(), Lock()
    backend = LocalBackend(settings.python, settings.isolation, settings.home, judges=judges, checkers=0)
    with closing(Scheduler(backend)) as scheduler, ThreadPoolExecutor(judges) as threads:

        def one(job: Job) -> None:
            if within is not None and time.monotonic() > start + within:
                return
            outcome = scheduler.judge(job, lambda event: None, Event())
            named = f"{job.subgraph.task_id} {job.subgraph.id}"
            with writing, file.open("a", encoding="utf-8") as lines:
                lines.write(json.dumps(to_json(replace(outcome, log_tail=""))) + "\n")
                print(f"{named}: {outcome.verdict.value} ({outcome.wall_s:.0f} s)", flush=True)

        list(threads.map(one, jobs))


def kept(files: Sequence[Path]) -> dict[str, Outcome]:
    """The outcomes that files hold, by the digests of their jobs."""
    outcomes = (each for file in files for each in exchange.read_outcomes(file))
    return {each.job_digest: each for each in outcomes if each.verdict not in AGAIN}


def told(asked: Mapping[str, Sequence[Job]], outcomes: Mapping[str, Outcome]) -> Iterator[str]:
    """What was counted, as Markdown, and what was not accepted."""
    judged = {task: [outcomes.get(job.digest) for job in jobs] for task, jobs in asked.items()}
    whole = {task: [each for each in found if each is not None] for task, found in judged.items() if None not in found}
    right = [task for task, found in whole.items() if found and all(each.verdict.accepted for each in found)]
    verdicts = Counter(each.verdict for found in judged.values() for each in found if each is not None)
    yield f"{len(right)} of {len(whole)} tasks are accepted on all of their subgraphs; {len(asked)} are in {SPLIT}."
    yield ""
    yield "| verdict | subgraphs |"
    yield "| --- | ---: |"
    yield from (f"| {verdict} | {count} |" for verdict, count in verdicts.most_common())
    yield ""
    yield "| task | accepted | of | why not |"
    yield "| --- | ---: | ---: | --- |"
    for task, found in sorted(whole.items()):
        if task not in right:
            reasons = Counter(each.verdict for each in found if not each.verdict.accepted)
            why = ", ".join(f"{verdict} ({count})" for verdict, count in reasons.most_common()) or "nothing is written"
            yield f"| {task} | {sum(each.verdict.accepted for each in found)} | {len(found)} | {why} |"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.accepted", description=__doc__)
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="JSONL file of outcomes")
    parser.add_argument("--have", type=Path, nargs="*", default=[], metavar="FILE", help="further files, only read")
    parser.add_argument(
        "--judges", type=int, default=0, metavar="N", help="judges at once, each with some GB of memory"
    )
    parser.add_argument(
        "--deadline", type=float, default=EvalSpec().deadline_s, metavar="S", help="seconds per subgraph"
    )
    parser.add_argument("--within", type=float, metavar="SECONDS", help="begin no further subgraph after this time")
    parser.add_argument("--part", default="0/1", help="which part of the subgraphs, such as 1/4, for several processes")
    options = parser.parse_args(arguments)
    asked = asked_jobs(options.deadline)
    files = [options.out, *options.have]
    if options.judges > 0:
        place, parts = map(int, options.part.split("/"))
        known = kept(files)
        jobs = [job for found in asked.values() for job in found][place::parts]
        judge([job for job in jobs if job.digest not in known], options.out, options.judges, options.within)
    print("\n".join(told(asked, kept(files))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
