"""Split work between the processes of several GPUs."""

from passnet_core.errors import BadInput


def share_of(text: str) -> slice:
    """The slice for the share "N/OF": every OF-th item of a list, from the N-th on. Raises BadInput."""
    number, _, of = text.partition("/")
    if not (number.isdecimal() and of.isdecimal() and 1 <= int(number) <= int(of)):
        raise BadInput(f"--share is {text!r}. Write it like 2/4, the second of four.")
    return slice(int(number) - 1, None, int(of))
