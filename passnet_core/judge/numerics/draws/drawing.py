"""What all input draws have in common: what is asked of one, random numbers, and what is known of an input."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias

import torch

from passnet_core.errors import BadInput
from passnet_core.judge.protocol.reference_bench import PLAIN_ROLE, InputRole
from passnet_core.records import TensorSpec

RECORDED_SPREAD = 0.2
RECORDED_LIMIT = 100.0
"""PassNet replays a float input as randn * std * 0.2 + mean, clamped to the recorded range and to ±RECORDED_LIMIT."""
WIDE = 8.0
"""How much wider than typical inputs wide ones are."""
PARAMETER_SPREAD = 0.1
LEAST_VARIANCE = 1e-3

FAINT = 1e-3
"""The size of values that show the eps of a normalisation: about the square root of a usual eps."""


@dataclass(frozen=True)
class AskedInput:
    """One input of one draw. limit: what it stays below if it is an index. scale: multiplies what makes the inputs of
    large draws large."""

    spec: TensorSpec
    shape: tuple[int, ...]
    turn: int
    scale: float
    role: InputRole
    limit: int | None
    generator: torch.Generator


@dataclass
class AskedFloats:
    """A float input of a draw. noise: normal, of spread 1, in float64 for float64 and complex128, else in float32; the
    caller converts."""

    asked: AskedInput
    noise: torch.Tensor = field(init=False)

    def __post_init__(self) -> None:
        wide = self.asked.spec.dtype in ("float64", "complex128")
        self.noise = torch.randn(
            self.shape,
            generator=self.generator,
            dtype=torch.float64 if wide else torch.float32,
            device=self.generator.device,
        )

    @property
    def spec(self) -> TensorSpec:
        return self.asked.spec

    @property
    def shape(self) -> tuple[int, ...]:
        return self.asked.shape

    @property
    def role(self) -> InputRole:
        return self.asked.role

    @property
    def scale(self) -> float:
        return self.asked.scale

    @property
    def turn(self) -> int:
        return self.asked.turn

    @property
    def generator(self) -> torch.Generator:
        return self.asked.generator

    @property
    def kind(self) -> torch.dtype:
        return self.noise.dtype

    @property
    def mean(self) -> float:
        return self.spec.mean or 0.0

    @cached_property
    def parameter(self) -> bool:
        return is_parameter(self.spec, self.role)

    @cached_property
    def spread(self) -> float:
        return spread_of(self.spec, self.role)

    @cached_property
    def typical(self) -> torch.Tensor:
        return self.noise * self.spread + self.mean

    @property
    def unlimited(self) -> bool:
        """Whether no range was recorded."""
        return self.spec.low is None and self.spec.high is None

    def even(self) -> torch.Tensor:
        """Numbers from 0 to 1, one for each element."""
        return even(self.shape, self.generator, self.kind)

    def known(self, values: Sequence[float]) -> torch.Tensor:
        return torch.tensor(values, dtype=self.kind, device=self.generator.device)


@dataclass(frozen=True)
class Drawing:
    """Values of a float input. most: they are clamped to ±most, besides to the recorded range. least: then none is
    smaller."""

    values: torch.Tensor
    most: float = RECORDED_LIMIT * WIDE
    least: float = -math.inf


@dataclass(frozen=True)
class GraphInputs:
    """The inputs of a graph whose content was not recorded, by what they hold."""

    floats: tuple[tuple[TensorSpec, InputRole], ...]
    integers: tuple[InputRole, ...]
    booleans: int

    @property
    def active(self) -> list[InputRole]:
        """Of floats that are no parameters."""
        return [role for spec, role in self.floats if not is_parameter(spec, role)]


Floats: TypeAlias = Callable[[AskedFloats], Drawing | None]
Integers: TypeAlias = Callable[[AskedInput], torch.Tensor]
Booleans: TypeAlias = Callable[[torch.Tensor, AskedInput], torch.Tensor]


@dataclass(frozen=True)
class InputDraw:
    """A way to draw inputs. Where it says nothing of an input, that is typical.

    floats: draws activations; None, or a result of None: they are typical. parameters: the same for parameters of a
    model. variance: for variances, which stay above 0. integers, booleans: draw these; booleans get typical ones. fits:
    whether it differs from typical inputs for a graph. large: values may be so large that a computation overflows.
    defined: it says something only if eager returns no NaN for it."""

    name: str
    floats: Floats | None = None
    parameters: Floats | None = None
    variance: Floats | None = None
    integers: Integers | None = None
    booleans: Booleans | None = None
    fits: Callable[[GraphInputs], bool] = lambda inputs: True
    large: bool = False
    defined: bool = False


# --- random numbers --------------------------------------------------------------------------------------------------


def even(shape: tuple[int, ...], generator: torch.Generator, dtype: torch.dtype | None = None) -> torch.Tensor:
    """Numbers from 0 to 1."""
    return torch.rand(shape, generator=generator, dtype=dtype, device=generator.device)


def wholes(low: int, high: int, shape: tuple[int, ...], generator: torch.Generator) -> torch.Tensor:
    """Whole numbers from low to high, both included."""
    return torch.randint(low, high + 1, shape, generator=generator, device=generator.device)


def some_of(values: torch.Tensor, shape: tuple[int, ...], generator: torch.Generator) -> torch.Tensor:
    return values[wholes(0, values.numel() - 1, shape, generator)]


def shuffled(count: int, generator: torch.Generator) -> torch.Tensor:
    """The numbers below this one in random order."""
    return even((count,), generator).argsort()


def mixed(
    values: torch.Tensor, others: torch.Tensor | Sequence[float], share: float, generator: torch.Generator
) -> torch.Tensor:
    """Replace about this share of the values by some of the others."""
    known = torch.as_tensor(others, dtype=values.dtype, device=values.device)
    some = some_of(known, values.shape, generator)
    return torch.where(even(values.shape, generator) < share, some, values)


def with_equal_rows(values: torch.Tensor, none: float, every: float, generator: torch.Generator) -> torch.Tensor:
    """Set a third of the rows to none throughout, and a third to every; a single row to one of them."""
    if not values.numel():
        return values
    rows = (*values.shape[:-1], 1) if values.dim() else ()
    count = math.prod(rows)
    # in random order, but of each sort as many as possible: there may be few rows
    sorts = torch.arange(count, device=values.device) % 3 if count > 1 else torch.zeros(1, device=values.device)
    order = shuffled(count, generator)
    chosen = (sorts[order] if count > 1 else sorts).reshape(rows)
    return torch.where(chosen == 0, none, torch.where(chosen == 1, every, values)).to(values.dtype)


def impulses(shape: tuple[int, ...], generator: torch.Generator) -> torch.Tensor:
    """Zeros with one impulse of 1, and along each axis a second one of -2 in another position."""
    values = torch.zeros(shape, device=generator.device)
    if not values.numel():
        return values
    place = [int(wholes(0, size - 1, (), generator)) for size in shape]
    values[tuple(place)] = 1.0
    for axis, size in enumerate(shape):
        beside = list(place)
        step = int(wholes(1, max(size - 1, 1), (), generator))
        beside[axis] = (place[axis] + step) % size
        values[tuple(beside)] = -2.0 if beside != place else 1.0
    return values


def variances(asked: AskedFloats, widened: float = 1.0) -> Drawing:
    """Variances stay above 0: no draw flips their sign or sets them to 0, only their size varies."""
    centre = asked.mean if asked.mean > 0 else 1.0
    return Drawing(centre * torch.exp(asked.noise * 0.5) * widened, math.inf, LEAST_VARIANCE)


# --- integers --------------------------------------------------------------------------------------------------------


def whole_range(spec: TensorSpec, below: int | None) -> tuple[int, int]:
    """The recorded range of integers, cut below the size of the indexed axis; 0 to 1 if neither is known."""
    info = torch.iinfo(dtype_of(spec))
    known = spec.low is not None and spec.high is not None
    low = max(int(spec.low), info.min) if known and spec.low is not None else 0
    high = min(int(spec.high), info.max) if known and spec.high is not None else 1
    if below is not None:
        high = max(min(high if known else below - 1, below - 1), 0)
    return min(low, high), high


def typical_integers(asked: AskedInput) -> torch.Tensor:
    """Evenly from the recorded range."""
    return wholes(*whole_range(asked.spec, asked.limit), asked.shape, asked.generator)


def whole_marks(role: InputRole, low: int, high: int) -> list[int]:
    """The whole numbers in this range at which results change."""
    return [int(mark) for mark in role.marks if low <= mark <= high and mark == int(mark)]


# --- what is known of an input ---------------------------------------------------------------------------------------


def dtype_of(spec: TensorSpec) -> torch.dtype:
    dtype = getattr(torch, spec.dtype, None)
    if not isinstance(dtype, torch.dtype):
        raise BadInput(f"Input {spec.name!r} has the dtype {spec.dtype!r}, which this torch does not know.")
    return dtype


def within(values: torch.Tensor, spec: TensorSpec, limit: float) -> torch.Tensor:
    """The values clamped to ±limit and to the recorded range."""
    low = max(-limit, spec.low if spec.low is not None else -limit)
    high = min(limit, spec.high if spec.high is not None else limit)
    return values.clamp(min=low, max=max(low, high))


def spread_of(spec: TensorSpec, role: InputRole) -> float:
    """The recorded spread, 1 if there is none. A spread of 0 is replaced: by 1 for activations, by a tenth of
    max(|mean|, 1) for parameters."""
    std = 1.0 if spec.std is None else spec.std
    usual = PARAMETER_SPREAD * max(abs(spec.mean or 0.0), 1.0) if is_parameter(spec, role) else 1.0
    return std if std > 0 else usual


def is_parameter(spec: TensorSpec, role: InputRole) -> bool:
    """Whether the input is drawn like a parameter; where nothing is known about it, a vector is."""
    return role.parameter or spec.is_of_a_module or (not spec.original_name and len(spec.shape) <= 1)


def faint_sizes(spec: TensorSpec, role: InputRole) -> tuple[float, ...]:
    """Sizes at which an eps of the graph matters, from small to large: about its square root if it is added to a
    variance, about itself if it bounds a norm; also FAINT. Without those that the dtype cannot hold."""
    info = torch.finfo(dtype_of(spec))
    known = {FAINT, *role.epsilons, *map(math.sqrt, role.epsilons)}
    return tuple(sorted(size for size in known if size >= info.tiny * info.eps * 8))


def normalised(inputs: GraphInputs) -> bool:
    """Whether there are activations, or variances, whose size an eps may matter to."""
    return bool(inputs.active) or any(role.variance for _, role in inputs.floats)


def graph_inputs(specs: Sequence[TensorSpec], roles: Mapping[str, InputRole]) -> GraphInputs:
    known = [(spec, roles.get(spec.name, PLAIN_ROLE)) for spec in specs if spec.data is None]
    tensors = [(spec, role) for spec, role in known if not role.number]
    return GraphInputs(
        tuple((spec, role) for spec, role in tensors if dtype_of(spec).is_floating_point),
        tuple(role for spec, role in tensors if "int" in spec.dtype),
        sum(spec.dtype == "bool" for spec, _ in tensors),
    )
