"""How long a call of a subgraph takes on a GPU by an estimate: in eager, and with passes that the rules write.

The host launches one kernel after the other while the device runs them in order; a call ends when both have, and after
a synchronisation. The constants are of one NVIDIA H100 80GB HBM3 with torch 2.11, 2026-11. Figures of host time were
measured in a tight loop unless they say otherwise; rates are those of large tensors. docs/solver.md says what came of
comparing predictions with measured times. Nothing here asks a device."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from passnet_core.graphs.ir import Node
from passnet_core.graphs.vocabulary import operator_label
from passnet_core.operations.kinds import mapping
from passnet_core.solvers.rules.contractions import ProductCode
from passnet_core.solvers.rules.forms import Form
from passnet_core.solvers.rules.kernels import Code
from passnet_core.solvers.rules.regions import Surveyed
from passnet_core.solvers.rules.traffic import (
    dtype_at,
    kernel_loaded_bytes,
    kernel_touched_bytes,
    product_terms,
    size_at,
    touched_bytes,
)
from passnet_core.solvers.rules.values import Cast, Value

CALL_US = 4.0
"""Host time of the captured graph's forward: a launch takes 24.0 inside of one, and 20.2 outside."""
OPERATION_US = 11.4
"""Host time of an operation of eager with one launch: 9.1 alone, 31.9 for three in a row."""
FURTHER_LAUNCH_US = 5.0
"""Host time of another launch of the same operation, which needs no call from Python. Assumed."""
VIEW_US = 3.0
"""Host time of an operation that launches nothing. Assumed: torch.empty takes 2.4 to 3.6."""
PASS_US = 2.5
"""Host time of a replacement function besides what it allocates and launches: about 8 in all with one output."""
COLD_US = 4.0
"""What that takes longer by the judge's clock, as caches are cold then, for Python more than for eager's C++. Fitted to
the judge's times of single operations."""
ALLOCATION_US = 1.3
"""Host time of allocating an output by _empty_strided_cuda."""
LAUNCH_US = 4.1
"""Host time of launching a kept kernel."""
SYNCHRONISATION_US = 7.3

KERNEL_US = 1.1
"""Device time of the smallest kernels."""
BYTES_PER_US = 2.6e6
"""What large kernels read and write, of the memory's 3.35e6."""
TERMS_PER_US: Mapping[str, float] = {
    "float16": 200e6, "bfloat16": 200e6, "float32": 22e6, "float64": 22e6,
}  # fmt: skip
"""Products with a sum that a library call takes, by dtype, float32 without TF32: 40 % and 65 % of the peaks."""
CACHED_BYTES_PER_US = 5.5e6
"""What threads load from the second-level cache."""
PROCESSORS, TILE = 132, 64
"""Processors of the device; a kernel with tl.dot is taken to compute tiles of 64 by 64, one per processor at a time."""
OWN_PRODUCT: Mapping[str, float] = {"float16": 0.82, "bfloat16": 0.82, "float32": 0.66, "float64": 0.66}
"""The speed of kernels with tl.dot as a share of cuBLAS's, by dtype."""

LAUNCHES = mapping("launches")


@dataclass(frozen=True)
class Cost:
    """Microseconds that the host takes until something is launched, and the device for that; 0 if it is nothing."""

    host_us: float
    device_us: float = 0.0


Costs = tuple[Cost, ...]


def call_us(costs: Iterable[Cost]) -> float:
    """The time of a call of a graph whose operations and passes take this, in microseconds."""
    host, device = CALL_US, 0.0
    for each in costs:
        host += each.host_us
        if each.device_us:
            device = max(device, host) + each.device_us
    return max(host, device) + SYNCHRONISATION_US


def operation_costs(surveyed: Surveyed, node: Node) -> Costs:
    """What eager does for an operation of a subgraph."""
    if not _computes(surveyed, node):
        return (Cost(VIEW_US),)
    value = surveyed.values.get(node.name)
    dtype = value.dtype.name if isinstance(value, Value) else "float32"
    products = product_terms(surveyed, node) / _rate(dtype)
    first = Cost(OPERATION_US, KERNEL_US + max(touched_bytes(surveyed, node) / BYTES_PER_US, products))
    return (first, *[Cost(FURTHER_LAUNCH_US, KERNEL_US)] * (LAUNCHES.get(operator_label(node), 1) - 1))


def _computes(surveyed: Surveyed, node: Node) -> bool:
    """Whether eager launches anything for an operation: no view, no number, no conversion to the dtype it has."""
    value = surveyed.values.get(node.name)
    if value is None:
        return True
    if isinstance(value, Cast) and value.operand.dtype.name == value.dtype.name:
        return False
    return isinstance(value, Value | tuple | list) and not surveyed.is_view(node)


def _rate(dtype: str) -> float:
    return TERMS_PER_US.get(dtype, TERMS_PER_US["float32"])


def pass_costs(form: Form, place: int) -> Costs:
    """What one call of a pass does in one of the form's subgraphs."""
    views = sum(bool(each.steps) for each in form.results)
    before = PASS_US + COLD_US + ALLOCATION_US * len(form.allocated)
    costs: list[Cost] = []
    for code in form.kernels:
        costs.append(Cost(before + LAUNCH_US, KERNEL_US + _kernel_us(code, form, place)))
        before = 0.0
    return (*costs, Cost(before + VIEW_US * views))


def _kernel_us(code: Code, form: Form, place: int) -> float:
    memory = kernel_touched_bytes(code, form, place) / BYTES_PER_US
    if not isinstance(code, ProductCode):
        return max(memory, kernel_loaded_bytes(code, form, place) / CACHED_BYTES_PER_US)
    batch, rows, columns, terms = (
        math.prod(size_at(size, place) for size in space.sizes.values()) for space in (code.outer, *code.spaces)
    )
    tiles = batch * math.ceil(rows / TILE) * math.ceil(columns / TILE)
    dtype = dtype_at(code.outputs[0].value, form, place)
    products = math.ceil(tiles / PROCESSORS) * PROCESSORS * TILE * TILE * terms
    return max(memory, products / (_rate(dtype) * OWN_PRODUCT.get(dtype, OWN_PRODUCT["float32"])))


class Estimate:
    """The estimated times of the subgraphs of a task with passes."""

    def __init__(self, surveyed: Sequence[Surveyed], passes: Sequence[Sequence[Form]]) -> None:
        """surveyed: one for each subgraph. passes: the forms of each pass, in the order in which passes apply."""
        self._eager = {
            each.subgraph.id: {node.name: operation_costs(each, node) for node in each.graph.operations}
            for each in surveyed
        }
        self._order = {each: {name: place for place, name in enumerate(names)} for each, names in self._eager.items()}
        self._replaced: dict[str, dict[frozenset[str], tuple[int, Costs]]] = {each: {} for each in self._eager}
        """By subgraph id, the operations that a pass replaces, with the pass's number and what it does."""
        for number, forms in enumerate(passes):
            for form in forms:
                for place, found in enumerate(form.found):
                    known = self._replaced[found.surveyed.subgraph.id]
                    # of passes that match the same operations, the first one replaces them
                    known.setdefault(frozenset(found.region.nodes), (number, pass_costs(form, place)))

    def owner(self, subgraph_id: str, nodes: Iterable[str]) -> int | None:
        """The number of the pass that replaces these operations, if one does."""
        return self._replaced[subgraph_id].get(frozenset(nodes), (None,))[0]

    def eager_us(self, subgraph_id: str) -> float:
        """The time of a call of the subgraph as it is."""
        return call_us(cost for costs in self._eager[subgraph_id].values() for cost in costs)

    def passes_us(self, subgraph_id: str, without: frozenset[int] = frozenset()) -> float | None:
        """The time of a call with the passes, except those of these numbers. None if no pass is left."""
        eager, replaced = self._eager[subgraph_id], self._replaced[subgraph_id]
        regions = [(names, costs) for names, (number, costs) in replaced.items() if number not in without]
        if not regions:
            return None
        # a pass runs where the last of its operations is
        runs: dict[str, Costs] = {name: () for names, _ in regions for name in names}
        runs |= {max(names, key=self._order[subgraph_id].__getitem__): costs for names, costs in regions}
        return call_us(cost for name in eager for cost in runs.get(name, eager[name]))

    def speedups(self, without: frozenset[int] = frozenset()) -> dict[str, float]:
        """How many times eager's speed each subgraph has with the passes, by id; only of those with a pass left."""
        times = {each: self.passes_us(each, without) for each in self._eager}
        return {each: self.eager_us(each) / time for each, time in times.items() if time is not None}
