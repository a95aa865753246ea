"""Why the judge's service does not answer a request. Each message says what to do."""

from passnet_core.errors import BadInput, PlaygroundError, UnknownItem
from passnet_core.outside import quoted


class ServiceBusy(PlaygroundError):
    """As many evaluations wait as may. retry_after_s: when room is likely."""

    def __init__(self, waiting: int, most: int, asked: int, retry_after_s: int) -> None:
        super().__init__(
            f"{waiting} evaluations of at most {most} are in progress, so there is no room for {asked} more. Ask again"
            f" in about {retry_after_s} s."
        )
        self.retry_after_s = retry_after_s


class KeyReused(PlaygroundError):
    """An idempotency key that stands for another request."""

    def __init__(self, key: str) -> None:
        super().__init__(f"The key {key[:80]!r} stands for another request. Use a new key for each request.")


class KeyNotTaken(BadInput):
    """An idempotency key where none is kept. instead: how to repeat such a request."""

    def __init__(self, instead: str) -> None:
        super().__init__(f"This address keeps no Idempotency-Key, so send none. {instead}")


class NotSubmitted(UnknownItem):
    """A key with which nothing was submitted, as far as is known."""

    def __init__(self, key: str) -> None:
        super().__init__(
            f"No evaluation with the key {quoted(key)} is known here: the service was started again before there was an"
            " answer, or that was long ago. Submit it again."
        )


class StepOutOfOrder(PlaygroundError):
    """A step of a conversation that is neither the next one nor the last one again, or that comes too early."""
