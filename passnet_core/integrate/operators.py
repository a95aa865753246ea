"""Replaced matches as operators of torch, which Inductor calls without looking into them.

Code that Inductor generates calls what CALLS holds, without torch's dispatcher."""

import hashlib
import inspect
import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from passnet_core.graphs.effects import changed, storage_of
from passnet_core.graphs.ir import Graph, Ref
from passnet_core.graphs.matching import Match
from passnet_core.graphs.rewriting import TracedPass
from passnet_core.graphs.source import emit
from passnet_core.integrate.calls import Callee
from passnet_core.integrate.layouts import strided
from passnet_core.integrate.replacing import Conduct, ReplacedMatch

SPACE = "passnet"
FORM = 2
"""To be raised whenever operators promise something else of their results: Inductor keeps code that relies on it."""
ALIGNED = 16
"""At a multiple of how many bytes the memory of results begins."""
DROPOUTS = frozenset(
    getattr(torch.nn.functional, name)
    for name in ("dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout", "feature_alpha_dropout")
)
CALLS_NAME = "passnet_calls"
CALLS_IMPORT = f"from {__name__} import CALLS as {CALLS_NAME}"
_library = torch.library.Library(SPACE, "FRAGMENT")
CALLS: dict[str, Callable[..., Any]] = {}
"""What the operators do, by their names."""
_matches: dict[str, ReplacedMatch] = {}


def shared_problem(graph: Graph, traced: TracedPass, match: Match) -> str:
    """Why a match in this graph cannot be an operator, whose results lie in memory of their own: somebody can tell."""
    storage = storage_of(traced.pattern)
    own = {node.name for node in traced.pattern.inputs}
    results = traced.pattern.returned
    views = [name for name in results if storage[name] != name]
    if not views:
        return ""
    # the whole graph is looked at only for the few patterns that may return a view
    owners = storage_of(graph)
    disturbed = {owners[each.name] for node in graph.operations for each in changed(node) if each.name in owners}
    returned = {name for name in results if match.nodes.get(name) in graph.returned}
    for name in views:
        source = storage[name]
        if source in own:
            value = match.inputs.get(source)
            told = name in returned or (isinstance(value, Ref) and owners.get(value.name) in disturbed)
            what = "what it takes"
        else:
            told = {name, source} <= returned or owners.get(match.nodes[name]) in disturbed
            what = "what it makes"
        if told:
            return f"its result may be a view of {what}, and rest='inductor' gives it memory of its own"
    return ""


def operator_for(
    callee: Callee, examples: Sequence[Any], weights: Sequence[str], conduct: Conduct
) -> tuple[Any, ReplacedMatch]:
    """The operator for a match that takes values like these, and what it calls.

    One operator serves all matches that differ in values of the same shapes only, in every process, so that what
    Inductor keeps on disk stays right."""
    said = [
        FORM,
        callee.digest,
        callee.traced.name,
        emit(callee.pattern),
        emit(callee.arguments),
        list(weights),
        [[str(size) for size in each.shape] if isinstance(each, torch.Tensor) else [] for each in examples],
        conduct.verify,
        conduct.frozen,
    ]
    word = re.sub(r"\W", "_", callee.traced.name, flags=re.ASCII)
    name = f"{word}_{hashlib.sha256(json.dumps(said).encode()).hexdigest()[:16]}"
    if name not in CALLS:
        from passnet_core.integrate.inductor import call_directly

        _matches[name] = ReplacedMatch(callee, weights, conduct)
        _define(name, callee, ["Tensor" if isinstance(each, torch.Tensor) else "SymInt" for each in examples])
        call_directly(_operator(name), f'{CALLS_NAME}["{name}"]', CALLS_IMPORT)
    return _operator(name), _matches[name]


def _operator(name: str) -> Any:
    return getattr(getattr(torch.ops, SPACE), name).default


def _define(name: str, callee: Callee, kinds: Sequence[str]) -> None:
    result = callee.pattern.result
    many = isinstance(result, tuple)
    count = len(result) if isinstance(result, tuple) else 1
    given = ", ".join(f"{kind} a{place}" for place, kind in enumerate(kinds))
    _library.define(f"{name}({given}) -> {'(' + ', '.join(['Tensor'] * count) + ')' if many else 'Tensor'}")
    compute, pattern = _matches[name].function(), _matches[name].operations

    def expected(*given: Any) -> Any:
        with _DropoutInEvaluation():
            found = pattern(*given)
        # an operator returns memory of its own, laid out as the results are
        own = [strided(each, each.stride()) for each in (found if many else (found,))]
        return tuple(own) if many else own[0]

    def run(*given: Any) -> Any:
        found = compute(*given)
        return _own(found, given) if many else _own((found,), given)[0]

    CALLS[name] = run
    torch.library.impl(f"{SPACE}::{name}", "default", run, lib=_library)
    torch.library.register_fake(f"{SPACE}::{name}", expected, lib=_library)


class _DropoutInEvaluation(TorchFunctionMode):
    """Has dropout in evaluation return its input, as it does in eager. What torch makes of it for AOTAutograd copies,
    and a copy may lie otherwise."""

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        named = kwargs or {}
        if func in DROPOUTS:
            given = inspect.signature(func).bind(*args, **named)
            given.apply_defaults()
            if not given.arguments["training"]:
                return given.arguments["input"]
        return func(*args, **named)


def _own(results: Sequence[torch.Tensor], given: Sequence[Any]) -> tuple[torch.Tensor, ...]:
    """The results, each in memory of its own that begins where the code expects that Inductor compiled for them."""
    held = {each.untyped_storage().data_ptr() for each in given if isinstance(each, torch.Tensor)}
    own: list[torch.Tensor] = []
    for each in results:
        shared = each.untyped_storage().data_ptr() in held or any(each.data_ptr() == other.data_ptr() for other in own)
        own.append(strided(each, each.stride()) if shared or each.data_ptr() % ALIGNED else each)
    return tuple(own)
