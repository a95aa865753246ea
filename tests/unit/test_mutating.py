"""Mutants of passes that the rules write: text in, text out."""

import ast
import random
from pathlib import Path

import pytest

from passnet_core.corpus.catalogue import Corpus
from passnet_core.solvers.rules.solver import written
from tests.redteam.mutating import Kind, Mutation, chosen, mutations

TASKS = Path(__file__).resolve().parents[2] / "data" / "tasks"

KERNEL = """
import triton


@triton.jit
def kernel(x_ptr, out_ptr, X: tl.constexpr, OUTER: tl.constexpr):
    row = (tl.program_id(0) * 4 + tl.arange(0, 4))[:, None]
    rows = row < OUTER[0]
    i0 = row
    column = tl.arange(0, 8)[None, :]
    columns = column < 7
    r0 = column
    x = tl.load(x_ptr + i0 * X[0] + r0 * X[1], mask=rows & columns).to(tl.float32)
    total = tl.sum(tl.where(columns & rows, x, 0.0), 1)[:, None]
    y = rounded((x - total) / 0.5, tl.float16)
    tl.store(out_ptr + r0, y + 1e-05, mask=rows)


def wrapper(x):
    out = torch.empty((x.shape[0], x.shape[1]))
    x_steps = steps(x)
    return {"X": (x_steps[0], x_steps[1])}


def replacement_func():
    return 1 + 2
"""


@pytest.fixture(scope="module")
def codes() -> list[str]:
    bundle = written(Corpus([TASKS]).task("layernorm-residual")).bundle
    return [each.code for each in bundle.passes]


def lines_of(kind: Kind) -> set[str]:
    """The lines of the kernel above, without their indent, after each mutation of this kind."""
    alike = [each for each in mutations(KERNEL) if each.kind is kind]
    return {each.applied(KERNEL).splitlines()[each.line - 1].strip() for each in alike}


def test_each_mutant_parses_and_differs_in_one_place(codes: list[str]) -> None:
    for code in [KERNEL, *codes]:
        for each in mutations(code):
            mutant = each.applied(code)
            assert ast.dump(ast.parse(mutant)) != ast.dump(ast.parse(code))
            assert code[each.start : each.end] == each.before
            assert mutant == code[: each.start] + each.after + code[each.end :]
            line = code.splitlines()[each.line - 1]
            assert "\n" in each.before or mutant.splitlines()[each.line - 1] != line


def test_kernels_and_what_launches_them_are_altered(codes: list[str]) -> None:
    for code in codes:
        functions = {each.function for each in mutations(code)}
        kernels = {name for name in functions if name.endswith("_kernel")}
        assert kernels
        assert functions - kernels == {name.removesuffix("_kernel") for name in kernels}


def test_the_same_seed_chooses_the_same_mutants(codes: list[str]) -> None:
    def texts(seed: int) -> list[str]:
        return [each.applied(codes[0]) for each in chosen(mutations(codes[0]), 12, random.Random(seed))]

    assert texts(3) == texts(3)
    assert texts(3) != texts(4)


def test_mutants_are_spread_over_the_kinds_and_none_comes_twice(codes: list[str]) -> None:
    sites = mutations(codes[0])
    kinds = {each.kind for each in sites}
    few = chosen(sites, len(kinds), random.Random(1))
    assert {each.kind for each in few} == kinds
    assert sorted(chosen(sites, 10**6, random.Random(1)), key=_place) == sorted(sites, key=_place)


def _place(mutation: Mutation) -> tuple[int, int, str]:
    return mutation.start, mutation.end, mutation.after


def test_functions_may_be_named(codes: list[str]) -> None:
    assert {each.function for each in mutations(KERNEL, {"wrapper"})} == {"wrapper"}


@pytest.mark.parametrize(
    ("kind", "line"),
    [
        (Kind.OPERATOR, "y = rounded((x + total) / 0.5, tl.float16)"),
        (Kind.OPERATOR, "y = rounded((x - total) * 0.5, tl.float16)"),
        (Kind.COMPARISON, "columns = column <= 7"),
        (Kind.LITERAL, "y = rounded((x - total) / 0.25, tl.float16)"),
        (Kind.LITERAL, "tl.store(out_ptr + r0, y + 0.001, mask=rows)"),
        (Kind.REDUCTION, "total = tl.max(tl.where(columns & rows, x, 0.0), 1)[:, None]"),
        (Kind.REDUCTION, "total = tl.sum(tl.where(columns & rows, x, 0.0), 0)[:, None]"),
        (Kind.MASK, "total = tl.sum((x), 1)[:, None]"),
        (Kind.MASK, "total = tl.sum(tl.where((rows), x, 0.0), 1)[:, None]"),
        (Kind.MASK, "tl.store(out_ptr + r0, y + 1e-05)"),
        (Kind.ROUNDING, "y = ((x - total) / 0.5)"),
        (Kind.INDEX, "x = tl.load(x_ptr + i0 * X[0] + r0 * X[0], mask=rows & columns).to(tl.float32)"),
        (Kind.INDEX, "x = tl.load(x_ptr + r0 * X[0] + r0 * X[1], mask=rows & columns).to(tl.float32)"),
        (Kind.STRIDE, 'return {"X": (x_steps[1], x_steps[1])}'),
        (Kind.SIZE, "out = torch.empty((x.shape[1], x.shape[1]))"),
        (Kind.OPERANDS, "y = rounded(((total) - (x)) / 0.5, tl.float16)"),
        (Kind.OPERANDS, "total = tl.sum(tl.where(columns & rows, 0.0, x), 1)[:, None]"),
    ],
)
def test_what_is_written_in_its_place(kind: Kind, line: str) -> None:
    assert line in lines_of(kind)
