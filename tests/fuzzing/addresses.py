"""Cases of the fuzzer that open pages by altered addresses, and use what is on them."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

from streamlit.testing.v1 import AppTest

from pages.ui import links
from passnet_core.service import Service
from tests.example_playground import LESSONS, OTHER_ID, REFERENCE_NAME, TASK_ID, answer
from tests.fake_backend import FakeBackend
from tests.fuzzing.altering import ODD_NUMBERS, ODD_TEXTS
from tests.fuzzing.cases import Case
from tests.fuzzing.ground import Ground
from tests.pages import visiting

PAGES: tuple[links.Name, ...] = (
    "start",
    "learn",
    "explore",
    "workbench",
    "model",
    "runs",
    "scores",
    "help",
    "class",
    "account",
    "operator",
)
KEYS = (
    "against", "assignment", "baseline", "board", "bundle", "by", "certificate", "chapter", "clock", "draft", "family",
    "first", "ground", "group", "join", "lesson", "line", "mine", "of", "order", "page", "passes", "q", "run", "search",
    "second", "show", "solver", "split", "subgraph", "t", "tab", "talk", "task", "variant", "view", "who",
)  # fmt: skip
"""What addresses select."""
USUAL = (
    TASK_ID, OTHER_ID, REFERENCE_NAME, *LESSONS, "float32/48/toy", "recorded-passes", "recorded-inductor", "graph",
    "-3", "0", "default", "small", "repaired-twice",
)  # fmt: skip
MOST_SHOWN = 400


@contextlib.contextmanager
def playground(ground: Ground) -> Iterator[Service]:
    """The service behind the pages, with a judge that answers at once."""
    with visiting.playground(ground.data, ground.folder / "visited", FakeBackend(answer)) as opened:
        yield opened


def addresses(rng: Random, ground: Ground, place: Path) -> Case:
    """A page with an altered address, on which up to three things are done. Needs the playground."""
    page = rng.choice(PAGES)
    selected = {key: _value(rng) for key in rng.sample(KEYS, rng.choice((1, 2, 2, 4)))}
    if page == "workbench" and rng.randrange(2):
        selected |= {"task": TASK_ID}
    told = [f"{page} {selected!r}"[:MOST_SHOWN]]
    print(told[0])
    app = visiting.opened(page, selected)
    for _ in range(rng.choice((0, 0, 1, 3))):
        if app.exception or (done := _used(rng, app)) is None:
            break
        told.append(done)
        print(done)
        app.run()
    problems = tuple(f"{each.message}\n{''.join(each.stack_trace)}"[-1500:] for each in app.exception)
    return Case("; ".join(told), problems)


def _value(rng: Random) -> str:
    value = rng.choice(rng.choice((USUAL, ODD_TEXTS, ODD_NUMBERS)))
    # what is no text in an address reaches the app as U+FFFD
    return value.encode(errors="surrogatepass").decode(errors="replace")


def _used(rng: Random, app: AppTest) -> str | None:
    """Use a widget of the page, and say which; None if there is none."""
    widgets: list[Any] = [*app.button, *app.text_input, *app.text_area, *app.selectbox, *app.number_input, *app.toggle]
    widgets = [each for each in widgets if not each.disabled]
    if not widgets:
        return None
    used = rng.choice(widgets)
    match used.type:
        case "button":
            used.click()
        case "text_input" | "text_area":
            used.set_value(rng.choice([each for each in ODD_TEXTS if each.isprintable()]))
        case "selectbox" if used.options:
            used.select(rng.choice(used.options))
        case "number_input":
            used.set_value(rng.choice((used.min, used.max, used.value)) or used.value)
        case "toggle":
            used.set_value(not used.value)
    return f"{used.type} {used.label!r}"[:MOST_SHOWN]
