"""The graph component on a page of its own, from its built files. Its messages are kept in window.sent."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Page, Route

from passnet_core.graphs.ir import Graph
from passnet_core.graphs.source import parse_function
from tests.browser.mounting import mount_component

BUILT = Path(__file__).resolve().parents[2] / "assets" / "built"
ADDRESS = "http://graph.test"
THEME = {
    "light": {"text": "#1b2430", "background": "#ffffff", "secondary-background": "#f3f5f8", "border": "#d5dbe3"},
    "dark": {"text": "#e6ebf1", "background": "#11161d", "secondary-background": "#1b232d", "border": "#33404f"},
}
MOUNT = """
  const { default: graph } = await import("/graph.js");
  window.parent_ ??= document.querySelector("#graph").attachShadow({ mode: "open" });
  window.sent ??= [];
  const setTriggerValue = (name, value) => window.sent.push([name, value]);
  window.end = graph({ parentElement: window.parent_, data, setTriggerValue });
"""


def open_graph_page(page: Page, scheme: str = "light") -> None:
    """Open an empty page on which the component can be mounted."""
    colours = "".join(f"--st-{name}-color: {value};" for name, value in THEME[scheme].items())
    document = (
        "<!doctype html><html lang=en><title>graph</title>"
        f"<style>body {{ {colours} --st-primary-color: {'#0b62a4' if scheme == 'light' else '#5aa9e6'};"
        "background: var(--st-background-color); color: var(--st-text-color); }</style>"
        "<main><h1>graph</h1><div id=graph></div></main>"
    )

    def serve(route: Route) -> None:
        name = urlsplit(route.request.url).path.lstrip("/")
        if name == "":
            route.fulfill(body=document, content_type="text/html; charset=utf-8")
        elif name == "graph.js" or (BUILT / name).is_file():
            path = next(BUILT.glob("graph.*.js")) if name == "graph.js" else BUILT / name
            route.fulfill(body=path.read_bytes(), content_type="text/javascript; charset=utf-8")
        else:
            route.fulfill(status=404)

    page.route(f"{ADDRESS}/**", serve)
    page.goto(ADDRESS)


def mount(page: Page, data: Mapping[str, Any]) -> None:
    """Give the component data, the first time or again, as a rerun does."""
    mount_component(page, MOUNT, data)


def layers(nodes: int) -> Graph:
    """Return a graph of transformer layers with at least so many nodes. All layers read the same mask."""
    lines: list[str] = []
    inputs = ["mask", "x"]

    def weights(size: int) -> str:
        inputs.extend([f"w_{len(inputs) + each}" for each in range(size)])
        return ", ".join(inputs[-size:])

    def call(code: str) -> str:
        lines.append(f"    v_{len(lines)} = {code}\n")
        return f"v_{len(lines) - 1}"

    functional = "torch.nn.functional"
    value = "x"
    while len(lines) + len(inputs) < nodes:
        normed = call(f"{functional}.layer_norm({value}, (768,), {weights(2)})")
        heads = []
        for _ in range(3):
            head = call(f"{functional}.linear({normed}, {weights(2)})")
            head = call(f"{head}.view(1, -1, 12, 64)")
            heads.append(call(f"{head}.transpose(1, 2)"))
        turned = call(f"{heads[1]}.transpose(-2, -1)")
        scores = call(f"torch.matmul({heads[0]}, {turned})")
        for step in ("{} / 8.0", "{} + mask", "torch.softmax({}, -1)"):
            scores = call(step.format(scores))
        mixed = call(f"torch.matmul({scores}, {heads[2]})")
        mixed = call(f"{mixed}.transpose(1, 2)")
        mixed = call(f"{functional}.linear({mixed}, {weights(2)})")
        value = call(f"{value} + {mixed}")
        inner = call(f"{functional}.layer_norm({value}, (768,), {weights(2)})")
        inner = call(f"{functional}.linear({inner}, {weights(2)})")
        inner = call(f"{functional}.gelu({inner})")
        inner = call(f"{functional}.linear({inner}, {weights(2)})")
        inner = call(f"{functional}.dropout({inner}, 0.1, False)")
        value = call(f"{value} + {inner}")
    return parse_function(f"def f({', '.join(inputs)}):\n{''.join(lines)}    return ({value},)\n", "f")
