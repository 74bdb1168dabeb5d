// Two systems, or two releases of one, side by side: where their answers differ.

/** The comparison: counts, a heat map, and a list. */
function compareView(page) {
  const { model, state, system } = page;
  const other =
    model.systems.get(state.with) ?? [...model.systems.values()].find((one) => !one.error && one !== system);
  if (system.error) return [faults(system)];
  if (other && state.with !== other.name) page.note({ with: other.name });
  if (!other || other.error) return [element("p", {}, "Choose another system to compare with.")];
  const one = model.table(system, state.op),
    two = model.table(other, state.op);
  const common = (operands, places, tier) =>
    shown(operands, system, tier, state.small).filter((i) => places.has(counted(other, operands[i].text)));
  const rows = common(one.rows, two.rowPlaces, state.rows);
  const columns = one.columns ? common(one.columns, two.columnPlaces, state.columns) : [0];
  const theirs = (i, j) => [
    two.rowPlaces.get(counted(other, one.rows[i].text)),
    one.columns ? two.columnPlaces.get(counted(other, one.columns[j].text)) : 0,
  ];
  const both = (i, j) => [
    model.answer(one, rows[i], columns[j]),
    model.answer(two, ...theirs(rows[i], columns[j])),
  ];
  const pairs = rows
    .flatMap((_, i) => columns.map((_, j) => [i, j]))
    .map(([i, j]) => ({ i, j, answers: both(i, j) }))
    .filter(({ answers }) => answers[0] && answers[1]);
  const counts = new Map(SORTS.map(([name]) => [name, 0]));
  for (const pair of pairs) counts.set(sortOf(pair.answers), counts.get(sortOf(pair.answers)) + 1);
  const operands = (i, j) => [one.rows[rows[i]], ...(one.columns ? [one.columns[columns[j]]] : [])];
  const panel = element("div", { class: "panel two" });
  const link = (cell) =>
    fragmentOf({
      ...page.state,
      view: "table",
      system: cell.system.name,
      node: "",
      pair: pairText(cell.operands),
    });
  const show = (i, j) => {
    const cells = [model.cell(one, rows[i], columns[j]), model.cell(two, ...theirs(rows[i], columns[j]))];
    panel.classList.add("answered");
    panel.replaceChildren(
      closing(page),
      ...cells.filter(Boolean).map((cell) => explanation(model, cell, link(cell))),
    );
    return cells[0];
  };
  const place = chosenPlace(page, one, rows, columns);
  const seen = grid({
    caption: `${system.name} and ${other.name}`,
    corner: state.op,
    rows: rows.map((i) => one.rows[i]),
    columns: one.columns
      ? columns.map((j) => one.columns[j])
      : [{ text: state.op, code: state.op, kind: "" }],
    fill: (cell, i, j) => compared(cell, both(i, j)),
    chosen: place,
    show: (i, j) => {
      if (i !== null) {
        page.drew(show(i, j));
        return;
      }
      const kept = chosenPlace(page, one, rows, columns);
      if (kept) show(...kept);
      page.drew();
    },
    choose: (i, j) => {
      page.note({ pair: pairText(operands(i, j)) });
      seen.mark(i, j);
      show(i, j);
      page.drew();
    },
  });
  if (place) show(...place);
  const differing = pairs.filter(({ answers }) => sortOf(answers) !== "same");
  return [
    element(
      "h2",
      {},
      `${system.name} and ${other.name}: ${differing.length} of ${pairs.length} answers differ`,
    ),
    element(
      "ul",
      { class: "counts" },
      ...SORTS.map(([name, words]) =>
        element(
          "li",
          {},
          element("span", { class: `sample ${name}` }, String(counts.get(name))),
          ` ${words(system.name, other.name)}`,
        ),
      ),
    ),
    element(
      "div",
      { class: "beside" },
      element("section", { "aria-label": "Heat map" }, element("div", { class: "scroll" }, seen.table)),
      panel,
    ),
    element(
      "details",
      { open: differing.length <= 40 },
      element("summary", {}, `The ${differing.length} differences`),
      element(
        "ul",
        { class: "pairs" },
        ...differing.map(({ i, j, answers }) =>
          element(
            "li",
            {},
            element(
              "a",
              { href: fragmentOf({ ...state, pair: pairText(operands(i, j)) }) },
              pairText(operands(i, j)).replace(",", ", "),
            ),
            `: ${answers[0].words}, ${answers[1].words}`,
          ),
        ),
      ),
    ),
  ];
}

const SORTS = [
  ["same", () => "the same"],
  ["differs", () => "another dtype"],
  ["weakness", () => "weak in one only"],
  ["first", (a) => `refused by ${a} only`],
  ["second", (a, b) => `refused by ${b} only`],
];

/** How two answers differ. */
function sortOf([p, q]) {
  if (p.kind === "refused" || q.kind === "refused")
    return p.kind === q.kind ? "same" : p.kind === "refused" ? "first" : "second";
  if (p.words === q.words) return "same";
  return p.words.split(" ")[0] === q.words.split(" ")[0] ? "weakness" : "differs";
}

/** Puts two answers into a cell. */
function compared(cell, answers) {
  if (!answers[0] || !answers[1]) return filledIn(cell, null);
  cell.className = sortOf(answers);
  cell.textContent = sortOf(answers) === "same" ? answers[0].code : `${answers[0].code}|${answers[1].code}`;
  return cell;
}
