"""Language models over a list of tasks: each attempt is a folder, which tells all that was said, and can be continued.

FOLDER/TASK/NUMBER/trajectory.jsonl   a header, a line per turn as it ends, and the end
FOLDER/TASK/NUMBER/best/              the best bundle that was evaluated
FOLDER/outcomes.jsonl                 what the judge says of it: for `score --outcomes`
"""

import contextlib
import json
import shutil
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

from passnet_core.backends.base import Backend
from passnet_core.errors import BadInput, InfrastructureError
from passnet_core.graphs.source import parse
from passnet_core.graphs.vocabulary import operator_sequence
from passnet_core.llm.chat import Model, described, written
from passnet_core.llm.conversation import Attempt, Budget, End, Price, Turn, converse
from passnet_core.llm.prompting import digest
from passnet_core.llm.tools import TOOLS, Workplace
from passnet_core.passes.reading import write_bundle
from passnet_core.records import Bundle, EvalSpec, Outcome, Stage, Task, Verdict, digest_of, from_json, to_json
from passnet_core.scoring.published import published_line
from passnet_core.service import jobs_of, judged

FORMAT = 1
GUIDE = Path(__file__).resolve().parent.parent / "assets" / "help"
PAGES = ("contract", "verdicts", "judge", "limits", "glossary")


@dataclass(frozen=True)
class Solved:
    """One attempt at a task, as its folder tells it. verdicts: how many subgraphs got which, of the best bundle."""

    task_id: str
    number: int
    end: str
    reason: str
    turns: int
    tokens: int
    cost: float
    accepted: int
    total: int
    speedup: float | None
    verdicts: Mapping[str, int]


class JudgeBench:
    """A backend as a Bench: all subgraphs of a task by one spec."""

    def __init__(self, backend: Backend, task: Task, spec: EvalSpec) -> None:
        self.backend, self.task, self.spec = backend, task, spec

    def check(self, bundle: Bundle, cancelled: threading.Event) -> tuple[Outcome, ...]:
        return self._judged(bundle, replace(self.spec, stage=Stage.CHECK), cancelled)

    def evaluate(self, bundle: Bundle, cancelled: threading.Event) -> tuple[Outcome, ...]:
        return self._judged(bundle, self.spec, cancelled)

    def _judged(self, bundle: Bundle, spec: EvalSpec, cancelled: threading.Event) -> tuple[Outcome, ...]:
        jobs = jobs_of(self.task, bundle, spec)
        return tuple(judged(self.backend, job, lambda event: None, cancelled) for job in jobs)


@dataclass(frozen=True)
class Order:
    """What is asked of a model. attempts: at each task. start: a person's bundle, to be repaired."""

    spec: EvalSpec
    budget: Budget
    price: Price
    attempts: int = 1
    start: Bundle | None = None


OnTurn = Callable[[Task, int, Turn], None]


def solve(
    model: Model,
    tasks: Sequence[Task],
    backends: Sequence[Backend],
    order: Order,
    folder: Path,
    *,
    cancelled: threading.Event,
    on_turn: OnTurn = lambda task, number, turn: None,
) -> tuple[Solved, ...]:
    """Makes every attempt that is not over in its folder yet, as many at once as there are backends, and returns all of
    them. One that was interrupted, or whose model failed, begins anew.

    Raises InfrastructureError where the folder cannot be written.
    """
    wanted = [(task, number) for task in tasks for number in range(1, order.attempts + 1)]
    left = [each for each in wanted if (found := _read(folder, *each)) is None or found.end == End.FAILED]
    attempts = _Attempts(model, backends, order, folder, cancelled, on_turn)
    with ThreadPoolExecutor(len(backends)) as threads, contextlib.ExitStack() as unless_done:
        # where one fails, or a person interrupts, the others are stopped before this waits for them
        unless_done.callback(cancelled.set)
        for future in [threads.submit(attempts.make, *each) for each in left]:
            future.result()
        unless_done.pop_all()
    over = (_read(folder, *each) for each in wanted)
    return tuple(each for each in over if each is not None)


class _Attempts:
    """Makes attempts, in several threads, each with a backend of its own."""

    def __init__(
        self,
        model: Model,
        backends: Sequence[Backend],
        order: Order,
        folder: Path,
        cancelled: threading.Event,
        on_turn: OnTurn,
    ) -> None:
        self.model, self.order, self.folder = model, order, folder
        self.cancelled, self.on_turn = cancelled, on_turn
        self.guide = _guide()
        self.lock = threading.Lock()
        self.free = list(backends)

    def make(self, task: Task, number: int) -> None:
        """One conversation, of which every turn is on the disk before it is told of."""
        if self.cancelled.is_set():
            return
        place = self.folder / task.id / str(number)
        try:
            place.mkdir(parents=True, exist_ok=True)
            shutil.rmtree(place / "best", ignore_errors=True)
            with self._backend() as backend, (place / "trajectory.jsonl").open("w", encoding="utf-8") as file:
                self._held(task, number, backend, place, file)
        except OSError as error:
            raise InfrastructureError(f"{place} cannot be written: {error.strerror}. Make room, then go on.") from error

    @contextlib.contextmanager
    def _backend(self) -> Iterator[Backend]:
        with self.lock:
            backend = self.free.pop()
        try:
            yield backend
        finally:
            with self.lock:
                self.free.append(backend)

    def _held(self, task: Task, number: int, backend: Backend, place: Path, file: IO[str]) -> None:
        def write(**line: Any) -> None:
            file.write(json.dumps(line, allow_nan=False) + "\n")
            file.flush()

        def told(turn: Turn) -> None:
            write(turn=to_json(turn))
            self.on_turn(task, number, turn)

        order = self.order
        workplace = Workplace(JudgeBench(backend, task, order.spec), self.guide, self.model.name)
        if order.start is not None:
            workplace.take(order.start)
        write(header=self._header(task, number))
        attempt = converse(
            self.model, task, workplace, order.spec.device,
            budget=order.budget, price=order.price, cancelled=self.cancelled, on_turn=told,
        )  # fmt: skip
        if attempt.end is End.STOPPED:
            return  # it is not over: the same command begins it anew
        if attempt.best is not None:
            write_bundle(attempt.best, place / "best")
            with self.lock, (self.folder / "outcomes.jsonl").open("a", encoding="utf-8") as outcomes:
                outcomes.writelines(map(published_line, attempt.outcomes))
        write(end=_end(attempt))

    def _header(self, task: Task, number: int) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "task": task.id,
            "split": task.split,
            "operators": operator_sequence(parse(task.subgraphs[0].code)),
            "subgraphs": [each.digest for each in task.subgraphs],
            "attempt": number,
            "model": self.model.name,
            "prompts": digest(),
            "spec": to_json(self.order.spec),
            "budget": to_json(self.order.budget),
            "price": to_json(self.order.price),
            "started_at": datetime.now(UTC).isoformat(timespec="seconds"),
        }


def _end(attempt: Attempt) -> dict[str, Any]:
    verdicts: dict[str, int] = {}
    for outcome in attempt.outcomes:
        verdicts[outcome.verdict.value] = verdicts.get(outcome.verdict.value, 0) + 1
    timed = any(outcome.speedup() for outcome in attempt.outcomes)
    return {
        "end": attempt.end.value,
        "reason": attempt.reason,
        "turns": len(attempt.turns),
        "tokens": attempt.tokens,
        "cost": attempt.cost,
        "accepted": attempt.score.accepted if attempt.score else 0,
        "speedup": attempt.score.speedup if attempt.score and timed else None,
        "verdicts": verdicts,
    }


def _read(folder: Path, task: Task, number: int) -> Solved | None:
    """The attempt, if it is over."""
    try:
        found = read_trajectory(folder / task.id / str(number) / "trajectory.jsonl")
        return None if found.end is None else Solved(task.id, number, total=len(task.subgraphs), **found.end)
    except (BadInput, TypeError):
        return None


@dataclass(frozen=True)
class Trajectory:
    """All that a trajectory.jsonl says. end: None where it was interrupted."""

    header: Mapping[str, Any]
    turns: tuple[Turn, ...]
    end: Mapping[str, Any] | None


def read_trajectory(path: Path) -> Trajectory:
    """Raises BadInput where it cannot be read. A last line that is not whole is left out."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        rows = [json.loads(line) for line in lines if line.endswith("\n")]
        header = rows[0]["header"]
        if header["format"] != FORMAT:
            raise BadInput(f"{path} has format {header['format']}; this version reads {FORMAT}.")
        turns = tuple(from_json(Turn, row["turn"]) for row in rows if "turn" in row)
        return Trajectory(header, turns, next((row["end"] for row in rows if "end" in row), None))
    except (OSError, ValueError, KeyError, IndexError, TypeError, AttributeError) as error:
        raise BadInput(f"{path} is no trajectory: {type(error).__name__}: {error}") from error


def trajectories(folder: Path) -> Iterator[tuple[Path, Trajectory]]:
    """Every one below a folder that can be read, by name."""
    for path in sorted(folder.glob("*/*/trajectory.jsonl")):
        with contextlib.suppress(BadInput):
            yield path, read_trajectory(path)


def examples(
    found: Iterable[Trajectory], split: str, held_back: Collection[tuple[str, ...]], at_least: float
) -> Iterator[dict[str, Any]]:
    """For training, in OpenAI's chat format with tools: each whole conversation on a task of this split with a bundle
    that was accepted on at least this share of its subgraphs. Each bundle once; no operations that are held back."""
    seen: set[str] = set()
    for each in found:
        header, end = each.header, each.end
        if end is None or header["split"] != split or tuple(header["operators"]) in held_back:
            continue
        if end["accepted"] < max(at_least, 1e-9) * len(header["subgraphs"]):
            continue
        best = next((turn for turn in reversed(each.turns) if turn.bundle is not None), None)
        key = digest_of([header["task"], best.bundle.digest if best and best.bundle else ""])
        if key in seen:
            continue
        seen.add(key)
        messages = [written(message) for turn in each.turns for message in (*turn.said, turn.answer)]
        kept = ("task", "split", "model", "prompts")
        yield {
            "messages": messages,
            "tools": [described(tool) for tool in TOOLS],
            **{name: header[name] for name in kept},
            **{name: end[name] for name in ("accepted", "speedup", "turns", "tokens")},
        }


def _guide() -> dict[str, str]:
    try:
        return {page: (GUIDE / f"{page}.md").read_text(encoding="utf-8") for page in PAGES}
    except OSError as error:
        raise BadInput(f"The page {error.filename} is missing. Run this in a checkout of the project.") from error


STAGES: tuple[tuple[str, frozenset[Verdict]], ...] = (
    ("loads", frozenset({Verdict.REJECTED, Verdict.DOES_NOT_LOAD})),
    ("matches", frozenset({Verdict.NO_MATCH, Verdict.REWRITE_FAILED})),
    (
        "right",
        frozenset(Verdict)
        - {Verdict.REJECTED, Verdict.DOES_NOT_LOAD, Verdict.NO_MATCH, Verdict.REWRITE_FAILED}
        - {verdict for verdict in Verdict if verdict.accepted},
    ),
    ("faster", frozenset(verdict for verdict in Verdict if verdict.accepted) - {Verdict.FASTER}),
)
"""Per stage the verdicts of what got as far as the one before it, and no farther."""


def stages(solved: Sequence[Solved]) -> tuple[tuple[str, int, int], ...]:
    """(stage, attempts whose best bundle got through it on every subgraph, attempts)."""
    left = [{Verdict(verdict) for verdict in each.verdicts} for each in solved if each.verdicts]
    found = []
    for stage, stopping in STAGES:
        left = [verdicts for verdicts in left if not verdicts & stopping]
        found.append((stage, len(left), len(solved)))
    return tuple(found)
