"""A conversation as the tokens of a small model: what it is told, and the tool calls that it makes.

    <|user|>```python … ```<|call|>write_file<|argument|>fused.py<|argument|>import torch …<|call|>evaluate<|end|>
    <|result|>Wrote fused.py: a pass.<|result|>float32/0/…: right, not timed. …<|call|>finish<|end|>

The system's message is left out: it is the same in every conversation, and would take half of a small context. So are
reasoning, words beside calls, and the machine. The model learns its answers up to <|end|>, except those to which the
export gave the weight 0: it reads mistakes, and does not learn them.

A small model learns by heart what it sees often. Therefore values are named in the bundles as in the task, so that a
pattern is a passage of the task; and each time a conversation is read, the numbers in names are drawn anew, and with
them half of the task's constants and sizes, so that only copying them helps."""

import json
import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from passnet_core.records.trajectories import Message, ToolCall
from passnet_core.solvers.llm.chat import written
from passnet_core.solvers.llm.files import BundleFiles
from passnet_core.solvers.llm.tools import TOOLS, calls_in, replay
from passnet_core.training.repairing.plain import INPUTS, VALUES

PAD, USER, CALL, ARGUMENT, RESULT, END = "<|pad|>", "<|user|>", "<|call|>", "<|argument|>", "<|result|>", "<|end|>"
SPECIAL = (PAD, USER, CALL, ARGUMENT, RESULT, END)
NAMES = ("in_", "IN_", "tmp_", "TMP_")
"""What the names of inputs and computed values begin with, in capitals for the sizes of launches."""
MOST_NUMBERED = 40
"""How many numbers a name can have and be one token."""
NAMES_KEPT = 0.2
"""The share of readings that keep the numbers in names."""


def _numbered(beginnings: Iterable[str]) -> re.Pattern[str]:
    """A name of one of these beginnings and a number, also at the beginning of a longer name."""
    return re.compile(rf"(?<![A-Za-z0-9_])({'|'.join(beginnings)})(\d+)")


NUMBERED = _numbered(NAMES)
PARAMETERS = {tool.name: list(tool.parameters["properties"]) for tool in TOOLS}

Part = tuple[str, bool]
"""A stretch of text, and whether the model writes it."""
Encoded = tuple[torch.Tensor, torch.Tensor]
"""The tokens of a conversation, and which of them the model writes; both of shape [tokens]."""


def parts_of(messages: Iterable[Mapping[str, Any]]) -> Iterator[Part]:
    """The parts of a conversation in OpenAI's chat format, with arguments as JSON text."""
    for message in messages:
        if message["role"] == "user":
            yield USER + _shortened(str(message["content"])), False
        elif message["role"] == "tool":
            yield RESULT + str(message["content"]), False
        elif message["role"] == "assistant":
            calls = [_call(**each["function"]) for each in message.get("tool_calls") or ()]
            calls = calls or [_call(each.name, each.arguments) for each in calls_in(str(message["content"]))]
            yield "".join(calls) + END, message.get("weight", 1) != 0


def _shortened(text: str) -> str:
    """A user's words; of the first message only the subgraphs, not the machine on which they are judged."""
    source = text.find("```python")
    return text[source:] if text.startswith("The task is ") and source > 0 else text


def _call(name: str, arguments: str) -> str:
    given = json.loads(arguments or "{}")
    return CALL + name + "".join(ARGUMENT + str(given.get(each, "")) for each in PARAMETERS.get(name, ()))


def straightened(messages: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]] | None:
    """The conversation as it would have gone without a mistake: the files as they were at the end are written and
    evaluated at once. None if nothing was evaluated, or if it begins with a bundle."""
    first = [dict(message) for message in messages if message["role"] in ("system", "user")]
    asked = next((number for number, each in enumerate(messages) if each["role"] == "assistant"), len(messages))
    files, said = BundleFiles(), ""
    results = {str(each.get("tool_call_id")): str(each["content"]) for each in messages if each["role"] == "tool"}
    for message in messages:
        for call in message.get("tool_calls") or ():
            replay(files, ToolCall(call["id"], **call["function"]))
            if call["function"]["name"] == "evaluate":
                said = results.get(call["id"], said)
    if not said or not files.codes or sum(each["role"] == "user" for each in messages[:asked]) != 1:
        return None
    written_files = [("write_file", {"name": name, "code": code}) for name, code in files.codes.items()]
    answers = [BundleFiles().write(name, code) for name, code in files.codes.items()]
    calls = [*written_files, ("evaluate", {})]
    made = [*first, _asking(calls), *({"role": "tool", "content": each} for each in (*answers, said))]
    return [*made, _asking([("finish", {})])]


def _asking(calls: Sequence[tuple[str, Mapping[str, str]]]) -> dict[str, Any]:
    forms = [{"function": {"name": name, "arguments": json.dumps(given)}} for name, given in calls]
    return {"role": "assistant", "content": "", "tool_calls": forms}


def prompt_of(messages: Sequence[Message]) -> str:
    """What a model reads before it answers."""
    return "".join(text for text, _ in parts_of(map(written, messages)))


def calls_of(text: str) -> tuple[ToolCall, ...]:
    """The calls in a model's answer; one that has too few arguments is kept, and its tool will say so."""
    calls = []
    for number, each in enumerate(text.partition(END)[0].split(CALL)[1:]):
        name, *given = each.split(ARGUMENT)
        arguments = dict(zip(PARAMETERS.get(name, ()), given))
        calls.append(ToolCall(f"call_{number}", name, json.dumps(arguments)))
    return tuple(calls)


def train_tokenizer(texts: Iterable[str], size: int, path: Path) -> Tokenizer:
    """Train a byte-level BPE with `size` tokens, the special ones and the names of values included, and write it to a
    file. A name with its number is one token, so that it can be looked up and copied as one."""
    tokenizer = Tokenizer(models.BPE())
    names = [f"{beginning}{number}" for beginning in NAMES for number in range(MOST_NUMBERED)]
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=max(size - len(names), len(SPECIAL) + 256),
        special_tokens=list(SPECIAL),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator((NUMBERED.sub("", text) for text in texts), trainer)
    tokenizer.add_tokens(names)
    tokenizer.save(str(path))
    return tokenizer


# --- names and constants ---


NAMED_AS_IN_TASKS = tuple(
    (_numbered(map(style, names)), style(name))
    for names, name in ((INPUTS, "in_"), (VALUES, "tmp_"))
    for style in (str.lower, str.upper)
)
CONSTANT = re.compile(r"(?<![\w.])(\d+\.\d+(?:e[-+]\d+)?|\d+e[-+]\d+|[1-9]\d{1,4})(?![\w.])")
"""A number in floating point, or an integer of two to five digits, such as a size."""
OF_LAUNCHES = frozenset(["13", "16", "20", "31", "128", "256", "512", "1024", "2048", "4096"])
"""Integers that the code of launches has of its own accord."""


def named_as_in_tasks(parts: Iterable[Part]) -> list[Part]:
    """The conversation with inputs named in_0 and values tmp_0, whatever the style of its bundle."""
    made = []
    for text, own in parts:
        for names, name in NAMED_AS_IN_TASKS:
            text = names.sub(rf"{name}\g<2>", text)
        made.append((text, own))
    return made


def _constant(old: str, chance: random.Random) -> str:
    """Another constant with as many digits and the same exponent; 0.0 and 1.0 stay, since code may depend on them."""
    if float(old) in (0.0, 1.0):
        return old
    digits, exponent, power = old.partition("e")
    return "".join(str(chance.randint(1, 9)) if each in "123456789" else each for each in digits) + exponent + power


# --- tokens ---


@dataclass(frozen=True)
class _Found:
    """A conversation. tokens, own: see Encoded. used: how many numbers its names have, by their beginning. constants:
    those of its task, each with the places of its digits, of shape [occurrences, digits]."""

    tokens: torch.Tensor
    own: torch.Tensor
    used: Mapping[str, int]
    constants: Sequence[tuple[str, torch.Tensor]]


class Conversations:
    """Conversations to learn. Each is there as it was, and as it would have gone without mistakes; both are cut off
    where the context ends. One of which no answer begins before that is left out."""

    def __init__(self, rows: Iterable[Mapping[str, Any]], tokenizer: Tokenizer, context: int) -> None:
        both = (each for row in rows for each in (row["messages"], straightened(row["messages"])) if each)
        told = [named_as_in_tasks(parts_of(messages)) for messages in both]
        encodings = iter(tokenizer.encode_batch([text for parts in told for text, _ in parts]))
        self._found: list[_Found] = []
        for parts in told:
            encoded = [next(encodings) for _ in parts]
            ids = torch.tensor([number for each in encoded for number in each.ids][:context])
            own = torch.tensor([own for each, (_, own) in zip(encoded, parts) for _ in each.ids][:context])
            if own.any():
                texts = [text for text, _ in parts]
                constants = _places(texts, [each.offsets for each in encoded], context)
                self._found.append(_Found(ids, own, _counts(texts), constants))
        self.lengths = [len(each.tokens) for each in self._found]
        """How many tokens each has."""
        self._size = tokenizer.get_vocab_size()
        self._digits = torch.tensor([tokenizer.token_to_id(str(digit)) for digit in range(10)])
        self._names = {
            beginning: torch.tensor([tokenizer.token_to_id(f"{beginning}{number}") for number in range(MOST_NUMBERED)])
            for beginning in NAMES
        }

    def __len__(self) -> int:
        return len(self._found)

    def read(self, number: int, chance: random.Random) -> Encoded:
        """A conversation, of shape [tokens], with other numbers in its names and half of its constants replaced, the
        same everywhere. Some keep the numbers in their names, since tasks count from 0."""
        found = self._found[number]
        tokens, own = found.tokens.clone(), found.own
        for constant, places in found.constants:
            if chance.random() < 0.5:
                new = [int(each) for each in _constant(constant, chance) if each.isdigit()]
                tokens[places] = self._digits[new]
        if chance.random() < NAMES_KEPT:
            return tokens, own
        others = torch.arange(self._size)
        for beginnings, drawn in ((("in_", "IN_"), _exchanged), (("tmp_", "TMP_"), _later)):
            numbers = torch.tensor(drawn(found.used[beginnings[0]], chance))
            for each in beginnings:
                others[self._names[each]] = self._names[each][numbers]
        return others[tokens], own


def _places(
    texts: Sequence[str], offsets: Sequence[Sequence[tuple[int, int]]], context: int
) -> list[tuple[str, torch.Tensor]]:
    """The constants and sizes of the task, which the first text tells, and where the tokens of their digits are in all
    texts. offsets: of the tokens in their texts. A digit is one token."""
    found: dict[str, list[list[int]]] = {each: [] for each in CONSTANT.findall(texts[0]) if each not in OF_LAUNCHES}
    before = 0
    for text, spans in zip(texts, offsets):
        token_at = {start: before + token for token, (start, end) in enumerate(spans) if end == start + 1}
        for match in CONSTANT.finditer(text):
            if match[0] in found:
                digits = [match.start() + place for place, each in enumerate(match[0]) if each.isdigit()]
                found[match[0]].append([token_at[each] for each in digits])
        before += len(spans)
    within = {each: [places for places in at if places[-1] < context] for each, at in found.items()}
    return [(each, torch.tensor(at)) for each, at in within.items() if at]


def _counts(texts: Iterable[str]) -> dict[str, int]:
    used = dict.fromkeys(NAMES, 0)
    for text in texts:
        for beginning, number in NUMBERED.findall(text):
            used[beginning] = max(used[beginning], min(int(number) + 1, MOST_NUMBERED))
    return used


def _exchanged(count: int, chance: random.Random) -> list[int]:
    """Other numbers for all below MOST_NUMBERED, such that the first `count` get small ones in any order."""
    some = min(count + 2, MOST_NUMBERED)
    return [*chance.sample(range(some), some), *range(some, MOST_NUMBERED)]


def _later(count: int, chance: random.Random) -> list[int]:
    """Other numbers for all below MOST_NUMBERED, such that the first `count` keep their order and begin anywhere."""
    start = chance.randrange(MOST_NUMBERED - count + 1)
    return [(number + start) % MOST_NUMBERED for number in range(MOST_NUMBERED)]
