"""Replaced matches as operators of torch, which Inductor calls without looking into them.

Code that Inductor generates calls what CALLS holds, without torch's dispatcher."""

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
import torch.fx
from torch._C._dynamo.guards import TensorGuards
from torch._subclasses.fake_tensor import FakeTensorMode

from passnet_core.fx.modules import module_of
from passnet_core.graphs.effects import changed, is_random
from passnet_core.graphs.ir import Graph, Ref
from passnet_core.integrate.calls import Callee

SPACE = "passnet"
ALIGNED = 16
"""At a multiple of how many bytes the memory of results begins."""
CALLS_NAME = "passnet_calls"
CALLS_IMPORT = f"from {__name__} import CALLS as {CALLS_NAME}"
_library = torch.library.Library(SPACE, "FRAGMENT")
CALLS: dict[str, Callable[..., Any]] = {}
"""What the operators do, by their names."""


def refusal(callee: Callee) -> str:
    """Why the pass cannot be an operator, or an empty string."""
    if any(changed(node) for node in callee.traced.pattern.operations):
        return "its pattern changes a tensor in place, which rest='inductor' cannot leave to a pass"
    if any(is_random(node) for node in callee.traced.pattern.operations):
        return "its pattern draws random numbers, which rest='inductor' cannot leave to a pass"
    result = callee.traced.pattern.result
    results = result if isinstance(result, tuple) else (result,)
    if not all(isinstance(each, Ref) for each in results):
        return "its pattern returns something besides tensors"
    return ""


def operator_for(callee: Callee, args: Sequence[Any], weights: Sequence[str]) -> tuple[Any, list[Any]]:
    """The operator for a match with these arguments, and those of them that are nodes, with which to call it.

    One operator serves all matches that differ in nodes of the same shapes only, in every process, so that what
    Inductor keeps on disk stays right. Raises TypeError for an argument that it cannot take."""
    kinds = [_kind(each) for each in args]
    constants = {place: each for place, (each, kind) in enumerate(zip(args, kinds)) if not kind}
    said = [
        callee.digest,
        callee.traced.name,
        kinds,
        {place: repr(each) for place, each in constants.items()},
        list(weights),
        [_shape(each) for each in args],
    ]
    name = f"{_word(callee.traced.name)}_{hashlib.sha256(json.dumps(said).encode()).hexdigest()[:16]}"
    if name not in CALLS:
        from passnet_core.integrate.inductor import call_directly

        _define(name, callee, kinds, constants, weights)
        call_directly(_operator(name), f'{CALLS_NAME}["{name}"]', CALLS_IMPORT)
    return _operator(name), [each for each, kind in zip(args, kinds) if kind]


def _operator(name: str) -> Any:
    return getattr(getattr(torch.ops, SPACE), name).default


def _word(name: str) -> str:
    return re.sub(r"\W", "_", name, flags=re.ASCII)


def _kind(value: Any) -> str:
    """The type of an argument in the operator's signature; empty for a constant, which the operator knows."""
    if isinstance(value, tuple | list) and any(isinstance(each, torch.fx.Node) for each in value):
        raise TypeError("a list with computed numbers in it")
    if not isinstance(value, torch.fx.Node):
        return ""
    example = value.meta.get("example_value")
    if isinstance(example, torch.Tensor):
        return "Tensor"
    if isinstance(example, int | torch.SymInt):
        return "SymInt"
    raise TypeError(f"a value of type {type(example).__name__}")


def _shape(value: Any) -> list[str]:
    """The sizes of a tensor, so that calls of an operator are like each other."""
    example = value.meta.get("example_value") if isinstance(value, torch.fx.Node) else None
    return [str(size) for size in example.shape] if isinstance(example, torch.Tensor) else []


def _define(
    name: str, callee: Callee, kinds: Sequence[str], constants: Mapping[int, Any], weights: Sequence[str]
) -> None:
    result = callee.traced.pattern.result
    many = isinstance(result, tuple)
    count = len(result) if isinstance(result, tuple) else 1
    given = ", ".join(f"{kind} a{place}" for place, kind in enumerate(kinds) if kind)
    _library.define(f"{name}({given}) -> {'(' + ', '.join(['Tensor'] * count) + ')' if many else 'Tensor'}")
    compute, pattern = callee.function(weights), _pattern_of(callee)
    layouts = _Layouts()

    def all_of(given: Sequence[Any]) -> list[Any]:
        rest = iter(given)
        return [constants[place] if place in constants else next(rest) for place in range(len(kinds))]

    def expected(*given: Any) -> Any:
        found = pattern(*all_of(given))
        # an operator returns memory of its own
        copies = tuple(each.clone() for each in (found if many else (found,)))
        layouts.note(given, copies)
        return copies if many else copies[0]

    def run(*given: Any) -> Any:
        found = compute(*(all_of(given) if constants else given))
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
            own = tuple(each if each.stride() == want else _strided(each, want) for each, want in zip(own, strides))
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


def _strided(value: torch.Tensor, strides: Sequence[int]) -> torch.Tensor:
    return torch.empty_strided(value.shape, strides, dtype=value.dtype, device=value.device).copy_(value)


def _pattern_of(callee: Callee) -> Callable[..., Any]:
    """The pattern as a function of the inputs of the call."""
    pattern = callee.traced.pattern
    inputs = {each.name: each for each in pattern.inputs}
    graph = Graph((*(inputs[name] for name in callee.names), *pattern.operations), pattern.result)
    compute: Callable[..., Any] = module_of(graph, {}).forward
    return compute
