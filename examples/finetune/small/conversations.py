"""A conversation as the tokens of a small model: what it is told, and the tool calls that it makes.

    <|user|>```python … ```<|call|>write_file<|argument|>fused.py<|argument|>import torch …<|call|>evaluate<|end|>
    <|result|>Wrote fused.py: a pass.<|result|>float32/0/…: right, not timed. …<|call|>finish<|end|>

The system's message is left out: it is the same in every conversation, and would take half of a small context. So are
reasoning, words beside calls, and the machine. The model learns its answers up to <|end|>, except those to which the
export gave the weight 0: it reads mistakes, and does not learn them.

A small model learns by heart what it sees often. Therefore values are named in the bundles as in the task, so that a
pattern is a passage of the task; and names and constants are drawn anew each time a conversation is read, so that only
copying them helps."""

import itertools
import json
import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from torch.utils.data import Dataset

from passnet_core.records.trajectories import Message, ToolCall
from passnet_core.solvers.llm.chat import written
from passnet_core.solvers.llm.files import BundleFiles
from passnet_core.solvers.llm.tools import TOOLS, calls_in, replay
from passnet_core.training.repairing.plain import INPUTS, VALUES

PAD, USER, CALL, ARGUMENT, RESULT, END = "<|pad|>", "<|user|>", "<|call|>", "<|argument|>", "<|result|>", "<|end|>"
SPECIAL = (PAD, USER, CALL, ARGUMENT, RESULT, END)
NAMES = ("in_", "IN_", "tmp_", "TMP_")
"""What the names of inputs and computed values begin with, in capitals for the sizes of launches."""
NUMBERED = re.compile(rf"(?<![A-Za-z0-9_])({'|'.join(NAMES)})(\d+)")
MOST_NUMBERED = 40
PARAMETERS = {tool.name: list(tool.parameters["properties"]) for tool in TOOLS}

Part = tuple[str, bool]
"""A stretch of text, and whether the model writes it."""
Encoded = tuple[list[int], list[bool]]
"""The tokens of a conversation, and which of them the model writes."""


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


def _numbered(beginnings: Iterable[str]) -> re.Pattern[str]:
    """A name of one of these beginnings and a number, also at the beginning of a longer name."""
    return re.compile(rf"(?<![A-Za-z0-9_])({'|'.join(beginnings)})(\d+)")


NAMED_AS_IN_TASKS = tuple(
    (_numbered(map(style, names)), style(name))
    for names, name in ((INPUTS, "in_"), (VALUES, "tmp_"))
    for style in (str.lower, str.upper)
)
FLOAT = re.compile(r"(?<![\w.])(\d+\.\d+(?:e[-+]\d+)?|\d+e[-+]\d+)(?![\w.])")


def named_as_in_tasks(parts: Iterable[Part]) -> list[Part]:
    """The conversation with inputs named in_0 and values tmp_0, whatever the style of its bundle."""
    made = []
    for text, own in parts:
        for names, name in NAMED_AS_IN_TASKS:
            text = names.sub(rf"{name}\g<2>", text)
        made.append((text, own))
    return made


def drawn_anew(parts: Sequence[Part], chance: random.Random) -> list[Part]:
    """The conversation with other numbers in its names and other floating-point constants, the same everywhere. Half of
    them keep their numbers, since tasks count from 0."""
    everything = "".join(text for text, _ in parts)
    inputs = sorted({int(number) for name, number in NUMBERED.findall(everything) if name.lower() == "in_"})
    kept, start = chance.random() < 0.5, chance.randrange(MOST_NUMBERED - 12)
    others = dict(zip(inputs, inputs if kept else chance.sample(range(len(inputs) + 2), len(inputs))))
    constants = {each: each if chance.random() < 0.5 else _constant(each, chance) for each in FLOAT.findall(everything)}

    def number(found: re.Match[str]) -> str:
        name, old = found[1], int(found[2])
        return f"{name}{others[old] if name.lower() == 'in_' else old if kept else old + start}"

    return [
        (FLOAT.sub(lambda found: constants[found[0]], NUMBERED.sub(number, text)), own) for text, own in parts
    ]  # fmt: skip


def _constant(old: str, chance: random.Random) -> str:
    """Another constant with as many digits and the same exponent; 0.0 and 1.0 stay, since code may depend on them."""
    if float(old) in (0.0, 1.0):
        return old
    digits, exponent, power = old.partition("e")
    return "".join(str(chance.randint(1, 9)) if each in "123456789" else each for each in digits) + exponent + power


# --- tokens ---


def encoded(parts: Iterable[Part], tokenizer: Tokenizer) -> Encoded:
    """The tokens of a conversation."""
    tokens: list[int] = []
    own: list[bool] = []
    for text, is_own in parts:
        ids = tokenizer.encode(text).ids
        tokens += ids
        own += [is_own] * len(ids)
    return tokens, own


class Conversations(Dataset[Encoded]):
    """Conversations to learn, by number and seed: each seed draws other names and constants.

    Each is there as it was, and as it would have gone without mistakes, and is cut off where the context ends. One of
    which no answer begins before that is left out."""

    def __init__(self, rows: Iterable[Mapping[str, Any]], tokenizer: Tokenizer, context: int) -> None:
        self._tokenizer, self._context = tokenizer, context
        both = (each for row in rows for each in (row["messages"], straightened(row["messages"])) if each)
        parts = [named_as_in_tasks(parts_of(messages)) for messages in both]
        lengths = [
            len(each.ids) for each in tokenizer.encode_batch(["".join(text for text, _ in each) for each in parts])
        ]
        fit = [length <= context or any(encoded(each, tokenizer)[1][:context]) for each, length in zip(parts, lengths)]
        self._parts = list(itertools.compress(parts, fit))
        self.lengths = [min(each, context) for each in itertools.compress(lengths, fit)]
        """About how many tokens each has."""

    def __len__(self) -> int:
        return len(self._parts)

    def __getitem__(self, place: tuple[int, str]) -> Encoded:
        number, seed = place
        tokens, own = encoded(drawn_anew(self._parts[number], random.Random(seed)), self._tokenizer)
        return tokens[: self._context], own[: self._context]
