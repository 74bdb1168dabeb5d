// One answer in full: what was asked, what came out, why, what is lost, and what the library itself did.

/** The answer of a cell with all that the engine wrote of it. */
function explanation(model, cell, link) {
  const { answer, evidence, system } = cell;
  const texts = cell.operands.map((operand) => operand.text);
  const badges = [
    answer.kind === "refused" && ["refused", "refused"],
    answer.weak && ["weak", "weak"],
    answer.lossy && ["lossy", "loses something"],
    evidence.departs && ["departs", `${libraryOf(system)} departs`],
  ].filter(Boolean);
  return element(
    "section",
    { class: "explanation", "aria-label": "Explanation" },
    element("h2", {}, `${asked(cell)} under ${system.name}`),
    element(
      "p",
      { class: `answer ${answer.kind}` },
      answer.words,
      ...badges.map(([name, text]) => element("span", { class: `badge ${name}` }, text)),
    ),
    cell.explained
      ? null
      : element(
          "p",
          { class: "note" },
          "The reasons for the answers of so large a system were left out. Ask for one: ",
          element("code", {}, commandOf(system, cell.op, texts)),
        ),
    element(
      "dl",
      {},
      ...cell.sections.flatMap(({ heading, lines }) => described(heading, lines)),
      ...(cell.sections.some(({ heading }) => heading === "casts") ||
      answer.kind === "refused" ||
      !cell.explained
        ? []
        : described("casts", ["nothing is lost"])),
      ...(cell.evidence.lines.length ? described("observed", cell.evidence.lines.map(linked)) : []),
    ),
    cell.rule
      ? element(
          "figure",
          { class: "rule" },
          element("figcaption", {}, cell.rule.place),
          element("pre", { tabindex: 0 }, cell.rule.quoted.join("\n")),
        )
      : null,
    answerPageOf(model, cell.op, texts),
    copies(model, cell, link),
  );
}

function described(heading, lines) {
  return [element("dt", {}, heading), ...lines.map((line) => element("dd", {}, line))];
}

/** What was asked, as the command line says it. */
function asked({ op, operands }) {
  const names = operands.map((operand) => operand.text);
  return op ? `${op} of ${names.join(" and ")}` : names.join(" with ");
}

function libraryOf(system) {
  return system.library.split(" ")[0] || system.name;
}

/** A line that is an address becomes a link. */
function linked(line) {
  return /^https:\/\/\S+$/.test(line) ? element("a", { href: line, rel: "noreferrer" }, line) : line;
}
