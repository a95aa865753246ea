"""Patches of Triton's interpreter that make it compute on the CPU what a GPU computes.

Unpatched, it treats the bits of bfloat16 as integers, so that products of bfloat16 blocks are nonsense and conversions
from float32 truncate instead of rounding; it lacks libdevice altogether; and it gives zeros where a GPU gives nothing
that is defined. With these patches, a bfloat16 block is a float32 array whose values are rounded to bfloat16 after each
operation, as a GPU does. What only a GPU can run raises NeedsGpu."""

import math
import statistics
from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import triton.language as tl
import triton.runtime.interpreter as interpreter
from triton.language.extra import libdevice
from triton.language.extra.cuda import gdc
from triton.language.extra.cuda import libdevice as cuda_libdevice
from triton.language.extra.cuda import utils as cuda_functions
from triton.runtime.jit import ConstexprFunction

from passnet_core.judge.gpu_on_cpu import block_arithmetic, kernel_syntax, launching
from passnet_core.judge.gpu_on_cpu.compiler_hints import HINTS
from passnet_core.judge.gpu_on_cpu.fast_functions import FAST
from passnet_core.judge.gpu_on_cpu.needs_gpu import NeedsGpu

FLOAT32_MANTISSA_BITS_LOST = 16


def mend() -> None:
    """Patch the interpreter of this process. Call before a bundle is loaded; a second call changes nothing."""
    # numpy would warn where a GPU stays silent
    np.seterr(all="ignore")
    if not getattr(interpreter.InterpreterBuilder, "mended", False):
        _mend_bfloat16()
        _mend_scalar_loads()
        _mend_exchanges()
        _mend_libdevice()
        _refuse_the_rest()
        _mend_language()
        _remember_shapes()
        _mend_constants()
        interpreter.InterpreterBuilder.get_all_ones_value = _all_ones
        block_arithmetic.mend()
        kernel_syntax.mend()
        launching.mend()
        interpreter.InterpreterBuilder.mended = True


# --- constants -------------------------------------------------------------------------------------------------------

REFLECTED = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and", "or", "xor", "lshift", "rshift")
COMPARED = ("gt", "ge", "lt", "le", "eq", "ne")
"""Operators of Python, by the name of their method."""


def _mend_constants() -> None:
    """Let a constant to the left of a block leave the operation to the block, as Triton's compiler does. The constant's
    own operators would wrap the block in another constant, which no other operation takes. And let functions of
    constants take nothing else: what a block is made of depends on who runs the kernel."""
    _require_constants()
    for name in (*(f"__{each}__" for each in REFLECTED), *(f"__{each}__" for each in COMPARED)):
        operator = getattr(tl.constexpr, name, None)
        if operator is not None:
            setattr(tl.constexpr, name, _leaving_blocks(operator))


def _all_ones(self: Any, kind: Any) -> Any:
    """What ~x is x ^ of. numpy takes no -1 for an unsigned integer."""
    return interpreter.TensorHandle(np.full(1, -1).astype(interpreter._get_np_dtype(kind)), kind.scalar)


def _require_constants() -> None:
    call = ConstexprFunction.__call__

    def called(self: Any, *args: Any, **kwargs: Any) -> Any:
        for each in (*args, *kwargs.values()):
            if _is_computed(each):
                name = self.fn.__name__
                raise TypeError(f"{name}, a constexpr_function, takes constants only, and is given {_kind_of(each)}")
        return call(self, *args, **kwargs)

    ConstexprFunction.__call__ = called


def _is_computed(value: Any) -> bool:
    """Whether a value is, or holds, what a kernel computes, or a function."""
    if isinstance(value, tuple | list):
        return any(map(_is_computed, value))
    held = getattr(value, "value", None) if isinstance(value, tl.constexpr) else value
    return isinstance(held, tl.core.base_value | interpreter.TensorHandle) or _is_function(held)


def _is_function(value: Any) -> bool:
    """Whether a value is a function, which the interpreter and the compiler represent differently."""
    return callable(value) and not isinstance(value, type)


def _kind_of(value: Any) -> str:
    return "a function" if _is_function(value) else "what a kernel computes"


def _leaving_blocks(operator: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def operated(self: Any, other: Any) -> Any:
        return NotImplemented if isinstance(other, tl.tensor) else operator(self, other)

    return operated


# --- bfloat16 --------------------------------------------------------------------------------------------------------


def rounded(values: np.ndarray) -> np.ndarray:
    """float32 values rounded to the nearest bfloat16, ties to even; still float32."""
    bits = np.ascontiguousarray(values, dtype=np.float32).view(np.uint32)
    up = np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))
    # rounding up would turn some NaNs into zero or infinity
    kept = np.where((bits & np.uint32(0x7FFFFFFF)) > np.uint32(0x7F800000), bits | np.uint32(0x400000), bits + up)
    return (kept & np.uint32(0xFFFF0000)).view(np.float32).reshape(np.shape(values))


def to_bits(values: np.ndarray) -> np.ndarray:
    """The 16 bits of each bfloat16 that is stored as a float32."""
    return (rounded(values).view(np.uint32) >> np.uint32(FLOAT32_MANTISSA_BITS_LOST)).astype(np.uint16)


def from_bits(bits: np.ndarray) -> np.ndarray:
    return (np.ascontiguousarray(bits).view(np.uint16).astype(np.uint32) << np.uint32(16)).view(np.float32)


def _is_bfloat16(kind: Any) -> bool:
    return getattr(kind, "scalar", kind) == tl.bfloat16


def _mend_scalar_loads() -> None:
    """Let the load of a scalar that its mask leaves out give `other`: the interpreter takes zero for none at all."""
    semantic = type(interpreter.interpreter_semantic)
    load_legacy = semantic._load_legacy

    def load(self: Any, pointer: Any, mask: Any, other: Any, *rest: Any) -> Any:
        loaded = load_legacy(self, pointer, mask, other, *rest)
        left_out = mask is not None and not pointer.type.is_block() and not np.any(mask.handle.data)
        return self.cast(other, loaded.type) if left_out and other is not None else loaded

    semantic._load_legacy = load


def _mend_bfloat16() -> None:
    builder = interpreter.InterpreterBuilder
    numpy_type, fits = interpreter._get_np_dtype, interpreter._validate_np_data_size
    handle = interpreter.TensorHandle

    known = {"bf16": np.dtype(np.float32)}

    def holding_type(kind: Any) -> Any:
        element = kind.element_ty if isinstance(kind, tl.block_type) else kind
        if isinstance(element, tl.pointer_type):
            return numpy_type(kind)
        if element.name not in known:
            known[element.name] = numpy_type(element)
        return known[element.name]

    interpreter._get_np_dtype = holding_type
    interpreter._validate_np_data_size = lambda data, kind: (
        data.itemsize <= 4 if kind == tl.bfloat16 else fits(data, kind)
    )
    _round_results(handle)
    masked_load, masked_store = builder.create_masked_load, builder.create_masked_store
    bitcast, fabs, to_float = builder.create_bitcast, builder.create_fabs, builder.create_fp_to_fp
    cast = builder.cast_impl

    def load(self: Any, pointers: Any, mask: Any, other: Any, *rest: Any, **named: Any) -> Any:
        kind, shape = pointers.get_element_ty(), np.shape(pointers.data)
        chosen = getattr(mask, "data", mask) if not isinstance(mask, np.ndarray) else mask
        if kind != tl.bfloat16:
            if other is None and not chosen.all():
                other = handle(undefined(shape, holding_type(kind)), kind)
            return masked_load(self, pointers, mask, other, *rest, **named)
        spare = undefined(shape, np.dtype(np.uint16)) if other is None else to_bits(np.broadcast_to(other.data, shape))
        bits = interpreter._interpreter.load(pointers.data, chosen, spare, np.dtype(np.uint16))
        return handle(from_bits(bits), tl.bfloat16)

    def store(self: Any, pointers: Any, value: Any, mask: Any, *rest: Any, **named: Any) -> Any:
        if _is_bfloat16(value.dtype):
            value = handle(to_bits(value.data), tl.uint16)
        return masked_store(self, pointers, value, mask, *rest, **named)

    def view(self: Any, source: Any, kind: Any) -> Any:
        if _is_bfloat16(source.dtype):
            source = handle(to_bits(source.data), tl.uint16)
        if _is_bfloat16(kind):
            return handle(from_bits(source.data), tl.bfloat16)
        return bitcast(self, source, kind)

    def absolute(self: Any, value: Any) -> Any:
        return handle(np.abs(value.data), tl.bfloat16) if _is_bfloat16(value.dtype) else fabs(self, value)

    def convert(self: Any, source: Any, kind: Any, *rest: Any) -> Any:
        if _is_bfloat16(source.dtype) or _is_bfloat16(kind):
            if _is_float8(source.dtype):
                source = to_float(self, source, tl.float32, *rest)
            if _is_float8(kind):
                return to_float(self, handle(source.data.astype(np.float32), tl.float32), kind, *rest)
            return handle(source.data.astype(holding_type(kind)), kind.scalar)
        return to_float(self, source, kind, *rest)

    def plain_cast(self: Any, source: Any, kind: Any) -> Any:
        if _is_bfloat16(source.dtype) or _is_bfloat16(kind):
            return handle(source.data.astype(holding_type(kind)), kind.scalar)
        return cast(self, source, kind)

    def refuse_bfloat16(name: str) -> Callable[..., Any]:
        before = getattr(builder, name)

        def atomic(self: Any, *args: Any) -> Any:
            if any(_is_bfloat16(getattr(each, "dtype", None)) for each in args):
                raise NeedsGpu("an atomic operation on bfloat16 (on float32 it runs everywhere)")
            return before(self, *args)

        return atomic

    builder.create_masked_load = load
    builder.create_masked_store = store
    builder.create_bitcast = view
    builder.create_int_to_ptr = view
    builder.create_ptr_to_int = view
    builder.create_fabs = absolute
    builder.create_fp_to_fp = convert
    builder.cast_impl = plain_cast
    builder.get_bf16 = lambda self, value: handle(np.array([value], dtype=np.float32), tl.bfloat16)
    for name in ("create_atomic_rmw", "create_atomic_cas"):
        setattr(builder, name, refuse_bfloat16(name))


def _is_float8(kind: Any) -> bool:
    scalar = getattr(kind, "scalar", kind)
    return scalar.primitive_bitwidth == 8 and scalar.is_floating()


def _round_results(handle: Any) -> None:
    """Round every bfloat16 block: numpy's float32 results lie between the bfloat16 values."""
    check = handle.__post_init__

    def check_and_round(self: Any) -> None:
        check(self)
        if self.dtype == tl.bfloat16 and self.data.dtype != np.bool_:
            self.data = rounded(self.data)

    handle.__post_init__ = check_and_round


# --- memory ----------------------------------------------------------------------------------------------------------


def undefined(shape: tuple[int, ...], kind: np.dtype[Any]) -> np.ndarray:
    """What the masked lanes of a load without other hold: nothing that is defined on a GPU, and here what shows up in
    any result that depends on it, all bits set, which is NaN in floating dtypes."""
    filled = np.empty(shape, kind)
    filled.reshape(-1).view(np.uint8).fill(1 if kind == np.bool_ else 0xFF)
    return filled


def _mend_exchanges() -> None:
    """Let atomic exchanges take floats, whose bits they move."""
    builder = interpreter.InterpreterBuilder
    change = builder.create_atomic_rmw
    as_bits = {tl.float32: tl.int32, tl.float64: tl.int64}

    def atomic(self: Any, operation: Any, pointers: Any, value: Any, *rest: Any) -> Any:
        if operation.name != "XCHG" or value.dtype.scalar not in as_bits:
            return change(self, operation, pointers, value, *rest)
        bits = np.ascontiguousarray(value.data).view(f"i{value.data.itemsize}")
        before = change(self, operation, pointers, interpreter.TensorHandle(bits, as_bits[value.dtype.scalar]), *rest)
        return interpreter.TensorHandle(before.data.view(value.data.dtype), value.dtype)

    builder.create_atomic_rmw = atomic


# --- the language ----------------------------------------------------------------------------------------------------


def _mend_language() -> None:
    """Patch the language once per launch. Unpatched, the interpreter does so at each call of a function written in
    Triton, such as tl.sigmoid, in each program, which takes longer than the computation; and it does so only for
    kernels whose file names triton.language as a whole."""
    patch = interpreter._patch_lang
    whole = SimpleNamespace(__globals__={"tl": tl, "core": tl.core})
    launches: list[Any] = []

    def patch_once(function: Any) -> Any:
        if launches:
            return interpreter._LangPatchScope()
        scope = patch(whole)
        counted = kernel_syntax.Operations.counted
        for name, function in {**HINTS, "range": counted, "static_assert": launching.static_assert}.items():
            for module in (tl, tl.core):
                scope.set_attr(module, name, function)
        for name in ("dot_scaled", "map_elementwise"):
            scope.set_attr(tl, name, _refusing(f"tl.{name}"))
        launches.append(scope)

        def restore() -> None:
            launches.clear()
            type(scope).restore(scope)

        scope.restore = restore
        return scope

    interpreter._patch_lang = patch_once


def _refuse_the_rest() -> None:
    """Say of what the interpreter lacks that it needs a GPU."""
    builder = interpreter.InterpreterBuilder

    def lacking(self: Any, name: str) -> Any:
        if not name.startswith("create_"):
            raise AttributeError(f"The interpreter has no {name}.")
        return _refusing(f"tl.{name.removeprefix('create_')}")

    builder.__getattr__ = lacking
    builder.create_inline_asm = _refusing("tl.inline_asm_elementwise")
    builder.create_extern_elementwise = _refusing("a function of an external library")
    for module in (cuda_functions, gdc):
        for name, function in vars(module).items():
            if tl.core.is_builtin(function) and function.__module__ == module.__name__:
                refusing = _refusing(f"tl.extra.cuda.{name}")
                setattr(module, name, refusing)
                if hasattr(tl.extra.cuda, name):
                    setattr(tl.extra.cuda, name, refusing)


def _refusing(construct: str) -> Callable[..., Any]:
    def refuse(*_args: Any, **_named: Any) -> Any:
        raise NeedsGpu(construct)

    return refuse


def _remember_shapes() -> None:
    """Cache block types and shapes, which Triton builds anew for the result of each operation in each program. Programs
    use few of them, and no operation changes one."""
    describe, make = tl.block_type.__init__, tl.tensor.__init__
    types: dict[tuple[str, tuple[int, ...]], dict[str, Any]] = {}
    shapes: dict[tuple[int, ...], dict[str, Any]] = {}

    def numbers(shape: Any) -> tuple[Any, ...]:
        return tuple([getattr(size, "value", size) for size in getattr(shape, "values", shape)])

    def described(self: Any, element_ty: Any, shape: Any) -> None:
        sizes = numbers(shape)
        # pointer types differ in more than their names
        known = types.get((element_ty.name, sizes)) if type(element_ty) is tl.dtype else None
        if known is not None:
            vars(self).update(known)
            return
        describe(self, element_ty, shape)
        if type(element_ty) is tl.dtype:
            types[element_ty.name, sizes] = dict(vars(self))

    def made(self: Any, handle: Any, kind: Any) -> None:
        sizes = numbers(kind.shape) if kind.is_block() else ()
        known = shapes.get(sizes)
        if known is not None:
            vars(self).update(known, handle=handle, type=kind, dtype=kind.scalar)
            return
        make(self, handle, kind)
        shapes[sizes] = {name: vars(self)[name] for name in ("shape", "numel")}

    tl.block_type.__init__, tl.tensor.__init__ = described, made


# --- libdevice -------------------------------------------------------------------------------------------------------


def _each(function: Callable[..., float], otherwise: float = math.nan) -> Callable[..., np.ndarray]:
    """Vectorize a function of Python numbers. otherwise: what it gives where the function has no value."""

    def one(*values: float) -> float:
        try:
            return function(*values)
        except (ValueError, OverflowError):
            return otherwise

    return np.vectorize(one, otypes=[np.float64])


def _gamma(value: float) -> float:
    try:
        return math.gamma(value)
    except OverflowError:
        return math.inf


def _inverse_normal(probability: float) -> float:
    if probability in (0.0, 1.0):
        return math.inf if probability else -math.inf
    return statistics.NormalDist().inv_cdf(probability)


def _averaged(function: Callable[[float], np.ndarray]) -> np.ndarray:
    """The mean of a function over all angles: for Bessel functions of arguments up to some hundreds."""
    found: np.ndarray = np.mean([function(angle) for angle in np.arange(ANGLES) * (2 * np.pi / ANGLES)], axis=0)
    return found


ANGLES = 1024

OF_NUMPY = (
    "abs", "cbrt", "ceil", "copysign", "cos", "cosh", "exp", "exp2", "expm1", "floor", "fmod", "hypot", "log",
    "log10", "log1p", "log2", "nextafter", "rint", "sin", "sinh", "sqrt", "tan", "tanh", "trunc",
)  # fmt: skip
"""Functions that numpy has by the same name."""
FLOAT_FUNCTIONS: dict[str, Callable[..., np.ndarray]] = {
    **{name: getattr(np, name) for name in OF_NUMPY},
    "acos": np.arccos,
    "acosh": np.arccosh,
    "asin": np.arcsin,
    "asinh": np.arcsinh,
    "atan": np.arctan,
    "atan2": np.arctan2,
    "atanh": np.arctanh,
    "cyl_bessel_i0": lambda x: _averaged(lambda angle: np.exp(x * np.cos(angle))),
    "cyl_bessel_i1": lambda x: _averaged(lambda angle: np.exp(x * np.cos(angle)) * np.cos(angle)),
    "cospi": lambda x: np.cos(np.pi * x),
    "erf": _each(math.erf),
    "erfc": _each(math.erfc),
    "erfcx": _each(lambda x: math.exp(x * x) * math.erfc(x) if x < 20 else (1 - 0.5 / x**2) / (x * math.sqrt(math.pi))),
    "erfinv": lambda x: FLOAT_FUNCTIONS["normcdfinv"]((x + 1) / 2) / math.sqrt(2),
    "exp10": lambda x: np.power(10.0, x),
    "fdim": lambda x, y: np.maximum(x - y, 0),
    "fma": lambda x, y, z: x * y + z,
    "j0": lambda x: _averaged(lambda angle: np.cos(x * np.sin(angle))),
    "j1": lambda x: _averaged(lambda angle: np.cos(angle - x * np.sin(angle))),
    "lgamma": _each(math.lgamma, otherwise=math.inf),
    "nearbyint": np.rint,
    "ldexp": lambda x, exponent: np.ldexp(x, exponent.astype(np.int64)),
    "logb": lambda x: np.floor(np.log2(np.abs(x))),
    "norm3d": lambda x, y, z: np.sqrt(x * x + y * y + z * z),
    "norm4d": lambda x, y, z, w: np.sqrt(x * x + y * y + z * z + w * w),
    "normcdf": lambda x: 0.5 * FLOAT_FUNCTIONS["erfc"](-x / math.sqrt(2)),
    "normcdfinv": _each(_inverse_normal),
    "pow": np.power,
    "rcbrt": lambda x: 1 / np.cbrt(x),
    "remainder": lambda x, y: x - y * np.rint(x / y),
    "rhypot": lambda x, y: 1 / np.hypot(x, y),
    "rnorm3d": lambda x, y, z: 1 / np.sqrt(x * x + y * y + z * z),
    "rnorm4d": lambda x, y, z, w: 1 / np.sqrt(x * x + y * y + z * z + w * w),
    "round": lambda x: np.copysign(np.floor(np.abs(x) + 0.5), x),
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "scalbn": lambda x, exponent: np.ldexp(x, exponent.astype(np.int64)),
    "saturatef": lambda x: np.clip(np.nan_to_num(x, nan=0.0), 0.0, 1.0),
    "sinpi": lambda x: np.sin(np.pi * x),
    "tgamma": _each(_gamma),
}
"""Computed in float64 and rounded once, which is at least as accurate as on a GPU."""

SAME_AS: dict[str, Callable[..., np.ndarray]] = {
    "add_rn": np.add,
    "div_rn": np.divide,
    "fast_tanhf": np.tanh,
    "mul_rn": np.multiply,
    "rcp_rn": lambda x: 1 / x,
    "sub_rn": np.subtract,
    "fma_rn": lambda x, y, z: x * y + z,
    "rsqrt_rn": lambda x: 1 / np.sqrt(x),
    "sqrt_rn": np.sqrt,
}
"""Explicitly rounded functions, which are rounded once like the others; and one of another vendor's, which the compiler
refuses."""

OF_OTHER_DTYPE: dict[str, tuple[Callable[..., np.ndarray], Any]] = {
    "finitef": (np.isfinite, tl.int1),
    "isfinited": (np.isfinite, tl.int1),
    "isinf": (np.isinf, tl.int1),
    "isnan": (np.isnan, tl.int1),
    "signbit": (np.signbit, tl.int32),
    "ilogb": (FLOAT_FUNCTIONS["logb"], tl.int32),
    "float2uint_rn": (np.rint, tl.uint32),
    "float2uint_rz": (np.trunc, tl.uint32),
    "int2float_rn": (np.positive, tl.float32),
    "uint2float_rn": (np.positive, tl.float32),
    "llrint": (np.rint, tl.int64),
    "llround": (FLOAT_FUNCTIONS["round"], tl.int64),
    "float2int_rn": (np.rint, tl.int32),
    "float2int_rz": (np.trunc, tl.int32),
    "float2int_rd": (np.floor, tl.int32),
    "float2int_ru": (np.ceil, tl.int32),
}
"""Functions whose results are of another dtype than their arguments, and that dtype."""

BITS: dict[str, tuple[Callable[[np.ndarray], np.ndarray], Any]] = {
    "brev": (lambda bits: _counted(bits, lambda text: int(text[::-1], 2)), None),
    "clz": (lambda bits: _counted(bits, lambda text: len(text) - len(text.lstrip("0"))), tl.int32),
    "ffs": (lambda bits: _counted(bits, lambda text: len(text) - text.rfind("1") if "1" in text else 0), tl.int32),
    "float_as_int": (lambda bits: bits, tl.int32),
    "float_as_uint": (lambda bits: bits, tl.uint32),
    "int_as_float": (lambda bits: bits, tl.float32),
    "popc": (lambda bits: _counted(bits, lambda text: text.count("1")), tl.int32),
    "uint_as_float": (lambda bits: bits, tl.float32),
}
"""Functions of the bits of one block, and the dtype of the result; None for that of the argument."""


def _counted(bits: np.ndarray, function: Callable[[str], int]) -> np.ndarray:
    """Apply a function to each value, written with as many binary digits as it has bits."""
    digits = bits.itemsize * 8
    counts = [function(f"{int(each):0{digits}b}") for each in bits.reshape(-1)]
    return np.array(counts, dtype=bits.dtype).reshape(bits.shape)


def _mend_libdevice() -> None:
    for name, function in (FLOAT_FUNCTIONS | SAME_AS | FAST).items():
        _define(name, _computing(function, None))
    for name, (function, kind) in OF_OTHER_DTYPE.items():
        _define(name, _computing(function, kind))
    for name, (function, kind) in BITS.items():
        _define(name, _computing_bits(function, kind))
    known = {*FLOAT_FUNCTIONS, *SAME_AS, *FAST, *OF_OTHER_DTYPE, *BITS}
    for name, lacking in list(vars(cuda_libdevice).items()):
        if name not in known and callable(lacking) and lacking.__module__ == cuda_libdevice.__name__:
            _define(name, _refusing(f"libdevice.{name}"))


def _define(name: str, function: Callable[..., Any]) -> None:
    modules: tuple[ModuleType, ...] = (libdevice, cuda_libdevice)
    for module in modules:
        if hasattr(module, name):
            setattr(module, name, function)


def _computing_bits(function: Callable[[np.ndarray], np.ndarray], kind: Any) -> Callable[..., Any]:
    """A libdevice function of bits on the interpreter's tensors."""

    def call(arg: Any, _semantic: Any = None, **_named: Any) -> Any:
        tensor = interpreter.interpreter_semantic.to_tensor(arg)
        held = np.ascontiguousarray(tensor.handle.data)
        scalar = kind or tensor.dtype
        unsigned = function(held.view(f"u{held.itemsize}"))
        wanted = interpreter._get_np_dtype(scalar)
        data = unsigned.view(wanted) if wanted.itemsize == held.itemsize else unsigned.astype(wanted)
        shaped = tl.block_type(scalar, list(data.shape)) if tensor.type.is_block() else scalar
        return tl.tensor(interpreter.TensorHandle(data, scalar), shaped)

    return call


def _computing(function: Callable[..., np.ndarray], kind: Any) -> Callable[..., Any]:
    """A libdevice function on the interpreter's tensors. kind: the result's dtype; None for that of the arguments."""

    def call(*args: Any, _semantic: Any = None, **_named: Any) -> Any:
        tensors = [interpreter.interpreter_semantic.to_tensor(each) for each in args]
        widest = max((each.dtype for each in tensors), key=lambda each: each.primitive_bitwidth)
        first = next((each.dtype for each, given in zip(tensors, args) if isinstance(given, tl.tensor)), widest)
        result = function(*(each.handle.data.astype(np.float64) for each in tensors))
        scalar = kind or first
        data = np.asarray(result).astype(interpreter._get_np_dtype(scalar))
        is_block = any(each.type.is_block() for each in tensors)
        shaped = tl.block_type(scalar, list(data.shape)) if is_block else scalar
        return tl.tensor(interpreter.TensorHandle(data, scalar), shaped)

    return call
