"""The table of operations against torch itself: torch's own samples, run and watched."""

import builtins
import itertools
import json
import operator
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
import torch

from passnet_core.graphs.ir import Node, NodeKind, Ref
from passnet_core.graphs.spelling import BUILTINS, INPLACE
from passnet_core.operations.binding import bind, bound
from passnet_core.operations.kinds import KINDS
from passnet_core.operations.memory import Deeds, deeds
from passnet_core.operations.table import TABLE, row, spelling
from tools.describing import ObservedCall, of_version, parameters_of, samples, simple_calls, table, together, watch

pytestmark = [pytest.mark.long, pytest.mark.settled]

DTYPES = (torch.float64, torch.uint8, torch.bool, torch.complex64)
"""Others than those of the calls from which the table was made, besides float64."""
NEVER_SEEN = {
    # they change what is known of a tensor, not its values
    "torch.detach_ writes self",
    "Tensor.detach_ writes self",
    "Tensor.requires_grad_ writes self",
    # of samples that have its size already
    "torch.resize_as_ writes self",
    "Tensor.resize_as_ writes self",
    # called by arguments of which no schema of torch tells
    "torch.nonzero shares 0",
    "Tensor.nonzero shares 0",
    "torch.linspace shares start",
    "torch.linspace shares end",
    # of two elements at most
    "torch.randperm draws",
}
"""What the table says of calls, to be on the safe side, and no sample does."""

KNOWN_BESIDES = {"swish", "grouped_mm_fallback"}
"""Operations that neither torch nor Python has by this name."""

OF_PARAMETERS = {"without_effect", "shaping_parameters", "shifted_parameters"}
"""Kinds of parameters instead of operations."""

DEEDS = ("writes", "shares", "random")


@pytest.fixture(scope="module")
def observed() -> list[ObservedCall]:
    """Every call of torch's samples that a graph can hold, each once."""
    found: dict[str, ObservedCall] = {}

    def note(each: ObservedCall) -> None:
        seen = found.setdefault(repr(each.node), each)
        found[repr(each.node)] = replace(
            each,
            written=seen.written | each.written,
            shared=seen.shared | each.shared,
            random=seen.random or each.random,
        )

    watch(itertools.chain(samples(DTYPES), simple_calls()), note)
    return list(found.values())


def numbers(values: tuple[Ref, ...]) -> set[int]:
    return {int(each.name) for each in values}


def test_what_calls_do_to_memory_is_what_the_table_says(observed: list[ObservedCall]) -> None:
    assert len({spelling(each.node) for each in observed}) > 1_200
    wrong = []
    for each in observed:
        said = deeds(each.node)
        more = each.written - numbers(said.writes), each.shared - numbers(said.shares), each.random > said.random
        if any(more):
            wrong.append((spelling(each.node), *more))
    assert not wrong


def test_the_table_says_nothing_that_is_never_seen(observed: list[ObservedCall]) -> None:
    seen: dict[str, bool] = defaultdict(bool)
    for each in observed:
        if row(spelling(each.node)) is None:
            continue
        said, call = deeds(each.node), bind(each.node)
        for deed, values, done in (
            ("writes", said.writes, each.written),
            ("shares", said.shares, each.shared),
        ):
            for name in parameters_of(call, frozenset(numbers(values))):
                seen[f"{spelling(each.node)} {deed} {name}"] |= name in parameters_of(call, done)
        if said.random:
            seen[f"{spelling(each.node)} draws"] |= each.random
    assert {each for each, found in seen.items() if not found} == NEVER_SEEN


def respelled(node: Node) -> Iterator[Node]:
    """The same call with its first arguments by position and the others by keyword, in every way."""
    call, overload = bound(node)
    if overload is None or any(each.variadic for each in overload.parameters) or call.target == "Tensor.to":
        return
    given = dict(call.arguments)
    fixed = int(node.kind is NodeKind.METHOD)
    by_place = [each.name for each in overload.parameters if not each.keyword_only]
    by_place = list(itertools.takewhile(lambda name: name in given, by_place))
    names = [each.name for each in overload.parameters if each.name in given]
    for count in range(fixed, len(by_place) + 1):
        yield replace(
            node,
            args=tuple(given[each] for each in by_place[:count]),
            kwargs=tuple((each, given[each]) for each in names if each not in by_place[:count]),
        )


def test_positional_and_keyword_spellings_are_the_same_call(observed: list[ObservedCall]) -> None:
    spelled = 0
    for each in observed:
        wanted = bind(each.node)
        for node in respelled(each.node):
            spelled += 1
            assert repr(bind(node)) == repr(wanted), node
    assert spelled > 10_000


def test_the_table_is_that_of_the_installed_torch() -> None:
    described, here = json.loads(TABLE.read_text()), table()
    assert here["torch"][0] in described["torch"]
    assert without_deeds(of_version(described, here["torch"][0])) == without_deeds(here)


def test_kinds_name_operations_that_exist() -> None:
    words = {
        word.rpartition(".")[2]
        for kind, text in tomllib.loads(KINDS.read_text(encoding="utf-8")).items()
        if isinstance(text, str) and kind not in OF_PARAMETERS
        for word in text.split()
        if not word.startswith("@")
    }
    described = json.loads(TABLE.read_text())
    names = {each.rpartition(".")[2] for each in (*described["spellings"], *described["aten"])}
    exist = names | set(dir(operator)) | set(BUILTINS) | {each.rpartition(".")[2] for each in INPLACE}
    exist |= {each.strip("_") if each.startswith("__") else each for each in dir(torch.Tensor)}
    exist |= {*dir(builtins), *dir(torch), *dir(torch._C), *dir(torch.amp.autocast_mode), *KNOWN_BESIDES}
    exist |= {name.removeprefix("aten::").partition(".")[0] for name in torch._C._dispatch_get_all_op_names()}
    assert {each for each in words if each not in exist and each.strip("_") not in exist} == set()


def test_a_table_of_several_versions_holds_what_each_of_them_has() -> None:
    older = {"torch": ["2.11.0"], "dtypes": {}, "spellings": {"torch.a": {}, "torch.old": {"aten": "old"}},
             "aten": {"old": {"default": {"call": "()"}}, "both": {"names": {"call": "(x)"}}}}  # fmt: skip
    newer = {"torch": ["2.13.0"], "dtypes": {}, "spellings": {"torch.a": {}},
             "aten": {"both": {"default": {"call": "(y)"}}}}  # fmt: skip
    both = together([older, newer])
    assert both["torch"] == ["2.13.0", "2.11.0"]
    assert both["spellings"] == {"torch.a": {}, "torch.old": {"aten": "old", "only": ["2.11.0"]}}
    assert both["aten"]["both"] == {
        "default": {"call": "(y)", "only": ["2.13.0"]},
        "names": {"call": "(x)", "only": ["2.11.0"]},
    }
    assert of_version(both, "2.13.0") == newer
    assert of_version(both, "2.11.0") == older


def without_deeds(content: Any) -> Any:
    """A table without what calls were seen to do."""
    if isinstance(content, dict):
        return {name: without_deeds(each) for name, each in content.items() if name not in DEEDS}
    return [without_deeds(each) for each in content] if isinstance(content, list) else content


@pytest.mark.parametrize("target", ["torch.ops.mine.bump.default", "torch.no_such_function", "torch._foreach_add_"])
def test_what_is_not_in_the_table_may_do_everything(target: str) -> None:
    node = Node("y", NodeKind.CALL, target, (Ref("a"), 1.0), (("b", Ref("b")),))
    assert deeds(node) == Deeds((Ref("a"), Ref("b")), (Ref("a"), Ref("b")))
