// Ranked lists: one, or two side by side with changes of rank.

import { bar, decimal, element, percent, plural } from "./dom.js";
import { marked } from "./words.js";

const STEP = 20;

/** Turn the response of `/score` into a ranking; ties keep the order of the candidates. */
export function rankingOf(model, answer) {
  const { scores, probabilities, truncated } = answer;
  const indices = [...scores.keys()].sort((one, other) => scores[other] - scores[one]);
  const rankOf = new Map(indices.map((index, rank) => [index, rank + 1]));
  return { model, scores, probabilities, truncated, indices, rankOf, numShown: 0, spans: new Map() };
}

/** Return the candidate indices of the next rows. */
export function nextIndices(ranking) {
  const next = ranking.indices.slice(ranking.numShown, ranking.numShown + STEP);
  ranking.numShown += next.length;
  return next;
}

/** Return a list of ranked rows; `base` is another ranking to compare with. */
export function rankedList(ranking, base, candidates, { open, more }) {
  const { model } = ranking;
  const rows = element("ol", { className: "ranked", "aria-label": `Ranked by ${model.name}` });
  const button = element("button", { className: "more", type: "button", hidden: true });
  const list = { ranking, rows, add };

  function add(indices) {
    for (const index of indices) {
      const result = row(ranking, base, candidates, index);
      result.addEventListener("click", () => open(index, result));
      rows.append(element("li", {}, result));
    }
    if (rows.firstChild && !rows.querySelector('[tabindex="0"]')) {
      rows.firstChild.firstChild.tabIndex = 0;
    }
    const left = ranking.indices.length - ranking.numShown;
    button.hidden = !left;
    button.textContent = `Show ${Math.min(left, STEP)} more of ${left}`;
  }

  button.addEventListener("click", () => more(list));
  list.node = element(
    "div",
    { className: "list" },
    element(
      "h3",
      {},
      element("span", {}, model.name),
      element("small", {}, model.calibrated ? "probability" : "score"),
    ),
    rows,
    button,
    cutNote(ranking),
  );
  return list;
}

/** Highlight the spans of existing rows. */
export function showSpans(list, candidates) {
  for (const [index, spans] of list.ranking.spans) {
    const text = rowOf(list, index)?.querySelector(".text");
    text?.replaceChildren(...marked(candidates[index].text, spans));
  }
}

export const rowOf = (list, index) => list.rows.querySelector(`[data-index="${index}"]`);

function row(ranking, base, candidates, index) {
  const { model, rankOf, scores, probabilities } = ranking;
  const { text, id } = candidates[index];
  const score = decimal(scores[index]);
  return element(
    "button",
    { className: "result", type: "button", tabIndex: -1, "data-index": index },
    element("span", { className: "rank" }, String(rankOf.get(index))),
    element("span", { className: "text", dir: "auto" }, text),
    element(
      "span",
      { className: "meter" },
      bar(probabilities[index]),
      element("strong", {}, model.calibrated ? percent(probabilities[index]) : score),
    ),
    element(
      "span",
      { className: "about" },
      ...(base ? [change(rankOf.get(index), base.rankOf.get(index), base.model.name)] : []),
      ...(model.calibrated ? [element("span", {}, `score ${score}`)] : []),
      ...(id === undefined ? [] : [element("span", { dir: "auto" }, id)]),
    ),
  );
}

function change(rank, before, name) {
  const by = before - rank;
  const said = by
    ? `${plural(Math.abs(by), "place")} ${by > 0 ? "higher" : "lower"} than with ${name}`
    : `same place as with ${name}`;
  const kind = by > 0 ? "up" : by < 0 ? "down" : "same";
  const sign = by > 0 ? `▲ ${by}` : by < 0 ? `▼ ${-by}` : "=";
  return element("span", { className: `change ${kind}`, title: said, role: "img", "aria-label": said }, sign);
}

function cutNote({ model, truncated }) {
  const { texts, tokens } = truncated;
  const note = `${plural(texts, "text")} longer than ${model.name} reads: ${plural(tokens, "token")} left out.`;
  return element("p", { className: "note", hidden: !texts }, texts ? note : "");
}

/** Move with arrow keys in and between lists; only one row per list is a tab stop. */
export function moveWithKeys(event, lists) {
  const current = event.target.closest(".result");
  const at = lists.findIndex((list) => list.rows.contains(current));
  if (at < 0) return;
  const all = [...lists[at].rows.querySelectorAll(".result")];
  const index = all.indexOf(current);
  const beside = (step) => {
    const list = lists[at + step];
    return list && (rowOf(list, current.dataset.index) ?? list.rows.querySelector(".result"));
  };
  const target = {
    ArrowDown: () => all[index + 1],
    ArrowUp: () => all[index - 1],
    Home: () => all[0],
    End: () => all.at(-1),
    ArrowRight: () => beside(1),
    ArrowLeft: () => beside(-1),
  }[event.key];
  if (!target) return;
  event.preventDefault();
  target()?.focus();
}

/** Mark the row of the same document in the other list. */
export function pointAtTwin(row, lists) {
  for (const list of lists) {
    for (const each of list.rows.querySelectorAll(".twin")) each.classList.remove("twin");
    if (row && lists.length > 1) rowOf(list, row.dataset.index)?.classList.add("twin");
    if (row && list.rows.contains(row)) {
      for (const each of list.rows.querySelectorAll('[tabindex="0"]')) each.tabIndex = -1;
      row.tabIndex = 0;
    }
  }
}
