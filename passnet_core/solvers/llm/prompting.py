"""Fills in the prompt files for a task. Every turn records the digest of these files."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from string import Template

from passnet_core.records import Device, NodeValue, Subgraph, Task, TensorSpec, digest_of
from passnet_core.records.trajectories import Message, Role
from passnet_core.solvers.base import Surroundings
from passnet_core.solvers.llm.chat import Tool

FOLDER = Path(__file__).with_name("prompts")
CONTRACT = "contract"
"""The page of the guide that a model is shown first."""
MOST_SOURCES = 4
"""How many different sources are shown in full. The inputs of all subgraphs are shown."""
MOST_OF_VALUES = 4_000
"""How many characters describe the values of a subgraph's nodes."""


def digest() -> str:
    """The digest of all prompt files."""
    return digest_of({path.name: path.read_text(encoding="utf-8") for path in sorted(FOLDER.glob("*.md"))})


def first_of_sources(subgraphs: Sequence[Subgraph]) -> tuple[Subgraph, ...]:
    """The subgraph whose values are shown, for each source that is shown."""
    return tuple(members[0] for members in tuple(_by_source(subgraphs).values())[:MOST_SOURCES])


def opening(
    task: Task, surroundings: Surroundings, guide: Mapping[str, str], tools_in_text: Sequence[Tool] = ()
) -> tuple[Message, ...]:
    """The first messages of a conversation. guide: the pages that the model may read, by name; it is shown the
    contract. tools_in_text: the tools, for a model that does not support tool calls."""
    device = surroundings.device
    system = _filled("system.md", contract=guide.get(CONTRACT, "").strip())
    if tools_in_text:
        system += "\n" + how_to_call(tools_in_text)
    said = _filled(
        "task.md",
        task=task.id,
        count=str(len(task.subgraphs)),
        device="a GPU (CUDA)" if device is Device.CUDA else "a CPU, with Triton's interpreter: values only, no times",
        machine=_machine(surroundings),
        subgraphs=describe_subgraphs(task.subgraphs, surroundings.values),
        pages=", ".join(page for page in guide if page != CONTRACT),
    )
    return (Message(Role.SYSTEM, system), Message(Role.USER, said))


def how_to_call(tools: Sequence[Tool]) -> str:
    """Tell a model how to call tools in plain text."""
    return _filled("text.md", tools="\n".join(map(_in_text, tools)))


def _filled(name: str, **values: str) -> str:
    return Template((FOLDER / name).read_text(encoding="utf-8")).substitute(values)


def _in_text(tool: Tool) -> str:
    properties = tool.parameters["properties"]
    arguments = ", ".join(f"{name} ({each.get('description', '')})" for name, each in properties.items())
    return f"- `{tool.name}`: {tool.description}" + (f" Arguments: {arguments}." if arguments else "")


def _machine(surroundings: Surroundings) -> str:
    """Describe the judge's machine."""
    known = surroundings.environment
    if known is None:
        return "Nothing else is known about the machine."
    told = _filled("machine.md", device=known.device, torch=known.torch, triton=known.triton)
    gpu = surroundings.accelerator
    if gpu is not None:
        told += _filled(
            "accelerator.md",
            capability=gpu.capability,
            multiprocessors=str(gpu.multiprocessors),
            memory=f"{gpu.memory_bytes / (1 << 30):.0f}",
            bandwidth=f"{gpu.bytes_per_us / 1e3:.0f}",
            l2=f"{gpu.l2_bytes / (1 << 20):.0f}",
        )
    return told.strip()


def _by_source(subgraphs: Sequence[Subgraph]) -> dict[str, list[Subgraph]]:
    by_source: dict[str, list[Subgraph]] = {}
    for subgraph in subgraphs:
        by_source.setdefault(subgraph.code, []).append(subgraph)
    return by_source


def describe_subgraphs(subgraphs: Sequence[Subgraph], values: Mapping[str, Sequence[NodeValue]]) -> str:
    """Each source once, with the inputs of all its subgraphs, and the values of its nodes in the first of them."""
    parts = []
    for number, (code, members) in enumerate(_by_source(subgraphs).items()):
        inputs = "\n".join(f"- {each.id}: {', '.join(map(_input, each.inputs))}" for each in members)
        source = (
            f"```python\n{code.strip()}\n```\n"
            if number < MOST_SOURCES
            else "A further source, similar to those above:\n"
        )
        parts.append(source + inputs)
        first = members[0]
        if number < MOST_SOURCES and (told := _values(values.get(first.id, ()), first)):
            parts.append(_filled("values.md", subgraph=first.id) + told)
    return "\n\n".join(parts)


def _values(values: Sequence[NodeValue], subgraph: Subgraph) -> str:
    """Shapes and dtypes of all nodes except inputs, one line for all nodes that have the same ones."""
    inputs = {spec.name for spec in subgraph.inputs}
    alike: dict[str, list[str]] = {}
    for value in values:
        if value.node in inputs:
            continue
        forms = ", ".join(f"{each.dtype} {list(each.shape)}" for each in value.tensors)
        alike.setdefault(forms, []).append(value.node)
    lines = [f"- {forms}: {', '.join(nodes)}" for forms, nodes in alike.items()]
    told = "\n".join(lines)
    return told if len(told) <= MOST_OF_VALUES else f"{told[:MOST_OF_VALUES]} […]"


def _input(spec: TensorSpec) -> str:
    return f"{spec.name} {spec.dtype} {list(spec.shape)}"
