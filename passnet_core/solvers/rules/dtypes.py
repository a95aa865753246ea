"""Dtypes in a kernel that serves several: known at the time of writing, or "that of this tensor"."""

from dataclasses import dataclass

FLOATS = ("float16", "bfloat16", "float32", "float64")
INTEGERS = ("uint8", "int8", "int16", "int32", "int64")
_TRITON = {"bool": "int1"}


@dataclass(frozen=True)
class DType:
    """name: what it is in the subgraph at hand. source: the tensor whose dtype it is, if it is not the same always."""

    name: str
    source: str = ""

    @property
    def is_float(self) -> bool:
        return self.name in FLOATS

    @property
    def is_bool(self) -> bool:
        return self.name == "bool"

    @property
    def is_wide(self) -> bool:
        return self.name == "float64"

    def holds(self, number: int) -> bool:
        """Whether these integers have this number."""
        bits = int(self.name.lstrip("uint"))
        return 0 <= number < 1 << bits if self.name.startswith("u") else -(1 << bits - 1) <= number < 1 << bits - 1

    @property
    def kernel(self) -> str:
        """Its code in a kernel."""
        return f"{self.source}_ptr.dtype.element_ty" if self.source else f"tl.{_TRITON.get(self.name, self.name)}"

    @property
    def host(self) -> str:
        return f"{self.source}.dtype" if self.source else f"torch.{self.name}"

    @property
    def work(self) -> str:
        """The dtype in which a kernel computes with it: float32 for the narrow floats, otherwise itself."""
        if not self.is_float:
            return self.kernel
        return "tl.float64" if self.is_wide else "tl.float32"

    @property
    def rounds(self) -> bool:
        """Whether a result that was computed in `work` may have to be rounded."""
        return self.is_float and (bool(self.source) or self.name not in ("float32", "float64")) and not self.is_wide


BOOL, INT64, FLOAT32 = DType("bool"), DType("int64"), DType("float32")


def promoted(one: DType, other: DType) -> DType:
    """The dtype of an operation between tensors with dimensions, as torch.promote_types has it."""
    if one.name == other.name:
        # a dtype that the source names holds for every subgraph: prefer it
        return other if one.source and not other.source else one
    if one.is_float and other.is_float:
        if {one.name, other.name} == {"float16", "bfloat16"}:
            return FLOAT32
        return max(one, other, key=lambda each: FLOATS.index(each.name))
    if one.is_float or other.is_float:
        return one if one.is_float else other
    if one.is_bool or other.is_bool:
        return other if one.is_bool else one
    if "uint8" in (one.name, other.name):
        signed = other if one.name == "uint8" else one
        return DType("int16") if signed.name == "int8" else signed
    return max(one, other, key=lambda each: INTEGERS.index(each.name))


def with_number(dtype: DType, number: object) -> DType:
    """The dtype of an operation between a tensor and a Python number."""
    if isinstance(number, bool) or dtype.is_float:
        return dtype
    if isinstance(number, float):
        return FLOAT32
    return INT64 if dtype.is_bool else dtype


def float_of(dtype: DType) -> DType:
    """The dtype of an operation that gives floats: float32 for what is none."""
    return dtype if dtype.is_float else FLOAT32


def wide_of(dtype: DType) -> DType:
    """The dtype in which sums of elements are taken: float32 at least."""
    return dtype if dtype.is_wide else FLOAT32
