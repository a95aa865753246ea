// A sign for each family of operators, in a 12 × 12 square, so that colour never carries meaning alone.
import { svg } from "./dom.js";

const SIGNS = {
  pointwise: "M6 1.5a4.5 4.5 0 1 1 0 9a4.5 4.5 0 1 1 0-9z",
  reduction: "M1 2h10L6 11z",
  normalisation: "M1 2.5h10v2.5H1zM1 7h10v2.5H1z",
  matmul: "M1 3l2-2 3 3 3-3 2 2-3 3 3 3-2 2-3-3-3 3-2-2 3-3z",
  convolution: "M1 1h4.3v4.3H1zM6.7 1H11v4.3H6.7zM1 6.7h4.3V11H1zM6.7 6.7H11V11H6.7z",
  attention: "M6 0l1.6 4.4L12 6 7.6 7.6 6 12 4.4 7.6 0 6l4.4-1.6z",
  softmax: "M0 11c4 0 4-9 6-9s2 9 6 9z",
  embedding: "M1 1h10v2H1zM1 5h7v2H1zM1 9h10v2H1z",
  layout: "M3.5 2H12L8.5 10H0z",
  indexing: "M1 1h4v2H3v6h2v2H1zM11 1H7v2h2v6H7v2h4z",
  creation: "M4.8 1h2.4v3.8H11v2.4H7.2V11H4.8V7.2H1V4.8h3.8z",
  other: "M6 1l5 5-5 5-5-5z",
  input: "M1 2h6l4 4-4 4H1z",
  result: "M11 1H9v4L5 5V2L0 6.2 5 10.5V7.2h6z",
  chain: "M0 4.8h2.4v2.4H0zM4.8 4.8h2.4v2.4H4.8zM9.6 4.8H12v2.4H9.6z",
};

export function sign(family) {
  return svg("path", { class: "sign", d: SIGNS[family] ?? SIGNS.other });
}
