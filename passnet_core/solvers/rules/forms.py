"""The kernels of a pass for tensors of certain ranks and dtypes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from passnet_core.graphs.emission import expression
from passnet_core.graphs.ir import Graph, Node, NodeKind, Ref, substituted
from passnet_core.graphs.ir import Value as Argument
from passnet_core.graphs.vocabulary import operator_label
from passnet_core.operations.kinds import mapping
from passnet_core.operations.table import row
from passnet_core.solvers.rules.coordinates import Split
from passnet_core.solvers.rules.dtypes import DType
from passnet_core.solvers.rules.grouping import planned
from passnet_core.solvers.rules.kernels import Code, Output, Unsupported
from passnet_core.solvers.rules.layouts import root_of
from passnet_core.solvers.rules.lowering import Literal, Lowering
from passnet_core.solvers.rules.shared import DEVICE, FoundRegion, Shared
from passnet_core.solvers.rules.sizes import Size, assuming
from passnet_core.solvers.rules.values import Cast, Stored, Value, below

FUNCTIONS = ("torch", "torch.functional")
"""Where functions are that methods of the same names do as well."""
SHAPED = mapping("shaped")


@dataclass(frozen=True)
class Result:
    """A tensor that the pass returns.

    storage: the tensor in whose memory it lies. steps: Python that makes it a view of that; none if it is that
    tensor."""

    name: str
    storage: str
    steps: tuple[str, ...] = ()


@dataclass
class Form:
    """What a pass does with tensors of certain ranks and dtypes.

    stored: tensors that kernels write, by name. Those that are not inputs must be allocated."""

    inputs: list[Stored]
    results: list[Result]
    stored: dict[str, Value]
    kernels: list[Code]
    found: list[FoundRegion]
    """The regions that it serves, in the order of the sizes' values."""
    numbers: dict[str, tuple[int | float, ...]] = field(default_factory=dict)
    """Numbers that the pattern passes on, in each of the subgraphs."""
    assumed: list[tuple[Size, Size]] = field(default_factory=list)
    """Sizes that must be equal, for which it is written."""

    @property
    def allocated(self) -> dict[str, Value]:
        given = {each.tensor for each in self.inputs}
        return {name: value for name, value in self.stored.items() if name not in given}


class Aliases(Exception):
    """Whether a result is an input itself depends on its dtype."""


def forms_of(shared: Shared, name: str) -> list[Form]:
    """The kernels for each combination of ranks and dtypes. Raises Unsupported."""
    for exactly in (False, True):
        groups = shared.forms(exactly=exactly)
        titles = [f"{name}_{place + 1}" if len(groups) > 1 else name for place in range(len(groups))]
        try:
            return [_formed(shared, members, title, exactly) for members, title in zip(groups, titles)]
        except Aliases:
            continue
    raise Unsupported("results that are inputs")


def _formed(shared: Shared, members: Sequence[int], name: str, exactly: bool) -> Form:
    chosen = [shared.found[index] for index in members]
    inputs = _inputs(shared.graph, chosen, exactly)
    known: dict[str, Any] = {each.tensor: each for each in inputs}
    for literal in shared.literals:
        known[literal.name] = Literal(literal.name, tuple(literal.values[index] for index in members))
    if not inputs:
        known[DEVICE] = None
    lowering = Lowering(known)
    with assuming() as assumed:
        lowering.run(shared.graph)
    half = any(own.dtype.name in ("float16", "bfloat16") for each in chosen for own in each.inputs)
    form = _Results(shared.graph, chosen, inputs, lowering.known, exactly, half).form(name)
    form.assumed = assumed
    form.numbers = {each.name: tuple(each.values[index] for index in members) for each in shared.literals}
    return form


def _inputs(graph: Graph, chosen: Sequence[FoundRegion], exactly: bool) -> list[Stored]:
    """The tensors that the pattern takes, with the sizes that they have in each of the subgraphs."""
    columns = [each.inputs for each in chosen]
    inputs: list[Stored] = []
    for place, own in enumerate(columns[0]):
        tensor = graph.inputs[place].name
        sizes = tuple(
            Size.atom(f"{tensor}.shape[{axis}]", [each[place].shape[axis].value for each in columns])
            for axis in range(len(own.shape))
        )
        dtype = DType(own.dtype.name)
        if own.dtype.is_float and not own.dtype.is_wide and not exactly:
            alike = [each.tensor for each in inputs if each.dtype.name == own.dtype.name]
            dtype = DType(own.dtype.name, alike[0] if alike else tensor)
        inputs.append(Stored(sizes, dtype, tensor, own.steps, name=tensor))
    return inputs


class _Results:
    """Where the results of a region lie, and which kernels write them."""

    def __init__(
        self,
        graph: Graph,
        found: list[FoundRegion],
        inputs: list[Stored],
        values: dict[str, Any],
        exactly: bool,
        half: bool,
    ) -> None:
        self.graph, self.inputs, self.values, self.exactly, self.half = graph, inputs, values, exactly, half
        self.found, first = found, found[0]
        self.views = {node.name for node, is_view in zip(graph.operations, first.views) if is_view}
        self.into = {graph.operations[place].name: graph.inputs[at].name for place, at in first.changes.items()}

    def form(self, name: str) -> Form:
        result = self.graph.result
        names = [each.name for each in (result if isinstance(result, tuple) else (result,)) if isinstance(each, Ref)]
        chains = {each: self._chain(each) for each in names}
        stores = dict.fromkeys(storage for storage, _ in chains.values())
        wanted = [Output(self.into.get(each, each), self._value(each)) for each in stores if not self._is_input(each)]
        wanted.sort(key=lambda each: len(list(below(each.value))))
        try:
            kernels = planned(wanted, name, ordered=self.half)
        except Split as split:
            raise Unsupported("a view that takes a computed coordinate apart") from split
        stored = {each.tensor: each.value for code in kernels for each in code.outputs}
        results = [self._result(each, *chains[each]) for each in names]
        return Form(self.inputs, results, stored, kernels, self.found)

    def _is_input(self, name: str) -> bool:
        return self.graph.by_name[name].kind is NodeKind.INPUT

    def _value(self, name: str) -> Value:
        value = self.values[name]
        if not isinstance(value, Value):
            raise Unsupported("a result that is no tensor")
        match root_of(value):
            # eager returns the input itself if it has the dtype already
            case Cast(operand=before) if (
                not self.exactly and before.dtype.source and isinstance(root_of(before), Stored)
            ):
                raise Aliases
        return value

    def _chain(self, name: str) -> tuple[str, tuple[Node, ...]]:
        """The operation whose memory a result lies in, and the views that lead from there."""
        chain: list[Node] = []
        while name in self.views:
            node = self.graph.by_name[name]
            chain.append(node)
            name = next(each for each in node.inputs if isinstance(self.values[each], Value | tuple | list))
        if isinstance(value := self.values[name], Stored) and not self._is_input(name):
            # a conversion to the dtype that it has already
            return value.tensor, tuple(reversed(chain))
        return name, tuple(reversed(chain))

    def _result(self, name: str, storage: str, chain: tuple[Node, ...]) -> Result:
        tensor = self.into.get(storage, storage)
        chain = tuple(
            each for each in chain if all(self.values[each.name] is not self.values[name] for name in each.inputs)
        )
        if not chain:
            return Result(tensor, tensor)
        steps = tuple(f"{each.name} = {self._step(each, storage, tensor, chain)}" for each in chain)
        return Result(chain[-1].name, tensor, steps)

    def _step(self, node: Node, storage: str, tensor: str, chain: Sequence[Node]) -> str:
        """Python that makes a view of a chain."""
        kept = {id(self.values[each.name]): each.name for each in chain} | {id(self.values[storage]): tensor}
        known = [id(self.values[each]) in kept or self._is_input(each) for each in node.inputs]
        if (label := operator_label(node)) in SHAPED and not all(known):
            # the tensor whose shape it takes is nowhere in memory
            sizes = ", ".join(each.text for each in self._value(node.name).shape)
            return f"{kept[id(self.values[node.inputs[0]])]}.{SHAPED[label]}(({sizes},))"
        return expression(self._of(node, kept))

    def _of(self, node: Node, kept: Mapping[int, str]) -> Node:
        """The operation with tensors by the names that they have in the replacement function."""
        names: dict[str, Argument] = {
            each: Ref(kept[id(self.values[each])]) for each in node.inputs if id(self.values[each]) in kept
        }
        args = substituted(node.args, names)
        assert isinstance(args, tuple)
        if node.target.startswith("torch."):
            # a bundle may call methods of tensors where torch's functions are refused
            space, _, name = node.target.rpartition(".")
            if space not in FUNCTIONS or row(f"Tensor.{name}") is None or not args or not isinstance(args[0], Ref):
                raise Unsupported(f"{name}, a view that no method gives")
            return replace(node, kind=NodeKind.METHOD, target=name, args=args)
        return replace(node, args=args)
