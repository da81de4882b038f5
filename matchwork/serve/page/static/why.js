// The dialog with explanations; its buttons step through the list it was opened from.

import { ask } from "./api.js";
import { element, find } from "./dom.js";
import { shown, standIn } from "./explanation.js";

const dialog = find("why");
let current = null; // { query, candidates, rankings, along, index, changed }
let running = new AbortController();

/** Open the dialog for a candidate; `changed` is called with the open index, or null. */
export function openWhy(request) {
  current = request;
  dialog.classList.toggle("narrow", request.rankings.length === 1);
  if (!dialog.open) dialog.showModal();
  show();
}

export function closeWhy() {
  if (dialog.open) dialog.close();
}

function show() {
  const { query, rankings, along, index, changed } = current;
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
  const at = along.indices.indexOf(index);
  find("previous").disabled = at === 0;
  find("next").disabled = at === along.indices.length - 1;
  changed(index);
}

async function fillPart(part, ranking, signal) {
  const { query, candidates, index } = current;
  const { text } = candidates[index];
  const { name, explains } = ranking.model;
  const instead = (...message) => part.replaceChildren(standIn(ranking, index, text, ...message));
  if (!explains) {
    instead(`${name} gives only scores; choose a matcher that explains them.`);
    return;
  }
  instead("Reading both texts …", true);
  try {
    const body = { model: name, query, document: text };
    const explanation = await ask("explain", body, signal);
    part.replaceChildren(shown(ranking, index, explanation));
  } catch (error) {
    if (error.name === "AbortError") return;
    instead(`${error.message} ${error.remedy ?? ""}`);
  }
}

function step(by) {
  const { indices } = current.along;
  const index = indices[indices.indexOf(current.index) + by];
  if (index === undefined) return;
  current.index = index;
  show();
}

find("previous").addEventListener("click", () => step(-1));
find("next").addEventListener("click", () => step(1));
find("close").addEventListener("click", closeWhy);
dialog.addEventListener("click", (event) => {
  if (event.target === dialog) closeWhy(); // outside the dialog
});
dialog.addEventListener("close", () => {
  running.abort();
  current.changed(null);
});
