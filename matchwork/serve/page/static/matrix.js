// A table of word pairs as a heat map, and as a plain table for screen readers.

import { decimal, element, plural, svg } from "./dom.js";
import { largest } from "./words.js";

const SMALL = 26;
const LARGE = 36; // cell size for at most FEW columns
const FEW = 10;
const LETTER = 7.2; // approximate width of a letter
const MAX_ROWS = 40;
const MAX_COLUMNS = 60;
const MAX_LETTERS = 14;

/** Return a figure of one table of an explanation, with its matching paths. */
export function matrix(explanation, name) {
  const table = explanation.tables[name];
  const turned = explanation.document_tokens.map((_, column) => table.map((row) => row[column]));
  const view = {
    title: explanation.titles[name],
    table,
    rows: strongest(table, MAX_ROWS),
    columns: strongest(turned, MAX_COLUMNS),
    queryWords: explanation.query_tokens.map((token) => token.text),
    documentWords: explanation.document_tokens.map((token) => token.text),
    paths: (explanation.paths ?? []).filter((path) => path.reverse === name.endsWith("_reverse")),
  };
  const readout = element("p", { className: "readout soft", dir: "auto" }, advice(view));
  const scroller = element(
    "div",
    { className: "scroller", tabIndex: 0, role: "region", "aria-label": view.title },
    drawing(view, readout),
  );
  const details = element("details", {}, element("summary", {}, "As a table"));
  details.addEventListener("toggle", () => {
    if (details.open && details.childElementCount === 1) details.append(plainTable(view));
  });
  const parts = [scroller, readout];
  parts.push(...view.paths.map(pathInWords));
  return element("figure", { className: "matrix" }, ...parts, cutNote(view), details);
}

/** Return the indices of the lines with the largest values, at most `limit`, in order. */
function strongest(lines, limit) {
  const indices = [...lines.keys()];
  if (indices.length <= limit) return indices;
  const sizes = lines.map(largest);
  const best = indices.sort((one, other) => sizes[other] - sizes[one]).slice(0, limit);
  return best.sort((one, other) => one - other);
}

function drawing(view, readout) {
  const { table, rows, columns, queryWords, documentWords } = view;
  const side = columns.length > FEW ? SMALL : LARGE;
  const left = room(rows.map((row) => queryWords[row]));
  const top = room(columns.map((column) => documentWords[column]));
  const x = (column) => left + side * columns.indexOf(column);
  const y = (row) => top + side * rows.indexOf(row);
  const centre = (cell) => [x(cell.column) + side / 2, y(cell.row) + side / 2];
  const width = left + side * columns.length + 2;
  const height = top + side * rows.length + 2;
  const most = largest(rows.flatMap((row) => columns.map((column) => table[row][column]))) || 1;
  const picture = svg("svg", {
    width,
    height,
    viewBox: `0 0 ${width} ${height}`,
    role: "img",
    "aria-label": `${view.title}. ${advice(view)}`,
  });
  for (const row of rows) {
    const label = svg("text", { x: left - 8, y: y(row) + side / 2, class: "row-label" });
    picture.append(named(label, queryWords[row]));
  }
  for (const column of columns) {
    const across = x(column) + side / 2;
    const turn = `rotate(-90 ${across} ${top - 8})`;
    const label = svg("text", { x: across, y: top - 8, transform: turn, class: "column-label" });
    picture.append(named(label, documentWords[column]));
  }
  for (const row of rows) {
    for (const column of columns) {
      const value = table[row][column];
      const said = `${queryWords[row]} × ${documentWords[column]}: ${decimal(value)}`;
      const cell = svg(
        "rect",
        {
          x: x(column) + 1,
          y: y(row) + 1,
          width: side - 2,
          height: side - 2,
          rx: 4,
          class: value < 0 ? "cell against" : "cell for",
          "fill-opacity": (0.06 + (0.94 * Math.abs(value)) / most).toFixed(3),
        },
        svg("title", {}, said),
      );
      cell.addEventListener("pointerenter", () => (readout.textContent = said));
      picture.append(cell);
    }
  }
  for (const path of view.paths) picture.append(...line(path, rows, columns, centre));
  return picture;
}

const room = (words) =>
  16 + LETTER * Math.min(MAX_LETTERS, Math.max(...words.map((word) => word.length), 1));

function named(label, word) {
  label.append(word.length > MAX_LETTERS ? `${word.slice(0, MAX_LETTERS - 1)}…` : word);
  label.append(svg("title", {}, word));
  return label;
}

function line(path, rows, columns, centre) {
  const points = path.cells
    .filter((cell) => rows.includes(cell.row) && columns.includes(cell.column))
    .map(centre);
  const style = path.rule === "gates" ? "path" : "path merged";
  return [
    svg("polyline", { points: points.map((point) => point.join(",")).join(" "), class: style }),
    ...points.map(([cx, cy]) => svg("circle", { cx, cy, r: 3, class: style })),
  ];
}

function advice({ table, rows, columns, queryWords, documentWords }) {
  const cells = rows.flatMap((row) =>
    columns.map((column) => ({ row, column, value: table[row][column] })),
  );
  const best = cells.sort((one, other) => Math.abs(other.value) - Math.abs(one.value)).slice(0, 3);
  const words = best.map(
    ({ row, column, value }) => `${queryWords[row]} × ${documentWords[column]} ${decimal(value)}`,
  );
  return words.length ? `Strongest: ${words.join(", ")}` : "No words to compare.";
}

function pathInWords(path) {
  const cells = path.cells.map((cell) => `${cell.query} × ${cell.document}`);
  const name = path.rule === "gates" ? "Matching path" : "Dashed, new matches counted as diagonal";
  return element(
    "details",
    {},
    element("summary", {}, `${name}: ${plural(cells.length, "step")}`),
    element("p", { dir: "auto" }, cells.join(" → ")),
  );
}

function cutNote({ rows, columns, queryWords, documentWords }) {
  const parts = [];
  if (rows.length < queryWords.length) parts.push(`${rows.length} of ${queryWords.length} query words`);
  if (columns.length < documentWords.length) {
    parts.push(`${columns.length} of ${documentWords.length} document words`);
  }
  const note = parts.length ? `Shown are the strongest: ${parts.join(", ")}.` : "";
  return element("small", { hidden: !note }, note);
}

function plainTable({ title, table, rows, columns, queryWords, documentWords }) {
  const head = columns.map((column) =>
    element("th", { scope: "col", dir: "auto" }, documentWords[column]),
  );
  const body = rows.map((row) =>
    element(
      "tr",
      {},
      element("th", { scope: "row", dir: "auto" }, queryWords[row]),
      ...columns.map((column) => element("td", {}, decimal(table[row][column]))),
    ),
  );
  const made = element(
    "table",
    {},
    element("caption", {}, title),
    element("thead", {}, element("tr", {}, element("td"), ...head)),
    element("tbody", {}, ...body),
  );
  return element("div", { className: "scroller", tabIndex: 0, role: "region", "aria-label": title }, made);
}
