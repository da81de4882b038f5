// Read candidates from a file: one text each, without line breaks.

import { Trouble } from "./api.js";

const MAX_BYTES = 16 << 20;
const COLUMNS = ["document", "doc", "passage", "answer", "sentence", "text"];
const SEPARATORS = { tsv: "\t", csv: "," };

export const split = (text) => text.split(/\r?\n/).map(clean).filter(Boolean);

/** Return the candidates of a .txt, .tsv, .csv or .jsonl file. */
export async function readFile(file) {
  if (file.size > MAX_BYTES) throw unreadable(file, "is larger than 16 MB", "Split it.");
  const text = (await file.text()).replace(/^\uFEFF/, "");
  if (/[\u0000\uFFFD]/.test(text)) {
    throw unreadable(file, "is not UTF-8 text", "Save it as UTF-8, then try again.");
  }
  const ending = file.name.split(".").pop().toLowerCase();
  let texts;
  if (ending in SEPARATORS) texts = textColumn(table(text, SEPARATORS[ending]), file);
  else if (ending === "jsonl") texts = jsonLines(text, file);
  else texts = split(text);
  texts = texts.map(clean).filter(Boolean);
  if (!texts.length) throw unreadable(file, "contains no text", "Choose another file.");
  return texts;
}

// Normalise white space, and replace lone surrogates, which are invalid in JSON.
function clean(text) {
  return text.replace(/\s+/g, " ").trim().toWellFormed();
}

function unreadable(file, what, remedy) {
  return new Trouble(`${file.name} ${what}.`, { remedy });
}

/** Return rows of cells; cells may be quoted, with a quote inside doubled. */
function table(text, separator) {
  const rows = [[]];
  const cell = new RegExp(`("(?:[^"]|"")*"|[^${separator}\\r\\n]*)(${separator}|\\r?\\n|$)`, "gy");
  for (const [, raw, end] of text.matchAll(cell)) {
    const quoted = raw.length > 1 && raw.startsWith('"') && raw.endsWith('"');
    rows.at(-1).push(quoted ? raw.slice(1, -1).replaceAll('""', '"') : raw);
    if (!end) break;
    if (end !== separator) rows.push([]);
  }
  return rows.filter((row) => row.some(Boolean));
}

/** Return the column of documents by its name, or the only column. */
function textColumn(rows, file) {
  const names = (rows[0] ?? []).map((name) => name.trim().toLowerCase());
  const column = COLUMNS.map((name) => names.indexOf(name)).find((index) => index >= 0);
  if (column !== undefined) return rows.slice(1).map((row) => row[column] ?? "");
  if (rows.every((row) => row.length === 1)) return rows.map(([text]) => text);
  throw unreadable(
    file,
    `has no column of candidates; its first line is ${names.slice(0, 5).join(", ")}`,
    `Name one of its columns ${COLUMNS[0]} or ${COLUMNS.at(-1)} in the first line.`,
  );
}

function jsonLines(text, file) {
  return text.split(/\r?\n/).flatMap((line, number) => {
    if (!line.trim()) return [];
    let value;
    try {
      value = JSON.parse(line);
    } catch {
      throw unreadable(file, `has invalid JSON in line ${number + 1}`, "Write one object per line.");
    }
    const name = COLUMNS.find((each) => typeof value?.[each] === "string");
    if (typeof value !== "string" && !name) {
      throw unreadable(
        file,
        `has no text in line ${number + 1}`,
        'Write {"text": "…"}, or a quoted text, in every line.',
      );
    }
    return [typeof value === "string" ? value : value[name]];
  });
}
