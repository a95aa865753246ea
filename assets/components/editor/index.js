// The editor: the files of a bundle as tabs. A command and its text travel in one message, so what runs is what is seen.
import { closeBrackets, closeBracketsKeymap, autocompletion, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab, isolateHistory } from "@codemirror/commands";
import { python } from "@codemirror/lang-python";
import { bracketMatching, HighlightStyle, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { lintGutter, lintKeymap, setDiagnostics } from "@codemirror/lint";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { EditorState, Prec } from "@codemirror/state";
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  highlightSpecialChars,
  keymap,
  lineNumbers,
} from "@codemirror/view";
import { tags } from "@lezer/highlight";

import { completions } from "./completing.js";
import { insertedIntoPattern, replacement } from "./editing.js";
import { Kept } from "./keeping.js";
import { mounted } from "../mounting.js";
import style from "./style.css";

const IDLE_MS = 500; // then the text is saved and checked

const colours = syntaxHighlighting(
  HighlightStyle.define([
    { tag: [tags.keyword, tags.modifier, tags.operatorKeyword], class: "keyword" },
    { tag: [tags.string, tags.special(tags.string)], class: "string" },
    { tag: [tags.number, tags.bool, tags.null], class: "number" },
    { tag: tags.comment, class: "comment" },
    { tag: [tags.function(tags.definition(tags.variableName)), tags.definition(tags.className)], class: "definition" },
    { tag: tags.meta, class: "decorator" },
  ]),
);

const SKIP_TO = "passes";

class Editor {
  constructor(parent) {
    const sheet = document.createElement("style");
    sheet.textContent = style;
    this.tabs = element("div", { class: "tabs", role: "tablist", "aria-label": "Files of the bundle" });
    this.menu = element("select", { class: "templates", "aria-label": "Replace this file with a template" });
    this.menu.addEventListener("change", () => this.useTemplate());
    this.notice = element("div", { class: "notice", role: "status", hidden: "" });
    this.panel = element("div", { class: "panel", role: "tabpanel" });
    this.hint = element("div", { class: "hint" });
    this.hint.textContent = "Ctrl+Enter checks · Ctrl+Shift+Enter runs · Ctrl+Space completes · Esc, then Tab leaves";
    const head = element("div", { class: "head" });
    head.append(this.tabs, this.menu);
    parent.append(sheet, head, this.notice, this.panel, this.hint);
    this.root = parent instanceof ShadowRoot ? parent : document;
    /** The state of each file, by document: switching documents keeps the states with their undo history. */
    this.documents = new Map();
    this.current = { document: "", file: "" };
    this.timer = 0;
    this.kept = new Kept();
    this.view = new EditorView({
      parent: this.panel,
      root: this.root,
      dispatchTransactions: (changes, view) => this.changed(changes, view),
    });
    this.view.contentDOM.addEventListener("blur", () => this.send());
    this.leaving = () => this.keepHere();
    window.addEventListener("pagehide", this.leaving);
    this.pressed = (event) => this.command(event);
    window.addEventListener("keydown", this.pressed);
    this.skip = this.skipLink(this.root.host);
    document.body.prepend(this.skip);
  }

  end() {
    this.send();
    window.removeEventListener("pagehide", this.leaving);
    window.removeEventListener("keydown", this.pressed);
    this.skip.remove();
    this.view.destroy();
  }

  // --- data from Python ---

  show(component) {
    const { data } = component;
    this.component = component;
    const before = this.data;
    if (before && before.document !== data.document) this.send();
    this.data = data;
    const known = this.documents.get(data.document);
    if (known) {
      if (known.revision !== data.revision) this.renew(known, data);
    } else {
      this.documents.set(data.document, this.opened(data));
    }
    const document = this.document;
    if (this.current.document !== data.document || !document.files.has(this.current.file)) {
      this.store();
      this.current = { document: data.document, file: document.shown };
      this.turnTo(document.shown);
    }
    // an insertion that is older than this editor has been done already
    if (before && data.insert && data.insert.serial !== before.insert?.serial) this.insert(data.insert.text);
    if (before && data.place && data.place.serial !== before.place?.serial) this.goTo(data.place);
    this.drawTabs();
    this.drawTemplates();
    this.mark();
    this.offerKept();
  }

  opened(data) {
    const files = new Map(data.files.map(({ name, code }) => [name, this.stateOf(name, code)]));
    return { revision: data.revision, files, shown: data.files[0]?.name ?? "", sent: texts(data.files) };
  }

  /** Shows a new revision of the document as a change that can be undone. */
  renew(known, data) {
    this.store();
    const files = new Map();
    for (const { name, code } of data.files) {
      const state = known.files.get(name);
      files.set(name, state ? replaced(state, code) : this.stateOf(name, code));
    }
    const added = data.files.find(({ name }) => !known.files.has(name));
    this.kept.drop(data.document);
    known.files = files;
    known.revision = data.revision;
    known.sent = texts(data.files);
    if (added) known.shown = added.name;
    if (!files.has(known.shown)) known.shown = data.files[0]?.name ?? "";
    if (this.current.document === data.document) {
      this.current.file = known.shown;
      this.turnTo(known.shown);
    }
  }

  stateOf(name, code) {
    return EditorState.create({ doc: code, extensions: this.extensions(name) });
  }

  extensions(name) {
    return [
      EditorView.contentAttributes.of({ "aria-label": `Code of ${name}`, tabindex: "0" }),
      Prec.highest(
        keymap.of([
          { key: "Mod-Enter", run: () => this.ask("check") },
          { key: "Mod-Shift-Enter", run: () => this.ask("run") },
        ]),
      ),
      lineNumbers(),
      highlightActiveLineGutter(),
      highlightSpecialChars(),
      history(),
      drawSelection(),
      EditorState.allowMultipleSelections.of(true),
      indentUnit.of("    "),
      EditorState.tabSize.of(4),
      indentOnInput(),
      bracketMatching(),
      closeBrackets(),
      python(),
      autocompletion({ override: [(context) => completions(context, this.data.operations)] }),
      highlightActiveLine(),
      highlightSelectionMatches(),
      search({ top: true }),
      lintGutter(),
      colours,
      keymap.of([
        ...closeBracketsKeymap,
        ...defaultKeymap,
        ...searchKeymap,
        ...historyKeymap,
        ...completionKeymap,
        ...lintKeymap,
        indentWithTab,
      ]),
    ];
  }

  // --- actions of the visitor ---

  get document() {
    return this.documents.get(this.data.document);
  }

  store() {
    const { document, file } = this.current;
    const known = this.documents.get(document);
    if (known?.files.has(file)) known.files.set(file, this.view.state);
  }

  turnTo(name) {
    this.view.setState(this.document.files.get(name) ?? this.stateOf(name, ""));
    this.current.file = name;
    this.document.shown = name;
    this.mark();
  }

  changed(changes, view) {
    view.update(changes);
    if (!changes.some((change) => change.docChanged)) return;
    this.store();
    this.keepHere();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.send(), IDLE_MS);
  }

  /** Returns the present text of every file. */
  texts() {
    this.store();
    return Object.fromEntries([...this.document.files].map(([name, state]) => [name, state.doc.toString()]));
  }

  message() {
    return { slot: this.data.slot, revision: this.document.revision, files: this.texts() };
  }

  send() {
    clearTimeout(this.timer);
    if (!this.data || !this.documents.has(this.data.document)) return;
    const message = this.message();
    if (same(message.files, this.document.sent)) return;
    this.document.sent = message.files;
    this.component.setStateValue("held", message);
  }

  /** Carries out a command that was typed anywhere on the page. */
  command(event) {
    if (event.defaultPrevented || event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    this.ask(event.shiftKey ? "run" : "check");
  }

  /** The first stop of the keyboard on the page: seen while it has the focus. */
  skipLink(host) {
    if (host) host.id = SKIP_TO;
    const link = element("a", { href: `#${SKIP_TO}` });
    link.textContent = "Skip to the editor";
    const looks = (seen) =>
      "position:fixed;z-index:1000000;top:0.5rem;padding:0.5rem 1rem;background:#0b62a4;color:#fff;" +
      (seen ? "left:0.5rem" : "left:-100vw");
    link.style = looks(false);
    link.addEventListener("focus", () => (link.style = looks(true)));
    link.addEventListener("blur", () => (link.style = looks(false)));
    link.addEventListener("click", (event) => {
      event.preventDefault();
      this.view.focus();
    });
    return link;
  }

  ask(what) {
    clearTimeout(this.timer);
    const message = this.message();
    this.document.sent = message.files;
    // the saved text must not lag behind the text of the command
    this.component.setStateValue("held", message);
    this.component.setTriggerValue("asked", { ...message, what });
    return true;
  }

  useTemplate() {
    const chosen = this.data.templates[Number(this.menu.value)];
    this.menu.value = "";
    if (!chosen) return;
    this.view.dispatch({ ...replacement(this.view.state, chosen.code), annotations: isolateHistory.of("full") });
    this.view.focus();
  }

  insert(text) {
    const change = insertedIntoPattern(this.view.state, text);
    this.view.dispatch({ ...change, annotations: isolateHistory.of("full"), scrollIntoView: true });
    this.view.focus();
  }

  /** Shows a file, scrolls to a line of it, and puts the cursor there. */
  goTo({ file, line, column }) {
    if (!this.document.files.has(file)) return;
    this.choose(file);
    const { doc } = this.view.state;
    const at = doc.line(Math.min(Math.max(line, 1), doc.lines));
    const anchor = Math.min(at.from + Math.max(column - 1, 0), at.to);
    this.view.dispatch({ selection: { anchor }, effects: EditorView.scrollIntoView(anchor, { y: "center" }) });
    this.view.focus();
    // the page's own header may hide the line
    this.panel.scrollIntoView({ block: "nearest" });
  }

  // --- text that this browser keeps until Python has it ---

  keepHere() {
    if (this.data) this.kept.put(this.data.document, this.data.base, this.texts());
  }

  offerKept() {
    const { document, base, files } = this.data;
    this.notice.hidden = true;
    const left = this.kept.get(document);
    if (!left) return;
    if (same(left.files, texts(files))) {
      if (same(this.texts(), left.files)) this.kept.drop(document);
      return;
    }
    if (!same(this.texts(), texts(files))) return; // the visitor is typing
    if (left.base === base) {
      this.restore(left);
      return;
    }
    const bring = element("button", { type: "button" });
    bring.textContent = "Restore it";
    bring.addEventListener("click", () => this.restore(left));
    const forget = element("button", { type: "button" });
    forget.textContent = "Discard it";
    forget.addEventListener("click", () => {
      this.kept.drop(document);
      this.notice.hidden = true;
    });
    const words = element("span");
    words.textContent = `This browser has unsaved text from ${left.when}, but these passes have changed since.`;
    this.notice.replaceChildren(words, bring, forget);
    this.notice.hidden = false;
  }

  restore(left) {
    this.notice.hidden = true;
    this.store();
    for (const [name, state] of this.document.files) {
      if (name in left.files) this.document.files.set(name, replaced(state, left.files[name]));
    }
    this.turnTo(this.current.file);
    this.send();
  }

  // --- drawing ---

  drawTabs() {
    const tabs = this.data.files.map((file) => {
      const chosen = file.name === this.current.file;
      const tab = element("button", { type: "button", role: "tab", "aria-selected": String(chosen) });
      tab.tabIndex = chosen ? 0 : -1;
      const wrong = this.findings(file.name).some(({ fatal }) => fatal);
      tab.textContent = `${file.mark} ${file.name}${wrong ? " ⚠" : ""}`.trim();
      if (wrong) tab.title = "This file breaks a rule.";
      tab.addEventListener("click", () => this.choose(file.name));
      tab.addEventListener("keydown", (event) => this.step(event, file.name));
      return tab;
    });
    const focused = this.root.activeElement?.getAttribute?.("role") === "tab";
    this.tabs.replaceChildren(...tabs);
    if (focused) this.tabs.querySelector("[aria-selected=true]")?.focus();
  }

  choose(name) {
    this.store();
    this.turnTo(name);
    this.drawTabs();
  }

  step(event, name) {
    const names = this.data.files.map((file) => file.name);
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!by) return;
    event.preventDefault();
    this.choose(names[(names.indexOf(name) + by + names.length) % names.length]);
    this.tabs.querySelector("[aria-selected=true]")?.focus();
  }

  drawTemplates() {
    const options = [["", "Templates"], ...this.data.templates.map(({ title }, index) => [String(index), title])];
    this.menu.replaceChildren(
      ...options.map(([value, text]) => {
        const option = element("option", { value });
        option.textContent = text;
        return option;
      }),
    );
    this.menu.value = "";
  }

  findings(name) {
    return this.data.findings.filter((each) => each.file === name);
  }

  /** Marks findings on their lines. */
  mark() {
    const { doc } = this.view.state;
    const marks = this.findings(this.current.file).map(({ line, column, message, fatal, source }) => {
      const at = doc.line(Math.min(Math.max(line, 1), doc.lines));
      const from = Math.min(at.from + Math.max(column - 1, 0), at.to);
      return { from, to: at.to, severity: fatal ? "error" : "warning", message, source };
    });
    this.view.dispatch(setDiagnostics(this.view.state, marks));
  }
}

export default mounted(Editor);

function element(name, attributes = {}) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

function texts(files) {
  return Object.fromEntries(files.map(({ name, code }) => [name, code]));
}

function same(left, right) {
  const names = Object.keys(left);
  return names.length === Object.keys(right).length && names.every((name) => left[name] === right[name]);
}

function replaced(state, code) {
  const change = replacement(state, code);
  return change ? state.update({ ...change, annotations: isolateHistory.of("full") }).state : state;
}
