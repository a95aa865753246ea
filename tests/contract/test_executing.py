"""Plans of replacement functions, recorded and executed."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

pytest.importorskip("triton")

from passnet_core.judge.plan.execute import unchanging
from passnet_core.judge.protocol.messages import Executed
from passnet_core.records import Verdict
from tests.contract.interpreted import run_interpreted
from tests.contract.verifying import CountingPlans, relu_of_sum, traced, verified

pytestmark = pytest.mark.settled


HEAD = """
from pathlib import Path
from typing import Any
import torch
import triton
import triton.language as tl
from passnet_core.judge.plan.execute import Execution, Plans, question
from passnet_core.judge.plan.record import PlanRecorder, signature
from passnet_core.judge.plan.kernel_loading import LoadedKernels
from passnet_core.judge.gpu_on_cpu.strict_memory import watched
from passnet_core.records import PassFile


def execution_of(function, arguments, **named):
    # the execution of the plan of this function for such arguments
    found = PlanRecorder(str(Path(__file__).parent)).planned("f", function, signature(arguments))
    plans = Plans(LoadedKernels([PassFile(Path(__file__).name, Path(__file__).read_text())], Path("again")))
    plans.known[question("f", arguments)] = found.plan, found.constants
    return Execution(plans, **named)


def executed(function, arguments, **named):
    # what the plan makes of the arguments, and what is wrong about it
    execution = execution_of(function, arguments, **named)
    with watched(seed=3) as memory:
        execution.memory = memory
        result = execution.functions(["f"])["f"](*arguments)
    return result, execution.problems + memory.problems


"""

ARGUMENTS = """
@triton.jit
def silu_kernel(x, out, stride, columns, BESIDE: tl.constexpr, B: tl.constexpr):
    at = tl.arange(0, B)
    here = x + tl.program_id(0) * stride + at
    value = tl.load(here, mask=at < columns, other=0.0)
    if BESIDE:
        tl.store(here + columns, value, mask=at < columns)
    tl.store(out + tl.program_id(0) * columns + at, value * tl.sigmoid(value), mask=at < columns)


@triton.jit
def borrowing_kernel(x, out, RESTORED: tl.constexpr, ATOMIC: tl.constexpr, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    value = tl.load(x + at)
    if ATOMIC:
        tl.atomic_add(x + at, 1.0 + value * 0)
    else:
        tl.store(x + at, value + 1)
    tl.store(out + at, tl.load(x + at))
    if RESTORED:
        tl.store(x + at, value)


@triton.jit
def relu_kernel(x, FACTOR: tl.constexpr, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    value = tl.maximum(tl.load(x + at), 0.0)
    tl.store(x + at, value * FACTOR)
    tl.store(x + at, value)


@triton.jit
def read_kernel(x, out, B: tl.constexpr):
    at = tl.arange(0, B)
    tl.atomic_add(x + at, 0.0)
    tl.store(x + at, tl.load(x + at))
    tl.store(out + at, tl.load(x + at))


def silu(beside):
    def function(x):
        out = torch.empty(x.shape)
        silu_kernel[(len(x),)](x, out, x.stride(0), x.shape[1], BESIDE=beside, B=16)
        return out

    return function


def halves(wide):
    return (wide[:, :12],)


other = torch.randn(8, 24)
result, problems = executed(silu(False), halves(other))
torch.testing.assert_close(result, torch.nn.functional.silu(other[:, :12]))
assert problems == []
result, problems = executed(silu(True), halves(other.clone()))
torch.testing.assert_close(result, torch.nn.functional.silu(other[:, :12]))
assert problems == ["a kernel overwrites memory beside argument 0 of its replacement function, which it was not given"]
# the other half is no scratch memory if it is given as well, and put back, either
wide = other.clone()
def with_both(x, y):
    return silu(True)(x)
assert executed(with_both, (wide[:, :12], wide[:, 12:]))[1] == []


def borrowed(**how):
    def function(x):
        out = torch.empty_like(x)
        borrowing_kernel[(4,)](x, out, **how, B=16)
        return out

    return function


y = torch.randn(64)
for atomic in (False, True):
    result, problems = executed(borrowed(RESTORED=True, ATOMIC=atomic), (y.clone(),))
    torch.testing.assert_close(result, y + 1)
    (problem,) = problems
    assert "overwrites argument 0" in problem and "restored later" in problem, problem
    # an argument that is changed in the end may be changed on the way: the values decide whether it may be at all
    assert executed(borrowed(RESTORED=False, ATOMIC=atomic), (y.clone(),))[1] == []


def lent_to_a_fill(x):
    out = x.clone()
    x.zero_()
    x.copy_(out)
    return out


(problem,) = executed(lent_to_a_fill, (y.clone(),))[1]
assert "overwrites argument 0" in problem, problem


def relu(x):
    relu_kernel[(4,)](x, 2.0, B=16)
    return x


changed = y.clone()
result, problems = executed(relu, (changed,))
assert torch.equal(changed, torch.relu(y)) and problems == [], problems
(problem,) = executed(relu, (y.clone(),), unchanging=frozenset({"f"}))[1]
assert "a kernel changes argument 0 of its replacement function, but no operation of the pattern" in problem, problem
assert executed(silu(False), halves(other), unchanging=frozenset({"f"}))[1] == []


def reading(x):
    out = torch.empty_like(x)
    read_kernel[(1,)](x, out, B=64)
    return out


assert executed(reading, (y.clone(),))[1] == [], "stores of what is there change nothing"
print("given back")
"""

WARPS = """
@triton.jit
def turned_kernel(x, scratch, out, B: tl.constexpr):
    at = tl.arange(0, B)
    tl.store(scratch + at, tl.load(x + at))
    tl.store(out + at, tl.load(scratch + B - 1 - at))


def turned(warps):
    def function(x):
        scratch, out = torch.empty_like(x), torch.empty_like(x)
        turned_kernel[(1,)](x, scratch, out, B=64, num_warps=warps)
        return out

    return function


y = torch.randn(64)
for warps, count in ((1, 0), (4, 1)):
    result, problems = executed(turned(warps), (y,))
    assert torch.equal(result, y.flip(0)) and len(problems) == count, problems
print("in step")
"""


CONSTANTS = """
FACTOR = tl.constexpr(2.0)


@triton.jit
def inner(x):
    return x * FACTOR


@triton.jit
def scaling_kernel(x, out, B: tl.constexpr):
    tl.store(out + tl.arange(0, B), inner(tl.load(x + tl.arange(0, B))))


def scaled(x):
    out = torch.empty_like(x)
    scaling_kernel[(1,)](x, out, B=16)
    return out


y = torch.randn(16)
assert torch.equal(executed(scaled, (y,))[0], 2 * y)
globals()["FACTOR"] = tl.constexpr(3.0)
assert torch.equal(executed(scaled, (y,))[0], 3 * y)
print("scaled")
"""


COPIES = """
@triton.jit
def copy_kernel(x, out, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(out + at, tl.load(x + at, mask=at < n), mask=at < n)


def all_but_one_row(x):
    out = torch.empty((x.shape[1], x.shape[0]))
    out[:-1].copy_(x.t()[:-1])
    copy_kernel[(1,)](x.t().contiguous()[-1], out[-1], x.shape[0], B=16)
    return out


def turned_behind_the_kernel(x):
    out = torch.empty_like(x)
    copy_kernel[(x.numel() // 16,)](x, out, x.numel(), B=16)
    return out.t().contiguous()


def one_row_of_a_copy(x):
    out = x.clone()
    copy_kernel[(1,)](x, out, 16, B=16)
    return out


def turned_before_the_kernel(x):
    x = x.t().contiguous()
    out = torch.zeros_like(x)
    copy_kernel[(x.numel() // 16,)](x, out, x.numel(), B=16)
    return out


def copied_by_torch(function):
    other = torch.randn(8, 16)
    execution = execution_of(function, (other,), inputs=(other.clone(),))
    with watched(seed=3) as memory:
        execution.memory = memory
        execution.functions(["f"])["f"](other)
    return execution.copied


def into_an_argument(x):
    x[:4].copy_(x[4:])
    copy_kernel[(1,)](x, x, 16, B=16)


(said,) = copied_by_torch(all_but_one_row)
assert said.startswith("copies by PyTorch, not kernels, put 94% of result 0 of"), said
(said,) = copied_by_torch(into_an_argument)
assert said.startswith("copies by PyTorch, not kernels, put 38% of argument 0 of"), said
for function in (turned_behind_the_kernel, one_row_of_a_copy, turned_before_the_kernel):
    assert copied_by_torch(function) == [], function
print("copied")
"""

SAMPLED = """
@triton.jit
def doubling_kernel(x, out, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(out + at, 2 * tl.load(x + at))


@triton.jit
def adding_kernel(x, out, B: tl.constexpr):
    tl.atomic_add(out + tl.arange(0, B), tl.load(x + tl.program_id(0) * B + tl.arange(0, B)))


def doubled(programs):
    def function(x):
        out = torch.empty_like(x)
        doubling_kernel[(programs,)](x, out, B=16)
        return out

    return function


def doubled_twice(x):
    out = doubled(8)(x)
    doubling_kernel[(8,)](out, out, B=16)
    return out


def added(x):
    out = torch.zeros(16)
    adding_kernel[(8,)](x, out, B=16)
    return out


def sampled(function, programs=(3, 1)):
    other = torch.randn(128)
    execution = execution_of(function, (other,))
    with watched(chosen=lambda places: [places[each] for each in programs]) as memory:
        execution.memory = memory
        result = execution.functions(["f"])["f"](other)
    stored, most = execution.stored(result)
    assert not stored.any() or torch.equal(result[stored], 2 * other[stored])
    return stored.nonzero().flatten().tolist(), most, execution, result


everywhere = [*range(16, 32), *range(48, 64)]
assert sampled(doubled(8))[:2] == (everywhere, 128)
# a grid that ends too early cannot fill the result
assert sampled(doubled(4))[:2] == (everywhere, 64)
# what comes from a launch of which not all programs ran says nothing, nor do atomic operations
assert sampled(doubled_twice)[0] == []
assert sampled(added)[0] == []
# nor what the rest of the graph has changed
_, _, execution, result = sampled(doubled(8))
result += 1
stored, most = execution.stored(result)
assert not stored.any() and most == 128
print("sampled")
"""


def test_results_that_torch_has_put_in_place_are_told_from_the_kernels(tmp_path: Path) -> None:
    assert run_interpreted(COPIES, tmp_path, head=HEAD) == "copied"


def test_a_few_programs_show_what_all_of_them_store(tmp_path: Path) -> None:
    assert run_interpreted(SAMPLED, tmp_path, head=HEAD) == "sampled"


def test_kernels_run_with_the_constants_that_they_had(tmp_path: Path) -> None:
    assert run_interpreted(CONSTANTS, tmp_path, head=HEAD) == "scaled"


def test_an_argument_is_changed_for_good_or_not_at_all_and_never_beside_its_elements(tmp_path: Path) -> None:
    assert run_interpreted(ARGUMENTS, tmp_path, head=HEAD) == "given back"


def test_a_launch_has_the_warps_that_were_recorded(tmp_path: Path) -> None:
    assert run_interpreted(WARPS, tmp_path, head=HEAD) == "in step"


def test_only_replacements_of_patterns_that_change_something_may_change_arguments() -> None:
    def plain(x: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.relu(x + 1, inplace=False)

    def adding(x: torch.Tensor) -> torch.Tensor:
        x += 1
        return torch.relu(x)

    patterns = {
        "plain": [plain],
        "in place": [lambda x: torch.nn.functional.relu(x, inplace=True)],
        "method": [lambda x: x.clamp_(0)],
        "operator": [adding],
        "some": [plain, adding],
    }
    passes = [
        replace(traced(each, lambda x: (x,)), replacement=name) for name, some in patterns.items() for each in some
    ]
    assert unchanging(passes) == {"plain"}


class OnlyInOrder(CountingPlans):
    """Plans with kernels that are right in the interpreter's own order only."""

    def execute(self, name: str, seed: int | None, **_asked: Any) -> Executed:
        executed = super().execute(name, seed)
        if seed is None:
            return executed
        (output,) = executed.returned.outputs
        assert isinstance(output.value, torch.Tensor)
        other = replace(output, value=output.value + 1)
        return replace(executed, returned=replace(executed.returned, outputs=(other,)))


class NeverRight(OnlyInOrder):
    def execute(self, name: str, seed: int | None, **_asked: Any) -> Executed:
        return super().execute(name, 0)


def test_kernels_that_are_right_in_one_order_only_are_wrong() -> None:
    found = verified(relu_of_sum, work_s=1e-9, planning=CountingPlans)
    assert found.executed is not None
    assert found.executed.verdict is Verdict.VALUES_ONLY
    ordered = verified(relu_of_sum, work_s=1e-9, planning=OnlyInOrder)
    assert ordered.executed is not None
    assert ordered.executed.verdict is Verdict.WRONG_VALUES
    assert "depends on the order in which programs run" in ordered.executed.reason
    assert verified(relu_of_sum, work_s=1e-9, planning=NeverRight).verdict is Verdict.WRONG_VALUES
