"""Read the corpus in this folder: complete passes whose headers state what they try and which verdict they must get."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from passnet_core.records import (
    Bundle,
    Device,
    EvalSpec,
    Finding,
    Job,
    Outcome,
    PassFile,
    Profile,
    Stage,
    Subgraph,
    Verdict,
)
from tests.adversarial.subgraphs import SUBGRAPHS

FOLDER = Path(__file__).resolve().parent
CHEATS = FOLDER / "cheats"
HONEST = FOLDER / "honest"

ACCEPTED = "accepted"
NEEDS = ("cpu", "gpu")
KEYS = ("Tries", "Family", "Needs", "Verdict", "Planned", "Rule", "Subgraph", "Passes")
REQUIRED = ("Tries", "Family", "Needs", "Verdict", "Subgraph")

DEADLINE_S = 240.0
"""The stated one, part of the digests of jobs. Tests judge with a deadline that grows with the load."""


class BadHeader(Exception):
    """The header of a file is incomplete, or states something impossible."""


@dataclass(frozen=True)
class Entry:
    """One file or folder of the corpus. verdicts: each of these is right; empty for an honest file, which must be
    accepted. planned: those that are right where plans are executed, if they are others. rules: the static rules that
    may reject it; empty for any."""

    path: Path
    name: str
    family: str
    tries: str
    needs_gpu: bool
    verdicts: tuple[Verdict, ...]
    planned: tuple[Verdict, ...]
    rules: tuple[str, ...]
    subgraph: Subgraph
    bundle: Bundle

    @property
    def honest(self) -> bool:
        return not self.right

    @property
    def by_rule(self) -> bool:
        """Whether a static rule must reject it, so that this can be tested without a judge."""
        return self.verdicts == (Verdict.REJECTED,)

    @property
    def right(self) -> tuple[Verdict, ...]:
        """The verdicts that are right, as plans are executed; empty for an honest file."""
        return self.planned or self.verdicts

    @property
    def expected(self) -> str:
        return " | ".join(each.value for each in self.right) or ACCEPTED

    def job(self, device: Device = Device.CPU, *, seed: int | None = None) -> Job:
        """The job for the judge: it verifies values, and on CUDA also measures a file that needs a GPU or is honest."""
        timed = device is Device.CUDA and (self.needs_gpu or self.honest)
        stage = Stage.MEASURE if timed else Stage.VERIFY
        spec = EvalSpec(stage=stage, device=device, profile=Profile.STRICT, seed=seed, deadline_s=DEADLINE_S)
        return Job(self.subgraph, self.bundle, spec)

    def deviation(self, outcome: Outcome) -> str:
        """How the outcome deviates from the header, or an empty string."""
        got = f"got {outcome.verdict.value!r} ({outcome.reason}), expected {self.expected!r}"
        if self.honest:
            return got if not outcome.verdict.accepted or _fatal(outcome.findings) else ""
        if outcome.verdict not in self.right:
            return got
        return self.other_rules(outcome.findings) if outcome.verdict is Verdict.REJECTED else ""

    def other_rules(self, findings: Sequence[Finding]) -> str:
        """Which rules reject it if none of those in its header does, or an empty string."""
        fatal = _fatal(findings)
        if fatal & set(self.rules) or (fatal and not self.rules):
            return ""
        return f"rejected by {', '.join(sorted(fatal)) or 'no rule'}, expected {' or '.join(self.rules) or 'any'}"


def entries(*families: str) -> list[Entry]:
    """The files of these families ("honest" is one), or of all families, sorted by family and name."""
    asked = [folder for folder in _folders() if not families or folder.name in families]
    found = [read(path) for folder in asked for path in _paths(folder)]
    names = [each.name for each in found]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise BadHeader(f"Two files are named {', '.join(sorted(twice))}. Rename one.")
    return found


def read(path: Path) -> Entry:
    """Read one file, or a folder with several. Raises BadHeader, which names the file and says what is wrong."""
    files = [path] if path.is_file() else sorted(path.glob("*.py"))
    codes = {file.name: file.read_text(encoding="utf-8") for file in files}
    headed = [name for name, code in codes.items() if code.startswith("# Tries:")]
    where = path.relative_to(FOLDER) if path.is_relative_to(FOLDER) else path
    if len(headed) != 1:
        raise BadHeader(f"{where}: {len(headed)} of its files begin with '# Tries:'. Exactly one must, its first pass.")
    fields = _fields(codes[headed[0]], str(where))
    family = "honest" if path.parent.name == HONEST.name else path.parent.name
    _demand(fields["Family"] == family, where, f"Family is {fields['Family']!r}, but the file lies in {family!r}")
    _demand(fields["Needs"] in NEEDS, where, f"Needs is {fields['Needs']!r}, not one of {', '.join(NEEDS)}")
    _demand(
        fields["Subgraph"] in SUBGRAPHS, where, f"there is no subgraph {fields['Subgraph']!r} in {', '.join(SUBGRAPHS)}"
    )
    accepted = fields["Verdict"] == ACCEPTED
    _demand(accepted == (family == "honest"), where, "honest files, and only they, have the verdict 'accepted'")
    names = _listed(fields.get("Passes", headed[0]), ",")
    unknown = [name for name in names if name not in codes]
    _demand(not unknown, where, f"Passes names {', '.join(unknown)}, which is not in the folder")
    _demand(path.is_file() or "Passes" in fields, where, "a folder lists its Passes")
    return Entry(
        path=path,
        name=path.stem,
        family=family,
        tries=fields["Tries"],
        needs_gpu=fields["Needs"] == "gpu",
        verdicts=() if accepted else tuple(_verdict(each, where) for each in _listed(fields["Verdict"], "|")),
        planned=tuple(_verdict(each, where) for each in _listed(fields.get("Planned", ""), "|")),
        rules=_listed(fields.get("Rule", ""), "|"),
        subgraph=SUBGRAPHS[fields["Subgraph"]],
        bundle=Bundle(
            passes=tuple(PassFile(name, codes[name]) for name in names),
            helpers=tuple(PassFile(name, code) for name, code in codes.items() if name not in names),
        ),
    )


def _fatal(findings: Sequence[Finding]) -> set[str]:
    return {each.rule for each in findings if each.fatal}


def _folders() -> list[Path]:
    return [*sorted(path for path in CHEATS.iterdir() if path.is_dir()), *([HONEST] if HONEST.is_dir() else [])]


def _paths(folder: Path) -> Iterable[Path]:
    for path in sorted(folder.iterdir()):
        if path.suffix == ".py" or (path.is_dir() and not path.name.startswith(("_", "."))):
            yield path


def _fields(code: str, where: str) -> dict[str, str]:
    """The fields of a header: the comment lines at the top. An indented line continues the key above."""
    fields: dict[str, str] = {}
    key = ""
    for line in code.splitlines():
        begun = re.fullmatch(r"# ([A-Z][a-z]+): *(.+?) *", line)
        more = re.fullmatch(r"# {2,}(.+?) *", line)
        if begun:
            key = begun[1]
            if key not in KEYS or key in fields:
                raise BadHeader(f"{where}: unexpected {key!r} in its header. It has only {', '.join(KEYS)}, each once.")
            fields[key] = begun[2]
        elif more and key:
            fields[key] += f" {more[1]}"
        else:
            break
    missing = [each for each in REQUIRED if each not in fields]
    if missing:
        raise BadHeader(f"{where}: its header lacks {', '.join(missing)}. Write lines such as '# Family: values'.")
    return fields


def _verdict(word: str, where: Path) -> Verdict:
    try:
        return Verdict(word)
    except ValueError:
        raise BadHeader(f"{where}: there is no verdict {word!r}.") from None


def _listed(text: str, separator: str) -> tuple[str, ...]:
    return tuple(each.strip() for each in text.split(separator) if each.strip())


def _demand(holds: bool, where: Path, problem: str) -> None:
    if not holds:
        raise BadHeader(f"{where}: {problem}.")
