// A button that copies a link. Only the browser knows the address under which it sees the app.
import { mounted } from "../mounting.js";
import style from "./style.css";

const SAID_MS = 2000;
const COPIED = "Copied";

class Button {
  constructor(parent) {
    const sheet = document.createElement("style");
    sheet.textContent = style;
    this.button = document.createElement("button");
    this.button.type = "button";
    this.button.addEventListener("click", () => this.copy());
    this.said = document.createElement("span");
    this.said.setAttribute("role", "status");
    this.said.className = "said";
    parent.append(sheet, this.button, this.said);
  }

  // data: the button's label; and the link, relative to the app, or null if Python has to make it first
  show(component) {
    const before = this.component?.data;
    this.component = component;
    this.button.textContent = component.data.label;
    this.button.classList.toggle("small", component.data.small);
    this.button.title = component.data.help;
    const made = component.data.link;
    if (this.waiting && made && made !== before?.link) this.copy();
  }

  async copy() {
    const { link } = this.component.data;
    this.waiting = !link;
    if (!link) {
      this.component.setTriggerValue("wanted", true);
      return;
    }
    const whole = new URL(link, document.baseURI).href;
    this.say((await written(whole)) ? COPIED : whole);
  }

  say(words) {
    const copied = words === COPIED;
    this.said.textContent = words;
    this.said.classList.toggle("hidden", copied);
    if (!copied) return;
    this.button.textContent = COPIED;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => (this.button.textContent = this.component.data.label), SAID_MS);
  }
}

export default mounted(Button);

async function written(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // no clipboard without https: select the text instead
    const field = document.createElement("textarea");
    field.value = text;
    document.body.append(field);
    field.select();
    const copied = document.execCommand("copy");
    field.remove();
    return copied;
  }
}
