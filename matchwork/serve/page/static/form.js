// The form: query, candidates and their source, matchers.

import { savedKey, saveKey } from "./api.js";
import { readFile, split } from "./candidates.js";
import { element, find, plural } from "./dom.js";

const EXAMPLE = {
  query: "how do I keep basil fresh",
  candidates: [
    "Fresh fish should be eaten the same day.",
    "Put the stems of the herb in a glass of water on the window sill.",
    "How I keep my inbox fresh and tidy.",
    "Basil leaves stay green for a week in a jar of water.",
    "Basil of Caesarea was a bishop in the fourth century.",
    "Wrap cut herbs in a damp towel and store them in the fridge.",
    "The keep of the castle was built in 1140.",
  ],
};

/** Fill the lists of matchers, keeping the selection where possible. */
export function showModels({ models, collection_size: size, matchwork: version }) {
  const names = models.map((model) => model.name);
  fill(find("first"), names.map((name) => [name, name]));
  fill(find("second"), [["", "Nothing"], ...names.map((name) => [name, name])]);
  find("source").hidden = size === null;
  if (size !== null) find("collection-name").textContent = `Collection (${size.toLocaleString("en")})`;
  find("version").textContent = `Matchwork ${version}`;
  chooseSource(size === null ? "list" : source());
}

function fill(select, options) {
  const before = select.value;
  select.replaceChildren(...options.map(([value, name]) => element("option", { value }, name)));
  if (options.some(([value]) => value === before)) select.value = before;
}

const source = () => document.querySelector("[name=source]:checked").value;

function chooseSource(value) {
  document.querySelector(`[name=source][value=${value}]`).checked = true;
  find("list").hidden = value !== "list";
  find("search").hidden = value === "list";
}

/** Return the state of the form, as stored in links. */
export function read() {
  const models = [find("first").value, find("second").value].filter(Boolean);
  return {
    query: find("query").value.trim().toWellFormed(),
    candidates: source() === "list" ? split(find("candidates").value) : [],
    search: source() === "list" ? null : Number(find("top").value),
    models: [...new Set(models)],
  };
}

/** Fill the form from a state. */
export function write({ query, candidates, search, models }) {
  find("query").value = query;
  find("candidates").value = candidates.join("\n");
  chooseSource(search && !find("source").hidden ? "collection" : "list");
  if (search) find("top").value = String(search);
  choose(find("first"), models[0]);
  choose(find("second"), models[1] ?? "");
  count();
}

// An unknown matcher is selected, too: the server's error lists the known ones.
function choose(select, name) {
  if (![...select.options].some((option) => option.value === name)) {
    select.append(element("option", { value: name }, name));
  }
  select.value = name;
}

/** Return the form's state with an example query and candidates. */
export const example = () => ({ ...read(), ...EXAMPLE, search: null });

function count() {
  const number = split(find("candidates").value).length;
  find("count").textContent = number ? plural(number, "text") : "";
}

export function askForKey() {
  find("key-field").hidden = false;
  find("key").focus();
}

async function take(files, { say, fail }) {
  const [file] = files;
  if (!file) return;
  try {
    const texts = await readFile(file);
    find("candidates").value = texts.join("\n");
    count();
    say(`${plural(texts.length, "candidate")} from ${file.name}.`);
  } catch (trouble) {
    fail(trouble);
  }
}

/** Attach the listeners of the form, except those of the buttons that rank. */
export function connect(handlers) {
  const drop = find("list");
  find("candidates").addEventListener("input", count);
  find("source").addEventListener("change", () => chooseSource(source()));
  find("upload").addEventListener("click", () => find("file").click());
  find("file").addEventListener("change", async () => {
    await take(find("file").files, handlers);
    find("file").value = ""; // lets the same file be chosen again
  });
  for (const kind of ["dragenter", "dragover", "dragleave", "drop"]) {
    drop.addEventListener(kind, (event) => {
      if (!event.dataTransfer.types.includes("Files")) return;
      event.preventDefault();
      drop.classList.toggle("over", kind === "dragenter" || kind === "dragover");
      if (kind === "drop") take(event.dataTransfer.files, handlers);
    });
  }
  find("query").addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) submit(event);
  });
  find("candidates").addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) submit(event);
  });
  find("key").value = savedKey();
  find("key-field").hidden = !savedKey();
  find("key").addEventListener("change", () => {
    saveKey(find("key").value);
    handlers.keyChanged();
  });
}

function submit(event) {
  event.preventDefault();
  find("ask").requestSubmit();
}
