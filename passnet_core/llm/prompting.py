"""The prompts, which are files, filled in for a task. Their digest is kept with every turn."""

from collections.abc import Sequence
from pathlib import Path
from string import Template

from passnet_core.llm.chat import Tool
from passnet_core.records import Device, Subgraph, Task, TensorSpec, digest_of
from passnet_core.trajectory import Message, Role

FOLDER = Path(__file__).with_name("prompts")
MOST_SOURCES = 4
"""Different sources that are shown in full; all shapes are."""


def digest() -> str:
    """Of all prompt files."""
    return digest_of({path.name: path.read_text(encoding="utf-8") for path in sorted(FOLDER.glob("*.md"))})


def opening(
    task: Task, device: Device, contract: str, pages: Sequence[str], tools_in_text: Sequence[Tool] = ()
) -> tuple[Message, ...]:
    """What a conversation begins with. tools_in_text: for a model that knows no tool calls."""
    system = _filled("system.md", contract=contract.strip())
    if tools_in_text:
        system += "\n" + _filled("text.md", tools="\n".join(map(_in_text, tools_in_text)))
    said = _filled(
        "task.md",
        task=task.id,
        count=str(len(task.subgraphs)),
        device="a GPU (CUDA)" if device is Device.CUDA else "a CPU with Triton's interpreter: values only, no times",
        subgraphs=_subgraphs(task.subgraphs),
        pages=", ".join(pages),
    )
    return (Message(Role.SYSTEM, system), Message(Role.USER, said))


def _filled(name: str, **values: str) -> str:
    return Template((FOLDER / name).read_text(encoding="utf-8")).substitute(values)


def _in_text(tool: Tool) -> str:
    properties = tool.parameters["properties"]
    arguments = ", ".join(f"{name} ({each.get('description', '')})" for name, each in properties.items())
    return f"- `{tool.name}`: {tool.description}" + (f" Arguments: {arguments}." if arguments else "")


def _subgraphs(subgraphs: Sequence[Subgraph]) -> str:
    """Every source once, with the inputs of each subgraph that has it."""
    by_source: dict[str, list[Subgraph]] = {}
    for subgraph in subgraphs:
        by_source.setdefault(subgraph.code, []).append(subgraph)
    parts = []
    for number, (code, members) in enumerate(by_source.items()):
        inputs = "\n".join(f"- {each.id}: {', '.join(map(_input, each.inputs))}" for each in members)
        source = f"```python\n{code.strip()}\n```\n" if number < MOST_SOURCES else "Another source, much like these:\n"
        parts.append(source + inputs)
    return "\n\n".join(parts)


def _input(spec: TensorSpec) -> str:
    return f"{spec.name} {spec.dtype} {list(spec.shape)}"
