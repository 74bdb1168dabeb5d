// A table of cells that arrow keys walk through. Hovering shows a cell, focus or a click chooses it.

// Of a table of more cells the rows are boxes of equal cells, and a browser leaves out those out of sight.
// The columns of a table are as wide as the widest of all their cells, which it has to measure.
const MOST_MEASURED = 10000;

/** The grid: rows and columns are labels, `fill` puts text and classes into a cell. */
function grid({ caption, corner, rows, columns, fill, chosen, show, choose }) {
  const large = rows.length * columns.length > MOST_MEASURED;
  const role = (name) => (large ? name : null); // a box has to say that it is a part of a table
  const labelled = (label, scope, header) =>
    element(
      "th",
      { scope, role: role(header), class: `label ${label.kind}`, title: label.text },
      label.code,
    );
  const head = columns.map((label) => labelled(label, "col", "columnheader"));
  const body = rows.map((label, i) => {
    const cells = columns.map((_, j) =>
      fill(element("td", { tabindex: -1, role: role("gridcell"), "data-row": i, "data-column": j }), i, j),
    );
    return element("tr", { role: role("row") }, labelled(label, "row", "rowheader"), ...cells);
  });
  const table = element(
    "table",
    { class: large ? "grid large" : "grid", role: "grid", "aria-label": caption },
    element(
      "thead",
      { role: role("rowgroup") },
      element("tr", { role: role("row") }, element("td", { role: role("gridcell") }, corner), ...head),
    ),
    element("tbody", { role: role("rowgroup") }, ...body),
  );
  table.style.setProperty("--columns", columns.length + 1);
  table.style.setProperty("--letters", Math.max(...[...rows, ...columns].map(({ code }) => code.length), 0));
  const at = (i, j) => table.tBodies[0].rows[i]?.cells[j + 1];
  const place = (cell) => [Number(cell.dataset.row), Number(cell.dataset.column)];
  const stop = at(...(chosen ?? [0, 0]));
  if (stop) stop.tabIndex = 0;
  if (chosen) at(...chosen)?.classList.add("chosen");

  const seen = (event) => event.target.closest("td[data-row]");
  // A table that scrolls under a pointer at rest fires mouseover as if the pointer had moved. Only one that
  // does move shows a cell: else it would take away what the keys have just chosen.
  let pointed = null;
  table.addEventListener("mousemove", (event) => {
    const cell = seen(event);
    if (!cell || cell === pointed) return;
    pointed = cell;
    show(...place(cell));
  });
  table.addEventListener("mouseleave", () => {
    pointed = null;
    show(null);
  });
  table.addEventListener("click", (event) => seen(event) && choose(...place(seen(event))));
  table.addEventListener("focusin", (event) => {
    pointed = null;
    if (seen(event)) choose(...place(seen(event)));
  });
  table.addEventListener("keydown", (event) => {
    const cell = seen(event);
    const to = cell && moved(event.key, place(cell), rows.length, columns.length);
    if (!to) return;
    event.preventDefault();
    cell.tabIndex = -1;
    at(...to).tabIndex = 0;
    at(...to).focus();
  });
  return {
    table,
    mark(i, j) {
      table.querySelector(".chosen")?.classList.remove("chosen");
      table.querySelector("td[tabindex='0']")?.setAttribute("tabindex", "-1");
      at(i, j)?.classList.add("chosen");
      at(i, j)?.setAttribute("tabindex", "0");
    },
  };
}

/** Where a key leads from a cell; null for one that leads nowhere. */
function moved(key, [i, j], rows, columns) {
  const steps = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
  if (key === "Home") return [i, 0];
  if (key === "End") return [i, columns - 1];
  if (!steps[key]) return null;
  const to = [i + steps[key][0], j + steps[key][1]];
  return to[0] < 0 || to[1] < 0 || to[0] >= rows || to[1] >= columns ? null : to;
}
