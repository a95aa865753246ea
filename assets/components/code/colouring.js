// Colours lines of Python with spans. Other languages and very long text stay plain text nodes.
import { parser } from "@lezer/python";
import { classHighlighter, highlightTree } from "@lezer/highlight";
import { html } from "../graph/dom.js";

const LONGEST = 200_000;

export function coloured(lines, python) {
  const size = lines.reduce((sum, line) => sum + line.length + 1, 0);
  if (!python || size > LONGEST) return lines.map((line) => [line || "\u200b"]);
  const text = lines.join("\n");
  const starts = [];
  lines.reduce((start, line) => (starts.push(start), start + line.length + 1), 0);
  const pieces = lines.map(() => []);
  const done = lines.map(() => 0);
  let at = 0;
  const put = (from, to, classes) => {
    while (at + 1 < starts.length && starts[at + 1] <= from) at++;
    for (let line = at; line < lines.length && starts[line] < to; line++) {
      const [first, last] = [Math.max(from - starts[line], done[line]), Math.min(to - starts[line], lines[line].length)];
      if (last <= first) continue;
      if (first > done[line]) pieces[line].push(lines[line].slice(done[line], first));
      pieces[line].push(html("span", { class: classes }, lines[line].slice(first, last)));
      done[line] = last;
    }
  };
  highlightTree(parser.parse(text), classHighlighter, put);
  return lines.map((line, index) => {
    const rest = line.slice(done[index]);
    return rest || !line ? [...pieces[index], rest || "\u200b"] : pieces[index];
  });
}
