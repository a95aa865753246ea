"""The table of what is known of operations by name is the only place that names them."""

import ast
import builtins
import json
import operator
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from passnet_core.graphs.spelling import BUILTINS, INPLACE
from passnet_core.operations.kinds import KINDS, named
from passnet_core.operations.table import TABLE

pytestmark = pytest.mark.settled

PACKAGE = KINDS.parents[1]
MOST = 6
"""So many names of operations in a row are cases of code, and no table yet."""

ELSEWHERE = {
    "operations",
    "solvers/rules/lowering",  # beside each label the function that lowers it
    "solvers/rules/kernels.py",  # kinds of reductions that kernels have
    "graphs/spelling.py",  # the operators and functions of Python
    "bundles/static_rules",  # the language Triton, and the rules of PassNet's own judge
    "judge/worker/emulation.py",  # functions of Triton
    "training/repairing/alterations.py",  # the same
    "corpus/metadata.py",  # fields of tensors
}
"""Places that may name operations, or whose words are names of operations by chance."""

KNOWN_BESIDES = {"swish", "grouped_mm_fallback"}
"""Operations that neither torch nor Python has by this name."""

OF_PARAMETERS = {"without_effect", "shaping_parameters", "shifted_parameters"}
"""Kinds of parameters instead of operations."""


def known() -> frozenset[str]:
    """The last part of every name of an operation."""
    table = json.loads(TABLE.read_text())
    return frozenset(each.rpartition(".")[2] for each in (*table["spellings"], *table["aten"]))


def tables(tree: ast.AST) -> Iterator[tuple[int, list[str]]]:
    """The line and the words of each collection, text of words, or pattern with alternatives."""
    for node in ast.walk(tree):
        match node:
            case ast.Set(elts) | ast.List(elts) | ast.Tuple(elts):
                parts = elts
            case ast.Dict(keys):
                parts = [each for each in keys if each is not None]
            case ast.MatchOr(patterns):
                parts = [each.value for each in patterns if isinstance(each, ast.MatchValue)]
            case ast.Constant(value=str() as text) if all(word.isidentifier() for word in text.split()):
                yield node.lineno, text.split()
                continue
            case _:
                continue
        yield (
            node.lineno,
            [each.value for each in parts if isinstance(each, ast.Constant) and isinstance(each.value, str)],
        )


@pytest.mark.parametrize("file", sorted(PACKAGE.rglob("*.py")), ids=lambda file: file.relative_to(PACKAGE).as_posix())
def test_a_place_outside_the_table_names_no_operations(file: Path) -> None:
    place = file.relative_to(PACKAGE).as_posix()
    if any(place == each or place.startswith(f"{each}/") for each in ELSEWHERE):
        return
    names = known()
    found = [
        (line, words)
        for line, words in tables(ast.parse(file.read_text(encoding="utf-8")))
        if len(words) > MOST and sum(each.rpartition(".")[2] in names for each in words) >= 0.7 * len(words)
    ]
    assert found == []


def test_the_table_names_operations_that_exist() -> None:
    words = {
        word.rpartition(".")[2]
        for kind, text in tomllib.loads(KINDS.read_text(encoding="utf-8")).items()
        if isinstance(text, str) and kind not in OF_PARAMETERS
        for word in text.split()
        if not word.startswith("@")
    }
    exist = known() | set(dir(operator)) | set(BUILTINS) | {each.rpartition(".")[2] for each in INPLACE}
    exist |= {each.strip("_") if each.startswith("__") else each for each in dir(torch.Tensor)}
    exist |= {*dir(builtins), *dir(torch), *dir(torch._C), *dir(torch.amp.autocast_mode), *KNOWN_BESIDES}
    exist |= {name.removeprefix("aten::").partition(".")[0] for name in torch._C._dispatch_get_all_op_names()}
    assert {each for each in words if each not in exist and each.strip("_") not in exist} == set()


def test_a_kind_holds_what_others_hold_that_it_names() -> None:
    assert named("comparisons") < named("elementwise")
    assert "@comparisons" not in named("elementwise")
    with pytest.raises(KeyError):
        named("nothing of the kind")
