"""A model that follows a script: it writes a bundle with mistakes, reads what the judge says, and mends what is wrong.

It says nothing but tool calls: every sentence of such a conversation is the judge's or the program's."""

import difflib
import json
import random
import re
import threading
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass

from passnet_core.errors import PlaygroundError
from passnet_core.records import Verdict
from passnet_core.records.trajectories import Message, Role, ToolCall
from passnet_core.solvers.llm.chat import Reply, Tool
from passnet_core.training.repairing.alterations import Files, Flaw, Shows, with_mistakes

NAME = "scripted-repair"

Call = tuple[str, Mapping[str, str]]
"""A tool, and its arguments in the order of its description."""
Script = Generator[Sequence[Call], str, None]
"""Yields the calls of an answer, and is sent the text of their results."""


class Harmless(PlaygroundError):
    """The judge accepted a bundle with a mistake in it, or a mended one failed: there is nothing to learn from that."""


@dataclass(frozen=True)
class Plan:
    """What happens in a conversation. right: the files without mistakes. mistakes: in the order in which they are
    mended. given: whether the bundle stands in the first message, so that the model only has to mend it. in_text:
    whether tools are called in plain text. seed: of everything else."""

    right: Files
    mistakes: tuple[Flaw, ...]
    given: bool
    in_text: bool
    seed: str

    @property
    def begun_with(self) -> dict[str, str]:
        """The files of the bundle in the first message, or those that are written first."""
        return with_mistakes(self.right, self.mistakes)


class ScriptedModel:
    """Plays one conversation. Raises Harmless when the judge does not see what the script expects."""

    def __init__(self, plan: Plan) -> None:
        self.name = NAME
        self._plan = plan
        self._script = script(plan)
        self._begun = False
        self._calls = 0

    def complete(
        self,
        messages: Sequence[Message],
        tools: Sequence[Tool],
        *,
        cancelled: threading.Event,
        on_text: Callable[[str], None] = lambda text: None,
        most_tokens: int | None = None,
    ) -> Reply:
        """The next answer of the script."""
        calls = self._script.send(_results(messages)) if self._begun else next(self._script)
        self._begun = True
        if self._plan.in_text:
            return Reply(Message(Role.MODEL, "\n\n".join(map(in_text, calls))), "stop")
        made = []
        for name, arguments in calls:
            self._calls += 1
            made.append(ToolCall(f"call_{self._calls}", name, json.dumps(arguments)))
        return Reply(Message(Role.MODEL, calls=tuple(made)), "tool_calls")


def _results(messages: Sequence[Message]) -> str:
    """What the tools said about the last answer."""
    last = max(place for place, each in enumerate(messages) if each.role is Role.MODEL)
    return "\n\n".join(each.text for each in messages[last + 1 :])


def in_text(call: Call) -> str:
    """A call as a heading with its first argument, and a code block for each further one."""
    name, arguments = call
    first, *others = [*arguments.values(), ""][: max(len(arguments), 1)]
    blocks = [f"```python\n{each.removesuffix(chr(10))}\n```" for each in others]
    return "\n".join([f"### {name} {first}".strip(), *blocks])


# --- the script ---

CHECK: Call = ("check", {})
EVALUATE: Call = ("evaluate", {})
FINISH: Call = ("finish", {})

GUIDES = {Shows.RULES: "contract", Shows.LOADING: "contract", Shows.MATCHING: "contract", Shows.VALUES: "verdicts"}
"""The page of the guide that is about what was found."""


def script(plan: Plan) -> Script:
    """Write, check, evaluate; mend what was found; finish when the judge accepts."""
    chance = random.Random(plan.seed)
    left = list(plan.mistakes)
    files = plan.begun_with
    first: list[Call] = (
        [] if plan.given else [("write_file", {"name": name, "code": code}) for name, code in files.items()]
    )
    if chance.random() < 0.3:
        first.reverse()
    words = ""
    if first and chance.random() < 0.4:
        words = yield first
        first = []
    trial = _trial(left, chance)
    words = yield [*first, trial]
    while True:
        if (found := _refused(words)) is None:
            if trial == EVALUATE:
                if left:
                    raise Harmless("A bundle with a mistake was accepted.")
                break
            trial = EVALUATE
            words = yield [trial]
            continue
        if not left:
            raise Harmless("A mended bundle was not accepted.")
        mistake = left.pop(0)
        if (asked := _questions(found, mistake, chance)) is not None:
            yield [asked]
        wanted = with_mistakes(plan.right, left)
        mending = list(mends(files, wanted, chance, whole_lines=plan.in_text))
        if chance.random() < 0.12:
            # an answer that the tools refuse, and then the right one
            yield [_slip(mending[0], files, chance)]
        files = wanted
        trial = _trial(left, chance, sure=mistake.shows is Shows.VALUES)
        if chance.random() < 0.25:
            yield mending
            words = yield [trial]
        else:
            words = yield [*mending, trial]
    yield [FINISH]


def _trial(left: Sequence[Flaw], chance: random.Random, *, sure: bool = False) -> Call:
    """What to ask the judge. It evaluates a bundle that does not load or match for seconds; a check takes none."""
    if left and left[0].shows in (Shows.LOADING, Shows.MATCHING):
        return CHECK
    return EVALUATE if sure or chance.random() < 0.35 else CHECK


REFUSED = re.compile(
    rf"(?:^|: )([^\s:]+): ({'|'.join(re.escape(each.value) for each in Verdict if not each.accepted)})[.:]",
    re.MULTILINE,
)
"""A subgraph and its verdict, as in the results of check and evaluate."""


def _refused(words: str) -> tuple[str, str] | None:
    """The first subgraph that the judge did not accept, and its verdict; None: it accepted all."""
    found = REFUSED.search(words)
    return None if found is None else (found[1], found[2])


def _questions(found: tuple[str, str], mistake: Flaw, chance: random.Random) -> Call | None:
    """What is asked before the bundle is mended, if anything."""
    luck = chance.random()
    if luck < 0.08:
        return "read_guide", {"page": GUIDES[mistake.shows]}
    return ("explain", {"subgraph": found[0]}) if luck < 0.25 else None


# --- mending ---


def mends(now: Files, wanted: Files, chance: random.Random, *, whole_lines: bool = False) -> Iterator[Call]:
    """The calls that turn these files into those, mostly patches of the smallest passages of whole lines that occur
    once. whole_lines: each passage ends with the end of a line, as code blocks do."""
    for name, code in wanted.items():
        if name not in now or (now[name] != code and chance.random() < 0.1):
            yield "write_file", {"name": name, "code": code}
        elif now[name] != code:
            for old, new in patches(now[name], code, never_empty=whole_lines):
                if not whole_lines:
                    old, new = _trimmed(old, new, now[name])
                yield "patch_file", {"name": name, "old": old, "new": new}
    for name in now:
        if name not in wanted:
            yield "delete_file", {"name": name}


def patches(now: str, wanted: str, *, never_empty: bool = False) -> Iterator[tuple[str, str]]:
    """The passages to replace one after the other, and what replaces them: the fewest whole lines that occur once.

    never_empty: what replaces them is at least a line, since an empty code block is one as well."""
    lines, others = now.splitlines(keepends=True), wanted.splitlines(keepends=True)
    blocks = difflib.SequenceMatcher(None, lines, others, autojunk=False).get_opcodes()
    for tag, start, end, other_start, other_end in reversed(blocks):
        if tag == "equal":
            continue
        while (
            not (old := "".join(lines[start:end]))
            or "".join(lines).count(old) != 1
            or (never_empty and other_start == other_end)
        ):
            if start and lines[start - 1 : start] == others[other_start - 1 : other_start]:
                start, other_start = start - 1, other_start - 1
            else:
                end, other_end = end + 1, other_end + 1
        yield old, "".join(others[other_start:other_end])
        lines[start:end] = others[other_start:other_end]


def _trimmed(old: str, new: str, code: str) -> tuple[str, str]:
    """The passage without the end of its last line, as long as it still occurs once."""
    if old.endswith("\n") and new.endswith("\n") and code.count(old[:-1]) == 1:
        return old[:-1], new[:-1]
    return old, new


def _slip(right: Call, files: Files, chance: random.Random) -> Call:
    """The call with a mistake that the tools refuse: another argument, a file that is not there, or a passage that
    occurs more than once or not at all."""
    name, arguments = right
    if name != "patch_file":
        return name, {("file" if key == "name" else key): value for key, value in arguments.items()}
    old = arguments["old"]
    repeated = [word for word in re.findall(r"\w+", old) if files[arguments["name"]].count(word) > 1]
    slips: list[Call] = [
        (name, {"path": arguments["name"], "old": old, "new": arguments["new"]}),
        (name, {**arguments, "name": f"pass_{arguments['name']}"}),
    ]
    if repeated:
        slips.append((name, {**arguments, "old": repeated[0]}))
    return chance.choice(slips)
