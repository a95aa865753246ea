"""Compare a replaced match with the operations that it replaces, by the judge's bound, on a model's own inputs."""

import copy
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, TypeAlias

import torch

from passnet_core.fx.modules import Function
from passnet_core.graphs.ir import Graph
from passnet_core.graphs.source import emit
from passnet_core.integrate.layouts import ResultLayout, laid_out, layouts, unlike
from passnet_core.integrate.plans import NotPlanned
from passnet_core.judge.numerics.local_bench import LocalReferenceBench
from passnet_core.judge.protocol.encoding import listed, produced
from passnet_core.judge.protocol.messages import CallableName, CandidateFault, Preparation, Returned
from passnet_core.judge.protocol.reference_bench import PLAIN_ROLE, BenchPlan, Drawn
from passnet_core.judge.worker.building import prepared
from passnet_core.records import Capture, Contender, Device, TensorSpec

RECORDED = "recorded"
"""The judge's name for inputs that are not drawn."""

Called: TypeAlias = Callable[[list[Any]], Any]
"""Takes the list of its inputs."""


class Reference:
    """The operations of a pattern, as a witness of the judge's: as they are, in float64, and with roundings moved.
    shared: the places of the inputs that calls get as they are; of others they get copies."""

    def __init__(self, pattern: Graph, shared: Collection[int] = ()) -> None:
        self.shared = shared
        self.names = [node.name for node in pattern.inputs]
        eager = Preparation(Contender.EAGER, emit(pattern), Capture.DIRECT, Device.CPU)
        self.forms: Mapping[str, Called] = {
            CallableName.EAGER: prepared(eager, (), {}),
            CallableName.FLOAT64: prepared(replace(eager, float64=True), (), {}),
            CallableName.MOVED: prepared(replace(eager, moved=True), (), {}),
        }
        self.inputs: list[Any] = []

    def compared(self, inputs: Sequence[Any], replacement: Function) -> tuple[str, Function]:
        """How what a replacement returns for these inputs, or leaves in them, differs from what the operations do,
        empty if it is right; and the replacement with results that lie in memory as theirs. The inputs stay as they
        are. Raises what the operations raise."""
        with torch.no_grad(), torch.random.fork_rng(_devices(inputs)):
            eager, wanted = self._called(self.forms[CallableName.EAGER], inputs)
            try:
                actual, found = self._called(lambda given: replacement(*given), inputs)
            except NotPlanned as error:
                return f"it has no plan: {error}", replacement
            except Exception as error:  # the bundle's own kernels
                return f"it raises {type(error).__name__}: {error}", replacement
            judged = self._bench(inputs, eager).judge(actual)
            self.give([])
        wrong = [(f"output {place}", each) for place, each in enumerate(judged.values)]
        wrong += [(f"argument {each.index} after the call", each.difference) for each in judged.inputs]
        problems = (f"{what}: {each.problem}" for what, each in wrong if each.verdict is not None)
        problem = judged.problem or next(problems, "") or unlike(inputs, wanted, found)
        return problem, laid_out(replacement, wanted, found)

    def _bench(self, inputs: Sequence[Any], eager: Returned) -> LocalReferenceBench:
        specs = tuple(TensorSpec(name, (), "") for name in self.names)
        plan = BenchPlan(specs, (PLAIN_ROLE,) * len(inputs), 0, strict=True, is_candidate=True)
        bench = LocalReferenceBench(plan, self, input_draw=RECORDED, inputs=list(inputs), eager=eager)
        self.give(inputs)
        # a dtype may be one that an operation does not take, or memory too small for it
        with suppress(CandidateFault, torch.cuda.OutOfMemoryError):
            bench.exact = self.run(CallableName.FLOAT64)
        return bench

    # --- what the bench asks of a witness ---

    def prepare(self, name: str, preparation: Preparation) -> None:
        raise NotImplementedError("all its forms are prepared")

    def give(self, inputs: Sequence[Drawn]) -> None:
        self.inputs = list(inputs)

    def run(self, name: str, *, fresh: bool = True) -> Returned:
        try:
            return self._called(self.forms[name], self.inputs)[0]
        except torch.cuda.OutOfMemoryError:
            raise
        except Exception as error:
            raise CandidateFault("runtime", f"{type(error).__name__}: {error}") from error

    def _called(self, function: Called, inputs: Sequence[Any]) -> tuple[Returned, list[ResultLayout | None]]:
        """What a function returns and leaves in its inputs, and how its results lie in memory."""
        given = self._copied(inputs)
        returned = function(given)
        changed = {
            place: after
            for place, (before, after) in enumerate(zip(inputs, given))
            if isinstance(before, torch.Tensor) and not _same(before, after)
        }
        container = type(returned).__name__ if isinstance(returned, tuple | list) else ""
        results = listed(returned)
        return Returned(tuple(map(produced, results)), container, 0.0, changed=changed), layouts(given, results)

    def _copied(self, inputs: Sequence[Any]) -> list[Any]:
        """Copies of tensors, which share memory among each other as the tensors do; numbers as they are."""
        memo: dict[int, Any] = {}
        return [
            copy.deepcopy(each.detach(), memo) if isinstance(each, torch.Tensor) and place not in self.shared else each
            for place, each in enumerate(inputs)
        ]


def _same(before: torch.Tensor, after: torch.Tensor) -> bool:
    return bool(torch.equal(before, after) or ((before == after) | ((before != before) & (after != after))).all())


def _devices(inputs: Sequence[Any]) -> list[torch.device]:
    return list({each.device for each in inputs if isinstance(each, torch.Tensor) and each.is_cuda})
