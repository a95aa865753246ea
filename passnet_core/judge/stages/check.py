"""CHECK: read the passes by the rules, load them, and match them against the graph. None of this needs a device.

Loads no torch before it matches: a bundle that breaks a rule is rejected without it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from passnet_core.bundles.static_rules import findings
from passnet_core.bundles.static_rules.findings import Admission
from passnet_core.errors import BadInput
from passnet_core.graphs import rewriting, source
from passnet_core.graphs.ir import Graph
from passnet_core.graphs.rewriting import TracedPass
from passnet_core.judge.protocol.messages import CandidateFault
from passnet_core.operations.binding import bind
from passnet_core.records import Bundle, EvalSpec, Finding, MatchReport, Profile, Subgraph

if TYPE_CHECKING:
    from passnet_core.judge.protocol.messages import Loaded
    from passnet_core.judge.supervisor.worker_process import WorkerProcess

PREPARE_NOT_CALLED = "PassNet's rules have no prepare(weights), so it was not called."
RENEWED = "replacement_func() of {} returns a new object on each call. Return the same one."


@dataclass(frozen=True)
class LoadedPasses:
    """A bundle's passes as the candidate worker traced them, of all that it loaded. prepares: whether the hook
    prepare(weights) is to be called. finding: the rule that they break, which only loading could show."""

    loaded: "Loaded"
    passes: tuple[TracedPass, ...]
    prepares: bool
    warnings: tuple[str, ...] = ()
    finding: Finding | None = None

    @property
    def replacement_names(self) -> dict[str, str]:
        """What to call each replacement function in messages, by its key: after the first pass that uses it."""
        return {each.replacement: f"the replacement of {each.name}" for each in reversed(self.passes)}


@dataclass(frozen=True)
class MatchedGraph:
    """The graph with its matches replaced. graph: None if nothing matched or the matches could not be replaced.
    problem: why they could not; report is then None."""

    graph: Graph | None = None
    report: MatchReport | None = None
    problem: str = ""


def parsed(subgraph: Subgraph) -> Graph:
    """Parse the subgraph's source. Raises BadInput."""
    try:
        return source.parse(subgraph.code)
    except BadInput as error:
        raise BadInput(f"Subgraph {subgraph.id!r} cannot be read: {error}") from error


def admitted(bundle: Bundle, spec: EvalSpec) -> Admission:
    """Apply the static rules of the job's profile to the bundle's sources."""
    return findings.admitted(bundle, _replacement_cap(spec), passnet=spec.profile is Profile.PASSNET)


def load(
    bundle: Bundle, candidate: "WorkerProcess", spec: EvalSpec, card: Mapping[str, Any] | None = None
) -> LoadedPasses:
    """Have the candidate worker import the bundle and trace its passes. card: of which it is told, if it has none
    itself. Raises CandidateEnd."""
    loaded, cap = candidate.load(bundle, card), _replacement_cap(spec)
    if spec.profile is Profile.PASSNET:
        return _loaded_by_passnet(loaded, cap)
    count = len(loaded.replacements)
    finding = _over_the_cap(bundle, count, cap) if cap is not None and count > cap else None
    renewed = tuple(RENEWED.format(name) for name in loaded.renewed)
    return LoadedPasses(loaded, loaded.passes, bool(loaded.hooks), loaded.warnings + renewed, finding)


def _loaded_by_passnet(loaded: "Loaded", cap: int | None) -> LoadedPasses:
    """The passes of the first replacement functions, as many as the cap allows. PassNet keeps as many by chance."""
    if loaded.renewed:
        raise CandidateFault("load", RENEWED.format(loaded.renewed[0]))
    kept = loaded.replacements[:cap]
    left_out = tuple(
        f"{each.name}.py is left out: at most {cap} distinct replacement functions are allowed, and those of"
        " earlier passes come first."
        for each in loaded.passes
        if each.replacement not in kept
    )
    unused = (PREPARE_NOT_CALLED,) if loaded.hooks else ()
    passes = tuple(each for each in loaded.passes if each.replacement in kept)
    return LoadedPasses(loaded, passes, False, loaded.warnings + unused + left_out)


def match(bundle: Bundle, passes: Sequence[TracedPass], graph: Graph) -> MatchedGraph:
    """Replace every match of the passes in the graph, and explain the passes that do not match."""

    sources = {file.name.removesuffix(".py"): file.code for file in bundle.passes}
    try:
        changed = rewriting.rewrite(graph, passes, bind=bind, explain=sources)
    except BadInput as error:
        return MatchedGraph(problem=str(error))
    report = MatchReport(changed.reports)
    if not report.count:
        return MatchedGraph(report=report)
    return MatchedGraph(changed.graph, MatchReport(changed.reports, rewritten=source.emit(changed.graph)))


def matched_alike(graph: Graph, passes: Sequence[TracedPass], report: MatchReport) -> Graph | None:
    """Replace every match of the passes in another graph. None: some pass has other matches there than in the report,
    or it cannot be rewritten."""

    try:
        changed = rewriting.rewrite(graph, passes, bind=bind)
    except (BadInput, RecursionError):
        return None
    found, wanted = ([each.matches for each in passes] for passes in (changed.reports, report.passes))
    return changed.graph if found == wanted else None


def matches_in(code: str, passes: Sequence[TracedPass]) -> int | None:
    """Count the matches of the passes in another source. None: that source cannot be read or rewritten."""

    try:
        changed = rewriting.rewrite(source.parse(code), passes, bind=bind)
    except (BadInput, RecursionError):
        return None
    return sum(len(each.matches) for each in changed.reports)


def _replacement_cap(spec: EvalSpec) -> int | None:
    """The most distinct replacement functions a bundle may have. PassNet allows one; None: any number."""
    return 1 if spec.profile is Profile.PASSNET and spec.replacement_cap is None else spec.replacement_cap


def _over_the_cap(bundle: Bundle, count: int, cap: int) -> Finding:
    return Finding(
        file=bundle.passes[0].name,
        line=1,
        column=1,
        rule="replacement-cap",
        message=f"The bundle has {count} distinct replacement functions; at most {cap} are allowed.",
        remedy="Return one shared function from every replacement_func(). It can branch on a literal.",
    )
