"""A replaced match at run time: tried beside the operations that it replaces, and left to them where it differs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import pairwise
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from passnet_core.fx.modules import Function, module_of
from passnet_core.graphs.effects import changes_inputs
from passnet_core.integrate.calls import Callee
from passnet_core.integrate.layouts import ResultLayout, laid_out, layouts
from passnet_core.integrate.plans import NotPlanned, apart
from passnet_core.integrate.verifying import Reference
from passnet_core.judge.numerics.bits import extent
from passnet_core.judge.plan.on_gpu import recognizer
from passnet_core.judge.plan.record import ALIGNED_BYTES
from passnet_core.judge.protocol.encoding import listed

MOST_SIGNATURES = 4096
"""So many signatures of one match are remembered; then it forgets them all."""


class Verify(StrEnum):
    """Which calls of a replaced match are compared with the operations that it replaces."""

    FIRST = "first"
    ALWAYS = "always"
    NEVER = "never"


class PassFailed(RuntimeError):
    """There is no plan of a replacement function, or one that cannot be executed. The cause says why."""


@dataclass(frozen=True)
class Conduct:
    """How the replaced matches of one backend behave. frozen: weights are promised not to change.
    warn: is told the pass and what is wrong with it."""

    verify: Verify
    frozen: bool
    warn: Callable[[str, str], None]


class ReplacedMatch:
    """What is called in place of a match, with the inputs of its pattern.

    The first call with each new signature (dtypes, shapes, strides, devices and alignment of the tensors, and the
    numbers) also runs the operations; what it returns is theirs. After a difference it calls nothing else any more.
    Results come to lie in memory as the operations' do. A pattern that changes its inputs is left to the operations in
    calls where these overlap in memory: what was judged never did."""

    def __init__(self, callee: Callee, weights: Sequence[str], conduct: Conduct) -> None:
        self.name, self.digest, self.pattern, self.conduct = callee.traced.name, callee.digest, callee.pattern, conduct
        self.operations: Function = module_of(callee.pattern, {}).forward
        self.replacement, self.planned = callee.function(weights)
        # weights are prepared where they are, and not from copies
        self.weights = [place for place, name in enumerate(callee.given) if name in self.planned.places]
        self.problem = ""
        """Why it is left to the operations from now on, in words."""
        self.known: dict[Any, Function] = {}
        self.changes_inputs = changes_inputs(callee.pattern)
        self.is_latest: Callable[..., bool] = _unlike
        self.latest: Function = self.operations
        self._reference: Reference | None = None

    def function(self) -> Function:
        """The function that a graph calls."""

        def call(*given: Any) -> Any:
            if self.changes_inputs and _overlap(given):
                return self.operations(*given)
            if self.is_latest(*given):
                try:
                    return self.latest(*given)
                except Exception as error:  # the bundle's own kernels
                    raise self._failure(error) from error
            return self._called(given)

        call.__name__ = call.__qualname__ = self.name
        return call

    def _called(self, given: Sequence[Any]) -> Any:
        """A call whose inputs are not like those of the latest one."""
        if self.problem:
            return self.operations(*given)
        signature = _signature(given)
        if self.conduct.verify is Verify.NEVER and signature not in self.known:
            return self._first(given, signature)
        if self.conduct.verify is Verify.ALWAYS or signature not in self.known:
            return self._compared(given, signature)
        self.latest, self.is_latest = self.known[signature], recognizer(given)
        return self._replaced(self.latest, given)

    def _first(self, given: Sequence[Any], signature: Any) -> Any:
        """What the replacement returns, as the operations would lay it out."""
        wanted = self._expected(given)
        returned = self._replaced(self.replacement, given)
        found = layouts((), listed(returned))
        self._keep(signature, laid_out(self.replacement, wanted, found))
        return laid_out(lambda *given: returned, wanted, found)(*given)

    def _compared(self, given: Sequence[Any], signature: Any) -> Any:
        """What the operations return, after the replacement was compared with them."""
        if torch.cuda.is_available() and torch.cuda.is_current_stream_capturing():
            # nothing can be compared while a CUDA graph is recorded
            return self.operations(*given)
        if self._reference is None:
            self._reference = Reference(self.pattern, self.weights)
        reference = self._reference
        self.problem, function = apart(lambda: reference.compared(given, self.replacement))
        if self.problem:
            self.known, self.is_latest = {}, _unlike
            self.conduct.warn(self.name, self._report(given))
        else:
            self._keep(signature, function)
        return self.operations(*given)

    def _replaced(self, function: Function, given: Sequence[Any]) -> Any:
        try:
            return function(*given)
        except Exception as error:  # the bundle's own kernels
            raise self._failure(error) from error

    def _keep(self, signature: Any, function: Function) -> None:
        if len(self.known) >= MOST_SIGNATURES:
            self.known.clear()
        self.known[signature] = function

    def _expected(self, given: Sequence[Any]) -> list[ResultLayout | None]:
        """How the results of the operations lie in memory, without running them."""
        with FakeTensorMode() as mode, torch.no_grad():
            # operations change a real tensor also in this mode
            fake = [mode.from_tensor(each) if isinstance(each, torch.Tensor) else each for each in given]
            results = listed(self.operations(*fake))
        # a fake tensor's memory is its own: whose memory a result is, is known only where the operations have run
        return [each and replace(each, source=None, offset=0) for each in layouts((), results)]

    def _report(self, given: Sequence[Any]) -> str:
        arguments = ", ".join(
            f"{node.name}: {_described(value)}" for node, value in zip(self.pattern.inputs, given, strict=True)
        )
        return (
            f"Pass {self.name} of bundle {self.digest[:12]} does not do what it replaces: {self.problem}. Its match is"
            f" left to the graph's own operations. To report this, send this text and the bundle: {arguments}; torch"
            f" {torch.__version__}."
        )

    def _failure(self, error: Exception) -> PassFailed:
        what = f"has no plan: {error}" if isinstance(error, NotPlanned) else f"raised {type(error).__name__}: {error}"
        return PassFailed(
            f"The replacement of pass {self.name} {what}. Leave this pass out of its bundle, or compile the model"
            " without the bundle."
        )


def _signature(given: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(
        (each.dtype, each.shape, each.stride(), each.device, each.data_ptr() % ALIGNED_BYTES)
        if isinstance(each, torch.Tensor)
        else (type(each), each)
        for each in given
    )


def _overlap(given: Sequence[Any]) -> bool:
    """Whether the ranges of memory of two of the tensors overlap."""
    tensors = [each for each in given if isinstance(each, torch.Tensor)]
    begins = sorted((each.data_ptr(), extent(each.shape, each.stride()) * each.element_size()) for each in tensors)
    return any(first + size > second for (first, size), (second, _) in pairwise(begins))


def _described(value: Any) -> str:
    if not isinstance(value, torch.Tensor):
        return repr(value)
    strided = "" if value.is_contiguous() else f" with strides {list(value.stride())}"
    return f"{str(value.dtype).removeprefix('torch.')}{list(value.shape)}{strided} on {value.device.type}"


def _unlike(*given: Any) -> bool:
    return False
