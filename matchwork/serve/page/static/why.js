// The dialog that shows why; previous and next walk along the list it was opened from.

import { ask } from "./api.js";
import { element, find } from "./dom.js";
import { shown, standIn } from "./explanation.js";

const dialog = find("why");
let current = null; // { query, candidates, rankings, along, place, changed }
let running = new AbortController();

/** Explain the document at a place; `changed` is told which one is open, or null. */
export function openWhy(asked) {
  current = asked;
  dialog.classList.toggle("narrow", asked.rankings.length === 1);
  if (!dialog.open) dialog.showModal();
  show();
}

export function closeWhy() {
  if (dialog.open) dialog.close();
}

function show() {
  const { query, rankings, along, place, changed } = current;
  running.abort();
  running = new AbortController();
  const { signal } = running;
  const parts = rankings.map(() => element("div"));
  find("why-body").replaceChildren(
    element("p", { className: "asked", dir: "auto" }, query),
    element("div", { className: `parts parts-${parts.length}` }, ...parts),
  );
  find("why-body").scrollTop = 0;
  rankings.forEach((ranking, number) => fillPart(parts[number], ranking, signal));
  const at = along.places.indexOf(place);
  find("previous").disabled = at === 0;
  find("next").disabled = at === along.places.length - 1;
  changed(place);
}

async function fillPart(part, ranking, signal) {
  const { query, candidates, place } = current;
  const { text } = candidates[place];
  const { name, explains } = ranking.model;
  const instead = (...message) => part.replaceChildren(standIn(ranking, place, text, ...message));
  if (!explains) {
    instead(`${name} gives scores only; choose a matcher that explains them.`);
    return;
  }
  instead("Reading both texts …", true);
  try {
    const body = { model: name, query, document: text };
    const explanation = await ask("explain", body, signal);
    part.replaceChildren(shown(ranking, place, explanation));
  } catch (error) {
    if (error.name === "AbortError") return;
    instead(`${error.message} ${error.remedy ?? ""}`);
  }
}

function step(by) {
  const { places } = current.along;
  const place = places[places.indexOf(current.place) + by];
  if (place === undefined) return;
  current.place = place;
  show();
}

find("previous").addEventListener("click", () => step(-1));
find("next").addEventListener("click", () => step(1));
find("close").addEventListener("click", closeWhy);
dialog.addEventListener("click", (event) => {
  if (event.target === dialog) closeWhy(); // beside the dialog
});
dialog.addEventListener("close", () => {
  running.abort();
  current.changed(null);
});
