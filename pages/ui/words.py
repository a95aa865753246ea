"""What each verdict and phase is called on the page: sign, colour, whose concern it is, and one next step."""

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
    """Whose concern it is: your passes, this subgraph, the system; empty: nobody's."""
    next_step: str
    gist: str = ""
    """What the verdict's name leaves open, said after it."""


YOURS = "your passes"
VERDICTS: Mapping[Verdict, Words] = {
    Verdict.INFRASTRUCTURE: Words(
        "report", "gray", "the system", "Run again. If it stays, Help shows the diagnostics to report."
    ),
    Verdict.CANCELLED: Words("cancel", "gray", "", "Run again when you are ready."),
    Verdict.EAGER_FAILED: Words(
        "broken_image", "gray", "this subgraph", "Choose another subgraph: this one does not run unmodified either."
    ),
    Verdict.REJECTED: Words("gavel", "red", YOURS, "Mend the lines named under Code, then Check again."),
    Verdict.DOES_NOT_LOAD: Words(
        "error", "red", YOURS, "Read the traceback under Evidence, mend the line, then Check."
    ),
    Verdict.NO_MATCH: Words(
        "link_off", "orange", YOURS, "Look at the nearest miss under Match and make the pattern say the same."
    ),
    Verdict.REWRITE_FAILED: Words(
        "error", "red", YOURS, "Compare what replacement_args returns with what the replacement takes."
    ),
    Verdict.COMPILE_FAILED: Words(
        "error", "red", YOURS, "Read the compiler's message under Evidence and mend the kernel."
    ),
    Verdict.CRASHED: Words(
        "bolt", "red", YOURS, "Look for an access out of bounds: check masks and strides; the end of the log helps."
    ),
    Verdict.TIMED_OUT: Words(
        "timer_off", "red", YOURS, "Look for an endless loop, or launch fewer, larger programs; or raise the deadline."
    ),
    Verdict.WRONG_TYPE: Words(
        "rule", "red", YOURS, "Return the same number of outputs with eager's dtypes; Values shows which differ."
    ),
    Verdict.WRONG_SHAPE: Words("rule", "red", YOURS, "Give the outputs eager's shapes; Values shows which differ."),
    Verdict.NON_FINITE: Words(
        "rule", "red", YOURS, "Look for overflow, or a division by zero that eager avoids; Values shows where."
    ),
    Verdict.WRONG_VALUES: Words(
        "rule", "red", YOURS, "Values shows the worst element: compute it by hand and compare."
    ),
    Verdict.LOWER_PRECISION: Words(
        "rule",
        "orange",
        YOURS,
        "Keep sums and intermediates in float32, and round once at the end; Values shows where it is worst.",
    ),
    Verdict.CHEAT: Words(
        "balance",
        "red",
        YOURS,
        "If the passes are meant honestly, look for work that outlives the call (streams, threads), for results kept "
        "from earlier calls, and for code that touches clocks; then run again.",
        "the figures do not fit the evidence",
    ),
    Verdict.LIBRARY: Words(
        "local_library",
        "orange",
        YOURS,
        "Do in your own kernels what those listed do, or match less: the rest of the graph may call the library.",
        "others' kernels did its work, so it is not ranked",
    ),
    Verdict.MATCHED: Words("link", "blue", "", "Run it: values are compared next."),
    Verdict.VALUES_ONLY: Words(
        "check_circle", "green", "", "The values are right. Run it on a machine with a GPU to learn how fast it is."
    ),
    Verdict.INCONCLUSIVE: Words(
        "contrast",
        "blue",
        "the system",
        "Run it again when the machine is quiet. Where the subgraph itself tells nothing, try another one.",
    ),
    Verdict.SLOWER: Words(
        "trending_down", "orange", "", "Time shows which clock loses: fewer launches, or fewer bytes moved?"
    ),
    Verdict.NO_DIFFERENCE: Words(
        "trending_flat",
        "blue",
        "",
        "The difference is no larger than the noise: match more operations, or try a larger subgraph.",
    ),
    Verdict.FASTER: Words("trending_up", "green", "", "Compare it with others under Scores."),
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
"""What a person reads while a job is under way; a test holds that none is missing."""
