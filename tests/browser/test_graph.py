"""The graph component in a real browser: on a page of its own, and in the app."""

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from passnet_core.graphs import rendering
from passnet_core.graphs.ir import Graph, Node, NodeKind, Ref
from passnet_core.graphs.rendering import NO_MARKS, Marks
from passnet_core.graphs.source import parse_function
from tests.browser.graph_page import layers, mount, open_graph_page
from tests.example_playground import REFERENCE_NAME, TASK_ID

pytestmark = [pytest.mark.browser, pytest.mark.settled]

GRAPH = parse_function(
    "def f(x, y):\n    p = x + y\n    q = torch.relu(p)\n    r = torch.sum(p, -1, keepdim=True)\n    return (q * r,)\n",
    "f",
)
PRODUCT = GRAPH.nodes[-1].name
CHAIN = parse_function(
    "def f(v0):\n" + "".join(f"    v{n + 1} = torch.exp(v{n})\n" for n in range(12)) + "    return (v12,)\n", "f"
)


def given(graph: Graph, marks: Marks = NO_MARKS, **more: Any) -> dict[str, Any]:
    """Return the data that the app gives the component."""
    values = more.pop("values", None)
    fixed = {"title": "Example", "height": 500, "insertable": False}
    return rendering.picture(graph, marks, values=values) | fixed | more


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """An empty page for the component, on which no script may fail."""
    context = browser.new_context(viewport={"width": 900, "height": 700})
    opened = context.new_page()
    problems: list[str] = []
    opened.on("pageerror", lambda error: problems.append(str(error)))
    opened.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
    open_graph_page(opened)
    yield opened
    context.close()
    assert not problems


def box(page: Page, name: str) -> Locator:
    """Return the box of a node."""
    return page.get_by_role("option", name=re.compile(rf"^([^;]* )?{re.escape(name)}( \d+)?(;|$)"))


def scale(page: Page) -> str:
    return page.get_by_role("button", name=re.compile("zoom to 100 %")).inner_text()


def details(page: Page, name: str) -> Locator:
    return page.get_by_role("region", name=f"Details of {name}")


def test_a_click_shows_what_is_known_of_a_node(page: Page) -> None:
    values = {"x": ((2, 3), "float16"), "q": ((2, 1), "mystery")}
    mount(page, given(GRAPH, values=values))
    expect(page.get_by_role("listbox", name="Example")).to_be_visible()
    box(page, "x").click()
    for text in ("input x", "2×3", "float16", "12 bytes", "input of the subgraph"):
        expect(details(page, "x")).to_contain_text(text)
    box(page, "q").click()
    for text in ("relu q", "q = torch.relu(p)", "2×1", "mystery", "pointwise"):
        expect(details(page, "q")).to_contain_text(text)
    for text in ("Size", "false", "null", "undefined"):
        expect(details(page, "q")).not_to_contain_text(text)
    details(page, "q").get_by_role("button", name="p", exact=True).click()
    expect(details(page, "p")).to_contain_text("not known")
    expect(box(page, "p")).to_have_attribute("aria-selected", "true")
    expect(page.get_by_role("button", name="Insert into pattern")).to_have_count(0)
    assert page.evaluate("window.sent") == []


def test_a_node_can_be_inserted_into_the_pattern(page: Page) -> None:
    mount(page, given(GRAPH, insertable=True))
    box(page, "r").click()
    page.get_by_role("button", name="Insert into pattern").click()
    assert page.evaluate("window.sent") == [["insert", "r"]]


def test_the_keyboard_reaches_everything(page: Page) -> None:
    mount(page, given(GRAPH))
    canvas = page.get_by_role("listbox")
    expect(box(page, "x")).to_be_visible()
    names = (*GRAPH.by_name, "return")

    def active() -> str:
        named = canvas.evaluate(
            "each => each.getRootNode().getElementById(each.getAttribute('aria-activedescendant')).ariaLabel"
        )
        return next(name for name in names if re.match(rf"([^;]* )?{re.escape(name)}(;|$| \()", named))

    canvas.focus()
    assert active() == "x"
    page.keyboard.press("ArrowDown")
    assert active() == "p"
    page.keyboard.press("Enter")
    expect(details(page, "p")).to_be_visible()
    page.keyboard.press("Escape")
    expect(details(page, "p")).to_have_count(0)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    assert active() == "p"
    page.keyboard.press("Home")
    reached = [active()]
    for _ in names[1:]:
        page.keyboard.press("ArrowRight")
        reached.append(active())
    assert sorted(reached) == sorted(names)
    before = scale(page)
    page.keyboard.press("+")
    expect(page.get_by_role("button", name=re.compile("zoom to 100 %"))).not_to_have_text(before)
    page.keyboard.press("1")
    expect(page.get_by_role("button", name=re.compile("zoom to 100 %"))).to_have_text("100 %")
    page.keyboard.press("-")
    expect(page.get_by_role("button", name=re.compile("zoom to 100 %"))).to_have_text("80 %")
    page.keyboard.press("0")
    expect(page.get_by_role("button", name=re.compile("zoom to 100 %"))).to_have_text(before)
    page.keyboard.press("Tab")
    expect(canvas).not_to_be_focused()


def test_the_details_keep_the_focus_until_they_are_closed(page: Page) -> None:
    mount(page, given(GRAPH))
    box(page, "q").click()
    details(page, "q").get_by_role("button", name="p", exact=True).press("Enter")
    expect(details(page, "p")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.get_by_role("region")).to_have_count(0)
    expect(page.get_by_role("listbox")).to_be_focused()


def test_what_is_chosen_stays_in_sight_on_a_phone(page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 1100})
    mount(page, given(GRAPH, height=400))
    box(page, PRODUCT).click()
    expect(details(page, PRODUCT)).to_be_in_viewport(ratio=0.5)
    expect(box(page, PRODUCT)).to_be_in_viewport(ratio=0.95)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_a_search_finds_by_operator_and_name(page: Page) -> None:
    mount(page, given(GRAPH))
    expect(box(page, "x")).to_be_visible()
    search = page.get_by_role("searchbox")
    search.fill("SUM")
    expect(page.get_by_text("1 found")).to_be_visible()
    search.press("Enter")
    expect(details(page, "r")).to_be_visible()
    search.fill("x")
    search.press("Enter")
    expect(details(page, "x")).to_be_visible()
    search.fill("nothing like it")
    expect(page.get_by_text("none found")).to_be_visible()


def test_the_list_says_the_same_and_selects_the_same_node(page: Page) -> None:
    mount(page, given(GRAPH, Marks(groups={"q": 1}, passes=["FastRelu"])))
    box(page, "r").click()
    page.get_by_role("button", name="List").click()
    rows = page.get_by_role("row")
    expect(rows).to_have_count(1 + len(GRAPH.nodes))
    expect(rows.filter(has=page.get_by_role("button", name="sum r"))).to_have_attribute("aria-current", "true")
    expect(rows.filter(has=page.get_by_role("button", name="relu q"))).to_contain_text("matched by ① FastRelu")
    page.get_by_role("button", name="sum r").focus()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    expect(details(page, "q")).to_be_visible()
    page.get_by_role("button", name="List").click()
    expect(box(page, "q")).to_have_attribute("aria-selected", "true")


def test_marks_are_said_and_shown_and_explained_in_a_legend(page: Page) -> None:
    marks = Marks({"p": 1, "q": 2}, ["First", "Second"], "r", "The pattern wants mean.", [PRODUCT], ["q"])
    mount(page, given(GRAPH, marks))
    expect(box(page, "p")).to_have_accessible_name(re.compile("matched by ① First"))
    expect(box(page, "q")).to_have_accessible_name(re.compile("matched by ② Second; removed by the rewrite"))
    expect(box(page, "r")).to_have_accessible_name(re.compile("nearest miss: The pattern wants mean."))
    expect(box(page, PRODUCT)).to_have_accessible_name(re.compile("added by the rewrite"))
    legend = page.get_by_role("list", name="Legend").get_by_role("listitem")
    expect(legend).to_have_text(
        ["1First", "2Second", "✗nearest miss", "+added", "−removed", "pointwise", "reduction", "input"]
    )
    box(page, "r").click()
    expect(details(page, "r")).to_contain_text("nearest miss: The pattern wants mean.")


def test_a_chain_folds_and_unfolds(page: Page) -> None:
    mount(page, given(CHAIN))
    expect(page.get_by_role("option")).to_have_count(14)
    fold = page.get_by_role("button", name="Fold long chains")
    fold.click()
    expect(page.get_by_role("option")).to_have_count(2)
    expect(page.get_by_role("option", name="12 operations")).to_be_visible()
    page.get_by_role("option", name="12 operations").click()
    expect(page.get_by_role("option")).to_have_count(14)
    fold.click()
    fold.click()
    expect(page.get_by_role("option")).to_have_count(2)
    page.get_by_role("searchbox").fill("v7")
    page.get_by_role("searchbox").press("Enter")
    expect(details(page, "v7")).to_be_visible()
    expect(box(page, "v7")).to_have_attribute("aria-selected", "true")


def test_a_rerun_with_the_same_graph_keeps_selection_and_zoom(page: Page) -> None:
    mount(page, given(GRAPH))
    box(page, "q").click()
    for _ in range(2):
        page.get_by_role("button", name="Zoom in").click()
    expect(page.get_by_role("button", name=re.compile("zoom to 100 %"))).to_have_text("156 %")
    place = box(page, "q").bounding_box()
    mount(page, given(GRAPH, Marks(groups={"q": 1})))
    expect(box(page, "q")).to_have_accessible_name(re.compile("matched by ①"))
    expect(details(page, "q")).to_contain_text("matched by ① pass 1")
    assert scale(page) == "156 %"
    now = box(page, "q").locator(".frame").bounding_box()
    assert place is not None
    assert now is not None
    assert abs(now["y"] - place["y"]) < 30
    mount(page, given(CHAIN))
    expect(box(page, "v3")).to_be_visible()
    expect(details(page, "q")).to_have_count(0)


def test_dragging_pans_and_the_wheel_scrolls_the_page_unless_ctrl_is_held(page: Page) -> None:
    mount(page, given(GRAPH))
    before = box(page, "x").bounding_box()
    canvas = page.get_by_role("listbox").bounding_box()
    assert before is not None
    assert canvas is not None
    x, y = canvas["x"] + 30, canvas["y"] + 30
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 60, y + 40, steps=4)
    page.mouse.up()
    page.wait_for_function(
        "x => window.parent_.querySelector('.box').getBoundingClientRect().x > x", arg=before["x"] + 50
    )
    expect(page.get_by_role("region")).to_have_count(0)
    page.mouse.wheel(0, 100)
    expect(page.get_by_text("Hold Ctrl")).to_be_visible()
    assert scale(page) == "100 %"
    page.keyboard.down("Control")
    page.mouse.wheel(0, -100)
    page.keyboard.up("Control")
    expect(page.get_by_role("button", name=re.compile("zoom to 100 %"))).not_to_have_text("100 %")


def test_the_graph_fills_the_screen_and_returns(page: Page) -> None:
    mount(page, given(GRAPH, height=300))
    expect(box(page, "x")).to_be_visible()
    page.get_by_role("button", name="Full screen").click()
    filled = "() => window.parent_.querySelector('.canvas').clientHeight > 500"
    page.wait_for_function(filled)
    expect(box(page, PRODUCT)).to_be_in_viewport(ratio=0.95)
    page.get_by_role("button", name="Full screen").click()
    page.wait_for_function(f"() => !({filled})()")
    expect(box(page, PRODUCT)).to_be_in_viewport(ratio=0.95)


@pytest.mark.parametrize(
    "text",
    ["<img src=x onerror=window.hacked=1>", '"]; malicious [label="', "</script><script>hacked=1</script>", "\0\n"],
)
def test_hostile_text_is_shown_as_text(page: Page, text: str) -> None:
    graph = Graph(
        (Node("x", NodeKind.INPUT, ""), Node(text, NodeKind.CALL, f"torch.{text}", (Ref("x"), text))), (Ref(text),)
    )
    mount(
        page,
        given(graph, Marks({text: 1}, [text], text, text), values={text: ((1,), text)}, title=text, insertable=True),
    )
    expect(page.get_by_role("option")).to_have_count(3)
    page.get_by_role("option").nth(1).click()
    expect(page.get_by_role("region").get_by_role("strong")).to_contain_text(text.strip().splitlines()[0].strip("\0"))
    page.get_by_role("button", name="Insert into pattern").click()
    page.get_by_role("button", name="List").click()
    expect(page.get_by_role("row")).to_have_count(3)
    assert page.evaluate("window.sent") == [["insert", text]]
    assert page.evaluate("window.hacked") is None
    assert page.evaluate("window.parent_.querySelectorAll('img, script, malicious').length") == 0


def test_a_thousand_nodes_are_drawn_in_full_and_folded_at_first(page: Page) -> None:
    graph = layers(1000)
    mount(page, given(graph))
    folded = page.get_by_role("option", name=re.compile("^folded chain.*one of .* alike"))
    expect(folded.first).to_be_attached()
    before = page.get_by_role("option").count()
    page.get_by_role("button", name="Fold long chains").click()
    expect(folded).to_have_count(0)
    assert page.get_by_role("option").count() > before
    names = set(page.get_by_role("option").evaluate_all("all => all.map(each => each.ariaLabel.split(';')[0])"))
    assert len(names) == len(graph.nodes) + 1


def test_a_graph_that_cannot_be_laid_out_is_shown_as_a_list(browser: Browser) -> None:
    context = browser.new_context()
    page = context.new_page()
    open_graph_page(page)
    page.route("**/layout.*.js", lambda route: route.fulfill(body="throw new Error()", content_type="text/javascript"))
    mount(page, given(GRAPH))
    expect(page.get_by_text("could not be laid out as a picture. Here it is as a list.")).to_be_visible()
    page.get_by_role("button", name="sum r").click()
    expect(details(page, "r")).to_be_visible()
    context.close()


def test_nothing_is_left_when_the_graph_leaves_the_page(page: Page) -> None:
    mount(page, given(GRAPH))
    expect(box(page, "x")).to_be_visible()
    assert len(page.workers) == 1
    page.evaluate("window.end()")
    expect(box(page, "x")).to_be_visible()
    with page.workers[0].expect_event("close"):
        page.evaluate("document.querySelector('#graph').remove(), window.end()")
    assert page.evaluate("window.parent_.childElementCount") == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_app_draws_its_graphs_in_both_themes(open_page: Callable[..., Page], scheme: str) -> None:
    page = open_page("/explore?task=swiglu-gate", scheme)
    expect(box(page, "tmp_0")).to_be_visible()
    ink, paper = page.get_by_role("listbox").evaluate(
        "each => [each.querySelector('text').computedStyleMap().get('fill').toString(),"
        " getComputedStyle(document.querySelector('.stApp')).backgroundColor]"
    )
    assert (_lightness(ink) > _lightness(paper)) == (scheme == "dark")


def _lightness(colour: str) -> float:
    figures = [float(each) for each in re.findall(r"[\d.]+", colour)][:3]
    return sum(figures) * (255 if colour.startswith("color(") else 1)


def test_a_check_marks_the_match_and_leaves_the_zoom(open_page: Callable[..., Page]) -> None:
    page = open_page(f"/workbench?task={TASK_ID}&bundle={REFERENCE_NAME}")
    expect(box(page, "tmp_1")).to_be_visible()
    page.get_by_role("button", name="Zoom in").click()
    shown = page.get_by_role("button", name=re.compile("zoom to 100 %"))
    expect(shown).to_have_text("125 %")
    page.get_by_role("button", name="Check", exact=True).click()
    expect(box(page, "tmp_1").first).to_have_accessible_name(re.compile("matched by ①"))
    expect(shown.first).to_have_text("125 %")
    page.get_by_role("tab", name="Match").click()
    expect(page.get_by_role("listbox", name=re.compile("^After"))).to_be_visible()
    expect(page.get_by_role("option", name=re.compile("added by the rewrite")).first).to_be_visible()
