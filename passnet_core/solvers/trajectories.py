"""Reading the attempts in a batch's folder, and turning accepted ones into examples for training."""

import contextlib
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Any

from passnet_core.errors import BadInput
from passnet_core.records import digest_of
from passnet_core.records.trajectories import Message, Trajectory, read_trajectory
from passnet_core.solvers.llm.chat import described, written
from passnet_core.solvers.llm.tools import TOOLS


def trajectories(folder: Path) -> Iterator[tuple[Path, Trajectory]]:
    """Every readable trajectory of a batch with its file, ordered by file name."""
    for path in sorted(folder.glob("*/*/trajectory.jsonl")):
        with contextlib.suppress(BadInput):
            yield path, read_trajectory(path)


def accepted(
    found: Iterable[Trajectory], split: str, held_back: Collection[tuple[str, ...]], at_least: float
) -> Iterator[Trajectory]:
    """The trajectories to train on: they have turns and an ending, and their best bundle was accepted often enough.

    split: only tasks of this split. held_back: operator sequences to leave out, such as those of the eval tasks.
    at_least: the least share of accepted subgraphs, above 0 and at most 1. Of equal bundles, only the first is kept."""
    seen: set[str] = set()
    for each in found:
        opening, end = each.opening, each.ending
        if end is None or not each.turns or opening.split != split or opening.operators in held_back:
            continue
        if end.accepted < max(at_least, 1e-9) * end.total:
            continue
        key = digest_of([opening.task_id, end.best])
        if key not in seen:
            seen.add(key)
            yield each


def _with_reasoning(message: Message) -> dict[str, Any]:
    """The message, with what the model thought in a field of its own, as chat templates that know it call it."""
    return written(message) | ({"reasoning_content": message.reasoning} if message.reasoning else {})


def example(trajectory: Trajectory) -> dict[str, Any]:
    """A finished trajectory as a training example, in OpenAI's chat format with tools."""
    opening, end = trajectory.opening, trajectory.ending
    messages = [_with_reasoning(message) for turn in trajectory.turns for message in (*turn.said, turn.answer)]
    return {
        "messages": messages,
        "tools": [described(tool) for tool in TOOLS],
        "task": opening.task_id,
        **{name: getattr(opening, name) for name in ("split", "model", "prompts")},
        **{name: getattr(end, name) for name in ("accepted", "speedup", "turns", "tokens")},
    }
