"""How many bytes a call has to move, and how long that takes."""

from dataclasses import replace

import pytest

from passnet_core.advice.memory_floor import bytes_of, floor_words, memory_floor, nearness
from passnet_core.records import MEMORY_FLOOR, Accelerator, Accuracy, Evidence, OutputAccuracy, Verdict
from tests.contract.made import job, outcome

SAID = Evidence(
    MEMORY_FLOOR,
    "33.6 MB read and written once take 8.4 µs at this device's 4000 GB/s, measured by a copy.",
    (("moved_bytes", 33.6e6), ("bytes_per_us", 4e6)),
)
H200 = Accelerator("9.0", 132, 1 << 37, 50 << 20, 4e6)


@pytest.mark.parametrize(
    ("shape", "dtype", "size"),
    [((2, 3), "float32", 24), ((8,), "bfloat16", 16), ((5,), "bool", 5), ((), "int64", 8), ((3,), "complex64", 24),
     ((4,), "float8_e4m3fn", 4), ((0, 9), "float16", 0), ((7,), "unheard of", 7)],
)  # fmt: skip
def test_bytes_follow_from_the_dtype(shape: tuple[int, ...], dtype: str, size: int) -> None:
    assert bytes_of(shape, dtype) == size


def test_what_the_judge_measured_is_the_floor() -> None:
    found = memory_floor(replace(outcome(job(), Verdict.FASTER), evidence=(SAID,)), job().subgraph, H200)
    assert found is not None
    assert found.us == pytest.approx(8.4)
    assert floor_words(found).startswith(
        "No call that reads from memory can be faster than about 8.4 µs: it has to move 33.6 MB"
    )
    assert nearness(12.6, found) == "1.5×"


def test_without_a_measured_floor_sizes_and_device_give_it() -> None:
    made = outcome(job(), Verdict.FASTER)
    output = OutputAccuracy(0, (1 << 20,), "float32", -10, (), 0.0, 0.0)
    sized = replace(made, accuracy=Accuracy((output,), ("recorded",)))
    found = memory_floor(sized, job().subgraph, H200)
    read = sum(bytes_of(each.shape, each.dtype) for each in job().subgraph.inputs)
    assert found is not None
    assert found.moved_bytes == read + (1 << 22)
    assert memory_floor(sized, job().subgraph) is None
    assert memory_floor(sized) is None
    reduced = replace(sized, accuracy=replace(sized.accuracy, reduced="smaller"))  # type: ignore[type-var]
    assert memory_floor(reduced, job().subgraph, H200) is None
    for odd in ((), (("bytes_per_us", 4e6),), (("moved_bytes", 8.0), ("bytes_per_us", 0.0))):
        assert memory_floor(replace(made, evidence=(Evidence(MEMORY_FLOOR, "what is this?", odd),))) is None
