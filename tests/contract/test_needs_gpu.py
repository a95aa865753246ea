"""What Triton's interpreter cannot run is no fault of the passes; what no compiler accepts is."""

import pytest

pytest.importorskip("triton")

from passnet_core.execution.backends.local import LocalBackend
from passnet_core.records import Stage, Verdict
from tests.contract.judging import RIGHT, job, judged

pytestmark = pytest.mark.settled


BLOCK = "BLOCK=256"
ASSEMBLY = (
    'tl.inline_asm_elementwise("max.f32 $0, $1, 0f00000000;", "=f,f", [total], dtype=tl.float32, is_pure=True, pack=1)'
)


def changed(code: str, old: str, new: str) -> str:
    assert old in code
    return code.replace(old, new)


def test_inline_assembly_needs_a_gpu_and_the_reason_names_its_line(backend: LocalBackend) -> None:
    code = changed(RIGHT, "tl.where(total > 0, total, 0.0)", ASSEMBLY)
    line = 1 + next(index for index, text in enumerate(code.splitlines()) if "inline_asm" in text)
    outcome = judged(backend, job(code))
    assert outcome.verdict is Verdict.NEEDS_GPU, f"{outcome.reason} {outcome.log_tail}"
    assert f"tl.inline_asm_elementwise (pass_0.py line {line})" in outcome.reason
    assert not outcome.verdict.accepted
    assert outcome.error_class is None
    assert judged(backend, job(code, Stage.CHECK)).verdict is Verdict.MATCHED


def test_a_block_that_no_gpu_compiles_does_not_compile(backend: LocalBackend) -> None:
    outcome = judged(backend, job(changed(RIGHT, BLOCK, "BLOCK=250")))
    assert outcome.verdict is Verdict.COMPILE_FAILED, f"{outcome.reason} {outcome.log_tail}"
    assert "power of 2" in outcome.reason
