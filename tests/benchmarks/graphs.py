"""Measures how fast the graph component draws, pans and zooms."""

from collections.abc import Iterator

from passnet_core.graphs import rendering
from passnet_core.graphs.ir import Graph
from tests.conftest import chromium, missing_browser

NODES = 1000
FRAMES = 60
CHAIN = "a chain"
LAYERS = "a transformer's layers"
DRAWN_MS = """
async ([mount, data]) => {
  const AsyncFunction = (async () => {}).constructor;
  const begun = performance.now();
  await new AsyncFunction("data", mount)(data);
  for (;;) {
    await new Promise(requestAnimationFrame);
    if (window.parent_.querySelectorAll(".box").length) break;
  }
  await new Promise(requestAnimationFrame);
  return performance.now() - begun;
}
"""
FRAMES_PER_S = """
async ([frames, zoom]) => {
  const canvas = window.parent_.querySelector(".canvas");
  const { left, top, width, height } = canvas.getBoundingClientRect();
  const [x, y] = [left + width / 2, top + height / 2];
  const at = (type, dx, dy) =>
    canvas.dispatchEvent(new PointerEvent(type, { pointerId: 1, button: 0, clientX: x + dx, clientY: y + dy }));
  canvas.setPointerCapture = () => {};
  at("pointerdown", 0, 0);
  await new Promise(requestAnimationFrame);
  const begun = performance.now();
  for (let frame = 1; frame <= frames; frame++) {
    if (zoom) {
      const deltaY = frame % 20 < 10 ? 40 : -40;
      const turn = { deltaY, ctrlKey: true, clientX: x, clientY: y, cancelable: true };
      canvas.dispatchEvent(new WheelEvent("wheel", turn));
    } else at("pointermove", (frame % 20) * 6, -frame * 5);
    await new Promise(requestAnimationFrame);
  }
  await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  const seconds = (performance.now() - begun) / 1000;
  at("pointerup", 0, 0);
  return frames / seconds;
}
"""


def graph_figures() -> Iterator[tuple[str, str, str]]:
    """Yield rows (figure, aim, measured) for graphs of about 1,000 nodes drawn in full."""
    missing = missing_browser()
    if missing:
        yield f"graph of {NODES:,} nodes, drawn", "2.0 s", f"not run: {missing}"
        return
    from playwright.sync_api import sync_playwright

    from tests.browser.graph_page import MOUNT, layers, open_graph_page

    with sync_playwright() as tools:
        browser = tools.chromium.launch(executable_path=chromium(), args=["--no-sandbox", "--disable-gpu"])
        for kind, graph in ((CHAIN, _chain(NODES)), (LAYERS, layers(NODES))):
            page = browser.new_page(viewport={"width": 1280, "height": 800})
            open_graph_page(page)
            data = rendering.picture(graph) | {
                "title": kind, "height": 600, "insertable": False, "folded": False,
            }  # fmt: skip
            what = f"graph of {len(graph.nodes):,} nodes ({kind})"
            seconds = page.evaluate(DRAWN_MS, [MOUNT, data]) / 1000
            yield f"{what}, drawn", "2.0 s", f"{seconds:.2f} s"
            yield f"{what}, pan", "30 /s", f"{page.evaluate(FRAMES_PER_S, [FRAMES, False]):.0f} /s"
            page.get_by_role("button", name="Fit").click()
            yield f"{what}, pan of the whole", "30 /s", f"{page.evaluate(FRAMES_PER_S, [FRAMES, False]):.0f} /s"
            yield f"{what}, zoom", "30 /s", f"{page.evaluate(FRAMES_PER_S, [FRAMES, True]):.0f} /s"
            page.close()
        browser.close()


def _chain(nodes: int) -> Graph:
    from passnet_core.graphs.source import parse_function

    lines = "".join(f"    v_{index + 1} = torch.exp(v_{index})\n" for index in range(nodes - 1))
    return parse_function(f"def f(v_0):\n{lines}    return (v_{nodes - 1},)\n", "f")
