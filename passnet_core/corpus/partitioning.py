"""Cut models' graphs into tasks of the three families: single operations, fusible parts and typical stretches.

Run as a program, it reads one whole model, a Subgraph as JSON, from standard input and writes the tasks to standard
output as lines of a pack. The model may be a stranger's code: start the program in a sandbox."""

import json
import math
import os
import re
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from typing import Any

from passnet_core.corpus.cutting import Part, fusible, is_result, left_out, single, standalone, typical
from passnet_core.corpus.evaluation import FAILURES, Specs, evaluate, foreseen_spec, spec_of
from passnet_core.corpus.layout import forward_arguments
from passnet_core.corpus.members import deduplicated, spread
from passnet_core.corpus.packs import Pack, lines_of
from passnet_core.corpus.running import drawn, empty, module_of
from passnet_core.errors import BadInput
from passnet_core.graphs.fingerprint import operation_key, structure
from passnet_core.graphs.ir import Graph, Node, Value, reading, substituted
from passnet_core.graphs.source import emit, parse
from passnet_core.graphs.vocabulary import operator_family, operator_sequence
from passnet_core.records import Family, Subgraph, Task, TensorSpec, digest_of, from_json

LEARN, TRAIN, EVALUATE = "learn", "train", "eval"
SPLITS = (LEARN, *[TRAIN] * 5, *[EVALUATE] * 4)
"""Indexed by the digest of a task's name, so that a task's split never depends on which other tasks there are."""

MOST_BYTES = 8 << 30
"""The most bytes that all values of a subgraph may have together."""

COMPUTED_BYTES = 2 << 30
"""A model with more bytes of inputs is not computed, so the statistics of its values are unknown."""

NAME_LENGTH = 40
"""The most characters of a task's name before its digest."""

PREFIX = "cut-"
"""Begins the names of tasks cut from imported models; the bundled benchmark may have the same tasks without it."""

Inputs = tuple[TensorSpec, ...]
Fuses = Callable[[tuple[str, ...], Graph, Inputs], bool]


class Partition:
    """Collects the tasks found in graphs: one for each family and sequence of operations."""

    def __init__(self) -> None:
        self._fuses = _remembering()
        self._found: dict[str, tuple[Family, list[Subgraph]]] = {}

    def add(
        self, graphs: Sequence[tuple[Graph, Specs]], place: str, model: str, left: Collection[str] = frozenset()
    ) -> None:
        """Cut the graphs of one forward pass of a model into subgraphs, one for each sequence of operations.
        place: the beginning of their ids, such as "float16/0". left: operations that no subgraph may contain."""
        taken: set[str] = set()
        for graph, specs in graphs:
            position = {node.name: index for index, node in enumerate(graph.operations)}
            for family, part, (alone, inputs) in _cuts(graph, specs, self._fuses, left):
                name = task_name(alone, family)
                if name in taken:
                    continue
                taken.add(name)
                where = f"{place}/{model}_op{position[part[0].name]}"
                subgraph = Subgraph(where, name, model, emit(alone), inputs)
                results = [specs[node.name] for node in part if is_result(graph, part, node)]
                size = bytes_of((*inputs, *(specs[node.name] for node in part)))
                if size <= MOST_BYTES and _is_reproduced(subgraph, results):
                    self._found.setdefault(name, (family, []))[1].append(subgraph)

    def tasks(self) -> Iterator[Task]:
        """Yield the tasks by name."""
        for name, (family, subgraphs) in sorted(self._found.items()):
            yield Task(name, family, split_of(name), deduplicated(subgraphs))


def _cuts(
    graph: Graph, specs: Specs, fuses: Fuses, left: Collection[str]
) -> Iterator[tuple[Family, Part, tuple[Graph, Inputs]]]:
    several = {node.name for node in graph.operations if specs.get(node.name) is None}

    def alone(part: Part) -> tuple[Graph, Inputs] | None:
        return None if any(node.name in left for node in part) else standalone(graph, part, specs)

    def fits(part: Part) -> bool:
        made = alone(part)
        return made is not None and fuses(tuple(f"{node.name} {node.target}" for node in part), *made)

    for family, parts in (
        (Family.SINGLE, single(graph)),
        (Family.FUSIBLE, fusible(graph, fits, several)),
        (Family.TYPICAL, typical(graph, several, left)),
    ):
        for part in parts:
            made = alone(part)
            # a part that only reshapes and indexes needs no kernel
            if made is not None and (family is not Family.FUSIBLE or any(map(_computes, made[0].operations))):
                yield family, part, made


def _computes(node: Node) -> bool:
    return operator_family(node) not in ("layout", "indexing")


def _remembering() -> Fuses:
    """Return a function that says whether a cut fuses, and remembers the answer for equal operations: for those of the
    same names, at whatever size, and for those that are the same in another layer. So the first one counts, which is of
    the smallest size, in single precision."""
    from passnet_core.corpus.scheduling import schedule

    known: dict[tuple[str, ...], bool] = {}
    alike: dict[str, bool] = {}

    def fuses(names: tuple[str, ...], graph: Graph, inputs: Inputs) -> bool:
        if names not in known:
            key = structure(graph)
            if key not in alike:
                found = schedule(graph, inputs)
                alike[key] = found is not None and found.own <= 1 and found.library <= 1
            known[names] = alike[key]
        return known[names]

    return fuses


def _is_reproduced(subgraph: Subgraph, results: Sequence[TensorSpec | None]) -> bool:
    """Whether the source returns the captured shapes and dtypes; False also if its shapes depend on values."""
    try:
        returned = foreseen(subgraph)
    except RuntimeError:
        return False
    captured = [(spec.shape, spec.dtype) for spec in results if spec]
    if returned != captured:
        text = f"{subgraph.task_id}: {subgraph.id} is left out: it returns {returned}, but {captured} was captured."
        print(text, file=sys.stderr, flush=True)
    return returned == captured


def foreseen(subgraph: Subgraph) -> list[tuple[tuple[int, ...], str]]:
    """Return the shapes and dtypes that the subgraph's source returns, without computing values.
    Raises torch's exception if the source does not run, or if its shapes depend on values."""
    import torch
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode(), torch.no_grad():
        results = module_of(subgraph, "cpu")(*map(empty, subgraph.inputs))
    return [(tuple(each.shape), str(each.dtype).removeprefix("torch.")) for each in results]


def bytes_of(specs: Sequence[TensorSpec | None]) -> int:
    """Return the number of bytes that these tensors take together."""
    import torch

    return sum(math.prod(spec.shape) * getattr(torch, spec.dtype).itemsize for spec in specs if spec)


def task_name(graph: Graph, family: Family) -> str:
    """Return the task's name: its operations, as far as there is room, and a digest of the family and operations."""
    words = re.sub(r"[^a-z0-9]+", "-", "-".join(operator_sequence(graph)).lower()).strip("-")
    if len(words) > NAME_LENGTH:
        words = words[:NAME_LENGTH].rpartition("-")[0]
    return f"{words}-{digest_of([family.value, operation_key(graph)])[:6]}"


def split_of(name: str) -> str:
    """Return the split of the task with this name."""
    return SPLITS[int(digest_of(name.removeprefix(PREFIX))[:4], 16) % len(SPLITS)]


def joined(packs: Sequence[Pack], most: int | None = None) -> Iterator[Task]:
    """Yield the tasks of all packs by name; tasks of the same name are merged.
    most: keep at most so many subgraphs of each, as different as possible; None: all."""
    for name in sorted({name for pack in packs for name in pack.entries}):
        members = [pack.task(name) for pack in packs if name in pack.entries]
        subgraphs = sorted((each for task in members for each in task.subgraphs), key=lambda each: each.id)
        kept = deduplicated(subgraphs)
        yield replace(members[0], subgraphs=kept if most is None else spread(kept, most))


# --- a whole model from elsewhere ---


def tasks_of(model: Subgraph) -> Iterator[Task]:
    """Cut a whole model into tasks. Raises BadInput if it cannot be read or does not run."""
    graph = parse(model.code)
    sizes, tensors = _inputs(model)
    known, numbers = _noted(graph, sizes, tensors)
    partition = Partition()
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", model.source_model or model.task_id)
    partition.add([(_with_numbers(graph, numbers), known)], f"{model.dtype or 'none'}/0", name, left_out(graph))
    for task in partition.tasks():
        renamed = PREFIX + task.id
        subgraphs = tuple(replace(each, task_id=renamed) for each in task.subgraphs)
        yield replace(task, id=renamed, subgraphs=subgraphs)


def _inputs(model: Subgraph) -> tuple[dict[str, int], dict[str, TensorSpec]]:
    """Return forward's symbolic sizes and its tensors, both by name."""
    symbolic = {name for name, is_symbolic in forward_arguments(model.code, "model.py") if is_symbolic}
    sizes = {spec.name: int(spec.data[0]) for spec in model.inputs if spec.name in symbolic and spec.data}
    return sizes, {spec.name: spec for spec in model.inputs if spec.name not in sizes}


def _noted(graph: Graph, sizes: dict[str, int], tensors: dict[str, TensorSpec]) -> tuple[Specs, dict[str, Value]]:
    """Describe every value of the graph. Return the descriptions, and the values that are numbers, mostly sizes.
    A model of at most COMPUTED_BYTES is computed. For others, values are assumed to be normal."""
    import torch
    from torch._subclasses.fake_tensor import FakeTensorMode

    if bytes_of(tuple(tensors.values())) <= COMPUTED_BYTES:
        try:
            return _walked(graph, sizes, tensors, lambda spec: drawn(spec, "cpu"), spec_of)
        except FAILURES as error:
            print(f"The model could not be computed: {type(error).__name__}: {str(error)[:300]}", file=sys.stderr)
    else:
        print("The model is too large to be computed.", file=sys.stderr)
    print("Its values are assumed to be normal, with mean 0 and standard deviation 1.", file=sys.stderr, flush=True)
    try:
        with FakeTensorMode():
            return _walked(graph, sizes, tensors, empty, foreseen_spec)
    except FAILURES as error:
        raise BadInput(f"The model does not run: {type(error).__name__}: {str(error)[:1000]}") from error
    finally:
        torch._dynamo.reset()


def _walked(
    graph: Graph,
    sizes: dict[str, int],
    tensors: dict[str, TensorSpec],
    made: Callable[[TensorSpec], Any],
    described: Callable[[str, Any], TensorSpec],
) -> tuple[Specs, dict[str, Value]]:
    """Evaluate the graph on tensors from `made`, and describe its values with `described`."""
    import torch

    specs: Specs = {}
    numbers: dict[str, Value] = {}

    def note(name: str, value: Any) -> None:
        # what torch.vmap computes on has an axis that cannot be described
        is_tensor = isinstance(value, torch.Tensor) and not torch._C._functorch.is_functorch_wrapped_tensor(value)
        specs[name] = tensors.get(name) or (described(name, value) if is_tensor else None)
        if isinstance(value, tuple | list) and value and all(type(each) is int for each in value):
            numbers[name] = tuple(value)
        elif type(value) in (bool, int, float):
            numbers[name] = value

    evaluate(graph, {**sizes, **{name: made(spec) for name, spec in tensors.items()}}, note)
    return specs, numbers


def _with_numbers(graph: Graph, numbers: dict[str, Value]) -> Graph:
    """Return the graph with every node that is a number replaced by that number wherever it is read."""
    nodes = tuple(reading(node, numbers) for node in graph.nodes if node.name not in numbers)
    return Graph(nodes, substituted(graph.result, numbers))


def main() -> int:
    """Run the program. Returns exit code 0, or 2 with a sentence on standard error."""
    # libraries may print to standard output, which must contain only tasks: send their output to standard error
    answer = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    try:
        for task in tasks_of(from_json(Subgraph, json.loads(sys.stdin.read()))):
            answer.write(lines_of(task))
    except (BadInput, ValueError, RecursionError) as error:
        print(error, file=sys.stderr)
        return 2
    answer.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
