"""Say in lines what a plan does. It comes from the planner, which has run candidate code: any part may be malformed,
and then whatever reading it raises is raised."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Json = Mapping[str, Any]

COPIED_SHARE = 0.125
"""The share of a result that torch's copies may fill."""

MOST_LINES = 40
NAME_CHARACTERS, SCALAR_CHARACTERS = 80, 24
UNITS = ("bytes", "KB", "MB", "GB")


def described(plan: Json, who: str) -> list[str]:
    """What a plan launches, allocates, fills and copies. who: what to call its replacement function."""
    steps = list(flat(plan["steps"]))
    made = [int(each["bytes"]) for each in plan["made"]]
    fills = sum("fill" in each for each in steps) + sum(each["fill"] is not None for each in plan["made"])
    counts = (
        (sum("launch" in each for each in steps), "launch", "launches"),
        (len(made), f"allocation of {_bytes(sum(made))}", f"allocations of {_bytes(sum(made))}"),
        (fills, "fill", "fills"),
        (sum("copy" in each for each in steps), "copy", "copies"),
    )
    summary = ", ".join(f"{count} {one if count == 1 else many}" for count, one, many in counts if count)
    return [f"{who}: {summary or 'nothing'}", *(f"  {_step(each)}" for each in steps)][:MOST_LINES]


def flat(steps: Sequence[Json]) -> Iterator[Json]:
    """The steps; of the choices of an autotuner the first."""
    for step in steps:
        if "choices" in step:
            yield from flat(step["choices"][0])
        else:
            yield step


def tensors_of(returned: Mapping[str, Any]) -> Iterator[Json]:
    """The places of the tensors in what a call returned."""
    for each in returned.get("tuple", returned.get("list", [returned])):
        if "tensor" in each:
            yield each["tensor"]


def distinct_elements(place: Json) -> int:
    """How many elements of its memory a tensor has, those that lie in one place counted once."""
    return math.prod(int(size) for size, stride in zip(place["shape"], place["strides"]) if stride)


def _step(step: Json) -> str:
    if "launch" in step:
        named = [*map(_argument, step["args"]), *(f"{name}={_argument(each)}" for name, each in step["kwargs"].items())]
        grid = ", ".join(str(int(size)) for size in step["grid"])
        return f"{_name(step['launch']['name'])}[{grid}]({', '.join(named)})"
    if "fill" in step:
        return f"fill {_argument(step['fill'])}"
    return f"copy {_argument(step['copy'])} to {_argument(step['to'])}"


def _argument(described: Json) -> str:
    match described:
        case {"tensor": {"in": place, "dtype": dtype, "shape": shape}}:
            return f"{_name(place)}: {_name(dtype)}{[int(size) for size in shape]}"
        case {"constexpr": inner}:
            return _argument(inner)
        case {"float": str(text)}:
            return f"{float.fromhex(text):.6g}"
        case {"value": value}:
            return str(value)[:SCALAR_CHARACTERS]
    return next(iter(described))[:SCALAR_CHARACTERS]


def _name(text: Any) -> str:
    return str(text)[:NAME_CHARACTERS]


def _bytes(count: int) -> str:
    power = min(int(math.log(count, 1000)) if count else 0, len(UNITS) - 1)
    return f"{count / 1000**power:.3g} {UNITS[power]}"
