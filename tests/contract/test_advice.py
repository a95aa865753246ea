"""The error map of the real judge, and the advice based on it, show which mistake was made."""

import math

import pytest

from passnet_core.advice.next_step import next_step
from passnet_core.charts.places import where
from passnet_core.execution.backends.local import LocalBackend
from passnet_core.records import Job, Outcome, Subgraph, TensorSpec, Verdict, from_json, to_json
from tests.contract.judging import RIGHT, bundle, job, judged


def test_the_advice_locates_a_mask_that_ends_too_early_and_names_it(backend: LocalBackend) -> None:
    early = RIGHT.replace("mask = offsets < count", "mask = offsets < count - 24")
    outcome = judged(backend, Job(job(RIGHT).subgraph, bundle(early), job(RIGHT).spec))
    assert outcome.verdict in (Verdict.WRONG_VALUES, Verdict.NON_FINITE), outcome.reason
    assert outcome.accuracy is not None
    (output,) = outcome.accuracy.outputs
    assert output.map is not None
    # 132 elements in rows of 33
    wrong = {divmod(place, 33) for place, error in enumerate(output.map.cells) if error > 1}
    assert (output.map.rows, output.map.columns) == (4, 33)
    assert wrong == {(3, column) for column in range(9, 33)}
    assert where(output) == "24 of 132 elements (18.2 %), columns 9 to 32, row 3"
    assert output.wrong_in[0] == "recorded"
    assert output.map.around is not None
    assert any(math.isnan(each) or abs(each) > 1e38 for row in output.map.around.actual for each in row)
    said = next_step(outcome) or ""
    assert "columns 9 to 32, row 3" in said
    assert "this looks like a mistake in a mask or the last block" in said
    again = from_json(Outcome, to_json(outcome))
    assert to_json(again) == to_json(outcome)


ROWS = """
import torch
import triton
import triton.language as tl


def pattern(in_0):
    return PATTERN


def replacement_args(in_0):
    return (in_0,)


@triton.jit
def row_kernel(in_ptr, out_ptr, COLUMNS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    inside = columns < COLUMNS
    x = tl.load(in_ptr + row * COLUMNS + columns, mask=inside, other=0.0)
    mean = tl.sum(x, 0) / COLUMNS
    centred = tl.where(inside, x - mean, 0.0)
    tl.store(out_ptr + row, RESULT)


@torch.fx.wrap
def rows(in_0):
    out = torch.empty(in_0.shape[:1], dtype=in_0.dtype, device=in_0.device)
    row_kernel[(in_0.shape[0],)](in_0, out, in_0.shape[1], triton.next_power_of_2(in_0.shape[1]))
    return out


def replacement_func():
    return rows
"""

MODEL = """
import torch

class GraphModule(torch.nn.Module):

    def forward(self, in_0):
        tmp_0 = PATTERN
        return (tmp_0,)
"""


@pytest.mark.parametrize(
    ("call", "result"),
    [
        ("in_0.mean(-1)", "tl.sum(x, 0) / (COLUMNS + 1)"),
        ("in_0.var(-1)", "tl.sum(centred * centred, 0) / COLUMNS"),
        ("in_0.mean(-1)", "0.0"),
    ],
    ids=["a mean over one more", "a biased variance", "zeros"],
)
def test_a_mistake_in_a_formula_is_not_called_one_of_precision(backend: LocalBackend, call: str, result: str) -> None:
    spec = TensorSpec("in_0", (64, 1500), "float32", mean=0.1, std=1.0)
    subgraph = Subgraph("float32/0/rows", "rows", "none", MODEL.replace("PATTERN", call), (spec,))
    code = ROWS.replace("PATTERN", call).replace("RESULT", result)
    outcome = judged(backend, Job(subgraph, bundle(code), job(RIGHT).spec))
    assert outcome.verdict in (Verdict.WRONG_VALUES, Verdict.LOWER_PRECISION), outcome.reason
    said = f"{outcome.reason} {next_step(outcome)}"
    assert "precision" not in said.replace("less precise", "")
    assert "TF32" not in said
    assert "float16" not in said
