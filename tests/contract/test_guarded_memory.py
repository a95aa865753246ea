"""An interpreted kernel that accesses memory outside of its tensors raises an exception and damages nothing."""

from pathlib import Path

import pytest

pytest.importorskip("triton")

from tests.contract.interpreted import run_interpreted

SCRIPT = """
@triton.jit
def copied(x, out, n, most, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(out + at, tl.load(x + at, mask=at < n, other=0), mask=at < most)


@triton.jit
def counted(out, by):
    tl.atomic_add(out + by, 1)
    tl.atomic_cas(out + by, 0, 1)


@triton.jit
def loaded(x, out, by):
    tl.store(out, tl.load(x + by))


def refused(launch, *args, **kwargs):
    try:
        launch(*args, **kwargs)
    except InterpreterError as error:
        return f"{type(error.__cause__).__name__}: {error.__cause__}"
    return ""


n = 100
for dtype in (torch.float32, torch.bfloat16, torch.float16, torch.float64, torch.int8, torch.bool):
    x, room = torch.ones(n, dtype=dtype), torch.zeros(2 * n, dtype=dtype)
    copied[(4,)](x, room, n, n, B=32)
    # memory beside the tensor in the same storage is not its own, but cannot harm the process
    copied[(4,)](x, room[10:20], n, n, B=32)

    out = torch.zeros(n, dtype=dtype)
    said = refused(copied[(4,)], x, out, n, n + 1, B=32)
    assert said == (
        f"OutsideMemory: program (3, 0, 0) stores outside out, up to {out.element_size()} bytes after the last byte of"
        " its memory"
    ), said
    # in bounds in the next launch, whatever was refused before
    copied[(4,)](x, out, n, n, B=32)
    assert torch.equal(out, x)

counts = torch.zeros(4, dtype=torch.int32)
counted[(1,)](counts, 3)
assert counts.tolist() == [0, 0, 0, 1]
said = refused(counted[(1,)], counts, -1)
assert "program (0, 0, 0) changes memory outside out, up to 4 bytes before the first byte" in said, said

# what lies just beside a tensor can be read, and only repeating the launch finds that
assert refused(loaded[(1,)], torch.ones(4), torch.empty(1), 5) == ""
said = refused(loaded[(1,)], torch.ones(4), torch.empty(1), 1 << 20)
assert "loads outside" in said, said
assert "at an address that belongs to none of its arguments" in refused(
    loaded[(1,)], torch.ones(4), torch.empty(1), -(1 << 40)
)
"""


def test_stores_outside_of_tensors_are_refused_and_near_loads_are_not(tmp_path: Path) -> None:
    run_interpreted(SCRIPT, tmp_path)
