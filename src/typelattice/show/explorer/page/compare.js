// Two systems, or two releases of one, side by side: where their answers differ.

/** The comparison: counts, a heat map, and a list. */
function compareView(page) {
  const { model, state, system } = page;
  const usable = (one) => one && !one.error && one !== system;
  const other = [state.with, ...FIRST_COMPARED].map((name) => model.systems.get(name)).find(usable)
    ?? [...model.systems.values()].find(usable);
  if (system.error) return [faults(system)];
  if (other && state.with !== other.name) page.note({ with: other.name });
  if (!other || other.error) return [element("p", {}, "Choose another system to compare with.")];
  const one = model.table(system, state.op),
    two = model.table(other, state.op);
  // A system that tells 0-d arrays apart has operands that the other counts as arrays.
  const teller = [system, other].find(({ tiers }) => tiers.includes("0d")) ?? system;
  const every = [...new Map([...one.rows, ...two.rows].map((operand) => [operand.text, operand])).values()]
    .filter(({ text }) => [one, two].every((table) => model.places(table, text)[0] !== undefined));
  const within = (rowTier, columnTier) => {
    const common = (tier) => shown(every, teller, tier, state.small).map((i) => every[i]);
    const rows = common(rowTier);
    const columns = one.columns ? common(columnTier) : [null];
    const both = (i, j) =>
      [one, two].map((table) => model.answer(table, ...model.places(table, rows[i].text, columns[j]?.text)));
    const pairs = rows
      .flatMap((_, i) => columns.map((_, j) => ({ i, j, answers: both(i, j) })))
      .filter(({ answers }) => answers[0] && answers[1]);
    const differing = pairs.filter(({ answers }) => sortOf(answers) !== "same");
    return { rows, columns, both, pairs, differing };
  };
  const { rows, columns, both, pairs, differing } = within(state.rows, state.columns);
  const everywhere = within("all", "all").differing.length;
  const counts = new Map(SORTS.map(([name]) => [name, 0]));
  for (const pair of pairs) counts.set(sortOf(pair.answers), counts.get(sortOf(pair.answers)) + 1);
  const operands = (i, j) => [rows[i], columns[j]].filter(Boolean);
  const chosen = () => {
    const [a, b] = pairOf(page.state) ?? [];
    const i = rows.findIndex(({ text }) => text === a);
    const j = columns.findIndex((operand) => !operand || operand.text === b);
    return i < 0 || j < 0 ? null : [i, j];
  };
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
    const cells = [one, two].map((table) =>
      model.cell(table, ...model.places(table, rows[i].text, columns[j]?.text)));
    panel.classList.toggle("answered", Boolean(page.state.pair));
    panel.replaceChildren(
      closing(page),
      ...cells.filter(Boolean).map((cell) => explanation(model, cell, link(cell))),
    );
    return cells[0];
  };
  const place = chosen();
  const seen = grid({
    caption: `${system.name} and ${other.name}`,
    corner: state.op,
    rows,
    columns: one.columns ? columns : [{ text: state.op, code: state.op, kind: "" }],
    fill: (cell, i, j) => compared(cell, both(i, j)),
    chosen: place,
    show: (i, j) => {
      if (i !== null) {
        page.drew(show(i, j));
        return;
      }
      const kept = chosen();
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
  const all = fragmentOf({ ...state, rows: "all", columns: "all", pair: "" });
  return [
    element(
      "h2",
      {},
      `${system.name} and ${other.name}: ${differing.length} of ${pairs.length} answers differ`,
    ),
    everywhere > differing.length
      ? element("p", {}, element("a", { href: all }, `Of all operands, ${everywhere} differ`),
          ": 0-d arrays, weak arrays and Python scalars, too")
      : "",
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

/** The systems that a comparison begins with. */
const FIRST_COMPARED = ["jax", "numpy"];

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
