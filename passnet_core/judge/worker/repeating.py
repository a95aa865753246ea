"""Repeat recorded calls of replacement functions on other content, in a process that has only a bundle's kernels.

If what the functions returned is what their kernels, fills and copies make of their arguments, so is the repetition. A
result that something else computed, on whatever way, is missing in it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
import triton.language as tl

from passnet_core.judge.worker.kernel_loading import LoadedKernels
from passnet_core.judge.worker.staging import POISON

Json = Mapping[str, Any]


OPERATION_S, ELEMENT_S = 20e-6, 1e-8
"""What one operation of the interpreter takes on a usual machine, and each element of its result in addition."""


@dataclass
class InterpreterWork:
    """How much the interpreter has done. seconds: on a usual machine."""

    operations: int = 0
    elements: int = 0

    @property
    def seconds(self) -> float:
        return self.operations * OPERATION_S + self.elements * ELEMENT_S


@contextmanager
def counted() -> Iterator[InterpreterWork]:
    """Count what the interpreter does meanwhile."""
    from triton.runtime.interpreter import TensorHandle

    work, check = InterpreterWork(), TensorHandle.__post_init__

    def count(self: Any) -> None:
        check(self)
        work.operations += 1
        work.elements += self.data.size

    TensorHandle.__post_init__ = count
    try:
        yield work
    finally:
        TensorHandle.__post_init__ = check


class NotRepeated(Exception):
    """A recorded call that cannot be repeated. The message says why."""


@dataclass
class Repetition:
    """Stands in for the replacement functions in one call of the graph: the next recorded call takes the next turn.

    contents: the memory that the recorded calls had kept, in the order of their numbers."""

    kernels: LoadedKernels
    recorded: Sequence[Json]
    contents: Sequence[Sequence[torch.Tensor]]
    turn: int = 0
    problems: list[str] = field(default_factory=list)
    """What the kernels did that is wrong whatever the values, in words."""

    def functions(self, keys: Sequence[str]) -> dict[str, Callable[..., Any]]:
        """A stand-in for each replacement function, by key."""
        return {key: self._standing_in(key) for key in keys}

    def _standing_in(self, key: str) -> Callable[..., Any]:
        def stand_in(*arguments: Any) -> Any:
            if self.turn >= len(self.recorded):
                raise NotRepeated("the graph called its replacement functions more often than was recorded")
            call, contents = self.recorded[self.turn], self.contents[self.turn]
            self.turn += 1
            if call.get("problem") or call.get("function") != key:
                raise NotRepeated(str(call.get("problem") or "the graph called another replacement function"))
            return _Repeated(self, call, contents, arguments).result()

        return stand_in


class _Repeated:
    """One recorded call, repeated on these arguments."""

    def __init__(
        self, repetition: Repetition, call: Json, contents: Sequence[torch.Tensor], arguments: Sequence[Any]
    ) -> None:
        self.repetition, self.call = repetition, call
        self.regions: dict[str, tuple[torch.UntypedStorage, int]] = {}
        self.watched: dict[str, tuple[torch.Tensor, torch.Tensor]] = {}
        """Per argument: its memory, and a copy of what it held before the call."""
        for index, value in enumerate(arguments):
            if isinstance(value, torch.Tensor):
                storage = value.untyped_storage()
                self.regions[f"argument {index}"] = (storage, value.data_ptr() - storage.data_ptr())
                memory = torch.empty(0, dtype=torch.uint8).set_(storage)
                self.watched[f"argument {index}"] = (memory, memory.clone())
        for index, content in enumerate(contents):
            self.regions[f"kept {index}"] = (content.clone().untyped_storage(), 0)
        for index, length in enumerate(call["made"]):
            made = torch.full((int(length),), POISON, dtype=torch.uint8)
            self.regions[f"made {index}"] = (made.untyped_storage(), 0)

    def result(self) -> Any:
        touched: set[str] = set()
        for step in self.call["steps"]:
            if "launch" in step:
                self._launch(step)
            elif "fill" in step:
                self._fill(step)
            else:
                self.tensor(step["to"]["tensor"]).copy_(self.tensor(step["copy"]["tensor"]))
            touched |= {name for name, (now, before) in self.watched.items() if not torch.equal(now, before)}
        for name in sorted(touched):
            now, before = self.watched[name]
            if torch.equal(now, before):
                self.repetition.problems.append(
                    f"a kernel overwrites {name} of its replacement function, and another restores it: whoever reads it"
                    " meanwhile reads nonsense"
                )
        if any(place.startswith("kept") for place in _places(self.call["returned"])):
            self.repetition.problems.append(
                "a replacement function returns memory that it had kept from before the call: allocate each result anew"
            )
        return self.value(self.call["returned"])

    def _launch(self, step: Json) -> None:
        kernel = self.repetition.kernels.function(**step["launch"])
        args = [self.value(each) for each in step["args"]]
        kwargs = {name: self.value(each) for name, each in step["kwargs"].items()}
        kernel.run(*args, grid=tuple(int(size) for size in step["grid"]), warmup=False, **kwargs)

    def _fill(self, step: Json) -> None:
        target = self.tensor(step["fill"]["tensor"])
        one = torch.tensor(step["bytes"], dtype=torch.uint8).view(target.dtype)
        target.copy_(one.expand(target.shape) if target.dim() else one[0])

    def value(self, described: Json) -> Any:
        """The inverse of StepRecorder.described."""
        match described:
            case {"tensor": place}:
                return self.tensor(place)
            case {"value": value}:
                return value
            case {"float": str(text)}:
                return float.fromhex(text)
            case {"constexpr": inner}:
                return tl.constexpr(self.value(inner))
            case {"type": str(name)}:
                return tl.dtype(name)
            case {"dtype": str(name)}:
                return getattr(torch, name)
            case {"tuple": list(items)}:
                return tuple(self.value(each) for each in items)
            case {"list": list(items)}:
                return [self.value(each) for each in items]
            case {"function": {"file": file, "name": name, "line": line}}:
                return self.repetition.kernels.function(file, name, line)
            case {"descriptor": fields}:
                from triton.tools.tensor_descriptor import TensorDescriptor

                return TensorDescriptor(**{name: self.value(each) for name, each in fields.items()})
        raise NotRepeated(f"this is no argument: {str(described)[:80]}")

    def tensor(self, place: Json) -> torch.Tensor:
        if place["in"] not in self.regions:
            raise NotRepeated(f"a call uses {place['in']}, which it was not given")
        storage, base = self.regions[place["in"]]
        dtype = getattr(torch, place["dtype"])
        start = base + int(place["offset"])
        shape, strides = [int(each) for each in place["shape"]], [int(each) for each in place["strides"]]
        reach = sum((size - 1) * stride for size, stride in zip(shape, strides, strict=True)) + 1
        # torch would let the storage grow
        if 0 not in shape and (
            start < 0 or start % dtype.itemsize or start + reach * dtype.itemsize > storage.nbytes()
        ):
            raise NotRepeated("a call uses memory beyond what it was given")
        return torch.empty(0, dtype=dtype).set_(storage, start // dtype.itemsize, shape, strides)


def _places(returned: Json) -> Iterator[str]:
    """The names of the memory in which what a call returned lies."""
    for each in returned.get("tuple", returned.get("list", [returned])):
        if "tensor" in each:
            yield str(each["tensor"]["in"])
