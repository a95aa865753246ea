// Changes to a text. Only the part that differs is replaced, so that the cursor and the undo history stay meaningful.

/** Returns the change that turns the text into `code`; null if they are the same. */
export function replacement(state, code) {
  const before = state.doc.toString();
  if (before === code) return null;
  let from = 0;
  const shorter = Math.min(before.length, code.length);
  while (from < shorter && before[from] === code[from]) from += 1;
  let same = 0;
  while (same < shorter - from && before[before.length - 1 - same] === code[code.length - 1 - same]) same += 1;
  return { changes: { from, to: before.length - same, insert: code.slice(from, code.length - same) } };
}

/** Returns the change that inserts a line before the return of `pattern`; at the cursor if there is no such function. */
export function insertedIntoPattern(state, text) {
  const { doc } = state;
  let inside = false;
  for (let number = 1; number <= doc.lines; number += 1) {
    const line = doc.line(number);
    if (/^def\s+pattern\b/.test(line.text)) inside = true;
    else if (inside && /^\S/.test(line.text)) break;
    const found = inside && line.text.match(/^(\s+)return\b/);
    if (found) return put(line.from, `${found[1]}${text}\n`);
  }
  const line = doc.lineAt(state.selection.main.head);
  return put(line.from, `${line.text.match(/^\s*/)[0]}${text}\n`);
}

function put(from, insert) {
  return { changes: { from, insert }, selection: { anchor: from + insert.length - 1 } };
}
