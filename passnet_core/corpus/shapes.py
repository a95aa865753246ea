"""The shapes and dtypes of the values inside subgraphs, which only torch can tell, as a file beside the tasks.

Whoever describes a task to a model reads them from there, so that a description needs no judge and is always the same.
`python -m tools.shaping FOLDER` writes the file."""

import io
import json
import lzma
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from passnet_core import outside
from passnet_core.errors import BadInput
from passnet_core.records import NodeValue, Subgraph, TensorForm

FILE = "shapes.jsonl.xz"
FORMAT = "passnet-shapes"
VERSION = 1

Shapes = Mapping[str, tuple[NodeValue, ...]]
"""The values of subgraphs, inputs included, in graph order, by the subgraph's digest."""


def write_shapes(folder: Path, shapes: Shapes) -> None:
    """Write the file of a folder of tasks. The same shapes give the same bytes."""
    lines: list[Any] = [{"format": FORMAT, "version": VERSION, "subgraphs": len(shapes)}]
    lines += [{"subgraph": digest, "values": list(map(_written, shapes[digest]))} for digest in sorted(shapes)]
    text = "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)
    (folder / FILE).write_bytes(lzma.compress(text.encode(), preset=9))


def read_shapes(folders: Iterable[Path]) -> Shapes:
    """What the files of these folders tell; a folder without one tells nothing. Raises BadInput for a damaged file."""
    found: dict[str, tuple[NodeValue, ...]] = {}
    for folder in folders:
        found.update(_read(folder / FILE))
    return found


def shapes_in(subgraphs: Sequence[Subgraph], shapes: Shapes) -> dict[str, tuple[NodeValue, ...]]:
    """Of these subgraphs the values that are known, by the subgraph's id."""
    return {each.id: shapes[each.digest] for each in subgraphs if each.digest in shapes}


def _read(path: Path) -> dict[str, tuple[NodeValue, ...]]:
    try:
        with lzma.open(io.BytesIO(outside.file_bytes(path)), "rt", encoding="utf-8") as file:
            head, *lines = map(outside.from_json_text, file)
        if (head["format"], head["version"]) != (FORMAT, VERSION):
            raise BadInput(f"it is no file of shapes of version {VERSION}")
        found = {str(line["subgraph"]): tuple(map(_value, line["values"])) for line in lines}
    except FileNotFoundError:
        return {}
    except (BadInput, OSError, EOFError, lzma.LZMAError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadInput(f"{path} cannot be read ({error}). Make it again: python -m tools.shaping") from error
    if len(found) != head["subgraphs"]:
        raise BadInput(f"{path} has {len(found)} of {head['subgraphs']} subgraphs. Make it again.")
    return found


def _written(value: NodeValue) -> list[Any]:
    return [value.node, *([each.dtype, list(each.shape)] for each in value.tensors)]


def _value(written: Sequence[Any]) -> NodeValue:
    node, *tensors = written
    return NodeValue(str(node), tuple(TensorForm(tuple(map(int, shape)), str(dtype)) for dtype, shape in tensors))
