"""The fast functions of libdevice, computed with the errors of a GPU's unit for them.

The unit computes in float32 after a reduction in float32, whose error grows with the argument. What it documents
(CUDA C++ Programming Guide, intrinsic functions) is the largest error, and the functions here stay within it."""

import math
from collections.abc import Callable

import numpy as np

SINE_BITS = 22
"""Binary places of the unit's sine and cosine. With the reduction they are right to 2^-21.4 within half a turn."""
LOGARITHM_BITS = 22
"""Its logarithm to base 2 is right to 2^-22 near one."""
TOO_LARGE = 2.0**126
"""Quotients by more than this are zero."""

Function = Callable[..., np.ndarray]


def _single(values: np.ndarray) -> np.ndarray:
    """float64 values, rounded to float32."""
    return values.astype(np.float32).astype(np.float64)


TURNS = float(np.float32(1 / (2 * math.pi)))
BITS_PER_E, BITS_PER_10 = float(np.float32(math.log2(math.e))), float(np.float32(math.log2(10)))


def _turned(x: np.ndarray, function: Function) -> np.ndarray:
    turns = _single(x * TURNS)
    exact = function(2 * np.pi * (turns - np.rint(turns)))
    return np.rint(exact * 2**SINE_BITS) / 2**SINE_BITS


def sine(x: np.ndarray) -> np.ndarray:
    return _turned(x, np.sin)


def cosine(x: np.ndarray) -> np.ndarray:
    return _turned(x, np.cos)


def exponential(x: np.ndarray, bits: float) -> np.ndarray:
    """bits: the logarithm to base 2 of the base."""
    return np.exp2(_single(x * bits))


def logarithm(x: np.ndarray) -> np.ndarray:
    """To base 2."""
    exact = np.log2(x)
    return _single(np.where(np.isfinite(exact), np.rint(exact * 2**LOGARITHM_BITS) / 2**LOGARITHM_BITS, exact))


def quotient(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.where(np.abs(y) > TOO_LARGE, x * 0.0 * np.sign(y), x * _single(1 / y))


FAST: dict[str, Function] = {
    "fast_cosf": cosine,
    "fast_dividef": quotient,
    "fast_exp10f": lambda x: exponential(x, BITS_PER_10),
    "fast_expf": lambda x: exponential(x, BITS_PER_E),
    "fast_log10f": lambda x: logarithm(x) / BITS_PER_10,
    "fast_log2f": logarithm,
    "fast_logf": lambda x: logarithm(x) / BITS_PER_E,
    "fast_powf": lambda x, y: np.exp2(_single(y * logarithm(x))),
    "fast_sinf": sine,
    "fast_tanf": lambda x: quotient(sine(x), cosine(x)),
}
"""By their names in libdevice, on float64 arrays that hold float32 values. The results are rounded by the caller."""
