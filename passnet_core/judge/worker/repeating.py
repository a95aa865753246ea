"""Repeat recorded calls of replacement functions on other content, in a process that has only a bundle's kernels.

If what the functions returned is what their kernels, fills and copies make of their arguments, so is the repetition. A
result that something else computed, on whatever way, is missing in it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
import triton.language as tl

from passnet_core.graphs import effects
from passnet_core.graphs.rewriting import TracedPass
from passnet_core.judge.worker.kernel_loading import LoadedKernels
from passnet_core.judge.worker.staging import POISON, same_bits
from passnet_core.judge.worker.strict_memory import ChangedMemory, Memory

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


def unchanging(passes: Sequence[TracedPass]) -> frozenset[str]:
    """The replacement functions of which no pattern changes anything in place."""
    changing = {each.replacement for each in passes if any(map(effects.changed, each.pattern.operations))}
    return frozenset(each.replacement for each in passes) - changing


class NotRepeated(Exception):
    """A recorded call that cannot be repeated. The message says why."""


@dataclass
class Repetition:
    """Stands in for the replacement functions in one call of the graph: the next recorded call takes the next turn.

    contents: the memory that the recorded calls had kept, in the order of their numbers. unchanging: the replacement
    functions that must not change their arguments. memory: what the launches do, as strict_memory.watched keeps it."""

    kernels: LoadedKernels
    recorded: Sequence[Json]
    contents: Sequence[Sequence[torch.Tensor]]
    unchanging: frozenset[str] = frozenset()
    memory: Memory = field(default_factory=Memory)
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


class _Lent:
    """Memory in which arguments of a replacement function lie. changed: its bytes that were changed at any moment."""

    def __init__(self, memory: torch.Tensor) -> None:
        self.memory, self.before = memory, memory.clone()
        self.arguments: dict[str, torch.Tensor] = {}
        self.changed = torch.zeros(memory.shape, dtype=torch.bool)

    def note(self, change: ChangedMemory) -> None:
        """Note what a launch changed, if it did so here."""
        start = change.start - self.memory.data_ptr()
        if 0 <= start < len(self.memory):
            changed = torch.from_numpy(change.of_bytes())
            there = self.changed[start : start + len(changed)]
            there |= changed[: len(there)]

    def problems(self, *, unchanging: bool) -> Iterator[str]:
        """What no replacement function may do, in words: change what lies beside its arguments, or what it leaves as it
        was in the end, since whoever reads it meanwhile reads nonsense. unchanging: it must leave all as it was."""
        if not self.changed.any():
            return
        beside = self.changed.clone()
        for name, value in self.arguments.items():
            elements = self._elements(value)
            restored = same_bits(value, self._before(value))
            if unchanging and not restored:
                yield (
                    f"a kernel changes {name} of its replacement function, and no operation of the pattern changes"
                    " anything in place: whoever else uses it reads other values"
                )
            if restored and (self.changed & elements).any():
                yield (
                    f"a kernel overwrites {name} of its replacement function, which is restored later: whoever reads it"
                    " meanwhile reads nonsense"
                )
            beside &= ~elements
        if beside.any():
            names = " and ".join(self.arguments)
            yield f"a kernel overwrites memory beside {names} of its replacement function, which it was not given"

    def _before(self, value: torch.Tensor) -> torch.Tensor:
        """What this tensor held before the call."""
        held = torch.empty(0, dtype=value.dtype)
        return held.set_(self.before.untyped_storage(), value.storage_offset(), value.shape, value.stride())

    def _elements(self, value: torch.Tensor) -> torch.Tensor:
        """Which bytes of the memory belong to this tensor."""
        found, size = torch.zeros_like(self.changed), value.element_size()
        shape, strides = (*value.shape, size), (*(size * each for each in value.stride()), 1)
        found.as_strided(shape, strides, size * value.storage_offset()).fill_(True)
        return found


class _Repeated:
    """One recorded call, repeated on these arguments."""

    def __init__(
        self, repetition: Repetition, call: Json, contents: Sequence[torch.Tensor], arguments: Sequence[Any]
    ) -> None:
        self.repetition, self.call = repetition, call
        self.regions: dict[str, tuple[torch.UntypedStorage, int]] = {}
        self.lent: dict[int, _Lent] = {}
        """The memory of the arguments, by its address."""
        for index, value in enumerate(arguments):
            if isinstance(value, torch.Tensor):
                storage = value.untyped_storage()
                self.regions[f"argument {index}"] = (storage, value.data_ptr() - storage.data_ptr())
                lent = self.lent.setdefault(storage.data_ptr(), _Lent(torch.empty(0, dtype=torch.uint8).set_(storage)))
                lent.arguments[f"argument {index}"] = value
        for index, content in enumerate(contents):
            self.regions[f"kept {index}"] = (content.clone().untyped_storage(), 0)
        for index, length in enumerate(call["made"]):
            made = torch.full((int(length),), POISON, dtype=torch.uint8)
            self.regions[f"made {index}"] = (made.untyped_storage(), 0)

    def result(self) -> Any:
        for step in self.call["steps"]:
            if "launch" in step:
                self._launch(step)
            elif "fill" in step:
                with self._changing(step["fill"]["tensor"]):
                    self._fill(step)
            else:
                with self._changing(step["to"]["tensor"]):
                    self.tensor(step["to"]["tensor"]).copy_(self.tensor(step["copy"]["tensor"]))
        unchanging = self.call["function"] in self.repetition.unchanging
        for each in self.lent.values():
            self.repetition.problems += each.problems(unchanging=unchanging)
        if any(place.startswith("kept") for place in _places(self.call["returned"])):
            self.repetition.problems.append(
                "a replacement function returns memory that it had kept from before the call: allocate each result anew"
            )
        return self.value(self.call["returned"])

    def _launch(self, step: Json) -> None:
        kernel = self.repetition.kernels.function(**step["launch"])
        for each in step.get("constants", ()):
            # as they were in the call: the bundle may have chosen them when it was loaded
            self.repetition.kernels.set_constant(each["file"], each["name"], self.value(each["value"]))
        args = [self.value(each) for each in step["args"]]
        kwargs = {name: self.value(each) for name, each in step["kwargs"].items()}
        memory = self.repetition.memory
        memory.one_warp = step.get("options", {}).get("num_warps") == {"value": 1}
        kernel.run(*args, grid=tuple(int(size) for size in step["grid"]), warmup=False, **kwargs)
        for each in memory.launches[-1].changed if memory.launches else ():
            for lent in self.lent.values():
                lent.note(each)

    @contextmanager
    def _changing(self, place: Json) -> Iterator[None]:
        """Note what changes meanwhile, if this tensor lies in the memory of an argument."""
        storage, _ = self.regions.get(place["in"], (None, 0))
        lent = self.lent.get(storage.data_ptr()) if storage is not None else None
        before = lent.memory.clone() if lent is not None else None
        yield
        if lent is not None and before is not None:
            lent.changed |= lent.memory != before

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
