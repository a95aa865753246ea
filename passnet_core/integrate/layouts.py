"""How results lie in memory: with which strides, and in whose memory."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from passnet_core.fx.modules import Function


@dataclass(frozen=True)
class ResultLayout:
    """One result of a call."""

    dtype: torch.dtype
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    source: int | None = None
    """Whose memory it is, as an index of the call's inputs and then its earlier results; None: its own."""
    offset: int = 0
    """Where it begins, in elements from where its source begins."""

    def is_like(self, other: "ResultLayout") -> bool:
        """Whether both lie alike, as far as anybody can tell."""
        if (self.source, self.offset) != (other.source, other.offset) or self.shape != other.shape:
            return False
        axes = zip(self.shape, self.strides, other.strides)
        return 0 in self.shape or all(one == two for size, one, two in axes if size > 1)


def layouts(given: Sequence[Any], results: Sequence[Any]) -> list[ResultLayout | None]:
    """How the results of a call lie in memory; None for what is no tensor."""
    sources: list[Any] = list(given)
    found: list[ResultLayout | None] = []
    for result in results:
        found.append(_layout(result, sources) if isinstance(result, torch.Tensor) else None)
        sources.append(result)
    return found


def _layout(result: torch.Tensor, sources: Sequence[Any]) -> ResultLayout:
    memory = result.untyped_storage()._cdata
    source, offset = None, 0
    for place, each in enumerate(sources):
        if isinstance(each, torch.Tensor) and each.untyped_storage()._cdata == memory:
            source, offset = place, result.storage_offset() - each.storage_offset()
            break
    return ResultLayout(result.dtype, tuple(result.shape), tuple(result.stride()), source, offset)


def laid_out(
    function: Function, wanted: Sequence[ResultLayout | None], found: Sequence[ResultLayout | None]
) -> Function:
    """The function, whose results lie as found, with results that lie as wanted: copied where they do not."""
    steps = [want if want and have and not want.is_like(have) else None for want, have in zip(wanted, found)]
    if not any(steps):
        return function
    return lambda *given: moved(function(*given), given, steps)


def moved(returned: Any, given: Sequence[Any], steps: Sequence[ResultLayout | None]) -> Any:
    """What a call returned, with the results that have a step in memory as it says."""
    several = isinstance(returned, tuple | list)
    results = list(returned) if several else [returned]
    for place, step in enumerate(steps):
        if step is not None:
            results[place] = _placed(results[place], step, [*given, *results])
    return tuple(results) if several else results[0]


def _placed(result: torch.Tensor, step: ResultLayout, sources: Sequence[Any]) -> torch.Tensor:
    if step.source is None:
        return strided(result, step.strides)
    source: torch.Tensor = sources[step.source]
    return source.as_strided(step.shape, step.strides, source.storage_offset() + step.offset)


def strided(value: torch.Tensor, strides: Sequence[int]) -> torch.Tensor:
    """A copy with these strides."""
    return torch.empty_strided(value.shape, strides, dtype=value.dtype, device=value.device).copy_(value)


def seen_otherwise(
    given: Sequence[Any], wanted: Sequence[ResultLayout | None], found: Sequence[ResultLayout | None]
) -> str:
    """The first result that is memory of an input seen as another dtype, which laid_out cannot do, in words."""
    sources = [each.dtype if isinstance(each, torch.Tensor) else None for each in given]
    sources += [each.dtype if each is not None else None for each in wanted]
    for place, (want, have) in enumerate(zip(wanted, found)):
        if want and have and want.source is not None and not want.is_like(have) and sources[want.source] != want.dtype:
            return f"output {place} is no view of the memory of which the operations return one"
    return ""
