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

/** The operands of a question that a system does not have in an operation: it answers nothing for them. */
function lackedBy(model, system, op, operands) {
  const table = model.table(system, op);
  const has = (text) => table?.rows.some((row) => row.text === counted(system, text));
  return [...new Set(operands.filter((text) => text && !has(text)))];
}

/** What the systems of one heading answer, in groups as on the command line. */
function headedAnswers(model, op, operands, heading, systems, link) {
  const unasked = [];
  const groups = new Map();
  const add = (words, entry) => groups.set(words, [...(groups.get(words) ?? []), entry]);
  for (const system of systems) {
    const cell = model.find(system, op, ...operands);
    const lacked = cell ? [] : lackedBy(model, system, op, operands);
    if (cell) add(cell.answer.words, cell);
    else if (lacked.length) add("refused", { system, lacked });
    else unasked.push(system);
  }
  const sorted = [...groups].map(([words, entries]) => [
    words,
    folded(entries.filter(({ answer }) => answer)),
    entries.filter(({ lacked }) => lacked),
  ]);
  const size = ([, answered, lacking]) => answered.length + lacking.length;
  sorted.sort((x, y) => (x[0] === "refused") - (y[0] === "refused") || size(y) - size(x));
  const names = (items) => element("ul", { class: "names" }, ...items);
  return element(
    "section",
    {},
    element("h3", {}, heading),
    ...sorted.map(([words, answered, lacking]) =>
      element(
        "section",
        { class: "group" },
        element(
          "h4",
          { class: answered[0]?.[0].answer.kind ?? "refused" },
          `${words} (${answered.length + lacking.length})`,
        ),
        ...[...Map.groupBy(answered, ([cell]) => reasonOf(cell))].flatMap(([reason, alike]) => [
          reason ? element("p", { class: "reason" }, reason) : null,
          names(alike.map((releases) => link(releases[0].system, marked(releases)))),
        ]),
        ...[...Map.groupBy(lacking, ({ lacked }) => `has no ${lacked.join(" and no ")}`)].flatMap(
          ([reason, alike]) => [
            element("p", { class: "reason" }, reason),
            names(alike.map(({ system }) => element("li", {}, system.name))),
          ],
        ),
      ),
    ),
    unasked.length
      ? element(
          "section",
          { class: "group" },
          element("h4", {}, `not asked in this operation (${unasked.length})`),
          names(unasked.map((system) => element("li", {}, system.name))),
        )
      : null,
  );
}

/** What every system answers to one pair, by heading and answer. */
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
  const faulty = [...model.systems.values()].filter(({ error }) => error);
  const valid = [...model.systems.values()].filter(({ error }) => !error);
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
      ...[...Map.groupBy(valid, ({ heading }) => heading)]
        .sort(([x], [y]) => model.data.headings.indexOf(x) - model.data.headings.indexOf(y))
        .map(([heading, systems]) => headedAnswers(model, state.op, [a, b], heading, systems, link)),
      ...faulty.map(faults),
    ),
  ];
}
