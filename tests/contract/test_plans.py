"""What a plan says, and which functions leave none."""

from pathlib import Path

import pytest

pytest.importorskip("triton")

from passnet_core.judge.plan.describe import described
from tests.contract.interpreted import run_interpreted

pytestmark = pytest.mark.settled

HEAD = """
from pathlib import Path
import numpy as np
import torch
import triton
import triton.language as tl
from passnet_core.judge.gpu_on_cpu import interpreter, pretended_device
interpreter.mend()
pretended_device.install()
from passnet_core.judge.gpu_on_cpu.strict_memory import watched
from passnet_core.judge.plan.describe import described
from passnet_core.judge.plan.execute import ChoiceRefused, Execution, Plans, question
from passnet_core.judge.plan.kernel_loading import LoadedKernels
from passnet_core.judge.plan.record import NoPlan, PlanRecorder, signature
from passnet_core.records import PassFile

RECORDER = PlanRecorder(str(Path(__file__).parent))


def planned(function, *arguments):
    return RECORDER.planned("f", pretended_device.pretended(function), signature(arguments))


def executed(function, *arguments):
    plans = Plans(LoadedKernels([PassFile(Path(__file__).name, Path(__file__).read_text())], Path("again")))
    found = planned(function, *arguments)
    plans.known[question("f", arguments)] = found.plan, found.constants
    while True:
        try:
            with watched(seed=3):
                return Execution(plans).functions(["f"])["f"](*arguments), plans
        except ChoiceRefused:
            continue


@triton.jit
def scaled_kernel(x, out, n, FACTOR: tl.constexpr, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(out + at, FACTOR * tl.load(x + at, mask=at < n, other=0.0), mask=at < n)


def scaled(x):
    out = torch.empty_like(x)
    scaled_kernel[lambda meta: (triton.cdiv(x.numel(), meta["B"]),)](x, out, x.numel(), 2.0, B=64)
    return out


x = torch.randn(4, 40)
"""

WHAT = """
def with_all(x):
    wide = x.t().contiguous()
    sums = torch.zeros(40, device=x.device)
    sums[:8].fill_(1)
    return scaled(wide), sums


found = planned(with_all, x)
assert described(found.plan, "with_all") == [
    "with_all: 1 launch, 3 allocations of 1.44 KB, 2 fills, 1 copy",
    "  copy argument 0: float32[40, 4] to made 0: float32[40, 4]",
    "  fill made 1: float32[8]",
    "  scaled_kernel[3, 1, 1](made 0: float32[40, 4], made 2: float32[40, 4], 160, 2, B=64)",
], described(found.plan, "with_all")
assert found.plan == planned(with_all, torch.randn(4, 40)).plan, "neither content nor place is in it"
assert found.plan != planned(with_all, torch.randn(4, 44)).plan
assert planned(scaled, torch.randn(161)[1:]).plan == planned(scaled, torch.randn(164)[4:]).plan
assert question("f", (torch.randn(161)[1:],)) != question("f", (torch.randn(164)[4:],)), "Triton compiles other code"
print("said")
"""

KEPT = """
KEPT = {}


def in_kept_memory(x):
    if "sums" not in KEPT:
        KEPT["sums"] = torch.empty(x.shape, device=x.device)
        KEPT["sums"].fill_(3.0)
    scaled_kernel[(1,)](x, KEPT["sums"], 64, 2.0, B=64)
    return KEPT["sums"]


first, again = planned(in_kept_memory, x), planned(in_kept_memory, x)
assert first.plan == again.plan, "memory that is kept is made anew"
result, _ = executed(in_kept_memory, x)
assert torch.equal(result.flatten()[:64], 2 * x.flatten()[:64]) and (result.flatten()[64:] == 3).all()

TABLE = torch.arange(64.0)


def of_a_table(x):
    out = torch.empty(64, device=x.device)
    scaled_kernel[(1,)](KEPT.setdefault("numbers", torch.as_tensor([5.0] * 64)), out, 64, 2.0, B=64)
    scaled_kernel[(1,)](TABLE, out, 32, 2.0, B=64)
    assert torch.as_tensor([7]).item() == 7
    return out


for _ in range(2):
    result, plans = executed(of_a_table, x)
    ((plan, constants),) = plans.known.values()
    assert plan["constants"] == len(constants) == 2
    assert torch.equal(result, torch.cat([2 * TABLE[:32], torch.full((32,), 10.0)])), result
print("kept")
"""

TUNED = """
def zero_first(named):
    named["out"].zero_()


@triton.autotune(configs=[triton.Config({"B": 32}), triton.Config({"B": 64}, num_warps=8, pre_hook=zero_first)], key=[])
@triton.jit
def tuned_kernel(x, out, n, B: tl.constexpr):
    tl.static_assert(B == 64)
    at = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(out + at, tl.load(x + at, mask=at < n, other=0.0), mask=at < n)


def tuned(x):
    out = torch.empty_like(x)
    tuned_kernel[lambda meta: (triton.cdiv(x.numel(), meta["B"]),)](x, out, x.numel())
    triton.testing.do_bench(lambda: scaled(x))
    return out


((step,), plan) = (plan := planned(tuned, x).plan)["steps"], plan
small, large = step["choices"]
assert [each["grid"] for each in small] == [[5, 1, 1]] and "fill" in large[0] and large[1]["grid"] == [3, 1, 1]
assert large[1]["options"]["num_warps"] == {"value": 8} and large[1]["tuned"]
for _ in range(4):
    result, plans = executed(tuned, x)
    assert torch.equal(result, x)
    assert {choice for _, _, choice in plans.refused} <= {0}, "one does not compile"


@triton.autotune(configs=[triton.Config({"B": 32}), triton.Config({"B": 64})], key=[])
@triton.jit
def adding_kernel(x, out, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    tl.atomic_add(out, tl.sum(tl.load(x + at, mask=at < n, other=0.0)))


def adding(x):
    out = torch.zeros((), device=x.device)
    adding_kernel[lambda meta: (triton.cdiv(x.numel(), meta["B"]),)](x, out, x.numel())
    return out


try:
    planned(adding, x)
except NoPlan as error:
    assert "name what it adds to in reset_to_zero" in str(error), error
else:
    raise AssertionError("the sums of what the autotuner tries would stay")
adding_kernel.reset_to_zero = ["out"]
assert len(planned(adding, x).plan["steps"][0]["choices"]) == 2
print("tuned")
"""

NONE = """
def on_a_stream(x):
    with torch.cuda.stream(torch.cuda.Stream()):
        return scaled(x)


def by_value(x):
    return scaled(x) if x.sum() > 0 else x


def as_list(x):
    return torch.as_tensor(x.tolist())


def as_array(x):
    return torch.from_numpy(np.asarray(x))


def filled_with_a_value(x):
    return torch.full_like(x, 0).fill_(x[0, 0])


SAID = {
    on_a_stream: "works on a stream of its own", by_value: "reads what a tensor holds",
    as_list: "reads what a tensor holds", as_array: "reads what a tensor holds",
    filled_with_a_value: "fills memory with what a tensor holds",
}
for function, said in SAID.items():
    try:
        planned(function, x)
    except NoPlan as error:
        assert said in str(error), error
    else:
        raise AssertionError(f"{function.__name__} has a plan")


def at_the_callers(x):
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    torch.cuda.current_stream().wait_stream(side)
    with torch.cuda.device(x.device):
        assert x.is_cuda and x.device.type == "cuda" and torch.empty(1, device=x.device).get_device() == 0
        return scaled(x)


assert torch.equal(executed(at_the_callers, x)[0], 2 * x)
print("none")
"""


WHERE = """
def given_a_device(x, device):
    assert device.type == "cuda"
    return scaled(x) if torch.empty(1, device=device).is_cuda else x


assert torch.equal(executed(given_a_device, x, torch.device("cpu"))[0], 2 * x)


def into(make):
    def function(x):
        out = make(x)
        scaled_kernel[(3,)](x, out, x.numel(), 2.0, B=64)
        return out

    return function


for make in (
    lambda x: torch.empty_like(x),
    lambda x: torch.empty(x.shape, device="cuda"),
    lambda x: torch.zeros(x.shape).to(x.device),
    lambda x: torch.zeros(x.shape).cuda(),
    lambda x: torch.zeros(x.shape, dtype=torch.float64).type_as(x),
    lambda x: torch.zeros(x.shape).to(x),
    lambda x: x.new_empty(x.shape),
):
    assert torch.equal(executed(into(make), x)[0], 2 * x)
for make in (lambda x: torch.empty(x.shape), lambda x: torch.zeros(x.shape, device="cpu").view(-1)):
    try:
        planned(into(make), x)
    except ValueError as error:
        assert "is launched with out on the CPU" in str(error)
    else:
        raise AssertionError("a kernel has no use for it")


def back(x):
    there = torch.empty(x.shape, device="cpu")
    there.copy_(scaled(x))
    return there


try:
    planned(back, x)
except NoPlan as error:
    assert "returns a tensor on the CPU" in str(error)
else:
    raise AssertionError("it is not where the input is")


def asks_for_gradients(x):
    return scaled(x) if x.requires_grad else x


def from_the_beginning(x):
    # of the tensor that x is a part of
    return scaled(x.as_strided(x.shape, x.stride(), 0))


first, second = (planned(from_the_beginning, torch.randn(8, 5)).plan for _ in range(2))
assert first["steps"] != second["steps"]
assert torch.equal(executed(lambda x: scaled(x.as_strided((2, 40), (40, 1), x.storage_offset())), x)[0], 2 * x[:2])
first, second = (planned(asks_for_gradients, torch.randn(8, 3)).plan for _ in range(2))
assert first["steps"] != second["steps"]
print("where")
"""


@pytest.mark.parametrize(
    ("script", "said"),
    [(WHAT, "said"), (KEPT, "kept"), (TUNED, "tuned"), (NONE, "none"), (WHERE, "where")],
    ids=["said", "kept", "tuned", "none", "where"],
)
def test_plans(script: str, said: str, tmp_path: Path) -> None:
    assert run_interpreted(script, tmp_path, head=HEAD) == said


@pytest.mark.parametrize("plan", [{}, {"steps": [{}], "made": []}, {"steps": 3, "made": [{"bytes": "many"}]}, []])
def test_what_is_no_plan_is_not_described(plan: object) -> None:
    with pytest.raises((AttributeError, KeyError, TypeError, ValueError, StopIteration)):
        described(plan, "it")  # type: ignore[arg-type]
