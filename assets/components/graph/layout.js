// Computes the layout in a worker, so that the page never waits for it: DOT in, positions out.
import { instance } from "@viz-js/viz";

const viz = instance();

self.onmessage = async ({ data: { id, dot } }) => {
  try {
    const { status, output, errors } = (await viz).render(dot, { format: "json0", yInvert: true });
    if (status !== "success") throw new Error(errors.map((each) => each.message).join(" "));
    self.postMessage({ id, layout: positions(JSON.parse(output)) });
  } catch (error) {
    self.postMessage({ id, problem: String(error) });
  }
};

// boxes: centres, by number of the node. edges: points of a Bézier curve and the tip of the arrow.
function positions({ bb, objects = [], edges = [] }) {
  const [, , width, height] = numbers(bb);
  const number = objects.map(({ name }) => Number(name.slice(1)));
  const boxes = [];
  objects.forEach(({ pos }, index) => (boxes[number[index]] = numbers(pos)));
  return {
    width,
    height: Math.abs(height) || numbers(bb)[1],
    boxes,
    edges: edges.map(({ tail, head, pos }) => {
      const [tip, ...curve] = pos.split(" ");
      return { from: number[tail], to: number[head], curve: curve.flatMap(numbers), tip: numbers(tip.slice(2)) };
    }),
  };
}

function numbers(text) {
  return text.split(",").map(Number);
}
