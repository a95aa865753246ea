"""Bundles for many tasks in one file: JSON lines, compressed, a header and then a task with its bundle on each line."""

import io
import json
import lzma
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from passnet_core import outside
from passnet_core.errors import BadInput
from passnet_core.records import Bundle, from_json, to_json

FORMAT = "passnet-bundles"
VERSION = 1


def write_solved(path: Path, bundles: Mapping[str, Bundle]) -> None:
    """Write a bundle for each task id. The same bundles give the same bytes."""
    lines: list[dict[str, Any]] = [{"format": FORMAT, "version": VERSION, "bundles": len(bundles)}]
    lines += [{"task": task_id, "bundle": to_json(bundles[task_id])} for task_id in sorted(bundles)]
    text = "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)
    path.write_bytes(lzma.compress(text.encode()))


def read_solved(path: Path) -> dict[str, Bundle]:
    """The bundles by task id. Raises BadInput for a file that is damaged or of another format."""
    try:
        with lzma.open(io.BytesIO(outside.file_bytes(path)), "rt", encoding="utf-8") as file:
            head, *lines = map(outside.from_json_text, file)
        if (head["format"], head["version"]) != (FORMAT, VERSION):
            raise BadInput(f"it is no file of bundles of version {VERSION}")
        bundles = {str(line["task"]): from_json(Bundle, line["bundle"]) for line in lines}
    except (BadInput, OSError, EOFError, lzma.LZMAError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadInput(f"{path.name} cannot be read ({error}). Restore it from the project's repository.") from error
    if len(bundles) != head["bundles"]:
        raise BadInput(f"{path.name} has {len(bundles)} of {head['bundles']} bundles. Restore it.")
    return bundles
