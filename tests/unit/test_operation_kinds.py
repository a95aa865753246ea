"""The table of what is known of operations by name is the only place that names them."""

import ast
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from passnet_core.operations.kinds import KINDS, named
from passnet_core.operations.table import TABLE

PACKAGE = KINDS.parents[1]
MOST = 6
"""So many names of operations in a row are cases of code, and no table yet."""

ELSEWHERE = {
    "operations",
    "solvers/rules/lowering",  # beside each label the function that lowers it
    "solvers/rules/kernels.py",  # kinds of reductions that kernels have
    "graphs/spelling.py",  # the operators and functions of Python
    "bundles/static_rules",  # the language Triton, and the rules of PassNet's own judge
    "judge/gpu_on_cpu/emulation.py",  # functions of Triton
    "training/repairing/alterations.py",  # the same
    "corpus/metadata.py",  # fields of tensors
}
"""Places that may name operations, or whose words are names of operations by chance."""


@cache
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


def test_a_kind_holds_what_others_hold_that_it_names() -> None:
    assert named("comparisons") < named("elementwise")
    assert "@comparisons" not in named("elementwise")
    with pytest.raises(KeyError):
        named("nothing of the kind")
