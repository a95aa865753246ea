"""Recorded calls of replacement functions, repeated on other content."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

pytest.importorskip("triton")

from passnet_core.judge.protocol.messages import CandidateFault, Repeated, Returned, Watched
from passnet_core.judge.stages.findings import Census
from passnet_core.judge.worker.repeating import unchanging
from passnet_core.records import Verdict
from tests.contract.interpreted import run_interpreted
from tests.contract.verifying import CountingRepeater, Here, relu_of_sum, traced, verified

pytestmark = pytest.mark.settled


HEAD = """
from pathlib import Path
from typing import Any
import torch
import triton
import triton.language as tl
from passnet_core.judge.worker.kernel_loading import LoadedKernels
from passnet_core.judge.worker.launch_recorder import LaunchRecorder
from passnet_core.judge.worker.repeating import Repetition
from passnet_core.judge.worker.strict_memory import watched
from passnet_core.records import Device, PassFile


def repetition_of(function, recorded_on, **named):
    # the repetition of a call of this function
    recorder = LaunchRecorder(Device.CPU, str(Path(__file__).parent))
    with recorder.listening():
        recorder.wrapped("f", function)(*recorded_on)
    ((call, kept),) = recorder.calls
    assert not call.get("problem"), call
    kernels = LoadedKernels([PassFile(Path(__file__).name, Path(__file__).read_text())], Path("again"))
    return Repetition(kernels, [call], [kept], **named)


def repeated(function, recorded_on, repeated_on, **named):
    # what the kernels of a call make of other arguments, and what is wrong about them
    repetition = repetition_of(function, recorded_on, **named)
    with watched(seed=3) as memory:
        repetition.memory = memory
        result = repetition.functions(["f"])["f"](*repeated_on)
    return result, repetition.problems + memory.problems


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


given, other = torch.randn(8, 24), torch.randn(8, 24)
result, problems = repeated(silu(False), halves(given), halves(other))
torch.testing.assert_close(result, torch.nn.functional.silu(other[:, :12]))
assert problems == []
result, problems = repeated(silu(True), halves(given), halves(other.clone()))
torch.testing.assert_close(result, torch.nn.functional.silu(other[:, :12]))
assert problems == ["a kernel overwrites memory beside argument 0 of its replacement function, which it was not given"]
# the other half is no scratch memory if it is given as well, and put back, either
wide = other.clone()
def with_both(x, y):
    return silu(True)(x)
assert repeated(with_both, (given[:, :12], given[:, 12:]), (wide[:, :12], wide[:, 12:]))[1] == []


def borrowed(**how):
    def function(x):
        out = torch.empty_like(x)
        borrowing_kernel[(4,)](x, out, **how, B=16)
        return out

    return function


x, y = torch.randn(64), torch.randn(64)
for atomic in (False, True):
    result, problems = repeated(borrowed(RESTORED=True, ATOMIC=atomic), (x.clone(),), (y.clone(),))
    torch.testing.assert_close(result, y + 1)
    (problem,) = problems
    assert "overwrites argument 0" in problem and "restored later" in problem, problem
    # an argument that is changed in the end may be changed on the way: the values decide whether it may be at all
    assert repeated(borrowed(RESTORED=False, ATOMIC=atomic), (x.clone(),), (y.clone(),))[1] == []


def lent_to_a_fill(x):
    out = x.clone()
    x.zero_()
    x.copy_(out)
    return out


(problem,) = repeated(lent_to_a_fill, (x.clone(),), (y.clone(),))[1]
assert "overwrites argument 0" in problem, problem


def relu(x):
    relu_kernel[(4,)](x, 2.0, B=16)
    return x


changed = y.clone()
result, problems = repeated(relu, (x.clone(),), (changed,))
assert torch.equal(changed, torch.relu(y)) and problems == [], problems
(problem,) = repeated(relu, (x.clone(),), (y.clone(),), unchanging=frozenset({"f"}))[1]
assert "a kernel changes argument 0 of its replacement function, but no operation of the pattern" in problem, problem
assert repeated(silu(False), halves(given), halves(other), unchanging=frozenset({"f"}))[1] == []


def reading(x):
    out = torch.empty_like(x)
    read_kernel[(1,)](x, out, B=64)
    return out


assert repeated(reading, (x.clone(),), (y.clone(),))[1] == [], "stores of what is there change nothing"
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


x, y = torch.randn(64), torch.randn(64)
for warps, count in ((1, 0), (4, 1)):
    result, problems = repeated(turned(warps), (x,), (y,))
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


x, y = torch.randn(16), torch.randn(16)
assert torch.equal(repeated(scaled, (x,), (y,))[0], 2 * y)
globals()["FACTOR"] = tl.constexpr(3.0)
assert torch.equal(repeated(scaled, (x,), (y,))[0], 3 * y)
print("repeated")
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
    given, other = torch.randn(8, 16), torch.randn(8, 16)
    repetition = repetition_of(function, (given,), inputs=(other.clone(),))
    with watched(seed=3) as memory:
        repetition.memory = memory
        repetition.functions(["f"])["f"](other)
    return repetition.copied


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
    given, other = torch.randn(128), torch.randn(128)
    repetition = repetition_of(function, (given,))
    with watched(chosen=lambda places: [places[each] for each in programs]) as memory:
        repetition.memory = memory
        result = repetition.functions(["f"])["f"](other)
    stored, most = repetition.stored(result)
    assert not stored.any() or torch.equal(result[stored], 2 * other[stored])
    return stored.nonzero().flatten().tolist(), most, repetition, result


everywhere = [*range(16, 32), *range(48, 64)]
assert sampled(doubled(8))[:2] == (everywhere, 128)
# a grid that ends too early cannot fill the result
assert sampled(doubled(4))[:2] == (everywhere, 64)
# what comes from a launch of which not all programs ran says nothing, nor do atomic operations
assert sampled(doubled_twice)[0] == []
assert sampled(added)[0] == []
# nor what the rest of the graph has changed
_, _, repetition, result = sampled(doubled(8))
result += 1
stored, most = repetition.stored(result)
assert not stored.any() and most == 128
print("sampled")
"""


def test_results_that_torch_has_put_in_place_are_told_from_the_kernels(tmp_path: Path) -> None:
    assert run_interpreted(COPIES, tmp_path, head=HEAD) == "copied"


def test_a_few_programs_show_what_all_of_them_store(tmp_path: Path) -> None:
    assert run_interpreted(SAMPLED, tmp_path, head=HEAD) == "sampled"


def test_kernels_are_repeated_with_the_constants_that_they_had(tmp_path: Path) -> None:
    assert run_interpreted(CONSTANTS, tmp_path, head=HEAD) == "repeated"


def test_an_argument_is_changed_for_good_or_not_at_all_and_never_beside_its_elements(tmp_path: Path) -> None:
    assert run_interpreted(ARGUMENTS, tmp_path, head=HEAD) == "given back"


def test_the_warps_of_a_launch_are_repeated_with_it(tmp_path: Path) -> None:
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


class Needing(Here):
    """A candidate worker that fails if its kernels do nothing."""

    def run(self, name: str, *, fresh: bool = True, watched: bool = False, idle: bool = False, **_: Any) -> Returned:
        if idle:
            raise CandidateFault("runtime", "a number that no kernel has written")
        return super().run(name, fresh=fresh, watched=watched)


class OnlyInOrder(CountingRepeater):
    """A repeater of kernels that are right in the interpreter's own order only."""

    def repeat(self, name: str, watched: Watched, seed: int | None, **_asked: Any) -> Repeated:
        repeated = super().repeat(name, watched, seed)
        if seed is None:
            return repeated
        (output,) = repeated.returned.outputs
        assert isinstance(output.value, torch.Tensor)
        other = replace(output, value=output.value + 1)
        return replace(repeated, returned=replace(repeated.returned, outputs=(other,)))


class NeverRight(OnlyInOrder):
    def repeat(self, name: str, watched: Watched, seed: int | None, **_asked: Any) -> Repeated:
        return super().repeat(name, watched, 0)


def test_kernels_that_are_right_in_one_order_only_are_wrong_and_no_librarys() -> None:
    def census(repeating: type[CountingRepeater]) -> Census:
        found = verified(relu_of_sum, candidate=Needing(), work_s=1e-9, repeating=repeating).repeated
        assert found is not None
        return found

    assert census(CountingRepeater).verdict is Verdict.VALUES_ONLY
    ordered = census(OnlyInOrder)
    assert ordered.verdict is Verdict.WRONG_VALUES
    assert "depends on the order in which programs run" in ordered.reason
    assert census(NeverRight).verdict is Verdict.LIBRARY


class TwoKinds(Needing):
    """A candidate worker that says it copies where inputs are large, and else that it fills."""

    def run(self, name: str, *, fresh: bool = True, watched: bool = False, idle: bool = False, **_: Any) -> Returned:
        returned = super().run(name, fresh=fresh, watched=watched, idle=idle)
        large = any(float(each.abs().max()) > 50 for each in self.inputs if isinstance(each, torch.Tensor))
        steps: tuple[dict[str, Any], ...] = ({"steps": [{"copy" if large else "fill": {}}]},)
        return replace(returned, watched=Watched((), steps, ((),))) if watched else returned


class WrongIfCopied(NeverRight):
    """A repeater that is right only where a call filled."""

    def repeat(self, name: str, watched: Watched, seed: int | None, **_asked: Any) -> Repeated:
        if "copy" in watched.steps[0]["steps"][0]:
            return super().repeat(name, watched, seed)
        return CountingRepeater.repeat(self, name, watched, seed)


def test_each_kind_of_call_is_repeated() -> None:
    found = verified(relu_of_sum, candidate=TwoKinds(), work_s=1e-9, repeating=WrongIfCopied).repeated
    assert found is not None
    assert found.verdict is Verdict.LIBRARY
