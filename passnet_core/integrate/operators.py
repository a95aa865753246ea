"""Replaced matches as operators of torch, which Inductor calls without looking into them."""

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
import torch.fx
from torch._subclasses.fake_tensor import FakeTensorMode

from passnet_core.fx.modules import module_of
from passnet_core.graphs.effects import changed, is_random
from passnet_core.graphs.ir import Graph, Ref
from passnet_core.integrate.calls import Callee

SPACE = "passnet"
_library = torch.library.Library(SPACE, "FRAGMENT")
_defined: dict[str, Callable[..., Any]] = {}


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

    One operator serves all matches that differ in nodes only, in every process, so that what Inductor keeps on disk
    stays right. Raises TypeError for an argument that it cannot take."""
    kinds = [_kind(each) for each in args]
    constants = {place: each for place, (each, kind) in enumerate(zip(args, kinds)) if not kind}
    said = [
        callee.digest,
        callee.traced.name,
        kinds,
        {place: repr(each) for place, each in constants.items()},
        list(weights),
    ]
    name = f"{_word(callee.traced.name)}_{hashlib.sha256(json.dumps(said).encode()).hexdigest()[:16]}"
    if name not in _defined:
        _define(name, callee, kinds, constants, weights)
        _defined[name] = getattr(getattr(torch.ops, SPACE), name).default
    return _defined[name], [each for each, kind in zip(args, kinds) if kind]


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
        found = compute(*all_of(given))
        results = layouts.followed(tuple(found) if many else (found,), given, expected)
        return results if many else results[0]

    torch.library.impl(f"{SPACE}::{name}", "default", run, lib=_library)
    torch.library.register_fake(f"{SPACE}::{name}", expected, lib=_library)


class _Layouts:
    """What the results of an operator look like in memory: Inductor has compiled what reads them by what it expects."""

    def __init__(self) -> None:
        self.contiguous: bool | None = None
        """Whether contiguous inputs always gave contiguous results; None: none were seen in this process, which is so
        too where Inductor found the compiled graph on the disk."""
        self.strides: dict[Any, list[tuple[int, ...]]] = {}

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
        if plain and self.contiguous and _are_contiguous(own):
            return own
        strides = self._expected(given, expected)
        return tuple(each if each.stride() == want else _strided(each, want) for each, want in zip(own, strides))

    def _expected(self, given: Sequence[Any], expected: Callable[..., Any]) -> list[tuple[int, ...]]:
        key = tuple((each.shape, each.stride()) if isinstance(each, torch.Tensor) else each for each in given)
        if key not in self.strides:
            with FakeTensorMode(allow_non_fake_inputs=True):
                found = expected(*given)
            self.strides[key] = [tuple(each.stride()) for each in (found if isinstance(found, tuple) else (found,))]
        return self.strides[key]


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
