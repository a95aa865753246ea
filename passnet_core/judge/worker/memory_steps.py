"""Record a call of a replacement function as steps on memory, which another process can repeat on other content.

A step is a launch of a Triton kernel, a fill with one value, or a copy. Whatever else writes a result leaves no step,
so that a repetition lacks it. Everything here is data: JSON, and the content of memory that the function had kept from
before the call."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
import triton.language as tl

Json = dict[str, Any]

CONSTANTS = (bool, int, float, str, tl.constexpr, tl.dtype)
"""The types of what a kernel may name as a constant."""

MOST_KEPT_BYTES = 256 << 20
"""How much memory that a function keeps between calls can be recorded."""


class CannotBeRepeated(Exception):
    """A call that uses something which cannot be described to another process."""


@dataclass
class Region:
    """One storage that a call uses. name: "argument 0", "made 0" or "kept 0". base: the address that offsets count
    from, which for an argument is that of its first element."""

    name: str
    base: int
    storage: torch.UntypedStorage


@dataclass
class StepRecorder:
    """Records one call. packed: what the bundle's prepare(weights) returned, which counts as kept."""

    function: str
    arguments: Sequence[Any]
    packed: Sequence[Any] = ()
    steps: list[Json] = field(default_factory=list)
    made: list[int] = field(default_factory=list)
    kept: list[torch.Tensor] = field(default_factory=list)
    problem: str = ""
    """Why this call cannot be repeated, or empty."""

    def __post_init__(self) -> None:
        self.regions: dict[int, Region] = {}
        prepared = {each.untyped_storage().data_ptr() for each in self.packed if _is_tensor(each)}
        for index, value in enumerate(self.arguments):
            if _is_tensor(value) and (address := value.untyped_storage().data_ptr()) not in {*self.regions, *prepared}:
                self.regions[address] = Region(f"argument {index}", value.data_ptr(), value.untyped_storage())

    # --- what happens ---

    def made_memory(self, result: torch.Tensor) -> None:
        """Memory was allocated in this call; its content is not defined."""
        storage = result.untyped_storage()
        if storage.data_ptr() not in self.regions:
            # the storage is held until the end of the call, so that its address stays its own
            self.regions[storage.data_ptr()] = Region(f"made {len(self.made)}", storage.data_ptr(), storage)
            self.made.append(storage.nbytes())

    def filled(self, result: torch.Tensor) -> None:
        """All elements of this tensor have been set to the same value."""
        self.made_memory(result)
        if result.numel():
            first = result.detach().as_strided((1,), (1,)).contiguous().view(torch.uint8)
            self.steps.append({"fill": self.described(result), "bytes": first.tolist()})

    def copied(self, source: torch.Tensor, target: torch.Tensor) -> None:
        """The elements of one tensor have been copied to another of the same dtype, which it may be broadcast to."""
        self.made_memory(target)
        self.steps.append({"copy": self.described(source), "to": self.described(target)})

    def joined(self, sources: Sequence[torch.Tensor], axis: int, result: torch.Tensor) -> None:
        """Tensors have been concatenated."""
        start = 0
        for each in sources:
            # torch.cat ignores empty vectors of any other rank
            if each.numel():
                self.copied(each, result.narrow(axis, start, each.shape[axis]))
                start += each.shape[axis]

    def launching(
        self, function: Any, args: Sequence[Any], kwargs: dict[str, Any], options: dict[str, Any], *, tuned: bool
    ) -> Json | None:
        """A kernel is about to be launched. The caller sets "grid" in the step that this returns. None: not recorded,
        since the call cannot be repeated. options: of the launch, such as num_warps. tuned: an autotuner launches."""
        try:
            step: Json = {
                "launch": function_of(function),
                "args": [self.described(each) for each in args],
                "kwargs": {name: self.described(each) for name, each in kwargs.items()},
                "options": {name: self.described(each) for name, each in options.items()},
                "tuned": tuned,
                "constants": [
                    {"file": file, "name": name, "value": self.described(value)}
                    for file, name, value in constants_of(function)
                ],
            }
        except CannotBeRepeated as problem:
            self.problem = self.problem or f"{function.__name__} {problem}"
            return None
        self.steps.append(step)
        return step

    def returned(self, result: Any) -> Json:
        """The whole call as data. Its tensors are in kept."""
        try:
            described = self.described(result)
        except CannotBeRepeated as problem:
            self.problem = self.problem or f"its result {problem}"
            described = {}
        if sum(each.nbytes for each in self.kept) > MOST_KEPT_BYTES:
            self.problem = self.problem or f"it keeps more than {MOST_KEPT_BYTES >> 20} MiB between calls"
        call = {"function": self.function, "steps": self.steps, "made": self.made, "returned": described}
        return {"function": self.function, "problem": self.problem} if self.problem else call

    # --- values ---

    def described(self, value: Any) -> Json:
        """A value as data. Raises CannotBeRepeated."""
        if isinstance(value, torch.Tensor):
            return {"tensor": self._located(value)}
        # exact types: a subclass could tell that it is described, and be something else the next time
        if type(value) is tl.constexpr:
            return {"constexpr": self.described(value.value)}
        if value is None or type(value) in (bool, int, str):
            return {"value": value}
        if type(value) is float:
            return {"float": value.hex()}
        if isinstance(value, tl.dtype):
            return {"type": value.name}
        if isinstance(value, torch.dtype):
            return {"dtype": str(value).removeprefix("torch.")}
        if type(value) in (tuple, list, torch.Size):
            return {"list" if type(value) is list else "tuple": [self.described(each) for each in value]}
        if hasattr(value, "fn") and hasattr(value.fn, "__code__"):
            return {"function": function_of(value.fn)}
        if type(value).__name__ == "TensorDescriptor" and isinstance(getattr(value, "base", None), torch.Tensor):
            fields = ("shape", "strides", "block_shape", "padding")
            return {"descriptor": {name: self.described(getattr(value, name)) for name in ("base", *fields)}}
        raise CannotBeRepeated(f"has a {type(value).__name__}")

    def _located(self, tensor: torch.Tensor) -> Json:
        storage = tensor.untyped_storage()
        region = self.regions.get(storage.data_ptr())
        if region is None:
            # not made in this call as far as was seen: its content is part of what the call uses
            region = Region(f"kept {len(self.kept)}", storage.data_ptr(), storage)
            self.regions[storage.data_ptr()] = region
            content = torch.empty(0, dtype=torch.uint8).set_(storage) if storage.device.type == "cpu" else None
            if content is None:
                raise CannotBeRepeated("uses memory that is not on the CPU")
            self.kept.append(content.clone())
        return {
            "in": region.name,
            "offset": tensor.data_ptr() - region.base,
            "dtype": str(tensor.dtype).removeprefix("torch."),
            "shape": list(tensor.shape),
            "strides": list(tensor.stride()),
        }


def constants_of(function: Any) -> Iterator[tuple[str, str, Any]]:
    """The constants at the top level of files that a function written in Triton names, and those that the Triton
    functions which it names do: file, name, and value at present."""
    pending, seen = [function], set()
    while pending:
        code, names = (each := pending.pop()).__code__, each.__globals__
        if code in seen or not isinstance(names.get("__file__"), str):
            continue
        seen.add(code)
        for name in code.co_names:
            value = names.get(name)
            if type(value) in CONSTANTS:
                yield Path(names["__file__"]).name, name, value
            elif hasattr(value, "fn") and hasattr(value.fn, "__code__"):
                pending.append(value.fn)


def function_of(function: Any) -> Json:
    """A function written in Triton: its file, its name there, and the line of its first decorator."""
    code = function.__code__
    return {"name": code.co_name, "file": Path(code.co_filename).name, "line": code.co_firstlineno}


def _is_tensor(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.layout is torch.strided
