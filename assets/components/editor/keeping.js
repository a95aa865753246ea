// Keeps typed text that has not reached Python in this browser, in case of a crash or a lost connection.

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

/** Runs an action on the storage, which may be missing or full. */
function attempt(action) {
  try {
    return action();
  } catch {
    return null;
  }
}
