"""The Code tab: panes whose lines belong to nodes, and generated code on demand or the reason why there is none. The
Programs tab: what the kernels access."""

import json
from dataclasses import replace
from typing import Any

from streamlit.testing.v1 import AppTest

from passnet_core.errors import InfrastructureError
from passnet_core.records import (
    Accelerator,
    AccessKind,
    Baseline,
    Bundle,
    CompiledKernel,
    InductorCode,
    Inspection,
    MemoryAccess,
    NodeValue,
    PassKernels,
    PassTrace,
    Subgraph,
    TensorForm,
    TracedLaunch,
    TracedProgram,
    TracedTensor,
)
from passnet_core.service import Service
from passnet_core.store import exchange
from tests.example_playground import CODE, OTHER_ID, PASS, TASK_ID, measured
from tests.fake_backend import FAKE_ENVIRONMENT, FakeBackend, uninspected
from tests.pages.editing import Editor
from tests.pages.visiting import Visit, read, redrawn_until, texts, turned, until

INDUCTOR, TRITON = "Show TorchInductor's code", "Show Triton IR and PTX of the passes"
HOSTILE = "</script><img src=x onerror=alert(1)> **bold** :red[x]"


def checked(app: AppTest, *asked: str) -> AppTest:
    """Check on this page, and switch on the toggles with these labels."""
    turned(until(Editor(app).ask("check", PASS), "Matches"), "Code")
    for label in asked:
        next(each for each in app.toggle if each.label == label).set_value(True).run()
    return app


def panes(app: AppTest) -> dict[str, dict[str, Any]]:
    """Return the data of the component, by the titles of the panes."""
    given = next(each.proto for each in app.get("bidi_component") if each.proto.component_name == "passnet.code")
    return {each["title"]: each for each in json.loads(given.json)["panes"]}


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


def test_bytes_are_shown_and_with_a_gpu_the_memory_floor(visit: Visit, judge: FakeBackend) -> None:
    app = checked(visit("workbench", task=OTHER_ID))
    assert any("known only where jobs run on a GPU" in each.value for each in app.caption)

    def inspected(subgraph: Subgraph) -> Inspection:
        values = tuple(NodeValue(f"tmp_{number}", (TensorForm((4, 48), "float32"),)) for number in range(3))
        return replace(uninspected(subgraph), values=values, accelerator=Accelerator("9.0", 132, 1, 1, 768.0))

    judge.inspection = inspected
    app = visit("runs", run="recorded-passes", tab="Code")
    redrawn_until(app, lambda: any("µs" in fact for fact in panes(app)["The subgraph, as recorded"]["facts"]))
    shown = panes(app)
    assert shown["The subgraph, as recorded"]["facts"] == [
        "Eager, operation by operation, moves at least 5.38 kB. At 1 GB/s this takes 7 µs, the memory floor.",
        "The whole subgraph, with inputs read and results written once, moves at least 2.3 kB. At 1 GB/s this takes 3 "
        "µs, the memory floor.",
    ]
    assert any("all values are right" in fact for fact in shown["① add_relu.py"]["facts"])


def test_inductors_code_is_shown_with_what_it_launches(visit: Visit, judge: FakeBackend) -> None:
    code = InductorCode("# Source Nodes: [tmp_0]\nk = async_compile.triton('k', '')\n", 1, 2)
    judge.inspection = lambda subgraph: replace(uninspected(subgraph), code=code, code_problem="")
    app = checked(visit("workbench", task=TASK_ID), INDUCTOR)
    redrawn_until(app, lambda: "Code of TorchInductor" in panes(app))
    shown = panes(app)["Code of TorchInductor"]
    assert shown["text"] == code.text
    assert shown["spans"] == [[1, 2, [2], False]]
    assert "One call launches 1 generated kernel and 2 library kernels." in shown["facts"]


def test_the_baseline_whose_code_is_shown_is_chosen_and_named(visit: Visit, judge: FakeBackend) -> None:
    def inspected(subgraph: Subgraph) -> Inspection:
        code = InductorCode(f"# inspection {len(judge.inspected)}\n", 1, 0)
        return replace(uninspected(subgraph), code=code, code_problem="")

    app = checked(visit("workbench", task=TASK_ID))
    judge.inspection = inspected
    judge.inspected.clear()
    next(each for each in app.toggle if each.label == INDUCTOR).set_value(True).run()
    redrawn_until(app, lambda: "Code of TorchInductor" in panes(app))
    first = panes(app)["Code of TorchInductor"]["text"]
    (choice,) = [each for each in app.button_group if each.label == "Baseline"]
    choice.set_value("TorchInductor with eager's rounding").run()
    redrawn_until(app, lambda: "Code of TorchInductor with eager's rounding" in panes(app))
    assert "Code of TorchInductor" not in panes(app)
    assert panes(app)["Code of TorchInductor with eager's rounding"]["text"] != first
    (choice,) = [each for each in app.button_group if each.label == "Baseline"]
    choice.set_value("TorchInductor").run()
    assert panes(app)["Code of TorchInductor"]["text"] == first, "it was remembered, and is still the default's"


def test_an_outcome_beside_another_baseline_shows_its_code_first(
    visit: Visit, judge: FakeBackend, service: Service
) -> None:
    code = InductorCode("# code\n", 1, 0)
    judge.inspection = lambda subgraph: replace(uninspected(subgraph), code=code, code_problem="")
    file = measured(None, speedup=1.2, baseline=Baseline.EAGER_ROUNDING)
    service.import_run(exchange.written(replace(file, run=replace(file.run, id="rounding"))))
    app = visit("runs", run="rounding", tab="Code")
    next(each for each in app.toggle if each.label == INDUCTOR).set_value(True).run()
    redrawn_until(app, lambda: "Code of TorchInductor with eager's rounding" in panes(app))


def test_without_generated_code_the_reason_is_shown(visit: Visit, judge: FakeBackend) -> None:
    app = checked(visit("workbench", task=TASK_ID), INDUCTOR, TRITON)
    for said in ("The fake judge has no compiler", "The fake judge compiles no kernel"):
        redrawn_until(app, lambda said=said: any(said in each.value for each in app.info))  # type: ignore[misc]
    assert judge.traced == [], "nobody has looked at the programs"
    until(turned(app, "Programs"), "The fake judge runs no kernel")


def test_triton_ir_and_ptx_are_marked_as_reported_by_the_candidate(visit: Visit, judge: FakeBackend) -> None:
    ran = CompiledKernel("add_relu_kernel", "9.0", True, 1, num_warps=4, registers=32, spills=0, ttir="a", ptx=HOSTILE)
    failed = CompiledKernel(HOSTILE, "9.0", False, 1, problem=HOSTILE)

    def compiled(subgraph: Subgraph, bundle: Bundle) -> PassKernels:
        return PassKernels(subgraph.digest, bundle.digest, FAKE_ENVIRONMENT, (ran, failed))

    judge.compiling = compiled
    app = checked(visit("workbench", task=TASK_ID), TRITON)
    redrawn_until(app, lambda: "PTX of add_relu_kernel" in panes(app))
    shown = panes(app)
    assert "Triton IR of add_relu_kernel" in shown
    assert "Triton GPU IR of add_relu_kernel" not in shown, "the kernel has none"
    ptx = shown["PTX of add_relu_kernel"]
    assert ptx["text"] == HOSTILE
    assert ptx["note"] == "Reported by the process that has loaded the passes; the judge does not check it."
    assert ptx["facts"] == [
        "As launched here, compute capability 9.0: 1 launched per call, 4 warps, 32 registers per thread, 0 spilled."
    ]
    assert {node for _, _, nodes, _ in ptx["spans"] for node in nodes} == {2, 3}
    assert not any("<img" in each.value.replace("\\<", "") for each in app.info if "`" not in each.value)
    assert any(each.value == HOSTILE for each in app.code), "the reason why a kernel has no code"
    judge.tracing = traced
    until(turned(app, "Programs"), "Program 0")
    assert "loads 2 elements of x_ptr" in read(app)
    assert HOSTILE not in texts(app)
    assert any(each.value.startswith("▶   1  ") for each in app.code)
    step_through(app)


def traced(subgraph: Subgraph, bundle: Bundle) -> PassTrace:
    """A launch of two programs; the last one makes fewer accesses."""
    file = bundle.passes[0].name

    def access(kind: AccessKind, element: int) -> MemoryAccess:
        return MemoryAccess(kind, file, 1, "x_ptr", (2,), (element, element + 1), (False, False), (HOSTILE, "2"))

    steps = access(AccessKind.LOAD, 0), access(AccessKind.STORE, 0)
    programs = TracedProgram((0, 0, 0), steps), TracedProgram((1, 0, 0), (access(AccessKind.ATOMIC, 2),))
    launch = TracedLaunch("k", (2, 1, 1), (), (TracedTensor("x_ptr", (4,), (1,), "float32", HOSTILE),), programs, 2)
    return PassTrace(subgraph.digest, bundle.digest, FAKE_ENVIRONMENT, (launch, replace(launch, kernel=HOSTILE)))


def step_through(app: AppTest) -> None:
    """Choose another step, then a program without such a step, then another launch."""
    app.select_slider[1].set_value("2: store x_ptr").run()
    assert "step 2 of 2" in texts(app)
    app.select_slider[0].set_value("1").run()
    assert "Program 1, step 1 of 1" in texts(app)
    assert "atomically changes" in texts(app)
    app.select_slider[0].set_value("0").run()
    assert "Program 0, step" in texts(app)
    app.selectbox[-1].set_value(app.selectbox[-1].options[1]).run()
    assert not app.exception, app.exception[0].message
    assert "Program 0, step 1" in texts(app)


def test_a_failure_of_the_judge_is_said_once_and_can_be_asked_again(visit: Visit, judge: FakeBackend) -> None:
    def compiled(subgraph: Subgraph, bundle: Bundle) -> PassKernels:
        raise InfrastructureError("The judge is away.")

    judge.compiling = compiled
    app = checked(visit("workbench", task=TASK_ID), TRITON)
    redrawn_until(app, lambda: any("The judge is away" in each.value for each in app.info))
