"""What coding agents read by address, and the prompts that people choose in their agents."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, unquote

from passnet_core.access.personal import PersonalService
from passnet_core.errors import BadInput, UnknownItem
from passnet_core.outside import quoted
from passnet_core.records.text import is_valid
from passnet_core.server.program_forms import StoredBundle, WholeTask
from passnet_core.solvers.llm.conversation import guide

MARKDOWN, JSON, PYTHON = "text/markdown", "application/json", "text/x-python"
PROMPTS_FOLDER = Path(__file__).parent / "prompts"


@dataclass(frozen=True)
class Resource:
    """Something to read. uri: its address. kind: its MIME type."""

    uri: str
    kind: str
    text: str


@dataclass(frozen=True)
class ResourceTemplate:
    """The addresses of one kind of resource. uri: with the names of its parts in braces. read: takes these parts."""

    uri: str
    name: str
    description: str
    kind: str
    read: Callable[..., str]

    def parts(self, uri: str) -> tuple[str, ...] | None:
        """The parts of an address of this kind; None if it is of another."""
        pattern = re.sub(r"\\\{\w+\\\}", "([^/]+)", re.escape(self.uri))
        found = re.fullmatch(pattern, uri)
        return None if found is None else tuple(map(unquote, found.groups()))


@dataclass(frozen=True)
class AgentPrompt:
    """A prompt. arguments: what its text names, with what each is."""

    name: str
    title: str
    arguments: Mapping[str, str]


def guide_page(page: str) -> str:
    """A page of the guide. Raises UnknownItem."""
    pages = guide()
    if page not in pages:
        raise UnknownItem(f"The guide has no page {quoted(page)}. It has: {', '.join(pages)}.")
    return pages[page]


def _page(access: PersonalService, page: str) -> str:
    return guide_page(page)


def _task(access: PersonalService, task: str) -> str:
    return WholeTask.model_validate(access.corpus.task(task)).model_dump_json(indent=2)


def _bundle(access: PersonalService, bundle: str) -> str:
    return StoredBundle.of(access.bundle(bundle)).model_dump_json(indent=2)


def _file(access: PersonalService, bundle: str, file: str) -> str:
    codes = {each.name: each.code for each in access.bundle(bundle).files}
    if file not in codes:
        raise UnknownItem(f"The bundle has no file {quoted(file)}. It has: {', '.join(codes)}.")
    return codes[file]


TEMPLATES = (
    ResourceTemplate("passnet://guide/{page}", "guide", "A page of the guide.", MARKDOWN, _page),
    ResourceTemplate("passnet://tasks/{task}", "task", "A task: the sources and inputs of its subgraphs.", JSON, _task),
    ResourceTemplate("passnet://bundles/{bundle}", "bundle", "A stored bundle with its files.", JSON, _bundle),
    ResourceTemplate("passnet://bundles/{bundle}/{file}", "file", "A file of a stored bundle.", PYTHON, _file),
)
"""All that can be read. A bundle is named by its digest, or by the name of a reference bundle."""
PROMPTS = (
    AgentPrompt("write_passes", "Write passes for a task", {"task": "the task's name, as list_tasks gives it"}),
    AgentPrompt(
        "improve_bundle",
        "Make a bundle faster on a task",
        {"task": "the task's name", "bundle": "its digest, or the name of a reference bundle"},
    ),
)


def pages() -> Mapping[str, str]:
    """The addresses of the guide's pages, by name. Tasks and bundles are too many to be listed."""
    return {page: f"passnet://guide/{quote(page, safe='')}" for page in guide()}


def read(access: PersonalService, uri: str) -> Resource:
    """What is at an address. Raises UnknownItem if it is nothing that this person sees."""
    for template in TEMPLATES:
        if (parts := template.parts(uri)) is not None and all(map(is_valid, parts)):
            return Resource(uri, template.kind, template.read(access, *parts))
    known = ", ".join(each.uri for each in TEMPLATES)
    raise UnknownItem(f"There is nothing at {quoted(uri)}. There are: {known}.")


def prompt_text(access: PersonalService, name: str, given: Mapping[str, str]) -> str:
    """The text of a prompt. Raises BadInput for a wrong request, and UnknownItem for what this person does not see."""
    prompt = next((each for each in PROMPTS if each.name == name), None)
    if prompt is None:
        known = ", ".join(each.name for each in PROMPTS)
        raise BadInput(f"There is no prompt {quoted(name)}. There are: {known}.")
    if sorted(given) != sorted(prompt.arguments):
        raise BadInput(f"The prompt {name} takes these arguments, and no others: {', '.join(prompt.arguments)}.")
    access.corpus.task(given["task"])
    if "bundle" in given:
        access.bundle(given["bundle"])
    return (PROMPTS_FOLDER / f"{name}.md").read_text(encoding="utf-8").format(**given)
