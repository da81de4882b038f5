// From what is asked to what is shown.

import { ask, Trouble } from "./api.js";
import { find, plural, reveal } from "./dom.js";
import * as form from "./form.js";
import { address, stateOf } from "./link.js";
import { busy, calm, fail, say } from "./notices.js";
import { moveWithKeys, nextPlaces, pointAtTwin, rankedList, rankingOf, rowOf, showSpans } from "./results.js";
import { closeWhy, openWhy } from "./why.js";

const SPANS = { mode: "enabled", threshold: 0.5 };
let models = []; // what is served
let running = null; // the AbortController of what is being asked
let shown = null; // { state, candidates, lists } of what is on the page
let ours = ""; // the fragment that we wrote ourselves

async function learnModels() {
  const answer = await ask("models");
  models = answer.models;
  form.showModels(answer);
}

/** Rank what the form asks for; `open` is the place of a document to explain at once. */
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
    busy(false); // what follows is extra: nobody need wait for it
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
  if (!query) throw missing("query", "There is no query.", "Type one, then rank again.");
  if (search) {
    say("Searching the collection …");
    const { documents } = await ask("search", { query, top_k: search }, signal);
    if (!documents.length) {
      throw new Trouble("Nothing in the collection shares a word with the query.", {
        remedy: "Ask with other words.",
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
    list.add(nextPlaces(list.ranking));
    last.nextSibling?.firstChild.focus();
    await highlight(list);
  };
  const lists = rankings.map((ranking, number) => {
    const list = rankedList(ranking, number ? rankings[0] : null, candidates, {
      open: (place) => explain(list, place),
      more,
    });
    list.add(nextPlaces(ranking));
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

/** Mark what speaks for the match in the rows that are new. */
async function highlight(list, signal) {
  const { ranking } = list;
  const { state, candidates } = shown;
  if (!ranking.model.explains) return;
  const places = ranking.places.slice(0, ranking.numShown).filter((each) => !ranking.spans.has(each));
  const documents = places.map((place) => candidates[place].text);
  const body = { model: ranking.model.name, query: state.query, documents, relevant_spans: SPANS };
  try {
    const { results } = await ask("v2/rerank", body, signal);
    for (const result of results) ranking.spans.set(places[result.index], result.relevant_spans);
    showSpans(list, candidates);
  } catch (error) {
    if (error.name !== "AbortError") say(`Ranked, but without highlights: ${error.message}`);
  }
}

function explain(list, place) {
  const { state, candidates, lists } = shown;
  const rankings = lists.map((each) => each.ranking);
  const changed = (opened) => {
    if (opened !== null) place = opened;
    else rowOf(list, place)?.focus();
    writeAddress(state, opened);
  };
  openWhy({ query: state.query, candidates, rankings, along: list.ranking, place, changed });
}

async function writeAddress(state, open = null) {
  const { url } = await address({ ...state, open });
  ours = new URL(url).hash;
  history.replaceState(null, "", url);
}

/** What the address asks for; nothing where it is our own. */
async function followAddress() {
  if (location.hash === ours) return;
  try {
    const state = await stateOf(location.hash);
    if (!state) return;
    form.write(state);
    if (state.candidates.length || state.search) await run(state.open ?? null);
    else say("The link held no candidates: paste or upload them, then rank.");
  } catch {
    fail(new Trouble("This link is damaged.", { remedy: "Ask for it again, or start anew.", status: 422 }));
  }
}

async function share() {
  const { url, complete } = await address({ ...shown.state, open: null });
  const note = find("share-note");
  const link = find("share-link");
  const rest = complete
    ? ""
    : " The candidates are too long for a link: it holds the query and the matchers only; send the candidates as a file.";
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
