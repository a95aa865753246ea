"""Language models over a list of tasks: each attempt is a folder, which tells all that was said, and can be continued.

FOLDER/TASK/NUMBER/trajectory.jsonl   a header, a line per turn as it ends, and the end
FOLDER/TASK/NUMBER/best/              the best bundle that was evaluated
FOLDER/outcomes.jsonl                 what the judge says of it: for `score --outcomes`
"""

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from passnet_core.backends.base import Backend
from passnet_core.errors import BadInput, InfrastructureError
from passnet_core.llm.chat import Model
from passnet_core.llm.conversation import Attempt, Budget, End, Price, Turn, converse
from passnet_core.llm.prompting import digest
from passnet_core.llm.tools import Workplace
from passnet_core.passes.reading import write_bundle
from passnet_core.records import Bundle, EvalSpec, Outcome, Stage, Task, Verdict, to_json
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


def solve(
    model: Model,
    tasks: Sequence[Task],
    backends: Sequence[Backend],
    spec: EvalSpec,
    folder: Path,
    *,
    attempts: int,
    budget: Budget,
    price: Price,
    start: Bundle | None = None,
    cancelled: threading.Event,
    on_turn: Callable[[Task, int, Turn], None] = lambda task, number, turn: None,
) -> tuple[Solved, ...]:
    """Makes every attempt that is not over in its folder yet, as many at once as there are backends, and returns all of
    them. One that was interrupted, or whose model failed, begins anew. start: a person's bundle, to be repaired.

    Raises InfrastructureError where the folder cannot be written.
    """
    wanted = [(task, number) for task in tasks for number in range(1, attempts + 1)]
    left = [each for each in wanted if (found := _read(folder, *each)) is None or found.end == End.FAILED]
    guide = _guide()
    free = list(backends)
    lock = threading.Lock()

    def attempt(task: Task, number: int) -> None:
        if cancelled.is_set():
            return
        with lock:
            backend = free.pop()
        try:
            workplace = Workplace(JudgeBench(backend, task, spec), guide, model.name)
            if start is not None:
                workplace.take(start)
            _attempted(model, task, workplace, spec, folder, number, budget, price, cancelled, on_turn, lock)
        finally:
            with lock:
                free.append(backend)

    with ThreadPoolExecutor(len(backends)) as threads:
        try:
            for future in [threads.submit(attempt, *each) for each in left]:
                future.result()
        except BaseException:
            # the others end before this does
            cancelled.set()
            raise
    over = (_read(folder, *each) for each in wanted)
    return tuple(each for each in over if each is not None)


def _attempted(
    model: Model,
    task: Task,
    workplace: Workplace,
    spec: EvalSpec,
    folder: Path,
    number: int,
    budget: Budget,
    price: Price,
    cancelled: threading.Event,
    on_turn: Callable[[Task, int, Turn], None],
    lock: threading.Lock,
) -> None:
    """One conversation, of which every turn is on the disk before it is told of."""
    place = folder / task.id / str(number)
    header = {
        "format": FORMAT,
        "task": task.id,
        "split": task.split,
        "subgraphs": [each.digest for each in task.subgraphs],
        "attempt": number,
        "model": model.name,
        "prompts": digest(),
        "spec": to_json(spec),
        "budget": to_json(budget),
        "price": to_json(price),
        "started_at": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    try:
        place.mkdir(parents=True, exist_ok=True)
        with (place / "trajectory.jsonl").open("w", encoding="utf-8") as file:

            def write(**line: Any) -> None:
                file.write(json.dumps(line, allow_nan=False) + "\n")
                file.flush()

            def told(turn: Turn) -> None:
                write(turn=to_json(turn))
                on_turn(task, number, turn)

            write(header=header)
            attempt = converse(
                model, task, workplace, spec.device, budget=budget, price=price, cancelled=cancelled, on_turn=told
            )
            if attempt.end is End.STOPPED:
                return  # it is not over: the same command begins it anew
            if attempt.best is not None:
                write_bundle(attempt.best, place / "best")
                with lock, (folder / "outcomes.jsonl").open("a", encoding="utf-8") as outcomes:
                    outcomes.writelines(map(published_line, attempt.outcomes))
            write(end=_end(attempt))
    except OSError as error:
        raise InfrastructureError(f"{place} cannot be written: {error.strerror}. Make room, then go on.") from error


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
        text = (folder / task.id / str(number) / "trajectory.jsonl").read_text(encoding="utf-8")
        end = json.loads(text.splitlines()[-1])["end"]
        return Solved(task.id, number, total=len(task.subgraphs), **end)
    except (OSError, ValueError, KeyError, IndexError, TypeError):
        return None


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
