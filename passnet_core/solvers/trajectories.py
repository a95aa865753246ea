"""Reading the attempts in a batch's folder."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

from passnet_core.errors import BadInput
from passnet_core.records.trajectories import Trajectory, read_trajectory


def trajectories(folder: Path) -> Iterator[tuple[Path, Trajectory]]:
    """Every readable trajectory of a batch with its file, ordered by file name."""
    for path in sorted(folder.glob("*/*/trajectory.jsonl")):
        with contextlib.suppress(BadInput):
            yield path, read_trajectory(path)
