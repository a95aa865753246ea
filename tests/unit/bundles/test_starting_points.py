"""A starting point matches its graph, breaks no rule, and has a complete kernel for known operations."""

from pathlib import Path

import pytest

from passnet_core.bundles.starting import kernel_code, starting_point
from passnet_core.bundles.static_rules.findings import findings
from passnet_core.corpus.catalogue import Corpus
from passnet_core.graphs.matching import find_matches
from passnet_core.graphs.source import parse, parse_function

TASKS = Corpus([Path(__file__).resolve().parents[3] / "data" / "tasks"])
UNWRITTEN = "NotImplementedError"


def source(*lines: str, arguments: str = "in_0, in_1") -> str:
    body = "\n".join(f"        {line}" for line in lines)
    return (
        "import torch\nfrom torch import device\n\nclass GraphModule(torch.nn.Module):\n"
        f"    def forward(self, {arguments}):\n{body}\n"
    )


def pattern_text(*lines: str, arguments: str = "in_0, in_1") -> str:
    """The pattern of the starting point for a graph with these lines."""
    code = starting_point(parse(source(*lines, arguments=arguments))).passes[0].code
    return code.split("def pattern", 1)[1].split("def replacement_args", 1)[0]


@pytest.mark.parametrize("task", [task.id for task in TASKS.tasks()])
def test_it_matches_the_bundled_task_and_breaks_no_rule(task: str) -> None:
    graph = parse(TASKS.task(task).subgraphs[0].code)
    bundle = starting_point(graph)
    assert findings(bundle, 1) == ()
    pattern = parse_function(bundle.passes[0].code, "pattern")
    assert find_matches(pattern, graph).matches


def test_it_takes_the_largest_part_with_one_result() -> None:
    text = pattern_text(
        "a = torch.exp(in_0)",
        "b = torch.matmul(a, in_1)",
        "c = b * 2.0",
        "d = torch.nn.functional.relu(c, inplace=False)",
        "e = d + c",
        "return (e,)",
    )
    assert "def" not in text
    assert "(b):" in text
    for line in ("c = b * 2.0", "d = torch.nn.functional.relu(c, inplace = False)", "e = d + c", "return e"):
        assert line.replace(" ", "") in text.replace(" ", "")
    assert "exp" not in text


def test_a_returned_value_ends_the_part() -> None:
    text = pattern_text("a = in_0 * 2", "b = a + in_1", "return (a, b)")
    assert "b = a + in_1" not in text or "a = in_0 * 2" not in text


def test_sizes_and_changes_in_place_are_left_out() -> None:
    code = source(
        "n = in_0.size(0)", "m = n * 2", "r = in_0.reshape(m)", "return (r,)", arguments="in_0, s0: torch.SymInt"
    )
    assert UNWRITTEN in starting_point(parse(code)).passes[0].code
    code = source("k = s0 + 1", "r = in_0.reshape(k)", "return (r,)", arguments="in_0, s0: torch.SymInt")
    assert UNWRITTEN in starting_point(parse(code)).passes[0].code
    graph = parse(source("in_0 += in_1", "return (in_0,)"))
    assert kernel_code(graph.operations[0]) is None


def test_without_known_triton_code_the_pass_matches_and_says_that_the_kernel_is_missing() -> None:
    bundle = starting_point(parse(source("a = torch.cumsum(in_0, 0)", "return (a,)")))
    assert "a = torch.cumsum(in_0, 0)" in bundle.passes[0].code
    assert UNWRITTEN in bundle.passes[0].code
    assert findings(bundle) == ()


def test_a_graph_without_operations_gives_an_empty_frame() -> None:
    bundle = starting_point(parse(source("return (in_0,)")))
    assert findings(bundle) == ()
    assert UNWRITTEN in bundle.passes[0].code


def test_names_of_the_graph_do_not_clash_with_those_of_the_template() -> None:
    code = starting_point(parse(source("kernel = out * 2", "return (kernel,)", arguments="out"))).passes[0].code
    compile(code, "MyPass.py", "exec")
    assert "kernel_ = out_ * 2" in code
    assert "def kernel(out__pointer, out_pointer" in code


@pytest.mark.parametrize(
    "line", ["a = torch.add(in_0, in_1, alpha=2)", "a = torch.div(in_0, in_1, rounding_mode='floor')"]
)
def test_keywords_that_change_the_result_have_no_known_triton_code(line: str) -> None:
    assert kernel_code(parse(source(line, "return (a,)")).operations[0]) is None
