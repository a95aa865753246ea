"""How results lie in memory: with which strides, and in whose memory."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from passnet_core.fx.modules import Function
from passnet_core.judge.numerics.bits import extent


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
        found.append(_layout(result, sources, len(given)) if isinstance(result, torch.Tensor) else None)
        sources.append(result)
    return found


def _layout(result: torch.Tensor, sources: Sequence[Any], inputs: int) -> ResultLayout:
    memory = result.untyped_storage()._cdata
    source, offset = None, 0
    for place, each in enumerate(sources):
        if isinstance(each, torch.Tensor) and each.untyped_storage()._cdata == memory:
            begin = result.storage_offset() - each.storage_offset()
            # two results in one memory have nothing to do with each other unless they overlap
            if place < inputs or -extent(result.shape, result.stride()) < begin < extent(each.shape, each.stride()):
                source, offset = place, begin
                break
    return ResultLayout(result.dtype, tuple(result.shape), tuple(result.stride()), source, offset)


def laid_out(
    function: Function, wanted: Sequence[ResultLayout | None], found: Sequence[ResultLayout | None]
) -> Function:
    """The function, whose results lay as found, with results that lie as wanted: copied where they do not, or where
    they come to lie otherwise."""
    steps = [want if want and have and not want.is_like(have) else None for want, have in zip(wanted, found)]
    usual = [have.strides if have else None for have in found]

    def call(*given: Any) -> Any:
        returned = function(*given)
        if isinstance(returned, tuple | list):
            alike = [each.stride() if isinstance(each, torch.Tensor) else None for each in returned] == usual
        else:
            alike = isinstance(returned, torch.Tensor) and returned.stride() == usual[0]
        if alike and not moving:
            return returned
        return moved(returned, given, steps if alike else wanted)

    moving = any(steps)
    return call


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
    """A copy with these strides. Along an axis of stride 0 all elements are equal, and one is copied."""
    one = value[tuple(slice(None if stride else 1) for stride in strides)]
    made = torch.empty_strided(one.shape, strides, dtype=value.dtype, device=value.device).copy_(one)
    return made.expand(value.shape)


def unlike(given: Sequence[Any], wanted: Sequence[ResultLayout | None], found: Sequence[ResultLayout | None]) -> str:
    """Why laid_out cannot lay results out as wanted, in words: the elements of one overlap, or it is memory of an input
    seen as another dtype. Empty if it can."""
    dtypes = [each.dtype if isinstance(each, torch.Tensor) else None for each in given]
    dtypes += [each.dtype if each is not None else None for each in wanted]
    for place, (want, have) in enumerate(zip(wanted, found)):
        if want is None or have is None or want.is_like(have):
            continue
        if want.source is None and _overlaps(want):
            return f"elements of output {place} overlap in memory, by strides of {list(want.strides)}"
        if want.source is not None and (dtypes[want.source] != want.dtype or not _has_room(want, wanted, len(given))):
            return f"output {place} is no view of the memory of which the operations return one"
    return ""


def _has_room(want: ResultLayout, wanted: Sequence[ResultLayout | None], inputs: int) -> bool:
    """Whether a view of an earlier result lies within it."""
    source = None if want.source is None or want.source < inputs else wanted[want.source - inputs]
    if source is None:
        return True
    return want.offset >= 0 and want.offset + extent(want.shape, want.strides) <= extent(source.shape, source.strides)


def _overlaps(layout: ResultLayout) -> bool:
    """Whether elements have the same address, apart from those along axes of stride 0."""
    reach = 0
    for stride, size in sorted((stride, size) for size, stride in zip(layout.shape, layout.strides) if size > 1):
        if 0 < stride <= reach:
            return True
        reach += stride * (size - 1)
    return False
