"""Kernels: which values one kernel computes, and its code.

The variables of a kernel are those that its programs share out (`outer`) and those that each program walks in one tile
(`spaces`: what reductions sum over, and the rest of the outputs' dimensions). A value that a reduction needs at places
that differ along the tile is computed by a kernel of its own before."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from passnet_core.graphs.spelling import Names
from passnet_core.solvers.rules.coordinates import (
    ORIGIN,
    Coordinate,
    Coordinates,
    Split,
    Term,
    variables,
)
from passnet_core.solvers.rules.dtypes import DType
from passnet_core.solvers.rules.sizes import ONE, ZERO, Size
from passnet_core.solvers.rules.values import (
    ElementWriter,
    Number,
    PassedNumber,
    Reduction,
    Shape,
    Stored,
    Value,
    below,
)  # fmt: skip

MOST_COLUMNS = 1 << 14
"""Rows up to this length are held in one tile; longer ones are walked in several."""

MOST_TEMPORARIES = 12
MOST_SPLITS = 24


class Unsupported(Exception):
    """These rules do not cover it. The text says what, for the docstring of the bundle."""


class NeedsMemory(Exception):
    """A value must be computed by a kernel of its own first."""

    def __init__(self, value: Value) -> None:
        super().__init__(value.name)
        self.value = value


@dataclass
class Space:
    """Variables that a program walks together. sizes: of each variable, by name, outer first."""

    name: str
    sizes: dict[str, Size]

    @property
    def length(self) -> int:
        found = 1
        for each in self.sizes.values():
            found *= each.value
        return found


@dataclass
class Access:
    """A tensor that the kernel reads or writes. strides: by variable, then by other terms, as Python for the host."""

    tensor: str
    label: str
    strides: dict[str, Size]
    others: list[tuple[str, Size]]
    start: Size


@dataclass
class Output:
    """A value that a kernel writes into a tensor."""

    tensor: str
    value: Value


@dataclass
class Code:
    """A finished kernel. tensors: its pointers, in order. constants: name -> Python for the host.

    pinned: variables that must not be merged with others."""

    name: str
    text: str
    tensors: list[str]
    outer: Space
    spaces: list[Space]
    accesses: list[Access]
    constants: dict[str, str]
    pinned: set[str]
    outputs: list[Output]
    looped: bool
    tiled: bool


class KernelWriter(ElementWriter):
    """Writes one kernel. probing: write nothing, but collect the reductions that are reached, with their places."""

    def __init__(self, name: str, splits: dict[str, Size], stored: dict[int, Stored], looped: bool) -> None:
        self.name, self.splits, self.stored, self.looped = name, splits, stored, looped
        self.outer = Space("outer", {})
        self.spaces: list[Space] = []
        self.lines: list[str] = []
        self.indent = "    "
        self.memory: dict[tuple[object, ...], str] = {}
        self.accesses: dict[tuple[object, ...], Access] = {}
        self.constants: dict[str, str] = {}
        self.pinned: set[str] = set()
        self.tensors: list[str] = []
        self.names = Names(taken=("tl", "triton", "torch", "index", "inside", "row", "rows", "rounded"))
        self.reached: list[tuple[Reduction, Coordinates]] | None = None
        self.known: dict[str, frozenset[str]] = {}
        self.sizes_used: dict[str, Size] = {}
        self.depth: list[str] = []

    # --- variables ---

    def variable(self, space: Space, name: str, size: Size) -> Coordinate:
        """A new variable, or the sum of two where it was found that it must be split."""
        if size.is_one:
            return ORIGIN
        if (inner := self.splits.get(name)) is not None:
            outer = size.divided(inner)
            return self.variable(space, f"{name}o", outer) * inner + self.variable(space, f"{name}i", inner)
        space.sizes[name] = size
        return Coordinate.variable(name, size)

    def space_of(self, sizes: Shape, hint: str = "r") -> tuple[Space, Coordinates]:
        """The space that walks these sizes; the same for the same sizes."""
        key = tuple(each.text for each in sizes if not each.is_one)
        for each, made, places in self._made:
            if key == made:
                left = iter(places)
                return each, tuple(ORIGIN if size.is_one else next(left) for size in sizes)
        space = Space(f"r{len(self._made)}" if self._made else "r", {})
        self.spaces.append(space)
        places = tuple(
            self.variable(space, f"{space.name}{axis}", size)
            for axis, size in enumerate(s for s in sizes if not s.is_one)
        )
        self._made.append((space, key, places))
        left = iter(places)
        return space, tuple(ORIGIN if size.is_one else next(left) for size in sizes)

    @property
    def _made(self) -> list[tuple[Space, tuple[str, ...], Coordinates]]:
        return self.__dict__.setdefault("_spaces_made", [])

    # --- pieces of code ---

    def put(self, hint: str, text: str) -> str:
        """A line that assigns the text to a variable, which is returned; the same for the same text."""
        if self.reached is not None:
            return "value"
        for key in (("text", text), ("text", text, *self.depth)):
            if key in self.memory:
                return self.memory[key]
        self.memory[key] = self.names.free(hint)
        self.lines.append(f"{self.indent}{self.memory[key]} = {text}")
        return self.memory[key]

    def constant(self, name: str, host: str) -> str:
        self.constants[name] = host
        return name

    def size(self, size: Size) -> str:
        """Code of a size in the kernel: a number, or a constant."""
        if size.constant is not None:
            return str(size.constant)
        for name, each in self.sizes_used.items():
            if each == size:
                return name
        simple = re.fullmatch(r"\w+", size.text)
        name = size.text.upper() if simple else f"SIZE_{len(self.sizes_used)}"
        self.sizes_used[name] = size
        return self.constant(name, size.text)

    def dtype(self, dtype: DType) -> str:
        if dtype.source and dtype.source not in self.tensors:
            self.constants[f"{dtype.source.upper()}_DTYPE"] = f"triton_dtype({dtype.source}.dtype)"
            return f"{dtype.source.upper()}_DTYPE"
        return dtype.kernel

    def place(self, place: Coordinate) -> str:
        """Code of a coordinate. Its variables cannot be merged with others any more."""
        self.pinned |= place.variables
        pieces: list[str] = []
        for term, factor in place.terms:
            if factor.value < 0:
                by = -factor
                pieces.append(
                    ("- " if pieces else "-") + (term.text if by.is_one else f"{_atom(term.text)} * {self.size(by)}")
                )
            else:
                pieces.append(
                    ("+ " if pieces else "")
                    + (term.text if factor.is_one else f"{_atom(term.text)} * {self.size(factor)}")
                )
        if place.start != ZERO or not pieces:
            start = place.start
            if start.value < 0:
                pieces.append(f"- {self.size(-start)}" if pieces else f"-{self.size(-start)}")
            else:
                pieces.append(("+ " if pieces else "") + self.size(start))
        return " ".join(pieces)

    __call__ = place

    def indirect(self, code: str, asked: Coordinates, bound: Size) -> Coordinate:
        """A coordinate that is an element of a tensor."""
        return Coordinate(((Term(code, variables(asked), bound), ONE),))

    # --- memory ---

    def access(self, tensor: str, shape: Shape, places: Coordinates) -> Access:
        """What the host must know to tell the kernel where an element lies."""
        strides: dict[str, Size] = {}
        others: dict[str, Size] = {}
        start = ZERO
        for axis, (place, size) in enumerate(zip(places, shape)):
            step = Size.atom(f"{tensor}_steps[{axis}]", [1])
            start = start + step * place.start
            for term, factor in place.terms:
                if term.plain:
                    strides[term.text] = strides.get(term.text, ZERO) + step * factor
                else:
                    self.pinned |= term.variables
                    others[term.text] = others.get(term.text, ZERO) + step * factor
        key = (tensor, tuple(strides.items()), tuple(others.items()), start)
        if key not in self.accesses:
            if tensor not in self.tensors:
                self.tensors.append(tensor)
            taken = {each.label for each in self.accesses.values()}
            label = tensor.upper()
            index = 1
            while label in taken:
                index += 1
                label = f"{tensor.upper()}_{index}"
            self.accesses[key] = Access(tensor, label, strides, list(others.items()), start)
        return self.accesses[key]

    def address(self, access: Access) -> str:
        order = [*self.outer.sizes, *(name for space in self.spaces for name in space.sizes)]
        pieces = [f"{access.tensor}_ptr"]
        number = 0
        for name in order:
            if name in access.strides:
                pieces.append(f"{name} * {access.label}[{number}]")
                number += 1
        for text, _ in access.others:
            pieces.append(f"{_atom(text)} * {access.label}[{number}]")
            number += 1
        if access.start != ZERO:
            pieces.append(f"{access.label}[{number}]")
        return " + ".join(pieces)

    def mask(self, names: Iterable[str], more: str = "") -> str:
        """The condition that these variables are inside of the tensors."""
        found = []
        used = set(names)
        if used & set(self.outer.sizes):
            found.append("rows" if self.tiled else "inside")
        found += [
            f"inside_{space.name}" if len(self.spaces) > 1 else "columns"
            for space in self.spaces
            if used & set(space.sizes)
        ]
        return " & ".join([*found, *([more] if more else [])])

    tiled = False

    def load(self, value: Stored, places: Coordinates, mask: str) -> str:
        if self.reached is not None:
            return "value"
        access = self.access(value.tensor, value.shape, places)
        names = variables(places)
        # a single element is always there
        condition = self.mask(names, mask) if names else ""
        text = f"tl.load({self.address(access)}" + (f", mask={condition}" if condition else "") + ")"
        if value.dtype.is_float:
            text += f".to({value.dtype.work})"
        key = ("load", text, *self.depth)
        if key not in self.memory:
            self.memory[key] = self.names.free(value.name)
            self.lines.append(f"{self.indent}{self.memory[key]} = {text}")
        return self.memory[key]

    # --- values ---

    def element(self, value: Value, places: Coordinates, mask: str = "") -> str:
        """The code of an element: loaded, if a kernel before this one has stored the value."""
        if (known := self.stored.get(id(value))) is not None:
            return self.load(known, places, mask)
        return value.code(self, places, mask)

    def reduce(self, value: Reduction, places: Coordinates, mask: str) -> str:
        if self.reached is not None:
            self.reached.append((value, places))
            return "value"
        key = ("reduction", id(value), places)
        if key in self.memory:
            return self.memory[key]
        if variables(places) - set(self.outer.sizes):
            raise NeedsMemory(value)
        space, walked = self.space_of(value.reduced)
        inside = value.inside(places, walked)
        if self.depth:
            raise NeedsMemory(value)
        code = self._looped(value, space, inside) if self.looped else self._held(value, space, inside)
        if value.dtype.rounds and not value.exact:
            code = self.put(value.name, f"rounded({code}, {self.dtype(value.dtype)})")
        self.memory[key] = code
        return code

    def _columns(self, space: Space) -> str:
        return f"inside_{space.name}" if len(self.spaces) > 1 else "columns"

    def _held(self, value: Reduction, space: Space, inside: Coordinates) -> str:
        element = self.element(value.operand, inside, "")
        return self._fold(value, element, self._columns(space), space)

    def _fold(self, value: Reduction, element: str, columns: str, space: Space) -> str:
        work = value.operand.dtype
        full = f"{columns} & rows" if self.outer.sizes else columns
        match value.kind:
            case "sum":
                zero = "0.0" if value.dtype.is_float else "0"
                if work.is_bool or not work.is_float and not value.dtype.is_float:
                    element = f"{element}.to({value.dtype.kernel})"
                return self.put(value.name, f"tl.sum(tl.where({full}, {element}, {zero}), 1)[:, None]")
            case "prod":
                raise Unsupported("products of elements")
            case "max" | "min":
                worst = self._worst(value, work)
                return self.put(value.name, f"tl.{value.kind}(tl.where({full}, {element}, {worst}), 1)[:, None]")
            case "any":
                return self.put(value.name, f"tl.max(tl.where({full}, {element}, 0).to(tl.int32), 1)[:, None] != 0")
            case "all":
                return self.put(value.name, f"tl.min(tl.where({full}, {element}, 1).to(tl.int32), 1)[:, None] != 0")
            case "argmax" | "argmin":
                kind = value.kind[3:]
                worst = self._worst(value, work)
                if work.is_bool:
                    element, worst = f"{element}.to(tl.int32)", "-1" if kind == "max" else "2"
                return self.put(
                    value.name, f"tl.arg{kind}(tl.where({full}, {element}, {worst}), 1)[:, None].to(tl.int64)"
                )
        raise Unsupported(f"a reduction of kind {value.kind}")

    def _worst(self, value: Reduction, work: DType) -> str:
        largest = value.kind.endswith("max")
        if work.is_float:
            return 'float("-inf")' if largest else 'float("inf")'
        bits = {"int64": 63, "int32": 31, "int16": 15, "int8": 7}.get(work.name, 31)
        return str(-(2**bits)) if largest else str(2**bits - 1)

    def _looped(self, value: Reduction, space: Space, inside: Coordinates) -> str:
        self._settle(value.operand, inside)
        columns = self._columns(space)
        kind = value.kind
        if kind not in ("sum", "max", "min", "any", "all"):
            raise Unsupported(f"{kind} over more than {MOST_COLUMNS} elements")
        work = value.operand.dtype
        total = self.names.free(f"{value.name}_parts")
        dtype = {"any": "tl.int32", "all": "tl.int32"}.get(kind) or ((value.dtype if kind == "sum" else work).work)
        first = {"sum": "0", "any": "0", "all": "1"}.get(kind) or self._worst(value, work)
        rows = "ROWS"
        block = f"COLUMNS_{space.name.upper()}" if len(self.spaces) > 1 else "COLUMNS"
        self.lines.append(f"{self.indent}{total} = tl.full(({rows}, {block}), {first}, {dtype})")
        self._open(space)
        element = self.element(value.operand, inside, "")
        full = f"{columns} & rows" if self.outer.sizes else columns
        match kind:
            case "sum":
                step = f"{total} + tl.where({full}, {element}, 0).to({dtype})"
            case "max":
                step = f"tl.maximum({total}, tl.where({full}, {element}, {first}))"
            case "min":
                step = f"tl.minimum({total}, tl.where({full}, {element}, {first}))"
            case "any":
                step = f"tl.maximum({total}, tl.where({full}, {element}, 0).to(tl.int32))"
            case _:
                step = f"tl.minimum({total}, tl.where({full}, {element}, 1).to(tl.int32))"
        self.lines.append(f"{self.indent}{total} = {step}")
        self._close()
        fold = {"sum": "sum", "max": "max", "min": "min", "any": "max", "all": "min"}[kind]
        ending = " != 0" if kind in ("any", "all") else ""
        return self.put(value.name, f"tl.{fold}({total}, 1)[:, None]{ending}")

    def _open(self, space: Space) -> None:
        number = len(self.loops)
        self.loops.append(space)
        block = f"COLUMNS_{space.name.upper()}" if len(self.spaces) > 1 else "COLUMNS"
        count = " * ".join(f"{space.name.upper()}[{index}]" for index in range(len(space.sizes))) or "1"
        self.lines.append(f"{self.indent}for start in range(0, {count}, {block}):")
        self.indent += "    "
        self.depth.append(f"loop {number}")
        self.lines += [f"{self.indent}{line}" for line in self._space_lines(space, f"start + tl.arange(0, {block})")]

    def _close(self) -> None:
        self.indent = self.indent[:-4]
        self.depth.pop()

    @property
    def loops(self) -> list[Space]:
        return self.__dict__.setdefault("_loops", [])

    def _settle(self, value: Value, places: Coordinates) -> None:
        """Compute the reductions that the value needs before a loop begins."""
        for reduction, where in self.probe(value, places):
            self.reduce(reduction, where, "")

    def probe(self, value: Value, places: Coordinates) -> list[tuple[Reduction, Coordinates]]:
        """The reductions that the value needs first, each with its places."""
        before, self.reached = self.reached, []
        kept = set(self.pinned), dict(self.constants), dict(self.sizes_used)
        try:
            self.element(value, places)
            found: dict[tuple[int, Coordinates], tuple[Reduction, Coordinates]] = {}
            for reduction, where in self.reached:
                found.setdefault((id(reduction), where), (reduction, where))
            return list(found.values())
        finally:
            self.reached = before
            self.pinned, self.constants, self.sizes_used = kept

    def _space_lines(self, space: Space, count: str) -> list[str]:
        """The variables of a space, from one that counts through it."""
        label = space.name.upper()
        outer = space is self.outer
        names = list(space.sizes)
        if outer and not self.tiled:
            counter, condition = "index", "inside"
        elif outer:
            counter, condition = "row", "rows"
        else:
            counter, condition = f"column_{space.name}" if len(self.spaces) > 1 else "column", self._columns(space)
        if not outer:
            count = f"({count})[None, :]" if not count.startswith("tl.arange") else f"{count}[None, :]"
        lines = [f"{counter} = {count}"]
        total = " * ".join(f"{label}[{index}]" for index in range(len(names))) or "1"
        lines.append(f"{condition} = {counter} < {total}")
        for index in reversed(range(len(names))):
            inner = " * ".join(f"{label}[{each}]" for each in range(index + 1, len(names)))
            text = counter if not inner else f"{counter} // ({inner})" if " * " in inner else f"{counter} // {inner}"
            if index:
                text = f"{text} % {label}[{index}]"
            lines.append(f"{names[index]} = {text}")
        return lines


def _atom(text: str) -> str:
    return text if re.fullmatch(r"[\w.]+(\[\w+\])?", text) else f"({text})"


def planned(outputs: Sequence[Output], name: str) -> list[Code]:
    """The kernels that compute these outputs, in the order in which they must run. Raises Unsupported."""
    left = list(outputs)
    names = Names(taken=[each.tensor for each in outputs])
    held: set[int] = set()
    while True:
        try:
            return _kernels(left, name)
        except NeedsMemory as needed:
            if id(needed.value) in held or len(held) > MOST_TEMPORARIES:
                raise Unsupported("reductions that need each other along the same rows") from None
            held.add(id(needed.value))
            place = next(index for index, each in enumerate(left) if _needs(each.value, needed.value))
            left.insert(place, Output(names.free(f"{needed.value.name}_held"), needed.value))


def _needs(value: Value, other: Value) -> bool:
    return any(each is other for each in below(value))


def _reduces(value: Value) -> bool:
    return any(isinstance(each, Reduction) for each in below(value))


def _kernels(outputs: Sequence[Output], name: str) -> list[Code]:
    """One kernel after the other, each for as many outputs as walk the same variables."""
    codes: list[Code] = []
    left, stored = list(outputs), dict[int, Stored]()
    while left:
        title = f"{name}_{len(codes) + 1}" if codes else name
        group, others = [left[0]], left[1:]
        code = _written(group, title, stored)
        for each in others:
            waiting = [other for other in others if other is not each and other not in group]
            if any(_needs(each.value, other.value) and _reduces(other.value) for other in waiting):
                continue
            try:
                code = _written([*group, each], title, stored)
            except (_Apart, NeedsMemory):
                continue
            group.append(each)
        codes.append(code)
        left = [each for each in left if each not in group]
        for each in group:
            stored[id(each.value)] = Stored(each.value.shape, each.value.dtype, each.tensor, name=each.tensor)
    return codes


class _Apart(Exception):
    """These outputs do not walk the same variables."""


def _written(outputs: list[Output], name: str, stored: dict[int, Stored]) -> Code:
    splits: dict[str, Size] = {}
    for _ in range(MOST_SPLITS):
        try:
            return _Kernel(outputs, name, splits, stored).code()
        except Split as found:
            splits[found.variable] = found.inner
    raise Unsupported("views that take dimensions apart again and again")


class _Kernel:
    """Writes the kernel of some outputs with given splits of variables."""

    def __init__(self, outputs: list[Output], name: str, splits: dict[str, Size], stored: dict[int, Stored]) -> None:
        self.outputs, self.name, self.splits, self.stored = outputs, name, splits, stored

    def code(self) -> Code:
        outer = self._outer_axes()
        looped = self._longest(outer) > MOST_COLUMNS
        writer = KernelWriter(f"{self.name}_kernel", self.splits, self.stored, looped)
        first = max(self.outputs, key=lambda each: len(each.value.shape)).value
        whole = [size for size in first.shape]
        axes = [axis for axis, size in enumerate(whole) if not size.is_one]
        shared = [axis for axis in axes if outer is None or axis in outer]
        places: dict[int, Coordinate] = {
            axis: writer.variable(writer.outer, f"i{axis}", whole[axis]) for axis in shared
        }
        writer.tiled = outer is not None
        targets: list[tuple[Output, Coordinates, Space | None]] = []
        for each in self.outputs:
            shape = each.value.shape
            lengths = [size.text for size in shape if not size.is_one]
            rest = [axis for axis in axes if axis not in shared]
            if lengths == [whole[axis].text for axis in axes]:
                walked: dict[int, Coordinate] = dict(places)
                space = None
                if rest:
                    space, found = writer.space_of(tuple(whole[axis] for axis in rest))
                    walked |= dict(zip(rest, found))
                order = iter(axes)
            elif lengths == [whole[axis].text for axis in shared]:
                walked, space, order = dict(places), None, iter(shared)
            else:
                raise _Apart
            targets.append((each, tuple(ORIGIN if size.is_one else walked[next(order)] for size in shape), space))
        # spaces of all reductions must be known before anything is written
        for each, where, _ in targets:
            self._open_spaces(writer, each.value, where)
        for each, where, space in targets:
            self._write(writer, each, where, space)
        return self._finished(writer)

    def _outer_axes(self) -> set[int] | None:
        """Which axes of the largest output programs share out; None if there is no reduction: all of them."""
        first = max(self.outputs, key=lambda each: len(each.value.shape))
        probe = KernelWriter("probe", self.splits, self.stored, False)
        shape = first.value.shape
        places = tuple(probe.variable(probe.outer, f"i{axis}", size) for axis, size in enumerate(shape))
        by_variable = {name: axis for axis, place in enumerate(places) for name in place.variables}
        needed: set[int] = set()
        reductions = 0
        for each in self.outputs:
            where = places
            if len(each.value.shape) != len(shape) or any(
                a.text != b.text for a, b in zip(each.value.shape, shape) if not a.is_one
            ):
                lengths = [size.text for size in each.value.shape if not size.is_one]
                axes = [axis for axis, size in enumerate(shape) if not size.is_one]
                found: list[Coordinate] = []
                left = list(axes)
                for size in each.value.shape:
                    if size.is_one:
                        found.append(ORIGIN)
                        continue
                    while left and shape[left[0]].text != size.text:
                        left.pop(0)
                    if not left:
                        raise _Apart
                    axis = left.pop(0)
                    found.append(places[axis])
                    if len(lengths) != len(axes):
                        needed.add(axis)
                where = tuple(found)
            for _, kept in probe.probe(each.value, where):
                reductions += 1
                needed |= {by_variable[name] for name in variables(kept) if name in by_variable}
        if not reductions:
            if needed and any(
                len([s for s in each.value.shape if not s.is_one]) != len([s for s in shape if not s.is_one])
                for each in self.outputs
            ):
                raise _Apart
            return None
        return needed

    def _longest(self, outer: set[int] | None) -> int:
        if outer is None:
            return 1
        longest = 1
        for each in self.outputs:
            for value in below(each.value):
                if isinstance(value, Reduction):
                    length = 1
                    for size in value.reduced:
                        length *= size.value
                    longest = max(longest, length)
            length = 1
            for axis, size in enumerate(each.value.shape):
                if axis not in outer:
                    length *= size.value
            longest = max(longest, length)
        return longest

    def _open_spaces(self, writer: KernelWriter, value: Value, places: Coordinates) -> None:
        for reduction, kept in writer.probe(value, places):
            _, walked = writer.space_of(reduction.reduced)
            self._open_spaces(writer, reduction.operand, reduction.inside(kept, walked))

    def _write(self, writer: KernelWriter, output: Output, places: Coordinates, space: Space | None) -> None:
        for reduction, kept in writer.probe(output.value, places):
            writer.reduce(reduction, kept, "")
        if space is not None and writer.looped:
            writer._open(space)
        code = writer.element(output.value, places)
        access = writer.access(output.tensor, output.value.shape, places)
        condition = writer.mask(variables(places))
        dtype = writer.dtype(output.value.dtype)
        if output.tensor in writer.tensors:
            dtype = f"{output.tensor}_ptr.dtype.element_ty"
        constant = isinstance(output.value, Number | PassedNumber) or _is_number(code) or output.value.dtype.is_bool
        stored = code if constant else f"{_atom(code)}.to({dtype})"
        address = writer.address(access)
        if not variables(places):
            # a single element: only the first row or index is inside
            address += " + row" if writer.tiled else " + index"
            condition = "rows" if writer.tiled else "inside"
        writer.lines.append(f"{writer.indent}tl.store({address}, {stored}, mask={condition})")
        if space is not None and writer.looped:
            writer._close()

    def _finished(self, writer: KernelWriter) -> Code:
        tiled = writer.tiled
        head: list[str] = []
        block = "ROWS" if tiled else "BLOCK"
        count = f"tl.program_id(0).to(INDEX) * {block} + tl.arange(0, {block})"
        if tiled:
            count = f"({count})[:, None]"
        head += writer._space_lines(writer.outer, count)
        if not writer.looped:
            for space in writer.spaces:
                columns = f"COLUMNS_{space.name.upper()}" if len(writer.spaces) > 1 else "COLUMNS"
                head += writer._space_lines(space, f"tl.arange(0, {columns})")
        constants = [*(["OUTER"] if True else []), *(space.name.upper() for space in writer.spaces)]
        labels = [each.label for each in writer.accesses.values()]
        tiles = (
            ["ROWS", *(f"COLUMNS_{s.name.upper()}" if len(writer.spaces) > 1 else "COLUMNS" for s in writer.spaces)]
            if tiled
            else ["BLOCK"]
        )
        names = [*constants, *labels, *writer.constants, "INDEX", *tiles]
        parameters = [f"{each}_ptr" for each in writer.tensors] + [f"{each}: tl.constexpr" for each in names]
        lines = ["@triton.jit", f"def {writer.name}("]
        line = "    "
        for each in parameters:
            if len(line) + len(each) + 2 > 116:
                lines.append(line.rstrip())
                line = "    "
            line += f"{each}, "
        lines += [line.rstrip(), "):  # fmt: skip"]
        body = [f"    {each}" for each in head] + writer.lines
        return Code(
            writer.name, "\n".join([*lines, *body]), list(writer.tensors), writer.outer, writer.spaces,
            list(writer.accesses.values()), dict(writer.constants), set(writer.pinned), self.outputs, writer.looped,
            writer.tiled,
        )  # fmt: skip


def _is_number(code: str) -> bool:
    try:
        float(code)
    except ValueError:
        return False
    return True
