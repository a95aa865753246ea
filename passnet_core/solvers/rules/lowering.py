"""From the operations of a graph to Values: what each computes, where eager rounds, and which dtype it has."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from passnet_core.graphs.ir import DeviceLiteral, Graph, Listed, Node, NodeKind, Ref, Slice, Symbol
from passnet_core.graphs.vocabulary import operator_label
from passnet_core.solvers.rules.coordinates import ORIGIN, Coordinate, Coordinates, Term, flattened, parted, unflattened
from passnet_core.solvers.rules.dtypes import BOOL, FLOAT32, FLOATS, INT64, INTEGERS, DType, promoted, with_number
from passnet_core.solvers.rules.kernels import Unsupported
from passnet_core.solvers.rules.layouts import is_contiguous, strides_of
from passnet_core.solvers.rules.sizes import ONE, ZERO, Size, derived, product
from passnet_core.solvers.rules.values import (
    Cast,
    Chosen,
    Copied,
    Counted,
    ElementWriter,
    Gathered,
    Number,
    PassedNumber,
    Pointwise,
    Reduction,
    Shape,
    Stored,
    Value,
    View,
)  # fmt: skip


@dataclass(frozen=True)
class Literal:
    """A number that the pattern passes on, since subgraphs differ in it. values: in each subgraph."""

    name: str
    values: tuple[int | float, ...]

    @property
    def value(self) -> int | float:
        return self.values[0]


Argument: TypeAlias = Any
"""A Value, a tuple of values, a Literal, a number, None, a text, a Symbol, or a tuple or Listed of those."""

_SIGNATURES: Mapping[str, str] = {
    "layer_norm": "x shape weight bias eps",
    "rms_norm": "x shape weight eps",
    "batch_norm": "x mean var weight bias training momentum eps",
    "group_norm": "x groups weight bias eps",
    "normalize": "x p dim eps",
    "softmax": "x dim dtype",
    "log_softmax": "x dim dtype",
    "dropout": "x p training inplace",
    "gelu": "x approximate",
    "leaky_relu": "x slope inplace",
    "elu": "x alpha inplace",
    "hardtanh": "x low high inplace",
    "softplus": "x beta threshold",
    "clamp": "x min max",
    "clamp_min": "x min",
    "clamp_max": "x max",
    "sum": "x dim keepdim dtype",
    "mean": "x dim keepdim dtype",
    "amax": "x dim keepdim",
    "amin": "x dim keepdim",
    "any": "x dim keepdim",
    "all": "x dim keepdim",
    "argmax": "x dim keepdim",
    "argmin": "x dim keepdim",
    "max": "x dim keepdim",
    "min": "x dim keepdim",
    "var": "x dim unbiased keepdim correction",
    "std": "x dim unbiased keepdim correction",
    "norm": "x p dim keepdim dtype",
    "vector_norm": "x p dim keepdim dtype",
    "linalg_vector_norm": "x p dim keepdim dtype",
    "transpose": "x one other",
    "swapaxes": "x one other",
    "flatten": "x start end",
    "unflatten": "x dim sizes",
    "unsqueeze": "x dim",
    "squeeze": "x dim",
    "cat": "tensors dim",
    "concat": "tensors dim",
    "stack": "tensors dim",
    "chunk": "x chunks dim",
    "split": "x size dim",
    "unbind": "x dim",
    "narrow": "x dim start length",
    "select": "x dim index",
    "pad": "x pad mode value",
    "embedding": "index weight padding_idx max_norm norm_type scale_grad_by_freq sparse",
    "roll": "x shifts dims",
    "flip": "x dims",
    "repeat_interleave": "x repeats dim",
    "masked_fill": "x mask value",
    "where": "condition x y",
    "tril": "x diagonal",
    "triu": "x diagonal",
    "gather": "x dim index",
    "index_select": "x dim index",
    "pow": "x exponent",
    "add": "x y alpha",
    "sub": "x y alpha",
    "rsub": "x y alpha",
    "div": "x y rounding_mode",
    "square": "x",
    "t": "x",
    "expand_as": "x other",
    "view_as": "x other",
    "reshape_as": "x other",
    "type_as": "x other",
    "lerp": "x y weight",
    "addcmul": "x one two value",
    "addcdiv": "x one two value",
    "glu": "x dim",
    "mse_loss": "x y size_average reduce reduction",
    "linear": "x weight bias",
    "matmul": "x y",
    "bmm": "x y",
    "mm": "x y",
    "unfold": "x dim size step kernel_size stride padding dilation",
    "movedim": "x source destination",
    "outer": "x y",
    "rotate": "x",
    "max_pool2d": "x kernel stride padding dilation ceil_mode return_indices",
    "avg_pool2d": "x kernel stride padding ceil_mode count_include_pad divisor_override",
    "adaptive_avg_pool2d": "x size",
    "adaptive_avg_pool1d": "x size",
    "conv1d": "x weight bias stride padding dilation groups",
    "conv2d": "x weight bias stride padding dilation groups",
    "conv3d": "x weight bias stride padding dilation groups",
    "conv_transpose1d": "x weight bias stride padding more groups dilation",
}

_DEFAULTS: Mapping[str, Any] = {"alpha": 1, "unbiased": True}

_UNARY: Mapping[str, str] = {
    "tanh": "libdevice.tanh({0})",
    "exp": "libdevice.exp({0})",
    "exp2": "libdevice.exp2({0})",
    "expm1": "libdevice.expm1({0})",
    "log": "libdevice.log({0})",
    "log2": "libdevice.log2({0})",
    "log1p": "libdevice.log1p({0})",
    "sin": "libdevice.sin({0})",
    "cos": "libdevice.cos({0})",
    "erf": "libdevice.erf({0})",
    "sqrt": "tl.sqrt_rn({0})",
    "rsqrt": "libdevice.rsqrt({0})",
    "sigmoid": "1.0 / (1.0 + libdevice.exp(-{0}))",
    "silu": "{0} / (1.0 + libdevice.exp(-{0}))",
    "softplus": "tl.where({0} > 20.0, {0}, libdevice.log1p(libdevice.exp({0})))",
    "reciprocal": "1.0 / {0}",
    "mish": "{0} * libdevice.tanh(libdevice.log1p(libdevice.exp({0})))",
    "hardsigmoid": "tl.where({0} + 3.0 < 0.0, 0.0, tl.where({0} + 3.0 > 6.0, 6.0, {0} + 3.0)) / 6.0",
    "hardswish": "{0} * tl.where({0} + 3.0 < 0.0, 0.0, tl.where({0} + 3.0 > 6.0, 6.0, {0} + 3.0)) / 6.0",
    "softsign": "{0} / (1.0 + tl.abs({0}))",
}
"""Operations that give floats, computed as eager does."""

_KEEPS: Mapping[str, str] = {
    "neg": "-{0}",
    "abs": "tl.abs({0})",
    "floor": "libdevice.floor({0})",
    "ceil": "libdevice.ceil({0})",
    "round": "libdevice.nearbyint({0})",
    "trunc": "libdevice.trunc({0})",
    "relu": "tl.where({0} < 0, 0, {0})",
    "relu6": "tl.where({0} < 0, 0, tl.where({0} > 6, 6, {0}))",
    "sign": "({0} > 0).to({work}) - ({0} < 0).to({work})",
}
"""Operations whose result has the operand's dtype and needs no rounding."""

_COMPARED = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_LOGICAL = {"and": "&", "or": "|", "xor": "^", "bitwise_and": "&", "bitwise_or": "|", "bitwise_xor": "^"}
_DTYPES = {
    "float": "float32",
    "half": "float16",
    "double": "float64",
    "long": "int64",
    "int": "int32",
    "short": "int16",
}
_SAME = {"detach", "alpha_dropout", "feature_dropout", "dropout1d", "dropout2d", "dropout3d", "cuda", "cpu", "alias"}
"""Operations that change no element."""

VIEWS = frozenset(
    "view reshape transpose permute t expand expand_as squeeze unsqueeze flatten unflatten view_as reshape_as chunk split"
    " unbind narrow select detach swapaxes movedim alias unfold T mT".split()
)
"""Operations whose result lies in the operand's memory (reshape and flatten: if they can)."""


class Lowering:
    """Turns the nodes of a graph, in order, into Values. known: what the inputs are."""

    def __init__(self, known: Mapping[str, Argument]) -> None:
        self.known: dict[str, Argument] = dict(known)

    def run(self, graph: Graph) -> None:
        """Lower all operations. Raises Unsupported, naming the first operation that is not covered."""
        for node in graph.operations:
            self.known[node.name] = self.lowered(node)

    def lowered(self, node: Node) -> Argument:
        label = operator_label(node)
        args = [self.resolved(each) for each in node.args]
        kwargs = {name: self.resolved(value) for name, value in node.kwargs}
        function: Callable[..., Argument] | None = getattr(self, f"_{label}", None)
        try:
            if node.kind is NodeKind.CALL and node.target == "builtins.getattr":
                return self.attribute(args)
            if label in _SIGNATURES:
                args, kwargs = [], _bound(label, args, kwargs, node)
            if function is not None:
                found = function(*args, **kwargs)
            elif (label in _UNARY or label in _KEEPS) and (args or kwargs):
                found = self.unary(label, args[0] if args else kwargs["x"])
            elif label in _COMPARED:
                found = self.compared(_COMPARED[label], *args)
            elif label in _LOGICAL:
                found = self.logical(_LOGICAL[label], *args)
            elif label in _DTYPES:
                found = self.cast(args[0], DType(_DTYPES[label]))
            elif label in _SAME:
                found = args[0] if args else kwargs["x"]
            else:
                raise Unsupported(label)
        except (TypeError, KeyError, IndexError, ValueError, AttributeError, AssertionError) as problem:
            raise Unsupported(f"{label} as it is called here ({problem})") from problem
        if isinstance(found, Value) and not isinstance(found, Stored) and found not in self.known.values():
            found.name = node.name
        return found

    def resolved(self, value: Any) -> Argument:
        match value:
            case Ref(name):
                return self.known[name]
            case Listed(items):
                return [self.resolved(each) for each in items]
            case tuple():
                return tuple(self.resolved(each) for each in value)
            case Slice(start, stop, step):
                return slice(self.resolved(start), self.resolved(stop), self.resolved(step))
        return value

    # --- elementwise ---

    def operand(self, value: Argument, dtype: DType) -> Value:
        """A tensor or a number as an operand of an operation in this dtype."""
        if isinstance(value, Value):
            return value
        if isinstance(value, Literal):
            return PassedNumber((), dtype, value.name, name=value.name)
        return Number((), dtype, _number(value, dtype))

    def joined(self, values: Sequence[Argument]) -> DType:
        """The dtype of an operation between tensors and numbers: dimensions weigh more than their absence."""
        tensors = [each for each in values if isinstance(each, Value)]
        if not tensors:
            raise Unsupported("an operation on numbers alone")
        found: DType | None = None
        for some in ([each for each in tensors if each.shape], [each for each in tensors if not each.shape]):
            for each in some:
                if found is None:
                    found = each.dtype
                elif each.shape or _category(each.dtype) > _category(found):
                    found = promoted(found, each.dtype)
        assert found is not None
        for each in values:
            if not isinstance(each, Value):
                found = with_number(found, each.value if isinstance(each, Literal) else each)
        return found

    def pointwise(
        self, form: str, *values: Argument, dtype: DType, work: DType | None = None, exact: bool = False
    ) -> Value:
        """An operation whose operands are first converted to `work` (by default: the result's dtype)."""
        work = work or dtype
        operands = tuple(self.converted(self.operand(each, work), work) for each in values)
        shape = broadcast([each.shape for each in operands])
        return Pointwise(shape, dtype, form.replace("{work}", work.work), operands, exact)

    def converted(self, value: Value, dtype: DType) -> Value:
        """The value as an operand in this dtype: narrow floats lose nothing in what computes with them."""
        if value.dtype.work == dtype.work and value.dtype.is_float == dtype.is_float:
            return value
        if isinstance(value, Number | PassedNumber):
            return value
        if dtype.is_float and not dtype.is_wide:
            return (
                Cast(value.shape, FLOAT32, value, name=value.name)
                if not value.dtype.is_float or value.dtype.is_wide
                else value
            )
        return Cast(value.shape, dtype, value, name=value.name)

    def unary(self, label: str, x: Value, **_: Any) -> Value:
        if label in _KEEPS:
            return self.pointwise(_KEEPS[label], x, dtype=x.dtype, exact=True)
        dtype = x.dtype if x.dtype.is_float else FLOAT32
        return self.pointwise(_UNARY[label], x, dtype=dtype)

    def binary(self, form: str, x: Argument, y: Argument, *, exact: bool = False, floats: bool = False) -> Value:
        dtype = self.joined((x, y))
        if floats and not dtype.is_float:
            dtype = FLOAT32
        return self.pointwise(form, x, y, dtype=dtype, exact=exact)

    def _add(self, x: Argument, y: Argument, alpha: Argument = 1) -> Argument:
        if not isinstance(x, Value) and not isinstance(y, Value):
            return x + y
        if alpha != 1:
            return self.pointwise("{0} + {1} * {2}", x, y, alpha, dtype=self.joined((x, y)))
        if self.joined((x, y)).is_bool:
            return self.logical("|", x, y)
        return self.binary("{0} + {1}", x, y)

    def _sub(self, x: Argument, y: Argument, alpha: Argument = 1) -> Value:
        if alpha != 1:
            return self.pointwise("{0} - {1} * {2}", x, y, alpha, dtype=self.joined((x, y)))
        return self.binary("{0} - {1}", x, y)

    def _rsub(self, x: Argument, y: Argument, alpha: Argument = 1) -> Value:
        return self._sub(y, x, alpha)

    def _mul(self, x: Argument, y: Argument) -> Argument:
        if not isinstance(x, Value) and not isinstance(y, Value):
            return x * y
        if self.joined((x, y)).is_bool:
            return self.logical("&", x, y)
        return self.binary("{0} * {1}", x, y)

    def _div(self, x: Argument, y: Argument, rounding_mode: str | None = None) -> Argument:
        if isinstance(x, int) and isinstance(y, int) and rounding_mode:
            return x // y if rounding_mode == "floor" else int(x / y)
        dtype = self.joined((x, y))
        if rounding_mode is None:
            form = "{0} / {1}" if not isinstance(y, Value) or dtype.is_wide else "tl.div_rn({0}, {1})"
            return self.binary(form, x, y, floats=True)
        if rounding_mode == "floor":
            return self._floordiv(x, y)
        if dtype.is_float:
            return self.binary("libdevice.trunc({0} / {1})", x, y)
        return self.binary("{0} // {1}", x, y, exact=True)

    def _floordiv(self, x: Argument, y: Argument) -> Value:
        dtype = self.joined((x, y))
        if dtype.is_float:
            return self.binary("libdevice.floor({0} / {1})", x, y)
        return self.binary("({0} // {1}) - (({0} % {1} != 0) & (({0} < 0) != ({1} < 0))).to({work})", x, y, exact=True)

    _floor_divide = _floordiv

    def _remainder(self, x: Argument, y: Argument) -> Value:
        dtype = self.joined((x, y))
        if dtype.is_float:
            return self.binary("{0} - {1} * libdevice.floor({0} / {1})", x, y)
        return self.binary(
            "{0} % {1} + ((({0} % {1}) != 0) & ((({0} % {1}) < 0) != ({1} < 0))).to({work}) * {1}", x, y, exact=True
        )

    _mod = _remainder

    def _pow(self, x: Argument, exponent: Argument) -> Value:
        if isinstance(exponent, Literal) or isinstance(exponent, Value) or not isinstance(x, Value):
            return self.binary("libdevice.pow({0}, {1})", x, exponent, floats=True)
        if exponent == 2:
            return self.pointwise("{0} * {0}", x, dtype=with_number(x.dtype, exponent))
        if exponent == 3:
            # eager multiplies twice, and rounds each product
            return self.pointwise("{0} * {1}", self._pow(x, 2), x, dtype=with_number(x.dtype, exponent))
        if exponent == 0.5:
            return self.unary("sqrt", x)
        if exponent == -0.5:
            return self.unary("rsqrt", x)
        if exponent == -1:
            return self.unary("reciprocal", x)
        if exponent == 1:
            return self.pointwise("{0}", x, dtype=x.dtype, exact=True)
        return self.binary("libdevice.pow({0}, {1})", x, float(exponent), floats=True)

    def _square(self, x: Value) -> Value:
        return self._pow(x, 2)

    def _maximum(self, x: Argument, y: Argument) -> Value:
        return self.binary("tl.where(({0} > {1}) | ({0} != {0}), {0}, {1})", x, y, exact=True)

    def _minimum(self, x: Argument, y: Argument) -> Value:
        return self.binary("tl.where(({0} < {1}) | ({0} != {0}), {0}, {1})", x, y, exact=True)

    def _clamp(self, x: Value, min: Argument = None, max: Argument = None) -> Value:
        found = x
        for bound, sign in ((min, "<"), (max, ">")):
            if bound is not None:
                dtype = self.joined((found, bound))
                found = self.pointwise(
                    f"tl.where({{0}} {sign} {{1}}, {{1}}, {{0}})",
                    found,
                    bound,
                    dtype=dtype,
                    exact=not isinstance(bound, float | Literal),
                )
        return found

    _clip = _clamp

    def _clamp_min(self, x: Value, min: Argument) -> Value:
        return self._clamp(x, min, None)

    def _clamp_max(self, x: Value, max: Argument) -> Value:
        return self._clamp(x, None, max)

    def _hardtanh(self, x: Value, low: Argument = -1.0, high: Argument = 1.0, inplace: Argument = False) -> Value:
        return self._clamp(x, low, high)

    def _leaky_relu(self, x: Value, slope: Argument = 0.01, inplace: Argument = False) -> Value:
        return self.pointwise("tl.where({0} > 0, {0}, {0} * {1})", x, slope, dtype=x.dtype)

    def _elu(self, x: Value, alpha: Argument = 1.0, inplace: Argument = False) -> Value:
        return self.pointwise("tl.where({0} > 0, {0}, libdevice.expm1({0}) * {1})", x, alpha, dtype=x.dtype)

    def _softplus(self, x: Value, beta: Argument = 1, threshold: Argument = 20) -> Value:
        if beta == 1 and threshold == 20:
            return self.unary("softplus", x)
        form = "tl.where({0} * {1} > {2}, {0}, libdevice.log1p(libdevice.exp({0} * {1})) / {1})"
        return self.pointwise(form, x, beta, threshold, dtype=x.dtype)

    def _gelu(self, x: Value, approximate: str = "none") -> Value:
        if approximate == "tanh":
            form = "0.5 * {0} * (1.0 + libdevice.tanh(0.7978845608028654 * ({0} + 0.044715 * {0} * {0} * {0})))"
        else:
            form = "{0} * 0.5 * (1.0 + libdevice.erf({0} * 0.7071067811865476))"
        return self.pointwise(form, x, dtype=x.dtype)

    def _glu(self, x: Value, dim: int = -1) -> Value:
        one, other = self._chunk(x, 2, dim)
        return self.pointwise("{0} * (1.0 / (1.0 + libdevice.exp(-{1})))", one, other, dtype=x.dtype)

    def _lerp(self, x: Value, y: Value, weight: Argument) -> Value:
        form = "tl.where(tl.abs({2}) < 0.5, {0} + {2} * ({1} - {0}), {1} - ({1} - {0}) * (1 - {2}))"
        return self.pointwise(form, x, y, weight, dtype=x.dtype)

    def _addcmul(self, x: Value, one: Value, two: Value, value: Argument = 1) -> Value:
        return self.pointwise("{0} + {3} * {1} * {2}", x, one, two, value, dtype=self.joined((x, one, two)))

    def _where(self, condition: Value, x: Argument, y: Argument) -> Value:
        tensors = [each for each in (x, y) if isinstance(each, Value)]
        if not tensors:
            dtype = FLOAT32 if any(isinstance(each, float) for each in (x, y)) else INT64
        else:
            dtype = self.joined((x, y))
        operands = (
            condition,
            *(self.converted(self.operand(each, dtype), dtype) for each in (x, y)),
        )
        return Pointwise(broadcast([each.shape for each in operands]), dtype, "tl.where({0}, {1}, {2})", operands, True)

    def _masked_fill(self, x: Value, mask: Value, value: Argument) -> Value:
        number = self.operand(value, x.dtype)
        operands = (mask, self.converted(number, x.dtype), x)
        rounds = isinstance(value, float) and not math.isinf(value) or isinstance(value, Literal)
        shape = broadcast([each.shape for each in operands])
        return Pointwise(shape, x.dtype, "tl.where({0}, {1}, {2})", operands, not rounds)

    def compared(self, sign: str, x: Argument, y: Argument) -> Value:
        dtype = self.joined((x, y))
        work = dtype
        if dtype.is_float and not all(isinstance(each, Value) for each in (x, y)):
            # eager rounds the number to the tensor's dtype
            number = next(each for each in (x, y) if not isinstance(each, Value))
            if isinstance(number, float) and dtype.rounds and not float(number).is_integer() and not math.isinf(number):
                rounded = Pointwise((), dtype, _number(number, dtype), (), False)
                x, y = (rounded if each is number else each for each in (x, y))
        return self.pointwise(f"{{0}} {sign} {{1}}", x, y, dtype=BOOL, work=work, exact=True)

    def logical(self, sign: str, x: Argument, y: Argument) -> Value:
        dtype = self.joined((x, y))
        return self.pointwise(f"{{0}} {sign} {{1}}", x, y, dtype=dtype, exact=True)

    def _not(self, x: Value) -> Value:
        return self.pointwise("~{0}", x, dtype=x.dtype, exact=True)

    _bitwise_not = _not

    def _logical_not(self, x: Value) -> Value:
        return self.pointwise("{0} == 0", x, dtype=BOOL, work=x.dtype, exact=True)

    def _logical_and(self, x: Value, y: Value) -> Value:
        return self.logical("&", self.cast(x, BOOL), self.cast(y, BOOL))

    def _logical_or(self, x: Value, y: Value) -> Value:
        return self.logical("|", self.cast(x, BOOL), self.cast(y, BOOL))

    def _isinf(self, x: Value) -> Value:
        return self.pointwise('tl.abs({0}) == float("inf")', x, dtype=BOOL, work=x.dtype, exact=True)

    def _isnan(self, x: Value) -> Value:
        return self.pointwise("{0} != {0}", x, dtype=BOOL, work=x.dtype, exact=True)

    # --- dtypes ---

    def cast(self, x: Value, dtype: DType) -> Value:
        if not isinstance(x, Value):
            raise Unsupported("a conversion of a number")
        if x.dtype == dtype:
            return x
        return Cast(x.shape, dtype, x)

    def _to(self, x: Value, *args: Argument, **kwargs: Argument) -> Value:
        for each in (*args, *kwargs.values()):
            if isinstance(each, Symbol) and (dtype := dtype_of(each)) is not None:
                return self.cast(x, dtype)
            if isinstance(each, DType):
                return self.cast(x, each)
            if isinstance(each, Value):
                return self.cast(x, each.dtype)
        return x

    _type = _to

    def _bool(self, x: Value) -> Value:
        return self.cast(x, BOOL)

    def _bfloat16(self, x: Value) -> Value:
        return self.cast(x, DType("bfloat16"))

    def _type_as(self, x: Value, other: Value) -> Value:
        return self.cast(x, other.dtype)

    def _dropout(self, x: Value, p: Argument = 0.5, training: Argument = True, inplace: Argument = False) -> Value:
        if training is not False and p != 0.0:
            raise Unsupported("dropout in training")
        return x

    _dropout1d = _dropout2d = _dropout3d = _dropout

    def attribute(self, args: Sequence[Argument]) -> Argument:
        x, name = args
        if name == "shape":
            return tuple(x.shape)
        if name == "dtype":
            return x.dtype
        if name in ("T", "mT"):
            return self._transpose(x, -2, -1)
        if name == "device":
            return DeviceLiteral("cuda")
        raise Unsupported(f"the attribute {name}")

    def _size(self, x: Value, dim: int | None = None) -> Argument:
        return tuple(x.shape) if dim is None else x.shape[dim]

    # --- reductions ---

    def axes(self, x: Value, dim: Argument) -> tuple[int, ...]:
        if dim is None or dim == () or dim == []:
            return tuple(range(len(x.shape)))
        given = tuple(dim) if isinstance(dim, tuple | list) else (dim,)
        return tuple(sorted({_axis(each, len(x.shape)) for each in given}))

    def reduced(
        self, kind: str, x: Value, dim: Argument, keepdim: Argument, dtype: DType, *, exact: bool = False
    ) -> Value:
        axes = self.axes(x, dim)
        if not x.shape:
            return self.cast(x, dtype)
        kept = tuple(size for axis, size in enumerate(x.shape) if axis not in axes)
        found: Value = Reduction(kept, dtype, kind, x, axes, exact, name=kind)
        return self.kept(found, x, axes) if keepdim else found

    def kept(self, found: Value, x: Value, axes: Sequence[int]) -> Value:
        """The result of a reduction with the reduced axes as dimensions of size 1."""
        shape = tuple(ONE if axis in axes else size for axis, size in enumerate(x.shape))
        return View(
            shape,
            found.dtype,
            found,
            lambda _, places: tuple(p for axis, p in enumerate(places) if axis not in axes),
            name=found.name,
        )

    def _sum(self, x: Value, dim: Argument = None, keepdim: Argument = False, dtype: Argument = None) -> Value:
        if dtype is not None:
            x = self._to(x, dtype)
        result = x.dtype if x.dtype.is_float else INT64
        return self.reduced("sum", x, dim, keepdim, result)

    def _mean(self, x: Value, dim: Argument = None, keepdim: Argument = False, dtype: Argument = None) -> Value:
        if dtype is not None:
            x = self._to(x, dtype)
        return self.averaged(x, dim, keepdim, x.dtype)

    def averaged(self, x: Value, dim: Argument, keepdim: Argument, dtype: DType) -> Value:
        wide = x.dtype if x.dtype.is_wide else FLOAT32
        total = self.reduced("sum", x, dim, keepdim, wide, exact=True)
        count = product([x.shape[axis] for axis in self.axes(x, dim)])
        return self.pointwise("{0} / {1}", total, SizeNumber((), wide, count), dtype=dtype, work=wide)

    def _amax(self, x: Value, dim: Argument = None, keepdim: Argument = False) -> Value:
        return self.extreme("max", x, dim, keepdim)

    def _amin(self, x: Value, dim: Argument = None, keepdim: Argument = False) -> Value:
        return self.extreme("min", x, dim, keepdim)

    def extreme(self, kind: str, x: Value, dim: Argument, keepdim: Argument) -> Value:
        """The largest or smallest element; NaN if there is one, which Triton's own reductions may pass over."""
        found = self.reduced(kind, x, dim, keepdim, x.dtype, exact=True)
        if not x.dtype.is_float:
            return found
        nan = self.reduced("any", self._isnan(x), dim, keepdim, BOOL)
        return Pointwise(found.shape, x.dtype, 'tl.where({0}, float("nan"), {1})', (nan, found), True)

    def _max(self, x: Value, dim: Argument = None, keepdim: Argument = False) -> Argument:
        if isinstance(dim, Value):
            return self._maximum(x, dim)
        if dim is None:
            return self.extreme("max", x, None, False)
        return (self.extreme("max", x, dim, keepdim), self.reduced("argmax", x, dim, keepdim, INT64))

    def _min(self, x: Value, dim: Argument = None, keepdim: Argument = False) -> Argument:
        if isinstance(dim, Value):
            return self._minimum(x, dim)
        if dim is None:
            return self.extreme("min", x, None, False)
        return (self.extreme("min", x, dim, keepdim), self.reduced("argmin", x, dim, keepdim, INT64))

    def _argmax(self, x: Value, dim: Argument = None, keepdim: Argument = False) -> Value:
        if dim is None:
            raise Unsupported("argmax over everything")
        return self.reduced("argmax", x, dim, keepdim, INT64)

    def _argmin(self, x: Value, dim: Argument = None, keepdim: Argument = False) -> Value:
        if dim is None:
            raise Unsupported("argmin over everything")
        return self.reduced("argmin", x, dim, keepdim, INT64)

    def _any(self, x: Value, dim: Argument = None, keepdim: Argument = False) -> Value:
        return self.reduced("any", self.cast(x, BOOL), dim, keepdim, BOOL)

    def _all(self, x: Value, dim: Argument = None, keepdim: Argument = False) -> Value:
        return self.reduced("all", self.cast(x, BOOL), dim, keepdim, BOOL)

    def variance(self, x: Value, dim: Argument, correction: int, wide: DType) -> tuple[Value, Value]:
        """Mean and variance over some axes, kept, in a wide dtype."""
        mean = self.averaged(x, dim, True, wide)
        mean.name = "mean"
        centred = self.pointwise("{0} - {1}", x, mean, dtype=wide, exact=True)
        centred.name = "centred"
        squares = self.pointwise("{0} * {0}", centred, dtype=wide, exact=True)
        squares.name = "squares"
        count = product([x.shape[axis] for axis in self.axes(x, dim)]) - correction
        total = self.reduced("sum", squares, dim, True, wide, exact=True)
        total.name = "total"
        found = self.pointwise("{0} / {1}", total, SizeNumber((), wide, count), dtype=wide, exact=True)
        found.name = "variance"
        return mean, found

    def _var(
        self,
        x: Value,
        dim: Argument = None,
        unbiased: Argument = True,
        keepdim: Argument = False,
        correction: Argument = None,
    ) -> Value:
        wide = x.dtype if x.dtype.is_wide else FLOAT32
        by = correction if correction is not None else int(bool(unbiased))
        _, found = self.variance(x, dim, by, wide)
        found = self.cast(found, x.dtype)
        if keepdim:
            return found
        axes = self.axes(x, dim)
        shape = tuple(size for axis, size in enumerate(x.shape) if axis not in axes)
        return View(shape, found.dtype, found, lambda _, places: _with_origins(places, axes), name="variance")

    def _std(self, *args: Argument, **kwargs: Argument) -> Value:
        return self.unary("sqrt", self._var(*args, **kwargs))

    def _norm(
        self, x: Value, p: Argument = 2, dim: Argument = None, keepdim: Argument = False, dtype: Argument = None
    ) -> Value:
        if p not in (2, 2.0, None, "fro"):
            raise Unsupported(f"a norm of order {p}")
        wide = x.dtype if x.dtype.is_wide else FLOAT32
        squares = self.pointwise("{0} * {0}", x, dtype=wide, exact=True)
        squares.name = "squares"
        total = self.reduced("sum", squares, dim, keepdim, wide, exact=True)
        return self.pointwise("tl.sqrt_rn({0})", total, dtype=x.dtype, work=wide)

    _vector_norm = _linalg_vector_norm = _norm

    def _normalize(self, x: Value, p: Argument = 2.0, dim: Argument = 1, eps: Argument = 1e-12) -> Value:
        length = self._norm(x, p, dim, True)
        return self.binary("tl.div_rn({0}, {1})", x, self._clamp(length, eps, None))

    def _softmax(self, x: Value, dim: Argument = -1, dtype: Argument = None) -> Value:
        if dtype is not None:
            x = self._to(x, dtype)
        if not x.shape:
            raise Unsupported("softmax of a single number")
        wide = x.dtype if x.dtype.is_wide else FLOAT32
        largest = self.reduced("max", x, dim, True, x.dtype, exact=True)
        largest.name = "largest"
        powers = self.pointwise("libdevice.exp({0} - {1})", x, largest, dtype=wide, exact=True)
        powers.name = "powers"
        total = self.reduced("sum", powers, dim, True, wide, exact=True)
        total.name = "total"
        form = "{0} / {1}" if wide.is_wide else "tl.div_rn({0}, {1})"
        found = self.pointwise(form, powers, total, dtype=x.dtype, work=wide)
        found.contiguous = True
        return found

    def _log_softmax(self, x: Value, dim: Argument = -1, dtype: Argument = None) -> Value:
        if dtype is not None:
            x = self._to(x, dtype)
        wide = x.dtype if x.dtype.is_wide else FLOAT32
        largest = self.reduced("max", x, dim, True, x.dtype, exact=True)
        total = self.reduced(
            "sum",
            self.pointwise("libdevice.exp({0} - {1})", x, largest, dtype=wide, exact=True),
            dim,
            True,
            wide,
            exact=True,
        )
        return self.pointwise("{0} - {1} - libdevice.log({2})", x, largest, total, dtype=x.dtype, work=wide)

    def _layer_norm(
        self, x: Value, shape: Argument, weight: Argument = None, bias: Argument = None, eps: Argument = 1e-5
    ) -> Value:
        dims = tuple(range(len(x.shape) - len(shape), len(x.shape)))
        wide = x.dtype if x.dtype.is_wide else FLOAT32
        mean, variance = self.variance(x, dims, 0, wide)
        scale = self.pointwise("libdevice.rsqrt({0} + {1})", variance, eps, dtype=wide, exact=True)
        scale.name = "scale"
        found = self.scaled("({0} - {1}) * {2}", (x, mean, scale), weight, bias, x.dtype, wide)
        found.contiguous = True
        return found

    def scaled(
        self, form: str, operands: tuple[Value, ...], weight: Argument, bias: Argument, dtype: DType, wide: DType
    ) -> Value:
        """The form, times a weight, plus a bias, as far as there are any, rounded once."""
        given = list(operands)
        for each, sign in ((weight, "*"), (bias, "+")):
            if each is not None:
                form = f"{form} {sign} {{{len(given)}}}"
                given.append(each)
        return self.pointwise(form, *given, dtype=dtype, work=wide)

    def _rms_norm(self, x: Value, shape: Argument, weight: Argument = None, eps: Argument = None) -> Value:
        dims = tuple(range(len(x.shape) - len(shape), len(x.shape)))
        squares = self.pointwise("{0} * {0}", x, dtype=FLOAT32, exact=True)
        mean = self.averaged(squares, dims, True, FLOAT32)
        if eps is None:
            raise Unsupported("rms_norm without eps")
        scale = self.pointwise("libdevice.rsqrt({0} + {1})", mean, eps, dtype=FLOAT32, exact=True)
        return self.scaled("{0} * {1}", (x, scale), weight, None, x.dtype, FLOAT32)

    def channels(self, each: Argument, x: Value) -> Argument:
        """One value for each channel, as an operand beside x."""
        if each is None:
            return None
        rank = len(x.shape)
        shape = (ONE, *each.shape, *[ONE] * (rank - 2)) if rank > 1 else each.shape
        return View(shape, each.dtype, each, lambda _, places: (places[1],), name=each.name)

    def _batch_norm(
        self, x: Value, mean: Argument, var: Argument, weight: Argument = None, bias: Argument = None,
        training: Argument = False, momentum: Argument = 0.1, eps: Argument = 1e-5,
    ) -> Value:  # fmt: skip
        if mean is not None and training is not False:
            raise Unsupported("batch_norm that learns")
        if mean is None:
            wide = x.dtype if x.dtype.is_wide else FLOAT32
            over = tuple(axis for axis in range(len(x.shape)) if axis != 1)
            own, variance = self.variance(x, over, 0, wide)
            scale = self.pointwise("libdevice.rsqrt({0} + {1})", variance, eps, dtype=wide, exact=True)
            scale.name = "scale"
            weight, bias = self.channels(weight, x), self.channels(bias, x)
            return self.scaled("({0} - {1}) * {2}", (x, own, scale), weight, bias, x.dtype, wide)
        wide = x.dtype if x.dtype.is_wide else FLOAT32
        mean, var, weight, bias = (self.channels(each, x) for each in (mean, var, weight, bias))
        scale = self.pointwise("libdevice.rsqrt({0} + {1})", var, eps, dtype=wide, exact=True)
        scale.name = "scale"
        return self.scaled("({0} - {1}) * {2}", (x, mean, scale), weight, bias, x.dtype, wide)

    def _group_norm(
        self, x: Value, groups: Argument, weight: Argument = None, bias: Argument = None, eps: Argument = 1e-5
    ) -> Value:
        count = size_of(groups)
        inner = x.shape[1].divided(count)
        shape = (x.shape[0], count, inner, *x.shape[2:])
        apart = View(shape, x.dtype, x, lambda _, p: (p[0], p[1] * inner + p[2], *p[3:]), name=x.name)
        wide = x.dtype if x.dtype.is_wide else FLOAT32
        dims = tuple(range(2, len(shape)))
        mean, variance = self.variance(apart, dims, 0, wide)
        scale = self.pointwise("libdevice.rsqrt({0} + {1})", variance, eps, dtype=wide, exact=True)
        scale.name = "scale"

        def spread(each: Value) -> Value:
            whole = (x.shape[0], x.shape[1], *[ONE] * (len(x.shape) - 2))

            def inside(writer: ElementWriter, places: Coordinates) -> Coordinates:
                group, _ = parted(places[1], inner, writer)
                return (places[0], group, *[ORIGIN] * (len(shape) - 2))

            return View(whole, each.dtype, each, inside, name=each.name)

        weight, bias = self.channels(weight, x), self.channels(bias, x)
        return self.scaled("({0} - {1}) * {2}", (x, spread(mean), spread(scale)), weight, bias, x.dtype, wide)

    def _mse_loss(
        self, x: Value, y: Value, size_average: Argument = None, reduce: Argument = None, reduction: str = "mean"
    ) -> Value:
        difference = self.binary("({0} - {1}) * ({0} - {1})", x, y)
        if reduction == "none":
            return difference
        return self._mean(difference) if reduction == "mean" else self._sum(difference)

    # --- views ---

    def view(self, x: Value, shape: Shape, inside: Callable[[Coordinates], Coordinates]) -> Value:
        return View(shape, x.dtype, x, lambda _, places: inside(places), name=x.name)

    def _transpose(self, x: Value, one: int, other: int) -> Value:
        order = list(range(len(x.shape)))
        one, other = _axis(one, len(order)), _axis(other, len(order))
        order[one], order[other] = order[other], order[one]
        return self._permute(x, order)

    _swapaxes = _transpose

    def _permute(self, x: Value, *dims: Argument) -> Value:
        order = [_axis(each, len(x.shape)) for each in _flat(dims)]
        shape = tuple(x.shape[axis] for axis in order)
        return self.view(x, shape, lambda places: tuple(places[order.index(axis)] for axis in range(len(order))))

    def _movedim(self, x: Value, source: int, destination: int) -> Value:
        order = [axis for axis in range(len(x.shape)) if axis != _axis(source, len(x.shape))]
        order.insert(_axis(destination, len(x.shape)), _axis(source, len(x.shape)))
        return self._permute(x, order)

    def _t(self, x: Value) -> Value:
        return self._transpose(x, 0, 1) if len(x.shape) == 2 else x

    def _unsqueeze(self, x: Value, dim: int) -> Value:
        at = dim + len(x.shape) + 1 if dim < 0 else dim
        shape = (*x.shape[:at], ONE, *x.shape[at:])
        return self.view(x, shape, lambda places: (*places[:at], *places[at + 1 :]))

    def _squeeze(self, x: Value, dim: Argument = None) -> Value:
        if dim is None:
            axes = {axis for axis, size in enumerate(x.shape) if size.seems_one}
        else:
            axes = {axis for axis in self.axes(x, dim) if x.shape[axis].seems_one}
        shape = tuple(size for axis, size in enumerate(x.shape) if axis not in axes)
        return self.view(x, shape, lambda places: _with_origins(places, axes))

    def _expand(self, x: Value, *sizes: Argument) -> Value:
        given = _flat(sizes)
        more = len(given) - len(x.shape)
        shape = tuple(
            x.shape[axis - more] if isinstance(each, int) and each == -1 else size_of(each)
            for axis, each in enumerate(given)
        )
        shape = tuple(
            x.shape[axis - more] if axis >= more and size.seems(x.shape[axis - more]) else size
            for axis, size in enumerate(shape)
        )
        return self.view(x, shape, lambda places: broadcast_inside(x.shape, shape, places))

    def _expand_as(self, x: Value, other: Value) -> Value:
        return self._expand(x, *other.shape)

    def _broadcast_to(self, x: Value, *sizes: Argument) -> Value:
        return self._expand(x, *sizes)

    def _reshape(self, x: Value, *sizes: Argument, shape: Argument = None) -> Value:
        given = _flat(sizes if shape is None else (shape,))
        known = [size_of(each) for each in given if not (isinstance(each, int) and each == -1)]
        wanted = tuple(
            _rest(x, given, known) if isinstance(each, int) and each == -1 else size_of(each) for each in given
        )
        return self.copied(self.reshaped(x, wanted))

    def copied(self, x: Value) -> Value:
        """The value of reshape: a view where strides can tell it, a copy elsewhere."""
        return x if strides_of(x) is not None else Copied(x.shape, x.dtype, x, contiguous=True)

    def _view(self, x: Value, *sizes: Argument) -> Value:
        if len(sizes) == 1 and isinstance(sizes[0], Symbol | DType):
            raise Unsupported("a view in another dtype")
        found = self._reshape(x, *sizes)
        return found.operand if isinstance(found, Copied) else found

    def _view_as(self, x: Value, other: Value) -> Value:
        return self.reshaped(x, other.shape)

    def _reshape_as(self, x: Value, other: Value) -> Value:
        return self.copied(self.reshaped(x, other.shape))

    def _flatten(self, x: Value, start: int = 0, end: int = -1) -> Value:
        if not x.shape:
            return self.reshaped(x, (ONE,))
        first, last = _axis(start, len(x.shape)), _axis(end, len(x.shape))
        return self.copied(
            self.reshaped(x, (*x.shape[:first], product(x.shape[first : last + 1]), *x.shape[last + 1 :]))
        )

    def _unflatten(self, x: Value, dim: int, sizes: Argument) -> Value:
        axis = _axis(dim, len(x.shape))
        given = list(sizes)
        known = [size_of(each) for each in given if each != -1]
        found = [x.shape[axis].divided(product(known)) if each == -1 else size_of(each) for each in given]
        return self.reshaped(x, (*x.shape[:axis], *found, *x.shape[axis + 1 :]))

    def reshaped(self, x: Value, shape: Shape) -> Value:
        """The elements in row-major order in another shape. Dimensions are taken apart and put together in groups."""
        groups = _groups(x.shape, shape)

        def inside(writer: ElementWriter, places: Coordinates) -> Coordinates:
            found = [ORIGIN] * len(x.shape)
            for before, after in groups:
                if not before:
                    continue
                if len(before) == 1 and len(after) == 1:
                    found[before[0]] = places[after[0]]
                    continue
                flat = flattened([places[axis] for axis in after], [shape[axis] for axis in after])
                for axis, place in zip(before, unflattened(flat, [x.shape[axis] for axis in before], writer)):
                    found[axis] = place
            return tuple(found)

        # the size of a dimension that stays is that of the operand: it is known by fewer names
        sizes = list(shape)
        for before, after in groups:
            if len(before) == 1 and len(after) == 1 and shape[after[0]].constant is None:
                sizes[after[0]] = x.shape[before[0]]
        return View(tuple(sizes), x.dtype, x, inside, name=x.name)

    def _getitem(self, x: Argument, index: Argument) -> Argument:
        if isinstance(x, tuple | list):
            return x[index]
        return self.indexed(x, index)

    def indexed(self, x: Value, index: Argument) -> Value:
        given = list(index) if isinstance(index, tuple | list) else [index]
        if isinstance(index, list):
            raise Unsupported("an index that is a list")
        used = sum(each is not None and not _is_ellipsis(each) for each in given)
        if not any(_is_ellipsis(each) for each in given):
            given.append(Symbol("builtins.Ellipsis"))
        at = next(place for place, each in enumerate(given) if _is_ellipsis(each))
        given[at : at + 1] = [slice(None)] * (len(x.shape) - used)
        shape: list[Size] = []
        pieces: list[tuple[str, Any]] = []
        tensors = [each for each in given if isinstance(each, Value)]
        axis = 0
        put = -1
        together = broadcast([each.shape for each in tensors]) if tensors else ()
        positions = [place for place, each in enumerate(given) if isinstance(each, Value)]
        if tensors and positions[-1] - positions[0] + 1 != len(positions):
            raise Unsupported("indices with a slice between them")
        if any(each.dtype.is_bool for each in tensors):
            raise Unsupported("an index of truth values")
        for each in given:
            if each is None:
                shape.append(ONE)
                pieces.append(("new", None))
            elif isinstance(each, slice):
                start, length, step = _sliced(each, x.shape[axis])
                pieces.append(("slice", (len(shape), start, step)))
                shape.append(length)
                axis += 1
            elif isinstance(each, Value):
                if put < 0:
                    put = len(shape)
                    shape.extend(together)
                pieces.append(("tensor", (axis, each)))
                axis += 1
            else:
                pieces.append(("at", _position(each, x.shape[axis])))
                axis += 1

        def inside(places: Coordinates) -> Coordinates:
            found: list[Coordinate] = []
            for kind, what in pieces:
                if kind == "slice":
                    place, start, step = what
                    found.append(places[place] * step + start)
                elif kind == "at":
                    found.append(Coordinate((), what))
                elif kind == "tensor":
                    found.append(ORIGIN)
            return tuple(found)

        if not tensors:
            return self.view(x, tuple(shape), inside)

        def asker(value: Value) -> Callable[[Coordinates], Coordinates]:
            return lambda places: broadcast_inside(value.shape, together, places[put : put + len(together)])

        indices = tuple(
            (where, value, asker(value)) for kind, what in pieces if kind == "tensor" for where, value in (what,)
        )
        return Gathered(tuple(shape), x.dtype, x, indices, inside)

    def _select(self, x: Value, dim: int, index: Argument) -> Value:
        return self.indexed(x, (*[slice(None)] * _axis(dim, len(x.shape)), index))

    def _narrow(self, x: Value, dim: int, start: Argument, length: Argument) -> Value:
        axis = _axis(dim, len(x.shape))
        first = size_of(start)
        shape = (*x.shape[:axis], size_of(length), *x.shape[axis + 1 :])
        return self.view(x, shape, lambda p: (*p[:axis], p[axis] + first, *p[axis + 1 :]))

    def _chunk(self, x: Value, chunks: int, dim: int = 0) -> tuple[Value, ...]:
        axis = _axis(dim, len(x.shape))
        whole = x.shape[axis]
        if any(each % chunks for each in whole.values):
            size = derived("-(-{} // {})", lambda one, two: -(-one // two), whole, Size.of(chunks))
        else:
            size = whole.divided(Size.of(chunks))
        count = -(-whole.value // size.value) if size.value else chunks
        return self.cut(
            x,
            axis,
            [size] * (count - 1) + [whole - size * (count - 1)]
            if any(e % chunks for e in whole.values)
            else [size] * chunks,
        )

    def _split(self, x: Value, size: Argument, dim: int = 0) -> tuple[Value, ...]:
        axis = _axis(dim, len(x.shape))
        if isinstance(size, tuple | list):
            return self.cut(x, axis, [size_of(each) for each in size])
        each = size_of(size)
        counts = {-(-one // two) for one, two in zip(*_aligned(x.shape[axis], each))}
        if len(counts) != 1:
            raise Unsupported("a split into pieces whose number differs")
        count = counts.pop()
        last = x.shape[axis] - each * (count - 1)
        return self.cut(x, axis, [each] * (count - 1) + [each if last.seems(each) else last])

    _split_with_sizes = _split

    def cut(self, x: Value, axis: int, sizes: Sequence[Size]) -> tuple[Value, ...]:
        found: list[Value] = []
        start = ZERO
        for size in sizes:
            found.append(self._narrow(x, axis, start, size))
            start = start + size
        return tuple(found)

    def _unbind(self, x: Value, dim: int = 0) -> tuple[Value, ...]:
        axis = _axis(dim, len(x.shape))
        if x.shape[axis].constant is None and len(set(x.shape[axis].values)) > 1:
            raise Unsupported("unbind into pieces whose number differs")
        return tuple(self._select(x, axis, index) for index in range(x.shape[axis].value))

    # --- rearrangements that copy ---

    def _contiguous(self, x: Value, **_: Any) -> Value:
        return x if is_contiguous(x) else Copied(x.shape, x.dtype, x, contiguous=True)

    def _clone(self, x: Value, **_: Any) -> Value:
        return Copied(x.shape, x.dtype, x)

    def _cat(self, tensors: Argument, dim: int = 0) -> Value:
        given = [each for each in tensors if each.shape]
        axis = _axis(dim, len(given[0].shape))
        dtype = self.joined(given)
        starts = [ZERO]
        for each in given:
            starts.append(starts[-1] + each.shape[axis])
        shape = (*given[0].shape[:axis], starts[-1], *given[0].shape[axis + 1 :])

        def chooser(index: int) -> Callable[[ElementWriter, Coordinates], str] | None:
            if index == len(given) - 1:
                return None
            end = starts[index + 1]

            def test(writer: ElementWriter, places: Coordinates) -> str:
                upper = f"{writer.place(places[axis])} < {writer.size(end)}"
                lower = f"({writer.place(places[axis])} >= {writer.size(starts[index])})"
                return f"{lower} & ({upper})" if index else upper

            return test

        def mover(start: Size) -> Callable[[ElementWriter, Coordinates], Coordinates]:
            return lambda _, places: (*places[:axis], places[axis] + -start, *places[axis + 1 :])

        converted = [self.cast(each, dtype) if each.dtype.name != dtype.name else each for each in given]
        pieces = tuple((chooser(index), each, mover(starts[index])) for index, each in enumerate(converted))
        if len(pieces) == 1:
            return self.pointwise("{0}", given[0], dtype=dtype, exact=True)
        return Chosen(shape, dtype, pieces)

    _concat = _cat

    def _stack(self, tensors: Argument, dim: int = 0) -> Value:
        at = dim + len(tensors[0].shape) + 1 if dim < 0 else dim
        return self._cat([self._unsqueeze(each, at) for each in tensors], at)

    def _pad(self, x: Value, pad: Argument, mode: str = "constant", value: Argument = None) -> Value:
        given = _flat((pad,))
        if mode == "reflect":
            return self.reflected(x, given)
        if mode != "constant":
            raise Unsupported(f"padding of mode {mode}")
        ends: dict[int, tuple[Size, Size]] = {}
        for index in range(0, len(given), 2):
            axis = len(x.shape) - 1 - index // 2
            ends[axis] = (size_of(given[index]), size_of(given[index + 1]))
        shape = tuple(size + sum(ends[axis], ZERO) if axis in ends else size for axis, size in enumerate(x.shape))

        def test(writer: ElementWriter, places: Coordinates) -> str:
            found = []
            for axis, (before, after) in ends.items():
                place = writer.place(places[axis])
                if before != ZERO:
                    found.append(f"({place} >= {writer.size(before)})")
                if after != ZERO:
                    found.append(f"({place} < {writer.size(before + x.shape[axis])})")
            return " & ".join(sorted(found)) or f"{writer.place(places[-1])} >= 0"

        def moved(_: ElementWriter, places: Coordinates) -> Coordinates:
            return tuple(place + -ends[axis][0] if axis in ends else place for axis, place in enumerate(places))

        fill = self.operand(0 if value is None else value, x.dtype)
        return Chosen(shape, x.dtype, ((test, x, moved), (None, fill, lambda _, places: ())))

    def reflected(self, x: Value, pad: Sequence[Argument]) -> Value:
        """Padding by the elements inside, in reverse, without the one at the border."""
        ends = {len(x.shape) - 1 - i // 2: (size_of(pad[i]), size_of(pad[i + 1])) for i in range(0, len(pad), 2)}
        shape = tuple(size + sum(ends.get(axis, ()), ZERO) for axis, size in enumerate(x.shape))

        def inside(writer: ElementWriter, places: Coordinates) -> Coordinates:
            found = list(places)
            for axis, (before, _) in ends.items():
                last = writer.size(x.shape[axis] - 1)
                text = f"{last} - tl.abs({last} - tl.abs({writer.place(places[axis] + -before)}))"
                found[axis] = Coordinate(((Term(text, places[axis].variables, x.shape[axis]), ONE),))
            return tuple(found)

        return Copied(shape, x.dtype, View(shape, x.dtype, x, inside, name=x.name), contiguous=True)

    def _roll(self, x: Value, shifts: Argument, dims: Argument = None) -> Value:
        by = _flat((shifts,))
        axes = [_axis(each, len(x.shape)) for each in _flat((dims,))]
        found = x
        for shift, axis in zip(by, axes):
            found = self._rolled(found, int(shift), axis)
        return found

    def _rolled(self, x: Value, shift: int, axis: int) -> Value:
        """x[(i - shift) % size]: the last elements come first."""
        size = x.shape[axis]
        front = Size.of(shift) if shift >= 0 else size + shift

        def test(writer: ElementWriter, places: Coordinates) -> str:
            return f"{writer.place(places[axis])} < {writer.size(front)}"

        def wrapped(_: ElementWriter, places: Coordinates) -> Coordinates:
            return (*places[:axis], places[axis] + (size - front), *places[axis + 1 :])

        def plain(_: ElementWriter, places: Coordinates) -> Coordinates:
            return (*places[:axis], places[axis] + -front, *places[axis + 1 :])

        return Chosen(x.shape, x.dtype, ((test, x, wrapped), (None, x, plain)))

    def _flip(self, x: Value, dims: Argument, *more: int) -> Value:
        axes = {_axis(each, len(x.shape)) for each in _flat((dims, *more))}
        return View(
            x.shape, x.dtype, x,
            lambda _, places: tuple(
                Coordinate((), x.shape[axis] - 1) + place * -1 if axis in axes else place for axis, place in enumerate(places)
            ), name=x.name,
        )  # fmt: skip

    def _repeat(self, x: Value, *sizes: Argument) -> Value:
        given = [size_of(each) for each in _flat(sizes)]
        more = len(given) - len(x.shape)
        own = (*[ONE] * more, *x.shape)
        shape = tuple(each * size for each, size in zip(given, own))

        def inside(writer: ElementWriter, places: Coordinates) -> Coordinates:
            return tuple(
                place if each.is_one else ORIGIN if size.is_one else parted(place, size, writer)[1]
                for place, each, size in zip(places[more:], given[more:], x.shape)
            )

        return View(shape, x.dtype, x, inside, name=x.name)

    _tile = _repeat

    def _repeat_interleave(self, x: Value, repeats: Argument, dim: int | None = None) -> Value:
        if dim is None or isinstance(repeats, Value):
            raise Unsupported("repeat_interleave without a dimension or by a tensor")
        axis, times = _axis(dim, len(x.shape)), size_of(repeats)
        shape = (*x.shape[:axis], x.shape[axis] * times, *x.shape[axis + 1 :])
        return View(
            shape, x.dtype, x,
            lambda writer, p: (*p[:axis], parted(p[axis], times, writer)[0], *p[axis + 1 :]), name=x.name,
        )  # fmt: skip

    def _unfold(
        self, x: Value, dim: Argument = None, size: Argument = None, step: Argument = None, **rest: Argument
    ) -> Value:
        if rest:
            return self.columns_of(x, **rest)
        axis, by = _axis(dim, len(x.shape)), size_of(step)
        length = size_of(size)
        count = (x.shape[axis] - length).divided(by) + 1
        shape = (*x.shape[:axis], count, *x.shape[axis + 1 :], length)
        return self.view(x, shape, lambda p: (*p[:axis], p[axis] * by + p[-1], *p[axis + 1 : -1]))

    def columns_of(
        self, x: Value, kernel_size: Argument, stride: Argument = 1, padding: Argument = 0, dilation: Argument = 1
    ) -> Value:
        """The windows of an image as columns, as torch.nn.functional.unfold has them."""
        out, lengths, where, test = self.window(x, 2, kernel_size, stride, padding, dilation)
        if test is not None:
            raise Unsupported("unfold with padding")
        count, channels, high, wide = out
        whole = (count, channels, high, wide, *lengths)
        windows = View(whole, x.dtype, x, lambda _, places: where(places), name=x.name)
        ordered = self._permute(windows, 0, 1, 4, 5, 2, 3)
        return Copied(
            (count, channels * product(lengths), high * wide), x.dtype,
            self.reshaped(ordered, (count, channels * product(lengths), high * wide)), contiguous=True,
        )  # fmt: skip

    def _meshgrid(self, *tensors: Argument, indexing: str = "ij") -> tuple[Value, ...]:
        given = [each for item in tensors for each in (item if isinstance(item, tuple | list) else [item])]
        if indexing != "ij" or not all(len(each.shape) == 1 for each in given):
            raise Unsupported("a meshgrid of another kind")
        shape = tuple(each.shape[0] for each in given)

        def along(axis: int) -> Callable[[Coordinates], Coordinates]:
            return lambda places: (places[axis],)

        return tuple(self.view(each, shape, along(axis)) for axis, each in enumerate(given))

    def triangle(self, x: Value, sign: str, diagonal: Argument) -> Value:
        by = size_of(diagonal) if isinstance(diagonal, Literal) else Size.of(int(diagonal))

        def test(writer: ElementWriter, places: Coordinates) -> str:
            return f"{writer.place(places[-1] + places[-2] * -1)} {sign} {by.text if by.constant is not None else writer.size(by)}"

        zero = self.operand(0, x.dtype)
        return Chosen(x.shape, x.dtype, ((test, x, lambda _, p: p), (None, zero, lambda _, p: ())))

    def _tril(self, x: Value, diagonal: Argument = 0) -> Value:
        return self.triangle(x, "<=", diagonal)

    def _triu(self, x: Value, diagonal: Argument = 0) -> Value:
        return self.triangle(x, ">=", diagonal)

    # --- elements by index ---

    def _embedding(
        self,
        index: Value,
        weight: Value,
        padding_idx: Argument = None,
        max_norm: Argument = None,
        *_: Argument,
        **__: Argument,
    ) -> Value:
        if max_norm is not None:
            raise Unsupported("embedding that renormalises")
        rank = len(index.shape)
        return Gathered(
            (*index.shape, weight.shape[1]), weight.dtype, weight, ((0, index, lambda places: places[:rank]),),
            lambda places: (ORIGIN, places[-1]), wraps=False,
        )  # fmt: skip

    def _gather(self, x: Value, dim: int, index: Value) -> Value:
        axis = _axis(dim, len(x.shape))
        return Gathered(
            index.shape, x.dtype, x, ((axis, index, lambda places: places),), lambda places: places, wraps=False
        )

    def _index_select(self, x: Value, dim: int, index: Value) -> Value:
        axis = _axis(dim, len(x.shape))
        shape = (*x.shape[:axis], *index.shape, *x.shape[axis + 1 :])
        return Gathered(
            shape, x.dtype, x, ((axis, index, lambda places: (places[axis],)),), lambda places: places, wraps=False
        )

    # --- creation ---

    def filled(self, number: Argument, sizes: Sequence[Argument], dtype: DType) -> Value:
        shape = tuple(size_of(each) for each in _flat(tuple(sizes)))
        single = self.operand(number, dtype)
        return View(shape, dtype, single, lambda _, places: ())

    def _zeros(self, *sizes: Argument, size: Argument = None, dtype: Argument = None, **_: Any) -> Value:
        return self.filled(0, sizes if size is None else (size,), dtype_of(dtype) or FLOAT32)

    def _ones(self, *sizes: Argument, size: Argument = None, dtype: Argument = None, **_: Any) -> Value:
        return self.filled(1, sizes if size is None else (size,), dtype_of(dtype) or FLOAT32)

    def _full(self, size: Argument, fill_value: Argument, dtype: Argument = None, **_: Any) -> Value:
        default = BOOL if isinstance(fill_value, bool) else INT64 if isinstance(fill_value, int) else FLOAT32
        return self.filled(fill_value, (size,), dtype_of(dtype) or default)

    def _zeros_like(self, x: Value, dtype: Argument = None, **_: Any) -> Value:
        return self.filled(0, x.shape, dtype_of(dtype) or x.dtype)

    def _ones_like(self, x: Value, dtype: Argument = None, **_: Any) -> Value:
        return self.filled(1, x.shape, dtype_of(dtype) or x.dtype)

    def _tensor(self, data: Argument, dtype: Argument = None, **_: Any) -> Value:
        if not isinstance(data, bool | int | float | Literal):
            raise Unsupported("a tensor of several numbers")
        number = data.value if isinstance(data, Literal) else data
        default = BOOL if isinstance(number, bool) else INT64 if isinstance(number, int) else FLOAT32
        return self.filled(data, (), dtype_of(dtype) or default)

    def _arange(
        self,
        *bounds: Argument,
        dtype: Argument = None,
        start: Argument = None,
        end: Argument = None,
        step: Argument = 1,
        **_: Any,
    ) -> Value:
        given = [each for each in (start, *bounds, end) if each is not None]
        if any(isinstance(each, float) for each in given):
            raise Unsupported("arange of floats")
        first, last, by = (0, given[0], step) if len(given) == 1 else (*given, step)[:3] if len(given) == 2 else given
        begin, stop, stride = size_of(first), size_of(last), size_of(by)
        count = (
            stop - begin
            if stride.is_one
            else derived("-(-{} // {})", lambda one, two: -(-one // two), stop - begin, stride)
        )
        return Counted((count,), dtype_of(dtype) or INT64, 0, begin, stride)

    # --- products ---

    def contracted(
        self,
        x: Value,
        y: Value,
        shape: Shape,
        one: Callable[[Coordinates], Coordinates],
        other: Callable[[Coordinates], Coordinates],
        length: Size,
        dtype: DType,
    ) -> Value:
        """Sums of products along a new last axis of this length."""
        wide = dtype if dtype.is_wide else FLOAT32
        whole = (*shape, length)
        products = Pointwise(
            whole, wide, "{0} * {1}",
            (View(whole, x.dtype, x, lambda _, p: one(p), name=x.name), View(whole, y.dtype, y, lambda _, p: other(p), name=y.name)),
            True, name="products",
        )  # fmt: skip
        return Reduction(shape, dtype, "sum", products, (len(shape),), name="total")

    def _matmul(self, x: Value, y: Value) -> Value:
        dtype = self.joined((x, y))
        if len(x.shape) == 1 or len(y.shape) == 1:
            raise Unsupported("matmul with a vector")
        batch = broadcast([x.shape[:-2], y.shape[:-2]])
        shape = (*batch, x.shape[-2], y.shape[-1])
        return self.contracted(
            x, y, shape,
            lambda p: (*broadcast_inside(x.shape[:-2], batch, p[:-3]), p[-3], p[-1]),
            lambda p: (*broadcast_inside(y.shape[:-2], batch, p[:-3]), p[-1], p[-2]),
            x.shape[-1], dtype,
        )  # fmt: skip

    _bmm = _mm = _matmul

    def _linear(self, x: Value, weight: Value, bias: Argument = None) -> Value:
        dtype = self.joined((x, weight))
        wide = dtype if dtype.is_wide else FLOAT32
        shape = (*x.shape[:-1], weight.shape[0])
        product_ = self.contracted(
            x,
            weight,
            shape,
            lambda p: (*p[:-2], p[-1]),
            lambda p: (p[-2], p[-1]),
            x.shape[-1],
            wide if bias is not None else dtype,
        )
        if bias is None:
            return product_
        return self.pointwise("{0} + {1}", product_, bias, dtype=dtype, work=wide)

    def _einsum(self, equation: str, *tensors: Argument) -> Value:
        given = [each for item in tensors for each in (item if isinstance(item, tuple | list) else [item])]
        inputs, arrow, output = equation.replace(" ", "").partition("->")
        letters = inputs.split(",")
        if not arrow or "." in equation or len(given) != 2 or any(len(set(each)) < len(each) for each in letters):
            raise Unsupported(f"an einsum as {equation}")
        sizes = {letter: size for own, each in zip(letters, given) for letter, size in zip(own, each.shape)}
        summed = [letter for letter in sizes if letter not in output]
        order = [*output, *summed]
        whole = tuple(sizes[letter] for letter in order)
        dtype = self.joined(given)
        wide = dtype if dtype.is_wide else FLOAT32

        def spread(each: Value, own: str) -> Value:
            return View(whole, each.dtype, each, lambda _, p: tuple(p[order.index(a)] for a in own), name=each.name)

        factors = tuple(spread(each, own) for each, own in zip(given, letters))
        products = Pointwise(whole, wide, "{0} * {1}", factors, True, name="products")
        if not summed:
            return Cast(whole, dtype, products)
        axes = tuple(range(len(output), len(order)))
        return Reduction(whole[: len(output)], dtype, "sum", products, axes, name="total")

    def convolved(
        self, rank: int, x: Value, weight: Value, bias: Argument = None, stride: Argument = 1, padding: Argument = 0,
        dilation: Argument = 1, groups: int = 1,
    ) -> Value:  # fmt: skip
        """A convolution as sums of products, each element of the result by itself."""
        if isinstance(padding, str):
            raise Unsupported(f"a convolution with padding {padding}")
        inner, own = weight.shape[1], weight.shape[0].divided(Size.of(groups))
        kernel = tuple(weight.shape[2 + axis].value for axis in range(rank))
        _, lengths, where, test = self.window(x, rank, kernel, stride, padding, dilation)
        out = self.window(x, rank, kernel, stride, padding, dilation)[0][2:]
        whole = (x.shape[0], weight.shape[0], *out, inner, *lengths)

        def place(writer: ElementWriter, places: Coordinates) -> Coordinates:
            group = ORIGIN if groups == 1 else parted(places[1], own, writer)[0]
            inside = where((places[0], ORIGIN, *places[2 : 2 + rank], *places[3 + rank :]))
            return (inside[0], group * inner + places[2 + rank], *inside[2:])

        elements: Value = View(whole, x.dtype, x, place, name=x.name)
        if test is not None:

            def fits(writer: ElementWriter, places: Coordinates) -> str:
                return test(writer, (places[0], ORIGIN, *places[2 : 2 + rank], *places[3 + rank :]))

            zero = Number((), x.dtype, "0.0")
            elements = Chosen(whole, x.dtype, ((fits, x, place), (None, zero, lambda _, p: ())), name=x.name)
        return self.weighed(elements, weight, bias, whole, rank, lambda p: (p[1], p[2 + rank], *p[3 + rank :]))

    def weighed(
        self,
        x: Value,
        weight: Value,
        bias: Argument,
        whole: Shape,
        rank: int,
        where: Callable[[Coordinates], Coordinates],
    ) -> Value:
        wide = x.dtype if x.dtype.is_wide else FLOAT32
        factors = (x, View(whole, weight.dtype, weight, lambda _, p: where(p), name=weight.name))
        products = Pointwise(whole, wide, "{0} * {1}", factors, True, name="products")
        axes = tuple(range(2 + rank, len(whole)))
        total = Reduction(
            whole[: 2 + rank], x.dtype if bias is None else wide, "sum", products, axes, bias is not None, name="total"
        )
        if bias is None:
            return total
        return self.pointwise("{0} + {1}", total, self.channels(bias, total), dtype=x.dtype, work=wide)

    def _conv1d(self, *args: Argument, **kwargs: Argument) -> Value:
        return self.convolved(1, *args, **kwargs)

    def _conv2d(self, *args: Argument, **kwargs: Argument) -> Value:
        return self.convolved(2, *args, **kwargs)

    def _conv3d(self, *args: Argument, **kwargs: Argument) -> Value:
        return self.convolved(3, *args, **kwargs)

    def _conv_transpose1d(
        self, x: Value, weight: Value, bias: Argument = None, stride: Argument = 1, padding: Argument = 0,
        more: Argument = 0, groups: int = 1, dilation: Argument = 1,
    ) -> Value:  # fmt: skip
        (s,), (p,), (o,), (d,) = (_each(each, 1) for each in (stride, padding, more, dilation))
        k = weight.shape[2].value
        size = x.shape[2]
        length = (size - 1) * s + (d * (k - 1) + o + 1 - 2 * p)
        own, inner = weight.shape[1], x.shape[1].divided(Size.of(groups))
        whole = (x.shape[0], own * groups, length, inner, weight.shape[2])

        def origin(places: Coordinates) -> Coordinate:
            return places[2] + places[4] * -d + Size.of(p)

        def fits(writer: ElementWriter, places: Coordinates) -> str:
            text = writer.place(origin(places))
            return f"({text} >= 0) & (({text}) % {s} == 0) & (({text}) // {s} < {writer.size(size)})"

        def channel(writer: ElementWriter, places: Coordinates) -> tuple[Coordinate, Coordinate]:
            group, rest = (ORIGIN, places[1]) if groups == 1 else parted(places[1], own, writer)
            return group * inner + places[3], rest

        def place(writer: ElementWriter, places: Coordinates) -> Coordinates:
            text = f"({writer.place(origin(places))}) // {s}"
            at = Coordinate(((Term(text, origin(places).variables, size), ONE),))
            return (places[0], channel(writer, places)[0], at)

        zero = Number((), x.dtype, "0.0")
        elements = Chosen(whole, x.dtype, ((fits, x, place), (None, zero, lambda _, p: ())), name=x.name)
        factor = View(
            whole, weight.dtype, weight, lambda writer, places: (*channel(writer, places), places[4]), name=weight.name
        )
        wide = x.dtype if x.dtype.is_wide else FLOAT32
        products = Pointwise(whole, wide, "{0} * {1}", (elements, factor), True, name="products")
        total = Reduction(
            whole[:3], x.dtype if bias is None else wide, "sum", products, (3, 4), bias is not None, name="total"
        )
        if bias is None:
            return total
        return self.pointwise("{0} + {1}", total, self.channels(bias, total), dtype=x.dtype, work=wide)

    def _outer(self, x: Value, y: Value) -> Value:
        return self._mul(self._unsqueeze(x, 1), self._unsqueeze(y, 0))

    # --- windows ---

    def window(
        self, x: Value, rank: int, kernel: Argument, stride: Argument, padding: Argument, dilation: Argument
    ) -> tuple[Shape, Shape, Callable[[Coordinates], Coordinates], Callable[[ElementWriter, Coordinates], str] | None]:
        """Shape of the results, lengths of the window, the place in x, and the condition under which it is inside."""
        lead = len(x.shape) - rank
        ks, ss, ps, ds = (_each(value, rank) for value in (kernel, stride, padding, dilation))
        out = tuple(
            derived(
                f"({{}} + {2 * p - d * (k - 1) - 1}) // {s} + 1",
                lambda n, s=s, p=p, d=d, k=k: (n + 2 * p - d * (k - 1) - 1) // s + 1,
                x.shape[lead + axis],
            )
            for axis, (k, s, p, d) in enumerate(zip(ks, ss, ps, ds))
        )

        def where(places: Coordinates) -> Coordinates:
            walked = places[lead + rank :]
            return (
                *places[:lead],
                *(
                    places[lead + axis] * ss[axis] + walked[axis] * ds[axis] + Size.of(-ps[axis])
                    for axis in range(rank)
                ),
            )

        def test(writer: ElementWriter, places: Coordinates) -> str:
            found = []
            for axis, place in enumerate(where(places)[lead:]):
                text = writer.place(place)
                found.append(f"({text} >= 0) & ({text} < {writer.size(x.shape[lead + axis])})")
            return " & ".join(found)

        return (*x.shape[:lead], *out), tuple(map(Size.of, ks)), where, test if any(ps) else None

    def pooled(
        self,
        kind: str,
        x: Value,
        rank: int,
        kernel: Argument,
        stride: Argument,
        padding: Argument,
        dilation: Argument,
        fill: str,
    ) -> Value:
        shape, lengths, where, test = self.window(
            x, rank, kernel, stride if stride not in (None, (), []) else kernel, padding, dilation
        )
        whole = (*shape, *lengths)
        elements: Value = View(whole, x.dtype, x, lambda _, p: where(p), name=x.name)
        if test is not None:
            plain = (test, x, lambda _, p: where(p))
            elements = Chosen(whole, x.dtype, (plain, (None, Number((), x.dtype, fill), lambda _, p: ())))
        axes = tuple(range(len(shape), len(whole)))
        wide = x.dtype if x.dtype.is_wide else FLOAT32
        if kind == "max":
            return self.extreme("max", elements, axes, False)
        return self.reduced("sum", elements, axes, False, wide, exact=True)

    def _max_pool2d(
        self,
        x: Value,
        kernel: Argument,
        stride: Argument = None,
        padding: Argument = 0,
        dilation: Argument = 1,
        ceil_mode: Argument = False,
        return_indices: Argument = False,
    ) -> Value:
        if return_indices or ceil_mode and not self._even(x, kernel, stride, padding, dilation):
            raise Unsupported("max_pool2d with indices or that rounds up")
        return self.pooled("max", x, 2, kernel, stride, padding, dilation, 'float("-inf")')

    def _even(self, x: Value, kernel: Argument, stride: Argument, padding: Argument, dilation: Argument) -> bool:
        """Whether windows fit without a rest, so that rounding up changes nothing."""
        ks, ss, ps, ds = (
            _each(value, 2) for value in (kernel, kernel if stride in (None, (), []) else stride, padding, dilation)
        )
        return all(
            (n + 2 * p - d * (k - 1) - 1) % s == 0
            for axis, (k, s, p, d) in enumerate(zip(ks, ss, ps, ds)) for n in x.shape[len(x.shape) - 2 + axis].values
        )  # fmt: skip

    def _avg_pool2d(
        self,
        x: Value,
        kernel: Argument,
        stride: Argument = None,
        padding: Argument = 0,
        ceil_mode: Argument = False,
        count_include_pad: Argument = True,
        divisor_override: Argument = None,
    ) -> Value:
        if (
            any(_each(padding, 2))
            and not count_include_pad
            or divisor_override
            or ceil_mode
            and not self._even(x, kernel, stride, padding, 1)
        ):
            raise Unsupported("avg_pool2d with a divisor of its own or that rounds up")
        total = self.pooled("sum", x, 2, kernel, stride, padding, 1, "0.0")
        count = math.prod(_each(kernel, 2))
        return self.pointwise("{0} / {1}", total, float(count), dtype=x.dtype, work=total.dtype)

    def adaptive(self, x: Value, rank: int, size: Argument) -> Value:
        wanted = list(size) if isinstance(size, tuple | list) else [size] * rank
        lead = len(x.shape) - rank
        if all(each == 1 for each in wanted):
            return self.averaged(x, tuple(range(lead, len(x.shape))), True, x.dtype)
        lengths: list[Size] = []
        for axis, each in enumerate(wanted):
            whole = x.shape[lead + axis]
            if each is None:
                each = whole
            if any(one % two for one, two in zip(*_aligned(whole, size_of(each)))):
                raise Unsupported("adaptive pooling into windows of different lengths")
            lengths.append(whole.divided(size_of(each)))
        out = tuple(x.shape[lead + axis] if each is None else size_of(each) for axis, each in enumerate(wanted))
        whole_shape = (*x.shape[:lead], *out, *lengths)
        elements = View(
            whole_shape, x.dtype, x,
            lambda _, p: (*p[:lead], *(p[lead + a] * lengths[a] + p[lead + rank + a] for a in range(rank))), name=x.name,
        )  # fmt: skip
        return self.averaged(elements, tuple(range(lead + rank, lead + 2 * rank)), False, x.dtype)

    def _adaptive_avg_pool2d(self, x: Value, size: Argument) -> Value:
        return self.adaptive(x, 2, size)

    def _adaptive_avg_pool1d(self, x: Value, size: Argument) -> Value:
        return self.adaptive(x, 1, size)


class SizeNumber(Number):
    """A size as an operand: the number of elements that a mean is over."""

    def __init__(self, shape: Shape, dtype: DType, size: Size) -> None:
        super().__init__(shape, dtype, "")
        self.size = size

    def code(self, writer: ElementWriter, places: Coordinates, mask: str) -> str:
        return writer.size(self.size)


# --- arguments ---


def size_of(value: Argument) -> Size:
    if isinstance(value, Size):
        return value
    if isinstance(value, Literal):
        return Size.atom(value.name, [int(each) for each in value.values])
    if isinstance(value, bool) or not isinstance(value, int):
        raise Unsupported(f"{value} as a size")
    return Size.of(value)


def dtype_of(value: Argument) -> DType | None:
    if isinstance(value, DType):
        return value
    if isinstance(value, Symbol):
        name = value.path.removeprefix("torch.")
        name = {
            "float": "float32",
            "half": "float16",
            "double": "float64",
            "long": "int64",
            "int": "int32",
            "short": "int16",
        }.get(name, name)
        if name in (*FLOATS, *INTEGERS, "bool"):
            return DType(name)
    return None


def broadcast(shapes: Sequence[Shape]) -> Shape:
    """The common shape of operands."""
    rank = max((len(each) for each in shapes), default=0)
    found: list[Size] = []
    for axis in range(-rank, 0):
        size = ONE
        for each in shapes:
            if len(each) >= -axis:
                size = _joint(size, each[axis])
        found.append(size)
    return tuple(found)


def _joint(one: Size, other: Size) -> Size:
    if one.seems(other):
        return other if one.is_one else one
    if one.seems_one:
        return other
    if other.seems_one:
        return one
    return derived("joint({}, {})", lambda a, b: b if a == 1 else a, one, other)


def broadcast_inside(shape: Shape, whole: Shape, places: Coordinates) -> Coordinates:
    more = len(whole) - len(shape)
    return tuple(
        ORIGIN if size.is_one or (size.seems_one and not wide.seems_one) else place
        for size, wide, place in zip(shape, whole[more:], places[more:])
    )


def _bound(label: str, args: Sequence[Argument], kwargs: Mapping[str, Argument], node: Node) -> dict[str, Argument]:
    names = _SIGNATURES[label].split()
    if node.target.startswith("torch.nn.functional.") and label in ("softmax", "log_softmax"):
        names = ["x", "dim", "_stacklevel", "dtype"]
    renamed = {
        "input": "x", "normalized_shape": "shape", "running_mean": "mean", "running_var": "var", "num_groups": "groups",
        "start_dim": "start", "end_dim": "end", "dim0": "one", "dim1": "other", "negative_slope": "slope", "other": "y",
        "min_val": "low", "max_val": "high", "ord": "p", "axis": "dim", "split_size_or_sections": "size", "split_size": "size",
        "kernel_size": "kernel", "output_size": "size", "self": "x", "target": "y",
    }  # fmt: skip
    found: dict[str, Argument] = {}
    rest = list(args)
    if (
        label in ("sum", "mean", "any", "all", "amax", "amin")
        and len(rest) > 1
        and all(isinstance(e, int) and not isinstance(e, bool) for e in rest[1:])
        and len(rest) > 2
    ):
        raise Unsupported(f"{label} with axes one by one")
    for name, value in zip(names, rest):
        found[name] = value
    if len(rest) > len(names):
        raise Unsupported(f"{label} with {len(rest)} arguments")
    for name, value in kwargs.items():
        known = name if name in names else renamed.get(name, name)
        if known not in names:
            if name in (
                "out",
                "requires_grad",
                "memory_format",
                "non_blocking",
                "copy",
                "pin_memory",
                "layout",
                "device",
            ) and not isinstance(value, Value):
                continue
            raise Unsupported(f"{label} with {name}")
        found[known] = value
    found.pop("_stacklevel", None)
    return found


def _number(value: Argument, dtype: DType) -> str:
    if isinstance(value, bool):
        return str(int(value)) if not dtype.is_bool else str(value)
    if isinstance(value, float):
        if math.isinf(value) or math.isnan(value):
            return f'float("{value}")'
        return repr(value) if dtype.is_float else str(int(value))
    if isinstance(value, int):
        return f"{float(value)}" if dtype.is_float else str(value)
    raise Unsupported(f"{value} as a number")


def _category(dtype: DType) -> int:
    return 0 if dtype.is_bool else 2 if dtype.is_float else 1


def _axis(dim: Argument, rank: int) -> int:
    if isinstance(dim, bool) or not isinstance(dim, int) or not -rank <= dim < max(rank, 1):
        raise Unsupported(f"{dim} as an axis")
    return dim % rank if rank else 0


def _flat(sizes: Sequence[Argument]) -> list[Argument]:
    found: list[Argument] = []
    for each in sizes:
        found.extend(_flat(each) if isinstance(each, tuple | list) else [each])
    return found


def _rest(x: Value, given: Sequence[Argument], known: Sequence[Size]) -> Size:
    """The size for -1. Equal sizes on both sides are left out first, so that it stays simple."""
    left, right = list(x.shape), list(known)
    for each in list(right):
        for own in left:
            if own == each or own.seems(each):
                left.remove(own)
                right.remove(each)
                break
    return product(left).divided(product(right))


def _groups(before: Shape, after: Shape) -> list[tuple[list[int], list[int]]]:
    """Dimensions that belong together when a shape becomes another, by their sizes in the subgraphs."""
    found: list[tuple[list[int], list[int]]] = []
    i = j = 0
    while i < len(before) or j < len(after):
        one, other = ([i] if i < len(before) else []), ([j] if j < len(after) else [])
        if one and other and before[i].seems(after[j]):
            found.append((one, other))
            i, j = i + 1, j + 1
            continue
        if one and before[i].seems_one and not (other and after[j].seems_one):
            found.append((one, []))
            i += 1
            continue
        if other and after[j].seems_one:
            found.append(([], other))
            j += 1
            continue
        if not one or not other:
            raise Unsupported("a view whose sizes do not fit")
        left, right = before[i], after[j]
        while not left.seems(right):
            counts = list(zip(*_aligned(left, right)))
            if all(a <= b for a, b in counts) and one[-1] + 1 < len(before):
                one.append(one[-1] + 1)
                left = left * before[one[-1]]
            elif other[-1] + 1 < len(after):
                other.append(other[-1] + 1)
                right = right * after[other[-1]]
            else:
                raise Unsupported("a view whose sizes do not fit")
        found.append((one, other))
        i, j = one[-1] + 1, other[-1] + 1
    return found


def _aligned(one: Size, other: Size) -> tuple[tuple[int, ...], tuple[int, ...]]:
    count = max(len(one.values), len(other.values))
    return (one.values * count)[:count], (other.values * count)[:count]


def _is_ellipsis(value: Argument) -> bool:
    return value is Ellipsis or isinstance(value, Symbol) and value.path.endswith("Ellipsis")


def _sliced(given: slice, size: Size) -> tuple[Size, Size, Size]:
    """Start, length and step of a slice of a dimension."""

    def bound(value: Argument, default: Size) -> Size:
        if value is None:
            return default
        wanted = value if isinstance(value, Size) else size_of(value)
        if all(each < 0 for each in wanted.values):
            wanted = size + wanted
        lows, highs = zip(*zip(*_aligned(wanted, size)))
        if all(a >= b for a, b in zip(lows, highs)):
            return size
        if any(a > b for a, b in zip(lows, highs)):
            return derived("min({}, {})", min, wanted, size)
        return wanted

    step = size_of(1 if given.step is None else given.step)
    start, stop = bound(given.start, ZERO), bound(given.stop, size)
    if step.is_one:
        return start, stop - start, step
    return start, derived("-(-{} // {})", lambda one, two: -(-one // two), stop - start, step), step


def _position(value: Argument, size: Size) -> Size:
    at = value if isinstance(value, Size) else size_of(value)
    return size + at if all(each < 0 for each in at.values) else at


def _with_origins(places: Coordinates, axes: "set[int] | Sequence[int]") -> Coordinates:
    """Coordinates with the origin put in at these axes."""
    found: list[Coordinate] = []
    left = list(places)
    count = len(places) + len(axes)
    for axis in range(count):
        found.append(ORIGIN if axis in axes else left.pop(0))
    return tuple(found)


def _each(value: Argument, rank: int) -> list[int]:
    found = list(value) if isinstance(value, tuple | list) else [value] * rank
    found = found * rank if len(found) == 1 else found
    if len(found) != rank or not all(isinstance(each, int) for each in found):
        raise Unsupported(f"{value} for a window")
    return found
