"""How each verdict and phase is shown: icon, colour, what has the problem, and one next step."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from passnet_core.records import Phase, Verdict

Tone = Literal["green", "blue", "orange", "red", "gray"]


@dataclass(frozen=True)
class Words:
    icon: str
    tone: Tone
    concern: str
    """What has the problem: your pass, this subgraph or the system; empty if there is none."""
    next_step: str
    gist: str = ""
    """What to add after the verdict's name; empty if the name says enough."""


YOURS = "your pass"
VERDICTS: Mapping[Verdict, Words] = {
    Verdict.INFRASTRUCTURE: Words(
        "report", "gray", "the system", "Run again. If it fails again, report it with the diagnostics under Help."
    ),
    Verdict.CANCELLED: Words("cancel", "gray", "", "Run again when you are ready."),
    Verdict.EAGER_FAILED: Words(
        "broken_image", "gray", "this subgraph", "Choose another subgraph: this one fails in eager, too."
    ),
    Verdict.REJECTED: Words("gavel", "red", YOURS, "Fix the lines named under Code, then Check again."),
    Verdict.DOES_NOT_LOAD: Words("error", "red", YOURS, "Read the traceback under Log, fix the line, then Check."),
    Verdict.NO_MATCH: Words(
        "link_off", "orange", YOURS, "Look at the nearest miss under Match, and make the pattern agree with the graph."
    ),
    Verdict.REWRITE_FAILED: Words(
        "error", "red", YOURS, "Compare what replacement_args returns with what the replacement takes."
    ),
    Verdict.COMPILE_FAILED: Words("error", "red", YOURS, "Read the compiler's message under Log, and fix the kernel."),
    Verdict.CRASHED: Words(
        "bolt", "red", YOURS, "Look for an access out of bounds: check masks and strides. The end of the log may help."
    ),
    Verdict.TIMED_OUT: Words(
        "timer_off", "red", YOURS, "Look for an endless loop, launch fewer and larger programs, or raise the deadline."
    ),
    Verdict.WRONG_TYPE: Words(
        "rule", "red", YOURS, "Return as many outputs as eager, with eager's dtypes. Values shows which differ."
    ),
    Verdict.WRONG_SHAPE: Words("rule", "red", YOURS, "Give the outputs eager's shapes. Values shows which differ."),
    Verdict.NON_FINITE: Words(
        "rule", "red", YOURS, "Look for an overflow, or a division by zero that eager avoids. Values shows where."
    ),
    Verdict.WRONG_VALUES: Words(
        "rule", "red", YOURS, "Values shows the worst element. Compute it by hand and compare."
    ),
    Verdict.LOWER_PRECISION: Words(
        "rule",
        "orange",
        YOURS,
        "Keep sums and intermediates in float32, and round once at the end. Values shows where the error is worst.",
    ),
    Verdict.CHEAT: Words(
        "balance",
        "red",
        YOURS,
        "If the passes are honest, look for work that outlives the call (streams, threads), for results kept from "
        "earlier calls, and for code that touches clocks. Then run again.",
        "the figures contradict the evidence",
    ),
    Verdict.LIBRARY: Words(
        "local_library",
        "orange",
        YOURS,
        "Do in your own kernels what the listed ones do, or match less: the rest of the graph may call libraries.",
        "library kernels did the work, so it is not ranked",
    ),
    Verdict.NEEDS_GPU: Words(
        "developer_board",
        "gray",
        "the system",
        "Run the passes on a machine with a GPU, or rewrite the named line with what Triton's interpreter supports.",
        "only a GPU can run one of its kernels",
    ),
    Verdict.MATCHED: Words("link", "blue", "", "Run the passes: this compares the values."),
    Verdict.VALUES_ONLY: Words(
        "check_circle", "green", "", "Run the passes on a machine with a GPU to learn how fast they are."
    ),
    Verdict.INCONCLUSIVE: Words(
        "contrast",
        "blue",
        "the system",
        "Run again when the machine is quiet. If the subgraph cannot tell right from wrong, try another one.",
    ),
    Verdict.SLOWER: Words(
        "trending_down", "orange", "", "Time shows which clock loses. Try fewer launches, or move fewer bytes."
    ),
    Verdict.NO_DIFFERENCE: Words(
        "trending_flat",
        "blue",
        "",
        "The difference is no larger than the noise. Match more operations, or try a larger subgraph.",
    ),
    Verdict.FASTER: Words("trending_up", "green", "", "Compare the passes with other solvers under Scores."),
}

PHASES: Mapping[Phase, str] = {
    Phase.QUEUED: "waiting for its turn",
    Phase.START: "starting the judge",
    Phase.RULES: "reading the passes",
    Phase.LOAD: "loading the passes",
    Phase.MATCH: "matching",
    Phase.REWRITE: "rewriting the graph",
    Phase.VERIFY: "comparing values",
    Phase.CENSUS: "listing the kernels launched",
    Phase.MEASURE: "measuring time",
}
"""What the page says while a job is in each phase. A test checks that none is missing."""
