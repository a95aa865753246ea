// The scene: a box for each node and each folded chain, and the DOT statements that place them.
const LONGEST = 44;
const MANY = 150; // above so many boxes, an input with several readers gets a box beside each of them
const FONTS = { operator: ["600", 12.5], literals: ["400", 11], name: ["400", 11] };
const LINE = 15;
const PAD = 9;
export const SIGN = 18; // width of the sign on the first line

const context = document.createElement("canvas").getContext("2d");

export function sceneOf(data, folded, fonts) {
  const chains = data.chains.filter((_, index) => folded(index));
  const users = usersOf(data);
  const boxes = new Set();
  const boxOf = new Map(); // node -> its box, or the box of its chain
  for (const chain of chains) {
    const inside = new Set(chain.nodes);
    const fed = chain.nodes.flatMap((node) => data.nodes[node].inputs);
    const alone = fed.filter((node) => data.nodes[node].family === "input" && users[node].every((u) => inside.has(u)));
    const box = { kind: "chain", chain: data.chains.indexOf(chain), nodes: [...chain.nodes, ...new Set(alone)] };
    box.lines = chainLines(chain);
    for (const node of box.nodes) boxOf.set(node, box);
  }
  data.nodes.forEach((node, index) => {
    const box = boxOf.get(index) ?? { kind: node.family === "input" ? "input" : "node", nodes: [index] };
    box.lines ??= nodeLines(node);
    boxOf.set(index, box);
    boxes.add(box);
  });
  const result = { kind: "result", nodes: [], lines: [["operator", "return"]] };
  const links = linksOf(data, boxOf, result);
  const all = [...boxes, result];
  return placed(all, all.length > MANY ? apart(all, links) : links, fonts);
}

function nodeLines({ family, operator, literals, name }) {
  if (family === "input") return [["name", name]];
  return [["operator", operator], literals ? ["literals", literals] : null, ["name", name]].filter(Boolean);
}

function chainLines({ nodes, operators, alike }) {
  return [
    ["operator", `${nodes.length} operations`],
    ["literals", operators.join(" → ")],
    alike > 1 ? ["literals", `×${alike}: one of ${alike} alike`] : null,
  ].filter(Boolean);
}

export function usersOf(data) {
  const users = data.nodes.map(() => []);
  data.nodes.forEach((node, index) => node.inputs.forEach((input) => users[input].push(index)));
  return users;
}

function linksOf(data, boxOf, result) {
  const links = new Map();
  const link = (from, to) => {
    if (from === to) return;
    if (!links.has(from)) links.set(from, new Set());
    links.get(from).add(to);
  };
  data.nodes.forEach((node, index) => node.inputs.forEach((input) => link(boxOf.get(input), boxOf.get(index))));
  data.result.inputs.forEach((node) => link(boxOf.get(node), result));
  return [...links].flatMap(([from, all]) => [...all].map((to) => ({ from, to })));
}

// An input that many nodes read would draw edges across a large graph, so each reader gets its own copy.
function apart(boxes, links) {
  const readers = new Map();
  for (const { from, to } of links) if (from.kind === "input") readers.set(from, [...(readers.get(from) ?? []), to]);
  const copies = new Map(); // input -> reader -> its own box
  for (const [input, all] of readers) {
    if (all.length > 2) copies.set(input, new Map(all.map((to) => [to, { ...input }])));
  }
  const kept = boxes.flatMap((box) => (copies.has(box) ? [...copies.get(box).values()] : [box]));
  boxes.splice(0, boxes.length, ...kept);
  return links.map(({ from, to }) => ({ from: copies.get(from)?.get(to) ?? from, to }));
}

function placed(boxes, links, fonts) {
  boxes.forEach((box, index) => {
    box.id = index;
    box.lines = box.lines.map(([kind, text]) => [kind, cut(text)]);
    const widths = box.lines.map(([kind, text]) => widthOf(kind, text, fonts));
    box.width = Math.ceil(2 * PAD + SIGN + Math.max(...widths));
    box.height = 8 + LINE * box.lines.length;
  });
  const statements = [
    ...boxes.map(({ id, width, height }) => `n${id} [width=${width / 72} height=${height / 72}]`),
    ...links.map(({ from, to }) => `n${from.id} -> n${to.id}`),
  ];
  return { boxes, links, statements: statements.join(";") };
}

function cut(text) {
  return text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}…` : text;
}

function widthOf(kind, text, fonts) {
  const [weight, size] = FONTS[kind];
  context.font = `${weight} ${size}px ${kind === "name" ? fonts.code : fonts.text}`;
  return context.measureText(text).width;
}

export { LINE, PAD };
