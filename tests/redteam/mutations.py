"""Alter one place of a pass that the rules wrote, and see whether the judge notices.

`python -m tests.redteam.mutations [--seed N] [--count 200] [--only TASK …] [--out FILE]` takes small subgraphs of the
corpus, writes bundles for them, makes mutants, and tells what each does by running it beside the original, without the
judge. Those that run are judged on the CPU. Exits with 1 if a mutant that changes values is accepted, or if the judge
does not accept a bundle that is not altered."""

import argparse
import itertools
import json
import math
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from passnet_core.corpus.catalogue import Corpus
from passnet_core.errors import BadInput
from passnet_core.execution.backends.local import LocalBackend
from passnet_core.records import Bundle, EvalSpec, Job, Outcome, PassFile, Stage, Subgraph, Verdict, to_json
from passnet_core.solvers.rules.solver import written
from tests.redteam.effects import Effect
from tests.redteam.mutating import Kind, Mutation, chosen, mutations
from tests.waiting import seconds

PROJECT = Path(__file__).resolve().parents[2]
DATA = PROJECT / "data" / "tasks"
ORIGINAL = "original"
MOST_ELEMENTS = 300_000
UNDECIDED = {Verdict.INCONCLUSIVE, Verdict.NEEDS_GPU, Verdict.TIMED_OUT, Verdict.INFRASTRUCTURE, Verdict.CANCELLED}
MOST_WAITING = 12
"""So many mutants may wait for a judge before further ones are told apart."""


@dataclass(frozen=True)
class Base:
    """A subgraph with the passes that the rules wrote for it. used: by file, its functions that this subgraph runs."""

    subgraph: Subgraph
    bundle: Bundle
    used: dict[str, list[str]]
    problem: str

    def mutants(self, count: int, kinds: Sequence[str], chance: random.Random) -> list[tuple[str, Mutation]]:
        """So many mutants: the altered file and how, spread over the kinds."""
        codes = {each.name: each.code for each in self.bundle.passes}
        sites = [
            (name, each)
            for name, functions in self.used.items()
            for each in mutations(codes[name], functions)
            if each.kind in kinds
        ]
        owners = {id(each): name for name, each in sites}
        return [(owners[id(each)], each) for each in chosen([each for _, each in sites], count, chance)]

    def altered(self, name: str, mutation: Mutation) -> Bundle:
        passes = (
            PassFile(each.name, mutation.applied(each.code)) if each.name == name else each
            for each in self.bundle.passes
        )
        return replace(self.bundle, passes=tuple(passes))


@dataclass(frozen=True)
class Found:
    """A line of the results. verdict: "" if it was not judged. kind: of the mutation, or "original"."""

    task: str
    subgraph: str
    kind: str
    file: str = ""
    function: str = ""
    line: int = 0
    start: int = 0
    before: str = ""
    after: str = ""
    text: str = ""
    """The line as it was."""
    effect: str = ""
    why: str = ""
    verdict: str = ""
    reason: str = ""
    device: str = ""
    seconds: float = 0.0

    @property
    def key(self) -> tuple[object, ...]:
        return self.task, self.subgraph, self.kind, self.file, self.start, self.before, self.after

    @property
    def accepted(self) -> bool:
        """Whether the judge says that it is right; "right, inconclusive" says that nothing can be told."""
        return bool(self.verdict) and Verdict(self.verdict).accepted and Verdict(self.verdict) not in UNDECIDED


def subgraphs(seed: int, only: Sequence[str]) -> Iterator[tuple[Subgraph, Bundle]]:
    """The first small subgraph of each task with the task's bundle: at random, of each family in turn."""
    corpus = Corpus([DATA])
    chance = random.Random(seed)
    families: dict[str, list[str]] = {}
    for each in corpus.tasks():
        if not only or each.id in only:
            families.setdefault(each.family.value, []).append(each.id)
    for names in families.values():
        chance.shuffle(names)
    longest = max(map(len, families.values()), default=0)
    for place in range(longest):
        for names in families.values():
            if place >= len(names):
                continue
            task = corpus.task(names[place])
            small = [each for each in task.subgraphs if _elements(each) <= MOST_ELEMENTS]
            try:
                if small:
                    yield small[0], written(task).bundle
            except BadInput as problem:
                print(f"{task.id}: {problem}", file=sys.stderr)


def _elements(subgraph: Subgraph) -> int:
    return sum(math.prod(each.shape) for each in subgraph.inputs)


class Teller:
    """The program that runs mutants beside their original."""

    def __init__(self, subgraph: Subgraph, bundle: Bundle) -> None:
        self.errors = tempfile.TemporaryFile(mode="w+", encoding="utf-8")  # noqa: SIM115
        self.process = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-m", "tests.redteam.telling_mutants"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, text=True, cwd=PROJECT,
        )  # fmt: skip
        self.told = self._asked({"subgraph": to_json(subgraph), "bundle": to_json(bundle)})

    def effect_of(self, mutant: Bundle) -> tuple[str, str]:
        answer = self._asked({"bundle": to_json(mutant)})
        return answer["effect"], answer["why"]

    def _asked(self, question: Any) -> Any:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(question) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            self.process.wait()
            self.errors.seek(0)
            last = self.errors.read().strip().rpartition("\n")[2]
            raise BadInput(f"It does not run beside eager: {last or f'exit status {self.process.returncode}'}.")
        return json.loads(line)

    def close(self) -> None:
        self.process.kill()
        self.process.communicate()
        self.errors.close()


@contextmanager
def beside_eager(subgraph: Subgraph, bundle: Bundle) -> Iterator[tuple[Teller, Base]]:
    """Someone who tells mutants apart, and the bundle without passes that the subgraph has no use for."""
    teller = Teller(subgraph, bundle)
    try:
        used = teller.told["used"]
        kept = replace(bundle, passes=tuple(each for each in bundle.passes if each.name in used))
        yield teller, Base(subgraph, kept, used, teller.told["problem"])
    finally:
        teller.close()


class Judges:
    """The real judge, with so many lanes."""

    def __init__(self, home: Path, count: int) -> None:
        self.backend = LocalBackend(sys.executable, "auto", home, judges=count, checkers=0)
        self.lanes = ThreadPoolExecutor(count)

    def judged(self, subgraph: Subgraph, bundle: Bundle, found: Found) -> "Future[Found]":
        def judge() -> Found:
            begun = time.monotonic()
            job = Job(subgraph, bundle, EvalSpec(stage=Stage.VERIFY, deadline_s=seconds(60)))
            return _with_outcome(found, self.backend.run(job, lambda event: None, threading.Event()), begun)

        return self.lanes.submit(judge)

    def close(self) -> None:
        self.lanes.shutdown()
        self.backend.close()


def _with_outcome(found: Found, outcome: Outcome, begun: float) -> Found:
    environment = outcome.environment
    return replace(
        found,
        verdict=outcome.verdict.value,
        reason=outcome.reason,
        device=f"{environment.device}, torch {environment.torch}, Triton {environment.triton}" if environment else "",
        seconds=round(time.monotonic() - begun, 1),
    )


class Results:
    """What was found, in memory and in a file of JSON lines, which is read first if it is there."""

    def __init__(self, file: Path | None) -> None:
        self.file = file
        self.by_key: dict[tuple[object, ...], Found] = {}
        self._lock = threading.Lock()
        if file is not None and file.exists():
            for line in file.read_text(encoding="utf-8").splitlines():
                each = Found(**json.loads(line))
                self.by_key[each.key] = each

    def add(self, found: Found) -> None:
        with self._lock:
            self.by_key[found.key] = found
            if self.file is not None:
                with self.file.open("a", encoding="utf-8") as lines:
                    lines.write(json.dumps(asdict(found)) + "\n")
        sign = "ACCEPTED " if found.accepted and found.effect == Effect.VALUES else ""
        where = f"{found.file}:{found.line} {found.before!r} -> {found.after!r}" if found.file else ""
        verdict = f"{found.verdict} ({found.seconds} s)" if found.verdict else "not judged"
        print(f"{sign}{found.task} {found.kind} {where}: {found.effect}; {verdict}", flush=True)


@dataclass
class Trial:
    """One run of this program. judges: None to tell only what mutants do. every: also judge those that change nothing
    but roundings. until: no mutant is begun later, by time.monotonic()."""

    results: Results
    judges: Judges | None
    each: int
    kinds: Sequence[str]
    every: bool
    keep: Path | None
    until: float

    def __post_init__(self) -> None:
        self.begun: list[Future[Found]] = []

    def run(self, seed: int, count: int, only: Sequence[str]) -> None:
        left = count
        for subgraph, bundle in subgraphs(seed, only):
            if left <= 0 or time.monotonic() > self.until:
                break
            try:
                with beside_eager(subgraph, bundle) as (teller, base):
                    if reason := _left_out(teller):
                        print(f"{subgraph.task_id}: left out, since {reason}", file=sys.stderr)
                        continue
                    left -= self._try(teller, base, min(self.each, left), seed)
            except (BadInput, OSError) as problem:
                failed = Found(subgraph.task_id, subgraph.id, ORIGINAL, effect=Effect.FAILS, why=str(problem))
                if failed.key not in self.results.by_key:
                    self.results.add(failed)
        for future in self.begun:
            future.result()

    def _try(self, teller: Teller, base: Base, count: int, seed: int) -> int:
        """Try so many mutants of a bundle; how many there were."""
        task, subgraph = base.subgraph.task_id, base.subgraph.id
        problem = Effect.VALUES if base.problem else Effect.NONE
        self._judge(base, base.bundle, Found(task, subgraph, ORIGINAL, effect=problem, why=base.problem))
        codes = {each.name: each.code.splitlines() for each in base.bundle.passes}
        taken = base.mutants(count, self.kinds, random.Random(f"{seed} {task}"))
        for name, each in taken:
            if time.monotonic() > self.until:
                break
            text = codes[name][each.line - 1].strip()
            found = Found(
                task=task, subgraph=subgraph, kind=each.kind.value, file=name, function=each.function, line=each.line,
                start=each.start, before=each.before, after=each.after, text=text,
            )  # fmt: skip
            mutant = base.altered(name, each)
            if self.keep is not None:
                _keep(self.keep / f"{task}-{each.start}-{each.kind.value}", mutant)
            known = self.results.by_key.get(found.key)
            effect, why = (known.effect, known.why) if known else teller.effect_of(mutant)
            self._judge(base, mutant, replace(found, effect=effect, why=why))
        return len(taken)

    def _judge(self, base: Base, bundle: Bundle, found: Found) -> None:
        known = self.results.by_key.get(found.key)
        gravest = (Effect.VALUES, Effect.MEMORY, *([Effect.ROUNDINGS, Effect.NONE] if self.every else []))
        asked = found.kind == ORIGINAL or found.effect in gravest
        if self.judges is None or not asked:
            if known is None:
                self.results.add(found)
            return
        if known is not None and known.verdict:
            return
        while sum(not each.done() for each in self.begun) > MOST_WAITING:
            time.sleep(0.1)
        future = self.judges.judged(base.subgraph, bundle, found)
        future.add_done_callback(lambda done: self.results.add(done.result()))
        self.begun.append(future)


def _left_out(teller: Teller) -> str:
    if teller.told["slow"]:
        return "its mutants would take long"
    return "" if teller.told["used"] else "no pass matches its first small subgraph"


def _keep(folder: Path, bundle: Bundle) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for each in bundle.files:
        (folder / each.name).write_text(each.code, encoding="utf-8")


def table(found: Iterable[Found]) -> str:
    """By kind, what became of the mutants that change values, and how many do something else."""
    mutants = [each for each in found if each.kind != ORIGINAL]
    others = [each for each in Effect if each is not Effect.VALUES]
    rows = [["kind", "mutants", "change values", "refused", "accepted", "undecided", *(each.value for each in others)]]
    for name in [*(kind.value for kind in Kind), "all"]:
        alike = [each for each in mutants if name in (each.kind, "all")]
        telling = [each for each in alike if each.effect == Effect.VALUES]
        states = Counter(_state(each) for each in telling)
        effects = Counter(each.effect for each in alike)
        numbers = [len(alike), len(telling), states["refused"], states["accepted"], states["undecided"]]
        rows.append([name, *map(str, numbers), *(str(effects[each.value]) for each in others)])
    widths = [max(map(len, column)) for column in zip(*rows)]
    return "\n".join("  ".join(_fitted(row, widths)) for row in rows)


def _fitted(row: Sequence[str], widths: Sequence[int]) -> Iterator[str]:
    for place, (cell, width) in enumerate(zip(row, widths)):
        yield cell.rjust(width) if place else cell.ljust(width)


def _state(found: Found) -> str:
    if not found.verdict:
        return "not judged"
    return "accepted" if found.accepted else "undecided" if Verdict(found.verdict) in UNDECIDED else "refused"


def summary(found: Sequence[Found]) -> str:
    """The table, the verdicts, and every accepted mutant that changes more than roundings."""
    mutants = [each for each in found if each.kind != ORIGINAL]
    lines = [table(mutants), ""]
    for effect in Effect:
        judged = Counter(each.verdict for each in mutants if each.effect == effect and each.verdict)
        if judged:
            lines.append(f"{effect.value}: " + ", ".join(f"{name} {count}" for name, count in judged.most_common()))
    for effect, state in itertools.product((Effect.VALUES, Effect.MEMORY), ("accepted", "undecided")):
        missed = [each for each in mutants if _state(each) == state and each.effect == effect]
        lines.append(f"\n{len(missed)} {state} although it {effect.value}:")
        for each in missed:
            lines.append(f"  {each.task} {each.subgraph} {each.file}:{each.line} in {each.function}, {each.kind}")
            lines.append(f"    {each.text}\n    {each.before!r} -> {each.after!r}; {each.why}")
            lines.append(f"    {each.verdict}: {each.reason}")
    originals = [each for each in found if each.kind == ORIGINAL]
    wrong = [each for each in originals if each.why or _state(each) == "refused"]
    lines.append(f"\n{len(originals)} bundles without an alteration, of which {len(wrong)} are not as they should be:")
    lines += [f"  {each.task} {each.subgraph}: {each.verdict} {each.reason} {each.why}" for each in wrong]
    lines += [f"Judged on: {each}" for each in sorted({each.device for each in found if each.device})]
    return "\n".join(lines)


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.redteam.mutations", description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=200, help="how many mutants")
    parser.add_argument("--each", type=int, default=6, help="how many mutants of a subgraph at most")
    kinds = [each.value for each in Kind]
    parser.add_argument("--kinds", nargs="+", choices=kinds, default=kinds, help="make only mutants of these kinds")
    parser.add_argument("--only", nargs="+", default=[], metavar="TASK")
    parser.add_argument("--judges", type=int, default=1, help="how many jobs are judged at once")
    parser.add_argument("--without-judge", action="store_true", help="only tell what the mutants do")
    parser.add_argument("--changing", action="store_true", help="judge no mutant that changes at most roundings")
    parser.add_argument("--out", type=Path, help="a file of JSON lines: what is in it is not tried again")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep the mutants' bundles there")
    parser.add_argument("--within", type=float, default=math.inf, metavar="SECONDS", help="begin no mutant after this")
    given = parser.parse_args(arguments)
    results = Results(given.out)
    with tempfile.TemporaryDirectory(prefix="mutations-") as home:
        judges = None if given.without_judge else Judges(Path(home), given.judges)
        try:
            until = time.monotonic() + given.within
            trial = Trial(results, judges, given.each, given.kinds, not given.changing, given.keep, until)
            trial.run(given.seed, given.count, given.only)
        finally:
            if judges is not None:
                judges.close()
    found = list(results.by_key.values())
    print(f"\n{summary(found)}")
    changed = any(each.accepted and each.effect == Effect.VALUES for each in found if each.kind != ORIGINAL)
    refused = any(_state(each) == "refused" for each in found if each.kind == ORIGINAL)
    return 1 if changed or refused else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
