"""The cases of the fuzzer. Each is drawn from a seed and a number, and says what was wrong with what it saw."""

import argparse
import contextlib
import io
import json
import math
import re
import signal
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from types import FrameType

from passnet_core.cli.main import parser
from passnet_core.errors import BadInput
from passnet_core.settings import read_settings
from tests.contract.model_server import Said, saying, serving
from tests.example_playground import TASK_ID
from tests.fuzzing.altering import ODD_NUMBERS, ODD_TEXTS, ODD_VALUES, alter_folder, altered, copied, listing
from tests.fuzzing.ground import Ground, Ran
from tests.waiting import seconds

LONGEST_LINE = 2000
"""Most characters of a line that tells of an error."""
OF_PYTHON = re.compile(
    r"Traceback|\b(Key|Type|Index|Attribute|Recursion|UnicodeEncode|UnicodeDecode)Error|object at 0x"
)
"""What a message must not speak of."""
MOST_TOLD = 1500
"""Most characters that say what a case did."""


@dataclass(frozen=True)
class Case:
    """One case. told: what was done, as far as that can be said in a line. problems: what was wrong."""

    told: str
    problems: tuple[str, ...]


class TookTooLong(BaseException):
    """A case has not ended in time. Nothing that catches exceptions catches this one."""


@contextlib.contextmanager
def limited() -> Iterator[None]:
    def late(number: int, frame: FrameType | None) -> None:
        raise TookTooLong

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(math.ceil(seconds(5)))
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def problems_of(argv: Sequence[str], ran: Ran, codes: Sequence[int]) -> Iterator[str]:
    """What is wrong with how a command ended. codes: those with which it may end."""
    if ran.code not in codes:
        yield f"exit code {ran.code}: {ran.err[-300:]}"
    for name, text in (("output", ran.out), ("errors", ran.err)):
        if any("\ud800" <= each <= "\udfff" for each in text):
            yield f"the {name} cannot be encoded: {text[:300]!a}"
    if found := OF_PYTHON.search(ran.err):
        yield f"a message of Python's own: {ran.err[max(0, found.start() - 200) : found.end() + 200]}"
    longest = max((len(line) for line in ran.err.splitlines()), default=0)
    if longest > LONGEST_LINE:
        yield f"a line of {longest:,} characters: {ran.err[:200]}"
    if ran.code == 2 and not re.search(r"^(Error|Warning): \S", ran.err, flags=re.M):
        yield f"no word of what is wrong: {ran.err[:200]!r}"
    if "--json" in argv and ran.out and not {"-h", "--help"} & set(argv):
        try:
            json.loads(ran.out, parse_constant=_refuse)
        except ValueError as error:
            yield f"the output is not JSON ({error}): {ran.out[:200]}"


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON")


def commanded(
    ground: Ground,
    argv: Sequence[str],
    *,
    kept: Sequence[Path] = (),
    codes: Sequence[int] = (0, 1, 2),
    home: Path | None = None,
    data: Path | None = None,
) -> Case:
    """Run a command. kept: files and folders that it must leave as they are."""
    before = [listing(each) for each in kept]
    told = _told(argv)
    # what the command raises ends the case
    print(told)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        with limited(), contextlib.chdir(ground.nowhere):
            ran = ground.command(argv, home=home, data=data)
    problems = list(problems_of(argv, ran, codes))
    problems += [f"a warning of Python's own: {each.message}" for each in warned if _is_ours(each)]
    if before != [listing(each) for each in kept]:
        problems.append("it has changed its input")
    return Case(told, tuple(problems))


def _told(argv: Sequence[str]) -> str:
    return " ".join(each if each.isprintable() and each else repr(each) for each in argv)[:400]


def _is_ours(warned: warnings.WarningMessage) -> bool:
    return not issubclass(warned.category, DeprecationWarning | ResourceWarning)


# --- kinds of cases --------------------------------------------------------------------------------------------------


def tasks(rng: Random, ground: Ground, place: Path) -> Case:
    """A command that reads the folder of a task."""
    source = rng.choice(ground.tasks)
    folder = copied(source, place / source.name)
    alter_folder(rng, folder)
    home = place / "home"
    argv, codes = rng.choice(
        [
            (("corpus", "show", str(folder)), (0, 2)),
            (("corpus", "show", str(folder), "--json"), (0, 2)),
            (("corpus", "import", str(place), "--json"), (0, 2)),
            (("check", str(folder), "--bundle", str(ground.bundle), "--json"), (0, 1, 2)),
            (("evaluate", str(folder), "--bundle", str(ground.bundle)), (0, 1, 2)),
            (("evaluate", str(folder), "--solver", "inductor", "--json"), (0, 1, 2)),
            (("solve", str(folder), "--solver", "rules", "--out", str(place / "out")), (0, 1, 2)),
        ]
    )
    return commanded(ground, argv, kept=[folder], codes=codes, home=home)


def corpora(rng: Random, ground: Ground, place: Path) -> Case:
    """A command over a corpus with a broken task, or an import after a broken list."""
    data = copied(ground.data, place / "data")
    listed = copied(ground.listed, place / "list.txt")
    if rng.randrange(3):
        alter_folder(rng, data)
    else:
        listed.write_bytes(altered(rng, listed.read_bytes()))
    argv = rng.choice(
        [
            ("corpus", "list"),
            ("corpus", "list", "--json"),
            ("corpus", "matches", "--bundle", str(ground.bundle), "--json"),
            ("corpus", "import", str(data), "--list", str(listed)),
            ("corpus", "import", str(data / "tasks"), "--list", str(listed), "--json"),
            ("corpus", "export", TASK_ID, str(place / "out")),
            ("lessons", "list"),
            ("lessons", "show", "adding", "--json"),
            ("lessons", "test"),
            ("lessons", "grade", "adding", "--bundle", str(ground.bundle), "--json"),
            ("runs", "list", "--json"),
        ]
    )
    return commanded(ground, argv, kept=[data, listed], home=place / "home", data=data)


def bundles(rng: Random, ground: Ground, place: Path) -> Case:
    """A command that reads the folder of a bundle."""
    folder = copied(ground.bundle, place / "bundle")
    alter_folder(rng, folder)
    argv = rng.choice(
        [
            ("check", TASK_ID, "--bundle", str(folder)),
            ("evaluate", TASK_ID, "--bundle", str(folder), "--json"),
            ("evaluate", TASK_ID, "--bundle", str(folder), "--outcomes", str(place / "outcomes.jsonl")),
            ("corpus", "matches", "--bundle", str(folder), "--json"),
            ("lessons", "grade", "adding", "--bundle", str(folder)),
        ]
    )
    return commanded(ground, argv, kept=[folder])


def files(rng: Random, ground: Ground, place: Path) -> Case:
    """A command that reads a file of outcomes or a run, or the attempts of a batch."""
    kind = rng.choice(("outcomes", "run", "attempts"))
    given = copied(getattr(ground, kind), place / kind)
    if given.is_dir():
        alter_folder(rng, given)
    else:
        given.write_bytes(altered(rng, given.read_bytes()))
    formats = ("openai", "trl", "axolotl", "llamafactory", "verl", "preferences", "prompts")
    out = str(place / "out.jsonl")
    by_kind: Mapping[str, Sequence[tuple[str, ...]]] = {
        "outcomes": [("score", "--outcomes", str(given)), ("score", "--outcomes", str(given), "--json")],
        "run": [
            ("runs", "import", str(given)),
            ("runs", "import", str(given), "--json"),
            ("lessons", "collect", str(given)),
            ("score", "--outcomes", str(given), "--json"),
        ],
        "attempts": [
            ("trajectories", "list", str(given), "--json"),
            ("trajectories", "compare", str(given)),
            ("trajectories", "export", str(given), "--failed", "--format", rng.choice(formats), "--out", out),
            ("trajectories", "export", str(given), "--card", "--out", out, "--bundles", str(place / "bundles")),
        ],
    }
    return commanded(ground, rng.choice(by_kind[kind]), kept=[given], home=place / "home")


def homes(rng: Random, ground: Ground, place: Path) -> Case:
    """A command over a home whose files were altered: the store, the imported tasks, what is remembered."""
    home = copied(ground.home, place / "home")
    alter_folder(rng, home)
    argv = rng.choice(
        [
            ("corpus", "list", "--json"),
            ("runs", "list", "--json"),
            ("score", "--run", ground.run_id, "--json"),
            ("report", ground.run_id, "--out", str(place / "report.html")),
            ("evaluate", TASK_ID, "--bundle", str(ground.bundle), "--json"),
            ("trajectories", "list", "--json"),
        ]
    )
    # the store is the machine's: one that cannot be read is no wrong use
    return commanded(ground, argv, codes=(0, 1, 2, 3), home=home)


NOT_RUN = {("app",), ("serve-judge",), ("serve-api",), ("mcp",), ("model",), ("corpus", "cut"),
           ("corpus", "download"), ("trajectories", "make"), ("prepare",), ("lessons", "test")}  # fmt: skip
"""Commands whose flags are read, but which do not end soon, or ask another machine."""


ODD_ARGUMENTS = tuple(each for each in ODD_TEXTS if each != "/")
"""Without the root: to look for tasks in all of this machine's files takes long, and is what was asked for."""


def lines(rng: Random, ground: Ground, place: Path) -> Case:
    """A command line with odd arguments, or settings with odd values."""
    if not rng.randrange(6):
        return _settings(rng)
    names, command = _drawn_command(rng)
    argv = [*names, *_arguments(rng, command, ground, place)]
    if rng.randrange(8) == 0:
        argv.insert(rng.randrange(len(argv) + 1), rng.choice(ODD_ARGUMENTS))
    if names in NOT_RUN:
        return _only_read(argv)
    # what a command is told to write may be one of the inputs
    kept = [each for each in (ground.bundle, ground.outcomes, ground.run, ground.attempts) if str(each) not in argv]
    return commanded(ground, argv, kept=kept, home=place / "home")


def _drawn_command(rng: Random) -> tuple[tuple[str, ...], argparse.ArgumentParser]:
    found: list[tuple[tuple[str, ...], argparse.ArgumentParser]] = []

    def look(names: tuple[str, ...], each: argparse.ArgumentParser) -> None:
        below = [action for action in each._actions if isinstance(action, argparse._SubParsersAction)]
        for action in below:
            for name, command in action.choices.items():
                look((*names, name), command)
        if not below:
            found.append((names, each))

    look((), parser())
    return rng.choice(found)


def _arguments(rng: Random, command: argparse.ArgumentParser, ground: Ground, place: Path) -> Iterator[str]:
    given = [str(each) for each in (ground.bundle, ground.outcomes, ground.run, ground.attempts, ground.tasks[0])]
    new = str(place / "new")
    usual = (*given, ground.run_id, TASK_ID, "adding", "1", "2", "0.5", new, new, f"{place}/new.jsonl")
    for action in command._actions:
        if action.dest == "help" or (action.option_strings and not action.required and rng.randrange(4)):
            continue
        if action.option_strings:
            yield rng.choice(action.option_strings)
        if action.nargs == 0:
            continue
        for _ in range(rng.choice((1, 1, 2)) if action.nargs in ("*", "+") else 1):
            kind = rng.randrange(5)
            if action.choices is not None and kind:
                yield str(rng.choice(list(action.choices)))
            else:
                yield rng.choice(ODD_ARGUMENTS if kind == 0 else ODD_NUMBERS if kind == 1 else usual)


def _only_read(argv: Sequence[str]) -> Case:
    out, err = io.StringIO(), io.StringIO()
    told = _told(argv)
    print(told)
    code = 0
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            parser().parse_args(argv)
    except SystemExit as refused:
        code = refused.code if isinstance(refused.code, int) else 1
    return Case(told, tuple(problems_of((), Ran(code, out.getvalue(), err.getvalue()), (0, 2))))


VARIABLES = (
    "PASSNET_HOME", "PASSNET_DATA", "PASSNET_PYTHON", "PASSNET_ISOLATION", "PASSNET_SPARES", "PASSNET_PRICES",
    "PASSNET_OWN_MODELS", "PASSNET_JUDGE_TOKENS", "OPENAI_BASE_URL", "OPENAI_API_KEY", "PASSNET_MODEL",
)  # fmt: skip


def _settings(rng: Random) -> Case:
    # no environment holds a NUL
    values = {name: rng.choice((*ODD_TEXTS, *ODD_NUMBERS)).replace("\0", "") for name in rng.sample(VARIABLES, 2)}
    told = repr(values)[:400]
    print(told)
    try:
        read_settings(values)
    except BadInput as error:
        return Case(told, tuple(problems_of((), Ran(2, "", f"Error: {error}"), (2,))))
    return Case(told, ())


def replies(rng: Random, ground: Ground, place: Path) -> Case:
    """A model whose server answers with altered bytes, calls and texts."""
    said = [_said(rng) for _ in range(rng.choice((1, 2, 3)))]
    out = place / "out"
    with serving({"m": saying(*said)}) as server:
        argv = (
            "solve", TASK_ID, "--out", str(out), "--model", "m", "--base-url", server.base_url, "--turns", "4",
            "--seconds", "20", "--patience", "0", "--protocol", rng.choice(("auto", "tools", "text")),
        )  # fmt: skip
        asked = commanded(ground, argv, codes=(0, 1, 3), home=place / "home")
    told = f"{argv[-1]}: {[_shown(each) for each in said]}"
    listed = commanded(ground, ("trajectories", "list", str(out), "--json"), codes=(0, 2), home=place / "home")
    exported = commanded(
        ground,
        ("trajectories", "export", str(out), "--failed", "--out", str(place / "out.jsonl"), "--json"),
        codes=(0, 1, 2),
        home=place / "home",
    )
    return Case(told, (*asked.problems, *listed.problems, *exported.problems))


def _shown(said: Said) -> str:
    return repr(said.raw or said.text or said.calls or said.deltas or said.status)[:150]


CALLS = (
    ("write_file", json.dumps({"name": "Pass.py", "code": "def pattern(x):\n    return x\n"})),
    ("patch_file", json.dumps({"name": "Pass.py", "old": "x", "new": "y"})),
    ("delete_file", '{"name": "Pass.py"}'),
    ("read_guide", '{"page": "contract"}'),
    ("explain", '{"subgraph": "float32/48/toy"}'),
    ("inductor_code", '{"subgraph": "float32/48/toy"}'),
    ("evaluate", "{}"),
    ("check", "{}"),
    ("finish", "{}"),
)
STREAM = (
    b'data: {"id": "1", "object": "chat.completion.chunk", "created": 0, "model": "m", "choices": [{"index": 0,'
    b' "delta": {"role": "assistant", "content": "Let me see.", "tool_calls": [{"index": 0, "id": "c1", "type":'
    b' "function", "function": {"name": "check", "arguments": "{}"}}]}, "finish_reason": null}]}\n\n'
    b'data: {"id": "1", "object": "chat.completion.chunk", "created": 0, "model": "m", "choices": [{"index": 0,'
    b' "delta": {}, "finish_reason": "tool_calls"}], "usage": {"prompt_tokens": 3, "completion_tokens": 4,'
    b' "total_tokens": 7}}\n\ndata: [DONE]\n\n'
)


def _said(rng: Random) -> Said:
    match rng.randrange(6):
        case 0:
            return Said(raw=altered(rng, STREAM), headers=[("Content-Type", "text/event-stream")])
        case 1:
            return Said(rng.choice(ODD_TEXTS) or "?", status=rng.choice((400, 401, 404, 413, 422, 429, 500, 503)))
        case 2:
            texts = [*ODD_TEXTS, "```python\n" + rng.choice(ODD_TEXTS), '<tool_call>{"name": "check"}</tool_call>']
            return Said("".join(rng.choices(texts, k=3)))
        case 3:
            field = rng.choice(("content", "reasoning", "reasoning_content", "tool_calls", "refusal", "role"))
            return Said("Well.", deltas=[{field: rng.choice((*ODD_VALUES, *ODD_TEXTS))}])
        case _:
            calls = [_call(rng) for _ in range(rng.choice((1, 1, 2, 5)))]
            return Said(calls=calls, finish=rng.choice(("", "", "length", "stop", "odd")))


def _call(rng: Random) -> tuple[str, str]:
    name, arguments = rng.choice(CALLS)
    if not rng.randrange(6):
        name = rng.choice(ODD_TEXTS)
    if rng.randrange(3):
        arguments = altered(rng, arguments.encode()).decode(errors="replace")
    return name, arguments
