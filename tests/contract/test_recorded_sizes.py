"""A call at the recorded sizes, of which only a few programs are interpreted."""

import random
from dataclasses import replace

import pytest
import torch

from passnet_core.execution.backends.local import LocalBackend
from passnet_core.judge.gpu_on_cpu.sampling import Sampling, ZeroedMemory
from passnet_core.judge.gpu_on_cpu.work import InterpreterWork
from passnet_core.records import Job, Verdict
from tests.contract.judging import ADD_RELU, PATTERN, bundle, job, judged, subgraph

pytestmark = pytest.mark.settled

SHAPE = (64, 32, 512)

KERNEL = """
@triton.jit
def add_relu_kernel(a_ptr, b_ptr, out_ptr, count, REST: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.load(a_ptr + at, mask=at < count, other=0.0) + tl.load(b_ptr + at, mask=at < count, other=0.0)
    tl.store(out_ptr + at, LARGE, mask=at < count)
    if REST:
        if tl.program_id(0) == tl.num_programs(0) - 1:
            for start in range((tl.program_id(0) + 1) * BLOCK, count, 16 * BLOCK):
                more = start + tl.arange(0, 16 * BLOCK)
                sums = tl.load(a_ptr + more, mask=more < count) + tl.load(b_ptr + more, mask=more < count)
                tl.store(out_ptr + more, tl.maximum(sums, 0.0), mask=more < count)


@torch.fx.wrap
def add_relu(a, b):
    out = torch.empty_like(a)
    count = a.numel()
    add_relu_kernel[(GRID,)](a, b, out, count, REST=EVERYTHING, BLOCK=1024)
    return out


def replacement_func():
    return add_relu
"""


LONG = (40_000, 2, 64)
"""More rows than the second axis of a grid may have programs."""

LARGE_BLOCK = (16_400, 2, 64)
"""A little more than twice as many elements as a block may have."""


def asked(
    large: str = "tl.maximum(total, 0.0)",
    grid: str = "triton.cdiv(count, 1024)",
    rest: str = "False",
    *,
    program: str = "tl.program_id(0)",
    shape: tuple[int, ...] = SHAPE,
) -> Job:
    kernel = KERNEL.replace("at = tl.program_id(0) *", f"at = {program} *").replace("LARGE", large)
    code = PATTERN + kernel.replace("GRID", grid).replace("EVERYTHING", rest)
    return replace(job(code), subgraph=subgraph(shape))


def asked_in_two_launches(grid: str) -> Job:
    """A bundle that adds into memory of its own with this grid, and takes the result from there."""
    usual = "add_relu_kernel[(GRID,)](a, b, out, count, REST=EVERYTHING, BLOCK=1024)"
    both = f"""between, zeros = torch.zeros_like(a), torch.zeros_like(a)
    add_relu_kernel[({grid},)](a, b, between, count, REST=False, BLOCK=1024)
    add_relu_kernel[(triton.cdiv(count, 1024),)](between, zeros, out, count, REST=False, BLOCK=1024)"""
    kernel = KERNEL.replace(usual, both).replace("LARGE", "tl.maximum(total, 0.0)")
    return replace(job(PATTERN + kernel), subgraph=subgraph(SHAPE))


WRONG = {
    "a grid that ends too early": asked(grid="min(triton.cdiv(count, 1024), 768)"),
    "no relu where there is much": asked(large="tl.where(count > 1000000, total, tl.maximum(total, 0.0))"),
    "last programs that work beside the output": asked(
        program="tl.where(tl.program_id(0) < 1000, tl.program_id(0), 5000)"
    ),
    "an element that is wrong where few are": asked(
        large="tl.where(at == 1048575, total - 100, tl.maximum(total, 0.0))"
    ),
    "a first launch that ends too early": asked_in_two_launches("min(triton.cdiv(count, 1024), 768)"),
}


@pytest.mark.parametrize("cheat", WRONG.values(), ids=list(WRONG))
def test_kernels_that_are_wrong_at_the_recorded_sizes_alone_are_wrong(backend: LocalBackend, cheat: Job) -> None:
    outcome = judged(backend, cheat)
    assert outcome.verdict is Verdict.WRONG_VALUES, f"{outcome.reason} {outcome.evidence} {outcome.log_tail}"
    assert "at in_0 [64, 32, 512], in_1 [64, 32, 512]" in outcome.reason


def test_a_program_that_does_more_than_the_others_is_right(backend: LocalBackend) -> None:
    outcome = judged(backend, asked(grid="min(triton.cdiv(count, 1024), 768)", rest="True"))
    assert outcome.verdict is Verdict.VALUES_ONLY, f"{outcome.reason} {outcome.evidence} {outcome.log_tail}"


def at_large_sizes(launch: str, shape: tuple[int, ...] = LARGE_BLOCK) -> Job:
    """A bundle that launches in another way, or not at all, if there is much to do."""
    usual = "add_relu_kernel[(GRID,)](a, b, out, count, REST=EVERYTHING, BLOCK=1024)"
    kernel = KERNEL.replace("tl.program_id(0) * BLOCK +", "(tl.program_id(0) + tl.program_id(1)) * BLOCK +")
    kernel = kernel.replace(usual, launch).replace("LARGE", "tl.maximum(total, 0.0)")
    return replace(job(PATTERN + kernel), subgraph=subgraph(shape))


LARGE = {
    "rows on the second axis": (
        at_large_sizes("add_relu_kernel[(1, count // 64)](a, b, out, count, REST=False, BLOCK=64)", LONG),
        Verdict.CRASHED,
        "axis 1 of the grid has 80000 programs",
    ),
    "everything in a block": (
        at_large_sizes(
            "BLOCK = 1024 if count < 1_000_000 else triton.next_power_of_2(count)\n"
            "    add_relu_kernel[(triton.cdiv(count, BLOCK),)](a, b, out, count, REST=False, BLOCK=BLOCK)"
        ),
        Verdict.COMPILE_FAILED,
        "1048576",
    ),
    "six warps": (
        at_large_sizes(
            "add_relu_kernel[(triton.cdiv(count, 1024),)](a, b, out, count, REST=False, BLOCK=1024,"
            " num_warps=6 if count > 1_000_000 else 4)"
        ),
        Verdict.COMPILE_FAILED,
        "num_warps",
    ),
    "torch": (
        at_large_sizes(
            "if count > 1_000_000:\n        total = a + b\n        return total * (total > 0)\n"
            "    add_relu_kernel[(triton.cdiv(count, 1024),)](a, b, out, count, REST=False, BLOCK=1024)"
        ),
        Verdict.LIBRARY,
        "aten::add",
    ),
}


@pytest.mark.parametrize(("cheat", "verdict", "said"), LARGE.values(), ids=list(LARGE))
def test_what_only_large_tensors_show_is_refused(
    backend: LocalBackend, cheat: Job, verdict: Verdict, said: str
) -> None:
    outcome = judged(backend, cheat)
    assert outcome.verdict is verdict, f"{outcome.reason} {outcome.evidence} {outcome.log_tail}"
    assert said in outcome.reason


def split_apart(asked: Job, shape: tuple[int, int, int]) -> Job:
    """The same with the sizes as numbers in the source."""
    outer, middle, inner = shape
    view = f"tmp_2 = tmp_1.view({outer}, {middle}, 4, {inner // 4})\n        return (tmp_2,)"
    return replace(asked, subgraph=subgraph(shape, code=ADD_RELU.replace("return (tmp_1,)", view)))


def test_numbers_of_the_source_shrink_where_a_bundle_leaves_them_open(backend: LocalBackend) -> None:
    outcome = judged(backend, split_apart(asked(), SHAPE))
    assert outcome.verdict is Verdict.VALUES_ONLY, f"{outcome.reason} {outcome.evidence} {outcome.log_tail}"
    assert outcome.accuracy is not None
    assert "in_0 [64, 32, 512] → " in outcome.accuracy.reduced
    assert "In the source, numbers shrank with them: " in outcome.accuracy.reduced
    assert "at in_0 [64, 32, 512]" in next(each.text for each in outcome.evidence if each.topic == "recorded sizes")


@pytest.mark.parametrize("cheat", WRONG.values(), ids=list(WRONG))
def test_kernels_also_run_with_the_numbers_that_were_recorded(backend: LocalBackend, cheat: Job) -> None:
    outcome = judged(backend, split_apart(cheat, SHAPE))
    assert outcome.verdict is Verdict.WRONG_VALUES, f"{outcome.reason} {outcome.evidence} {outcome.log_tail}"
    assert "at in_0 [64, 32, 512], in_1 [64, 32, 512]" in outcome.reason


def test_a_number_that_a_bundle_has_in_its_pattern_stays(backend: LocalBackend) -> None:
    made = split_apart(asked(), (16, 32, 256))
    assert made.bundle is not None
    (file,) = made.bundle.passes
    view = ".view(16, 32, 4, 64)"
    code = file.code.replace("relu(a + b)", f"relu(a + b){view}").replace("return out\n", f"return out{view}\n")
    outcome = judged(backend, replace(made, bundle=bundle(code)))
    assert outcome.verdict is Verdict.VALUES_ONLY, f"{outcome.reason} {outcome.evidence} {outcome.log_tail}"
    assert outcome.accuracy is not None
    assert outcome.accuracy.reduced == ""


def test_two_launches_that_are_right_stay_right(backend: LocalBackend) -> None:
    outcome = judged(backend, asked_in_two_launches("triton.cdiv(count, 1024)"))
    assert outcome.verdict is Verdict.VALUES_ONLY, f"{outcome.reason} {outcome.evidence} {outcome.log_tail}"


@pytest.mark.parametrize("count", [1, 2, 9, 80, 100_000])
def test_the_first_and_the_last_program_of_a_large_grid_run(count: int) -> None:
    sampling = Sampling(InterpreterWork(), random.Random(1))
    places = [(number, 0, 0) for number in range(count)]
    chosen = list(sampling.chosen(places))
    assert {places[0], places[-1]} <= set(chosen)
    assert len(set(chosen)) == len(chosen) <= 66
    assert len(chosen) == count or places[count // 2 - 1] in chosen


def test_memory_that_few_programs_leave_unwritten_holds_zeros() -> None:
    used = torch.full((4096,), 7, dtype=torch.int64)
    del used
    with ZeroedMemory():
        made = [
            torch.empty(4096, dtype=torch.int64),
            torch.empty((64, 64), dtype=torch.int64),
            torch.empty_strided((64, 64), (1, 64), dtype=torch.int64),
            torch.empty_like(torch.ones(4096, dtype=torch.int64)),
            torch.ones(1, dtype=torch.int64).new_empty(4096),
        ]
        filled = torch.ones(3)
    assert not any(bool(each.any()) for each in made)
    assert filled.tolist() == [1, 1, 1]


HUGE = (5, 32_768, 16_384)
"""More elements than 32 bits number, in inputs that nobody could hold."""


def test_a_grid_that_ends_too_early_is_seen_where_no_call_is_made(backend: LocalBackend) -> None:
    grid = "min(triton.cdiv(count, 1024), 2_000_000)"
    outcome = judged(backend, asked(grid=grid, program="tl.program_id(0).to(tl.int64)", shape=HUGE))
    assert outcome.verdict is Verdict.INCONCLUSIVE, outcome.reason
    assert "end too early at the recorded sizes" in outcome.reason


@pytest.mark.parametrize("program", ["tl.program_id(0)", "tl.program_id(0).to(tl.int64)"])
def test_offsets_of_32_bits_are_found_where_no_call_is_made(backend: LocalBackend, program: str) -> None:
    outcome = judged(backend, asked(program=program, shape=HUGE))
    if "int64" in program:
        assert outcome.verdict is Verdict.VALUES_ONLY, f"{outcome.reason} {outcome.log_tail}"
    else:
        assert outcome.verdict is Verdict.CRASHED, outcome.reason
        assert "at the recorded sizes" in outcome.reason
