"""Look for the matches of many bundles in captured graphs.

Run as a program, it reads a SurveyQuestion as JSON from standard input and writes a SurveyAnswer to standard output. It
imports the bundles, which are code: start it in a sandbox."""

import sys
from collections.abc import Sequence

import torch

from passnet_core.errors import BadInput
from passnet_core.graphs.ir import Graph
from passnet_core.graphs.matching import Bind, remembered
from passnet_core.graphs.rewriting import rewrite
from passnet_core.graphs.source import parse
from passnet_core.integrate.bundles import passes_of
from passnet_core.operations.binding import bind
from passnet_core.records import Bundle
from passnet_core.whole_models.programs import answering
from passnet_core.whole_models.survey import FoundBundle, FoundPass, SurveyAnswer, SurveyQuestion


def survey(question: SurveyQuestion) -> SurveyAnswer:
    """Apply each bundle alone to each graph. A bundle that cannot be imported, or a graph that it cannot rewrite, is
    its problem and nobody else's."""
    graphs = [parse(code) for code in question.codes]
    ask = remembered(bind)
    with torch.no_grad():
        return SurveyAnswer(tuple(_found(each, graphs, ask) for each in question.bundles))


def _found(bundle: Bundle, graphs: Sequence[Graph], bind: Bind) -> FoundBundle:
    try:
        passes = passes_of(bundle).passes
        reports = [rewrite(graph, passes, bind=bind).reports for graph in graphs]
    except (BadInput, RecursionError) as error:
        return FoundBundle(bundle.digest, problem=str(error))
    return FoundBundle(
        bundle.digest,
        tuple(
            FoundPass(each.name, tuple(of_graph[place].matches for of_graph in reports))
            for place, each in enumerate(passes)
        ),
    )


def main() -> int:
    """Run the program. Returns exit code 0, or 2 with a sentence on standard error."""
    return answering(SurveyQuestion, survey)


if __name__ == "__main__":
    sys.exit(main())
