// A cell for each subgraph of a task, in the state in which the passes leave it. A click selects the subgraph; the
// arrow keys go from cell to cell, so that Tab passes the strip in one step.
import { mounted } from "../mounting.js";
import style from "./style.css";

const MARKS = { right: "✓", wrong: "✕", matched: "=", unmatched: "–" };
const STEPS = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };

class Strip {
  constructor(parent) {
    const sheet = document.createElement("style");
    sheet.textContent = style;
    this.bar = document.createElement("div");
    this.bar.setAttribute("role", "toolbar");
    this.bar.addEventListener("keydown", (event) => this.step(event));
    this.cells = new Map();
    parent.append(sheet, this.bar);
  }

  // data: the strip's label; and groups, each with a name and its cells: id, state, title, and whether it is selected
  show(component) {
    this.component = component;
    const { label, groups } = component.data;
    this.bar.setAttribute("aria-label", label);
    const ids = JSON.stringify(groups.map((group) => [group.name, group.cells.map((cell) => cell.id)]));
    if (ids !== this.ids) this.build(groups);
    this.ids = ids;
    for (const cell of groups.flatMap((group) => group.cells)) {
      const button = this.cells.get(cell.id);
      button.className = cell.state;
      button.textContent = MARKS[cell.state] ?? "";
      button.title = cell.title;
      button.setAttribute("aria-label", cell.title);
      button.setAttribute("aria-pressed", cell.selected);
      button.tabIndex = cell.selected ? 0 : -1;
    }
  }

  build(groups) {
    this.cells.clear();
    this.bar.replaceChildren(
      ...groups.map((group) => {
        const row = document.createElement("span");
        const name = document.createElement("span");
        name.textContent = group.name;
        name.className = "name";
        row.append(name, ...group.cells.map((cell) => this.button(cell.id)));
        return row;
      }),
    );
  }

  button(id) {
    const button = document.createElement("button");
    button.type = "button";
    button.addEventListener("click", () => this.component.setTriggerValue("chosen", id));
    this.cells.set(id, button);
    return button;
  }

  step(event) {
    const buttons = [...this.cells.values()];
    const at = buttons.indexOf(this.bar.getRootNode().activeElement);
    const next = buttons[at + STEPS[event.key]];
    if (at < 0 || !next) return;
    event.preventDefault();
    next.focus();
  }
}

export default mounted(Strip);
