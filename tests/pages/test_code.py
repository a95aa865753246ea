"""The code of an outcome: panes with the lines that belong to nodes, what is generated once it is asked for, and why it
is not there."""

import json
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from streamlit.testing.v1 import AppTest

from passnet_core.errors import InfrastructureError
from passnet_core.execution.backends.fake import FAKE_ENVIRONMENT, FakeBackend, uninspected
from passnet_core.records import (
    Accelerator,
    Bundle,
    CompiledKernel,
    InductorCode,
    Inspection,
    NodeValue,
    PassKernels,
    Subgraph,
    TensorForm,
)
from tests.example_playground import CODE, OTHER_ID, PASS, TASK_ID
from tests.pages.editing import Editor
from tests.pages.visiting import Visit, until

INDUCTOR, TRITON = "What TorchInductor generates", "What Triton makes of the passes"
HOSTILE = "</script><img src=x onerror=alert(1)> **bold** :red[x]"


def checked(app: AppTest, *asked: str) -> AppTest:
    """The page once a check has said something, with what is asked for."""
    until(Editor(app).ask("check", PASS), "Matches")
    for label in asked:
        next(each for each in app.toggle if each.label == label).set_value(True).run()
    return app


def panes(app: AppTest) -> dict[str, dict[str, Any]]:
    """What the component was given, by the panes' titles."""
    given = next(each.proto for each in app.get("bidi_component") if each.proto.component_name == "passnet.code")
    return {each["title"]: each for each in json.loads(given.json)["panes"]}


def drawn_until(app: AppTest, shown: Callable[[], bool]) -> None:
    """Draws the page again, as its polling does."""
    deadline = time.monotonic() + 60
    while not shown():
        assert time.monotonic() < deadline
        app.run()
        assert not app.exception, app.exception[0].message


def test_lines_of_all_panes_belong_to_the_subgraphs_nodes(visit: Visit) -> None:
    shown = panes(checked(visit("workbench", task=TASK_ID)))
    first, *others = shown
    assert (first[:2], others) == ("① ", ["The subgraph, rewritten", "The subgraph, as recorded"])
    add, relu = 2, 3
    line = 1 + PASS[: PASS.index("return torch.nn.functional.relu(a + b)")].count("\n")
    mine = shown[first]
    assert [line, line, [relu, add], True] in mine["spans"]
    assert any(not exact and {add, relu} == set(nodes) for _, _, nodes, exact in mine["spans"]), "the replacement"
    assert [6, 6, [add, relu], True] in shown["The subgraph, rewritten"]["spans"]
    assert [7, 7, [relu], True] in shown["The subgraph, as recorded"]["spans"]
    assert shown["The subgraph, as recorded"]["text"] == CODE


def test_bytes_are_told_and_the_floor_where_a_gpu_is(visit: Visit, judge: FakeBackend) -> None:
    app = checked(visit("workbench", task=OTHER_ID))
    assert any("known where jobs run on a GPU only" in each.value for each in app.caption)

    def inspected(subgraph: Subgraph) -> Inspection:
        values = tuple(NodeValue(f"tmp_{number}", (TensorForm((4, 48), "float32"),)) for number in range(3))
        return replace(uninspected(subgraph), values=values, accelerator=Accelerator("9.0", 132, 1, 1, 768.0))

    judge.inspection = inspected
    app = visit("runs", run="recorded-passes")
    drawn_until(app, lambda: any("µs" in fact for fact in panes(app)["The subgraph, as recorded"]["facts"]))
    shown = panes(app)
    assert shown["The subgraph, as recorded"]["facts"] == [
        "Eager, operation by operation, moves at least 5.38 kB: 7 µs at 1 GB/s, the floor.",
        "The whole subgraph, inputs and results once, moves at least 2.3 kB: 3 µs at 1 GB/s, the floor.",
    ]
    assert any("counted by a run" in fact for fact in shown["① add_relu.py"]["facts"])


def test_inductors_code_is_shown_with_what_it_launches(visit: Visit, judge: FakeBackend) -> None:
    code = InductorCode("# Source Nodes: [tmp_0]\nk = async_compile.triton('k', '')\n", 1, 2)
    judge.inspection = lambda subgraph: replace(uninspected(subgraph), code=code, code_problem="")
    app = checked(visit("workbench", task=TASK_ID), INDUCTOR)
    drawn_until(app, lambda: "TorchInductor's code" in panes(app))
    shown = panes(app)["TorchInductor's code"]
    assert shown["text"] == code.text
    assert shown["spans"] == [[1, 2, [2], False]]
    assert "One call launches 1 kernel of its own and 2 kernels of torch's." in shown["facts"]


def test_where_there_is_none_it_says_why(visit: Visit) -> None:
    app = checked(visit("workbench", task=TASK_ID), INDUCTOR, TRITON)
    for said in ("The fake judge has no compiler", "The fake judge compiles no kernel"):
        drawn_until(app, lambda said=said: any(said in each.value for each in app.info))  # type: ignore[misc]


def test_triton_ir_and_ptx_are_shown_as_the_passes_own_account(visit: Visit, judge: FakeBackend) -> None:
    ran = CompiledKernel("add_relu_kernel", "9.0", True, 1, num_warps=4, registers=32, spills=0, ttir="a", ptx=HOSTILE)
    failed = CompiledKernel(HOSTILE, "9.0", False, 1, problem=HOSTILE)

    def compiled(subgraph: Subgraph, bundle: Bundle) -> PassKernels:
        return PassKernels(subgraph.digest, bundle.digest, FAKE_ENVIRONMENT, (ran, failed))

    judge.compiling = compiled
    app = checked(visit("workbench", task=TASK_ID), TRITON)
    drawn_until(app, lambda: "PTX of add_relu_kernel" in panes(app))
    shown = panes(app)
    assert "Triton IR of add_relu_kernel" in shown
    assert "Triton GPU IR of add_relu_kernel" not in shown, "there is none"
    ptx = shown["PTX of add_relu_kernel"]
    assert ptx["text"] == HOSTILE
    assert ptx["note"] == "By the account of the process that holds the passes."
    assert ptx["facts"] == [
        "As launched here, compute capability 9.0: 1 launched in a call, 4 warps, 32 registers a thread, 0 spilled."
    ]
    assert {node for _, _, nodes, _ in ptx["spans"] for node in nodes} == {2, 3}
    assert not any("<img" in each.value.replace("\\<", "") for each in app.info if "`" not in each.value)
    assert any(each.value == HOSTILE for each in app.code), "why one has none"


def test_a_failure_of_the_judge_is_said_once_and_can_be_asked_again(visit: Visit, judge: FakeBackend) -> None:
    def compiled(subgraph: Subgraph, bundle: Bundle) -> PassKernels:
        raise InfrastructureError("The judge is away.")

    judge.compiling = compiled
    app = checked(visit("workbench", task=TASK_ID), TRITON)
    drawn_until(app, lambda: any("The judge is away" in each.value for each in app.info))
