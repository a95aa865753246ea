// The words for a node in tooltips, for screen readers and in the details.
const UNITS = ["bytes", "KiB", "MiB", "GiB", "TiB"];

export function marksOf(data, node) {
  const group = data.groups.find(({ number }) => number === node.group);
  return [
    group ? `${node.faint ? "another match, by" : "matched by"} ${group.mark} ${group.name}` : "",
    node.pair ? `pair ${node.pair.mark}: ${node.pair.with}` : "",
    node.miss ? `nearest miss${data.reason ? `: ${data.reason}` : ""}` : "",
    node.change === "+" ? "added by the rewrite" : node.change ? "removed by the rewrite" : "",
  ].filter(Boolean);
}

// The text of a node's badge: the mark of its pair, else the number of the pass that matched it.
export function badgeOf(node) {
  return node.pair ? node.pair.mark : node.group && !node.faint ? String(node.group) : "";
}

export function titleOf(node) {
  return node.family === "input" ? `input ${node.name}` : `${node.operator} ${node.name}`;
}

export function spoken(data, box, users) {
  if (box.kind === "result") return data.result.code;
  if (box.kind === "chain") return `folded chain: ${box.lines.map(([, text]) => text).join(" ")}`;
  const index = box.nodes[0];
  const node = data.nodes[index];
  const named = (nodes) => nodes.map((each) => data.nodes[each].name).join(", ");
  const seen = box.lines.map(([, text]) => text).join(" ");
  return [
    `${node.family === "input" ? "input " : ""}${seen}${badgeOf(node) ? ` ${badgeOf(node)}` : ""}`,
    node.inputs.length ? `reads ${named(node.inputs)}` : "",
    users[index].length ? `read by ${named(users[index])}` : "",
    ...marksOf(data, node),
  ]
    .filter(Boolean)
    .join("; ");
}

export function tooltip(data, box) {
  if (box.kind === "result") return data.result.code;
  if (box.kind === "chain") return `${data.nodes[box.nodes[0]].code}\n…\nClick to unfold.`;
  const node = data.nodes[box.nodes[0]];
  return [node.code, node.line ? `line ${node.line}` : "", ...marksOf(data, node)].filter(Boolean).join("\n");
}

export function size(bytes) {
  let unit = 0;
  let value = bytes;
  while (value >= 1024 && unit < UNITS.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${unit && value < 100 ? value.toPrecision(3) : Math.round(value)} ${UNITS[unit]}`;
}

export function found(node, words) {
  const text = words.trim().toLowerCase();
  return text !== "" && (node.name.toLowerCase().includes(text) || node.operator.toLowerCase().includes(text));
}
