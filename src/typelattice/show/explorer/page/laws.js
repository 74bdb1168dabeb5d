// Laws and criteria of a system, or the mistakes of a file that is none.

/** A file that is no valid system: its lines, the mistake in its place. */
function faults({ name, error, lines }) {
  const place = error.line ? `line ${error.line}` : "the file";
  const shownLines = lines.map((line, i) =>
    element(
      "li",
      { class: i + 1 === error.line ? "fault" : null },
      element("code", {}, line || " "),
      i + 1 === error.line
        ? element("strong", { role: "alert" }, `${error.key ? `${error.key}: ` : ""}${error.cause}`)
        : null,
    ),
  );
  return element(
    "section",
    { class: "faults", "aria-label": "Errors" },
    element("h2", {}, `${name} is not a valid system`),
    element(
      "p",
      { role: error.line ? null : "alert" },
      `${place}${error.key ? `, ${error.key}` : ""}: ${error.cause}`,
    ),
    element("ol", {}, ...shownLines),
  );
}

/** Each law, and each criterion with the pairs that break it. */
function lawsView(page) {
  const { system } = page;
  if (system.error) return [faults(system)];
  const marks = { true: ["✓", "holds"], false: ["✗", "fails"], null: ["?", "unknown"] };
  const laws = system.laws.map(([name, holds, says, words]) =>
    element(
      "tr",
      {},
      element("th", { scope: "row" }, name),
      element("td", { class: marks[holds][1] }, `${marks[holds][0]} ${marks[holds][1]}`),
      element("td", {}, holds === false ? `${says}. It ${words}` : words),
    ),
  );
  const criteria = system.criteria.map(([name, about, of, pairs]) =>
    element(
      "details",
      {},
      element("summary", {}, element("strong", {}, name), ` ${pairs.length} of ${of}: ${about}`),
      element(
        "ul",
        { class: "pairs" },
        ...pairs.map(([a, b, result]) =>
          element(
            "li",
            {},
            element(
              "a",
              {
                href: fragmentOf({
                  ...page.state,
                  view: "table",
                  op: PROMOTION,
                  rows: "array",
                  columns: "array",
                  small: "1",
                  node: "",
                  pair: `${a},${b}`,
                }),
              },
              `${a} + ${b}${result ? `: ${result}` : ""}`,
            ),
          ),
        ),
      ),
    ),
  );
  return [
    element(
      "section",
      {},
      element("h2", {}, `Laws of ${system.name}`),
      element(
        "div",
        { class: "scroll", tabindex: 0, role: "region", "aria-label": "Laws" },
        element("table", { class: "facts" }, element("tbody", {}, ...laws)),
      ),
    ),
    element(
      "section",
      {},
      element("h2", {}, "What pairs of arrays cost, by the criteria of JEP 9407"),
      ...criteria,
    ),
  ];
}
