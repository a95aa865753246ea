"""The code of one kernel.

The variables of a kernel are those that its programs share out (`outer`) and those that each program walks in one tile
(`spaces`: what reductions sum over, and the rest of the outputs' dimensions). A value that a reduction needs at places
that differ along the tile must be computed by a kernel of its own before."""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from passnet_core.graphs.spelling import Names
from passnet_core.solvers.rules.coordinates import (
    ORIGIN,
    Coordinate,
    Coordinates,
    Term,
    flattened,
    variables,
)
from passnet_core.solvers.rules.dtypes import DType
from passnet_core.solvers.rules.layouts import root_of
from passnet_core.solvers.rules.sizes import ONE, ZERO, Size, product
from passnet_core.solvers.rules.values import (
    ElementWriter,
    Gathered,
    Moment,
    Order,
    Reduction,
    Scan,
    Shape,
    Stored,
    Value,
    View,
    below,
)  # fmt: skip
from passnet_core.solvers.rules.walking import Lying, Walk

MOST_COLUMNS = 1 << 14
"""Rows up to this length are held in one tile; longer ones are walked in several."""

MOST_BESIDE = 1 << 10
"""The same of rows of which a tile must have several, since they are neighbours in memory."""

LOOPED = ("sum", "max", "min", "any", "all", "mean", "variance")
"""Reductions that can be taken over several tiles, one after the other."""
FOLDS = {"sum": "sum", "max": "max", "min": "min", "any": "max", "all": "min"}
"""The function of Triton for a reduction: truth values are numbers there."""
TRUTHS = {"any": "0", "all": "1"}
"""Reductions of truth values, with the one that changes no result."""


MOST_ADDED = {Order.LANES: 8188, Order.WARP: 1024} | {each: MOST_COLUMNS for each in Order if each.moments}
"""The longest row for which this order is taken. In the last of LANES, beyond 8160, eager shares a row out among warps:
those sums are right and not the same to the last bit."""

MOST_READ_TWICE = 8
"""From so many tensors and views an operand is computed twice, so that its moments can be taken in eager's order."""
MOST_SPLITS = 24
"""How often variables of a kernel are taken apart."""


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
    order: Order = Order.ANY
    """How a row of it is added up: then it is walked in tiles of that order, in a loop of its own."""

    @property
    def ordered(self) -> bool:
        return self.order is not Order.ANY

    @property
    def count(self) -> str:
        """Code of how many elements it walks."""
        return counted(self.name.upper(), self.sizes)

    @property
    def lanes(self) -> str:
        return f"{self.name}_lanes"

    @property
    def each(self) -> str:
        return f"{self.name}_each"

    @property
    def tiles(self) -> str:
        return f"{self.name}_tiles"

    @property
    def counts(self) -> tuple[str, ...]:
        """The constants of the loop: threads, elements of each at a time if they differ, and how often they go on."""
        return (self.lanes, *([self.each] if self.order.moments else []), self.tiles)


@dataclass
class Access:
    """A tensor that the kernel reads or writes. strides: by variable, then by other terms, as Python for the host.

    lying: what the strides are in the first subgraph."""

    tensor: str
    label: str
    strides: dict[str, Size]
    others: list[tuple[str, Size]]
    start: Size
    lying: Lying


@dataclass
class Output:
    """A value that a kernel writes into a tensor."""

    tensor: str
    value: Value
    held: bool = False
    """It is only written because reductions need it in memory."""


@dataclass
class Code:
    """A finished kernel. tensors: its pointers, in order. constants: name -> Python for the host.

    pinned: variables that must not be merged with others. crossed: its tiles have the spaces DOWN and ACROSS as sides,
    and each program has one of what is shared out besides. beside: there are tensors in which
    rows are neighbours in memory, and not the elements of a row."""

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
    crossed: bool
    beside: bool


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
        self.names = Names(
            taken=(
                "tl",
                "triton",
                "torch",
                "index",
                "inside",
                "row",
                "rows",
                "column",
                "columns",
                "tile",
                "rounded",
                "divided",
                "folded",
                "halved",
                "grown",
                "united",
            )
        )
        self.reached: list[tuple[Reduction, Coordinates]] | None = None
        self.sizes_used: dict[str, Size] = {}
        self.ordered = False
        """Whether sums are taken in eager's order where it is known."""
        self.followed = False
        """The same of moments."""
        self.depth: list[str] = []
        self.loops = 0
        self.tiled = False
        self.crossed = False
        self._made: list[tuple[Space, Shape, Coordinates]] = []

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

    def space_for(self, value: Reduction) -> tuple[Space, Coordinates]:
        """The space that walks what is reduced: one of its own if the order of a sum is to be eager's. A scan takes one
        that walks its row in order, be it as several variables."""
        if isinstance(value, Scan):
            for space, made, places in self._made:
                if not space.ordered and product(made).is_same(*value.reduced):
                    return space, (flattened(places, made),)
        return self.space_of(value.reduced, value.order if self.follows(value) else Order.ANY)

    def follows(self, value: Reduction) -> bool:
        """Whether this is computed in the order that eager has: along the last axes, if rows are short enough, and if
        what moments are taken of can be had twice."""
        if isinstance(value, Moment):
            return self._in_order(value) and (id(root_of(value.operand)) in self.stored or _is_cheap(value.operand))
        return value.kind == "sum" and self._in_order(value)

    def _in_order(self, value: Reduction) -> bool:
        if not (self.followed if isinstance(value, Moment) else self.ordered):
            return False
        axes = range(len(value.operand.shape) - len(value.axes), len(value.operand.shape))
        single = len(axes) == 1 or isinstance(value, Moment)
        return (
            single
            and value.axes == (*axes,)
            and 1 < max(product(value.reduced).values) <= MOST_ADDED.get(value.order, 0)
        )

    def space_of(self, sizes: Shape, order: Order = Order.ANY) -> tuple[Space, Coordinates]:
        """The space that walks these sizes; the same for the same sizes."""
        key = tuple(each for each in sizes if not each.is_one)
        for each, made, places in self._made:
            if each.order is order and same_sizes(key, made):
                return each, with_ones(places, sizes)
        alike = sum((each.order is Order.ANY) == (order is Order.ANY) for each, _, _ in self._made)
        space = Space(f"{'r' if order is Order.ANY else 's'}{alike or ''}", {}, order)
        self.spaces.append(space)
        places = tuple(self.variable(space, f"{space.name}{axis}", size) for axis, size in enumerate(key))
        self._made.append((space, key, places))
        return space, with_ones(places, sizes)

    def walk(self, walk: Walk, sizes: dict[str, Size]) -> None:
        """Share out variables in the order of a walk."""
        self.outer.sizes = {name: sizes[name] for name in walk.order}
        if walk.across:
            self.crossed = True
            sides = (("down", walk.down), ("across", walk.across))
            self.spaces = [Space(side, {name: sizes[name] for name in names}) for side, names in sides]

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
        summands = [(term.text, factor) for term, factor in place.terms]
        if place.start != ZERO or not summands:
            summands.append(("", place.start))
        pieces: list[str] = []
        for text, factor in summands:
            sign = ("- " if pieces else "-") if factor.value < 0 else ("+ " if pieces else "")
            by = -factor if factor.value < 0 else factor
            if not text:
                text = self.size(by)
            elif not by.is_one:
                text = f"{atom(text)} * {self.size(by)}"
            pieces.append(sign + text)
        return " ".join(pieces)

    __call__ = place

    def indirect(self, code: str, asked: Coordinates, bound: Size) -> Coordinate:
        """A coordinate that is an element of a tensor."""
        return Coordinate(((Term(code, variables(asked), bound, read=True), ONE),))

    # --- memory ---

    def access(self, tensor: str, value: Value, places: Coordinates) -> Access:
        """What the host must know to tell the kernel where an element of a tensor lies, which holds this value."""
        strides: dict[str, Size] = {}
        others: dict[str, Size] = {}
        start = ZERO
        for axis, place in enumerate(places):
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
            factors = [{term.text: factor.value for term, factor in place.terms if term.plain} for place in places]
            lying = Lying.of(value, factors)
            self.accesses[key] = Access(tensor, label, strides, list(others.items()), start, lying)
        return self.accesses[key]

    def address(self, access: Access) -> str:
        order = [*self.outer.sizes, *(name for space in self.spaces for name in space.sizes)]
        steps = [*(name for name in order if name in access.strides), *(atom(text) for text, _ in access.others)]
        pieces = [f"{access.tensor}_ptr", *(f"{text} * {access.label}[{at}]" for at, text in enumerate(steps))]
        if access.start != ZERO:
            pieces.append(f"{access.label}[{len(steps)}]")
        return " + ".join(pieces)

    def mask(self, names: Iterable[str], more: str = "") -> str:
        """The condition that these variables are inside of the tensors."""
        found = []
        used = set(names)
        if used & set(self.outer.sizes) and not self.crossed:
            found.append("rows" if self.tiled else "inside")
        found += [self._columns(space) for space in self.spaces if used & set(space.sizes)]
        return " & ".join([*found, *([more] if more else [])])

    def load(self, value: Stored, places: Coordinates, mask: str) -> str:
        if self.reached is not None:
            return "value"
        access = self.access(value.tensor, value, places)
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

    def require(self, value: Value) -> None:
        value = root_of(value)
        if not isinstance(value, Stored) and id(value) not in self.stored:
            raise NeedsMemory(value)

    def reduce(self, value: Reduction, places: Coordinates, mask: str) -> str:
        if isinstance(value, Moment) and not self.follows(value):
            if self._in_order(value) and not any(isinstance(each, Reduction) for each in below(value.operand)):
                raise NeedsMemory(root_of(value.operand))
            return self.element(value.otherwise, places, mask)
        there = not mask or all(place.below(size) for place, size in zip(places, value.kept(value.operand.shape)))
        if not there or any(place.read for place in places):
            # some rows must not be read, or programs would reduce other rows than their own
            raise NeedsMemory(value)
        if self.reached is not None:
            self.reached.append((value, places))
            return "value"
        key: tuple[object, ...] = ("reduction", id(value), places)
        if isinstance(value, Moment):
            key = _moment_key(value, value.kind, places)
        if key in self.memory:
            return self.memory[key]
        if variables(places) - set(self.outer.sizes):
            raise NeedsMemory(value)
        space, walked = self.space_for(value)
        inside = value.inside(places, walked)
        if self.depth:
            raise NeedsMemory(value)
        if isinstance(value, Moment):
            return self._moment(value, space, places, inside)
        loops = self.looped or space.ordered
        code = self._looped(value, space, inside) if loops else self._held(value, space, inside)
        if value.dtype.rounds and not value.exact:
            code = self.put(value.name, f"rounded({code}, {self.dtype(value.dtype)})")
        self.memory[key] = code
        return code

    def scan(self, value: Scan, places: Coordinates, mask: str) -> str:
        code = self.reduce(value, value.kept(places), mask)
        # a tile has its elements where its own row is walked, and nowhere else
        if self.reached is None and tuple(places[axis] for axis in value.axes) != self.space_for(value)[1]:
            raise NeedsMemory(value)
        return code

    def _columns(self, space: Space) -> str:
        """The condition that the variables of a space are inside of the tensors."""
        if self.crossed:
            return "rows" if space.name == "down" else "columns"
        return f"inside_{space.name}" if len(self.spaces) > 1 else "columns"

    def width(self, space: Space) -> str:
        """The constant that says how many columns a tile of the space has."""
        if space.ordered:
            each = f"{space.each.upper()} * " if space.order.moments else "4 * " if space.order is Order.LANES else ""
            return f"{each}{space.lanes.upper()}"
        return f"COLUMNS_{space.name.upper()}" if len(self.spaces) > 1 else "COLUMNS"

    def _held(self, value: Reduction, space: Space, inside: Coordinates) -> str:
        element = self.element(value.operand, inside, "")
        return self._fold(value, element, space)

    def _within(self, space: Space, element: str, otherwise: str) -> str:
        """The element inside of the tensors, and something else where nothing is to be reduced."""
        full = f"{self._columns(space)} & rows" if self.outer.sizes else self._columns(space)
        return f"tl.where({full}, {element}, {otherwise})"

    def _fold(self, value: Reduction, element: str, space: Space) -> str:
        work, kind = value.operand.dtype, value.kind
        match kind:
            case "sum":
                if work.is_bool or not (work.is_float or value.dtype.is_float):
                    element = f"{element}.to({value.dtype.kernel})"
                text = f"tl.sum({self._within(space, element, neutral(kind, value.dtype))}, 1)[:, None]"
            case "max" | "min":
                text = f"tl.{kind}({self._within(space, element, neutral(kind, work))}, 1)[:, None]"
            case "any" | "all":
                text = f"tl.{FOLDS[kind]}({self._within(space, element, TRUTHS[kind])}.to(tl.int32), 1)[:, None] != 0"
            case "argmax" | "argmin":
                worst = neutral(kind, work)
                if work.is_bool:
                    element, worst = f"{element}.to(tl.int32)", "-1" if kind == "argmax" else "2"
                text = f"tl.{kind}({self._within(space, element, worst)}, 1)[:, None].to(tl.int64)"
            case "prod":
                # Triton has products up to each place: the last one is that of all
                width = self.width(space)
                products = f"tl.cumprod({self._within(space, f'{element}.to({value.dtype.work})', '1')}, 1)"
                text = f"tl.sum(tl.where(tl.arange(0, {width})[None, :] == {width} - 1, {products}, 0), 1)[:, None]"
            case "cumsum":
                text = f"tl.cumsum({self._within(space, element, '0')}, 1, dtype={self.dtype(value.dtype)})"
            case "cumprod":
                text = f"tl.cumprod({self._within(space, element, '1')}, 1)"
            case _:
                raise Unsupported(f"a reduction of kind {kind}")
        return self.put(value.name, text)

    def _looped(self, value: Reduction, space: Space, inside: Coordinates) -> str:
        if isinstance(value, Scan):
            # the long rows may be those of what it adds up
            raise NeedsMemory(next((reduction for reduction, _ in self.probe(value.operand, inside)), value))
        self._settle(value.operand, inside)
        kind, work = value.kind, value.operand.dtype
        if kind not in LOOPED:
            raise Unsupported(f"{kind} over more than {MOST_COLUMNS} elements")
        total = self.names.free(f"{value.name}_parts")
        dtype = "tl.int32" if kind in TRUTHS else (value.dtype if kind == "sum" else work).work
        first = "0" if kind == "sum" else TRUTHS.get(kind) or neutral(kind, work)
        block = self.width(space)
        self.lines.append(f"{self.indent}{total} = tl.full((ROWS, {block}), {first}, {dtype})")
        self.open_loop(space)
        taken = self._within(space, self.element(value.operand, inside, ""), first)
        if kind == "sum":
            step = f"{total} + {taken}.to({dtype})"
        else:
            step = f"tl.{FOLDS[kind]}imum({total}, {taken}{f'.to({dtype})' if kind in TRUTHS else ''})"
        self.lines.append(f"{self.indent}{total} = {step}")
        self.close_loop()
        if space.order is Order.LANES:
            return self.put(value.name, f"folded({total}, {space.lanes.upper()}, {space.count} >= 128)")
        if space.order is Order.WARP:
            return self.put(value.name, f"halved({total}, {space.lanes.upper()})")
        return self.put(value.name, f"tl.{FOLDS[kind]}({total}, 1)[:, None]{' != 0' if kind in TRUTHS else ''}")

    def _moment(self, value: Moment, space: Space, places: Coordinates, inside: Coordinates) -> str:
        """Mean and variance of the operand's rows, of which the value is one."""
        self._settle(value.operand, inside)
        names = {kind: self.names.free(kind) for kind in ("mean", "variance")}
        grown, united = value.order.functions
        parts = [self.names.free(f"{each}_parts") for each in names.values()]
        sizes = f"{space.lanes.upper()}, {space.each.upper()}"
        nothing = f"tl.zeros((ROWS, {space.lanes.upper()}), {value.dtype.work})"
        self.lines += [f"{self.indent}{each} = {nothing}" for each in parts]
        self.open_loop(space)
        element = self.element(value.operand, inside, "")
        given = ", ".join([*parts, element, "tile", space.count, sizes])
        self.lines.append(f"{self.indent}{', '.join(parts)} = {grown}({given})")
        self.close_loop()
        self.lines.append(
            f"{self.indent}{', '.join(names.values())} = {united}({', '.join(parts)}, {space.count}, {sizes})"
        )
        for kind, name in names.items():
            self.memory[_moment_key(value, kind, places)] = name
        return names[value.kind]

    def open_loop(self, space: Space) -> None:
        """Begin a loop over a space, which is walked in several tiles."""
        block = self.width(space)
        if space.ordered:
            self.lines.append(f"{self.indent}for tile in tl.static_range({space.tiles.upper()}):")
            start = f"tile * {atom(block)}"
        else:
            self.lines.append(f"{self.indent}for start in range(0, {space.count}, {block}):")
            start = "start"
        self.indent += "    "
        self.depth.append(f"loop {self.loops}")
        self.loops += 1
        self.lines += [f"{self.indent}{line}" for line in self.space_lines(space, f"{start} + tl.arange(0, {block})")]

    def close_loop(self) -> None:
        """End the loop that was begun last."""
        self.indent = self.indent[:-4]
        self.depth.pop()

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

    def tile_lines(self) -> list[str]:
        """The variables of a kernel whose tiles have two sides."""
        down, across = self.spaces
        lines = ["tile = tl.program_id(0).to(INDEX)"]
        if self.outer.sizes:
            lines += self.space_lines(self.outer, "(tile // (TILES[0] * TILES[1]) + tl.arange(0, 1))[:, None]")
        row = "tile // TILES[1] % TILES[0] * ROWS"
        lines += self.space_lines(down, f"({row} + tl.arange(0, ROWS))[:, None]")
        return lines + self.space_lines(across, "(tile % TILES[1] * COLUMNS + tl.arange(0, COLUMNS))[None, :]")

    def space_lines(self, space: Space, count: str) -> list[str]:
        """The variables of a space, from one that counts through it."""
        label = space.name.upper()
        outer = space is self.outer
        if self.crossed:
            counter = "index" if outer else "row" if space.name == "down" else "column"
            condition = "" if outer else self._columns(space)
        elif outer and not self.tiled:
            counter, condition = "index", "inside"
        elif outer:
            counter, condition = "row", "rows"
        else:
            counter, condition = f"column_{space.name}" if len(self.spaces) > 1 else "column", self._columns(space)
        if not outer and not self.crossed:
            count = f"({count})[None, :].to(INDEX)" if " + " in count else f"{count}[None, :].to(INDEX)"
        return self.counted_lines(space, counter, condition, count, label)

    def counted_lines(self, space: Space, counter: str, condition: str, count: str, label: str) -> list[str]:
        """The variables of a space whose sizes have this label. condition, count: not written if they are empty."""
        names = list(space.sizes)
        lines = [f"{counter} = {count}"] if count else []
        if condition:
            lines.append(f"{condition} = {counter} < {counted(label, names)}")
        for index in reversed(range(len(names))):
            inner = " * ".join(f"{label}[{each}]" for each in range(index + 1, len(names)))
            text = counter if not inner else f"{counter} // ({inner})" if " * " in inner else f"{counter} // {inner}"
            if index:
                text = f"{text} % {label}[{index}]"
            lines.append(f"{names[index]} = {text}")
        return lines


def _moment_key(value: Moment, kind: str, places: Coordinates) -> tuple[object, ...]:
    """What a mean or variance is remembered by: the same for all of one operand."""
    return "moment", kind, id(value.operand), value.axes, value.order, places


def _is_cheap(value: Value) -> bool:
    """Whether computing an element twice takes little: it is not put together from many, as one of a window is."""
    return sum(isinstance(each, View | Stored | Gathered) for each in below(value)) <= MOST_READ_TWICE


def counted(label: str, names: Collection[str]) -> str:
    """Code of how many elements variables walk whose sizes have this label."""
    return " * ".join(f"{label}[{index}]" for index in range(len(names))) or "1"


def neutral(kind: str, dtype: DType) -> str:
    """Code of a number of this dtype that changes no result of a reduction."""
    if kind == "sum":
        return "0.0" if dtype.is_float else "0"
    if kind in ("any", "all"):
        return str(kind == "all")
    largest = kind.endswith("max")
    if dtype.is_float:
        return 'float("-inf")' if largest else 'float("inf")'
    if dtype.name == "uint8":
        return "0" if largest else "255"
    bits = {"int64": 63, "int32": 31, "int16": 15, "int8": 7}.get(dtype.name, 31)
    return str(-(2**bits)) if largest else str(2**bits - 1)


def with_parameters(name: str, tensors: Sequence[str], constants: Sequence[str]) -> list[str]:
    """The first lines of a kernel, up to its body."""
    parameters = [f"{each}_ptr" for each in tensors] + [f"{each}: tl.constexpr" for each in constants]
    lines = ["@triton.jit", f"def {name}("]
    line = "    "
    for each in parameters:
        if len(line) + len(each) + 2 > 116:
            lines.append(line.rstrip())
            line = "    "
        line += f"{each}, "
    return [*lines, line.rstrip(), "):  # fmt: skip"]


def with_ones(places: Iterable[Coordinate], sizes: Sequence[Size]) -> Coordinates:
    """Coordinates for all of these sizes, of which only those besides 1 have some: the origin for the others."""
    left = iter(places)
    return tuple(ORIGIN if size.is_one else next(left) for size in sizes)


def same_sizes(some: Sequence[Size], others: Sequence[Size]) -> bool:
    """Whether these are the same sizes, in the same order."""
    return len(some) == len(others) and all(one.is_same(other) for one, other in zip(some, others))


def atom(text: str) -> str:
    """Code as a factor or as what a method is called on: in parentheses, unless it is one word."""
    return text if re.fullmatch(r"[\w.]+(\[\w+\])?", text) else f"({text})"
