// Maps the lines of a pane to nodes and places in files, and back.
export function indexOf(pane) {
  const lines = pane.text.replace(/\r\n?/g, "\n").replace(/\n$/, "").split("\n");
  const places = new Map(pane.places.map(([line, place]) => [line, place]));
  const own = (line) => (pane.file ? `${pane.file}:${line}` : places.get(line));
  return {
    lines,
    nodesOf(line) {
      const over = pane.spans.filter(([first, last]) => first <= line && line <= last);
      // a span of the line itself is more exact than the block around it
      const said = over.some(([, , , exact]) => exact) ? over.filter(([, , , exact]) => exact) : over;
      return [...new Set(said.flatMap(([, , nodes]) => nodes))];
    },
    placesOf: (line) => (own(line) ? [own(line)] : []),
    linesOf(nodes, wanted) {
      const exact = new Set();
      const within = new Set();
      for (const [first, last, of, sure] of pane.spans) {
        if (!of.some((node) => nodes.has(node))) continue;
        for (let line = first; line <= Math.min(last, lines.length); line++) (sure ? exact : within).add(line);
      }
      // lines from the same line of a file are more exact than lines of the same nodes
      const placed = new Set();
      for (const place of wanted) {
        const [file, line] = [place.slice(0, place.lastIndexOf(":")), Number(place.slice(place.lastIndexOf(":") + 1))];
        if (file === pane.file && line <= lines.length) placed.add(line);
      }
      if (wanted.size) for (const [line, place] of places) if (wanted.has(place)) placed.add(line);
      for (const line of placed) exact.add(line);
      for (const line of exact) within.delete(line);
      const ordered = (each) => [...each].sort((a, b) => a - b);
      return { exact: ordered(exact), within: ordered(within), placed: ordered(placed) };
    },
  };
}
