"""What Triton's interpreter cannot run: the exception for it, and the sentence that says which line of a bundle asks
for it."""

import traceback

from passnet_core.fx.loading import FOLDER

MOST_CAUSES = 20


class NeedsGpu(NotImplementedError):
    """A construct that only a GPU can run, as inline assembly. Its message names the construct."""


def root_of(error: BaseException) -> BaseException:
    """The exception that Triton's interpreter wrapped, once for each function of a kernel that it left."""
    for _ in range(MOST_CAUSES):
        if type(error).__name__ != "InterpreterError" or error.__cause__ is None:
            break
        error = error.__cause__
    return error


def need_of(error: BaseException) -> str:
    """Which construct needs a GPU, and where the bundle uses it; empty if the exception is another one."""
    root = root_of(error)
    if not isinstance(root, NeedsGpu):
        return ""
    frames = traceback.extract_tb(root.__traceback__)
    place = next((each for each in reversed(frames) if f"/{FOLDER}/" in each.filename), None)
    where = f" ({place.filename.rpartition('/')[2]} line {place.lineno})" if place else ""
    return f"{root}{where}"
