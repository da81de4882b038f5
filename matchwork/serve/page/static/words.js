// Highlighted texts. The server's offsets count code points, not UTF-16 units.

import { decimal, element } from "./dom.js";

/** Return the text as nodes, with its spans in <mark>. */
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

/** Return the tint of a share of the largest value; never zero, so that a mark is visible. */
export const strength = (share) => `${Math.round(10 + 32 * Math.abs(share))}%`;

export const largest = (values) => values.reduce((most, each) => Math.max(most, Math.abs(each)), 0);

/** Return the words tinted by their values, and a line with the strongest ones. */
export function wordStrip(title, tokens, values) {
  const most = largest(values) || 1;
  const words = tokens.map((token, index) => {
    const share = values[index] / most;
    const word = element("span", { className: "word", title: decimal(values[index]), dir: "auto" });
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
    .map((index) => `${tokens[index].text} ${decimal(values[index])}`);
  return element(
    "div",
    { className: "strip" },
    element("h4", {}, title),
    element("p", { dir: "auto" }, ...words.flatMap((word) => [word, " "])),
    element("small", { dir: "auto" }, `Strongest: ${best.join(", ")}`),
  );
}
