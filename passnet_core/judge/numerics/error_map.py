"""Make the error map of a wrong output: a coarse picture of its errors, the elements around the worst one, and what the
errors have in common. The map is for people: it decides nothing, and no candidate ever sees it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from passnet_core.records import ErrorMap, Neighbourhood

MOST_ROWS, MOST_COLUMNS, MOST_IN_A_STRIP = 32, 64, 256
LEAST_COLUMNS = 8
"""The last axes are joined until they make at least so many columns, if the output has as many elements."""

SAMPLED = 1 << 20
"""How many elements are searched for what the wrong ones have in common; a pattern shows in far fewer."""

NEARLY_ALL = 0.95
NEARLY_ALL_HERE = 0.9
"""If a core holds this share of the wrong elements, the others are strays."""
MUCH_SMALLER = 0.5
"""The largest share of the output that a core may cover."""
GROSS = 0.1
"""An error is gross from this share of the largest error on."""
LEAST_LIKE = 4
"""The fewest elements that make a pattern."""
LEAST_CLOSENESS = 1e-3
"""Factors and offsets count as equal if they differ by less than this share."""
UNITS = 4.0
"""Values count as equal if they differ by at most this many ulps."""

ACROSS, ALONG = 5, 9
"""The neighbourhood has ACROSS rows and columns, or ALONG elements if the output is a line."""


@dataclass(frozen=True)
class Errors:
    """The compared elements, in float64. off: the error per element. allowed: its bound, per element or one number for
    all. wrong: which elements are. dtype: the output's."""

    expected: torch.Tensor
    actual: torch.Tensor
    off: torch.Tensor
    allowed: torch.Tensor | float
    wrong: torch.Tensor
    dtype: torch.dtype


def error_map(errors: Errors, shape: Sequence[int], index: Sequence[int]) -> ErrorMap:
    """Make the map of an output of this shape, some of whose elements are wrong. index: the worst element. The errors
    of a complex output have one more axis than the output, its real and imaginary parts."""
    excess, wrong = _excess(errors), errors.wrong
    parts = wrong.dim() > len(shape)
    if parts:
        excess, wrong = excess.amax(-1), wrong.any(-1)
    axis, height, width = _layout(shape)
    bounds = spans(wrong)
    core = None if parts else _core(wrong, bounds) or _core(wrong & _gross(excess), bounds)
    cells = _pooled(excess.reshape(height, width), MOST_ROWS, MOST_COLUMNS if height > 1 else MOST_IN_A_STRIP)
    return ErrorMap(
        axis=axis,
        rows=cells.shape[0],
        columns=cells.shape[1],
        cells=tuple(_rounded(each) for each in cells.reshape(-1).tolist()),
        wrong=int(wrong.sum()),
        spans=bounds,
        flat=_flat(wrong.reshape(height, width)),
        core=core,
        core_wrong=int(wrong[_slices(core)].sum()) if core else 0,
        **_in_common(errors, core),
        around=None if parts else _around(errors, index),
    )


def spans(wrong: torch.Tensor) -> tuple[tuple[int, int], ...]:
    """Per axis, the first position with a wrong element, and one past the last. At least one element must be wrong."""
    found = []
    for axis in range(wrong.dim()):
        rest = [other for other in range(wrong.dim()) if other != axis]
        places = (wrong.any(rest) if rest else wrong).nonzero().reshape(-1)
        found.append((int(places[0]), int(places[-1]) + 1))
    return tuple(found)


# --- the map ---------------------------------------------------------------------------------------------------------


def _excess(errors: Errors) -> torch.Tensor:
    """Each error divided by its bound; above 1 exactly for wrong elements."""
    wrong = errors.wrong
    ratio = (errors.off / errors.allowed).nan_to_num_(nan=math.inf, posinf=math.inf)
    # NaN on both sides is no error
    ratio.masked_fill_(~wrong & ratio.isinf(), 0.0)
    return torch.where(wrong, ratio.clamp(min=1.01), ratio.clamp(max=1.0))


def _layout(shape: Sequence[int]) -> tuple[int, int, int]:
    """Lay the output out as a table: (first axis of the columns, rows, columns). One axis makes a single row."""
    axis = len(shape)
    while axis and math.prod(shape[axis:]) < LEAST_COLUMNS:
        axis -= 1
    if not axis and sum(size > 1 for size in shape) > 1:
        # even a table with few elements is shown as a table
        axis = max(place for place, size in enumerate(shape) if size > 1)
    return axis, math.prod(shape[:axis]), math.prod(shape[axis:])


def _pooled(table: torch.Tensor, rows: int, columns: int) -> torch.Tensor:
    """Reduce the table to at most this many rows and columns of cells, each with its largest element."""
    for axis, most in enumerate((rows, columns)):
        step = math.ceil(table.shape[axis] / most)
        whole, rest = divmod(table.shape[axis], step)
        parts = [table.narrow(axis, 0, whole * step).unflatten(axis, (whole, step)).amax(axis + 1)]
        if rest:
            parts.append(table.narrow(axis, whole * step, rest).amax(axis, keepdim=True))
        table = torch.cat(parts, axis)
    return table


def _rounded(excess: float) -> float:
    """Round to two digits, away from 1: rounding must not turn a right cell into a wrong one, or back."""
    if not excess or math.isinf(excess):
        return excess
    step = 10.0 ** (math.floor(math.log10(excess)) - 1)
    return float(f"{(math.ceil if excess > 1 else math.floor)(excess / step) * step:.2g}")


def _flat(wrong: torch.Tensor) -> tuple[int, int]:
    rows = wrong.any(1).nonzero().reshape(-1)
    first, last = int(rows[0]), int(rows[-1])
    begin, end = (wrong[row].nonzero().reshape(-1) for row in (first, last))
    return first * wrong.shape[1] + int(begin[0]), last * wrong.shape[1] + int(end[-1]) + 1


def _core(wrong: torch.Tensor, bounds: tuple[tuple[int, int], ...]) -> tuple[tuple[int, int], ...] | None:
    """The box that holds nearly all wrong elements but no strays; None unless it is small, and smaller than bounds."""
    found = []
    for axis in range(wrong.dim()):
        rest = [other for other in range(wrong.dim()) if other != axis]
        counts = wrong.sum(rest) if rest else wrong.long()
        # strays add few wrong elements to any one position
        places = (2 * counts >= counts.max()).nonzero().reshape(-1)
        found.append((int(places[0]), int(places[-1]) + 1))
    volume = math.prod(end - begin for begin, end in found)
    inside = int(wrong[_slices(found)].sum())
    if tuple(found) == bounds or volume > MUCH_SMALLER * wrong.numel() or inside < NEARLY_ALL_HERE * int(wrong.sum()):
        return None
    return tuple(found)


def _gross(excess: torch.Tensor) -> torch.Tensor:
    """The elements with gross errors: those that are infinitely wrong, or else those near the largest error."""
    infinite = excess.isinf()
    return infinite if bool(infinite.any()) else excess >= GROSS * excess.max()


def _slices(part: Sequence[tuple[int, int]]) -> tuple[slice, ...]:
    return tuple(slice(*span) for span in part)


# --- what errors have in common --------------------------------------------------------------------------------------


def _in_common(errors: Errors, core: Sequence[tuple[int, int]] | None) -> dict[str, Any]:
    wrong = errors.wrong.reshape(-1)
    # of many millions sample some; an odd step reaches every one of 2^n columns
    step = 1 if wrong.numel() <= SAMPLED else (wrong.numel() // SAMPLED) | 1
    few = step > 1 and int(wrong.sum()) <= SAMPLED
    places = wrong.nonzero().reshape(-1) if few else wrong[::step].nonzero().reshape(-1) * step
    expected, actual = errors.expected.reshape(-1)[places], errors.actual.reshape(-1)[places]
    if places.numel() < LEAST_LIKE:
        return {}
    found: dict[str, Any] = {}
    varied = bool((expected != expected[0]).any())
    if varied and bool((actual == actual[0]).all() | actual.isnan().all()):
        return {"value": float(actual[0])}
    if core is not None:
        in_core = errors.actual[_slices(core)][errors.wrong[_slices(core)]]
        if in_core.numel() >= LEAST_LIKE and bool((in_core == in_core[0]).all() | in_core.isnan().all()):
            found["value"] = float(in_core[0])
    measured = expected.isfinite() & actual.isfinite()
    if bool(measured.all()) and varied:
        found |= _alike(expected, actual, errors.dtype)
        found["rearranged"] = "factor" not in found and _rearranged(errors, errors.dtype)
    expected, actual = expected[measured], actual[measured]
    relative = ((actual - expected).abs() / expected.abs())[expected != 0]
    if relative.numel():
        found["relative"] = _short(float(relative.median()))
    found["large_from"] = _large_from(errors)
    return found


def _alike(expected: torch.Tensor, actual: torch.Tensor, dtype: torch.dtype) -> dict[str, float]:
    """The factor or the offset by which nearly all elements are off, if rounding does not blur it."""
    unit = torch.finfo(dtype).eps if dtype.is_floating_point else 0.0
    close = max(LEAST_CLOSENESS, UNITS * unit)
    nonzero = expected != 0
    ratios = actual[nonzero] / expected[nonzero]
    if ratios.numel() >= LEAST_LIKE:
        factor = float(ratios.median())
        off = abs(factor - 1)
        # a factor near 1 shows in ratios that are all on one side of it
        near = close * abs(factor) if off > close else off / 4
        if off > UNITS * unit and _share((ratios - factor).abs() <= near) >= NEARLY_ALL:
            return {"factor": _short(factor) if off > close else factor}
    differences = actual - expected
    offset = float(differences.median())
    blurred = close * abs(offset) + UNITS * unit * expected.abs()
    if offset and _share((differences - offset).abs() <= blurred) >= NEARLY_ALL and _share(blurred < abs(offset)) > 0.5:
        return {"offset": _short(offset)}
    return {}


def _rearranged(errors: Errors, dtype: torch.dtype) -> bool:
    """Whether the output has the right values in the wrong positions."""
    if errors.wrong.numel() > SAMPLED or not bool(errors.expected.isfinite().all() & errors.actual.isfinite().all()):
        return False
    unit = torch.finfo(dtype).eps if dtype.is_floating_point else 0.0
    expected, actual = (each.reshape(-1).sort().values for each in (errors.expected, errors.actual))
    return bool(((actual - expected).abs() <= UNITS * unit * expected.abs()).all())


def _large_from(errors: Errors) -> float | None:
    """The size above which nearly all elements are wrong; None if half of all elements or more are as large."""
    size, wrong = errors.expected.abs(), errors.wrong
    off = size[wrong]
    off = off[off.isfinite()]
    if off.numel() < LEAST_LIKE:
        return None
    sampled = off[:: max(1, off.numel() // SAMPLED)]
    least = float(sampled.kthvalue(max(1, round((1 - NEARLY_ALL) * sampled.numel()))).values)
    large = size >= least
    share = _share(large)
    return _short(least) if share < 0.5 and _share(wrong[large]) >= NEARLY_ALL else None


def _share(found: torch.Tensor) -> float:
    return int(found.sum()) / max(1, found.numel())


def _short(value: float) -> float:
    return float(f"{value:.6g}")


# --- around the worst ------------------------------------------------------------------------------------------------


def _around(errors: Errors, index: Sequence[int]) -> Neighbourhood:
    """The elements around the worst one: a part of the table that the last two axes make, or of a line."""
    shape = tuple(errors.wrong.shape)
    tables = [each[tuple(index[:-2])] for each in (errors.expected, errors.actual, errors.wrong)]
    while tables[0].dim() < 2:
        tables = [each[None] for each in tables]
    height, width = tables[0].shape
    at = (0, 0, *index)[-2:]
    rows = _window(at[0], height, ACROSS if width > 1 else ALONG)
    columns = _window(at[1], width, ACROSS if height > 1 else ALONG)
    expected, actual, wrong = (each[rows, columns].tolist() for each in tables)
    return Neighbourhood(
        first=(*index[:-2], rows.start, columns.start)[-len(shape) :] if shape else (),
        expected=tuple(tuple(map(_short, row)) for row in expected),
        actual=tuple(tuple(map(_short, row)) for row in actual),
        wrong=tuple(map(tuple, wrong)),
    )


def _window(place: int, size: int, wanted: int) -> slice:
    begin = max(0, min(place - wanted // 2, size - wanted))
    return slice(begin, min(begin + wanted, size))
