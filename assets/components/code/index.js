// Panes of code whose lines belong to a subgraph's nodes. Pointing at one lights up its lines in all panes, without a rerun.
import { html } from "../graph/dom.js";
import { coloured } from "./colouring.js";
import { indexOf } from "./lines.js";
import { mounted } from "../mounting.js";
import style from "./style.css";

const LINE = 18; // as in the style
const EDGE = 2;
const NOTHING = { exact: [], within: [], placed: [] };
let made = 0;

class View {
  constructor(parent) {
    this.name = `code-${++made}`;
    this.hidden = new Set();
    this.panes = new Map();
    this.pinned = null;
    this.style = html("style", {}, style);
    this.nodes = html("div", {
      class: "nodes", role: "toolbar", "aria-label": "Nodes of the subgraph", keydown: (event) => this.nodeKey(event),
      pointerleave: () => this.light(this.pinned),
    }); // prettier-ignore
    this.shown = html("div", { class: "shown", role: "group", "aria-label": "Panes" });
    this.said = html("p", { class: "said", role: "status" });
    this.grid = html("div", { class: "panes" });
    this.root = html(
      "div",
      { class: "code", keydown: (event) => event.key === "Escape" && this.pin(null) },
      html("div", { class: "top" }, this.nodes, this.said),
      this.shown,
      this.grid,
    );
    parent.append(this.style, this.root);
  }

  end() {
    this.style.remove();
    this.root.remove();
  }

  // --- data ---

  show({ data }) {
    const given = JSON.stringify(data);
    if (given === this.given) return;
    const sameNodes = this.data && JSON.stringify(this.data.nodes) === JSON.stringify(data.nodes);
    this.given = given;
    this.data = data;
    if (!sameNodes) {
      this.pinned = null;
      this.drawNodes();
    }
    const before = this.panes;
    this.panes = new Map();
    for (const pane of data.panes) {
      const same = before.get(pane.key);
      const drawn = same && same.given === JSON.stringify(pane) && sameNodes ? same : this.drawPane(pane);
      this.panes.set(pane.key, drawn);
    }
    this.grid.replaceChildren(...[...this.panes.values()].map((pane) => pane.section));
    this.drawShown();
    if (this.pinned?.pane && !this.panes.has(this.pinned.pane)) this.pinned = null;
    this.light(this.pinned);
  }

  drawNodes() {
    const buttons = this.data.nodes.map((node, index) => {
      const at = { node: index };
      return html(
        "button",
        {
          type: "button", tabindex: index ? "-1" : "0", "aria-pressed": "false",
          class: node.operator === "input" ? "input" : null,
          pointerenter: () => this.hover(at), focus: () => this.hover(at), blur: () => this.light(this.pinned),
          click: () => this.pin(at),
        },
        html("span", {}, [node.mark, node.name].filter(Boolean).join(" ")),
        html("small", {}, node.operator),
      ); // prettier-ignore
    });
    this.nodes.replaceChildren(...buttons);
  }

  drawShown() {
    const buttons = this.data.panes.map((pane) => {
      const toggle = () => {
        if (!this.hidden.delete(pane.key)) this.hidden.add(pane.key);
        this.drawShown();
        this.shown.querySelectorAll("button")[this.data.panes.indexOf(pane)].focus();
      };
      const there = !this.hidden.has(pane.key);
      this.panes.get(pane.key).section.hidden = !there;
      return html("button", { type: "button", "aria-pressed": String(there), click: toggle }, pane.title);
    });
    this.shown.replaceChildren(...buttons);
  }

  drawPane(pane) {
    const index = indexOf(pane);
    const id = `${this.name}-${++made}`;
    const lines = coloured(index.lines, pane.python).map((content, at) =>
      html(
        "div",
        { class: "line", role: "option", id: `${id}-${at + 1}`, "data-line": at + 1, "aria-selected": "false" },
        html("span", { class: "number", "aria-hidden": "true" }, String(at + 1)),
        html("span", { class: "sign", "aria-hidden": "true" }),
        html("code", {}, ...content),
      ),
    );
    const drawn = { pane, index, lines, lit: [], active: 0, given: JSON.stringify(pane) };
    drawn.box = html(
      "div",
      {
        class: "lines", role: "listbox", "aria-multiselectable": "true", tabindex: "0", "aria-label": pane.title,
        pointerover: (event) => this.over(drawn, event), pointerleave: () => this.light(this.pinned),
        click: (event) => this.clicked(drawn, event), keydown: (event) => this.lineKey(drawn, event),
        focus: () => drawn.active && this.activate(drawn, drawn.active), blur: () => this.light(this.pinned),
      },
      html("div", { class: "wide", role: "presentation" }, ...lines),
    ); // prettier-ignore
    drawn.count = html("span", { class: "count" });
    const copy = html("button", { type: "button", class: "copy", "aria-label": `Copy ${pane.title}` }, "Copy");
    copy.addEventListener("click", async () => {
      await navigator.clipboard?.writeText(pane.text).then(() => (copy.textContent = "Copied"), () => {});
      setTimeout(() => (copy.textContent = "Copy"), 1500);
    });
    drawn.section = html(
      "section",
      { "aria-label": pane.title, "data-pane": pane.key },
      html("header", {}, html("strong", {}, pane.title), drawn.count, copy),
      pane.facts.length ? html("ul", {}, ...pane.facts.map((fact) => html("li", {}, fact))) : null,
      pane.note ? html("p", { class: "note" }, pane.note) : null,
      drawn.box,
    );
    return drawn;
  }

  // --- what is pointed at ---

  hover(at) {
    if (!this.pinned) this.light(at);
  }

  pin(at) {
    const same = at && this.pinned && JSON.stringify(at) === JSON.stringify(this.pinned);
    this.pinned = same ? null : at;
    this.light(this.pinned);
  }

  over(drawn, event) {
    const line = event.target.closest(".line");
    if (line) this.hover({ pane: drawn.pane.key, line: Number(line.dataset.line) });
  }

  clicked(drawn, event) {
    const line = event.target.closest(".line");
    // selecting text to copy it is not pointing at a line
    if (!line || String(document.getSelection() ?? "")) return;
    drawn.active = Number(line.dataset.line);
    this.pin({ pane: drawn.pane.key, line: drawn.active });
  }

  // Lights up the lines of a node, or of the nodes that a line belongs to; null turns all lights off.
  light(at) {
    for (const [key, drawn] of this.panes) {
      for (const line of drawn.lit) {
        line.classList.remove("exact", "within", "here");
        line.setAttribute("aria-selected", "false");
      }
      drawn.lit = [];
      drawn.count.textContent = "";
      drawn.key = key;
    }
    const from = at?.pane ? this.panes.get(at.pane) : null;
    const nodes = new Set(from ? from.index.nodesOf(at.line) : at ? [at.node] : []);
    const places = new Set(from ? from.index.placesOf(at.line) : []);
    const shown = [];
    for (const drawn of this.panes.values()) {
      // a pane of a file needs no marks for its own lines
      const wanted = drawn === from && drawn.pane.file ? new Set() : places;
      const found = at ? drawn.index.linesOf(nodes, wanted) : NOTHING;
      for (const number of found.within) this.mark(drawn, number, "within");
      for (const number of found.exact) this.mark(drawn, number, "exact");
      if (drawn === from) this.mark(drawn, at.line, "here");
      const words = wordsOf(found);
      drawn.count.textContent = words;
      if (words && !this.hidden.has(drawn.pane.key)) shown.push(`${drawn.pane.title}: ${words}`);
      if (drawn !== from) {
        if (found.exact.length) reveal(drawn.box, found.placed.length ? found.placed : found.exact);
        else reveal(drawn.box, found.within.slice(0, 1), 0.5);
      }
    }
    for (const [index, button] of [...this.nodes.children].entries()) {
      button.classList.toggle("lit", nodes.has(index));
      button.setAttribute("aria-pressed", String(this.pinned !== null && nodes.has(index)));
    }
    this.say(at, from, nodes, shown);
  }

  mark(drawn, number, kind) {
    const line = drawn.lines[number - 1];
    if (!line) return;
    if (kind === "exact") line.classList.remove("within");
    line.classList.add(kind);
    if (kind === "exact") line.setAttribute("aria-selected", "true");
    drawn.lit.push(line);
  }

  say(at, from, nodes, shown) {
    const names = [...nodes].map((index) => this.data.nodes[index].name);
    const what = from ? `${from.pane.title}, line ${at.line}` : names.join(", ");
    const of = from ? (names.length ? ` (${names.join(", ")})` : " belongs to no node") : "";
    const held = this.pinned ? " Pinned: press Escape to release." : "";
    this.said.textContent = at
      ? `${what}${of}${shown.length ? ` – ${shown.join("; ")}` : ""}.${held}`
      : "Point at a node or a line, or move to it with the keyboard: its lines light up in every pane. Click or press Enter to pin it.";
    this.said.classList.toggle("held", this.pinned !== null);
  }

  // --- keyboard ---

  nodeKey(event) {
    const buttons = [...this.nodes.children];
    const here = buttons.indexOf(this.root.getRootNode().activeElement);
    const to = { ArrowRight: here + 1, ArrowDown: here + 1, ArrowLeft: here - 1, ArrowUp: here - 1, Home: 0,
      End: buttons.length - 1 }[event.key]; // prettier-ignore
    if (to === undefined || !buttons[to]) return;
    event.preventDefault();
    for (const each of buttons) each.tabIndex = -1;
    buttons[to].tabIndex = 0;
    buttons[to].focus();
  }

  lineKey(drawn, event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(1, Math.floor(drawn.box.clientHeight / LINE) - 1);
    const last = drawn.lines.length;
    const by = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -last, End: last }[event.key];
    if (by !== undefined) this.activate(drawn, Math.min(last, Math.max(1, drawn.active + by)));
    else if (event.key === "Enter" || event.key === " ") {
      if (drawn.active) this.pin({ pane: drawn.pane.key, line: drawn.active });
    } else return;
    event.preventDefault();
  }

  activate(drawn, line) {
    drawn.active = line;
    drawn.box.setAttribute("aria-activedescendant", drawn.lines[line - 1].id);
    this.hover({ pane: drawn.pane.key, line });
    for (const each of drawn.lines) each.classList.toggle("active", each === drawn.lines[line - 1]);
    reveal(drawn.box, [line]);
  }
}

export default mounted(View);

// "line 4", "5 lines", "somewhere in lines 2 to 9"
function wordsOf({ exact, within }) {
  if (exact.length > 3) return `${exact.length} lines`;
  if (exact.length) return `${exact.length > 1 ? "lines" : "line"} ${exact.join(", ")}`;
  return within.length ? `somewhere in ${within.length === 1 ? "line" : "lines"} ${within[0]}${within.length > 1 ? ` to ${within.at(-1)}` : ""}` : "";
}

// Scrolls the box, not the page, unless one of the lines is already visible within this share of the box.
function reveal(box, numbers, share = 1) {
  if (!numbers.length || !box.clientHeight) return;
  const tops = numbers.map((number) => (number - 1) * LINE);
  const [from, to] = [box.scrollTop, box.scrollTop + box.clientHeight * share - LINE];
  if (!tops.some((top) => top >= from && top <= to)) box.scrollTop = Math.max(0, tops[0] - EDGE * LINE);
}
