"""Replaced matches as operators of torch, which Inductor calls without looking into them.

Code that Inductor generates calls what CALLS holds, without torch's dispatcher."""

import hashlib
import json
import re
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch._C._dynamo.guards import TensorGuards
from torch._subclasses.fake_tensor import FakeTensorMode

from passnet_core.graphs.effects import changed, storage_of
from passnet_core.graphs.ir import Graph, Ref
from passnet_core.graphs.matching import Match
from passnet_core.graphs.rewriting import TracedPass
from passnet_core.graphs.source import emit
from passnet_core.integrate.calls import Callee
from passnet_core.integrate.layouts import strided
from passnet_core.integrate.replacing import Conduct, ReplacedMatch

SPACE = "passnet"
ALIGNED = 16
"""At a multiple of how many bytes the memory of results begins."""
CALLS_NAME = "passnet_calls"
CALLS_IMPORT = f"from {__name__} import CALLS as {CALLS_NAME}"
_library = torch.library.Library(SPACE, "FRAGMENT")
CALLS: dict[str, Callable[..., Any]] = {}
"""What the operators do, by their names."""
_matches: dict[str, ReplacedMatch] = {}


def shared_problem(graph: Graph, traced: TracedPass, match: Match) -> str:
    """Why a match in this graph cannot be an operator, whose results lie in memory of their own: somebody can tell."""
    storage = storage_of(traced.pattern)
    given = {storage[node.name]: node.name for node in traced.pattern.inputs}
    shared = [(name, given[storage[name]]) for name in traced.pattern.returned if storage[name] in given]
    owners = storage_of(graph)
    disturbed = {owners[each.name] for node in graph.operations for each in changed(node) if each.name in owners}
    for result, name in shared:
        value = match.inputs.get(name)
        changes = isinstance(value, Ref) and owners.get(value.name) in disturbed
        if changes or match.nodes.get(result) in graph.returned:
            return "its result may be a view of what it takes, and rest='inductor' gives it memory of its own"
    return ""


def operator_for(
    callee: Callee, examples: Sequence[Any], weights: Sequence[str], conduct: Conduct
) -> tuple[Any, ReplacedMatch]:
    """The operator for a match that takes values like these, and what it calls.

    One operator serves all matches that differ in values of the same shapes only, in every process, so that what
    Inductor keeps on disk stays right."""
    said = [
        callee.digest,
        callee.traced.name,
        emit(callee.pattern),
        emit(callee.arguments),
        list(weights),
        [[str(size) for size in each.shape] if isinstance(each, torch.Tensor) else [] for each in examples],
        conduct.verify,
        conduct.frozen,
    ]
    name = f"{_word(callee.traced.name)}_{hashlib.sha256(json.dumps(said).encode()).hexdigest()[:16]}"
    if name not in CALLS:
        from passnet_core.integrate.inductor import call_directly

        _matches[name] = ReplacedMatch(callee, weights, conduct)
        _define(name, callee, ["Tensor" if isinstance(each, torch.Tensor) else "SymInt" for each in examples])
        call_directly(_operator(name), f'{CALLS_NAME}["{name}"]', CALLS_IMPORT)
    return _operator(name), _matches[name]


def _operator(name: str) -> Any:
    return getattr(getattr(torch.ops, SPACE), name).default


def _word(name: str) -> str:
    return re.sub(r"\W", "_", name, flags=re.ASCII)


def _define(name: str, callee: Callee, kinds: Sequence[str]) -> None:
    result = callee.pattern.result
    many = isinstance(result, tuple)
    count = len(result) if isinstance(result, tuple) else 1
    given = ", ".join(f"{kind} a{place}" for place, kind in enumerate(kinds))
    _library.define(f"{name}({given}) -> {'(' + ', '.join(['Tensor'] * count) + ')' if many else 'Tensor'}")
    compute, pattern = _matches[name].function(), _matches[name].operations
    layouts = _Layouts()

    def expected(*given: Any) -> Any:
        found = pattern(*given)
        # an operator returns memory of its own
        copies = tuple(each.clone() for each in (found if many else (found,)))
        layouts.note(given, copies)
        return copies if many else copies[0]

    def run(*given: Any) -> Any:
        found = compute(*given)
        results = tuple(found) if many else (found,)
        if not layouts.are_known(results, given):
            results = layouts.followed(results, given, expected)
        return results if many else results[0]

    CALLS[name] = run
    torch.library.impl(f"{SPACE}::{name}", "default", run, lib=_library)
    torch.library.register_fake(f"{SPACE}::{name}", expected, lib=_library)


class _Layouts:
    """What the results of an operator look like in memory: Inductor has compiled what reads them by what it expects."""

    def __init__(self) -> None:
        self.contiguous: bool | None = None
        """Whether contiguous inputs always gave contiguous results; None: none were seen in this process, which is so
        too where Inductor found the compiled graph on the disk."""
        self.strides: dict[Any, list[tuple[int, ...]]] = {}
        self.recognized: Callable[..., bool] = _unlike
        self.latest: list[tuple[int, ...]] = []
        """The strides of the latest results that could stay as they were, and what tells inputs like theirs."""

    def are_known(self, results: Sequence[torch.Tensor], given: Sequence[Any]) -> bool:
        """Whether inputs are like the latest ones, and results lie in memory of their own as those did. This takes a
        fifth of the time that followed() takes."""
        if not self.recognized(*given):
            return False
        for each, strides in zip(results, self.latest):
            if each.stride() != strides or each.data_ptr() % ALIGNED:
                return False
            held = each.untyped_storage().data_ptr()
            for other in given:
                if other.untyped_storage().data_ptr() == held:
                    return False
        return len(results) == 1 or len({each.data_ptr() for each in results}) == len(results)

    def note(self, given: Sequence[Any], expected: Sequence[torch.Tensor]) -> None:
        if _are_contiguous(given):
            self.contiguous = self.contiguous is not False and _are_contiguous(expected)

    def followed(
        self, results: Sequence[torch.Tensor], given: Sequence[Any], expected: Callable[..., Any]
    ) -> tuple[torch.Tensor, ...]:
        """The results, copied if they share memory with what was given or do not lie in memory as expected."""
        plain = _are_contiguous(given)
        if plain and self.contiguous is None:
            self._expected(given, expected)
        held = {each.untyped_storage().data_ptr() for each in given if isinstance(each, torch.Tensor)}
        own = tuple(each.clone() if each.untyped_storage().data_ptr() in held else each for each in results)
        # nor may two of them be the same
        own = tuple(
            each.clone() if any(each.data_ptr() == other.data_ptr() for other in own[:place]) else each
            for place, each in enumerate(own)
        )
        if not (plain and self.contiguous and _are_contiguous(own)):
            strides = self._expected(given, expected)
            own = tuple(each if each.stride() == want else strided(each, want) for each, want in zip(own, strides))
        # what reads them was compiled for memory that begins so
        own = tuple(each.clone() if each.data_ptr() % ALIGNED else each for each in own)
        if all(isinstance(each, torch.Tensor) for each in given):
            kept = all(one is other for one, other in zip(own, results))
            self.recognized = _recognizer(given) if kept else _unlike
            self.latest = [each.stride() for each in own]
        return own

    def _expected(self, given: Sequence[Any], expected: Callable[..., Any]) -> list[tuple[int, ...]]:
        key = tuple((each.shape, each.stride()) if isinstance(each, torch.Tensor) else each for each in given)
        if key not in self.strides:
            with FakeTensorMode(allow_non_fake_inputs=True):
                found = expected(*given)
            self.strides[key] = [tuple(each.stride()) for each in (found if isinstance(found, tuple) else (found,))]
        return self.strides[key]


def _recognizer(given: Sequence[torch.Tensor]) -> Callable[..., bool]:
    """A function that says whether tensors have the dtypes, devices, shapes and strides of these."""
    known: Callable[..., bool] = TensorGuards(*given, dynamic_dims_sizes=None, dynamic_dims_strides=None).check
    return known


def _unlike(*given: Any) -> bool:
    return False


def _are_contiguous(values: Sequence[Any]) -> bool:
    return all(each.is_contiguous() for each in values if isinstance(each, torch.Tensor))
