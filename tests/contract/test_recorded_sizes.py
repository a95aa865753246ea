"""A call at the recorded sizes, of which only a few programs are interpreted."""

from dataclasses import replace

import pytest

from passnet_core.execution.backends.local import LocalBackend
from passnet_core.records import Job, Verdict
from tests.contract.judging import PATTERN, job, judged, subgraph

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


def asked(large: str = "tl.maximum(total, 0.0)", grid: str = "triton.cdiv(count, 1024)", rest: str = "False") -> Job:
    code = PATTERN + KERNEL.replace("LARGE", large).replace("GRID", grid).replace("EVERYTHING", rest)
    return replace(job(code), subgraph=subgraph(SHAPE))


WRONG = {
    "a grid that ends too early": asked(grid="min(triton.cdiv(count, 1024), 768)"),
    "no relu where there is much": asked(large="tl.where(count > 1000000, total, tl.maximum(total, 0.0))"),
}


@pytest.mark.parametrize("cheat", WRONG.values(), ids=list(WRONG))
def test_kernels_that_are_wrong_at_the_recorded_sizes_alone_are_wrong(backend: LocalBackend, cheat: Job) -> None:
    outcome = judged(backend, cheat)
    assert outcome.verdict is Verdict.WRONG_VALUES, f"{outcome.reason} {outcome.evidence} {outcome.log_tail}"
    assert "at in_0 [64, 32, 512], in_1 [64, 32, 512]" in outcome.reason


def test_a_program_that_does_more_than_the_others_is_right(backend: LocalBackend) -> None:
    outcome = judged(backend, asked(grid="min(triton.cdiv(count, 1024), 768)", rest="True"))
    assert outcome.verdict is Verdict.VALUES_ONLY, f"{outcome.reason} {outcome.evidence} {outcome.log_tail}"
