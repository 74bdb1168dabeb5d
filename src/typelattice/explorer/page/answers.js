// One pair of operands under every system.

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
      ...sorted.map(([words, cells]) =>
        element(
          "section",
          { class: "group" },
          element("h3", { class: cells[0].answer.kind }, `${words} (${cells.length})`),
          element(
            "ul",
            { class: "names" },
            ...cells.map((cell) =>
              link(cell.system, cell.evidence.departs ? ` does otherwise: ${cell.evidence.given}` : ""),
            ),
          ),
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
