"""The real judge accepts the editor's templates: a wrong template would teach mistakes."""

import threading
from pathlib import Path

import pytest

from passnet_core.bundles.static_rules.findings import findings
from passnet_core.execution.backends.local import LocalBackend
from passnet_core.records import Bundle, EvalSpec, Job, PassFile, Stage, Subgraph, TensorSpec, Verdict
from tests.contract.judging import ample_s

FOLDER = Path(__file__).resolve().parents[2] / "assets" / "templates"
SOURCE = "import torch\n\nclass GraphModule(torch.nn.Module):\n\n    def forward(self, {names}):\n{body}\n"
SUBGRAPHS: dict[str, tuple[dict[str, tuple[int, ...]], str, str]] = {
    "1_pointwise": ({"x": (4, 33)}, "y = torch.nn.functional.relu(x)", "y"),
    "2_rows": ({"x": (5, 33)}, "y = torch.nn.functional.softmax(x, dim=-1)", "y"),
    "3_several_results": ({"x": (4, 33), "r": (4, 33)}, "t = x + r|y = torch.nn.functional.relu(t)", "t, y"),
    "4_product": (
        {"x": (3, 5, 40), "w": (70, 40), "b": (70,)},
        "p = torch.nn.functional.linear(x, w, b)|y = torch.nn.functional.relu(p)",
        "y",
    ),
}


def subgraph(name: str) -> Subgraph:
    inputs, body, result = SUBGRAPHS[name]
    lines = [*body.split("|"), f"return ({result},)"]
    code = SOURCE.format(names=", ".join(inputs), body="\n".join(f"        {line}" for line in lines))
    specs = tuple(TensorSpec(each, shape, "float32", mean=0.0, std=1.0) for each, shape in inputs.items())
    return Subgraph("float32/0/made", "template", "made here", code, specs)


def test_every_template_is_tested_except_the_helper() -> None:
    assert {file.stem for file in FOLDER.glob("*.py")} == {*SUBGRAPHS, "5_helper"}


@pytest.mark.parametrize("name", SUBGRAPHS)
def test_a_template_breaks_no_rule_and_its_values_are_right(backend: LocalBackend, name: str) -> None:
    code = (FOLDER / f"{name}.py").read_text(encoding="utf-8")
    accepted(backend, name, Bundle((PassFile("template.py", code),)))


def accepted(backend: LocalBackend, name: str, bundle: Bundle) -> None:
    assert not findings(bundle, 1, passnet=False)
    job = Job(subgraph(name), bundle, EvalSpec(Stage.VERIFY, deadline_s=ample_s(), seed=7))
    outcome = backend.run(job, lambda event: None, threading.Event())
    assert outcome.verdict is Verdict.VALUES_ONLY, outcome.reason
