// The explanation of one score by one matcher.

import { bar, decimal, element, percent } from "./dom.js";
import { matrix } from "./matrix.js";
import { largest, marked, strength, wordStrip } from "./words.js";

// Views with a drawing of their own on this page; others are shown as tables.
const DRAWN = new Set(["shares", "phrases", "pairs", "words", "paths"]);

/** Return a panel with a message instead of an explanation. */
export function standIn(ranking, index, document, message, busy = false) {
  const note = element("p", { className: "note", "aria-busy": busy }, message);
  return panel(ranking, index, quote(document, []), note);
}

/** Return the panel of an explanation from the server. */
export function shown(ranking, index, explanation) {
  return panel(
    ranking,
    index,
    quote(explanation.document, explanation.spans),
    ...(explanation.shares ? [shares(explanation.shares)] : []),
    ...tables(explanation),
    ...phrases(explanation.phrases ?? []),
    ...weights(explanation),
    ...views(explanation.views ?? []),
  );
}

const quote = (document, spans) =>
  element("p", { className: "quote", dir: "auto" }, ...marked(document, spans));

function panel(ranking, index, ...parts) {
  const { model, rankOf, scores, probabilities } = ranking;
  const facts = [
    ["Rank", `${rankOf.get(index)} of ${rankOf.size}`],
    ["Score", decimal(scores[index])],
    ...(model.calibrated ? [["Probability", percent(probabilities[index])]] : []),
  ];
  return element(
    "section",
    { className: "why-part", "aria-label": `By ${model.name}` },
    element("h3", {}, model.name),
    element(
      "dl",
      {},
      ...facts.map(([name, value]) =>
        element("div", {}, element("dt", {}, name), element("dd", {}, value)),
      ),
    ),
    ...parts,
  );
}

function tables(explanation) {
  const names = Object.keys(explanation.tables);
  if (!names.length) return [];
  const figure = element("div", {}, matrix(explanation, names[0]));
  const title = element("h4", {}, "Word by word");
  if (names.length === 1) {
    title.textContent = explanation.titles[names[0]];
    return [title, figure];
  }
  const choice = element(
    "select",
    { "aria-label": "Which table" },
    ...names.map((name) => element("option", { value: name }, explanation.titles[name])),
  );
  choice.addEventListener("change", () => figure.replaceChildren(matrix(explanation, choice.value)));
  return [title, choice, figure];
}

function weights(explanation) {
  const strips = Object.entries(explanation.weights).map(([name, { side, values }]) =>
    wordStrip(explanation.titles[name], explanation[`${side}_tokens`], values),
  );
  if (strips.length <= 2) return strips;
  const rest = element("details", {}, element("summary", {}, `${strips.length - 2} more`));
  rest.append(...strips.slice(2));
  return [...strips.slice(0, 2), rest];
}

/** Return the tables and notes of views without a drawing, such as those of other packages. */
function views(all) {
  return all
    .filter(({ name }) => !DRAWN.has(name))
    .map(({ name, title, tables, notes }) =>
      element(
        "details",
        { className: "view", "data-view": name },
        element("summary", {}, title),
        ...tables.map(viewTable),
        ...notes.map((note) => element("p", { dir: "auto" }, note)),
      ),
    );
}

function viewTable({ caption, header, rows, note }) {
  const table = element(
    "table",
    {},
    element("caption", { hidden: !caption }, caption),
    element("thead", {}, row("th", header)),
    element("tbody", {}, ...rows.map((cells) => row("td", cells))),
  );
  const label = caption || header.join(", ");
  return element(
    "div",
    { className: "scroller", tabIndex: 0, role: "region", "aria-label": label },
    table,
    element("small", { hidden: !note }, note),
  );
}

const row = (tag, cells) =>
  element("tr", {}, ...cells.map((cell) => element(tag, { dir: "auto" }, cell)));

function shares({ relevance_effect, semantic_effect }) {
  const parts = [
    ["Relevance", relevance_effect],
    ["Semantics", semantic_effect],
  ];
  const most = largest(parts.map(([, value]) => value)) || 1;
  return element(
    "div",
    { className: "shares" },
    element("h4", {}, "What each part adds to the score"),
    ...parts.map(([name, value]) =>
      element(
        "div",
        { className: "meter" },
        element("span", {}, name),
        bar(Math.abs(value) / most, value < 0 ? "against" : ""),
        element("strong", {}, decimal(value)),
      ),
    ),
  );
}

function phrases(levels) {
  if (!levels.length) return [];
  const most = largest(levels.flatMap(({ matches }) => matches.map((match) => match.feature))) || 1;
  return [
    element("h4", {}, "Matching phrases"),
    ...levels.map(({ level, phrase_length, matches }) =>
      element(
        "details",
        { open: level === levels[0].level },
        element("summary", {}, phrase_length > 1 ? `Up to ${phrase_length} words` : "Single words"),
        element("ul", { className: "phrases" }, ...matches.map((match) => phrase(match, most))),
      ),
    ),
  ];
}

function phrase({ query, document, value, feature }, most) {
  const tinted = element("span", { className: feature < 0 ? "word against" : "word for", dir: "auto" });
  tinted.textContent = document;
  tinted.style.setProperty("--strength", strength(feature / most));
  return element(
    "li",
    {},
    element("span", { dir: "auto" }, query),
    " → ",
    tinted,
    " ",
    element("small", {}, decimal(value)),
  );
}
