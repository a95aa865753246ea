// The handles between panes that lie side by side: they set how wide each pane is, and this browser remembers it.
import { mounted } from "../mounting.js";
import style from "./style.css";

const LEAST = 12; // percent of the whole
const STEP = 2;

class Handles {
  constructor(parent) {
    const sheet = document.createElement("style");
    sheet.textContent = style;
    this.root = document.createElement("div");
    parent.append(sheet, this.root);
    this.host = parent.host ?? parent;
    this.observer = new ResizeObserver(() => this.place());
  }

  end() {
    this.observer.disconnect();
  }

  // data: the CSS class of the panes' container, the names of the panes, and their widths in percent at first
  show({ data }) {
    const given = JSON.stringify(data);
    if (this.given !== given) {
      this.given = given;
      this.data = data;
      this.widths = this.kept() ?? data.widths;
      this.handles = data.names.slice(1).map((_, index) => this.handle(index));
      this.root.replaceChildren(...this.handles);
    }
    this.observer.disconnect();
    this.panes.forEach((pane) => this.observer.observe(pane));
    this.apply();
  }

  get panes() {
    const within = this.host.closest(`.${this.data.within}`);
    const columns = within?.querySelectorAll('[data-testid="stHorizontalBlock"]')[0]?.children ?? [];
    return [...columns].slice(0, this.data.names.length);
  }

  handle(index) {
    const made = document.createElement("div");
    const words = `Border between ${this.data.names[index]} and ${this.data.names[index + 1]}`;
    for (const [name, value] of Object.entries({
      role: "separator", tabindex: "0", "aria-orientation": "vertical", "aria-label": words,
      title: "Drag to resize; double-click to reset",
    })) made.setAttribute(name, value); // prettier-ignore
    made.addEventListener("pointerdown", (event) => {
      made.setPointerCapture(event.pointerId);
      event.preventDefault();
      made.focus();
    });
    made.addEventListener("pointermove", (event) => {
      if (made.hasPointerCapture(event.pointerId)) this.drag(index, event.clientX);
    });
    made.addEventListener("pointerup", () => this.keep());
    made.addEventListener("dblclick", () => this.reset());
    made.addEventListener("keydown", (event) => {
      const by = { ArrowLeft: -STEP, ArrowRight: STEP }[event.key];
      if (by) this.move(index, this.widths[index] + by);
      else if (event.key === "Home") this.reset();
      else return;
      event.preventDefault();
      this.keep();
    });
    return made;
  }

  drag(index, x) {
    const panes = this.panes;
    const left = panes[index].getBoundingClientRect().left;
    const both = panes[index + 1].getBoundingClientRect().right - left;
    this.move(index, ((x - left) / both) * (this.widths[index] + this.widths[index + 1]));
  }

  move(index, width) {
    const both = this.widths[index] + this.widths[index + 1];
    const bounded = Math.min(both - LEAST, Math.max(LEAST, width));
    this.widths = this.widths.map((each, at) => (at === index ? bounded : at === index + 1 ? both - bounded : each));
    this.apply();
  }

  reset() {
    this.widths = this.data.widths;
    this.apply();
    this.keep();
  }

  apply() {
    this.widths.forEach((width, index) => document.documentElement.style.setProperty(`--pane-${index + 1}`, width));
    this.handles.forEach((handle, index) => {
      handle.setAttribute("aria-valuenow", Math.round(this.widths[index]));
      handle.setAttribute("aria-valuemin", LEAST);
      handle.setAttribute("aria-valuemax", Math.round(this.widths[index] + this.widths[index + 1] - LEAST));
    });
    this.place();
  }

  place() {
    const panes = this.panes;
    const own = this.host.getBoundingClientRect();
    this.handles.forEach((handle, index) => {
      const [left, right] = [panes[index], panes[index + 1]].map((pane) => pane?.getBoundingClientRect());
      if (!left || !right) return;
      handle.style.left = `${(left.right + right.left) / 2 - own.left}px`;
      handle.style.top = `${left.top - own.top}px`;
      handle.style.height = `${left.height}px`;
    });
  }

  get key() {
    return `passnet widths ${this.data.within} ${this.data.names.length}`;
  }

  keep() {
    try {
      localStorage.setItem(this.key, JSON.stringify(this.widths));
    } catch {
      // a browser without storage forgets
    }
  }

  kept() {
    try {
      const found = JSON.parse(localStorage.getItem(this.key));
      const sound = Array.isArray(found) && found.length === this.data.names.length && found.every((each) => each >= LEAST);
      return sound ? found : null;
    } catch {
      return null;
    }
  }
}

export default mounted(Handles);
