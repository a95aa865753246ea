"""What TorchInductor generates, beside the passes: asked for, waited for, and where there is none, why."""

import time
from collections.abc import Callable
from dataclasses import replace

from editing import Editor
from example_playground import PASS, TASK_ID
from streamlit.testing.v1 import AppTest
from test_workbench import until

from passnet_core.backends.fake import FakeBackend, uninspected
from passnet_core.records import InductorCode, Subgraph

Visit = Callable[..., AppTest]
SHOWN = "What TorchInductor generates"


def with_code(app: AppTest) -> AppTest:
    """Asks for it, once a run has said something."""
    until(Editor(app).ask("check", PASS), "Matches")
    next(each for each in app.toggle if each.label == SHOWN).set_value(True).run()
    return app


def drawn_until(app: AppTest, shown: Callable[[], bool]) -> None:
    """Draws the page again, as its polling does."""
    deadline = time.monotonic() + 60
    while not shown():
        assert time.monotonic() < deadline
        app.run()


def test_inductors_code_is_shown_with_what_it_launches(visit: Visit, judge: FakeBackend) -> None:
    code = InductorCode("def call(args): ...", 1, 2)

    def inspected(subgraph: Subgraph):  # type: ignore[no-untyped-def]
        return replace(uninspected(subgraph), code=code, code_problem="")

    judge.inspection = inspected
    app = with_code(visit("workbench", task=TASK_ID))
    drawn_until(app, lambda: any(each.value == code.text for each in app.code))
    assert "One call launches 1 kernel of its own and 2 kernels of torch's." in [each.value for each in app.caption]


def test_where_there_is_none_it_says_why(visit: Visit) -> None:
    app = with_code(visit("workbench", task=TASK_ID))
    drawn_until(app, lambda: any("The fake judge has no compiler" in each.value for each in app.info))
