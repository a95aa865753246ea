"""The solvers of a board in order."""

import math

from passnet_core.leaderboard.boards import Board
from passnet_core.scoring.report import ScoreReport, score_report


def standings_of(board: Board) -> list[tuple[str, ScoreReport]]:
    """The name and the report of each solver on a board, the best aggregate score first."""
    reports = [(each.name, score_report(each.entries)) for each in board.contestants]
    return sorted(reports, key=lambda each: -math.inf if each[1].aggregate is None else each[1].aggregate, reverse=True)
