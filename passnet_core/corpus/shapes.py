"""The shapes and dtypes of the values inside subgraphs, which only torch can tell, as a file beside the tasks.

Whoever describes a task to a model reads them from there, so that a description needs no judge and is always the same.
`python -m tools.shaping FOLDER` writes the file."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from passnet_core.corpus.headed_lines import DAMAGED, HeadedLines
from passnet_core.errors import BadInput
from passnet_core.records import NodeValue, Subgraph, TensorForm

FILE = "shapes.jsonl.xz"
LINES = HeadedLines("shapes", 1, "subgraphs")

Shapes = Mapping[str, tuple[NodeValue, ...]]
"""The values of subgraphs, inputs included, in graph order, by the subgraph's digest."""


def write_shapes(folder: Path, shapes: Shapes) -> None:
    """Write the file of a folder of tasks. The same shapes give the same bytes."""
    lines = ({"subgraph": digest, "values": list(map(_written, shapes[digest]))} for digest in sorted(shapes))
    LINES.write(folder / FILE, lines, preset=9)


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
        count, lines = LINES.read(path)
        found = {str(line["subgraph"]): tuple(map(_value, line["values"])) for line in lines}
    except FileNotFoundError:
        return {}
    except DAMAGED as error:
        raise BadInput(f"{path} cannot be read ({error}). Make it again: python -m tools.shaping") from error
    if len(found) != count:
        raise BadInput(f"{path} has {len(found)} of {count} subgraphs. Make it again.")
    return found


def _written(value: NodeValue) -> list[Any]:
    return [value.node, *([each.dtype, list(each.shape)] for each in value.tensors)]


def _value(written: Sequence[Any]) -> NodeValue:
    node, *tensors = written
    return NodeValue(str(node), tuple(TensorForm(tuple(map(int, shape)), str(dtype)) for dtype, shape in tensors))
