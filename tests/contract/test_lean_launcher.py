"""The launcher of exported bundles, through Triton's interpreter. tests/gpu has what needs a compiled kernel."""

import shutil
from pathlib import Path

from passnet_core.bundles.launcher import FILE
from tests.contract.interpreted import run_interpreted

HEAD = """
import torch
import triton
import triton.language as tl
from launching import _checked, facts, lean

@triton.jit
def scale_kernel(x_ptr, out_ptr, count, factor, SHIFT: tl.constexpr, BLOCK: tl.constexpr = 16):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < count
    tl.store(out_ptr + at, tl.load(x_ptr + at, mask=inside) * factor + SHIFT, mask=inside)

x = torch.arange(40.0)
"""


def run(script: str, folder: Path) -> str:
    (folder / "pass_dir").mkdir()
    shutil.copy(FILE, folder / "pass_dir")
    return run_interpreted(HEAD + script, folder, head="")


def test_facts_tell_apart_whatever_a_kernel_may_depend_on(tmp_path: Path) -> None:
    told = """
nan = float("nan")
base = torch.zeros(64, 64)
distinct = [
    1, 1.0, True, 0, 0.0, -0.0, False, None, nan, float("inf"), "1", 1 + 2**53, float(2**53), 2**53, "", (), [],
    (1,), (1.0,), (True,), [1], ((1,),), torch.Size([1]), (0.0,), (-0.0,), (1, (2, None)), (1, 2, None), "float32",
    torch.float16, torch.bfloat16, "torch.float16", torch.device("cpu"), torch.device("meta"), "cpu",
    (None, 1, None), torch.contiguous_format, torch.channels_last, tl.float16, tl.bfloat16,
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
assert facts(float("nan")) == facts(float("nan"))
assert facts([torch.ones(3), 1]) == facts([torch.zeros(3), 1]) != facts([torch.zeros(3), 2])
plans = {facts(base, 1e-5, torch.float16, None): "known"}
assert plans.get(facts(base + 1, 1e-5, torch.float16, None)) == "known"
"""
    run(told, tmp_path)


def test_without_a_compiler_the_kernel_itself_launches(tmp_path: Path) -> None:
    told = """
for start in (0.0, 5.0):
    given, result = x + start, torch.zeros(40)
    lean(scale_kernel)[(3,)](given, result, 40, factor=2.0, SHIFT=1.0, num_warps=1)
    assert torch.equal(result, given * 2 + 1)
"""
    run(told, tmp_path)


def test_a_grid_that_a_gpu_refuses_is_refused_with_a_reason(tmp_path: Path) -> None:
    told = """
for grid in ((1, 65536), (1, 1, 65536), (2**31,), (-1,), (), (1, 1, 1, 1)):
    try:
        _checked(grid)
    except ValueError as error:
        print(error)
print(_checked((0,)), _checked((3, 2)))
"""
    said = run(told, tmp_path)
    assert said.count("Axis 1") == said.count("Axis 2") == 1
    assert said.count("Axis 0") == 2
    assert "one to three axes, not 0" in said
    assert "one to three axes, not 4" in said
    assert said.endswith("(0, 1, 1) (3, 2, 1)")
