"""The lean launcher that bundles carry, through Triton's interpreter. tests/gpu has what needs a compiled kernel."""

from pathlib import Path

import pytest

from passnet_core.bundles import carried
from tests.contract.interpreted import run_interpreted

KERNEL = """
import torch
import triton
import triton.language as tl
from launching import LAUNCHES, Launch, facts, lean_launch, recognizer

@triton.jit
def scale_kernel(x_ptr, out_ptr, count, factor, SHIFT: tl.constexpr, BLOCK: tl.constexpr = 16):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < count
    tl.store(out_ptr + at, tl.load(x_ptr + at, mask=inside) * factor + SHIFT, mask=inside)

x = torch.arange(40.0)
out = torch.zeros(40)

def raised(kind, function, *args, **named):
    try:
        function(*args, **named)
    except kind as error:
        return str(error)
    raise AssertionError(f"no {kind.__name__}")
"""


def run(script: str, folder: Path) -> str:
    (folder / "pass_dir").mkdir()
    (folder / "pass_dir" / "launching.py").write_text(carried.launching().code)
    return run_interpreted(KERNEL + script, folder, head="")


def test_a_recognizer_knows_only_tensors_with_the_same_facts(tmp_path: Path) -> None:
    told = """
class Named(torch.Tensor):
    pass

base, further = torch.zeros(64, 64), torch.ones(64, 64)
distinct = [
    base, base[:32], base[:, :32], base.t()[:32], base[None], base[0], base[0, ::2], base.half(), base.int(),
    base.bool(), base.to("meta"), base[:0], base[:, :0], base[0, 0], base[:1].expand(64, 64),
    base.as_subclass(Named), base.to_sparse(),
]
for place, one in enumerate(distinct):
    alike = recognizer(one, further)
    same = [index for index, other in enumerate(distinct) if alike(other, further)]
    assert same == ([place] if type(one) is torch.Tensor else []), (place, same)
    assert not alike(further, one) or place == 0
assert recognizer(base)(further) and recognizer(base[0], base)(further[1], further)
# an address is not a fact that it knows
assert recognizer(base[0, 1:33])(base[0, :32])
"""
    run(told, tmp_path)


def test_facts_tell_apart_whatever_a_kernel_may_depend_on(tmp_path: Path) -> None:
    told = """
nan = float("nan")
base = torch.zeros(64, 64)
distinct = [
    1, 1.0, True, 0, 0.0, -0.0, False, None, nan, float("inf"), "1", 1 + 2**53, float(2**53), 2**53, "", (), [],
    (1,), (1.0,), (True,), [1], ((1,),), torch.Size([1]), (0.0,), (-0.0,), (1, (2, None)), (1, 2, None), "float32",
    torch.float16, torch.bfloat16, "torch.float16", torch.device("cpu"), torch.device("meta"), "cpu",
    slice(1), slice(1.0), slice(None, 1, 2), (None, 1, None), slice(-0.0), slice(0.0),
    torch.contiguous_format, torch.channels_last, tl.float16, tl.bfloat16,
    base, base[:32], base[:, :32], base.t()[:32], base[None], base[0], base[0, 1:], base[0, :63],
    base[0, :60], base.half(), base.int(), base.to("meta"), base[:0], base[:, :0], base[0, 0], base[:1].expand(64, 64),
]
keys = [facts(each) for each in distinct]
for first, one in enumerate(keys):
    for second, other in enumerate(keys):
        if first != second:
            assert one != other, (distinct[first], distinct[second])
assert len(set(keys)) == len(keys)
assert facts(1, 2) != facts((1, 2)) and facts() == () and facts(1) != facts(1, None)
"""
    run(told, tmp_path)


def test_facts_are_equal_for_what_is_launched_alike(tmp_path: Path) -> None:
    told = """
base = torch.zeros(64)
assert facts(base) == facts(torch.ones(64)) == facts(torch.nn.Parameter(base))
assert hash(facts(base)) == hash(facts(torch.ones(64)))
assert facts(base[4:20]) == facts(base[8:24]) and facts(base[1:17]) == facts(base[2:18])
assert facts(float("nan")) == facts(float("nan")) and facts(slice(1, 2)) == facts(slice(1, 2))
assert facts([torch.ones(3), 1]) == facts([torch.zeros(3), 1]) != facts([torch.zeros(3), 2])
plans = {facts(base, 1e-5, torch.float16, None): "known"}
assert plans.get(facts(base + 1, 1e-5, torch.float16, None)) == "known"
"""
    run(told, tmp_path)


def test_a_launch_computes_on_other_arguments(tmp_path: Path) -> None:
    told = """
launch = Launch(scale_kernel, (3,), (x, out), {"SHIFT": 1.0, "factor": 2.0, "count": 40})
for start in (0.0, 5.0):
    given, result = torch.arange(40.0) + start, torch.zeros(40)
    assert launch(given, result) is None
    assert torch.equal(result, given * 2 + 1)
numbers = Launch(scale_kernel, (2,), (x, out, 40, 2.0), {"BLOCK": 32, "SHIFT": 0}, num_warps=1)
for factor in (3.0, -1.0):
    numbers(x, out, 40, factor)
    assert torch.equal(out, x * factor)
"""
    run(told, tmp_path)


def test_constants_are_kept_in_the_kernels_order_with_its_defaults(tmp_path: Path) -> None:
    told = """
launch = Launch(scale_kernel, (3, 1), (x, out), {"SHIFT": 1.0, "factor": 2.0, "count": 40})
assert list(launch.constants.items()) == [("count", 40), ("factor", 2.0), ("SHIFT", 1.0), ("BLOCK", 16)]
assert launch.grid == (3, 1, 1)
"""
    run(told, tmp_path)


@pytest.mark.parametrize("grid", ["(0,)", "(3, 0)", "(0, 0, 0)"])
def test_an_empty_grid_runs_no_program(tmp_path: Path, grid: str) -> None:
    told = f"""
constants = {{"count": 40, "factor": 2.0, "SHIFT": 1.0}}
Launch(scale_kernel, {grid}, (x, out), constants)(x, out)
lean_launch(scale_kernel, {grid}, (x[:0], out[:0]), constants)
assert not out.any()
"""
    run(told, tmp_path)


@pytest.mark.parametrize(
    ("made", "error", "words"),
    [
        ("scale_kernel, (1, 65536), (x, out, 40, 1.0), {'SHIFT': 0}", "ValueError", "Axis 1"),
        ("scale_kernel, (1, 1, 65536), (x, out, 40, 1.0), {'SHIFT': 0}", "ValueError", "0 to 65535"),
        ("scale_kernel, (2**31,), (x, out, 40, 1.0), {'SHIFT': 0}", "ValueError", "Axis 0"),
        ("scale_kernel, (-1,), (x, out, 40, 1.0), {'SHIFT': 0}", "ValueError", "Axis 0"),
        ("scale_kernel, (), (x, out, 40, 1.0), {'SHIFT': 0}", "ValueError", "one to three axes, not 0"),
        ("scale_kernel, (1, 1, 1, 1), (x, out, 40, 1.0), {'SHIFT': 0}", "ValueError", "not 4"),
        ("scale_kernel, (1,), (x, out, 40, 1.0), {'SHIFT': 0, 'WIDTH': 1}", "TypeError", "no parameter WIDTH"),
        ("scale_kernel, (1,), (x, out, 40, 1.0), {'SHIFT': 0, 'count': 1}", "TypeError", "no parameter count"),
        ("scale_kernel, (1,), (x, out, 40), {'SHIFT': 0}", "TypeError", "needs a value of factor"),
        ("scale_kernel, (1,), (x, out, 40, 1.0), {}", "TypeError", "needs a value of SHIFT"),
        ("scale_kernel, (1,), (x, out, 40, 1.0, 0, 16, 1), {}", "TypeError", "has 6 parameters"),
        ("scale_kernel, (1,), (40, 1.0), {'SHIFT': 0}", "TypeError", "no tensor"),
    ],
)
def test_what_cannot_be_launched_is_refused_with_a_reason(tmp_path: Path, made: str, error: str, words: str) -> None:
    assert words in run(f"print(raised({error}, Launch, {made}))", tmp_path)


def test_a_launch_with_another_number_of_arguments_is_refused(tmp_path: Path) -> None:
    told = """
launch = Launch(scale_kernel, (3,), (x, out), {"SHIFT": 1.0, "factor": 2.0, "count": 40})
print(raised(TypeError, launch, x), raised(TypeError, launch, x, out, 40))
"""
    said = run(told, tmp_path)
    assert "scale_kernel is launched with 1 arguments, not 2." in said
    assert "with 3 arguments" in said


def test_lean_launch_keeps_a_launch_for_each_kernel_grid_form_and_number(tmp_path: Path) -> None:
    told = """
@triton.jit
def copy_kernel(x_ptr, out_ptr, count, factor, SHIFT: tl.constexpr, BLOCK: tl.constexpr = 16):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + at, tl.load(x_ptr + at, mask=at < count), mask=at < count)

def check(kernel, wanted, x, factor, shift, made, grid=(3,), **named):
    before = len(LAUNCHES)
    for _ in range(2):
        out = torch.zeros_like(x)
        lean_launch(kernel, grid, (x, out, x.numel(), factor), {"SHIFT": shift}, **named)
        assert torch.equal(out, wanted), (out, wanted)
    assert len(LAUNCHES) - before == made

check(scale_kernel, x * 2 + 1, x, 2.0, 1, 1)
check(scale_kernel, x * 2 + 1, x.clone(), 2.0, 1, 0)
check(scale_kernel, x * 2 + 1, x, 2.0, 1.0, 1)
check(scale_kernel, x * 2 + 1, x, 2.0, True, 1)
check(scale_kernel, x * 3 + 1, x, 3.0, 1, 1)
check(scale_kernel, x * 2 + 1, x, 2.0, 1, 1, grid=(4,))
check(scale_kernel, x * 2 + 1, x, 2.0, 1, 1, num_warps=1)
check(scale_kernel, x.half() * 2 + 1, x.half(), 2.0, 1, 1)
check(scale_kernel, x[:20] * 2 + 1, x[:20], 2.0, 1, 1)
check(scale_kernel, x[1:21] * 2 + 1, x[1:21], 2.0, 1, 1)
check(copy_kernel, x, x, 2.0, 1, 1)
"""
    run(told, tmp_path)
