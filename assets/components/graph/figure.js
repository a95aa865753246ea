// The picture: boxes and edges as SVG.
import { svg } from "./dom.js";
import { sign } from "./families.js";
import { LINE, PAD, SIGN } from "./scene.js";
import { badgeOf, spoken, tooltip } from "./words.js";

const PLUS = "M-4 0h8M0 -4v8";
const MINUS = "M-4 0h8";
const CROSS = "M-3.5 -3.5l7 7M3.5 -3.5l-7 7";
const TOGETHER = 40; // edges per path: a single path would be repainted whole at each move

export function boxFigure(data, box, users, id) {
  const { width, height, kind } = box;
  const node = kind === "node" || kind === "input" ? data.nodes[box.nodes[0]] : null;
  const group = node && data.groups.find(({ number }) => number === (node.group ?? node.pair?.group));
  const badged = node ? badgeOf(node) : "";
  const family = node ? node.family : kind;
  const colour = data.families.find(({ name }) => name === family)?.colour;
  const round = kind === "input" || kind === "result" ? height / 2 : 5;
  const frame = (grow) =>
    svg("rect", {
      x: -grow, y: -grow, width: width + 2 * grow, height: height + 2 * grow, rx: round + grow,
      class: grow ? "outer" : "frame",
    }); // prettier-ignore
  const figure = svg(
    "g",
    {
      id,
      role: "option",
      "aria-selected": "false",
      "aria-label": spoken(data, box, users),
      class: ["box", kind, node?.group && "matched", node?.faint && "faint", node?.miss && "miss", node?.change && "changed"].filter(Boolean).join(" "),
      transform: `translate(${box.x - width / 2} ${box.y - height / 2})`,
    },
    svg("title", {}, tooltip(data, box)),
    svg(
      "g",
      { "aria-hidden": "true" },
      kind === "chain" ? svg("path", { class: "stack", d: stack(width, height) }) : null,
      node?.miss ? frame(4) : null,
      frame(0),
      svg("g", { transform: `translate(${PAD} ${4 + (LINE - 12) / 2})` }, sign(family)),
      ...box.lines.flatMap(([kind, text], index) => [
        svg("text", { class: kind, x: PAD + SIGN, y: 4 + LINE * index + 11.5 }, text),
        " ", // keeps the words apart in the accessible name
      ]),
      badged ? badge(0, "group", svg("text", { y: 4.5, "text-anchor": "middle" }, badged)) : null,
      node?.change ? badge(width, "change", svg("path", { d: node.change === "+" ? PLUS : MINUS })) : null,
      node?.miss ? badge(width, "missed", svg("path", { d: CROSS })) : null,
    ),
  );
  if (colour) figure.style.setProperty("--family", colour);
  if (group) figure.style.setProperty("--group", group.colour);
  return figure;
}

function badge(x, kind, content) {
  const half = 9 + 3 * Math.max(0, content.textContent.length - 1);
  return svg(
    "g",
    { class: `badge ${kind}`, transform: `translate(${x} 0)` },
    svg("rect", { x: -half, y: -9, width: 2 * half, height: 18, rx: 9 }),
    content,
  );
}

function stack(width, height) {
  return `M5 ${height + 3}H${width + 3}V5M8 ${height + 6}H${width + 6}V8`;
}

// A few paths for all edges. The edges of the active box are drawn again on top.
export function edgeFigures(edges) {
  const figures = [];
  for (let start = 0; start < edges.length; start += TOGETHER) {
    figures.push(...edgePaths(edges.slice(start, start + TOGETHER)));
  }
  return figures;
}

export function edgePaths(edges) {
  return [
    svg("path", { class: "line", d: edges.map(line).join("") }),
    svg("path", { class: "tip", d: edges.map(tip).join("") }),
  ];
}

function line({ curve: [x, y, ...rest], tip: [toX, toY] }) {
  return `M${x} ${y}C${rest.join(" ")}L${toX} ${toY}`;
}

function tip({ curve, tip: [x, y] }) {
  const [fromX, fromY] = curve.slice(-2);
  const length = Math.hypot(x - fromX, y - fromY) || 1;
  const [dx, dy] = [((x - fromX) / length) * 7, ((y - fromY) / length) * 7];
  return `M${x} ${y}L${x - dx - dy * 0.4} ${y - dy + dx * 0.4}L${x - dx + dy * 0.4} ${y - dy - dx * 0.4}z`;
}
