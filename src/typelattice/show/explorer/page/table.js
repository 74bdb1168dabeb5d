// A table and the drawing of a system, side by side and linked both ways.

/** A table and the drawing of a system, side by side and linked. */
function tableView(page) {
  const { model, state, system } = page;
  if (system.error) return [faults(system)];
  const table = model.table(system, state.op);
  const layout = system.drawings[state.small ? system.drawings.length - 1 : 0];
  const order = picture(layout, system.covers, (node) =>
    page.go({ node: state.node === node ? "" : node, pair: "" }),
  );
  const rows = shown(table.rows, system, state.rows, state.small);
  const columns = table.columns ? shown(table.columns, system, state.columns, state.small) : [0];
  const place = chosenPlace(page, table, rows, columns);
  const panel = element("div", { class: "panel" });
  const label = (i) => table.rows[i];
  const look = (i, j) => model.cell(table, rows[i], columns[j]);

  /** Shows a cell in the drawing and in words. On a phone these cover cells, so they wait for a choice. */
  function show(cell) {
    panel.classList.toggle("answered", Boolean(cell && page.state.pair));
    if (cell) {
      order.light(cell.way);
      panel.replaceChildren(
        closing(page),
        explanation(
          model,
          cell,
          fragmentOf({ ...page.state, pair: pairText(cell.operands) }),
        ),
      );
    } else if (page.state.node) {
      order.above(page.state.node);
      panel.replaceChildren(nodeWords(page, page.state.node));
    } else {
      order.dim();
      panel.replaceChildren(systemWords(page));
    }
  }
  const current = () => {
    const at = chosenPlace(page, table, rows, columns);
    return at && look(...at);
  };
  const seen = grid({
    caption: `${state.op || "promotion"} under ${system.name}`,
    corner: state.op,
    rows: rows.map(label),
    columns: table.columns
      ? columns.map((j) => table.columns[j])
      : [{ text: state.op, code: state.op, kind: "" }],
    fill: (cell, i, j) =>
      filledIn(cell, model.answer(table, rows[i], columns[j]), model.evidence(table, rows[i], columns[j])),
    chosen: place,
    show: (i, j) => {
      const pointed = i === null ? null : look(i, j);
      show(i === null ? current() : pointed);
      page.drew(pointed);
    },
    choose: (i, j) => {
      const cell = look(i, j);
      if (!cell) return;
      page.note({ pair: pairText(cell.operands), node: "" });
      seen.mark(i, j);
      show(cell);
      page.drew();
      announce(`${asked(cell)}: ${cell.answer.words}`);
    },
  });
  show(place && look(...place));
  const hidden = table.rows.filter((operand) => operand.small).length;
  return [
    element(
      "div",
      { class: "beside" },
      element(
        "section",
        { class: "tables", "aria-label": "Table" },
        rows.length && columns.length
          ? element("div", { class: "scroll" }, seen.table)
          : element("p", {}, `${system.name} has no such operands.`),
        legend(),
        hidden && !state.small
          ? element("p", { class: "note" }, `${hidden} small dtypes are left out; tick “small dtypes”.`)
          : null,
        system.drawings.length > 1 && state.op
          ? element("p", { class: "note" }, "Small dtypes are asked for promotion alone.")
          : null,
        state.rows === "0d" && !system.tiers.includes("0d")
          ? element(
              "p",
              { class: "note" },
              `${system.name} does not tell arrays without dimensions from others.`,
            )
          : null,
      ),
      element(
        "section",
        { class: "drawings", "aria-label": "Order" },
        element("div", { class: "scroll" }, order.image),
        panel,
      ),
    ),
  ];
}

/** The button that closes an answer, which lies over the page in a narrow window. */
function closing(page) {
  return element("button", { type: "button", class: "close", onclick: () => page.go({ pair: "" }) }, "Close");
}

/** Where the pair of the state stands among the rows and columns shown; null if it does not. */
function chosenPlace({ state, system }, table, rows, columns) {
  const pair = pairOf(state);
  if (!pair) return null;
  const i = rows.indexOf(table.rowPlaces.get(counted(system, pair[0])));
  const j = table.columns ? columns.indexOf(table.columnPlaces.get(counted(system, pair[1]))) : 0;
  return i < 0 || j < 0 ? null : [i, j];
}

/** Puts an answer into a cell. */
function filledIn(cell, answer, evidence) {
  if (!answer) {
    cell.className = "none";
    cell.setAttribute("aria-label", "Python answers this alone");
    return cell;
  }
  const classes = [
    answer.kind,
    answer.weak && "weak",
    answer.lossy && "lossy",
    evidence.departs && "departs",
  ];
  cell.className = classes.filter(Boolean).join(" ");
  cell.textContent = answer.code + (evidence.departs ? "!" : "");
  return cell;
}

function legend() {
  const marks = [
    ["-", "refused", "refused"],
    ["f32", "lossy float", "a cast can lose something"],
    ["i*", "weak signed", "weak"],
    ["i8!", "departs", "the library does otherwise than its rule"],
  ];
  return element(
    "p",
    { class: "legend" },
    ...marks.map(([text, name, words]) =>
      element("span", {}, element("span", { class: `sample ${name}` }, text), ` ${words}`),
    ),
  );
}

/** A system in words, where no cell is chosen. */
function systemWords({ system }) {
  return element(
    "section",
    { class: "explanation" },
    element("h2", {}, system.name),
    element("p", {}, system.title),
    element("p", {}, [system.library, `${system.covers.length} arrows`].filter(Boolean).join(" · ")),
    system.source.startsWith("https://")
      ? element("p", {}, element("a", { href: system.source, rel: "noreferrer" }, system.source))
      : null,
    element(
      "p",
      { class: "note" },
      "Point at a cell, or walk through the table with the arrow keys; click a node to see all above it.",
    ),
  );
}

/** A node in words: what lies above it. */
function nodeWords({ model, system, state }, node) {
  const above = [...model.up(system, node)].filter((other) => other !== node);
  const stated = system.covers
    .filter(([a]) => a === node)
    .map(([, b, line]) => `${node} -> ${b}${line ? ` (line ${line})` : ""}`);
  return element(
    "section",
    { class: "explanation", "aria-label": `Up-set of ${node}` },
    element("h2", {}, `All above ${node}`),
    element("p", {}, above.length ? above.join(" ") : "nothing: it becomes no other dtype implicitly"),
    element("dl", {}, ...described("arrows", stated.length ? stated : ["none"])),
  );
}
