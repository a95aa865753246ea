"""Extract tasks from models: capture with torch.compile, cut into fusible runs, deduplicate, check that they run.

python -m tools.extraction --out FOLDER
"""

import argparse
import contextlib
import importlib
import inspect
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from passnet_core.corpus.catalogue import write_index
from passnet_core.corpus.cutting import is_result, label, runs, standalone
from passnet_core.corpus.evaluation import Specs
from passnet_core.corpus.layout import write_task
from passnet_core.corpus.members import deduplicated
from passnet_core.corpus.running import drawn, module_of
from passnet_core.errors import BadInput
from passnet_core.graphs.ir import DeviceLiteral, Graph, Listed, Node, NodeKind, Ref, Slice, Symbol, Value
from passnet_core.graphs.source import emit
from passnet_core.records import Family, Subgraph, Task, TensorSpec
from tools.architectures import ARCHITECTURES, Architecture
from tools.recipes import RECIPES, Recipe

SEED = 1024
DTYPES = ("float32", "float16", "bfloat16")
BINS = ("num_mel_bins", "feature_projection_input_dim", "input_feat_per_channel")
"""Settings that hold the number of mel bins a model reads; configurations differ in the name."""


# --- Capturing: torch.compile hands over the graph, an interpreter walks it with the real tensors ---


def captured(architecture: Architecture, dtype: str, size: tuple[str, int, int]) -> Iterator[tuple[Graph, Specs]]:
    """Yield every graph that torch.compile makes of one forward call, with the spec of each node's value."""
    import torch

    from passnet_core.whole_models.capturing import Recorder

    torch._dynamo.reset()
    torch.manual_seed(SEED)
    model = built(architecture).to(getattr(torch, dtype))
    graphs: list[tuple[Graph, Specs]] = []

    def keep(module: Any, examples: Sequence[Any]) -> Callable[..., Any]:
        def walk(*inputs: Any) -> Any:
            recorder = Recorder(module)
            result = recorder.run(*inputs)
            graphs.append((graph_of(module.graph), recorder.values))
            return result

        return walk

    with torch.no_grad():
        torch.compile(model, backend=keep, dynamic=False)(**example_inputs(model, size, dtype))
    yield from graphs


def traced(
    model: Any, dtype: str, size: tuple[str, int, int], known: Sequence[Sequence[tuple[Graph, Specs]]]
) -> list[tuple[Graph, Specs]]:
    """Return the graphs of one forward call at another size or dtype without computing them. Shapes are those that
    torch.compile foresees; statistics are those of the same value in a computed graph.

    model: as built, in that dtype. known: the model's computed graphs at other sizes and dtypes; later ones are tried
    first. Raises BadInput if the graphs differ from each of these in more than sizes.
    """
    import torch
    import torch.utils._pytree as pytree

    torch._dynamo.reset()
    torch.manual_seed(SEED)
    graphs: list[tuple[Graph, Any]] = []

    def keep(module: Any, examples: Sequence[Any]) -> Callable[..., Any]:
        graphs.append((graph_of(module.graph), module.graph))
        (result,) = module.graph.output_node().args

        def blank(*inputs: Any) -> Any:
            return pytree.tree_map_only(torch.fx.Node, _blank, result)

        return blank

    with torch.no_grad():
        torch.compile(model, backend=keep, dynamic=False)(**example_inputs(model, size, dtype))
    for like in reversed(known):
        with contextlib.suppress(BadInput):
            if len(like) == len(graphs):
                return [_resized(*new, *old) for new, old in zip(graphs, like, strict=True)]
    raise BadInput("The model computes something else at this size.")


def _blank(node: Any) -> Any:
    """Return zeros in place of a node's value. The system never allocates memory that nobody touches."""
    import torch

    value = node.meta["example_value"]
    return torch.zeros(value.shape, dtype=value.dtype) if isinstance(value, torch.Tensor) else value


def _resized(graph: Graph, source: Any, old: Graph, known: Specs) -> tuple[Graph, Specs]:
    import torch

    if [(node.kind, node.kind is NodeKind.INPUT or node.target) for node in graph.nodes] != [
        (node.kind, node.kind is NodeKind.INPUT or node.target) for node in old.nodes
    ]:
        raise BadInput("Other operations than at the other size.")
    foreseen = {node.name: node.meta.get("example_value") for node in source.nodes}
    specs: Specs = {}
    for node, before in zip(graph.nodes, old.nodes, strict=True):
        value, spec = foreseen[node.name], known[before.name]
        if isinstance(value, torch.Tensor) != (spec is not None):
            raise BadInput(f"{node.name} is no longer what it was at the other size.")
        if spec is not None:
            dtype = str(value.dtype).removeprefix("torch.")
            floating = spec.mean is not None
            if floating != value.is_floating_point() or (not floating and dtype != spec.dtype):
                raise BadInput(f"{node.name} was {spec.dtype} at the other size and is {dtype}.")
            spec = replace(spec, name=node.name, shape=tuple(value.shape), dtype=dtype)
        specs[node.name] = spec
    return graph, specs


def built(architecture: Architecture) -> Any:
    """Build the model in evaluation mode with random weights."""
    transformers = importlib.import_module("transformers")
    config = getattr(transformers, architecture.config)(**dict(architecture.settings))
    config._attn_implementation = "eager"
    if hasattr(config, "use_cache"):
        config.use_cache = False
    return getattr(transformers, architecture.model)(config).eval()


def example_inputs(model: Any, size: tuple[str, int, int], dtype: str) -> dict[str, Any]:
    """Return random inputs of that size for the parameters that the model's forward takes."""
    import torch

    kind, batch, length = size
    config = model.config
    taken = inspect.signature(model.forward).parameters
    vocabulary = min(getattr(config.get_text_config(), "vocab_size", None) or 1000, 1000)
    given: dict[str, Any] = {}
    if kind in ("text", "text+image"):
        mask = torch.ones(batch, length, dtype=torch.int64)
        given["input_ids"] = torch.randint(2, vocabulary - 2, (batch, length))
        mask[:, length - length // 8 :] = 0 if batch > 1 else 1
        given["attention_mask"] = mask
    if kind != "text":
        vision = getattr(config, "vision_config", config)
        bins = next((getattr(config, name) for name in BINS if hasattr(config, name)), 80)
        shape = {
            "text+image": lambda: (batch, 3, vision.image_size, vision.image_size),
            "image": lambda: (batch, 3, length, length),
            "video": lambda: (batch, config.num_frames, 3, length, length),
            "audio": lambda: (batch, length),
            "waveform": lambda: (batch, 1, length),
            "mel": lambda: (batch, bins, length),
            "frames": lambda: (batch, length, bins),
        }[kind]()
        names = ("pixel_values",) if kind in ("text+image", "image", "video") else ("input_values", "input_features")
        name = next((name for name in names if name in taken), names[0])
        given[name] = torch.randn(shape).to(getattr(torch, dtype))
    if "decoder_input_ids" in taken:
        given["decoder_input_ids"] = torch.randint(2, vocabulary - 2, (batch, length // 2 if kind == "text" else 16))
    return {name: value for name, value in given.items() if name in taken}


# --- From torch.fx to plain data ---


def graph_of(graph: Any) -> Graph:
    """Return the captured graph as plain data. Constants that it holds become inputs."""
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
    """Return the dotted path of a function, as torch.fx prints it."""
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


# --- Gathering the runs that the recipes ask for ---


def gathered(architecture: Architecture, recipes: Sequence[Recipe]) -> Iterator[tuple[Recipe, Subgraph]]:
    """Yield the subgraphs that this architecture contributes to each recipe, in every dtype and size."""
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
    """Run the emitted source. Raises BadInput if it gives other shapes or dtypes than were captured."""
    seen = [(tuple(each.shape), str(each.dtype).removeprefix("torch.")) for each in outputs_of(subgraph)]
    meant = [(spec.shape, spec.dtype) for spec in expected if spec]
    if seen != meant:
        raise BadInput(f"{subgraph.task_id}/{subgraph.id} gives {seen} where {meant} was captured.")


def outputs_of(subgraph: Subgraph) -> tuple[Any, ...]:
    """Return what the subgraph's source computes on the CPU from random inputs."""
    import torch

    torch.manual_seed(SEED)
    with torch.no_grad():
        return tuple(module_of(subgraph, "cpu")(*(drawn(spec, "cpu") for spec in subgraph.inputs)))


def extract(
    architectures: Sequence[Architecture], recipes: Sequence[Recipe], say: Callable[[str], None]
) -> tuple[Task, ...]:
    """Return the recipes' tasks, from these architectures. say: gets a line of progress per architecture."""
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
    """Run the extractor's command line. Returns exit code 0, or 1 if a recipe found nothing."""
    parser = argparse.ArgumentParser(prog="python -m tools.extraction", description=__doc__)
    parser.add_argument(
        "--out", type=Path, required=True, help="corpus folder; its tasks of the same names are replaced"
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
