// A component that lives in its place on the page: made by the first call there, and shown by each.
export function mounted(Made) {
  const known = new WeakMap();
  return (component) => {
    const { parentElement } = component;
    if (!known.has(parentElement)) known.set(parentElement, new Made(parentElement));
    const own = known.get(parentElement);
    own.show(component);
    return () => {
      // Streamlit also ends calls that a newer call has replaced, while what was made is still in use
      if (parentElement.isConnected || !own.end) return;
      own.end();
      known.delete(parentElement);
    };
  };
}
