"""The search text: shapes in the spellings that people use, sequences of operations, and likely corrections."""

import pytest

from passnet_core.corpus.searching import corrected, found
from passnet_core.corpus.summaries import TaskSummary
from passnet_core.records import Family

WORDS = ["add", "bert-base", "layer_norm", "linear", "softmax"]


def task(name: str, *shapes: tuple[int, ...], operators: tuple[str, ...] = ("add",)) -> TaskSummary:
    return TaskSummary(
        id=name,
        family=Family.FUSIBLE,
        split="eval",
        subgraphs=1,
        source_models=("bert-base",),
        dtypes=("float32",),
        operators=operators,
        vocabulary=tuple(sorted(operators)),
        operations=len(operators),
        shapes=shapes,
    )


TASKS = [task("wide", (2, 128, 768)), task("narrow", (128, 76)), task("flat-768")]


@pytest.mark.parametrize(
    "text",
    [
        "128x768", "128 x 768", "128×768", "128*768", "128,768", "128, 768", "[128, 768]", "(128,768)", "[2, 128, 768]",
        "(2, 128, 768)", "torch.Size([2, 128, 768])", "bert [128, 768] add", "[[2 128 768]]",
    ],
)  # fmt: skip
def test_a_shape_is_found_in_every_spelling(text: str) -> None:
    assert [each.id for each in found(text, TASKS)] == ["wide"]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("768", ["wide", "flat-768"]),
        ("[128]", ["wide", "narrow"]),
        ("(76,)", ["narrow", "flat-768"]),
        ("12x768", []),
        ("768x128", []),
        ("", ["wide", "narrow", "flat-768"]),
    ],
)
def test_a_single_size_is_part_of_a_shape_or_of_a_name(text: str, names: list[str]) -> None:
    assert [each.id for each in found(text, TASKS)] == names


def test_operations_follow_one_another() -> None:
    tasks = [task("a", operators=("layer_norm", "linear")), task("b", operators=("linear", "gelu", "layer_norm"))]
    assert [each.id for each in found("layer_norm -> linear", tasks)] == ["a"]
    assert [each.id for each in found("lin* → … → layer*", tasks)] == ["b"]


@pytest.mark.parametrize(
    ("text", "likely"),
    [
        ("sofmax", "softmax"),
        ("layernorm -> linaer", "layer_norm→linear"),
        ("Softmx 128 x 768", "softmax 128x768"),
        ("soft", ""),
        ("softmax 768", ""),
        ("qqqqqq", ""),
        ("", ""),
    ],
)
def test_words_that_no_task_has_are_corrected(text: str, likely: str) -> None:
    assert corrected(text, WORDS) == likely
