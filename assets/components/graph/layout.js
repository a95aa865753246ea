// The layout, in a worker: DOT in, positions out. A page never waits for it.
import { instance } from "@viz-js/viz";

const viz = instance();

self.onmessage = async ({ data: { id, dot } }) => {
  try {
    self.postMessage({ id, layout: (await viz).renderJSON(dot) });
  } catch (error) {
    self.postMessage({ id, problem: String(error) });
  }
};
