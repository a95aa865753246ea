"""What boards are called, and which board a link means."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from passnet_core.leaderboard.boards import Board
from passnet_core.records import CLOCK_VERSION, SolverKind

_MAKER = re.compile(r"\b(NVIDIA|AMD|Intel|Tesla|Instinct)\b ?")
_VARIANT = re.compile(r"[ -](SXM\d*|PCIe|NVL|HBM\w*|\d+ ?GB)\b")
_OLD_LINK = re.compile(r".* · ([0-9a-f]{4})")
FEW = 12
"""As many boards of a single task, or fewer, are listed with the others."""


def short_device(name: str) -> str:
    """Return a device's name without maker, memory and socket: "NVIDIA H100 80GB HBM3" is an H100."""
    return _VARIANT.sub("", _MAKER.sub("", name)).strip() or name


def board_names(boards: Sequence[Board]) -> dict[str, str]:
    """Return the name of each board by its id: solvers, tasks, device and capture. The id's first digits are part of it
    only if two boards would have the same name. boards: of one profile."""
    names = {each.id: _name(each) for each in boards}
    times = Counter(names.values())
    return {board_id: name if times[name] == 1 else f"{name} ({board_id[:4]})" for board_id, name in names.items()}


def listed(boards: Iterable[Board]) -> tuple[tuple[Board, ...], tuple[Board, ...]]:
    """Return the boards to choose from, those with the most subgraphs first, and the boards of a single task apart if
    there are more than a FEW."""
    order = sorted(boards, key=lambda board: (len(board.task_ids) == 1, -len(board.places)))
    several = tuple(each for each in order if len(each.task_ids) > 1)
    single = tuple(each for each in order if len(each.task_ids) == 1)
    return (several, single) if len(single) > FEW else ((*several, *single), ())


def asked_for(value: str, names: Mapping[str, str]) -> str | None:
    """Return the id of the board that a link means by its id, its name, or the name it had in older links; None: there
    is no such board. names: from board_names."""
    if value in names:
        return value
    old = _OLD_LINK.fullmatch(value)
    return next(
        (
            board_id
            for board_id, name in names.items()
            if name == value or (old is not None and board_id.startswith(old[1]))
        ),
        None,
    )


def _name(board: Board) -> str:
    pieces = [_solvers(board), board.title, short_device(board.device), board.capture.value]
    if board.clock_version != CLOCK_VERSION:
        pieces.append(f"clock version {board.clock_version}")
    return ", ".join(pieces)


def _solvers(board: Board) -> str:
    passes, baselines = (
        [each.name for each in board.contestants if each.solver is kind]
        for kind in (SolverKind.PASSES, SolverKind.INDUCTOR)
    )
    own = " and ".join(passes) if len(passes) < 3 else f"{len(passes)} solvers"
    return " against ".join(filter(None, (own, *baselines[:1])))
