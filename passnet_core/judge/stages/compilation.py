"""Find out whether the kernels that a bundle launches in Triton's interpreter compile for a GPU as well.

The launches of all plans are compiled in the compiler, which has the bundle's kernels alone."""

import ast
import contextlib
import hashlib
import importlib.metadata
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Self

from passnet_core.bundles.triton_functions import readable_tree, triton_functions
from passnet_core.judge.protocol.messages import CandidateEnd, CandidateFault
from passnet_core.judge.stages.findings import Census
from passnet_core.judge.stages.remembered import Remembered
from passnet_core.judge.stages.verify_session import VerifySession, WatchedCall
from passnet_core.judge.supervisor.machine import judge_digest
from passnet_core.judge.supervisor.worker_process import WorkerProcess
from passnet_core.records import Bundle, Evidence, Finding, Verdict

TOPIC = "compiled kernels"
MOST_LAUNCHES = 32
"""How many different launches are compiled."""
COMPILING_S, AHEAD_S = 60.0, 10.0
"""How long the compiler may take for all of them, and for those of the first call while others are compared. What it
has not answered by the former is no objection."""
REFUSED = re.compile(
    r"(?P<kernel>\w+), (?P<file>[^,\s]+\.py) line (?P<line>\d{1,9}), (?P<said>does not compile.*)", re.DOTALL
)
"""A refusal that names a line, as worker/compiler_process.py writes it."""
ALIGNED_BYTES = 16
"""Triton compiles other code for pointers and numbers that this divides."""

Json = Mapping[str, Any]


def refused_kernels(session: VerifySession, calls: Sequence[WatchedCall]) -> Census | None:
    """COMPILE_FAILED if Triton's compiler refuses a launch of these calls for a GPU; None if it refuses none."""
    asked = session.asked
    if (planned := asked.interpreted) is None or asked.job.bundle is None:
        return None
    answers, unknown = _questions(asked.job.bundle, calls, asked.remembered)
    if unknown:
        asked.report("compiling the kernels for a GPU")
        try:
            answers |= _answers(planned.compiler, unknown, COMPILING_S, asked.remembered)
        except CandidateFault as fault:
            if fault.who != "compiler":
                raise
            return None
    refused = list(dict.fromkeys(filter(None, answers.values())))
    if not refused:
        return None
    evidence = Evidence(TOPIC, "\n".join(refused))
    places = tuple(filter(None, (_finding(each, asked.job.bundle) for each in refused)))
    return Census(Verdict.COMPILE_FAILED, refused[0], (), (evidence,), places)


def _finding(refusal: str, bundle: Bundle) -> Finding | None:
    """A refusal as a finding on the line of the bundle that it names; None if it names none."""
    named = REFUSED.match(refusal)
    files = {file.name: file.code.count("\n") + 1 for file in bundle.files}
    if named is None or not 0 < int(named["line"]) <= files.get(named["file"], 0):
        return None
    said = f"{named['kernel']} {named['said']}"
    return Finding(named["file"], int(named["line"]), 1, Verdict.COMPILE_FAILED.value, said, "", fatal=False)


class CompilingAhead:
    """Has Triton compile the kernels of the first watched call on another core, while further draws are compared, and
    remembers the answers for refused_kernels. If that fails, refused_kernels meets the same failure.

    Leaving the context waits for the end."""

    def __init__(self, session: VerifySession) -> None:
        self.session = session
        self._thread = ThreadPoolExecutor(1)
        self._tried = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *ending: object) -> None:
        self._thread.shutdown()

    def begin(self) -> None:
        """Begin, unless it was tried before, or no call was watched yet."""
        asked, planned = self.session.asked, self.session.asked.interpreted
        if self._tried or not self.session.watched or planned is None or asked.job.bundle is None or asked.beside_gpu:
            return
        self._tried = True
        _, unknown = _questions(asked.job.bundle, self.session.watched, asked.remembered)
        if unknown:
            with contextlib.suppress(CandidateEnd):
                self._thread.submit(_answers, planned.compiler, unknown, AHEAD_S, asked.remembered)


def _questions(
    bundle: Bundle, calls: Sequence[WatchedCall], remembered: Remembered
) -> tuple[dict[str, str | None], dict[str, Json]]:
    """What is remembered of the launches of these calls, each kind once, by their questions; None: nothing. And the
    launches of which nothing is."""
    launches = launched(bundle, [plan for each in calls for plan in each.watched.plans])
    questions = {_question(bundle, each): each for each in launches}
    answers = {each: remembered.find(each) for each in questions}
    return answers, {each: questions[each] for each, answer in answers.items() if answer is None}


def _answers(
    executor: WorkerProcess, launches: Mapping[str, Json], seconds: float, remembered: Remembered
) -> dict[str, str]:
    """Triton's answer to each of these launches that it answered in time, which is remembered. Raises CandidateFault.

    launches: by their questions."""
    found: dict[str, str] = {}
    for question, answer in zip(launches, executor.compile_kernels(list(launches.values()), seconds)):
        # None says nothing about this launch: it may say more the next time
        if answer is not None:
            found[question] = answer
            remembered.keep(question, answer)
    return found


def launched(bundle: Bundle, calls: Sequence[Json]) -> list[Json]:
    """The launches of these recorded calls, in the form of worker/compiler_process.py, each kind once.

    Numbers that are no constants of a kernel are replaced by others for which Triton compiles the same. What a
    candidate worker has recorded in another form is left out."""
    constants = {(file.name, name): names for file in bundle.files for name, names in _constants(file.code)}
    found: dict[str, Json] = {}
    for call in calls:
        for step in launches_of(call.get("steps", ())):
            if len(found) >= MOST_LAUNCHES:
                continue
            try:
                names = constants.get((step["launch"]["file"], step["launch"]["name"]), frozenset())
                launch = _launch(step, names)
                found.setdefault(json.dumps(launch, sort_keys=True), launch)
            except (KeyError, TypeError, ValueError, AttributeError):
                continue
    return list(found.values())


def launches_of(steps: Sequence[Json]) -> Iterator[Json]:
    """The launches among the steps of a plan, those of each choice of an autotuner included."""
    for step in steps:
        if "launch" in step:
            yield step
        for each in step.get("choices", ()):
            yield from launches_of(each)


def _launch(step: Json, constants: frozenset[int | str]) -> Json:
    return {
        **step["launch"],
        "args": [_typed(each, index in constants) for index, each in enumerate(step["args"])],
        "kwargs": {name: _typed(each, name in constants) for name, each in step["kwargs"].items()}
        | {name: _typed(each, True) for name, each in step["options"].items()},
        "tuned": bool(step["tuned"]),
        "constants": [{name: each[name] for name in ("file", "name", "value")} for each in step["constants"]],
    }


def _typed(described: Json, constant: bool) -> Json:
    """An argument as far as it decides what is compiled. described: by StepRecorder."""
    match described:
        case {"tensor": {"dtype": str(dtype), "offset": offset}}:
            return {"dtype": dtype, "aligned": int(offset) % ALIGNED_BYTES == 0}
        case {"constexpr": inner}:
            return _typed(inner, True)
        case {"value": value}:
            return {"value": value if constant else _standing_for(value)}
        case {"float": str(text)}:
            return {"float": text} if constant else {"value": 1.5}
        case {"dtype": str(name)}:
            return {"torch": name}
        case {"tuple": list(items)} | {"list": list(items)}:
            return {"items": [_typed(each, constant) for each in items]}
        case {"descriptor": dict(fields)}:
            sizes = {name: _plain(each) for name, each in fields.items() if name != "base"}
            return {"descriptor": _typed(fields["base"], constant), **sizes}
        case {"type": _} | {"function": _}:
            return described
    raise ValueError("no argument of a launch")


def _plain(described: Json) -> Any:
    """The value of a tensor descriptor's field."""
    match described:
        case {"tuple": list(items)} | {"list": list(items)}:
            return [_plain(each) for each in items]
        case {"value": value}:
            return value
    raise ValueError("no field of a descriptor")


def _standing_for(value: Any) -> Any:
    """A number for which the same is compiled: Triton tells apart 1, multiples of 16, and integers of other widths."""
    if isinstance(value, bool) or not isinstance(value, int) or value == 1:
        return value
    wide = 0 if -(1 << 31) <= value < 1 << 31 else 1 << 40 if value < 1 << 63 else 1 << 63
    return wide + (16 if value % 16 == 0 else 3)


def _constants(code: str) -> Iterator[tuple[str, frozenset[int | str]]]:
    """The parameters that are constants of each Triton function of a file, by index and name."""
    for name, function in triton_functions(readable_tree(code)).items():
        places = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
        named = {
            place
            for index, each in enumerate(places)
            if each.annotation is not None and "constexpr" in ast.unparse(each.annotation)
            for place in (index, each.arg)
        }
        yield name, frozenset(named)


def _question(bundle: Bundle, launch: Json) -> str:
    """Names everything that decides whether a launch compiles."""
    versions = [judge_digest(), importlib.metadata.version("triton")]
    parts = [bundle.digest, json.dumps(launch, sort_keys=True), *versions]
    return "compiles " + hashlib.sha256("\0".join(parts).encode()).hexdigest()
