// Texts with parts of them marked. Offsets of the server count code points, not UTF-16 units.

import { decimal, element } from "./dom.js";

/** The text as nodes, its spans in <mark>. */
export function marked(text, spans) {
  const points = Array.from(text);
  const nodes = [];
  let end = 0;
  for (const span of spans) {
    nodes.push(points.slice(end, span.start).join(""));
    const mark = element("mark", {}, points.slice(span.start, span.end).join(""));
    mark.style.setProperty("--strength", strength(span.score));
    nodes.push(mark);
    end = span.end;
  }
  return [...nodes, points.slice(end).join("")];
}

/** How strongly to tint a share of the largest: never nothing, so that a mark is seen. */
export const strength = (share) => `${Math.round(10 + 32 * Math.abs(share))}%`;

export const largest = (values) => values.reduce((most, each) => Math.max(most, Math.abs(each)), 0);

/** Words in their order, tinted by their values, and the strongest of them in words. */
export function wordStrip(title, tokens, values) {
  const most = largest(values) || 1;
  const words = tokens.map((token, place) => {
    const share = values[place] / most;
    const word = element("span", { className: "word", title: decimal(values[place]), dir: "auto" });
    word.textContent = token.text;
    if (Math.abs(share) > 0.05) {
      word.classList.add(share > 0 ? "for" : "against");
      word.style.setProperty("--strength", strength(share));
    }
    return word;
  });
  const best = [...tokens.keys()]
    .sort((one, other) => Math.abs(values[other]) - Math.abs(values[one]))
    .slice(0, 3)
    .map((place) => `${tokens[place].text} ${decimal(values[place])}`);
  return element(
    "div",
    { className: "strip" },
    element("h4", {}, title),
    element("p", { dir: "auto" }, ...words.flatMap((word) => [word, " "])),
    element("small", { dir: "auto" }, `Strongest: ${best.join(", ")}`),
  );
}
