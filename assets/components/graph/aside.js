// Beside the picture: the details of a node, the list of all nodes, and the legend.
import { html, iconButton, svg } from "./dom.js";
import { sign } from "./families.js";
import { found, marksOf, size, titleOf } from "./words.js";

const CROSS = "M4 4l8 8M12 4l-8 8";

export function details(data, index, users, { go, close, insert }) {
  const node = data.nodes[index];
  const links = (nodes) =>
    nodes.length
      ? nodes.map((each) => html("button", { type: "button", class: "link", click: () => go(each) }, data.nodes[each].name))
      : ["nothing"];
  const rows = [
    ...marksOf(data, node).map((text) => ["Mark", [text]]),
    ...valueRows(node.value),
    ["Line", [node.line ? String(node.line) : "not known"]],
    ["Reads", links(node.inputs)],
    ["Read by", [...(users[index].length ? links(users[index]) : []), ...returned(data, index, users)]],
    ["Family", [node.family === "input" ? "input of the subgraph" : node.family]],
  ];
  return html(
    "div",
    { class: "details", role: "region", tabindex: "-1", "aria-label": `Details of ${node.name}` },
    html("div", { class: "head" }, signOf(data, node.family), html("strong", {}, titleOf(node)), iconButton("Close the details", CROSS, close)),
    html("pre", { tabindex: "0", role: "group", "aria-label": "Expression" }, html("code", {}, node.code)),
    insert && html("button", { type: "button", class: "insert", click: () => insert(node.name) }, "Insert into pattern"),
    html("dl", {}, ...rows.flatMap(([term, said]) => [html("dt", {}, term), html("dd", {}, ...said)])),
  );
}

function returned(data, index, users) {
  if (data.result.inputs.includes(index)) return [html("span", {}, "return")];
  return users[index].length ? [] : ["nothing"];
}

function valueRows(value) {
  if (!value) return [["Value", ["shape and dtype not known"]]];
  return [
    ["Shape", [value.shape.length ? value.shape.join("×") : "scalar"]],
    ["Dtype", [value.dtype]],
    ...(value.bytes === null ? [] : [["Size", [size(value.bytes)]]]),
  ];
}

// A row for each node, folded ones included. The list is one tab stop, in which the arrow keys move.
export function list(data, users, { words, selected, go }) {
  const shown = data.nodes.map((_, index) => index).filter((index) => !words.trim() || found(data.nodes[index], words));
  const stop = shown.includes(selected) ? selected : shown[0];
  const names = (nodes) => nodes.map((each) => data.nodes[each].name).join(", ");
  const rows = shown.map((index) => {
    const node = data.nodes[index];
    const choose = html(
      "button",
      { type: "button", class: "link", tabindex: index === stop ? 0 : -1, "data-node": index, click: () => go(index) },
      titleOf(node),
    );
    return html(
      "tr",
      { "aria-current": index === selected ? "true" : null },
      html("th", { scope: "row" }, html("div", {}, signOf(data, node.family), choose)),
      html("td", {}, names(node.inputs)),
      html("td", {}, names(users[index]) || (data.result.inputs.includes(index) ? "return" : "")),
      html("td", {}, node.line === null ? "" : String(node.line)),
      html("td", {}, marksOf(data, node).join("; ")),
    );
  });
  const heads = ["Node", "Reads", "Read by", "Line", "Marks"];
  const body = html("tbody", { keydown: (event) => walk(event) }, ...rows);
  return html(
    "table",
    {},
    html("caption", {}, data.title),
    html("thead", {}, html("tr", {}, ...heads.map((head) => html("th", { scope: "col" }, head)))),
    body,
  );
}

function walk(event) {
  const buttons = [...event.currentTarget.querySelectorAll("button")];
  const at = buttons.indexOf(event.target);
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: buttons.length - 1 }[event.key];
  if (to === undefined) return;
  event.preventDefault();
  buttons[at]?.setAttribute("tabindex", "-1");
  const next = buttons[Math.max(0, Math.min(buttons.length - 1, to))];
  next?.setAttribute("tabindex", "0");
  next?.focus();
}

// Explains only what occurs in this picture.
export function legend(data) {
  const nodes = data.nodes;
  const marked = (mark, text, colour) => {
    const entry = html("li", { class: "mark" }, html("b", {}, mark), text);
    if (colour) entry.style.setProperty("--group", colour);
    return entry;
  };
  const entries = [
    ...(nodes.some((each) => each.pair) ? paired(data, marked) : groups(data, marked)),
    nodes.some((each) => each.miss) && marked("✗", "nearest miss", "#d55e00"),
    nodes.some((each) => each.change === "+") && marked("+", "added"),
    nodes.some((each) => each.change === "−") && marked("−", "removed"),
    ...data.families.map(({ name }) => html("li", {}, signOf(data, name), name)),
    nodes.some((each) => each.family === "input") && html("li", {}, signOf(data, "input"), "input"),
  ];
  return html("ul", { class: "legend", "aria-label": "Legend" }, ...entries.filter(Boolean));
}

function groups(data, marked) {
  return data.groups.map(({ number, name, colour }) => marked(String(number), name, colour));
}

// While pairs are shown, the numbers stand for pairs and not for passes.
function paired({ nodes, groups }, marked) {
  const { colour, name } = groups.find(({ number }) => nodes.some(({ pair }) => pair?.group === number)) ?? {};
  const isInput = ({ pair }) => pair && !/^\d/.test(pair.mark);
  return [
    nodes.some(({ pair }) => /^\d/.test(pair?.mark)) && marked("1", `pair, ${name}`, colour),
    nodes.some(isInput) && marked("a", "paired input", colour),
    nodes.some(({ faint }) => faint) && marked("⋯", "another match"),
  ].filter(Boolean);
}

function signOf(data, family) {
  const icon = svg("svg", { viewBox: "0 0 12 12", class: "family", "aria-hidden": "true" }, sign(family));
  const colour = data.families.find(({ name }) => name === family)?.colour;
  if (colour) icon.style.setProperty("--family", colour);
  return icon;
}
