// Ranked lists: one, or two side by side with the places that changed.

import { bar, decimal, element, percent, plural } from "./dom.js";
import { marked } from "./words.js";

const STEP = 20;

/** The answer of `/score` as a ranking; equal scores keep the order of the candidates. */
export function rankingOf(model, answer) {
  const { scores, probabilities, truncated } = answer;
  const places = [...scores.keys()].sort((one, other) => scores[other] - scores[one]);
  const rankOf = new Map(places.map((place, rank) => [place, rank + 1]));
  return { model, scores, probabilities, truncated, places, rankOf, numShown: 0, spans: new Map() };
}

/** The next rows of a ranking. */
export function nextPlaces(ranking) {
  const next = ranking.places.slice(ranking.numShown, ranking.numShown + STEP);
  ranking.numShown += next.length;
  return next;
}

/** One ranking as a list; `base` is the ranking it is compared with, if any. */
export function rankedList(ranking, base, candidates, { open, more }) {
  const { model } = ranking;
  const rows = element("ol", { className: "ranked", "aria-label": `Ranked by ${model.name}` });
  const button = element("button", { className: "more", type: "button", hidden: true });
  const list = { ranking, rows, add };

  function add(places) {
    for (const place of places) {
      const result = row(ranking, base, candidates, place);
      result.addEventListener("click", () => open(place, result));
      rows.append(element("li", {}, result));
    }
    if (rows.firstChild && !rows.querySelector('[tabindex="0"]')) {
      rows.firstChild.firstChild.tabIndex = 0;
    }
    const left = ranking.places.length - ranking.numShown;
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

/** Mark the spans of rows that stand there already. */
export function showSpans(list, candidates) {
  for (const [place, spans] of list.ranking.spans) {
    const text = rowOf(list, place)?.querySelector(".text");
    text?.replaceChildren(...marked(candidates[place].text, spans));
  }
}

export const rowOf = (list, place) => list.rows.querySelector(`[data-place="${place}"]`);

function row(ranking, base, candidates, place) {
  const { model, rankOf, scores, probabilities } = ranking;
  const { text, id } = candidates[place];
  const score = decimal(scores[place]);
  return element(
    "button",
    { className: "result", type: "button", tabIndex: -1, "data-place": place },
    element("span", { className: "rank" }, String(rankOf.get(place))),
    element("span", { className: "text", dir: "auto" }, text),
    element(
      "span",
      { className: "meter" },
      bar(probabilities[place]),
      element("strong", {}, model.calibrated ? percent(probabilities[place]) : score),
    ),
    element(
      "span",
      { className: "about" },
      ...(base ? [change(rankOf.get(place), base.rankOf.get(place), base.model.name)] : []),
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

/** Arrow keys in and between lists; only one row of a list is in the order of Tab. */
export function moveWithKeys(event, lists) {
  const current = event.target.closest(".result");
  const at = lists.findIndex((list) => list.rows.contains(current));
  if (at < 0) return;
  const all = [...lists[at].rows.querySelectorAll(".result")];
  const place = all.indexOf(current);
  const beside = (step) => {
    const list = lists[at + step];
    return list && (rowOf(list, current.dataset.place) ?? list.rows.querySelector(".result"));
  };
  const target = {
    ArrowDown: () => all[place + 1],
    ArrowUp: () => all[place - 1],
    Home: () => all[0],
    End: () => all.at(-1),
    ArrowRight: () => beside(1),
    ArrowLeft: () => beside(-1),
  }[event.key];
  if (!target) return;
  event.preventDefault();
  target()?.focus();
}

/** Show where the document of a row stands in the other list. */
export function pointAtTwin(row, lists) {
  for (const list of lists) {
    for (const each of list.rows.querySelectorAll(".twin")) each.classList.remove("twin");
    if (row && lists.length > 1) rowOf(list, row.dataset.place)?.classList.add("twin");
    if (row && list.rows.contains(row)) {
      for (const each of list.rows.querySelectorAll('[tabindex="0"]')) each.tabIndex = -1;
      row.tabIndex = 0;
    }
  }
}
