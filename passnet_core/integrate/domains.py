"""The domain of a pass: the calls on which the judge has accepted it, and whether another one is like them.

Dtypes and ranks of the arguments, and which are numbers or None, must be those of some judged call together. Of two
axes that would be broadcast against each other, those that were always equal must be equal, and one that was always 1
beside a longer one must be 1. Layouts and sizes beyond that have no part in it: subgraphs are recorded without strides,
and each new shape or layout is compared at its first call."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.symbolic_shapes import statically_known_true

from passnet_core.corpus.evaluation import FAILURES, evaluate
from passnet_core.corpus.running import empty
from passnet_core.errors import BadInput
from passnet_core.graphs.ir import Ref, Value
from passnet_core.graphs.matching import Match
from passnet_core.graphs.rewriting import TracedPass, rewrite
from passnet_core.graphs.source import parse
from passnet_core.operations.binding import bind
from passnet_core.records import JudgedSubgraph, Subgraph


@dataclass(frozen=True)
class ArgumentForm:
    """What an argument of a pass is. kind: the dtype of a tensor, else the type. sizes: of a tensor's axes."""

    kind: str
    sizes: tuple[Any, ...] = ()

    def __str__(self) -> str:
        return f"{self.kind}{list(self.sizes)}" if self.kind in DTYPES else self.kind


Call = tuple[ArgumentForm, ...]
"""The arguments of a pass in one match: the inputs of its pattern, in their order."""

DTYPES = {str(each).removeprefix("torch.") for each in vars(torch).values() if isinstance(each, torch.dtype)}


@dataclass(frozen=True)
class Domain:
    """The judged calls of one pass. devices: on which they were judged."""

    calls: tuple[Call, ...]
    devices: frozenset[str]

    def problem(self, names: Sequence[str], call: Call, device: str) -> str:
        """How a call differs from all that was judged, in words; empty if it is like some of it. names: of the
        arguments."""
        if not self.calls:
            return "it matched nothing that was judged"
        if device not in self.devices:
            return f"it was judged on {' and '.join(sorted(self.devices)).upper()} only"
        likes = [judged for judged in self.calls if _kinds(judged) == _kinds(call)]
        if not likes:
            nearest = max(self.calls, key=lambda judged: _likeness(judged, call))
            differing = [
                f"{name} is {here}, and was judged as {there}"
                for name, here, there in zip(names, call, nearest)
                if not _same_kind(here, there)
            ]
            return "; ".join(differing)
        return next(_broadcasts(names, likes, call), "")


def _kinds(call: Call) -> list[tuple[str, int]]:
    return [(each.kind, len(each.sizes)) for each in call]


def _likeness(one: Call, other: Call) -> tuple[int, int]:
    return sum(map(_same_kind, one, other)), sum(left.kind == right.kind for left, right in zip(one, other))


def _same_kind(one: ArgumentForm, other: ArgumentForm) -> bool:
    return (one.kind, len(one.sizes)) == (other.kind, len(other.sizes))


def _broadcasts(names: Sequence[str], likes: Sequence[Call], call: Call) -> Iterator[str]:
    """What is broadcast in another way than in all of the judged calls, in words."""
    for first, second in combinations(range(len(call)), 2):
        for axis in range(-min(len(call[first].sizes), len(call[second].sizes)), 0):
            pairs = [(judged[first].sizes[axis], judged[second].sizes[axis]) for judged in likes]
            one, other = call[first].sizes[axis], call[second].sizes[axis]
            if all(left == right for left, right in pairs) and not _equal(one, other):
                yield f"axis {axis} of {names[first]} and of {names[second]} were equal, here {one} and {other}"
            for place, size in enumerate((one, other)):
                if all(pair[place] == 1 != pair[1 - place] for pair in pairs) and not _equal(size, 1):
                    yield f"axis {axis} of {names[(first, second)[place]]} was 1, here {size}"


def _equal(one: Any, other: Any) -> bool:
    return statically_known_true(one == other)


def form_of(value: Any) -> ArgumentForm:
    """The form of an argument: of a tensor, fake or real, or of a number."""
    if isinstance(value, torch.Tensor):
        return ArgumentForm(str(value.dtype).removeprefix("torch."), tuple(value.shape))
    if isinstance(value, torch.SymInt):
        return ArgumentForm("int")
    return ArgumentForm(type(value).__name__)


def call_of(traced: TracedPass, match: Match, values: Mapping[str, Any]) -> Call:
    """The arguments of a pass in a match. values: those of the graph, by name."""

    def form(value: Value) -> ArgumentForm:
        return form_of(values.get(value.name)) if isinstance(value, Ref) else form_of(value)

    return tuple(form(match.inputs.get(node.name)) for node in traced.pattern.inputs)


def domains_of(passes: Sequence[TracedPass], judged: Collection[JudgedSubgraph]) -> dict[str, Domain]:
    """The domain of each pass of a bundle, from the subgraphs on which the bundle was accepted. Empty if these are not
    known, or their shapes depend on values."""
    found = {traced.name: Domain((), frozenset()) for traced in passes} if judged else {}
    for each in judged:
        chosen = [traced for traced in passes if traced.name in each.passes] if each.passes else passes
        try:
            calls = _calls(chosen, each.subgraph)
        except (BadInput, *FAILURES):
            return {}
        for name, several in calls.items():
            before = found[name]
            devices = before.devices | {device.value for device in each.devices}
            found[name] = Domain(tuple(dict.fromkeys((*before.calls, *several))), devices)
    return found


def _calls(passes: Sequence[TracedPass], subgraph: Subgraph) -> dict[str, list[Call]]:
    """The calls of each pass in a subgraph. Raises BadInput or one of FAILURES if its shapes cannot be told."""
    values: dict[str, Any] = {}
    graph = parse(subgraph.code)
    with FakeTensorMode():
        evaluate(graph, {spec.name: empty(spec) for spec in subgraph.inputs}, values.__setitem__)
    calls: dict[str, list[Call]] = {}

    def noted(traced: TracedPass, match: Match) -> bool:
        calls.setdefault(traced.name, []).append(call_of(traced, match, values))
        return False

    rewrite(graph, passes, bind=bind, stays=noted)
    return calls
