// The main flow: read the form, ask the server, show the results.

import { ask, Trouble } from "./api.js";
import { find, plural, reveal } from "./dom.js";
import * as form from "./form.js";
import { address, stateOf } from "./link.js";
import { busy, calm, fail, say } from "./notices.js";
import { moveWithKeys, nextIndices, pointAtTwin, rankedList, rankingOf, rowOf, showSpans } from "./results.js";
import { closeWhy, openWhy } from "./why.js";

const SPANS = { mode: "enabled", threshold: 0.5 };
let models = []; // from the server
let running = null; // AbortController of the running request
let shown = null; // { state, candidates, lists } on the page
let ours = ""; // the URL fragment that this page wrote

async function learnModels() {
  const answer = await ask("models");
  models = answer.models;
  form.showModels(answer);
}

/** Rank the candidates of the form; `open` is the index of a candidate to explain at once. */
async function run(open = null) {
  stop();
  calm();
  closeWhy();
  const controller = new AbortController();
  running = controller;
  busy(true);
  try {
    if (!models.length) await learnModels();
    const state = form.read();
    const candidates = await findCandidates(state, controller.signal);
    say(`Scoring ${plural(candidates.length, "candidate")} with ${state.models.join(" and ")} …`);
    const rankings = await Promise.all(
      state.models.map((name) => score(name, state.query, candidates, controller.signal)),
    );
    show(state, candidates, rankings);
    busy(false); // highlights may come later
    await writeAddress(state);
    if (open !== null && open < candidates.length) explain(shown.lists[0], open);
    await Promise.all(shown.lists.map((list) => highlight(list, controller.signal)));
  } catch (error) {
    await report(error);
  } finally {
    if (running === controller) {
      running = null;
      busy(false);
    }
  }
}

async function report(error, again = () => run()) {
  if (error.name === "AbortError") return;
  fail(error, again);
  if (error.status === 401) form.askForKey();
  if (error.status === 404) await learnModels().catch(() => {});
}

async function findCandidates({ query, candidates, search }, signal) {
  if (!query) throw missing("query", "The query is empty.", "Type one, then rank again.");
  if (search) {
    say("Searching the collection …");
    const { documents } = await ask("search", { query, top_k: search }, signal);
    if (!documents.length) {
      throw new Trouble("No document of the collection shares a word with the query.", {
        remedy: "Use other words.",
        status: 200,
      });
    }
    return documents;
  }
  if (!candidates.length) {
    throw missing("candidates", "There are no candidates.", "Paste some, one per line, or upload a file.");
  }
  return candidates.map((text) => ({ text }));
}

function missing(field, message, remedy) {
  find(field).focus();
  return new Trouble(message, { remedy, status: 422 });
}

async function score(name, query, candidates, signal) {
  const pairs = candidates.map(({ text }) => ({ query, document: text }));
  const answer = await ask("score", { model: name, pairs }, signal);
  return rankingOf(models.find((model) => model.name === name), answer);
}

function show(state, candidates, rankings) {
  const more = async (list) => {
    const last = list.rows.lastChild;
    list.add(nextIndices(list.ranking));
    last.nextSibling?.firstChild.focus();
    await highlight(list);
  };
  const lists = rankings.map((ranking, number) => {
    const list = rankedList(ranking, number ? rankings[0] : null, candidates, {
      open: (index) => explain(list, index),
      more,
    });
    list.add(nextIndices(ranking));
    return list;
  });
  shown = { state, candidates, lists };
  find("welcome").hidden = true;
  find("found").hidden = false;
  find("found-title").textContent = state.query;
  find("lists").className = `lists lists-${lists.length}`;
  find("lists").replaceChildren(...lists.map((list) => list.node));
  for (const id of ["share-note", "share-link"]) find(id).hidden = true;
  say(`${plural(candidates.length, "candidate")} ranked by ${state.models.join(" and ")}.`);
  reveal(find("results"));
}

/** Highlight the spans that support the match, in new rows. */
async function highlight(list, signal) {
  const { ranking } = list;
  const { state, candidates } = shown;
  if (!ranking.model.explains) return;
  const indices = ranking.indices.slice(0, ranking.numShown).filter((each) => !ranking.spans.has(each));
  const documents = indices.map((index) => candidates[index].text);
  const body = { model: ranking.model.name, query: state.query, documents, relevant_spans: SPANS };
  try {
    const { results } = await ask("v2/rerank", body, signal);
    for (const result of results) ranking.spans.set(indices[result.index], result.relevant_spans);
    showSpans(list, candidates);
  } catch (error) {
    if (error.name !== "AbortError") say(`Ranked, but without highlights: ${error.message}`);
  }
}

function explain(list, index) {
  const { state, candidates, lists } = shown;
  const rankings = lists.map((each) => each.ranking);
  const changed = (opened) => {
    if (opened !== null) index = opened;
    else rowOf(list, index)?.focus();
    writeAddress(state, opened);
  };
  openWhy({ query: state.query, candidates, rankings, along: list.ranking, index, changed });
}

async function writeAddress(state, open = null) {
  const { url } = await address({ ...state, open });
  ours = new URL(url).hash;
  history.replaceState(null, "", url);
}

/** Restore the state of the URL, unless this page wrote it. */
async function followAddress() {
  if (location.hash === ours) return;
  try {
    const state = await stateOf(location.hash);
    if (!state) return;
    form.write(state);
    if (state.candidates.length || state.search) await run(state.open ?? null);
    else say("The link contains no candidates: paste or upload them, then rank.");
  } catch {
    fail(new Trouble("This link is damaged.", { remedy: "Ask for a new link, or start over.", status: 422 }));
  }
}

async function share() {
  const { url, complete } = await address({ ...shown.state, open: null });
  const note = find("share-note");
  const link = find("share-link");
  const rest = complete
    ? ""
    : " The candidates are too long for a link: it contains only the query and the matchers; send the candidates as a file.";
  note.hidden = false;
  try {
    await navigator.clipboard.writeText(url);
    note.textContent = `Link copied.${rest}`;
  } catch {
    link.hidden = false;
    link.value = url;
    link.select();
    note.textContent = `Copy this link.${rest}`;
  }
}

function stop() {
  running?.abort();
  running = null;
  busy(false);
}

function showExample() {
  form.write(form.example());
  run();
}

function rowAt(event) {
  return event.target.closest(".result");
}

async function start() {
  try {
    await learnModels();
    calm();
    await followAddress();
  } catch (error) {
    await report(error, start);
  }
}

form.connect({ say, fail, keyChanged: start });
find("ask").addEventListener("submit", (event) => {
  event.preventDefault();
  run();
});
find("cancel").addEventListener("click", () => {
  stop();
  say("Cancelled.");
  find("run").focus();
});
find("example").addEventListener("click", showExample);
find("first-example").addEventListener("click", showExample);
find("share").addEventListener("click", share);
find("lists").addEventListener("keydown", (event) => moveWithKeys(event, shown.lists));
find("lists").addEventListener("focusin", (event) => pointAtTwin(rowAt(event), shown.lists));
find("lists").addEventListener("pointerover", (event) => pointAtTwin(rowAt(event), shown.lists));
addEventListener("hashchange", followAddress);

start();
