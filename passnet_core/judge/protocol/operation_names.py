"""The names of torch operations by what they do to memory. Both sides of a census use them."""

from passnet_core.operations.kinds import named

ALLOCATIONS = named("allocations")
FILLS = named("fills")
VIEWS_AND_QUERIES = named("views_and_queries")
MOVES = named("moves")
NUMBERS = named("numbers")


def bare(name: str) -> str:
    """The plain name of an operation: "add" for aten::add.Tensor."""
    return name.partition("::")[2].partition(".")[0]
