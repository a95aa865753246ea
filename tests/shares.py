"""Work that several GPUs share: each process takes its share of a list."""

from passnet_core.errors import BadInput


def share_of(text: str) -> slice:
    """Which items of a list are the share "N/OF": every OF-th, from the N-th on. Raises BadInput."""
    number, _, of = text.partition("/")
    if not (number.isdecimal() and of.isdecimal() and 1 <= int(number) <= int(of)):
        raise BadInput(f"--share is {text!r}. Write it like 2/4, the second of four.")
    return slice(int(number) - 1, None, int(of))
