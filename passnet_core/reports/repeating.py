"""The commands that judge the subgraphs of a run again in the same way."""

import shlex
from collections.abc import Iterator, Mapping, Sequence

from passnet_core.records import Baseline, Outcome, Profile, Run, SolverKind, Stage

PROGRAM = ("python", "-m", "passnet_core")
FOLDER = "FOLDER"
"""Stands in the commands for the folder with the passes."""


def commands(
    run: Run, outcomes: Sequence[Outcome], members: Mapping[str, Sequence[str]], bundle: str = FOLDER
) -> tuple[str, ...]:
    """Return one command per task, quoted for a shell.
    members: the ids of all subgraphs of each known task. bundle: the folder with the passes, or a reference's name."""
    return tuple(
        shlex.join([*PROGRAM, *_asked(run, task_id, bundle), *_chosen(task_id, outcomes, members)])
        for task_id in run.task_ids
    )


def _asked(run: Run, task_id: str, bundle: str) -> Iterator[str]:
    spec = run.spec
    yield from ("check" if spec.stage is Stage.CHECK else "evaluate", task_id)
    yield from ("--solver", "inductor") if run.solver is SolverKind.INDUCTOR else ("--bundle", bundle)
    if spec.stage is not Stage.CHECK:
        yield from ("--stage", spec.stage.value, "--capture", spec.capture.value)
        yield from () if spec.baseline is Baseline.INDUCTOR else ("--baseline", spec.baseline.value)
        yield from ("--trials", str(spec.trials)) if spec.stage is Stage.MEASURE else ()
        yield from () if spec.seed is None else ("--seed", str(spec.seed))
    yield from ("--device", spec.device.value, "--profile", spec.profile.value, "--deadline", f"{spec.deadline_s:g}")
    # the PassNet profile implies a cap of 1
    if spec.replacement_cap is not None and spec.profile is Profile.STRICT:
        yield from ("--replacement-cap", str(spec.replacement_cap))
    # without it, stored outcomes would be reused
    yield "--fresh"


def _chosen(task_id: str, outcomes: Sequence[Outcome], members: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Yield the flags that choose the judged subgraphs, unless these are all of the task's."""
    judged = [each.subgraph_id for each in outcomes if each.task_id == task_id]
    if judged != list(members.get(task_id, ())):
        for each in dict.fromkeys(judged):
            yield f"--subgraph={each}"
