"""When the rows of a kernel are too few to keep a GPU busy: the one place that decides it."""

import math

from passnet_core.solvers.rules.layouts import sizes_of, strides_of
from passnet_core.solvers.rules.sizes import Size, aligned
from passnet_core.solvers.rules.values import Value

FEW = 128
"""A GPU has about so many processors, and each wants a program."""

LONG = 1 << 15
"""Elements that a program walks quickly enough for nobody to share them."""

SIDE_BY_SIDE = 16
"""So many rows a program walks where it is they that lie side by side in memory."""


def starved(rows: Size, columns: Size, together: int = 1) -> bool:
    """Whether so few programs, of so many rows each, would walk rows so long, in every subgraph."""
    filled = [(count, length) for count, length in aligned(rows, columns) if count and length]
    few = [count < FEW * together and length * together >= LONG for count, length in filled]
    return bool(few) and all(few)


def rows_together(x: Value, axes: tuple[int, ...]) -> int:
    """How many rows a program walks, if these axes of a value are reduced."""
    strides = strides_of(x)
    if strides is None:
        return 1
    steps = {axis: stride for axis, (size, stride) in enumerate(zip(sizes_of(x), strides)) if size > 1 and stride}
    inmost = min(steps, key=lambda axis: (steps[axis], -axis), default=None)
    return 1 if inmost is None or inmost in axes else SIDE_BY_SIDE


def parts_wanted(rows: Size, together: int) -> int:
    """Into how many parts rows that are too few are taken, so that there are some programs for each processor."""
    return math.ceil(4 * FEW * together / max(*rows.values, 1))
