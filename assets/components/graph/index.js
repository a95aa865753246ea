// The picture of a graph, made from data. It can be panned, zoomed, searched and walked through without a rerun.
import { mounted } from "../mounting.js";
import { details, legend, list } from "./aside.js";
import { Camera } from "./camera.js";
import { html, iconButton, svg } from "./dom.js";
import { boxFigure, edgeFigures, edgePaths } from "./figure.js";
import { enter, layoutOf, leave } from "./layouts.js";
import { sceneOf, usersOf } from "./scene.js";
import style from "./style.css";
import { found } from "./words.js";

const STEP = 1.25;
const CLICK_PX = 4;
const FAR = 0.32;
const LOWEST = 220;
const HIGHEST = 600;
const NARROW = 560; // as in the style
const BELOW = 210;
const ICONS = {
  out: "M3 8h10",
  in: "M3 8h10M8 3v10",
  fit: "M2 6V2h4M10 2h4v4M14 10v4h-4M6 14H2v-4",
  fold: "M3 3h10M3 13h10M4 8h1M7.5 8h1M11 8h1",
  list: "M6 4h8M6 8h8M6 12h8M2 4h1M2 8h1M2 12h1",
  full: "M9 7l5-5M10 2h4v4M7 9l-5 5M6 14H2v-4",
};
let drawn = 0;

class Graph {
  constructor(parent) {
    this.name = `graph-${++drawn}`;
    this.camera = new Camera(() => this.moved());
    this.pointers = new Map();
    this.build();
    parent.append(this.style, this.root);
    this.observer = new ResizeObserver(() => this.resized());
    this.observer.observe(this.canvas);
    enter();
  }

  end() {
    this.ended = true;
    this.observer.disconnect();
    cancelAnimationFrame(this.frame);
    this.style.remove();
    this.root.remove();
    leave();
  }

  build() {
    this.style = html("style", {}, style);
    this.search = html("input", {
      type: "search", placeholder: "Find a node", "aria-label": "Find a node by name or operator", spellcheck: "false",
      input: () => this.searched(), keydown: (event) => this.searchKey(event),
    }); // prettier-ignore
    this.hits = html("span", { class: "hits", role: "status" });
    this.percent = html("button", { type: "button", class: "percent", title: "100 % (1)", click: () => this.camera.to(1) });
    this.foldButton = iconButton("Fold long chains", ICONS.fold, () => this.fold(!this.folded));
    this.listButton = iconButton("List", ICONS.list, () => this.toggleList(!this.listed));
    this.fullButton = iconButton("Full screen", ICONS.full, () => this.toggleFull());
    this.fullButton.hidden = !document.fullscreenEnabled;
    this.cameraButtons = [
      iconButton("Zoom out (−)", ICONS.out, () => this.camera.to(this.camera.scale / STEP)),
      this.percent,
      iconButton("Zoom in (+)", ICONS.in, () => this.camera.to(this.camera.scale * STEP)),
      iconButton("Fit (0)", ICONS.fit, () => this.camera.fit()),
    ];
    const tools = [...this.cameraButtons, this.foldButton, this.listButton, this.fullButton];
    const bar = html(
      "div",
      { class: "bar" },
      html("div", { class: "search" }, this.search, this.hits),
      html("div", { class: "tools", role: "group", "aria-label": "View" }, ...tools),
    );
    this.edges = svg("g", { class: "edges", role: "none" });
    this.near = svg("g", { class: "near", role: "none" });
    this.boxes = svg("g", { role: "none" });
    this.world = svg("g", { role: "none" }, this.edges, this.near, this.boxes);
    this.canvas = html(
      "div",
      {
        class: "canvas", role: "listbox", tabindex: "0",
        keydown: (event) => this.key(event), focus: () => this.focused(),
        pointerdown: (event) => this.pressed(event), pointermove: (event) => this.dragged(event),
        pointerup: (event) => this.released(event), pointercancel: (event) => this.pointers.delete(event.pointerId),
      },
      svg("svg", { role: "none" }, this.world),
    ); // prettier-ignore
    this.canvas.addEventListener("wheel", (event) => this.wheeled(event), { passive: false });
    this.hint = html("p", { class: "hint", "aria-hidden": "true" });
    this.table = html("div", { class: "list" });
    this.beside = html("div", { class: "beside", keydown: (event) => event.key === "Escape" && this.close() });
    this.problem = html("p", { class: "problem", role: "status" });
    this.legend = html("div", {});
    this.said = html("p", { class: "said", role: "status" });
    this.root = html(
      "div",
      { class: "graph" },
      bar,
      this.problem,
      html("div", { class: "middle" }, html("div", { class: "stage" }, this.canvas, this.hint, this.table), this.beside),
      this.legend,
      this.said,
    );
    this.root.addEventListener("fullscreenchange", () => (this.placed = false)); // placed anew at its new size
    this.toggleList(false);
  }

  // --- data ---

  show(component) {
    this.component = component;
    const given = JSON.stringify(component.data);
    if (given === this.given) return;
    const before = this.data;
    this.given = given;
    this.data = component.data;
    this.users = usersOf(this.data);
    const same = before && before.nodes.map((each) => each.code).join("\n") === this.data.nodes.map((each) => each.code).join("\n");
    if (!same) {
      this.open = new Set();
      this.folded = this.data.folded && this.data.chains.length > 0;
      this.selected = null;
      this.active = null;
      this.layout = null;
      this.search.value = "";
      this.placed = false;
    }
    this.canvas.setAttribute("aria-label", this.data.title);
    this.at = this.data.step?.at;
    if (before && this.said.textContent !== (this.data.step?.said ?? "")) this.said.textContent = this.data.step?.said ?? "";
    this.foldButton.hidden = !this.data.chains.length;
    this.measureRoot();
    this.legend.replaceChildren(legend(this.data));
    // new marks move the picture only while the visitor has not moved it
    this.arrange(same && !this.placedHere() ? this.anchor() : null);
    this.detail();
    if (this.listed) this.drawList();
  }

  // Lays the graph out and draws it. anchor: the node that keeps its place on the screen.
  async arrange(anchor = this.anchor()) {
    const fonts = getComputedStyle(this.root);
    await document.fonts.ready;
    const scene = sceneOf(this.data, (chain) => this.folded && !this.open.has(this.data.chains[chain].nodes[0]), {
      text: fonts.fontFamily,
      code: fonts.getPropertyValue("--st-code-font") || "monospace",
    });
    this.foldButton.setAttribute("aria-pressed", String(this.folded));
    this.wanted = scene;
    this.root.setAttribute("aria-busy", "true");
    try {
      const layout = await layoutOf(scene.statements, () => this.wanted === scene && !this.ended);
      if (!layout || this.wanted !== scene || this.ended) return;
      this.problem.textContent = "";
      this.draw(scene, layout, anchor);
    } catch {
      if (this.wanted !== scene || this.ended) return;
      this.problem.textContent = "This graph could not be laid out as a picture. Here it is as a list.";
      this.layout = null;
      this.toggleList(true);
    }
    this.root.removeAttribute("aria-busy");
    this.arranged?.();
    this.arranged = null;
  }

  draw(scene, layout, anchor) {
    const stood = anchor !== null && this.scene ? this.boxOf(anchor) : null;
    const [oldX, oldY] = stood ? [stood.x, stood.y] : [0, 0];
    const active = this.active === null ? null : this.scene?.boxes[this.active];
    scene.boxes.forEach((box, index) => ([box.x, box.y] = layout.boxes[index]));
    this.scene = scene;
    this.layout = layout;
    this.camera.picture = { width: layout.width, height: layout.height };
    this.figures = scene.boxes.map((box) => boxFigure(this.data, box, this.users, `${this.name}-${box.id}`));
    this.figures.forEach((figure, index) => (figure.box = scene.boxes[index]));
    this.boxes.replaceChildren(...this.figures);
    this.edges.replaceChildren(...edgeFigures(layout.edges));
    if (active) this.active = active.nodes.length ? this.boxOf(active.nodes[0]).id : scene.boxes.length - 1;
    this.measureStage();
    const stands = stood && this.boxOf(anchor);
    if (stands) this.camera.by((oldX - stands.x) * this.camera.scale, (oldY - stands.y) * this.camera.scale);
    else this.place();
    if (this.placed && this.aimed !== this.data.focus?.join()) this.aim();
    this.look();
  }

  // Brings the nodes in focus into view.
  aim() {
    this.aimed = this.data.focus?.join();
    const boxes = (this.data.focus ?? []).map((node) => this.boxOf(node));
    if (!boxes.length) return;
    const edge = (side, end) => Math[end](...boxes.map((box) => box[side[0]] + (end === "max" ? 0.5 : -0.5) * box[side[1]]));
    const [left, right] = [edge(["x", "width"], "min"), edge(["x", "width"], "max")];
    const [top, bottom] = [edge(["y", "height"], "min"), edge(["y", "height"], "max")];
    this.camera.aim({ x: (left + right) / 2, y: (top + bottom) / 2, width: right - left, height: bottom - top });
  }

  // Without room beside the picture, the details are below it and add to the height.
  measureRoot() {
    const below = this.selected !== null && this.root.clientWidth < NARROW ? BELOW : 0;
    const filling = this.data.height === "stretch";
    this.root.classList.toggle("filling", filling);
    this.root.style.height = this.data.height && !filling ? `${this.data.height + below}px` : "";
  }

  // Without a given height, the stage is as high as its graph needs.
  measureStage() {
    if (!this.data.height) {
      const { width, height } = this.camera.picture;
      const across = Math.min(1, (this.canvas.clientWidth || width) / (width + 32));
      this.canvas.style.height = `${Math.min(HIGHEST, Math.max(LOWEST, height * across + 40))}px`;
    }
    this.measureView();
  }

  measureView() {
    this.camera.view = { width: this.canvas.clientWidth, height: this.canvas.clientHeight };
  }

  place() {
    this.placed = this.camera.seen;
    if (!this.placed) return;
    const marked = this.data.nodes.findIndex((node) => (node.group && !node.faint) || node.miss || node.change);
    const first = this.scene.boxes[this.layout.edges[0]?.from ?? 0];
    this.camera.begin({ first, marked: marked < 0 ? null : this.boxOf(marked) });
    this.aim();
    this.begun = this.sight();
  }

  sight() {
    const { x, y, scale } = this.camera;
    return `${x} ${y} ${scale}`;
  }

  // Whether the picture lies as it was placed.
  placedHere() {
    return this.placed && this.begun === this.sight() && this.selected === null;
  }

  resized() {
    if (!this.layout) return;
    const before = this.camera.view;
    this.measureView();
    if (!this.camera.seen) return;
    if (!this.placed) {
      this.measureStage();
      this.place();
    } else {
      this.camera.by((this.camera.view.width - before.width) / 2, 0);
      if (this.selected !== null) this.camera.reveal(this.boxOf(this.selected));
    }
  }

  boxOf(node) {
    return this.scene.boxes.find((box) => box.nodes.includes(node)) ?? null;
  }

  // The node that keeps its place when the picture changes: selected, active, or nearest to the centre.
  anchor() {
    if (!this.layout) return null;
    const marked = this.selected ?? (this.active === null ? null : (this.scene.boxes[this.active].nodes[0] ?? null));
    if (marked !== null) return marked;
    const { width, height } = this.camera.view;
    const [x, y] = [(width / 2 - this.camera.x) / this.camera.scale, (height / 2 - this.camera.y) / this.camera.scale];
    const far = (box) => Math.hypot(box.x - x, box.y - y);
    const boxes = this.scene.boxes.filter((box) => box.nodes.length);
    return boxes.length ? boxes.reduce((near, box) => (far(box) < far(near) ? box : near)).nodes[0] : null;
  }

  // --- looking ---

  moved() {
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => {
      const { x, y, scale } = this.camera;
      this.world.setAttribute("transform", `translate(${x.toFixed(2)} ${y.toFixed(2)}) scale(${scale.toFixed(4)})`);
      this.canvas.classList.toggle("far", scale < FAR);
      this.percent.textContent = `${Math.round(scale * 100)} %`;
      this.percent.setAttribute("aria-label", `${Math.round(scale * 100)} %, zoom to 100 % (1)`);
    });
  }

  // Sets the classes of active, selected and found boxes, and draws the edges of the active one.
  look() {
    if (!this.layout) return;
    const words = this.search.value;
    for (const figure of this.figures) {
      const { box } = figure;
      const chosen = this.selected !== null && box.nodes.includes(this.selected);
      figure.classList.toggle("active", box.id === this.active);
      figure.classList.toggle("selected", chosen);
      figure.classList.toggle("found", box.nodes.some((node) => found(this.data.nodes[node], words)));
      figure.setAttribute("aria-selected", String(chosen));
    }
    const at = this.active;
    this.near.replaceChildren(...edgePaths(this.layout.edges.filter(({ from, to }) => from === at || to === at)));
    if (at === null) this.canvas.removeAttribute("aria-activedescendant");
    else this.canvas.setAttribute("aria-activedescendant", this.figures[at].id);
  }

  activate(box, reveal = true) {
    this.active = box.id;
    this.look();
    if (reveal) this.camera.reveal(box);
  }

  // Opens the details of a node, or unfolds a chain.
  choose(box) {
    this.activate(box);
    if (box.kind === "chain") this.unfold(box);
    else this.select(box.kind === "result" ? null : box.nodes[0]);
  }

  select(node) {
    this.selected = node;
    this.look();
    this.detail();
    if (this.listed) this.markRow();
  }

  unfold(box) {
    const chain = this.data.chains[box.chain];
    this.open.add(chain.nodes[0]);
    this.arrange(chain.nodes[0]);
  }

  fold(folded) {
    this.folded = folded;
    this.open.clear();
    this.arrange();
  }

  async go(node) {
    if (this.layout) {
      const box = this.boxOf(node);
      if (box.kind === "chain") {
        const done = new Promise((resolve) => (this.arranged = resolve));
        this.unfold(box);
        await done;
      }
      if (this.layout) this.activate(this.boxOf(node));
    }
    this.select(node);
  }

  detail() {
    const shown =
      this.selected === null
        ? []
        : [
            details(this.data, this.selected, this.users, {
              go: (node) => this.go(node),
              close: () => this.close(),
              insert: this.data.insertable && ((name) => this.component.setTriggerValue("insert", name)),
            }),
          ];
    const inside = this.beside.contains(this.root.getRootNode().activeElement);
    this.beside.replaceChildren(...shown);
    this.measureRoot();
    if (inside) this.beside.firstElementChild?.focus();
  }

  close() {
    this.select(null);
    if (this.listed) this.table.querySelector("[data-node][tabindex='0']")?.focus();
    else this.canvas.focus({ preventScroll: true });
  }

  // --- list, search, full screen ---

  toggleList(listed) {
    this.listed = listed;
    this.canvas.hidden = listed;
    this.table.hidden = !listed;
    for (const each of this.cameraButtons) each.disabled = listed;
    this.listButton.setAttribute("aria-pressed", String(listed));
    if (listed) this.drawList();
    else this.table.replaceChildren();
  }

  drawList() {
    const given = { words: this.search.value, selected: this.selected, go: (node) => this.go(node) };
    this.table.replaceChildren(list(this.data, this.users, given));
  }

  markRow() {
    for (const button of this.table.querySelectorAll("[data-node]")) {
      const current = Number(button.dataset.node) === this.selected;
      button.setAttribute("tabindex", current ? "0" : "-1");
      const row = button.closest("tr");
      if (current) row.setAttribute("aria-current", "true");
      else row.removeAttribute("aria-current");
      if (current) row.scrollIntoView({ block: "nearest" });
    }
    if (!this.table.querySelector("[tabindex='0']")) this.table.querySelector("[data-node]")?.setAttribute("tabindex", "0");
  }

  get hitNodes() {
    return this.data.nodes.flatMap((node, index) => (found(node, this.search.value) ? [index] : []));
  }

  searched() {
    this.hit = -1;
    const hits = this.hitNodes.length;
    this.hits.textContent = this.search.value.trim() ? (hits ? `${hits} found` : "none found") : "";
    this.look();
    if (this.listed) this.drawList();
  }

  searchKey(event) {
    if (event.key === "Escape" && this.search.value) {
      event.preventDefault();
      this.search.value = "";
      this.searched();
    }
    if (event.key !== "Enter") return;
    event.preventDefault();
    const hits = this.hitNodes;
    if (!hits.length) return;
    this.hit = (this.hit + (event.shiftKey ? -1 : 1) + hits.length) % hits.length;
    if (this.hit < 0) this.hit = hits.length - 1;
    this.hits.textContent = `${this.hit + 1} of ${hits.length}`;
    this.go(hits[this.hit]);
  }

  async toggleFull() {
    if (document.fullscreenElement) await document.exitFullscreen();
    else await this.root.requestFullscreen().catch(() => (this.fullButton.hidden = true));
  }

  // --- pointer ---

  wheeled(event) {
    const full = this.root.matches(":fullscreen");
    if (!event.ctrlKey && !event.metaKey && !full) {
      this.say("Hold Ctrl and turn the wheel to zoom; drag to move.");
      return;
    }
    event.preventDefault();
    const { left, top } = this.canvas.getBoundingClientRect();
    const pixels = event.deltaY * (event.deltaMode ? 16 : 1);
    const factor = Math.exp(-Math.max(-80, Math.min(80, pixels)) / 300);
    this.camera.to(this.camera.scale * factor, event.clientX - left, event.clientY - top);
  }

  say(text) {
    this.hint.textContent = text;
    this.hint.classList.add("shown");
    clearTimeout(this.hintEnds);
    this.hintEnds = setTimeout(() => this.hint.classList.remove("shown"), 1500);
  }

  pressed(event) {
    if (event.button !== 0) return;
    this.pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    this.press = { x: event.clientX, y: event.clientY, moved: this.pointers.size > 1 };
  }

  dragged(event) {
    const last = this.pointers.get(event.pointerId);
    if (!last) return;
    const far = Math.hypot(event.clientX - this.press.x, event.clientY - this.press.y);
    if (!this.press.moved && far < CLICK_PX) return;
    if (!this.press.moved) this.canvas.setPointerCapture(event.pointerId);
    this.press.moved = true;
    const others = [...this.pointers].filter(([id]) => id !== event.pointerId);
    const share = 1 / (1 + others.length);
    this.camera.by((event.clientX - last.x) * share, (event.clientY - last.y) * share);
    if (others.length === 1) {
      const [, other] = others[0];
      const before = Math.hypot(last.x - other.x, last.y - other.y);
      const now = Math.hypot(event.clientX - other.x, event.clientY - other.y);
      const { left, top } = this.canvas.getBoundingClientRect();
      const [x, y] = [(event.clientX + other.x) / 2 - left, (event.clientY + other.y) / 2 - top];
      if (before > 0) this.camera.to((this.camera.scale * now) / before, x, y);
    }
    this.pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
  }

  released(event) {
    if (!this.pointers.delete(event.pointerId) || this.press.moved) return;
    const figure = event.target.closest(".box");
    if (figure) this.choose(figure.box);
  }

  // --- keyboard ---

  focused() {
    if (this.active !== null || !this.layout) return;
    const marked = this.data.nodes.findIndex((node) => (node.group && !node.faint) || node.miss || node.change);
    this.active = marked < 0 ? 0 : this.boxOf(marked).id;
    this.look();
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || !this.layout) return;
    const { camera, scene } = this;
    const does = {
      ArrowDown: () => this.step("to"),
      ArrowUp: () => this.step("from"),
      ArrowRight: () => this.along(1),
      ArrowLeft: () => this.along(-1),
      Home: () => this.activate(this.inOrder()[0]),
      End: () => this.activate(this.inOrder().at(-1)),
      Enter: () => this.choose(scene.boxes[this.active]),
      " ": () => this.choose(scene.boxes[this.active]),
      Escape: () => this.selected !== null && this.select(null),
      "+": () => camera.to(camera.scale * STEP),
      "=": () => camera.to(camera.scale * STEP),
      "-": () => camera.to(camera.scale / STEP),
      0: () => camera.fit(),
      1: () => camera.to(1),
      "/": () => this.search.focus(),
      n: () => this.turn(1),
      p: () => this.turn(-1),
    }[event.key];
    if (!does) return;
    event.preventDefault();
    this.focused();
    does();
  }

  // Goes to the next or the previous step, and wraps around.
  turn(by) {
    const { step } = this.data;
    if (!step) return;
    this.at = (this.at + by + step.of) % step.of;
    this.component.setTriggerValue("step", this.at);
  }

  // Follows an edge to the nearest box; without one, goes to the nearest row in that direction.
  step(end) {
    const here = this.scene.boxes[this.active];
    const start = end === "to" ? "from" : "to";
    const linked = this.layout.edges.filter((edge) => edge[start] === here.id).map((edge) => this.scene.boxes[edge[end]]);
    const beyond = this.scene.boxes.filter((box) => (end === "to" ? box.y > here.y + 1 : box.y < here.y - 1));
    const rows = linked.length ? linked : beyond;
    if (!rows.length) return;
    const far = (box) => Math.abs(box.y - here.y) * 4 + Math.abs(box.x - here.x);
    this.activate(rows.reduce((near, box) => (far(box) < far(near) ? box : near)));
  }

  along(by) {
    const order = this.inOrder();
    const next = order[order.indexOf(this.scene.boxes[this.active]) + by];
    if (next) this.activate(next);
  }

  // The boxes in reading order, row by row.
  inOrder() {
    return [...this.scene.boxes].sort((a, b) => (Math.abs(a.y - b.y) > 1 ? a.y - b.y : a.x - b.x));
  }
}

export default mounted(Graph);
