"""Sums of products as products of matrices, in tiles.

A sum of products of two factors is a product of matrices, whatever the operation is called: rows are the variables that
only the first factor depends on, columns those that only the second one does, and what both depend on is a batch. So
matmul, linear, einsum and convolutions are all one kernel, and only where elements are read differs. What follows the
sum is computed on the tile before it is stored."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from passnet_core.solvers.rules.coordinates import Coordinate, Coordinates, Split, replaced, variables
from passnet_core.solvers.rules.dtypes import DType
from passnet_core.solvers.rules.kernels import (
    MOST_SPLITS,
    Code,
    KernelWriter,
    NeedsMemory,
    Output,
    Space,
    atom,
    counted,
    same_sizes,
    with_ones,
    with_parameters,
)
from passnet_core.solvers.rules.sizes import Size, aligned, product
from passnet_core.solvers.rules.values import (
    Cast,
    Chosen,
    Copied,
    Number,
    Pointwise,
    Reduction,
    Stored,
    Value,
    View,
    broadcast_places,
)

LEAST = 16
"""Rows, columns and terms of a sum from which a product of matrices gains: tl.dot takes no smaller tiles."""

GROUP = 8
"""Rows of tiles that neighbouring programs share, so that they find columns in the L2 cache."""


@dataclass
class ProductCode(Code):
    """A kernel that computes a product of matrices. dtype: of its operands, as Python for the host.

    spaces: rows, columns, and what is summed over. outer: the batch."""

    dtype: str

    @property
    def loads(self) -> int:
        """How many tiles it loads for each step of the sum: two, if both factors are tensors."""
        return self.text.partition("tl.dot(")[0].partition("for start in ")[2].count("tl.load(")


@dataclass(frozen=True)
class Lengths:
    """The sizes of a product of matrices."""

    rows: Size
    columns: Size
    terms: Size

    @property
    def gains(self) -> bool:
        """Whether tiles are better than a row for each element, in one of the subgraphs at least."""
        return any(min(each) >= LEAST for each in aligned(self.rows, self.columns, self.terms))


def product_kernel(
    outputs: Sequence[Output], name: str, splits: dict[str, Size], stored: dict[int, Stored]
) -> ProductCode | None:
    """The kernel of outputs that are a large product of matrices, or are computed from its elements.

    None if there is no such product. Raises NeedsMemory if it must be stored before, and Split."""
    for value in uncomputed(outputs, stored):
        if isinstance(value, Reduction) and (lengths := _lengths(value, stored)) is not None and lengths.gains:
            return _ProductKernel(outputs, name, splits, stored, value, lengths).code()
    return None


def uncomputed(outputs: Sequence[Output], stored: dict[int, Stored]) -> Iterator[Value]:
    """The values that these are computed from, each once, without those that kernels before have stored."""
    seen = set(stored)
    left = [each.value for each in reversed(outputs)]
    while left:
        found = left.pop()
        if id(found) not in seen:
            seen.add(id(found))
            yield found
            left.extend(reversed(found.parts))


# --- recognition ---

Placed = tuple[Value, Coordinates]


def _factors(writer: KernelWriter, value: Reduction, kept: Coordinates, walked: Coordinates) -> list[Placed]:
    """The two factors of a sum of products, with the places of their elements; none if it is something else."""
    factors, places = value.operand, value.inside(kept, walked)
    if value.kind != "sum" or not value.dtype.is_float or not factors.dtype.is_float or factors.dtype.is_wide:
        return []
    while id(factors) not in writer.stored:
        match factors:
            case View(operand=operand, inside=inside):
                places = inside(writer, places)
            case Copied(operand=operand):
                pass
            case Cast(operand=operand) if _widens(factors):
                pass
            # a product that eager rounds is none of those that tl.dot sums up
            case Pointwise(form="{0} * {1}", operands=both) if factors.exact or not factors.dtype.rounds:
                return [(each, broadcast_places(each.shape, factors.shape, places)) for each in both]
            case _:
                return []
        factors = operand
    return []


def _widens(value: Cast) -> bool:
    """Whether it only makes a float wider, which loses nothing."""
    before, after = value.operand.dtype, value.dtype
    return before.is_float and not before.is_wide and after.name == "float32" and not after.source


class _Reading(KernelWriter):
    """Writes nothing, but collects the variables that elements depend on."""

    def __init__(self, splits: dict[str, Size], stored: dict[int, Stored]) -> None:
        super().__init__("reading", splits, stored, False)
        self.reached: list[tuple[Reduction, Coordinates]] = []
        self.used: set[str] = set()

    def load(self, value: Stored, places: Coordinates, mask: str) -> str:
        self.used |= variables(places)
        return super().load(value, places, mask)

    def place(self, place: Coordinate) -> str:
        self.used |= place.variables
        return super().place(place)

    __call__ = place

    def variables_of(self, factor: Placed) -> set[str]:
        """The variables that a factor's element depends on. Raises NeedsMemory if it needs a reduction."""
        self.used = set()
        self.element(*factor)
        for reduction, _ in self.reached:
            raise NeedsMemory(reduction)
        return self.used


@dataclass(frozen=True)
class _Sides:
    """The variables of a product: of a batch, of rows, of columns, and of the sums."""

    batch: dict[str, Size]
    rows: dict[str, Size]
    columns: dict[str, Size]
    terms: dict[str, Size]

    @property
    def lengths(self) -> Lengths:
        return Lengths(*(product(tuple(each.values())) for each in (self.rows, self.columns, self.terms)))


def _sides(
    value: Reduction, kept: Coordinates, sizes: dict[str, Size], splits: dict[str, Size], stored: dict[int, Stored]
) -> _Sides | None:
    """Which variables are rows and which are columns of a sum whose element is at these places; None if it is no
    product. Raises Split and NeedsMemory."""
    reading = _Reading(splits, stored)
    terms = Space("r", {})
    walked = tuple(reading.variable(terms, f"r{axis}", size) for axis, size in enumerate(value.reduced))
    factors = _factors(reading, value, kept, walked)
    if not factors:
        return None
    one, other = map(reading.variables_of, factors)
    if not terms.sizes.keys() <= one & other or not sizes.keys() <= one | other:
        return None
    return _Sides(
        {name: size for name, size in sizes.items() if name in one & other},
        {name: size for name, size in sizes.items() if name not in other},
        {name: size for name, size in sizes.items() if name not in one},
        terms.sizes,
    )


def _lengths(value: Reduction, stored: dict[int, Stored]) -> Lengths | None:
    """The sizes of a sum as a product of matrices; None if it is none."""
    splits: dict[str, Size] = {}
    for _ in range(MOST_SPLITS):
        writer, space = KernelWriter("lengths", splits, stored, False), Space("all", {})
        kept = tuple(writer.variable(space, f"i{axis}", size) for axis, size in enumerate(value.shape))
        try:
            found = _sides(value, kept, space.sizes, splits, stored)
        except Split as split:
            splits[split.variable] = split.inner
            continue
        except NeedsMemory:
            return None
        return None if found is None else found.lengths
    return None


# --- the kernel ---


_LOCAL = (
    "program",
    "batch",
    "tile_m",
    "tile_n",
    "column",
    "columns",
    "start",
    "term",
    "across",
    "down",
    "inside_r",
    "inside_s",
)
"""Names that the kernel of a product has of its own."""


class _TileWriter(KernelWriter):
    """Writes a kernel whose programs compute a tile each. Variables of the batch are numbers, those of rows lie in a
    column, those of columns in a row, and those of the sums in a row for the first factor (r) and in a column for the
    second one (s)."""

    def __init__(self, name: str, splits: dict[str, Size], stored: dict[int, Stored], sides: _Sides) -> None:
        super().__init__(name, splits, stored, False)
        self.outer.sizes.update(sides.batch)
        second = {_beside(each): size for each, size in sides.terms.items()}
        self.spaces = [
            Space("rows", sides.rows),
            Space("columns", sides.columns),
            Space("r", sides.terms),
            Space("s", second),
        ]
        self.names.taken |= {*_LOCAL, *(name for space in (self.outer, *self.spaces) for name in space.sizes)}

    def _columns(self, space: Space) -> str:
        return space.name if space.name in ("rows", "columns") else f"inside_{space.name}"

    def mask(self, names: Iterable[str], more: str = "") -> str:
        # every program has a batch, so that variables of it are always inside
        used = set(names)
        found = [self._columns(space) for space in self.spaces if used & space.sizes.keys()]
        return " & ".join([*found, *([more] if more else [])])

    def factor(self, value: Value, places: Coordinates, spaces: Sequence[Space], mask: str = "") -> tuple[str, DType]:
        """The code of a tile of a factor, in the narrowest dtype that loses nothing, and 0 outside."""
        read = self._read(value, places, spaces, mask)
        if read is not None:
            return read
        code = self.element(value, places, mask)
        inside = " & ".join(map(self._columns, spaces))
        code = self.put(value.name, f"tl.where({inside}, {code}, 0.0)")
        return (f"{code}.to({self.dtype(value.dtype)})" if value.dtype.rounds else code), value.dtype

    def _read(self, value: Value, places: Coordinates, spaces: Sequence[Space], mask: str) -> tuple[str, DType] | None:
        """The tile as one load, which the compiler can have on its way while it multiplies; None if it is more."""
        if (known := self.stored.get(id(value))) is not None:
            value = known
        match value:
            case Stored():
                if not all(variables(places) & space.sizes.keys() for space in spaces):
                    return None
                access = self.access(value.tensor, value, places)
                condition = self.mask(variables(places), mask)
                text = f"tl.load({self.address(access)}, mask={condition}, other=0.0)"
                return self.put(value.name, text), value.dtype
            case View(operand=operand, inside=inside):
                return self._read(operand, inside(self, places), spaces, mask)
            case Copied(operand=operand):
                return self._read(operand, places, spaces, mask)
            case Cast(operand=operand) if _widens(value):
                return self._read(operand, places, spaces, mask)
            case Chosen(alternatives=((test, operand, inside), (None, Number(text="0.0"), _))) if test and not mask:
                chosen = self.put("chosen", test(self, places))
                return self._read(operand, inside(self, places), spaces, chosen)
        return None


def _beside(name: str) -> str:
    """The variable of the second factor that is this one of the first."""
    return f"s{name[1:]}"


class _ProductKernel:
    """Writes the kernel of outputs that are computed from the elements of a product."""

    def __init__(
        self, outputs: Sequence[Output], name: str, splits: dict[str, Size], stored: dict[int, Stored],
        value: Reduction, lengths: Lengths,
    ) -> None:  # fmt: skip
        self.outputs, self.name, self.splits, self.stored = outputs, name, splits, stored
        self.value, self.lengths = value, lengths

    def code(self) -> ProductCode:
        targets, kept, sizes = self._targets()
        sides = _sides(self.value, kept, sizes, self.splits, self.stored)
        if sides is None or not _alike(sides.lengths, self.lengths):
            raise NeedsMemory(self.value)
        writer = _TileWriter(f"{self.name}_kernel", self.splits, self.stored, sides)
        dtype = self._summed(writer, kept)
        for output, places in targets:
            self._write(writer, output, places)
        return self._finished(writer, dtype)

    def _targets(self) -> tuple[list[tuple[Output, Coordinates]], Coordinates, dict[str, Size]]:
        """The outputs with the places of their elements, the places of the product, and the variables of all."""
        writer, space = KernelWriter("probe", self.splits, self.stored, False), Space("all", {})
        whole = self.outputs[0].value.shape
        places = tuple(writer.variable(space, f"i{axis}", size) for axis, size in enumerate(whole))
        writer.outer.sizes.update(space.sizes)
        sized = [(size, place) for size, place in zip(whole, places) if not size.is_one]
        targets: list[tuple[Output, Coordinates]] = []
        found: set[tuple[int, Coordinates]] = set()
        for each in self.outputs:
            if not same_sizes([size for size in each.value.shape if not size.is_one], [size for size, _ in sized]):
                raise NeedsMemory(self.value)
            where = with_ones((place for _, place in sized), each.value.shape)
            targets.append((each, where))
            reached = writer.probe(each.value, where)
            found |= {(id(value), kept) for value, kept in reached} or {(0, ())}
        # another reduction, or the product at several places: it must be known before
        if len(found) != 1 or not any(key == id(self.value) for key, _ in found):
            raise NeedsMemory(self.value)
        ((_, kept),) = found
        return targets, kept, space.sizes

    def _summed(self, writer: _TileWriter, kept: Coordinates) -> str:
        """Write the loop that sums up products of tiles. Returns the dtype of the factors for the host."""
        rows, columns, first, second = writer.spaces
        walked = tuple(
            writer.variable(Space("r", {}), f"r{axis}", size) for axis, size in enumerate(self.value.reduced)
        )
        beside = {name: Coordinate.variable(_beside(name), size) for name, size in first.sizes.items()}
        total = writer.names.free("total")
        writer.lines.append(f"    {total} = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)")
        writer.lines.append(f"    for start in range(0, {counted('R', first.sizes)}, BLOCK_K):")
        writer.indent = " " * 8
        writer.depth.append("loop")
        writer.lines += [
            f"{writer.indent}{line}"
            for line in (
                "term = start + tl.arange(0, BLOCK_K)",
                *writer.counted_lines(first, "across", "inside_r", "term[None, :].to(INDEX)", "R"),
                *writer.counted_lines(second, "down", "inside_s", "term[:, None].to(INDEX)", "R"),
            )
        ]
        try:
            one, _ = _factors(writer, self.value, kept, walked)
            left, dtype = writer.factor(*one, (rows, first))
            _, other = _factors(writer, self.value, kept, tuple(replaced(each, beside) for each in walked))
            right, own = writer.factor(*other, (second, columns))
        except Split as split:
            if split.variable not in second.sizes:
                raise
            raise Split(f"r{split.variable[1:]}", split.inner) from None
        if dtype != own:
            left, right = (f"{atom(each)}.to(tl.float32)" for each in (left, right))
        writer.lines.append(f'{writer.indent}{total} = tl.dot({left}, {right}, {total}, input_precision="ieee")')
        writer.indent = "    "
        writer.depth.pop()
        if self.value.dtype.rounds and not self.value.exact:
            total = writer.put(self.value.name, f"rounded({total}, {writer.dtype(self.value.dtype)})")
        writer.memory[("reduction", id(self.value), kept)] = total
        return dtype.host if dtype == own else "torch.float32"

    def _write(self, writer: _TileWriter, output: Output, places: Coordinates) -> None:
        code = writer.element(output.value, places)
        address = writer.address(writer.access(output.tensor, output.value, places))
        text = code if output.value.dtype.is_bool else f"{atom(code)}.to({output.tensor}_ptr.dtype.element_ty)"
        writer.lines.append(f"    tl.store({address}, {text}, mask=rows & columns)")

    def _finished(self, writer: _TileWriter, dtype: str) -> ProductCode:
        rows, columns, first, _ = writer.spaces
        head = ["program = tl.program_id(0)"]
        if writer.outer.sizes:
            head.append("batch = (program // (TILES_M * TILES_N)).to(INDEX)")
            head += writer.counted_lines(writer.outer, "batch", "", "", "OUTER")
            head.append("program = program % (TILES_M * TILES_N)")
        head += [
            "# programs that run at the same time share rows and columns in the cache",
            f"tile_m, tile_n = tl.swizzle2d(program // TILES_N, program % TILES_N, TILES_M, TILES_N, {GROUP})",
        ]
        tile = "(tile_{0} * BLOCK_{1} + tl.arange(0, BLOCK_{1})){2}.to(INDEX)"
        head += writer.counted_lines(rows, "row", "rows", tile.format("m", "M", "[:, None]"), "ROWS")
        head += writer.counted_lines(columns, "column", "columns", tile.format("n", "N", "[None, :]"), "COLUMNS")
        labels = [each.label for each in writer.accesses.values()]
        names = ["OUTER", "ROWS", "COLUMNS", "R", *labels, *writer.constants, "INDEX"]
        names += [f"BLOCK_{letter}" for letter in "MNK"] + ["TILES_M", "TILES_N"]
        lines = with_parameters(writer.name, writer.tensors, names)
        # for the host both factors walk the same variables
        same = {_beside(name): name for name in first.sizes}
        for each in writer.accesses.values():
            each.strides = {same.get(name, name): size for name, size in each.strides.items()}
        return ProductCode(
            writer.name, "\n".join([*lines, *(f"    {each}" for each in head), *writer.lines]), list(writer.tensors),
            writer.outer, [rows, columns, first], list(writer.accesses.values()), dict(writer.constants),
            {same.get(name, name) for name in writer.pinned}, list(self.outputs), looped=False,
            tiled=True, crossed=False, beside=False, dtype=dtype,
        )  # fmt: skip


def _alike(one: Lengths, other: Lengths) -> bool:
    return one.rows.seems(other.rows) and one.columns.seems(other.columns)
