"""Which order a kernel walks its variables in, and when rows are too few."""

from passnet_core.solvers.rules.sharing import parts_wanted, starved
from passnet_core.solvers.rules.sizes import Size
from passnet_core.solvers.rules.walking import Lying, Walk, rows_beside, walk_of

SIZES = {"n": 4, "c": 96, "h": 56, "w": 56}
FIRST = Lying({"n": 96 * 3136, "c": 3136, "h": 56, "w": 1}, 4)
"""Channels first."""
LAST = Lying({"n": 96 * 3136, "c": 1, "h": 56 * 96, "w": 96}, 4)
"""Channels last."""


def test_tensors_that_lie_as_they_are_walked_change_nothing() -> None:
    assert walk_of(SIZES, [FIRST, FIRST, Lying({"c": 1}, 4)]) == Walk(("n", "c", "h", "w"))


def test_tensors_that_lie_alike_are_walked_as_they_lie() -> None:
    assert walk_of(SIZES, [LAST, LAST]) == Walk(("n", "h", "w", "c"))


def test_tensors_that_differ_are_walked_in_tiles_of_both() -> None:
    walk = walk_of(SIZES, [FIRST, LAST])
    assert {walk.down, walk.across} == {("c",), ("h", "w")}
    assert walk.order == ("n",)


def test_a_small_tensor_is_read_as_it_comes() -> None:
    assert walk_of(SIZES, [LAST, LAST, Lying({"h": 1, "w": 56}, 4)]).across == ()


def test_nothing_is_walked_as_it_is_written() -> None:
    assert walk_of({"n": 0, "c": 5}, [Lying({"n": 1, "c": 1}, 4)]) == Walk(("n", "c"))


def test_rows_lie_side_by_side_where_what_is_reduced_is_not_the_inmost() -> None:
    assert rows_beside(SIZES, [FIRST], ("n", "h", "w"), ("c",)) == ("n", "h", "w")
    assert rows_beside(SIZES, [FIRST], ("n", "c"), ("h", "w")) is None
    assert rows_beside(SIZES, [LAST, FIRST], ("n", "c"), ("h", "w")) == ("n", "c")


def test_rows_are_too_few_only_if_they_are_in_every_subgraph() -> None:
    rows, columns = Size.atom("rows", (1, 4)), Size.atom("columns", (100_000, 50_000))
    assert starved(rows, columns)
    assert not starved(Size.atom("rows", (1, 400)), columns)
    assert not starved(rows, Size.atom("columns", (100_000, 500)))
    assert not starved(Size.of(0), columns)
    assert not starved(rows, Size.of(0))
    assert parts_wanted(rows, 1) == 128
