// Asks the worker for layouts, one at a time. A layout that takes too long is tried once more with quicker settings.
const PATIENCE_MS = 5000;
const KEPT = 12;
const QUICK = "splines=line nslimit=2 nslimit1=2 mclimit=0.2";

const kept = new Map();
let worker = null;
let users = 0;
let asked = 0;
let last = Promise.resolve();

export function enter() {
  users += 1;
}

// The worker ends with the last graph of the page.
export function leave() {
  users -= 1;
  if (!users) stop();
}

// Resolves to the layout of these DOT statements, and rejects if there is none. wanted: false cancels before the start.
export function layoutOf(statements, wanted) {
  const found = kept.get(statements);
  if (found) return Promise.resolve(found);
  const next = last.then(async () => {
    if (!wanted()) return null;
    const layout = await answer(dotOf("", statements)).catch(() => answer(dotOf(QUICK, statements)));
    kept.set(statements, layout);
    if (kept.size > KEPT) kept.delete(kept.keys().next().value);
    return layout;
  });
  last = next.catch(() => {});
  return next;
}

function dotOf(care, statements) {
  return `digraph { graph [ranksep=0.3 nodesep=0.2 ${care}] node [shape=box fixedsize=true label=""] ${statements} }`;
}

function answer(dot) {
  worker ??= new Worker(new URL(LAYOUT, import.meta.url), { type: "module" });
  const id = ++asked;
  const asking = worker;
  return new Promise((resolve, reject) => {
    const failed = (problem) => {
      if (worker === asking) stop(); // after an overflow, the worker's answers cannot be relied on
      reject(new Error(problem));
    };
    const late = setTimeout(() => failed("The layout takes too long."), PATIENCE_MS);
    asking.onmessage = ({ data }) => {
      if (data.id !== id) return;
      clearTimeout(late);
      if (data.layout) resolve(data.layout);
      else failed(data.problem);
    };
    asking.onerror = (event) => {
      event.preventDefault();
      clearTimeout(late);
      failed("The layout could not start.");
    };
    asking.postMessage({ id, dot });
  });
}

function stop() {
  worker?.terminate();
  worker = null;
}
