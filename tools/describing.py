"""Describe torch's operations as rows of the table in passnet_core/operations: from signatures and schemas, and from
what calls do when they run: torch's own samples, and tensors of some shapes."""

import contextlib
import inspect
import itertools
import json
import re
import types
import warnings
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import torch
from torch._jit_internal import boolean_dispatched
from torch.jit._builtins import _find_builtin
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_leaves

from passnet_core.errors import BadInput
from passnet_core.fx import signatures
from passnet_core.fx.refused_operations import refused_for
from passnet_core.graphs.emission import written
from passnet_core.graphs.ir import Listed, Node, NodeKind, Ref, Value, references
from passnet_core.graphs.spelling import operator_of
from passnet_core.operations.binding import Call, bind
from passnet_core.operations.table import ATEN, TABLE, forget, parameter_name, parameters, spelling

MEMORY_FORMATS = ("contiguous_format", "preserve_format", "channels_last", "channels_last_3d")
"""Names of memory formats. Their indices are the numbers in torch's schemas."""
SHAPES = ((), (3,), (2, 3), (2, 3, 3), (2, 3, 3, 3), (1, 1, 2, 2, 2))
DTYPES = (torch.float32, torch.bool, torch.int64, torch.complex64)
ALL_DTYPES = (
    *DTYPES, torch.float64, torch.float16, torch.bfloat16, torch.int32, torch.int16, torch.int8, torch.uint8,
    torch.complex128, torch.complex32,
)  # fmt: skip


DRAWING = ("torch.svd_lowrank", "torch.pca_lowrank", "torch.lobpcg")
"""Functions that draw random numbers, and whose calls cannot be watched."""


@dataclass
class KnownDeeds:
    """What calls of one spelling were seen to do beyond their schemas, by parameter."""

    writes: set[str] = field(default_factory=set)
    shares: set[str] = field(default_factory=set)
    random: bool = False


@dataclass(frozen=True)
class ObservedCall:
    """A call that ran, as a node that reads a tensor by its number. given: copies of the tensors. written, shared: the
    numbers of those that it changed, and of those in whose memory a result lies. random: whether it drew random
    numbers. results: how many it returned in a tuple or list; None if it returned one alone."""

    node: Node
    given: tuple[torch.Tensor, ...]
    written: frozenset[int]
    shared: frozenset[int]
    random: bool
    results: int | None = None


class Observing(TorchFunctionMode):
    """Notes each call of a function or method of torch, as tracing would record it, and what it does to memory."""

    def __init__(self, note: Callable[[ObservedCall], None]) -> None:
        super().__init__()
        self.note = note

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        tensors = [each for each in tree_leaves((args, kwargs)) if isinstance(each, torch.Tensor)]
        node = recorded(func, args, kwargs, {id(each): number for number, each in enumerate(tensors)})
        held = [_memory(each) for each in tensors]
        before = [(each._version, each.clone()) for each in tensors]
        state = torch.random.get_rng_state()
        result = func(*args, **kwargs)
        if node is not None and len(set(held)) == len(held):
            results = {_memory(each) for each in tree_leaves(result) if isinstance(each, torch.Tensor)} - {None}
            self.note(
                ObservedCall(
                    node,
                    tuple(copy for _, copy in before),
                    frozenset(n for n, each in enumerate(tensors) if _differs(each, *before[n])),
                    frozenset(n for n, memory in enumerate(held) if memory in results),
                    not torch.equal(state, torch.random.get_rng_state()),
                    len(result) if isinstance(result, tuple | list) else None,
                )
            )
        return result


def _differs(tensor: torch.Tensor, version: int, before: torch.Tensor) -> bool:
    """Whether a tensor was changed. Some kernels, such as those of batch_norm, do not raise its version."""
    if tensor._version != version or tensor.shape != before.shape:
        return True
    return not torch.equal(tensor.nan_to_num(), before.nan_to_num())


def _memory(tensor: torch.Tensor) -> int | None:
    """The address of a tensor's storage; None if it has none, or nothing in it."""
    with contextlib.suppress(RuntimeError, NotImplementedError):
        storage = tensor.untyped_storage()
        return storage._cdata if storage.nbytes() else None
    return None


def recorded(function: Any, args: Any, kwargs: Any, numbers: Mapping[int, int]) -> Node | None:
    """The node that records a call, which reads tensors by their numbers; None if no graph can hold it."""

    def value(given: Any) -> Value:
        if isinstance(given, torch.Tensor):
            return Ref(str(numbers[id(given)]))
        if isinstance(given, list):
            return Listed(tuple(map(value, given)))
        if isinstance(given, tuple):
            return tuple(map(value, given))
        return signatures.literal(given)

    try:
        values = tuple(map(value, args))
        named = tuple((name, value(each)) for name, each in kwargs.items())
    except BadInput:
        return None
    name = getattr(function, "__name__", "")
    if name == "__get__":
        attribute = getattr(function.__self__, "__name__", "")
        return Node("y", NodeKind.CALL, "builtins.getattr", (*values[:1], attribute)) if attribute else None
    if getattr(torch.Tensor, name, None) is not function:
        return Node("y", NodeKind.CALL, signatures.name_of(function), values, named)
    if (called := operator_of(name, values)) is not None:
        return Node("y", NodeKind.CALL, *called, named)
    return Node("y", NodeKind.METHOD, name, values, named)


# --- what calls are seen to do ---------------------------------------------------------------------------------------


def parameters_of(call: Call, numbers: frozenset[int]) -> set[str]:
    """The parameters through which a call gets these tensors."""
    return {name for name, value in call.arguments if {int(each) for each in references(value)} & numbers}


def seen() -> dict[str, KnownDeeds]:
    """What all calls that are tried here do, by spelling."""
    found: dict[str, KnownDeeds] = defaultdict(KnownDeeds)

    def note(each: ObservedCall) -> None:
        call = bind(each.node)
        if dict(call.arguments).get("inplace") is True:
            return
        this = found[spelling(each.node)]
        this.writes |= parameters_of(call, each.written)
        this.shares |= parameters_of(call, each.shared)
        this.random |= each.random

    watch(itertools.chain(samples(), simple_calls()), note)
    return found


def watch(calls: Iterable[Callable[[], Any]], note: Callable[[ObservedCall], None]) -> None:
    """Make calls, and note what each call of torch within them does. What does not run here shows nothing."""
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        for call in calls:
            with contextlib.suppress(Exception), Observing(note):
                call()


def samples(dtypes: Sequence[torch.dtype] = (torch.float32, torch.int64)) -> Iterator[Callable[[], Any]]:
    """Yield torch's own samples of all operations, with their variants as methods, in place and as operators."""
    from torch.testing._internal.common_methods_invocations import op_db

    for operation in op_db:
        yield from samples_of(operation, dtypes)


def samples_of(operation: Any, dtypes: Sequence[torch.dtype]) -> Iterator[Callable[[], Any]]:
    """Yield the samples of one of torch's own descriptions of operations."""
    variants = [operation.op, operation.method_variant, operation.inplace_variant, operation.operator_variant]
    variants += [alias.op for alias in operation.aliases]
    for dtype in dtypes:
        if dtype not in operation.supported_dtypes("cpu"):
            continue
        try:
            drawn = list(operation.sample_inputs("cpu", dtype))
        except Exception:  # a sample that this machine cannot make
            continue
        for sample, variant in itertools.product(drawn, filter(None, variants)):
            given = sample.transform(_copied)
            yield partial(variant, given.input, *given.args, **given.kwargs)


def _copied(value: Any) -> Any:
    return value.detach().clone() if isinstance(value, torch.Tensor) else value


def simple_calls() -> Iterator[Callable[[], Any]]:
    """Yield calls of everything that takes a tensor alone, and those further ones that torch has no samples of."""
    functions = [
        getattr(module, name)
        for module, names in signatures.SPACES.values()
        for name in sorted(names)
        if str(getattr(module, "__name__", "")).startswith("torch") and hasattr(module, name)
    ]
    members = [name for name in dir(torch.Tensor) if not name.startswith("_") and not refused_for(f"Tensor.{name}")]
    for shape, dtype in itertools.product(SHAPES, DTYPES):
        tensor = torch.ones(shape, dtype=dtype)
        for function in functions:
            yield partial(function, tensor.clone())
        for name in members:
            yield partial(_member, tensor.clone(), name)
    x, other, images, index = torch.randn(2, 3), torch.randn(3), torch.randn(2, 3, 4, 4), torch.tensor([0, 1])
    yield partial(torch.nn.functional.embedding, index, torch.randn(2, 3), max_norm=0.1)
    yield partial(torch.nn.functional.embedding_bag, index[None], torch.randn(2, 3), max_norm=0.1)
    yield partial(torch.nn.functional.fractional_max_pool2d, images, 2, output_size=2)
    yield partial(torch.nn.functional.fractional_max_pool3d, images[None], 2, output_size=1)
    yield from (partial(torch.svd_lowrank, images[0, 0], 2), partial(torch.pca_lowrank, images[0, 0], 2))
    yield partial(torch.lobpcg, torch.eye(9), 1)
    for dtype, name in itertools.product(ALL_DTYPES, members):
        yield partial(_member, torch.ones(3, dtype=dtype), name)
    for dtype in DTYPES:
        yield from (partial(x.type, dtype), partial(x.to, dtype), partial(x.to, "cpu"), partial(x.type_as, other))
    for train in (True, False):
        yield partial(torch.nn.functional.dropout1d, images[0], 0.5, train)
        for name in ("dropout", "alpha_dropout", "feature_dropout", "feature_alpha_dropout", "native_dropout"):
            yield partial(getattr(torch, name), x, 0.5, train)
        for name in ("dropout", "dropout2d", "dropout3d", "alpha_dropout", "feature_alpha_dropout"):
            yield partial(getattr(torch.nn.functional, name), images, 0.5, train)
        yield partial(torch.nn.functional.rrelu, x, training=train)
        yield partial(torch.batch_norm, x, None, None, torch.ones(3), torch.ones(3), train, 0.1, 1e-5, False)
        yield partial(torch.rrelu, x, 0.1, 0.3, train)
        yield partial(torch.instance_norm, x[None], None, None, torch.ones(2), torch.ones(2), train, 0.1, 1e-5, False)


def _member(tensor: torch.Tensor, name: str) -> Any:
    member = getattr(tensor, name)
    return member() if callable(member) else member


# --- rows ------------------------------------------------------------------------------------------------------------


def table() -> dict[str, Any]:
    """The table without what was seen: all spellings, and the schemas behind them."""
    spellings: dict[str, Any] = {}
    for space, (module, names) in signatures.SPACES.items():
        if not space.startswith("torch"):
            continue
        for name in sorted(names):
            path = f"{space}.{name}"
            if hasattr(module, name) and refused_for(path) is None:
                spellings[path] = _function(path, getattr(module, name))
    for name in dir(torch.Tensor):
        if not name.startswith("_") and refused_for(f"Tensor.{name}") is None:
            spellings[f"Tensor.{name}"] = _method(name)
    dtypes = {f"torch.{name}": str(each) for name, each in sorted(vars(torch).items()) if isinstance(each, torch.dtype)}
    return {
        "torch": [torch.__version__.partition("+")[0]],
        "dtypes": {alias: name for alias, name in dtypes.items() if alias != name},
        "spellings": spellings,
        "aten": _aten({each["aten"] for each in spellings.values() if "aten" in each}),
    }


def _function(path: str, function: Any) -> dict[str, Any]:
    name = signatures.name_of(function)
    described: dict[str, Any] = {} if name == path else {"name": name}
    if isinstance(function, types.FunctionType):
        return described | _python(function)
    return described | ({"aten": aten.removeprefix("aten::")} if (aten := _find_builtin(function)) else {})


def _method(name: str) -> dict[str, Any]:
    method = getattr(torch.Tensor, name)
    if isinstance(method, types.FunctionType):
        return _python(method)
    return {"aten": name} if callable(method) and torch._C._jit_get_schemas_for_operator(f"aten::{name}") else {}


def _python(function: Any) -> dict[str, Any]:
    """The signature of a function in Python; nothing if it says too little."""
    both = boolean_dispatched.get(function)  # such as max_pool2d, which hides its own behind (*args, **kwargs)
    given = inspect.signature(both["if_false"] if both else function).parameters.values()
    if any(each.kind is inspect.Parameter.VAR_KEYWORD for each in given):
        return {}
    nothing = inspect.Parameter.empty
    texts, named = [], False
    for each in given:
        if each.kind is inspect.Parameter.KEYWORD_ONLY and not named:
            texts.append("*")
        named |= each.kind in (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.VAR_POSITIONAL)
        star = "*" if each.kind is inspect.Parameter.VAR_POSITIONAL else ""
        try:
            default = "" if each.default is nothing else f"={written(signatures.literal(each.default))}"
        except BadInput:
            return {}
        texts.append(f"{star}{each.name}{default}")
    return {"python": [{"call": f"({', '.join(texts)})"}]}


def _aten(called: Collection[str]) -> dict[str, Any]:
    """The schemas of aten that give results anew, by packet and overload: those that these spellings call, and all
    public ones that take tensors."""
    found: dict[str, dict[str, Any]] = {}
    every = {each.name for each in torch._C._jit_get_all_schemas()}
    names = {each for each in every if each.startswith("aten::") and not each.startswith("aten::_")}
    names |= {f"aten::{each}" for each in called}
    for schema in torch._C._jit_get_all_schemas():
        if schema.name in names and not any(each.is_out for each in schema.arguments):
            packet = found.setdefault(schema.name.removeprefix("aten::"), {})
            packet[schema.overload_name or "default"] = _schema(schema)
    # the order of the schemas of a packet decides which one a call binds to
    return {
        name: {
            each.overload_name or "default": found[name][each.overload_name or "default"]
            for each in torch._C._jit_get_schemas_for_operator(f"aten::{name}")
            if (each.overload_name or "default") in found[name]
        }
        for name in sorted(found)
        if any(": Tensor" in each["call"] or "Tensor]" in each["call"] for each in found[name].values())
        or name in called
    }


def _schema(schema: Any) -> dict[str, Any]:
    texts, named = [], False
    for each in schema.arguments:
        if each.kwarg_only and not named:
            texts.append("*")
        named |= each.kwarg_only
        texts.append(f"{parameter_name(each.name)}: {_type(each)}{_default(each)}")
    given, _, returned = str(schema).rpartition(" -> ")
    results = set(re.findall(r"\((\w)", returned))
    writes, shares = [], []
    for alias, write, name in re.findall(r"\((\w)(!?)[^()]*\)(?:\[\d*\])?\?? (\w+)", given):
        writes += [name] if write else []
        shares += [name] if alias in results else []
    described: dict[str, Any] = {"call": f"({', '.join(texts)})"}
    described |= {name: each for name, each in (("writes", writes), ("shares", shares)) if each}
    return described | ({"random": True} if _is_random(schema) else {})


def _is_random(schema: Any) -> bool:
    packet = getattr(torch.ops.aten, schema.name.removeprefix("aten::"), None)
    overload = getattr(packet, schema.overload_name or "default", None)
    return torch.Tag.nondeterministic_seeded in getattr(overload, "tags", ())


def _type(argument: Any) -> str:
    """A type as torch spells it, without Optional; with the length of the list that one number stands for."""
    kind = str(argument.type)
    kind = kind.removeprefix("Optional[").removesuffix("]") if kind.startswith("Optional[") else kind
    if argument.N is not None:
        return f"List[{kind.removeprefix('List[').removesuffix(']')}, {argument.N}]"
    return kind if kind.replace("[", "").replace("]", "").isidentifier() else repr(kind)


def _default(argument: Any) -> str:
    if not argument.has_default_value():
        return ""
    default = argument.default_value
    if "MemoryFormat" in str(argument.real_type) and isinstance(default, int):
        return f" = torch.{MEMORY_FORMATS[default]}"
    return f" = {tuple(default) if isinstance(default, list) else default!r}"


def merged(described: dict[str, Any], found: Mapping[str, KnownDeeds]) -> dict[str, Any]:
    """Add to the table what calls were seen to do."""
    for path, each in found.items():
        row = described["aten"].get(path.removeprefix(ATEN)) if path.startswith(ATEN) else None
        known = described["spellings"].get(path, {})
        overloads = [*known.get("python", ()), *(row or described["aten"].get(known.get("aten"), {})).values()]
        for overload in overloads:
            own = {each.name for each in parameters(overload["call"])}
            for name, more in (("writes", each.writes & own), ("shares", each.shares & own)):
                if more - set(overload.get(name, ())):
                    overload[name] = sorted({*overload.get(name, ()), *more})
            if each.random:
                overload["random"] = True
        if not overloads and each.shares:
            known["shares"] = True
    for path in DRAWING:
        described["spellings"][path]["python"][0]["random"] = True
    return described


def write() -> None:
    """Write the table, a line for each spelling and each schema's packet. What it says of other versions of torch stays
    there."""
    described = table()
    before = json.loads(TABLE.read_text()) if TABLE.exists() else {"torch": []}
    others = [of_version(before, each) for each in before["torch"] if [each] != described["torch"]]
    _put(described)  # what is seen is told by the names of parameters, which this says
    _put(together([merged(described, seen()), *others]))


def of_version(described: Mapping[str, Any], version: str) -> dict[str, Any]:
    """What a table of several versions of torch says of one of them."""

    def own(entries: Mapping[str, Any]) -> dict[str, Any]:
        mine = {name: each for name, each in entries.items() if version in each.get(ONLY, [version])}
        return {name: {key: value for key, value in each.items() if key != ONLY} for name, each in mine.items()}

    packets = {name: found for name, overloads in described["aten"].items() if (found := own(overloads))}
    spellings = own(described["spellings"])
    return {"torch": [version], "dtypes": described["dtypes"], "spellings": spellings, "aten": packets}


ONLY = "only"
"""The versions of torch that have an entry, if others have not."""


def together(tables: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """One table of several versions of torch, the newest first. What only some have says so; where they describe an
    entry differently, the first one holds."""
    versions = sorted((version for each in tables for version in each["torch"]), key=_number, reverse=True)
    ordered = sorted(tables, key=lambda each: versions.index(each["torch"][0]))

    def entries(parts: Sequence[Mapping[str, Any]], depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name in dict.fromkeys(name for each in parts for name in each):
            have = [place for place, each in enumerate(parts) if name in each]
            entry = dict(parts[have[0]][name])
            if depth:
                entry = entries([each.get(name, {}) for each in parts], depth - 1)
            alone = [versions[place] for place in have]
            found[name] = entry | ({ONLY: alone} if len(alone) < len(versions) and not depth else {})
        return found

    sections = (("spellings", 0), ("aten", 1))
    return {
        "torch": versions,
        "dtypes": ordered[0]["dtypes"],
        **{name: entries([each[name] for each in ordered], depth) for name, depth in sections},
    }


def _number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdecimal())


def _put(described: Mapping[str, Any]) -> None:
    sections = []
    for name, content in described.items():
        if isinstance(content, dict):
            rows = (f"  {json.dumps(key)}: {json.dumps(each)}" for key, each in content.items())
            content = "{\n" + ",\n".join(rows) + "\n }"
        else:
            content = json.dumps(content)
        sections.append(f" {json.dumps(name)}: {content}")
    TABLE.write_text("{\n" + ",\n".join(sections) + "\n}\n")
    forget()
