"""Write outcomes in the documented JSON form of the command line, for other programs and for scoring."""

import json
from collections.abc import Iterable
from typing import Any

from passnet_core.records import (
    CONTENDER_KEYS,
    LEVELS,
    Accuracy,
    Clock,
    Evidence,
    Outcome,
    OutputAccuracy,
    PassMatches,
    Profile,
    Speedup,
    Timing,
    to_json,
)

VERSION = 1
CLOCKS = {
    Clock.END_TO_END: "end_to_end",
    Clock.EVENT: "event",
    Clock.COLD: "event_cold",
    Clock.KERNEL: "kernel",
}
INPUTS = {Profile.PASSNET: "recorded", Profile.STRICT: "strict"}
"""The values of the field "inputs", which was all that a profile decided before the field "profile" existed."""


def published(outcome: Outcome) -> dict[str, Any]:
    """The outcome as one JSON object, whose fields docs/command-line.md describes."""
    accuracy = outcome.accuracy or Accuracy((), ())
    return {
        "version": VERSION,
        "task": outcome.task_id,
        "subgraph": outcome.subgraph_id,
        "subgraph_digest": outcome.subgraph_digest,
        "dtype": outcome.dtype,
        "solver": outcome.solver.value,
        "bundle_digest": outcome.bundle_digest,
        "job_digest": outcome.job_digest,
        "stage": outcome.spec.stage.value,
        "device": outcome.spec.device.value,
        "capture": outcome.spec.capture.value,
        "profile": outcome.spec.profile.value,
        "inputs": INPUTS[outcome.spec.profile],
        "baseline": outcome.spec.baseline.value,
        "trials": outcome.spec.trials,
        "verdict": outcome.verdict.value,
        "accepted": outcome.verdict.accepted,
        "error_class": outcome.error_class.value if outcome.error_class else None,
        "reason": outcome.reason,
        "findings": to_json(outcome.findings),
        "matches": [_matches(each) for each in outcome.match.passes] if outcome.match else [],
        "rewritten": outcome.match.rewritten if outcome.match else None,
        # without the error map, which has thousands of numbers and is for people only
        "outputs": [_output(each, accuracy) for each in accuracy.outputs],
        "drawings": list(accuracy.profiles),
        "reduced": accuracy.reduced,
        "correct_at": [t for t in LEVELS if outcome.accuracy and accuracy.correct_at(t)],
        "smallest_t": outcome.accuracy.smallest_t if outcome.accuracy else None,
        "timings": _by_clock(
            (each, {"median_us": each.median, "samples_us": each.samples, "blocks": each.blocks})
            for each in outcome.timings
        ),
        "speedups": _by_clock(
            (each, {"value": each.value, "low": each.low, "high": each.high}) for each in outcome.speedups
        ),
        "noise": outcome.noise,
        "warnings": list(outcome.warnings),
        "evidence": [_evidence(each) for each in outcome.evidence],
        "environment": to_json(outcome.environment),
        "log_tail": outcome.log_tail,
        "wall_s": outcome.wall_s,
        "finished_at": outcome.finished_at,
    }


def published_line(outcome: Outcome) -> str:
    """The outcome as one line of a JSONL file."""
    return json.dumps(published(outcome), separators=(",", ":"), allow_nan=False) + "\n"


def _output(of: OutputAccuracy, accuracy: Accuracy) -> dict[str, Any]:
    """The output with the figures that people see, also if it was stored with fewer."""
    said = {"level": of.level, "wrong_said": of.wrong_words, "failed_said": accuracy.failed_words(of)}
    known = {key: value for key, value in to_json(of).items() if key != "map"}
    return {**known, "wrong": of.wrong_elements, "wrong_fraction": of.wrong_share, **said}


def _evidence(of: Evidence) -> dict[str, Any]:
    figures = {CONTENDER_KEYS.get(name, name): to_json(value) for name, value in of.figures}
    return {"topic": of.topic, "text": of.text, "figures": figures}


def _matches(of: PassMatches) -> dict[str, Any]:
    return {
        "pass": of.name,
        "count": len(of.matches),
        "matches": to_json(of.matches),
        "miss": to_json(of.miss),
    }


def _by_clock(figures: Iterable[tuple[Timing | Speedup, dict[str, Any]]]) -> dict[str, dict[str, Any]]:
    """The figures by contender and clock."""
    found: dict[str, dict[str, Any]] = {}
    for of, each in figures:
        found.setdefault(CONTENDER_KEYS[of.contender], {})[CLOCKS[of.clock]] = to_json(each)
    return found
