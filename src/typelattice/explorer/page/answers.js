// One pair of operands under every system.

/** Cells of one answer by library: the releases of a library that answer alike stand together. */
function folded(cells) {
  const key = (cell) => `${cell.system.of} ${reasonOf(cell)} ${cell.evidence.departs && cell.evidence.given}`;
  return [...Map.groupBy(cells, key).values()];
}

/** Why a system refuses, without its name, so that systems with one reason stand together. */
function reasonOf(cell) {
  const lines = cell.sections.find(({ heading }) => heading === "refused")?.lines ?? [];
  const text = lines.join(" ");
  return text.startsWith(`${cell.system.name} `) ? text.slice(cell.system.name.length + 1) : text;
}

/** What stands behind the name of a library: its releases, if there are several, and what it does instead. */
function marked(releases) {
  const [{ evidence }] = releases;
  const numbers = releases.map(({ system }) => system.release).filter(Boolean);
  const told = numbers.length > 1 ? ` ${numbers.join(", ")}` : "";
  return told + (evidence.departs ? ` does otherwise: ${evidence.given}` : "");
}

/** The link to the site's page of a question, which has every release; null where there is no such page. */
function answerPageOf(model, op, operands) {
  const pages = model.data.pages;
  if (!pages) return null;
  const { usual, dtypes, numbers, withNumbers, alone, operations } = pages;
  const name = op || usual;
  const asked = operands.filter(Boolean);
  if (!operations[name] || asked.length !== (alone.includes(name) ? 1 : 2)) return null;
  const ofNumber = (one) => (numbers.includes(one) ? dtypes.length : NaN);
  const place = (one) => (dtypes.includes(one) ? dtypes.indexOf(one) : ofNumber(one));
  const sorted = [...asked].sort((x, y) => place(x) - place(y));
  const count = sorted.filter((one) => numbers.includes(one)).length;
  const most = withNumbers.includes(name) ? 1 : 0;
  if (sorted.some((one) => Number.isNaN(place(one))) || count > most) return null;
  const file = `${sorted.map(encodeURIComponent).join("+")}.html`;
  const href = `answers/${name === usual ? file : `${name}/${file}`}`;
  return element("p", { class: "page" }, element("a", { href }, "Every library, release by release"));
}

/** What every system answers to one pair, by answer. */
function answersView(page) {
  const { model, state, system: chosen } = page;
  const [a, b] = pairOf(state) ?? beginning(model, chosen, ["int64", "float32"]);
  const operands = [...new Set(model.operands.map(({ text }) => text))];
  const field = (label, name, value) =>
    element(
      "label",
      {},
      element("span", {}, label),
      element("input", {
        name,
        value,
        list: "operands",
        onchange: (event) =>
          page.go({ pair: name === "a" ? `${event.target.value},${b}` : `${a},${event.target.value}` }),
      }),
    );
  const lacking = [];
  const faulty = [];
  const groups = new Map();
  for (const system of model.systems.values()) {
    if (system.error) {
      faulty.push(system);
      continue;
    }
    const cell = model.find(system, state.op, a, b);
    if (!cell) lacking.push(system);
    else groups.set(cell.answer.words, [...(groups.get(cell.answer.words) ?? []), cell]);
  }
  const sorted = [...groups].sort(
    ([x, xs], [y, ys]) => (x === "refused") - (y === "refused") || ys.length - xs.length,
  );
  const link = (system, mark = "") =>
    element(
      "li",
      {},
      element(
        "a",
        {
          href: fragmentOf({
            ...state,
            view: "table",
            system: system.name,
            node: "",
            rows: "all",
            columns: "all",
            pair: `${a},${b}`,
          }),
        },
        system.name,
      ),
      mark,
    );
  return [
    element(
      "section",
      {},
      element("h2", {}, `${state.op || "promotion"}: ${a}${b ? ` with ${b}` : ""}`),
      element(
        "p",
        { class: "fields" },
        field("first operand ", "a", a),
        field("second operand ", "b", b),
        element("datalist", { id: "operands" }, ...operands.map((value) => element("option", { value }))),
      ),
      answerPageOf(model, state.op, [a, b]),
      ...sorted.map(([words, cells]) =>
        element(
          "section",
          { class: "group" },
          element("h3", { class: cells[0].answer.kind }, `${words} (${folded(cells).length})`),
          ...[...Map.groupBy(folded(cells), ([cell]) => reasonOf(cell))].flatMap(([reason, alike]) => [
            reason ? element("p", { class: "reason" }, reason) : null,
            element(
              "ul",
              { class: "names" },
              ...alike.map((releases) => link(releases[0].system, marked(releases))),
            ),
          ]),
        ),
      ),
      lacking.length
        ? element(
            "section",
            { class: "group" },
            element("h3", {}, `not asked (${lacking.length})`),
            element(
              "p",
              { class: "note" },
              "These systems have no such operand, or it was not asked in this operation.",
            ),
            element("ul", { class: "names" }, ...lacking.map((system) => element("li", {}, system.name))),
          )
        : null,
      ...faulty.map(faults),
    ),
  ];
}
