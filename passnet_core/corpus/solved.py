"""Bundles for many tasks in one file: JSON lines, compressed, a header and then a task with its bundle on each line."""

from collections.abc import Mapping
from pathlib import Path

from passnet_core.corpus.headed_lines import DAMAGED, HeadedLines
from passnet_core.errors import BadInput
from passnet_core.records import Bundle, from_json, to_json

LINES = HeadedLines("bundles", 1, "bundles")


def write_solved(path: Path, bundles: Mapping[str, Bundle]) -> None:
    """Write a bundle for each task id. The same bundles give the same bytes."""
    LINES.write(path, ({"task": task_id, "bundle": to_json(bundles[task_id])} for task_id in sorted(bundles)))


def read_solved(path: Path) -> dict[str, Bundle]:
    """The bundles by task id. Raises BadInput for a file that is damaged or of another format."""
    try:
        count, lines = LINES.read(path)
        bundles = {str(line["task"]): from_json(Bundle, line["bundle"]) for line in lines}
    except DAMAGED as error:
        raise BadInput(f"{path.name} cannot be read ({error}). Restore it from the project's repository.") from error
    if len(bundles) != count:
        raise BadInput(f"{path.name} has {len(bundles)} of {count} bundles. Restore it.")
    return bundles
