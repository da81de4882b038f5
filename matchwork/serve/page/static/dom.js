// DOM helpers. Text is only ever inserted as text: nothing on this page parses HTML.

export const find = (id) => document.getElementById(id);

export function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name in made) made[name] = value;
    else made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

export function svg(tag, attributes = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/** Scroll to a node that is off screen, such as below the form on a phone. */
export function reveal(node) {
  if (node.getBoundingClientRect().top > 0.7 * innerHeight) node.scrollIntoView();
}

export const plural = (number, word) =>
  `${number.toLocaleString("en")} ${word}${number === 1 ? "" : "s"}`;

export function decimal(value) {
  const size = Math.abs(value);
  const rare = size && (size < 0.001 || size >= 1e5);
  const written = rare ? value.toExponential(1) : value.toFixed(size >= 100 ? 1 : 3);
  return written.replace("-", "−");
}

/** Return a bar, filled up to a share from 0 to 1. */
export function bar(share, kind = "") {
  const fill = element("span", { className: `fill ${kind}` });
  fill.style.setProperty("--share", share);
  return element("span", { className: "bar", "aria-hidden": "true" }, fill);
}

export const percent = (share) => `${(100 * share).toFixed(share > 0 && share < 0.01 ? 1 : 0)} %`;
