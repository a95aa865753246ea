"""Reading the attempts in a batch's folder."""

from collections.abc import Callable, Iterator
from pathlib import Path

from passnet_core import outside
from passnet_core.errors import BadInput
from passnet_core.records import from_json
from passnet_core.records.trajectories import FORMAT, Ending, Opening, Trajectory, Turn

UNREADABLE = (BadInput, OSError, ValueError, KeyError, IndexError, TypeError, AttributeError, StopIteration)
"""What reading a file raises that is not a trajectory, or only part of one."""


def trajectories(
    folder: Path, unread: Callable[[str], None] = lambda problem: None
) -> Iterator[tuple[Path, Trajectory]]:
    """Every trajectory of a batch with its file, ordered by file name. unread: gets a sentence for each that cannot be
    read, and is left out."""
    for path in sorted(folder.glob("*/*/trajectory.jsonl")) if outside.is_folder(folder) else ():
        try:
            yield path, read_trajectory(path)
        except BadInput as error:
            unread(str(error))


def read_opening(path: Path) -> Opening:
    """Read the first line of a trajectory.jsonl file. Raises BadInput if it cannot be read."""
    try:
        with outside.opened(path) as lines:
            return from_json(Opening, outside.from_json_text(next(lines))["opening"])
    except UNREADABLE as error:
        raise _unreadable(path, error) from error


def read_trajectory(path: Path) -> Trajectory:
    """Read a trajectory.jsonl file; an incomplete last line is ignored. Raises BadInput if the file cannot be read."""
    try:
        lines = outside.file_text(path).splitlines(keepends=True)
        rows = [outside.from_json_text(line) for line in lines if line.endswith("\n")]
        if rows[0].get("format") != FORMAT:
            raise BadInput(f"it is not in trajectory format {FORMAT}, the only one that this version reads")
        turns = tuple(from_json(Turn, row["turn"]) for row in rows if "turn" in row)
        endings = [from_json(Ending, row["ending"]) for row in rows if "ending" in row]
        return Trajectory(from_json(Opening, rows[0]["opening"]), turns, endings[0] if endings else None)
    except UNREADABLE as error:
        raise _unreadable(path, error) from error


def _unreadable(path: Path, error: Exception) -> BadInput:
    match error:
        case OSError() | UnicodeDecodeError():
            said = outside.cause(error)
        case BadInput() | ValueError():
            said = str(error).rstrip(".")
        case _:
            said = "its lines are not those of an attempt"
    return BadInput(f"{path} is not a readable trajectory: {said}.")
