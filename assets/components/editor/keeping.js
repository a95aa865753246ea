// What was typed and has not reached Python yet: kept in this browser, for a crash or a lost connection.

const PREFIX = "passnet draft ";

export class Kept {
  put(document, base, files) {
    attempt(() => localStorage.setItem(PREFIX + document, JSON.stringify({ base, files, at: Date.now() })));
  }

  get(document) {
    const found = attempt(() => JSON.parse(localStorage.getItem(PREFIX + document)));
    if (!found || typeof found.files !== "object" || found.files === null) return null;
    return { base: found.base, files: found.files, when: new Date(found.at).toLocaleString() };
  }

  drop(document) {
    attempt(() => localStorage.removeItem(PREFIX + document));
  }
}

/** A browser may have no storage, or a full one. */
function attempt(action) {
  try {
    return action();
  } catch {
    return null;
  }
}
