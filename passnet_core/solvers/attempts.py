"""What every attempt needs, in a batch and in a conversation: a bench, and the opening and ending of its record."""

import secrets
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from passnet_core.execution.backends.base import DeviceInfo
from passnet_core.execution.inspections import Inspections
from passnet_core.graphs.source import parse
from passnet_core.graphs.vocabulary import operator_sequence
from passnet_core.records import (
    CLOCK_VERSION,
    Bundle,
    Device,
    EvalSpec,
    Inspection,
    Outcome,
    Stage,
    Subgraph,
    Task,
)
from passnet_core.records.trajectories import Ending, Opening
from passnet_core.solvers.base import Attempt, Solver, Surroundings

Judge = Callable[[Bundle | None, EvalSpec, threading.Event], tuple[Outcome, ...]]
"""Judges a bundle, or TorchInductor, on all subgraphs of a task. When cancelled, returns the outcomes so far."""


class JudgeBench:
    """A Bench for one task and one spec. here: the device on which jobs run by default."""

    def __init__(self, task: Task, spec: EvalSpec, judge: Judge, inspections: Inspections, here: DeviceInfo) -> None:
        self._task, self._spec, self._judge, self._inspections, self._here = task, spec, judge, inspections, here

    def check(self, bundle: Bundle, cancelled: threading.Event) -> tuple[Outcome, ...]:
        return self._judge(bundle, replace(self._spec, stage=Stage.CHECK), cancelled)

    def evaluate(self, bundle: Bundle | None, cancelled: threading.Event) -> tuple[Outcome, ...]:
        return self._judge(bundle, self._spec, cancelled)

    def inspect(self, subgraph_id: str, cancelled: threading.Event) -> Inspection:
        subgraph, spec = self._task.subgraph(subgraph_id), self._spec
        return self._inspections.of(subgraph, spec.device, baseline=spec.baseline, cancelled=cancelled)

    def surroundings(self, subgraphs: Sequence[Subgraph], within_s: float, cancelled: threading.Event) -> Surroundings:
        device, environment = self._spec.device, self._here.environment
        timed = device is Device.CUDA and self._spec.stage is Stage.MEASURE
        if device is not self._here.device:
            return Surroundings(device, environment, timed=timed)
        found = self._inspections.within(subgraphs, device, within_s, cancelled)
        values = {name: each.values for name, each in found.items()}
        accelerator = next((each.accelerator for each in found.values() if each.accelerator), None)
        return Surroundings(device, environment, values, accelerator, timed)


def opening_of(
    task: Task,
    solver: Solver,
    spec: EvalSpec,
    here: DeviceInfo,
    number: int,
    branched_from: tuple[str, int] = ("", 0),
) -> Opening:
    """The opening of an attempt that starts now. here: the device on which jobs run by default. number: the attempt's
    number at this task, from 1.

    branched_from: the id of the conversation that this one continues, and the number of turns that it takes over."""
    options = solver.options
    environment = here.environment if here.device is spec.device else None
    return Opening(
        id=f"{datetime.now(UTC):%y%m%d}-{secrets.token_hex(4)}",
        task_id=task.id,
        split=task.split,
        operators=operator_sequence(parse(task.subgraphs[0].code)),
        subgraphs=tuple(each.digest for each in task.subgraphs),
        model=solver.name,
        prompts=options.prompts,
        spec=spec,
        budget=options.budget,
        price=options.price,
        started_at=datetime.now(UTC).isoformat(timespec="seconds"),
        attempt=number,
        start=options.start.digest if options.start else None,
        branched_from=branched_from[0],
        branched_at=branched_from[1],
        device=environment.device if environment else "",
        clock_version=clock_version_of(here),
        tools=options.tools,
    )


def clock_version_of(here: DeviceInfo) -> int:
    """The version of the way in which a judge here takes times."""
    return here.environment.clock_version if here.environment else CLOCK_VERSION


def ending_of(attempt: Attempt, total: int) -> Ending:
    """The ending of an attempt. total: the number of subgraphs of its task."""
    timed = any(outcome.speedup() for outcome in attempt.outcomes)
    return Ending(
        end=attempt.end,
        reason=attempt.reason,
        turns=len(attempt.turns),
        tokens=attempt.tokens,
        cost=attempt.cost,
        accepted=attempt.score.accepted if attempt.score else 0,
        total=total,
        speedup=attempt.score.speedup if attempt.score and timed else None,
        verdicts=tuple(Counter(outcome.verdict for outcome in attempt.outcomes).items()),
        best=attempt.best.digest if attempt.best else None,
        alternatives=attempt.alternatives,
        unfinished=attempt.unfinished,
    )
