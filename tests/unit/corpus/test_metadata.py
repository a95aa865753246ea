"""Metadata files are read as data, whatever real files hold, and written so that they read the same."""

import math
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from passnet_core.corpus.metadata import read_example_sizes, read_specs, write_specs
from passnet_core.errors import BadInput
from passnet_core.records import TensorSpec

ONE = """
class Program_weight_tensor_meta_x_11:
\tname = "in_0"
\toriginal_name = "x_11"
\tshape = [1, 256, 56, 56]
\tdtype = "torch.float16"
\tdevice = "cuda:0"
\tmean = 0.0
\tstd = 1.0
"""


def test_a_real_entry() -> None:
    (spec,) = read_specs(ONE, "weight_meta.py")
    assert spec == TensorSpec("in_0", (1, 256, 56, 56), "float16", "cuda:0", 0.0, 1.0, original_name="x_11")


def test_limits_and_data() -> None:
    text = """
class A:
    name = "in_0"
    shape = [2, 2]
    dtype = torch.int64
    min_val = 0
    max_val = 3
    data = [[0, 1], (2, 3)]

class B:
    name = "s1"
    shape = []
    dtype = "torch.int64"
    data = 7

class C:
    name = "in_2"
    shape = (3,)
    dtype = "torch.float32"
    mean = float("nan")
    std = -float("-inf")
    min_val = -1e-3
    data = None
    odd = something.we(do_not_know)
"""
    first, second, third = read_specs(text, "weight_meta.py")
    assert (first.low, first.high, first.data) == (0.0, 3.0, (0.0, 1.0, 2.0, 3.0))
    assert second.data == (7.0,)
    assert third.mean is None
    assert third.std == math.inf
    assert third.low == -1e-3
    assert third.data is None


def test_an_empty_file_has_no_entries() -> None:
    assert read_specs("", "input_meta.py") == ()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("class A:\n  name = 'in_0'\n  shape = [n]\n  dtype = 'torch.int64'\n", "line 3: shape is not a literal: n"),
        ("class A:\n  name = 'in_0'\n  shape = __import__('os').listdir()\n", "line 3: shape is not a literal"),
        (
            "class A:\n  name = 'in_0'\n  shape = [-1]\n  dtype = 'torch.int64'\n",
            "shape must be a list of whole numbers",
        ),
        ("class A:\n  name = 'in_0'\n  shape = [1]\n", "has no dtype"),
        ("class A:\n  name = 'in_0'\n  dtype = 'torch.int64'\n", "shape must be a list"),
        ("class A:\n  name = 3\n", "name must be text"),
        ("class A:\n  shape = [1]\n  dtype = 'torch.int64'\n  mean = 'big'\n", "mean must be a number"),
        ("class A:\n  shape = [1]\n  dtype = 'torch.int64'\n  data = ['x']\n", "data must be a list of numbers"),
        ("class A\n", "line 1 is not Python"),
        ("x = '\0'", "is not Python"),
    ],
)
def test_what_is_not_data_is_refused_with_its_place(text: str, words: str) -> None:
    with pytest.raises(BadInput) as caught:
        read_specs(text, "task/weight_meta.py")
    assert words in str(caught.value)
    assert "task/weight_meta.py" in str(caught.value)


def test_nothing_is_executed(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    read_specs(f"open({str(trace)!r}, 'w')\nclass A:\n  shape = [1]\n  dtype = 'torch.int64'\n", "weight_meta.py")
    assert not trace.exists()


def test_example_values_of_symbolic_sizes() -> None:
    text = """
from sympy import Symbol
S0 = Symbol("S0")
S1 = Symbol("S1")
dynamic_dim_constraint_symbols = [S0, S1]
dynamic_dim_constraint_symbol2example_value = {S0: 1, S1: 1024}
"""
    assert read_example_sizes(text, "input_tensor_constraints.py") == {"s0": 1, "s1": 1024}
    assert read_example_sizes("", "input_tensor_constraints.py") == {}


finite = st.floats(allow_nan=False, allow_infinity=True)
dtypes = st.sampled_from(["float32", "bfloat16", "int64", "bool"])
specs = st.builds(
    TensorSpec,
    name=st.text(min_size=1, max_size=12),
    shape=st.lists(st.integers(0, 9), max_size=4).map(tuple),
    dtype=dtypes,
    device=st.sampled_from(["cpu", "cuda:0"]),
    mean=st.none() | finite,
    std=st.none() | finite,
    low=st.none() | finite,
    high=st.none() | finite,
    data=st.none() | st.lists(finite, max_size=5).map(tuple),
    original_name=st.text(max_size=12),
)


@settings(deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(specs, max_size=3))
def test_what_is_written_reads_the_same(written: list[TensorSpec]) -> None:
    assert list(read_specs(write_specs(written), "weight_meta.py")) == written
