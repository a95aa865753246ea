"""What an executor lacks. Loads no Triton."""


class PlanWanted(Exception):
    """A replacement function is called with arguments for which no plan is there. asked: names them, as question."""

    def __init__(self, asked: str) -> None:
        super().__init__("there is no plan for these arguments")
        self.asked = asked
