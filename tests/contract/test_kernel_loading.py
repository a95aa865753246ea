"""The Triton functions of a bundle, loaded without the rest of it."""

import math
from pathlib import Path

import pytest

from passnet_core.judge.plan.kernel_loading import LoadedKernels, Unavailable, reduced
from passnet_core.records import PassFile

BUNDLE = """
import os
import triton
import triton.language as tl
from math import log2
from triton.tools import tensor_descriptor
from constants import SCALE, OTHER

HALF = tl.constexpr(0.5)
STEPS = log2(8.0)
SECRET = os.environ
print("the rest of the bundle runs")


def host(x):
    return x


@triton.autotune(configs=[triton.Config({"BLOCK": host(16)})], key=["n"])
@triton.jit
def kernel(x_ptr, n, BLOCK: tl.constexpr):
    place = tl.arange(0, BLOCK)
    tl.store(x_ptr + place, HALF * SCALE + STEPS, mask=place < n)


try:
    @triton.jit
    def guarded(x_ptr):
        tl.store(x_ptr, tensor_descriptor is None)
except ImportError:
    pass


def maker():
    @triton.jit
    def inner(x_ptr):
        tl.store(x_ptr, 1.0)

    return inner
"""
LINES = BUNDLE.splitlines()
KERNEL = 1 + next(number for number, line in enumerate(LINES) if line.startswith("@triton.autotune"))
GUARDED = 1 + LINES.index("    @triton.jit")
FILES = (PassFile("fused.py", BUNDLE), PassFile("constants.py", "import json\nSCALE = 2.0\nOTHER = json.dumps([])\n"))


@pytest.fixture
def loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LoadedKernels:
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    return LoadedKernels(FILES, tmp_path / "kernels")


def test_kernels_are_loaded_with_the_constants_and_imports_that_they_name(
    loaded: LoadedKernels, capsys: pytest.CaptureFixture[str]
) -> None:
    names = loaded.function("fused.py", "kernel", KERNEL).fn.__globals__
    assert (names["HALF"].value, names["STEPS"], names["SCALE"]) == (0.5, 3.0, 2.0)
    assert hasattr(
        loaded.function("fused.py", "guarded", GUARDED).fn.__globals__["tensor_descriptor"], "TensorDescriptor"
    )
    assert capsys.readouterr().out == ""


def test_a_fallback_is_taken_only_where_it_is_needed(tmp_path: Path) -> None:
    code = """
import triton
try:
    from math import tau as TURN
    from triton import there_is_no_such_thing as THING
except ImportError:
    TURN = 1.0
    THING = 2.0

@triton.jit
def kernel(x):
    return x * TURN * THING
"""
    names = LoadedKernels((PassFile("fused.py", code),), tmp_path / "kernels")._namespace("fused.py")
    assert (names["TURN"], names["THING"]) == (math.tau, 2.0)


def test_nothing_else_of_the_bundle_is_there(loaded: LoadedKernels) -> None:
    names = loaded.function("fused.py", "kernel", KERNEL).fn.__globals__
    assert not {"os", "SECRET", "host", "maker"} & names.keys()


@pytest.mark.parametrize(
    "asked",
    [
        "triton.knobs.runtime.interpret",
        "triton.runtime.driver",
        "triton.testing",
        "(__import__('triton.knobs') and 1)",
    ],
)
def test_no_constant_and_no_default_tells_who_runs_a_kernel(
    tmp_path: Path, asked: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    code = f"""
import triton
import triton.language as tl
from triton import knobs
import triton.runtime.interpreter as machine
WHO = {asked}

@triton.jit
def kernel(x, FLAG: tl.constexpr = {asked}):
    tl.store(x, triton.cdiv(8, 4))

@triton.jit
def other(x):
    tl.store(x, triton.cdiv(8, 4))
"""
    kernels = LoadedKernels((PassFile("fused.py", code),), tmp_path / "kernels")
    names = kernels.function("fused.py", "other", code.splitlines().index("def other(x):")).fn.__globals__
    assert not {"WHO", "knobs", "machine"} & names.keys()
    with pytest.raises(Unavailable, match="kernel cannot be loaded alone"):
        kernels.function("fused.py", "kernel", code.splitlines().index("@triton.jit") + 1)


@pytest.mark.parametrize(
    ("file", "name"), [("fused.py", "inner"), ("fused.py", "host"), ("other.py", "kernel"), ("fused.py", "missing")]
)
def test_what_is_no_kernel_of_a_files_top_level_is_refused(loaded: LoadedKernels, file: str, name: str) -> None:
    with pytest.raises(Unavailable, match=name):
        loaded.function(file, name, KERNEL)


def test_a_kernel_under_another_ones_name_or_line_is_refused(tmp_path: Path) -> None:
    once_more = "if False:\n    @triton.jit\n    def kernel():\n        pass\n"
    twice = f"import triton\n\n@triton.jit\ndef kernel():\n    pass\n\n{once_more}"
    kernels = LoadedKernels((PassFile("fused.py", twice),), tmp_path / "twice")
    for line in (3, 8):
        with pytest.raises(Unavailable, match="not its only definition"):
            kernels.function("fused.py", "kernel", line)
    once = LoadedKernels(FILES, tmp_path / "once")
    with pytest.raises(Unavailable, match="not its only definition"):
        once.function("fused.py", "kernel", GUARDED)


def test_what_stays_keeps_its_line() -> None:
    lines, before = reduced(BUNDLE, {"constants"}).splitlines(), BUNDLE.splitlines()
    assert len(lines) == len(before)
    assert (
        lines[before.index("def kernel(x_ptr, n, BLOCK: tl.constexpr):")]
        == "def kernel(x_ptr, n, BLOCK: tl.constexpr):"
    )
    assert all(not line or line.strip() in BUNDLE or line.startswith("@__import__") for line in lines)


def test_of_an_import_of_several_modules_those_stay_that_kernels_need() -> None:
    text = reduced("import os, torch, triton, triton.language as tl\nimport json; import math\n", set())
    assert text.split("\n")[:2] == ["import triton, triton.language as tl", "import math"]
