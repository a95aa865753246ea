"""What a model is told first."""

from passnet_core.records import (
    Accelerator,
    Device,
    Family,
    NodeValue,
    Subgraph,
    Task,
    TensorForm,
    TensorSpec,
)
from passnet_core.solvers.llm.prompting import MOST_SOURCES, Surroundings, first_of_sources, opening
from tests.fake_backend import FAKE_ENVIRONMENT

H200 = Accelerator("9.0", 132, 150 << 30, 60 << 20, 4_012_345.0)


def subgraph(number: int, code: str = "def forward(x): ...") -> Subgraph:
    return Subgraph(f"float16/{number}", "add", "model", code, (TensorSpec("in_0", (4, 2 + number), "float16"),))


def told(surroundings: Surroundings, *subgraphs: Subgraph) -> str:
    task = Task("add", Family.FUSIBLE, "train", subgraphs)
    return opening(task, surroundings, {"contract": "the contract", "limits": "its limits"})[1].text


def test_the_machine_and_what_nodes_give_are_told_where_they_are_known() -> None:
    values = (
        NodeValue("in_0", (TensorForm((4, 2), "float16"),)),
        NodeValue("tmp_0", (TensorForm((4, 1), "float16"), TensorForm((4, 1), "int64"))),
        NodeValue("tmp_1", (TensorForm((4, 2), "float32"),)),
        NodeValue("tmp_2", (TensorForm((4, 2), "float32"),)),
    )
    surroundings = Surroundings(Device.CUDA, FAKE_ENVIRONMENT, {"float16/0": values}, H200)
    text = told(surroundings, subgraph(0), subgraph(1))
    assert "The task is add: 2 subgraphs, judged on a GPU (CUDA)." in text
    assert "The machine: fake device, with torch 0 and triton 0." in text
    assert "compute capability 9.0, 132 multiprocessors, 150 GiB of memory" in text
    assert "4012 GB/s of copy bandwidth (bytes read and written, measured), and 60 MiB of L2 cache." in text
    assert (
        "Shapes and dtypes of its nodes in float16/0:\n"
        "- float16 [4, 1], int64 [4, 1]: tmp_0\n- float32 [4, 2]: tmp_1, tmp_2\n"
    ) in text
    assert "$" not in text


def test_what_is_not_known_is_left_out() -> None:
    text = told(Surroundings(Device.CPU, FAKE_ENVIRONMENT), subgraph(0))
    assert "The machine: fake device" in text
    assert "GPU" not in text
    assert "its nodes" not in text
    assert "Nothing else is known about the machine." in told(Surroundings(Device.CPU), subgraph(0))


def test_one_subgraph_of_each_source_that_is_shown_is_inspected() -> None:
    many = [subgraph(number, f"source {number // 2}") for number in range(2 * MOST_SOURCES + 2)]
    assert [each.id for each in first_of_sources(many)] == [f"float16/{2 * number}" for number in range(MOST_SOURCES)]
