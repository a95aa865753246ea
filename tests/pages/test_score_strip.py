"""The strip above the panes: whose times it shows, and what it says of passes that no GPU has timed."""

import re
from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from passnet_core.records import EXECUTED, Evidence, Job, Outcome, Stage
from passnet_core.service import Service
from tests.example_playground import PASS, REFERENCE_NAME, TASK_ID, answer
from tests.fake_backend import FakeBackend
from tests.pages.editing import Editor
from tests.pages.visiting import Visit, button, texts, until

REWRITTEN = """import torch


class GraphModule(torch.nn.Module):
    def forward(self, in_0, in_1):
        tmp_1 = replacement_0(in_0, in_1)
        return (tmp_1,)
"""


@pytest.fixture
def judge() -> FakeBackend:
    """One whose right passes launch once, and move half as much again as they must."""

    def counted(job: Job) -> Outcome:
        found = answer(job)
        if job.spec.stage is Stage.CHECK or not found.verdict.accepted:
            return found
        figures = (("launches", 1.0), ("moved_bytes", 1536.0), ("least_bytes", 1024.0))
        assert found.match is not None
        match = replace(found.match, rewritten=REWRITTEN)
        return replace(found, match=match, evidence=(Evidence(EXECUTED, "", figures),))

    return FakeBackend(counted)


def strip(app: AppTest) -> dict[str, str]:
    """What it says, by whose time it is."""
    found = next(each.proto.body for each in app.get("html") if "score-" in each.proto.body)
    rows = re.findall(r'<th scope="row">(.*?)</th>.*?<td[^>]*>([^<]*)</td></tr>', found)
    return dict(rows)


def test_recorded_passes_stand_beside_the_times_of_their_own_run(visit: Visit, service: Service) -> None:
    service.wait_until_imported()
    shown = strip(visit("workbench", task=TASK_ID, bundle=REFERENCE_NAME))
    assert [float(shown[name]) > 0 for name in ("eager", "yours")] == [True, True]
    assert shown["yours"] == shown["best known, reference"]


def test_right_passes_get_an_estimate_that_says_what_it_is_of(visit: Visit, service: Service) -> None:
    service.wait_until_imported()
    app = visit("workbench", task=TASK_ID)
    Editor(app).hold(PASS + "# mine\n").run()
    assert strip(app)["yours"] == "not run yet"
    button(app, "Run").click().run()
    until(app, "Right")
    assert re.fullmatch(r"about [\d.]+, estimated: 1 launch, 1.50 times the least bytes", strip(app)["yours"])
    estimate = strip(app)["yours"].split(",")[0]
    Editor(app).hold(PASS + "WRONG = 1\n").run()
    button(app, "Run").click().run()
    until(app, "Wrong")
    assert strip(app)["yours"] == f"wrong values; your best: {estimate.removeprefix('about ')}"


def test_passes_that_were_judged_have_their_verdict_again_after_an_edit_is_undone(visit: Visit) -> None:
    app = visit("workbench", task=TASK_ID)
    Editor(app).hold(PASS + "# mine\n").run()
    button(app, "Run").click().run()
    until(app, "Right")
    Editor(app).hold(PASS + "SIGMOID = 1\n").run()
    until(app, "No match")
    Editor(app).hold(PASS + "# mine\n").run()
    assert "Right, not timed" in texts(app)
    again = visit("workbench", task=TASK_ID)
    assert "Right, not timed" in texts(again)


def test_a_comment_does_not_take_a_verdict_away(visit: Visit) -> None:
    app = visit("workbench", task=TASK_ID)
    Editor(app).hold(PASS + "MINE = 1\n").run()
    button(app, "Run").click().run()
    until(app, "Right, not timed")
    Editor(app).hold("# one line more\n" + PASS + "MINE = 1  # as before\n").run()
    assert "Right, not timed" in texts(app)
    Editor(app).hold(PASS + "MINE = 2\n").run()
    until(app, "Matches")
