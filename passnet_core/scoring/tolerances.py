"""Absolute and relative tolerance per dtype and level t, exactly as in GraphNet (arXiv 2510.24035)."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Tolerance:
    """An element is close if |actual - reference| <= atol + rtol * |reference|. Both 0: it must be equal."""

    atol: float
    rtol: float

    @property
    def exact(self) -> bool:
        return self.atol == 0 and self.rtol == 0


EXACT = Tolerance(0.0, 0.0)

_FLOAT32 = (1.0, 5.886 / 5)
_FLOAT64 = (7 / 5, 7 / 5)
EXPONENTS = {
    "float16": (1.0, 3 / 5),
    "bfloat16": (1.0, 1.796 / 5),
    "float32": _FLOAT32,
    "complex64": _FLOAT32,
    "quint8": _FLOAT32,
    "quint4x2": _FLOAT32,
    "quint2x4": _FLOAT32,
    "qint8": _FLOAT32,
    "qint32": _FLOAT32,
    "float64": _FLOAT64,
    "complex128": _FLOAT64,
    "complex32": (1.0, 3 / 5),
}
"""(a, r) with atol = 10^(a t) and rtol = 10^(r t). Every other dtype, such as integers and bool, must be equal."""


def tolerance(dtype: str, t: int) -> Tolerance:
    """The tolerance of a dtype ("float16" or "torch.float16") at level t; EXACT for every dtype not in EXPONENTS."""
    exponents = EXPONENTS.get(dtype.removeprefix("torch."))
    if exponents is None:
        return EXACT
    a, r = exponents
    return Tolerance(10.0 ** (a * t), 10.0 ** (r * t))
