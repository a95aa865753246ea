"""Submissions to the leaderboard: bundles that somebody hands in to be judged here, and the rules by which they appear.

What a submitter says of them counts for nothing: only outcomes of this server's own judge decide."""

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from passnet_core.errors import BadInput
from passnet_core.records import UNDECIDED, WRONG, Bundle, Outcome, Verdict

LONGEST_TITLE = 80
LONGEST_SHOWN_NAME = 80
LONGEST_REMARK = 500
"""How many characters a note, or a reason to take back, may have."""
REFUSED = frozenset({Verdict.CHEAT, Verdict.REJECTED})
"""With one of these on any subgraph, the whole submission is not accepted."""
BY_OWNER, BY_OPERATOR, BY_JUDGE = "its owner", "an operator", "the judge"
Figure = tuple[float, float, float]
"""A figure and the ends of its 95% interval."""


class SubmissionState(StrEnum):
    JUDGING = "being judged"
    NOT_JUDGED = "could not be judged"
    """The judge could say nothing of it, for reasons that are not the submission's."""
    NOT_ACCEPTED = "not accepted"
    ON_BOARD = "on the board"
    TAKEN_BACK = "taken back"


@dataclass(frozen=True)
class Submission:
    """What was handed in. It never changes, except that its owner may put a name on it, or take the name off.

    id: permanent. version: from 1, grows with each submission of this owner and title. owner: the id of a person, or ""
    for who may do everything here. code: four characters that stand for an owner without a name; the same for all
    versions. name: as the owner wants to be shown, or "". bundles: (task id, the bundle's digest). submitted_at: ISO
    8601, UTC. note: the owner's words."""

    id: str
    title: str
    version: int
    owner: str
    code: str
    name: str
    bundles: tuple[tuple[str, str], ...]
    submitted_at: str
    note: str = ""

    @property
    def shown(self) -> str:
        """Who it is by, as others see it."""
        return self.name or f"anonymous {self.code}"

    @property
    def label(self) -> str:
        """What it is called among other solvers."""
        return f"{self.shown}: {self.title}, version {self.version}"


@dataclass(frozen=True)
class Judgement:
    """What the judge found when it had finished with all bundles of a submission.

    accepted, total: numbers of subgraphs. timed: on how many it was timed. refusal: why it is not accepted, or "".
    unjudged: why the judge could say nothing of it, or "". device: its name. judge_digest: of the judge. finished_at:
    ISO 8601, UTC. score, geometric_mean: as in ranking.LeaderboardRow, over all its subgraphs; None: nothing was
    timed."""

    accepted: int
    total: int
    timed: int
    refusal: str
    unjudged: str
    device: str
    judge_digest: str
    finished_at: str
    score: Figure | None = None
    geometric_mean: Figure | None = None

    @property
    def good(self) -> bool:
        """Whether a submission with this judgement is on the board."""
        return not self.refusal and not self.unjudged


@dataclass(frozen=True)
class JudgingRound:
    """One judging of a submission. number: from 1. runs: (task id, the run's id). judgement: None until all runs have
    finished."""

    number: int
    runs: tuple[tuple[str, str], ...]
    started_at: str
    judgement: Judgement | None = None


@dataclass(frozen=True)
class Retraction:
    """That a submission was taken back. at: ISO 8601, UTC. by: one of BY_OWNER, BY_OPERATOR and BY_JUDGE, the latter
    with the judge's digest."""

    reason: str
    at: str
    by: str


@dataclass(frozen=True)
class BoardEntry:
    """A submission and what became of it. rounds: in their order, at least one. appeared_at: when it was first seen to
    be on the board, ISO 8601 in UTC; "" if it never was: then only its owner and operators see it."""

    submission: Submission
    rounds: tuple[JudgingRound, ...]
    retraction: Retraction | None = None
    appeared_at: str = ""

    @property
    def state(self) -> SubmissionState:
        if self.retraction is not None:
            return SubmissionState.TAKEN_BACK
        if self._last_good is not None:
            return SubmissionState.ON_BOARD
        judgement = self.round.judgement
        if judgement is None:
            return SubmissionState.JUDGING
        return SubmissionState.NOT_JUDGED if judgement.unjudged else SubmissionState.NOT_ACCEPTED

    @property
    def round(self) -> JudgingRound:
        """The judging that counts: the newest after which it was on the board, or else the newest."""
        return self._last_good or self.rounds[-1]

    @property
    def judgement(self) -> Judgement | None:
        return self.round.judgement

    @property
    def reason(self) -> str:
        """Why it is not on the board, or why it is not ranked there though it is; "" if there is nothing to say."""
        if self.retraction is not None:
            return self.retraction.reason
        judgement = self.judgement
        if judgement is None:
            return ""
        if judgement.good and not judgement.timed:
            return "Right, not timed: it was judged without a GPU, so it is not ranked by speed."
        return judgement.refusal or judgement.unjudged

    @property
    def being_judged(self) -> bool:
        """Whether a judging of it has not finished, be it the first one or a later one."""
        return self.rounds[-1].judgement is None

    @property
    def run_ids(self) -> tuple[str, ...]:
        """The runs of all rounds."""
        return tuple(run_id for each in self.rounds for _, run_id in each.runs)

    @property
    def judged_run_ids(self) -> tuple[str, ...]:
        """The runs of the rounds in which the judge has judged it."""
        judged = [each for each in self.rounds if each.judgement is not None and not each.judgement.unjudged]
        return tuple(run_id for each in judged for _, run_id in each.runs)

    @property
    def _last_good(self) -> JudgingRound | None:
        good = [each for each in self.rounds if each.judgement is not None and each.judgement.good]
        return good[-1] if good else None


def new_submission(
    bundles: Mapping[str, Bundle], title: str, *, owner: str, at: str, name: str = "", note: str = ""
) -> Submission:
    """A submission with an id of its own, as its first version. Raises BadInput for a text that is none or too long."""
    return Submission(
        id=secrets.token_hex(6),
        title=_line(title, "title", LONGEST_TITLE, least=1),
        version=1,
        owner=owner,
        code=secrets.token_hex(2).upper(),
        name=shown_name(name),
        bundles=tuple((task_id, bundle.digest) for task_id, bundle in sorted(bundles.items())),
        submitted_at=at,
        note=_line(note, "note", LONGEST_REMARK),
    )


def shown_name(name: str) -> str:
    """A name as it is shown. Raises BadInput for one that is too long, or that could be taken for nobody's."""
    name = _line(name, "name", LONGEST_SHOWN_NAME)
    if name.casefold().startswith("anonymous"):
        raise BadInput("A name cannot begin with 'anonymous'. Choose another one, or leave it empty to stay anonymous.")
    return name


def retraction(reason: str, *, at: str, by: str) -> Retraction:
    """Raises BadInput for a reason that is none or too long."""
    return Retraction(_line(reason, "reason", LONGEST_REMARK, least=1), at, by)


def judgement_of(outcomes: Sequence[Outcome], total: int, problem: str = "") -> Judgement:
    """What these outcomes of all bundles of a submission say of it. total: how many there should be. problem: why some
    are missing.

    It is accepted if at least one subgraph is and the judge found neither a cheat nor code that a rule rejects. Where
    the judge could say nothing of a subgraph, it says nothing of the submission either."""
    refused = [each for each in outcomes if each.verdict in REFUSED]
    unjudged = [each for each in outcomes if not each.verdict.judged]
    accepted = sum(each.verdict.accepted for each in outcomes)
    undecided = [each for each in outcomes if each.verdict in UNDECIDED]
    refusal = missing = ""
    if refused:
        refusal = _said(refused[0])
    elif unjudged:
        missing = _said(unjudged[0])
    elif len(outcomes) < total or not outcomes:
        missing = problem or f"Only {len(outcomes)} of {total} subgraphs were judged."
    elif not accepted and undecided:
        missing = _said(undecided[0])
    elif not accepted:
        refusal = f"Not accepted on any of {total} subgraphs. {_said(outcomes[0])}"
    environments = [each.environment for each in outcomes if each.environment is not None]
    return Judgement(
        accepted=accepted,
        total=total,
        timed=sum(each.speedup() is not None for each in outcomes),
        refusal=refusal,
        unjudged=missing,
        device=", ".join(dict.fromkeys(each.device for each in environments)),
        judge_digest=environments[-1].judge_digest if environments else "",
        finished_at=max((each.finished_at for each in outcomes), default=""),
    )


def found_out(now: Sequence[Outcome], before: Sequence[Outcome], *, at: str) -> Retraction | None:
    """Why a later judging takes a submission back: a cheat, what a rule rejects, or wrong values where the judge had
    accepted it before. None: it does not."""
    right = {(each.task_id, each.subgraph_id) for each in before if each.verdict.accepted}
    for each in now:
        if each.verdict in REFUSED or (each.verdict in WRONG and (each.task_id, each.subgraph_id) in right):
            digest = "" if each.environment is None else f" {each.environment.judge_digest}"
            return Retraction(_said(each), at, f"{BY_JUDGE}{digest}")
    return None


def ranked_entries(entries: Sequence[BoardEntry]) -> tuple[BoardEntry, ...]:
    """Those that are ranked: of each owner and title, the newest version that is on the board."""
    newest: dict[tuple[str, str], BoardEntry] = {}
    for each in sorted(entries, key=lambda each: each.submission.version):
        if each.state is SubmissionState.ON_BOARD:
            newest[each.submission.owner, each.submission.title] = each
    return tuple(newest.values())


def labels_of(entries: Sequence[BoardEntry]) -> dict[str, str]:
    """What each is called among other solvers, by its id: no two alike, as anybody may take any name."""
    labels = [each.submission.label for each in entries]
    return {
        each.submission.id: label if labels.count(label) == 1 else f"{label} ({each.submission.id})"
        for each, label in zip(entries, labels)
    }


def with_judgement(entry: BoardEntry, number: int, judgement: Judgement) -> BoardEntry:
    """The entry with a round that has finished."""
    rounds = (replace(each, judgement=judgement) if each.number == number else each for each in entry.rounds)
    return replace(entry, rounds=tuple(rounds))


def entry_to_json(entry: BoardEntry) -> dict[str, Any]:
    """A submission in the documented JSON form. It does not tell who its owner is."""
    submission, judgement = entry.submission, entry.judgement
    taken = entry.retraction
    return {
        "submission": submission.id,
        "title": submission.title,
        "version": submission.version,
        "by": submission.shown,
        "note": submission.note,
        "submitted_at": submission.submitted_at,
        "state": entry.state.value,
        "reason": entry.reason,
        "accepted": judgement.accepted if judgement else None,
        "total": judgement.total if judgement else None,
        "timed": judgement.timed if judgement else None,
        "aggregate_score": judgement.score if judgement else None,
        "geometric_mean": judgement.geometric_mean if judgement else None,
        "device": judgement.device if judgement else "",
        "judge_digest": judgement.judge_digest if judgement else "",
        "judged_at": judgement.finished_at if judgement else "",
        "taken_back": None if taken is None else {"reason": taken.reason, "at": taken.at, "by": taken.by},
        "bundles": dict(submission.bundles),
        "runs": dict(entry.round.runs),
    }


def _said(outcome: Outcome) -> str:
    return f"{outcome.task_id}, {outcome.subgraph_id}: {outcome.verdict.value}. {outcome.reason}"


def _line(text: str, what: str, most: int, *, least: int = 0) -> str:
    text = " ".join(text.split())
    if not least <= len(text) <= most or not text.isprintable():
        raise BadInput(f"A {what} has {least} to {most} printable characters. Choose another one.")
    return text
