"""The code component in a real browser: which lines light up, with which sign, by mouse and by keyboard."""

from collections.abc import Iterator
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Locator, Page, Route, expect

from passnet_core.graphs import panes
from passnet_core.graphs.source import parse
from passnet_core.records import Baseline, Bundle, CompiledKernel, InductorCode, MatchReport, PassFile, PassMatches
from tests.browser.graph_page import BUILT, THEME
from tests.browser.mounting import mount_component

pytestmark = [pytest.mark.browser, pytest.mark.settled]

ADDRESS = "http://code.test"
HOSTILE = '<img src=x onerror="window.broken=1"></code></script>'
SOURCE = f"""import torch
# {HOSTILE}
class GraphModule(torch.nn.Module):
    def forward(self, x, w):
        a = x + w
        b = torch.relu(a)
        c = torch.sigmoid(b)
        return (c,)
"""
REWRITTEN = SOURCE.replace("        a = x + w\n        b = torch.relu(a)\n", "        b = replacement_0(x, w)\n")
PASS = f"""import torch, triton
def pattern(p, q):
    return torch.relu(p + q)
{"# far below" + chr(10) * 60}
@triton.jit
def kernel(x, NAME="{HOSTILE.replace('"', "'")}"):
    pass
def launch(p, q):
    kernel[(1,)](p)
def replacement_func():
    return launch
"""
KERNEL_LINE = 1 + PASS[: PASS.index("    pass")].count("\n")
PTX = f'// {HOSTILE}\n\t.loc 1 {KERNEL_LINE} 0\n\tret;\n\t.file 1 "pass_dir" "one.py"\n'
INDUCTOR = "far = 1\n" * 80 + "# Source Nodes: [c], Original ATen: [aten.sigmoid]\nk = async_compile.triton('k', '')\n"
MOUNT = """
  const { default: code } = await import("/code.js");
  window.parent_ ??= document.querySelector("#code").attachShadow({ mode: "open" });
  code({ parentElement: window.parent_, data });
"""


def given() -> dict[str, Any]:
    """Return the data that the app gives the component."""
    graph = parse(SOURCE)
    bundle = Bundle((PassFile("one.py", PASS),))
    match = MatchReport((PassMatches("one", (("a", "b"),)),), REWRITTEN)
    kernel = CompiledKernel("kernel", "9.0", ran=False, launches=1, ptx=PTX)
    shown = [
        *panes.of_passes(graph, bundle, match, {"mine:one.py": [f"A fact {HOSTILE}"]}),
        *panes.of_subgraph(graph, SOURCE, match, {}),
        panes.of_inductor(graph, InductorCode(INDUCTOR, 1, 0), Baseline.INDUCTOR, {}),
        *panes.of_kernel(0, kernel, bundle, ("a", "b"), "compiled"),
    ]
    return panes.picture(shown, graph, match)


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """The component on an empty page, on which no script may fail."""
    context = browser.new_context(viewport={"width": 1200, "height": 900})
    opened = context.new_page()
    problems: list[str] = []
    opened.on("pageerror", lambda error: problems.append(str(error)))
    colours = "".join(f"--st-{name}-color: {value};" for name, value in THEME["light"].items())
    document = (
        f"<!doctype html><html lang=en><title>code</title><style>:root {{ color-scheme: light }} body {{ {colours}"
        " --st-primary-color: #0b62a4; background: #ffffff; color: #1b2430; }</style>"
        "<main><h1>code</h1><div id=code></div></main>"
    )

    def serve(route: Route) -> None:
        if route.request.url.endswith("/code.js"):
            body = next(BUILT.glob("code.*.js")).read_bytes()
            route.fulfill(body=body, content_type="text/javascript; charset=utf-8")
        else:
            route.fulfill(body=document, content_type="text/html; charset=utf-8")

    opened.route(f"{ADDRESS}/**", serve)
    opened.goto(ADDRESS)
    mount_component(opened, MOUNT, given())
    yield opened
    context.close()
    assert not problems


def pane(page: Page, title: str) -> Locator:
    return page.get_by_role("region", name=title)


def lit(page: Page, title: str) -> list[str]:
    """Return the lines that are lit as exact matches."""
    return [each.strip() for each in pane(page, title).locator(".line.exact code").all_inner_texts()]


def in_sight(line: Locator) -> bool:
    """Return whether a line is visible within its box."""
    box, it = line.locator("xpath=ancestor::*[@role='listbox']").bounding_box(), line.bounding_box()
    assert box
    assert it
    return box["y"] <= it["y"] and it["y"] + it["height"] <= box["y"] + box["height"]


def sign(line: Locator) -> str:
    found: str = line.locator(".sign").evaluate("each => getComputedStyle(each, '::before').content")
    return found.strip('"')


def test_what_is_pointed_at_lights_up_in_every_pane_with_a_sign(page: Page) -> None:
    node = page.get_by_role("toolbar", name="Nodes of the subgraph").get_by_role("button", name="① a add")
    node.hover()
    assert lit(page, "The subgraph, as recorded") == ["a = x + w"]
    assert lit(page, "The subgraph, rewritten") == ["b = replacement_0(x, w)"]
    assert lit(page, "① one.py") == ["return torch.relu(p + q)"]
    assert lit(page, "Code of TorchInductor") == []
    assert sign(pane(page, "① one.py").locator(".line.exact")) == "▶"
    assert sign(pane(page, "① one.py").locator(".line.within").first) == "┃"
    expect(page.get_by_role("status")).to_contain_text("① one.py: line 3; The subgraph, rewritten: line 5")
    page.get_by_role("heading").hover()
    assert lit(page, "The subgraph, as recorded") == []
    # a line does the same, and panes scroll to lines out of view
    recorded = pane(page, "The subgraph, as recorded")
    recorded.get_by_role("option", name="c = torch.sigmoid(b)").hover()
    inductor = pane(page, "Code of TorchInductor")
    assert in_sight(inductor.locator(".line.within").first)
    assert lit(page, "① one.py") == []
    # a line of PTX leads to the line of the kernel
    pane(page, "PTX of kernel").get_by_role("option", name="ret;").hover()
    assert "pass" in lit(page, "① one.py")
    assert in_sight(pane(page, "① one.py").locator(f".line[data-line='{KERNEL_LINE}']"))


def test_the_keyboard_reaches_nodes_and_lines_and_holds_them(page: Page) -> None:
    nodes = page.get_by_role("toolbar", name="Nodes of the subgraph").get_by_role("button")
    nodes.first.focus()
    for _ in range(2):
        page.keyboard.press("ArrowRight")
    assert lit(page, "The subgraph, as recorded") == ["a = x + w"]
    page.keyboard.press("Enter")
    expect(nodes.nth(2)).to_have_attribute("aria-pressed", "true")
    page.get_by_role("heading").hover()
    pane(page, "The subgraph, as recorded").get_by_role("option", name="c = torch").hover()
    assert lit(page, "The subgraph, as recorded") == ["a = x + w"], "it is held"
    page.keyboard.press("Escape")
    expect(nodes.nth(2)).to_have_attribute("aria-pressed", "false")
    lines = page.get_by_role("listbox", name="The subgraph, as recorded")
    lines.focus()
    for _ in range(6):
        page.keyboard.press("ArrowDown")
    assert lit(page, "The subgraph, as recorded") == ["b = torch.relu(a)"]
    active = lines.get_attribute("aria-activedescendant")
    assert active
    assert page.locator(f"#{active} code").inner_text().strip() == "b = torch.relu(a)"
    shown = page.get_by_role("group", name="Panes").get_by_role("button", name="Code of TorchInductor")
    shown.click()
    expect(pane(page, "Code of TorchInductor")).to_be_hidden()
    expect(shown).to_have_attribute("aria-pressed", "false")


def test_hostile_text_stays_text_and_nothing_is_amiss_for_assistive_technology(page: Page) -> None:
    expect(pane(page, "The subgraph, as recorded").get_by_role("option").nth(1)).to_contain_text(HOSTILE)
    expect(pane(page, "PTX of kernel").get_by_role("option").first).to_contain_text(HOSTILE)
    expect(pane(page, "① one.py").get_by_role("listitem")).to_have_text(f"A fact {HOSTILE}")
    assert page.locator("img").count() == 0
    assert page.evaluate("window.broken") is None
    page.get_by_role("button", name="① a add").click()
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
