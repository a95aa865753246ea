"""Execute plans in place of replacement functions, in a process that has only a bundle's kernels.

What the kernels, fills and copies of a plan make of the arguments is all that a call returns. Triton's interpreter runs
the kernels."""

import json
import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from triton.compiler.errors import CompileTimeAssertionFailure
from triton.runtime.errors import InterpreterError

from passnet_core.graphs import effects
from passnet_core.graphs.rewriting import TracedPass
from passnet_core.judge.gpu_on_cpu.needs_gpu import root_of
from passnet_core.judge.gpu_on_cpu.strict_memory import USUAL_STAGES, ChangedMemory, LaunchMemory, Memory
from passnet_core.judge.numerics.bits import bits, extent, same_bits
from passnet_core.judge.plan.describe import COPIED_SHARE, tensors_of
from passnet_core.judge.plan.kernel_loading import LoadedKernels
from passnet_core.judge.plan.record import Indescribable, signature, value_of
from passnet_core.judge.plan.wanted import PlanWanted

Json = Mapping[str, Any]


GIVEN, MADE, FILLED, COPIED, STORED, DOUBTFUL = range(6)
"""Where a byte comes from: it was there before the call, was allocated, filled, copied from what was there before, or
stored by a kernel; in a call of which only some programs run, from what may be incomplete."""
NONSENSE = (0x7F, 0xFE)
"""What lies in memory that nobody has written, in turn: numbers of either sign near the largest, NaN in half
precision."""


def unchanging(passes: Sequence[TracedPass]) -> frozenset[str]:
    """The replacement functions of which no pattern changes anything in place."""
    changing = {each.replacement for each in passes if any(map(effects.changed, each.pattern.operations))}
    return frozenset(each.replacement for each in passes) - changing


class NotExecuted(Exception):
    """A plan that cannot be executed. The message says why."""


class ChoiceRefused(Exception):
    """A configuration that an autotuner would pass over. It is not chosen again."""


@dataclass
class Provenance:
    """Where what lies in one storage comes from. storage: held, so that its address stays its own. kinds: for each byte
    one of GIVEN to DOUBTFUL. reach: how many bytes all programs of the launches can have stored at most: those that ran
    together, and each that did not as many as the one of them that stored most. complete: whether all programs ran that
    may have changed it."""

    storage: torch.UntypedStorage
    kinds: torch.Tensor
    reach: int = 0
    complete: bool = True
    returned: list[tuple[torch.Tensor, int]] = field(default_factory=list)
    """The tensors that were returned to the graph, with their versions then."""

    def of(self, tensor: torch.Tensor, offset: int) -> torch.Tensor:
        """The kinds of a tensor's bytes, which are a further axis. offset: of its first element, in bytes."""
        return _bytes_within(self.kinds, tensor, offset)


@dataclass
class Plans:
    """Plans, and the choices among configurations that were refused: of a plan, a step, and one of its choices."""

    kernels: LoadedKernels
    first: int = field(default_factory=lambda: random.randrange(1 << 16))
    """With which configuration the first call begins."""
    calls: int = 0
    """How many calls of the graph there were."""
    known: dict[str, tuple[Json, Sequence[torch.Tensor]]] = field(default_factory=dict)
    """By their questions, with the content of their constants."""
    refused: set[tuple[str, int, int]] = field(default_factory=set)
    covered: list[Mapping[str, bool]] = field(default_factory=list)
    """For each call that was launched without content, whether its launches can read and store all of their memory, by
    what that is in words; nothing for a call that could not be launched so."""


def question(key: str, arguments: Sequence[Any]) -> str:
    """Names a replacement function and the signature of its arguments."""
    return json.dumps([key, signature(arguments)])


@dataclass
class Execution:
    """Stands in for the replacement functions in one call of the graph.

    unchanging: the replacement functions that must not change their arguments. memory: what the launches do, as
    strict_memory.watched keeps it. inputs: those of the graph, with what they held before the call."""

    plans: Plans
    unchanging: frozenset[str] = frozenset()
    memory: Memory = field(default_factory=Memory)
    inputs: Sequence[Any] = ()
    used: list[str] = field(default_factory=list)
    """The questions of the plans that were executed."""
    problems: list[str] = field(default_factory=list)
    """What the kernels did that is wrong whatever the values, in words."""
    copied: list[str] = field(default_factory=list)
    """What torch's copies did in place of kernels, in words."""
    provenances: dict[int, Provenance] = field(default_factory=dict)
    """Of each storage, by its address."""

    def functions(self, keys: Sequence[str]) -> dict[str, Callable[..., Any]]:
        """A stand-in for each replacement function, by key."""
        return {key: self._standing_in(key) for key in keys}

    def _standing_in(self, key: str) -> Callable[..., Any]:
        def stand_in(*arguments: Any) -> Any:
            try:
                asked = question(key, arguments)
            except Indescribable as error:
                raise NotExecuted(f"an argument {error}") from error
            if asked not in self.plans.known:
                raise PlanWanted(asked)
            self.used.append(asked)
            return _PlanCall(self, asked, arguments).result()

        return stand_in

    def stored(self, output: Any) -> tuple[torch.Tensor, int]:
        """Which elements of an output of the call kernels have stored, as far as these are what they are in a call of
        all programs, and how many all programs can have stored at most. Nothing is known of what the rest of the graph
        has computed."""
        if not isinstance(output, torch.Tensor):
            return torch.zeros(0, dtype=torch.bool), 0
        found = self.provenances.get(output.untyped_storage().data_ptr())
        if found is None or any(version_of(each) != version for each, version in found.returned):
            return torch.zeros(output.shape, dtype=torch.bool), output.numel()
        offset = output.storage_offset() * output.element_size()
        kinds = found.of(output, offset)
        return (kinds == STORED).all(-1), found.reach // output.element_size()

    def provenance(self, storage: torch.UntypedStorage, kind: int) -> Provenance:
        """That of a storage. kind: of its bytes if it is not known yet."""
        known = self.provenances.get(storage.data_ptr())
        if known is None:
            kinds = torch.full((storage.nbytes(),), kind, dtype=torch.uint8)
            # what was computed outside the replacement functions may come from what is incomplete
            complete = kind in (MADE, FILLED) or all(each.complete for each in self.provenances.values())
            known = self.provenances[storage.data_ptr()] = Provenance(storage, kinds, complete=complete)
        return known


class Lent:
    """Memory in which arguments of a replacement function lie. changed: its bytes that were changed at any moment."""

    def __init__(self, memory: torch.Tensor) -> None:
        self.memory, self.before = memory, memory.clone()
        self.arguments: dict[str, torch.Tensor] = {}
        self.changed = torch.zeros_like(memory, dtype=torch.bool)

    def note(self, change: ChangedMemory) -> None:
        """Note what a launch changed, if it did so here."""
        start = change.start - self.memory.data_ptr()
        if 0 <= start < len(self.memory):
            changed = torch.from_numpy(change.of_bytes())
            there = self.changed[start : start + len(changed)]
            there |= changed[: len(there)]

    def problems(self, *, unchanging: bool) -> Iterator[str]:
        """What no replacement function may do, in words: change what lies beside its arguments, or what it leaves as it
        was in the end, since whoever reads it meanwhile reads nonsense. unchanging: it must leave all as it was."""
        if not self.changed.any():
            return
        beside = self.changed.clone()
        for name, value in self.arguments.items():
            elements = self._elements(value)
            restored = same_bits(value, self.at_first(value))
            if unchanging and not restored:
                yield (
                    f"a kernel changes {name} of its replacement function, but no operation of the pattern changes"
                    " anything in place: other readers get wrong values"
                )
            if restored and (self.changed & elements).any():
                yield (
                    f"a kernel overwrites {name} of its replacement function, which is restored later: a reader in"
                    " between gets nonsense"
                )
            beside &= ~elements
        if beside.any():
            names = " and ".join(self.arguments)
            yield f"a kernel overwrites memory beside {names} of its replacement function, which it was not given"

    def at_first(self, value: torch.Tensor) -> torch.Tensor:
        """What this tensor held before the call."""
        held = torch.empty(0, dtype=value.dtype, device=value.device)
        return held.set_(self.before.untyped_storage(), value.storage_offset(), value.shape, value.stride())

    def _elements(self, value: torch.Tensor) -> torch.Tensor:
        """Which bytes of the memory belong to this tensor."""
        found = torch.zeros_like(self.changed)
        _bytes_within(found, value, value.element_size() * value.storage_offset()).fill_(True)
        return found


class PlanMemory:
    """The memory that a plan uses, by its names in the plan: a storage, and where what is named begins in it."""

    def __init__(self, plans: Plans) -> None:
        self.plans = plans
        self.regions: dict[str, tuple[torch.UntypedStorage, int]] = {}

    def launch(self, step: Json) -> None:
        """Launch a kernel."""
        kernel = self.plans.kernels.function(**step["launch"])
        for each in step.get("constants", ()):
            # as they were in the call: the bundle may have chosen them when it was loaded
            self.plans.kernels.set_constant(each["file"], each["name"], self.value(each["value"]))
        args = [self.value(each) for each in step["args"]]
        kwargs = {name: self.value(each) for name, each in step["kwargs"].items()}
        kernel.run(*args, grid=tuple(int(size) for size in step["grid"]), warmup=False, **kwargs)

    def value(self, described: Json) -> Any:
        """The inverse of what a recording describes."""
        match described:
            case {"tensor": place}:
                return self.tensor(place)
            case {"tuple": list(items)}:
                return tuple(self.value(each) for each in items)
            case {"list": list(items)}:
                return [self.value(each) for each in items]
            case {"function": {"file": file, "name": name, "line": line}}:
                return self.plans.kernels.function(file, name, line)
            case {"descriptor": fields}:
                from triton.tools.tensor_descriptor import TensorDescriptor

                return TensorDescriptor(**{name: self.value(each) for name, each in fields.items()})
        return value_of(described)

    def tensor(self, place: Json) -> torch.Tensor:
        if place["in"] not in self.regions:
            raise NotExecuted(f"a call uses {place['in']}, which it was not given")
        storage, base = self.regions[place["in"]]
        dtype = getattr(torch, place["dtype"])
        start = base + int(place["offset"])
        shape, strides = [int(each) for each in place["shape"]], [int(each) for each in place["strides"]]
        reach = extent(shape, strides)
        # torch would let the storage grow
        if reach and (start < 0 or start % dtype.itemsize or start + reach * dtype.itemsize > storage.nbytes()):
            raise NotExecuted("a call uses memory beyond what it was given")
        return torch.empty(0, dtype=dtype).set_(storage, start // dtype.itemsize, shape, strides)


class _PlanCall(PlanMemory):
    """A plan that is executed on these arguments."""

    def __init__(self, execution: Execution, asked: str, arguments: Sequence[Any]) -> None:
        super().__init__(execution.plans)
        self.execution, self.asked = execution, asked
        self.plan, constants = execution.plans.known[asked]
        self.arguments = dict(tensors_in("argument", arguments))
        self.lent: dict[int, Lent] = {}
        """The memory of the arguments, by its address."""
        for name, value in self.arguments.items():
            storage = value.untyped_storage()
            self.regions[name] = (storage, value.data_ptr() - storage.data_ptr())
            lent = self.lent.setdefault(storage.data_ptr(), Lent(torch.empty(0, dtype=torch.uint8).set_(storage)))
            lent.arguments[name] = value
        for index, content in enumerate(constants):
            self.regions[f"constant {index}"] = (content.clone().untyped_storage(), 0)
        for index, told in enumerate(self.plan["made"]):
            length = int(told["bytes"])
            if told["fill"] is None:
                made = torch.full((length,), NONSENSE[execution.plans.calls % len(NONSENSE)], dtype=torch.uint8)
            else:
                one = torch.tensor(told["fill"], dtype=torch.uint8)
                made = one.repeat(-(-length // len(one)))[:length]
            self.regions[f"made {index}"] = (made.untyped_storage(), 0)
        self.known = [execution.provenance(storage, self._kind(name)) for name, (storage, _) in self.regions.items()]

    def _kind(self, name: str) -> int:
        """Where the bytes of this memory come from at first."""
        kind, _, index = name.partition(" ")
        if kind != "made":
            return GIVEN
        return MADE if self.plan["made"][int(index)]["fill"] is None else FILLED

    def result(self) -> Any:
        self._run(self.plan["steps"])
        unchanging = self.plan["function"] in self.execution.unchanging
        for each in self.lent.values():
            self.execution.problems += each.problems(unchanging=unchanging)
        self.execution.copied += self._copied()
        result = self.value(self.plan["returned"])
        for each in result if isinstance(result, tuple | list) else (result,):
            if isinstance(each, torch.Tensor):
                self.execution.provenance(each.untyped_storage(), GIVEN).returned.append((each, version_of(each)))
        return result

    def _run(self, steps: Sequence[Json]) -> None:
        for place, step in enumerate(steps):
            if "launch" in step:
                self.launch(step)
            elif "fill" in step:
                with self._changing(step["fill"]["tensor"]):
                    self._fill(step)
            elif "choices" in step:
                self._choose(place, step["choices"])
            else:
                with self._changing(step["to"]["tensor"]):
                    self._copy(step["copy"]["tensor"], step["to"]["tensor"])

    def _choose(self, place: int, choices: Sequence[Sequence[Json]]) -> None:
        """Run the steps of one configuration of an autotuner, any that it would not pass over."""
        refused = self.execution.plans.refused
        left = [each for each in range(len(choices)) if (self.asked, place, each) not in refused]
        # one after the other in the calls, so that few calls meet many
        turn = self.execution.plans.first + self.execution.plans.calls
        chosen = left[turn % len(left)] if left else turn % len(choices)
        try:
            self._run(choices[chosen])
        except InterpreterError as error:
            if len(left) < 2 or not isinstance(root_of(error), CompileTimeAssertionFailure):
                raise
            refused.add((self.asked, place, chosen))
            raise ChoiceRefused from error

    def launch(self, step: Json) -> None:
        memory = self.execution.memory
        options = {name: each.get("value") for name, each in step.get("options", {}).items()}
        memory.one_warp = options.get("num_warps") == 1
        memory.stages = options.get("num_stages") or USUAL_STAGES
        super().launch(step)
        if memory.launches:
            self._note(memory.launches[-1])

    def _note(self, launch: LaunchMemory) -> None:
        """Note what a launch changed and stored."""
        for each in launch.changed:
            for lent in self.lent.values():
                lent.note(each)
        programs = math.prod(launch.grid)
        whole = launch.ran >= programs
        certain = all(self._at(start).complete for start in launch.read) and (
            whole or not any(each.atomic for each in launch.changed)
        )
        for each in launch.changed:
            found = self._at(each.start)
            first = each.start - found.storage.data_ptr()
            if not whole:
                # the programs that do not run may store there as well
                found.kinds[found.kinds == STORED] = DOUBTFUL
            stored = torch.from_numpy(each.stored_bytes())[: len(found.kinds) - first]
            found.kinds[first : first + len(stored)][stored] = STORED if certain else DOUBTFUL
            found.reach += int(stored.sum()) + each.most * (programs - launch.ran)
            found.complete &= whole and certain

    def _at(self, address: int) -> Provenance:
        """The provenance of what lies at this address."""
        for each in self.known:
            if 0 <= address - each.storage.data_ptr() < len(each.kinds):
                return each
        raise NotExecuted("a launch used memory that it was not given")

    def _copy(self, source: Json, target: Json) -> None:
        self.tensor(target).copy_(self.tensor(source))
        (origin, start), (there, end) = self._provenance(source), self._provenance(target)
        kinds = origin.of(self.tensor(source), start).clone()
        kinds[kinds == GIVEN] = COPIED
        there.of(self.tensor(target), end).copy_(kinds)
        there.reach += origin.reach
        there.complete &= origin.complete

    def _copied(self) -> Iterator[str]:
        """Say which results and arguments are, for more than a small share, copies of what was there before, which
        torch has put into other places: to leave elements where they are in an input is no work."""
        results = [(self.tensor(place), self._provenance(place)) for place in tensors_of(self.plan["returned"])]
        named = [(f"result {index}", *each) for index, each in enumerate(results)]
        for name, value in self.arguments.items():
            if not any(same_place(value, each) for each, _ in results):
                storage = value.untyped_storage()
                offset = value.storage_offset() * value.element_size()
                named.append((name, value, (self.execution.provenance(storage, GIVEN), offset)))
        given = [each for each in self.arguments.values() if each.is_contiguous()]
        before = [self.lent[each.untyped_storage().data_ptr()].at_first(each) for each in given]
        unmoved = [*self.execution.inputs, *before]
        for name, value, (provenance, offset) in named:
            copied = (provenance.of(value, offset) == COPIED).any(-1)
            for each in unmoved if copied.any() and not value.is_complex() else ():
                if isinstance(each, torch.Tensor) and (each.shape, each.dtype) == (value.shape, value.dtype):
                    copied &= bits(each) != bits(value)
            share = int(copied.sum()) / max(value.numel(), 1)
            if share > COPIED_SHARE:
                yield f"copies by PyTorch, not kernels, put {share:.0%} of {name} of a replacement function in place"

    @contextmanager
    def _changing(self, place: Json) -> Iterator[None]:
        """Note what changes meanwhile, if this tensor lies in the memory of an argument."""
        storage, _ = self.regions.get(place["in"], (None, 0))
        lent = self.lent.get(storage.data_ptr()) if storage is not None else None
        before = lent.memory.clone() if lent is not None else None
        yield
        if lent is not None and before is not None:
            lent.changed |= lent.memory != before

    def _fill(self, step: Json) -> None:
        target = self.tensor(step["fill"]["tensor"])
        one = torch.tensor(step["bytes"], dtype=torch.uint8).view(target.dtype)
        target.copy_(one.expand(target.shape) if target.dim() else one[0])
        provenance, offset = self._provenance(step["fill"]["tensor"])
        provenance.of(target, offset).fill_(FILLED)

    def _provenance(self, place: Json) -> tuple[Provenance, int]:
        """The provenance of the storage in which a tensor lies, and the tensor's offset there, in bytes."""
        storage, base = self.regions[place["in"]]
        return self.execution.provenance(storage, GIVEN), base + int(place["offset"])


def _bytes_within(memory: torch.Tensor, tensor: torch.Tensor, offset: int) -> torch.Tensor:
    """What this memory has for each byte of a tensor, as a further axis. offset: of its first element, in bytes."""
    size = tensor.element_size()
    strides = (*(size * each for each in tensor.stride()), 1)
    return memory.as_strided((*tensor.shape, size), strides, offset)


def version_of(tensor: torch.Tensor) -> int:
    """What torch counts changes of a tensor with; it counts none of those made in inference mode."""
    return 0 if tensor.is_inference() else tensor._version


def same_place(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Whether two tensors are the same elements of the same memory."""
    return one.data_ptr() == other.data_ptr() and (one.shape, one.stride()) == (other.shape, other.stride())


def tensors_in(name: str, values: Sequence[Any]) -> Iterator[tuple[str, torch.Tensor]]:
    """The tensors among these values and in lists of them, as a plan names them."""
    for index, value in enumerate(values):
        place = f"{name} {index}" if name == "argument" else f"{name}.{index}"
        if isinstance(value, torch.Tensor):
            yield place, value
        elif isinstance(value, tuple | list):
            yield from tensors_in(place, value)
