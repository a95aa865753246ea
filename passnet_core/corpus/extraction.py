"""Extracts tasks from models: captured through torch.compile, cut into fusible runs, deduplicated, checked to run.

A developer's program, apart from the app: python -m passnet_core.corpus.extraction --out FOLDER
"""

import argparse
import importlib
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from passnet_core.corpus.architectures import ARCHITECTURES, Architecture
from passnet_core.corpus.catalogue import write_index
from passnet_core.corpus.layout import write_task
from passnet_core.corpus.recipes import RECIPES, Recipe
from passnet_core.errors import BadInput
from passnet_core.graphs.fingerprint import structure
from passnet_core.graphs.ir import (
    DeviceLiteral,
    Graph,
    Listed,
    Node,
    NodeKind,
    Ref,
    Slice,
    Symbol,
    Value,
    substituted,
)
from passnet_core.graphs.source import emit, parse
from passnet_core.records import Family, Subgraph, Task, TensorSpec

SEED = 1024
DTYPES = ("float32", "float16", "bfloat16")
MASKING = 1e4


# --- Capturing: torch.compile hands over the graph, an interpreter walks it with the real tensors ---


def captured(
    architecture: Architecture, dtype: str, size: tuple[str, int, int]
) -> Iterator[tuple[Graph, dict[str, Any]]]:
    """Every graph that torch.compile makes of one forward, with the value of each of its nodes."""
    import torch

    torch._dynamo.reset()
    torch.manual_seed(SEED)
    model = built(architecture).to(getattr(torch, dtype))
    graphs: list[tuple[Graph, dict[str, Any]]] = []

    def keep(module: Any, examples: Sequence[Any]) -> Callable[..., Any]:
        def walk(*inputs: Any) -> Any:
            recorder = _recorder(module)
            result = recorder.run(*inputs)
            graphs.append((graph_of(module.graph), recorder.values))
            return result

        return walk

    with torch.no_grad():
        torch.compile(model, backend=keep, dynamic=False)(**example_inputs(model, size, dtype))
    yield from graphs


def built(architecture: Architecture) -> Any:
    """The model in evaluation mode, weights random."""
    transformers = importlib.import_module("transformers")
    config = getattr(transformers, architecture.config)(**dict(architecture.settings))
    config._attn_implementation = "eager"
    if hasattr(config, "use_cache"):
        config.use_cache = False
    return getattr(transformers, architecture.model)(config).eval()


def example_inputs(model: Any, size: tuple[str, int, int], dtype: str) -> dict[str, Any]:
    import torch

    kind, batch, length = size
    if kind == "text":
        tokens = torch.randint(2, min(model.config.vocab_size, 1000) - 2, (batch, length))
        mask = torch.ones(batch, length, dtype=torch.int64)
        mask[:, length - length // 8 :] = 0 if batch > 1 else 1
        return {"input_ids": tokens, "attention_mask": mask}
    shape = (batch, 3, length, length) if kind == "image" else (batch, length)
    return {"pixel_values" if kind == "image" else "input_values": torch.randn(shape).to(getattr(torch, dtype))}


def _recorder(module: Any) -> Any:
    import torch
    import torch.utils._pytree as pytree

    class Recorder(torch.fx.Interpreter):
        """Keeps the statistics of every value at the moment it is made: later in-place writes do not blur them."""

        def __init__(self, module: Any) -> None:
            super().__init__(module)
            self.values: dict[str, Any] = {}

        def run_node(self, n: Any) -> Any:
            product = n.op == "call_function" and getattr(n.target, "__name__", "") in PRODUCTS
            value = self.product(n) if product else super().run_node(n)
            self.values[n.name] = spec_of(n.name, value) if isinstance(value, torch.Tensor) else None
            return value

        def product(self, n: Any) -> Any:
            """In single precision, then rounded: half-precision products on a CPU take minutes."""
            args, kwargs = self.fetch_args_kwargs_from_env(n)
            found: set[Any] = set()

            def widened(value: Any) -> Any:
                if isinstance(value, torch.Tensor) and value.dtype in (torch.float16, torch.bfloat16):
                    found.add(value.dtype)
                    return value.float()
                return value

            result = n.target(*pytree.tree_map(widened, args), **pytree.tree_map(widened, kwargs))
            single = isinstance(result, torch.Tensor) and result.dtype is torch.float32
            return result.to(found.pop()) if single and len(found) == 1 else result

    return Recorder(module)


def spec_of(name: str, tensor: Any) -> TensorSpec:
    """The tensor's shape, dtype and statistics, as met."""
    dtype = str(tensor.dtype).removeprefix("torch.")
    mean = std = low = high = None
    if tensor.numel() and tensor.is_floating_point():
        wide = tensor.detach().double()
        # masks hold constants near the end of the range, which say nothing about the spread of the rest
        ordinary = wide[wide.abs() < MASKING]
        mean = _rounded(ordinary.mean().item()) if ordinary.numel() else 0.0
        std = _rounded(ordinary.std(correction=0).item()) if ordinary.numel() else 0.0
        low = 0.0 if "running_var" in name else None
    elif tensor.numel() and dtype != "bool":
        low, high = float(tensor.min().item()), float(tensor.max().item())
    return TensorSpec(name, tuple(tensor.shape), dtype, "cuda:0", mean, std, low, high)


def _rounded(number: float) -> float:
    return float(f"{number:.6g}")


# --- From torch.fx to plain data ---


def graph_of(graph: Any) -> Graph:
    """The captured graph as plain data; constants it holds become inputs."""
    nodes: list[Node] = []
    result: Value = ()
    for node in graph.nodes:
        if node.op in ("placeholder", "get_attr"):
            nodes.insert(
                sum(each.kind is NodeKind.INPUT for each in nodes), Node(node.name, NodeKind.INPUT, str(node.target))
            )
        elif node.op == "output":
            result = value_of(node.args[0])
        elif node.op in ("call_function", "call_method"):
            method = node.op == "call_method"
            nodes.append(
                Node(
                    node.name,
                    NodeKind.METHOD if method else NodeKind.CALL,
                    node.target if method else target_of(node.target),
                    tuple(value_of(each) for each in node.args),
                    tuple((key, value_of(each)) for key, each in node.kwargs.items()),
                )
            )
        else:
            raise BadInput(f"{node.name}: {node.op} is not straight-line code.")
    made = Graph(tuple(nodes), result)
    made.check()
    return made


def target_of(function: Any) -> str:
    """The dotted path of a function, as torch.fx prints it."""
    if getattr(function, "__module__", "") == "_operator":
        return f"operator.{function.__name__}"
    if function is getattr:
        return "builtins.getattr"
    fx = importlib.import_module("torch.fx.node")
    return str(fx._get_qualified_name(function))


def value_of(value: Any) -> Value:
    import torch

    if isinstance(value, torch.fx.Node):
        return Ref(value.name)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list):
        return Listed(tuple(value_of(each) for each in value))
    if isinstance(value, tuple):
        return tuple(value_of(each) for each in value)
    if isinstance(value, slice):
        return Slice(value_of(value.start), value_of(value.stop), value_of(value.step))
    if isinstance(value, torch.device):
        return DeviceLiteral(value.type, value.index)
    if isinstance(value, torch.dtype | torch.memory_format | torch.layout):
        return Symbol(str(value))
    if value is Ellipsis:
        return Symbol("builtins.Ellipsis")
    raise BadInput(f"{value!r} has no place in plain data.")


# --- Cutting ---

# fmt: off
PRODUCTS = frozenset((
    "linear", "matmul", "bmm", "baddbmm", "addmm", "mm", "conv1d", "conv2d", "conv3d", "conv_transpose1d",
    "conv_transpose2d", "einsum", "_grouped_mm", "grouped_mm_fallback",
))
HEAVY = PRODUCTS | frozenset((
    "embedding", "scaled_dot_product_attention", "topk", "sort", "nonzero", "item", "unfold", "histc", "setitem",
    "index_add", "_set_grad_enabled",
))
# fmt: on
"""Operations at which a run ends: their own kernels dominate, or they write into what others read."""


def label(node: Node) -> str:
    """The last part of the target: what recipes spell runs in."""
    return node.target.rsplit(".", 1)[-1]


def runs(graph: Graph) -> Iterator[tuple[Node, ...]]:
    """Every way to cut the graph between its heavy operations: narrow runs, then the wider ones, each once."""
    seen: set[tuple[str, ...]] = set()
    for part in (*_narrow(graph), *_wide(graph)):
        names = tuple(node.name for node in part)
        if names not in seen:
            seen.add(names)
            yield part


def _narrow(graph: Graph) -> Iterator[tuple[Node, ...]]:
    """Connected operations that stand together between two heavy ones.

    A stretch is contiguous in a valid order, so whatever connects two of its operations lies in it too: taking a
    connected part out never tears a path in two.
    """
    stretch: list[Node] = []
    for node in graph.operations:
        if label(node) not in HEAVY:
            stretch.append(node)
        else:
            yield from _connected(stretch)
            stretch = []
    yield from _connected(stretch)


def _wide(graph: Graph) -> Iterator[tuple[Node, ...]]:
    """Connected operations with equally many heavy ones on the longest way to them.

    A path through a heavy operation ends deeper than it began, so none leaves such a part and comes back.
    """
    depth: dict[str, int] = {node.name: 0 for node in graph.inputs}
    levels: dict[int, list[Node]] = {}
    for node in graph.operations:
        heavy = label(node) in HEAVY
        depth[node.name] = max((depth[name] for name in node.inputs), default=0) + heavy
        if not heavy:
            levels.setdefault(depth[node.name], []).append(node)
    for level in sorted(levels):
        yield from _connected(levels[level])


def _connected(stretch: Sequence[Node]) -> Iterator[tuple[Node, ...]]:
    group: dict[str, int] = {}
    for index, node in enumerate(stretch):
        group[node.name] = index
        for name in node.inputs:
            if name in group and group[name] != group[node.name]:
                old, new = group[name], group[node.name]
                group.update({key: new for key, value in group.items() if value == old})
    for number in dict.fromkeys(group.values()):
        yield tuple(node for node in stretch if group[node.name] == number)


def is_result(graph: Graph, part: Sequence[Node], node: Node) -> bool:
    """Whether the node's value is read outside the part."""
    inside = {each.name for each in part}
    return node.name in graph.returned or any(user not in inside for user in graph.users[node.name])


def standalone(
    graph: Graph, part: Sequence[Node], specs: dict[str, TensorSpec | None]
) -> tuple[Graph, tuple[TensorSpec, ...]] | None:
    """The part as a graph of its own, named in_0, tmp_0, …; None where anything but tensors crosses its edge."""
    inside = {node.name for node in part}
    outer = list(dict.fromkeys(name for node in part for name in node.inputs if name not in inside))
    results = [node.name for node in part if is_result(graph, part, node)]
    entering = [spec for name in outer if (spec := specs.get(name))]
    if not results or len(entering) != len(outer) or any(specs.get(name) is None for name in results):
        return None
    names: dict[str, Value] = {name: Ref(f"in_{index}") for index, name in enumerate(outer)}
    names |= {node.name: Ref(f"tmp_{index}") for index, node in enumerate(part)}
    nodes = [Node(f"in_{index}", NodeKind.INPUT, f"in_{index}") for index in range(len(outer))]
    for index, node in enumerate(part):
        arguments = tuple(substituted(value, names) for value in node.args)
        keywords = tuple((key, substituted(value, names)) for key, value in node.kwargs)
        nodes.append(Node(f"tmp_{index}", node.kind, node.target, arguments, keywords))
    given = tuple(replace(spec, name=f"in_{index}", original_name=spec.name) for index, spec in enumerate(entering))
    return Graph(tuple(nodes), tuple(names[name] for name in results)), given


# --- Gathering what the recipes ask for ---


def gathered(architecture: Architecture, recipes: Sequence[Recipe]) -> Iterator[tuple[Recipe, Subgraph]]:
    """The architecture's contribution to every recipe, in each dtype and size."""
    wanted = [recipe for recipe in recipes if architecture.name in recipe.architectures]
    for dtype in DTYPES if wanted else ():
        for number, size in enumerate(architecture.sizes):
            taken: set[tuple[Recipe, str]] = set()
            for graph, specs in captured(architecture, dtype, size):
                position = {node.name: index for index, node in enumerate(graph.operations)}
                for part in runs(graph):
                    spelled = " ".join(label(node) for node in part)
                    for recipe in wanted:
                        if spelled not in recipe.runs or (recipe, spelled) in taken:
                            continue
                        made = standalone(graph, part, specs)
                        if made is None or (recipe.results is not None and len(made[0].returned) != recipe.results):
                            continue
                        taken.add((recipe, spelled))
                        place = f"{dtype}/{number}/{architecture.name}_op{position[part[0].name]}"
                        subgraph = Subgraph(place, recipe.name, architecture.name, emit(made[0]), made[1])
                        check_runs(subgraph, [specs[node.name] for node in part if is_result(graph, part, node)])
                        yield recipe, subgraph


def check_runs(subgraph: Subgraph, expected: Sequence[TensorSpec | None]) -> None:
    """Raises BadInput where the emitted source gives other shapes or dtypes than were captured."""
    seen = [(tuple(each.shape), str(each.dtype).removeprefix("torch.")) for each in outputs_of(subgraph)]
    meant = [(spec.shape, spec.dtype) for spec in expected if spec]
    if seen != meant:
        raise BadInput(f"{subgraph.task_id}/{subgraph.id} gives {seen} where {meant} was captured.")


def outputs_of(subgraph: Subgraph) -> tuple[Any, ...]:
    """What the subgraph's source computes here from random inputs."""
    import torch

    namespace: dict[str, Any] = {}
    # parsed and emitted again: what runs is a list of tensor operations, whatever the file held
    exec(compile(emit(parse(subgraph.code)), subgraph.id, "exec"), namespace)
    torch.manual_seed(SEED)
    with torch.no_grad():
        return tuple(namespace["GraphModule"]()(*(random_tensor(spec) for spec in subgraph.inputs)))


def random_tensor(spec: TensorSpec) -> Any:
    """A tensor of that shape, dtype and range."""
    import torch

    dtype = getattr(torch, spec.dtype)
    if dtype is torch.bool:
        return torch.rand(spec.shape) < 0.5
    if dtype.is_floating_point:
        drawn = torch.randn(spec.shape) * (spec.std or 0.1) + (spec.mean or 0.0)
        return drawn.clamp(spec.low, spec.high).to(dtype) if spec.low is not None else drawn.to(dtype)
    return torch.randint(int(spec.low or 0), int(spec.high or 0) + 1, spec.shape, dtype=dtype)


def deduplicated(subgraphs: Sequence[Subgraph]) -> tuple[Subgraph, ...]:
    """One of each structure with equal input shapes and dtypes, the first in the order given."""
    kept: dict[tuple[object, ...], Subgraph] = {}
    for subgraph in subgraphs:
        shapes = tuple((spec.shape, spec.dtype) for spec in subgraph.inputs)
        kept.setdefault((structure(parse(subgraph.code)), shapes), subgraph)
    return tuple(kept.values())


def extract(
    architectures: Sequence[Architecture], recipes: Sequence[Recipe], say: Callable[[str], None]
) -> tuple[Task, ...]:
    """The recipes' tasks, from these architectures."""
    found: dict[str, list[Subgraph]] = {}
    for architecture in architectures:
        before = sum(map(len, found.values()))
        for recipe, subgraph in gathered(architecture, recipes):
            found.setdefault(recipe.name, []).append(subgraph)
        say(f"{architecture.name}: {sum(map(len, found.values())) - before} runs")
    tasks = []
    for recipe in recipes:
        members = sorted(deduplicated(found.get(recipe.name, [])), key=lambda each: each.id)
        if members:
            tasks.append(Task(recipe.name, Family.FUSIBLE, recipe.split, tuple(members)))
    return tuple(tasks)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line of the extractor. Exit code 0, or 1 where a recipe found nothing."""
    parser = argparse.ArgumentParser(prog="python -m passnet_core.corpus.extraction", description=__doc__)
    parser.add_argument(
        "--out", type=Path, required=True, help="a corpus folder; its tasks of the same names are replaced"
    )
    parser.add_argument("--only", nargs="*", metavar="TASK", help="names of tasks; default: all")
    asked = parser.parse_args(arguments)
    recipes = [recipe for recipe in RECIPES if not asked.only or recipe.name in asked.only]
    tasks = extract(ARCHITECTURES, recipes, lambda text: print(text, file=sys.stderr, flush=True))
    asked.out.mkdir(parents=True, exist_ok=True)
    for task in tasks:
        shutil.rmtree(asked.out / task.id, ignore_errors=True)
        write_task(task, asked.out / task.id)
        print(f"{task.id:40} {len(task.subgraphs):3} subgraphs  {task.split}")
    write_index(asked.out)
    missing = sorted({recipe.name for recipe in recipes} - {task.id for task in tasks})
    if missing:
        print(f"No model gave these runs: {', '.join(missing)}.", file=sys.stderr)
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
