"""Interpreted launches are checked: accesses outside of tensors, races, and what each launch changed."""

from pathlib import Path

import pytest

pytest.importorskip("triton")

from tests.contract.interpreted import run_interpreted

pytestmark = pytest.mark.settled


HEAD = """
import torch
import triton
import triton.language as tl
from triton.runtime.errors import InterpreterError
from triton.tools.tensor_descriptor import TensorDescriptor
from passnet_core.judge.gpu_on_cpu.strict_memory import watched


def changed(launch):
    # the ranges of addresses that a launch changed
    found = [each.start + at for each in launch.changed for at, it in enumerate(each.of_bytes()) if it]
    known = set(found)
    starts, ends = ([at for at in found if at + step not in known] for step in (-1, 1))
    return [(start, end + 1) for start, end in zip(starts, ends)]


def problems(launch, *args, **kwargs):
    with watched(seed=kwargs.pop("seed", None)) as memory:
        memory.one_warp = kwargs.pop("one_warp", False)
        launch(*args, **kwargs)
    return memory.problems


"""

OUTSIDE = """
@triton.jit
def copied(x, out, n, most, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(out + at, tl.load(x + at, mask=at < n), mask=at < most)


@triton.jit
def shifted(x, out, n, by, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(out + at, tl.load(x + at + by, mask=at < n, other=0.0), mask=at < n)


@triton.jit
def through_tuple(tensors, n, B: tl.constexpr):
    at = tl.arange(0, B)
    tl.store(tensors[1] + at, tl.load(tensors[0] + at, mask=at < n), mask=at < n)


@triton.jit
def described(source, target, B: tl.constexpr):
    target.store([tl.program_id(0) * B, 0], source.load([tl.program_id(0) * B, 0]))


@triton.jit
def anywhere(x, out):
    tl.store(out, tl.load((tl.load(x)).to(tl.pointer_type(tl.float32))))


n = 100
x = torch.randn(n)
for dtype in (torch.float32, torch.bfloat16, torch.float64, torch.int8, torch.bool):
    given, out = (10 * x.abs() + 1).to(dtype), torch.zeros(n, dtype=dtype)
    with watched() as memory:
        copied[(4,)](given, out, n, n, B=32)
    (launch,) = memory.launches
    assert torch.equal(out, given) and memory.problems == [] and launch.kernel == "copied" and launch.grid == (4, 1, 1)
    start = out.untyped_storage().data_ptr()
    assert changed(launch) == [(start, start + out.nbytes)], changed(launch)
    with watched() as memory:
        copied[(4,)](given, out, n, n, B=32)
    assert changed(memory.launches[0]) == []

    room = torch.zeros(200, dtype=dtype)
    out = torch.zeros(n, dtype=dtype)
    with watched() as memory:
        copied[(4,)](given, out, n, n + 1, B=32)
    (problem,) = memory.problems
    assert problem.startswith("copied, kernels.py line 29: program (3, 0, 0) stores outside out, up to "), problem
    assert f"{out.element_size()} bytes after the last byte" in problem, problem
    assert torch.equal(out, given)

# part of a tensor: what lies around it in the same storage may be used
whole = torch.zeros(300)
whole[100:] = 1 + torch.rand(200)
with watched() as memory:
    copied[(4,)](whole[100:], whole[200:], n, n, B=32)
    shifted[(4,)](whole[100:], whole[200:], n, -100, B=32)
assert memory.problems == []
start = whole.data_ptr()
assert changed(memory.launches[0]) == [(start + 800, start + 1200)]

for by, side in ((1, "after the last"), (-1, "before the first")):
    with watched() as memory:
        shifted[(4,)](x, torch.empty(n), n, by, B=32)
    (problem,) = memory.problems
    assert "loads outside x, up to 4 bytes" in problem and side in problem, problem
# unless only a part of it counts
middle = (whole.data_ptr() + 400, whole.data_ptr() + 800)
with watched(extent_of=lambda s: middle if s.nbytes() == 1200 else (s.data_ptr(), s.data_ptr() + s.nbytes())) as memory:
    shifted[(4,)](whole[100:200], torch.empty(n), n, 1, B=32)
assert "loads outside x, up to 4 bytes after" in memory.problems[0]

with watched() as memory:
    anywhere[(1,)](torch.tensor([1 << 60]), torch.empty(1))
assert "at an address that belongs to none" in memory.problems[0], memory.problems

out = torch.zeros(n)
with watched() as memory:
    through_tuple[(1,)]((x, out), n, B=128)
assert torch.equal(out, x) and memory.problems == []
assert changed(memory.launches[0]) == [(out.data_ptr(), out.data_ptr() + out.nbytes)]
with watched() as memory:
    through_tuple[(1,)]((x, out), n + 1, B=128)
assert any("tensors[1]" in each for each in memory.problems), memory.problems

source, target = torch.randn(64, 32), torch.zeros(64, 32)
with watched() as memory:
    blocks = [TensorDescriptor.from_tensor(each, [16, 32]) for each in (source, target)]
    described[(5,)](*blocks, B=16)
assert torch.equal(source, target) and memory.problems == []
assert changed(memory.launches[0]) == [(target.data_ptr(), target.data_ptr() + target.nbytes)]


def refuse(problem):
    raise RuntimeError(problem)


try:
    with watched(on_problem=refuse):
        shifted[(4,)](x, torch.empty(n), n, 1, B=32)
except InterpreterError as error:
    assert "loads outside x" in str(error)
else:
    raise AssertionError("the exception was lost")
with watched() as memory:
    pass
shifted[(4,)](whole[100:200], torch.empty(n), n, 1, B=32)
assert memory.launches == []
print("inside")
"""

RACES = """
@triton.jit
def norm_by_first(x, norm, out, n, B: tl.constexpr):
    if tl.program_id(0) == 0:
        tl.store(norm, tl.sum(tl.load(x + tl.arange(0, 128), mask=tl.arange(0, 128) < n, other=0.0)))
    at = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(out + at, tl.load(x + at, mask=at < n) / tl.load(norm), mask=at < n)


@triton.jit
def rows_too_wide(x, out, columns, B: tl.constexpr):
    at = tl.arange(0, B)
    row = tl.load(x + tl.program_id(0) * columns + at, mask=at < columns, other=0.0)
    tl.store(out + tl.program_id(0) * columns + at, row, mask=at <= columns)


@triton.jit
def neighbours_in_place(x, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(x + at, tl.load(x + at, mask=at < n) + tl.load(x + at + 1, mask=at + 1 < n, other=0.0), mask=at < n)


@triton.jit
def in_place(x, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(x + at, 2 * tl.load(x + at, mask=at < n), mask=at < n)


@triton.jit
def all_the_same(x, out, flags):
    tl.store(out, tl.load(x))
    tl.store(flags, 1)
    tl.store(flags + 1 + tl.program_id(0), tl.load(flags))


@triton.jit
def last_finishes(x, parts, done, total, n, programs, SEM: tl.constexpr, SCOPE: tl.constexpr, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(parts + tl.program_id(0), tl.sum(tl.load(x + at, mask=at < n, other=0.0)))
    if tl.atomic_add(done, 1, sem=SEM, scope=SCOPE) == programs - 1:
        each = tl.arange(0, 16)
        tl.store(total, tl.sum(tl.load(parts + each, mask=each < programs, other=0.0)))


@triton.jit
def last_adds_blocks(x, parts, done, total, BARRIER: tl.constexpr, B: tl.constexpr):
    program, at = tl.program_id(0), tl.arange(0, B)
    tl.store(parts + program * B + at, tl.load(x + program * B + at))
    if BARRIER:
        tl.debug_barrier()
    if tl.atomic_add(done, 1) == 3:
        tl.store(total + at, tl.sum(tl.load(parts + tl.arange(0, 4)[:, None] * B + at[None, :]), 0))


@triton.jit
def accumulated(x, total, FIRST: tl.constexpr, READ: tl.constexpr, B: tl.constexpr):
    if FIRST and tl.program_id(0) == 0:
        tl.store(total, 0.0)
    tl.atomic_add(total, tl.sum(tl.load(x + tl.program_id(0) * B + tl.arange(0, B))))
    if READ:
        tl.store(total + 1 + tl.program_id(0), tl.load(total))


@triton.jit
def locked(x, total, lock, B: tl.constexpr):
    value = tl.sum(tl.load(x + tl.program_id(0) * B + tl.arange(0, B)))
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    tl.store(total, tl.load(total) + value)
    tl.atomic_xchg(lock, 0)


@triton.jit
def halves(x, out, B: tl.constexpr):
    half = out.to(tl.pointer_type(tl.int16))
    tl.store(half + tl.program_id(0), tl.program_id(0).to(tl.int16))


n = 100
x = torch.rand(n)
found = problems(norm_by_first[(4,)], x, torch.empty(1), torch.empty(n), n, B=32)
assert found and "program (1, 0, 0) reads norm[0], which program (0, 0, 0) wrote in the same launch" in found[0], found
found = problems(rows_too_wide[(4,)], torch.rand(4, 9), torch.empty(5, 9), 9, B=16)
assert "program (1, 0, 0) writes a different value to out[9], which program (0, 0, 0) wrote" in found[0], found
found = problems(neighbours_in_place[(4,)], x.clone(), n, B=32)
assert "writes x[32], which program (0, 0, 0) read in the same launch" in " ".join(found), found
for dtype in (torch.float32, torch.bfloat16, torch.int64):
    assert problems(in_place[(4,)], (8 * x).to(dtype), n, B=32) == []
assert problems(all_the_same[(4,)], x, torch.zeros(1), torch.zeros(5, dtype=torch.int32)) == []
assert problems(halves[(4,)], x, torch.zeros(2), B=2) == []


def finished(sem, scope="gpu"):
    parts, done, total = torch.empty(4), torch.zeros(1, dtype=torch.int32), torch.empty(1)
    found = problems(last_finishes[(4,)], x, parts, done, total, n, 4, SEM=sem, SCOPE=scope, B=32)
    torch.testing.assert_close(total[0], x.sum())
    return found


assert finished("acq_rel") == [] == finished("acq_rel", "sys")
# of one program only: neither atomic between programs, nor does it order anything there
found = " ".join(finished("acq_rel", "cta"))
assert "reads parts[0], which program (0, 0, 0) wrote" in found, found
assert "program (1, 0, 0) atomically changes done[0], which program (0, 0, 0) wrote" in found, found
for sem in ("relaxed", "acquire", "release"):
    assert any("reads parts[0], which program (0, 0, 0) wrote" in each for each in finished(sem)), sem

# one thread releases what its own warp did, and what the others did before a barrier
for size, released in ((64, {}), (64, {"one_warp": True}), (64, {"BARRIER": True}), (32, {})):
    blocks, total, done = torch.rand(4, size), torch.empty(size), torch.zeros(1, dtype=torch.int32)
    given = {"BARRIER": False, "B": size, **released}
    found = problems(last_adds_blocks[(4,)], blocks, torch.empty(4, size), done, total, **given)
    if size == 64 and not released:
        assert "reads parts[32], which program (0, 0, 0) wrote" in found[0], found
    else:
        assert found == [], (size, released, found)
    torch.testing.assert_close(total, blocks.sum(0))

x = torch.rand(128)
total = torch.zeros(1)
assert problems(accumulated[(4,)], x, total, FIRST=False, READ=False, B=32) == []
torch.testing.assert_close(total[0], x.sum())
found = problems(accumulated[(4,)], x, torch.ones(1), FIRST=True, READ=False, B=32)
assert "atomically changes total[0], which program (0, 0, 0) wrote" in found[0], found
total, lock = torch.zeros(1), torch.zeros(1, dtype=torch.int32)
assert problems(locked[(4,)], x, total, lock, B=32) == []
torch.testing.assert_close(total[0], x.sum())

# the order of programs, by a seed
n = 100
x = torch.rand(n)
results = set()
for seed in (None, 0, 1, 2, 3):
    out = torch.empty(5, 9)
    problems(rows_too_wide[(4,)], torch.rand(4, 9, generator=torch.Generator().manual_seed(0)), out, 9, B=16, seed=seed)
    results.add(tuple(out[:4].reshape(-1).tolist()))
assert len(results) > 1
y = x.clone()
assert problems(in_place[(4,)], y, n, B=32, seed=5) == [] and torch.equal(y, 2 * x)
print("no race")
"""


LANES = """
@triton.jit
def turned(x, scratch, out, n, BETWEEN: tl.constexpr, B: tl.constexpr):
    at = tl.arange(0, B)
    value = tl.load(x + at, mask=at < n, other=0.0)
    tl.store(scratch + at, value, mask=at < n)
    if BETWEEN == "barrier":
        tl.debug_barrier()
    if BETWEEN == "sum":
        tl.store(out + n, tl.sum(value))
    if BETWEEN == "reshape":
        value = tl.reshape(value, (2, B // 2))
    if BETWEEN == "atomic":
        tl.atomic_add(out + n, 1.0)
    if BETWEEN == "atomics":
        value += tl.atomic_add(out + at, value, mask=at < n)
    if BETWEEN == "awaited":
        tl.store(out + n, tl.atomic_add(out + n, 1.0))
    tl.store(out + at, tl.load(scratch + n - 1 - at, mask=at < n), mask=at < n)


@triton.jit
def in_two_loops(x, out, n, B: tl.constexpr):
    total = tl.zeros((B,), tl.float32)
    for start in range(0, n, B):
        at = start + tl.arange(0, B)
        value = tl.exp(tl.load(x + at, mask=at < n, other=0.0))
        tl.store(out + at, value, mask=at < n)
        total += value
    for start in range(0, n, B):
        at = start + tl.arange(0, B)[None, :]
        tl.store(out + at, tl.load(out + at, mask=at < n) + total[None, :], mask=at < n)


@triton.jit
def filled_and_scattered(places, out, n, BARRIER: tl.constexpr, B: tl.constexpr):
    at = tl.arange(0, B)
    tl.store(out + at, 0.0, mask=at < n)
    if BARRIER:
        tl.debug_barrier()
    tl.store(out + tl.load(places + at, mask=at < n, other=0), 1.0 + at, mask=at < n)


@triton.jit
def turned_in_place(x, n, BARRIER: tl.constexpr, B: tl.constexpr):
    at = tl.arange(0, B)
    value = tl.load(x + n - 1 - at, mask=at < n)
    if BARRIER:
        tl.debug_barrier()
    tl.store(x + at, value, mask=at < n)


@triton.jit
def all_to_one(x, out, n, ATOMIC: tl.constexpr, B: tl.constexpr):
    at = tl.arange(0, B)
    if ATOMIC:
        tl.atomic_xchg(out + at * 0, tl.load(x + at, mask=at < n), mask=at < n)
    else:
        tl.store(out + at * 0, tl.load(x + at, mask=at < n), mask=at < n)


n = 100
x = torch.rand(n)
for dtype in (torch.float32, torch.bfloat16, torch.float64):
    given, scratch, out = x.to(dtype), torch.empty(n, dtype=dtype), torch.empty(n + 1, dtype=dtype)
    # what only exchanges values between lanes lets no warp wait for all that another one has written, nor does an
    # atomic operation of each lane, or one whose result nobody waits for
    atomic = dtype != torch.bfloat16
    for between in ("", "sum", "reshape", *(("atomic", "atomics") if atomic else ())):
        scratch.zero_()
        (problem,) = problems(turned[(1,)], given, scratch, out, n, BETWEEN=between, B=128)
        assert "reads scratch[99], which another of its lanes has changed before: without a tl.debug" in problem
    for between in ("barrier", *(("awaited",) if atomic else ())):
        scratch.zero_()
        assert problems(turned[(1,)], given, scratch, out, n, BETWEEN=between, B=128) == []
        assert torch.equal(out[:n], given.flip(0))
    scratch.zero_()
    assert problems(turned[(1,)], given, scratch, out, n, BETWEEN="", B=128, one_warp=True) == []
assert problems(in_two_loops[(1,)], x, torch.empty(n), n, B=32) == []

places = torch.randperm(n)
(problem,) = problems(filled_and_scattered[(1,)], places, torch.empty(n), n, BARRIER=False, B=128)
assert "writes a different value to out[" in problem and "another of its lanes has changed before" in problem, problem
assert problems(filled_and_scattered[(1,)], places, torch.empty(n), n, BARRIER=True, B=128) == []
(problem,) = problems(turned_in_place[(1,)], x.clone(), n, BARRIER=False, B=128)
assert "writes a different value to x[" in problem and "another of its lanes has read before" in problem, problem
assert problems(turned_in_place[(1,)], x.clone(), n, BARRIER=True, B=128) == []

for atomic in (False, True):
    for dtype in (torch.float32, torch.int64):
        one = torch.zeros(1, dtype=dtype)
        (problem,) = problems(all_to_one[(1,)], (10 * x).to(dtype), one, n, ATOMIC=atomic, B=128)
        assert "writes different values to out[0] from several lanes at once" in problem, problem
        assert problems(all_to_one[(1,)], torch.full((n,), 5, dtype=dtype), one, n, ATOMIC=atomic, B=128) == []
        assert one.item() == 5
        assert problems(all_to_one[(1,)], x.to(dtype), one, 1, ATOMIC=atomic, B=128) == []
print("in step")
"""

AHEAD = """
@triton.jit
def running(x, out, steps, n, STAGES: tl.constexpr, BARRIER: tl.constexpr, BACK: tl.constexpr, INNER: tl.constexpr,
            B: tl.constexpr):
    at = tl.arange(0, B)
    for first in range(BACK):
        tl.store(out + first * n + at, tl.load(x + first * n + at, mask=at < n), mask=at < n)
    for step in tl.range(BACK, steps, num_stages=STAGES):
        before = tl.load(out + (step - BACK) * n + at, mask=at < n)
        if INNER:
            for _ in range(INNER):
                before += 0.0
        tl.store(out + step * n + at, before + tl.load(x + step * n + at, mask=at < n), mask=at < n)
        if BARRIER:
            tl.debug_barrier()


@triton.jit
def kept_in_registers(x, out, steps, n, B: tl.constexpr):
    at = tl.arange(0, B)
    total = tl.zeros((B,), tl.float32)
    for step in tl.range(0, steps, 1, 4):
        total += tl.load(x + step * n + at, mask=at < n)
        tl.store(out + step * n + at, total, mask=at < n)
    for step in tl.range(0, steps, num_stages=4):
        tl.store(out + step * n + at, tl.load(out + step * n + at, mask=at < n) + 1.0, mask=at < n)


@triton.jit
def products(state, weight, total, steps, FED: tl.constexpr, B: tl.constexpr):
    at = tl.arange(0, B)[:, None] * B + tl.arange(0, B)[None, :]
    factor = tl.load(weight + at)
    for step in range(steps):
        if FED:
            pointers = state + step * B * B
            product = tl.dot(tl.load(pointers + at), factor)
            tl.store(state + (step + 1) * B * B + at, product)
        else:
            given = tl.load(state + step * B * B + at) * 2.0
            so_far = tl.load(total + at)
            tl.store(total + at, tl.dot(given, factor, so_far))


@triton.jit
def one_stage(state, weight, steps, B: tl.constexpr):
    at = tl.arange(0, B)[:, None] * B + tl.arange(0, B)[None, :]
    factor = tl.load(weight + at)
    for step in tl.range(steps, num_stages=1):
        tl.store(state + (step + 1) * B * B + at, tl.dot(tl.load(state + step * B * B + at), factor))


x, out = torch.rand(8, 100), torch.empty(8, 100)
state, weight, total = torch.rand(4, 16, 16), torch.rand(16, 16), torch.zeros(16, 16)
(problem,) = problems(products[(1,)], state, weight, total, 3, FED=True, B=16)
assert "reads state[" in problem and "a tl.dot of what it loads" in problem, problem
assert problems(products[(1,)], state, weight, total, 3, FED=False, B=16) == []
assert problems(one_stage[(1,)], state, weight, 3, B=16) == []
usual = dict(STAGES=3, BARRIER=False, BACK=1, INNER=0, B=128)
for wrong in (usual, {**usual, "BACK": 2}, {**usual, "STAGES": 2}):
    (problem,) = problems(running[(1,)], x, out, 8, 100, **wrong)
    assert "reads out[" in problem and "which it stored a few iterations of the loop before" in problem, problem
for other in ({"STAGES": 1}, {"STAGES": None}, {"BARRIER": True}, {"BACK": 3}, {"INNER": 2}):
    assert problems(running[(1,)], x, out, 8, 100, **{**usual, **other}) == [], other
assert problems(kept_in_registers[(1,)], x, out, 8, 100, B=128) == []
print("in order")
"""

TURNS = """
import threading


@triton.jit
def between_two(x, total, flags, OWN: tl.constexpr, B: tl.constexpr):
    value = tl.sum(tl.load(x + tl.program_id(0) * B + tl.arange(0, B)))
    flag = flags + (tl.program_id(0) if OWN else 0)
    tl.atomic_add(flag, 1)
    tl.store(total, tl.load(total) + value)
    tl.atomic_add(flag, 1)


@triton.jit
def two_for_one(x, total, B: tl.constexpr):
    value = tl.sum(tl.load(x + tl.program_id(0) * B + tl.arange(0, B)))
    tl.atomic_xchg(total, tl.atomic_add(total, 0.0) + value)


@triton.jit
def swapped(total, TRIES: tl.constexpr):
    seen, done = tl.atomic_add(total, 0), False
    for _ in range(TRIES):
        if not done:
            found = tl.atomic_cas(total, seen, seen + 1)
            done = found == seen
            seen = found


@triton.jit
def added(x, total, B: tl.constexpr):
    tl.atomic_add(total, tl.sum(tl.load(x + tl.program_id(0) * B + tl.arange(0, B))))


@triton.jit
def locked(x, totals, lock, count, SEM: tl.constexpr, B: tl.constexpr):
    # as in Triton's tutorial on layer normalisation
    value = tl.load(x + tl.program_id(0) * B + tl.arange(0, B))
    while tl.atomic_cas(lock, 0, 1, sem=SEM) == 1:
        pass
    if tl.load(count) == 0:
        tl.atomic_xchg(count, 1)
    else:
        value += tl.load(totals + tl.arange(0, B))
    tl.store(totals + tl.arange(0, B), value)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


@triton.jit
def last_of_rows(x, parts, done, out, SPLITS: tl.constexpr, B: tl.constexpr):
    row, split = tl.program_id(0), tl.program_id(1)
    value = tl.sum(tl.load(x + (row * SPLITS + split) * B + tl.arange(0, B)))
    tl.store(parts + row * SPLITS + split, value)
    if tl.atomic_add(done + row, 1) == SPLITS - 1:
        tl.store(out + row, tl.sum(tl.load(parts + row * SPLITS + tl.arange(0, SPLITS))))


@triton.jit
def last_of_blocks_of_rows(x, parts, done, out, SPLITS: tl.constexpr, B: tl.constexpr):
    row, split = tl.arange(0, B), tl.program_id(0)
    tl.store(parts + split * B + row, tl.load(x + split * B + row))
    tl.debug_barrier()
    if tl.min(tl.atomic_add(done + row, 1)) == SPLITS - 1:
        total = tl.zeros((B,), tl.float32)
        for each in range(SPLITS):
            total += tl.load(parts + each * B + row)
        tl.store(out + row, total)


@triton.jit
def all_arrive(parts, arrived, out, P: tl.constexpr):
    program = tl.program_id(0)
    tl.store(parts + program, program * 1.0)
    tl.atomic_add(arrived, 1)
    while tl.atomic_add(arrived, 0) < P:
        pass
    tl.store(out + program, tl.sum(tl.load(parts + tl.arange(0, P))))


@triton.jit
def failing(x, total, B: tl.constexpr):
    tl.atomic_add(total, 1.0)
    tl.atomic_add(total, 1.0)
    if tl.program_id(0) == 2:
        tl.store(total, tl.load(total).no_such_thing)
    tl.atomic_add(total, 1.0)


P, B = 8, 16
x = torch.rand(P * B)
seeds = (0, 1, 2, 3)
flags = torch.zeros(P, dtype=torch.int32)
for own in (True, False):
    for seed in seeds:
        for programs in (2, P):
            found = problems(between_two[(programs,)], x, torch.zeros(1), flags, OWN=own, B=B, seed=seed)
            assert any("total[0], which program" in each for each in found), (own, seed, programs)

# a program may fail as often as there are others, and no oftener
for programs in (8, 40):
    for tries, kept in ((4, {False, True}), (programs - 4, {False, True}), (programs, {True})):
        found = set()
        for seed in range(12):
            total = torch.zeros(1, dtype=torch.int32)
            assert problems(swapped[(programs,)], total, TRIES=tries, seed=seed) == []
            found.add(total.item() == programs)
        assert found == kept, (programs, tries, found)

lost = set()
for seed in seeds:
    for programs in (2, P):
        total = torch.zeros(1)
        assert problems(two_for_one[(programs,)], x, total, B=B, seed=seed) == []
        assert not torch.allclose(total[0], x[: programs * B].sum()), "an addition was lost"
    total = torch.zeros(1)
    assert problems(added[(P,)], x, total, B=B, seed=seed) == []
    torch.testing.assert_close(total[0], x.sum())
    same = torch.zeros(1)
    problems(added[(P,)], x, same, B=B, seed=seed)
    assert torch.equal(total, same), "the same seed gives the same order"

    def locking(sem):
        totals, lock, count = torch.empty(B), torch.zeros(1, dtype=torch.int32), torch.zeros(1, dtype=torch.int32)
        found = problems(locked[(P,)], x, totals, lock, count, SEM=sem, B=B, seed=seed)
        torch.testing.assert_close(totals, x.view(P, B).sum(0))
        return found

    assert locking("acq_rel") == []
    assert any("which program" in each for each in locking("relaxed"))

    rows = torch.rand(5, 4, 16)
    out = torch.empty(5)
    assert problems(
        last_of_rows[(5, 4)], rows, torch.empty(20), torch.zeros(5, dtype=torch.int32), out, SPLITS=4, B=16, seed=seed
    ) == []
    torch.testing.assert_close(out, rows.sum((1, 2)))
    blocks, out = torch.rand(4, 16), torch.empty(16)
    assert problems(
        last_of_blocks_of_rows[(4,)], blocks, torch.empty(64), torch.zeros(16, dtype=torch.int32), out, SPLITS=4, B=16,
        seed=seed,
    ) == []
    torch.testing.assert_close(out, blocks.sum(0))
    out = torch.empty(P)
    assert problems(all_arrive[(P,)], torch.empty(P), torch.zeros(1, dtype=torch.int32), out, P=P, seed=seed) == []
    assert out.tolist() == [sum(range(P))] * P

    # not more turns than are worth it
    total = torch.zeros(1)
    assert problems(added[(1000,)], torch.ones(1000 * B), total, B=B, seed=seed) == []
    assert total.item() == 1000 * B

    try:
        problems(failing[(P,)], x, torch.zeros(1), B=B, seed=seed)
    except InterpreterError as error:
        assert "no_such_thing" in str(error)
    else:
        raise AssertionError("the exception was lost")
    assert threading.active_count() == 1
print("taking turns")
"""

UNDEFINED = """
@triton.jit
def count_of(ids, out, n, SOUGHT: tl.constexpr, B: tl.constexpr):
    each = tl.load(ids + tl.arange(0, B), mask=tl.arange(0, B) < n)
    tl.store(out, tl.sum((each == SOUGHT).to(tl.int32)))


@triton.jit
def largest(x, out, n, OTHER: tl.constexpr, B: tl.constexpr):
    at = tl.arange(0, B)
    if OTHER:
        tl.store(out, tl.max(tl.load(x + at, mask=at < n, other=-float("inf"))))
    else:
        tl.store(out, tl.max(tl.load(x + at, mask=at < n)))


@triton.jit
def gathered(x, places, out, n, B: tl.constexpr):
    at = tl.arange(0, B)
    value = tl.gather(tl.load(x + at), tl.load(places + at, mask=at < n), 0)
    tl.store(out + at, value, mask=at < n)


def results(launch, given, kind, seed, **named):
    out = torch.zeros(1, dtype=kind)
    assert problems(launch[(1,)], given, out, len(given), seed=seed, **named) == []
    return out.item()


for dtype in (torch.int64, torch.int32, torch.int8):
    ids = torch.full((33,), 3, dtype=dtype)
    for sought in (0, -1):
        counts = {results(count_of, ids, torch.int32, seed, SOUGHT=sought, B=64) for seed in range(4)}
        assert min(counts) > 0 and len(counts) > 1, (dtype, sought, counts)
    assert results(count_of, ids[:32], torch.int32, 0, SOUGHT=0, B=32) == 0
for dtype in (torch.float32, torch.float16, torch.bfloat16):
    x = torch.linspace(0, 1, 33).to(dtype)
    # numpy's maximum passes over NaN, which alone would hide the lanes that are left out
    assert {results(largest, x, torch.float32, seed, OTHER=False, B=64) for seed in range(4)} != {1.0}
    assert results(largest, x, torch.float32, 0, OTHER=True, B=64) == 1.0
flags = torch.ones(33, dtype=torch.bool)
assert 33 < results(count_of, flags, torch.int32, 0, SOUGHT=1, B=64) < 64
# lanes that are left out again are no harm, whatever they hold
x, places, out = torch.rand(64), torch.randint(0, 64, (33,), dtype=torch.int32), torch.empty(33)
assert problems(gathered[(1,)], x, places, out, 33, B=64, seed=0) == []
assert torch.equal(out, x[places])
# as in the workers, where nothing is watched
assert results(count_of, torch.full((33,), 3), torch.int32, None, SOUGHT=-1, B=64) == 31
print("anything")
"""


def test_accesses_outside_of_tensors_are_found_and_changes_are_listed(tmp_path: Path) -> None:
    assert run_interpreted(OUTSIDE, tmp_path, head=HEAD) == "inside"


def test_races_are_found_and_ordered_programs_are_none(tmp_path: Path) -> None:
    assert run_interpreted(RACES, tmp_path, head=HEAD) == "no race"


def test_lanes_of_one_program_need_a_barrier_between_them(tmp_path: Path) -> None:
    assert run_interpreted(LANES, tmp_path, head=HEAD) == "in step"


def test_loops_with_stages_do_not_load_what_they_have_just_stored(tmp_path: Path) -> None:
    assert run_interpreted(AHEAD, tmp_path, head=HEAD) == "in order"


def test_programs_take_turns_at_atomic_operations(tmp_path: Path) -> None:
    assert run_interpreted(TURNS, tmp_path, head=HEAD) == "taking turns"


def test_lanes_that_a_load_leaves_out_hold_anything(tmp_path: Path) -> None:
    assert run_interpreted(UNDEFINED, tmp_path, head=HEAD) == "anything"
