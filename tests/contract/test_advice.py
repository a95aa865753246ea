"""The error map of the real judge, and the advice based on it, show which mistake was made."""

import math

from passnet_core.advice.next_step import next_step
from passnet_core.charts.places import where
from passnet_core.execution.backends.local import LocalBackend
from passnet_core.records import Job, Outcome, Verdict, from_json, to_json
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
