// Creates elements from plain data. Text becomes text nodes, never markup.
const SVG = "http://www.w3.org/2000/svg";

export function html(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

export function svg(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (value !== null && value !== undefined && value !== false) {
      element.setAttribute(name, value === true ? "" : value);
    }
  }
  element.append(...children.filter((each) => each !== null && each !== undefined && each !== false && each !== ""));
  return element;
}

// Creates a button with an icon. The words are its accessible name and its tooltip.
export function iconButton(words, path, click) {
  const icon = svg("svg", { viewBox: "0 0 16 16", "aria-hidden": "true" }, svg("path", { d: path }));
  return html("button", { type: "button", class: "icon", "aria-label": words, title: words, click }, icon);
}
