// What can be taken away: an answer as Python, as a test, as JSON, as a link; a drawing as SVG.

/** A command as a shell takes it. */
function shellWords(...words) {
  const plain = /^[\w.:@=/+-]+$/;
  const quotedWord = (word) => (plain.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);
  return words.map(quotedWord).join(" ");
}

/** The command that explains an answer. */
function commandOf(system, op, operands) {
  const named = op ? [`--op=${op}`] : []; // in one word, as an operator may begin with a dash
  return shellWords("typelattice", "explain", ...operands, ...named, "--system", system.asked);
}

/** The buttons that copy an answer. */
function copies(model, cell, link) {
  const texts = [
    ["Python", () => pythonOf(cell)],
    ["pytest", () => testOf(cell)],
    ["JSON", () => jsonOf(cell)],
    ["SVG", () => svgOf(document.querySelector("svg.order"))],
    ["link", () => new URL(link, location.href).href],
  ];
  return element(
    "p",
    { class: "copies", role: "group", "aria-label": "Copy as" },
    element("span", {}, "Copy as "),
    ...texts.map(([name, text]) =>
      element("button", { type: "button", onclick: () => copy(name, text()) }, name),
    ),
  );
}

/** Puts a text on the clipboard, and shows it, since not every browser lets a file do that. */
async function copy(name, text) {
  const dialog = document.getElementById("copy");
  document.getElementById("copy-title").textContent = `Copy as ${name}`;
  const area = document.getElementById("copy-text");
  area.value = text;
  dialog.showModal();
  area.focus();
  area.select();
  try {
    await navigator.clipboard.writeText(text);
    announce(`Copied as ${name}.`);
  } catch {
    announce("Press Control+C to copy.");
  }
}

/** A string as Python writes it: JSON's strings are Python's. */
const quoted = (text) => JSON.stringify(text);

function call({ system, op, operands }, method) {
  const given = operands.map((operand) => quoted(operand.text));
  const words = [...given, ...(op ? [`op=${quoted(op)}`] : [])].join(", ");
  return `tl.system(${quoted(system.asked)}).${method}(${words})`;
}

function pythonOf(cell) {
  return `import typelattice as tl\n\nprint(${call(cell, "explain")})\n`;
}

function testOf(cell) {
  const name = `test_${asked(cell)}_under_${cell.system.name}`.replace(/\W+/g, "_");
  const { answer } = cell;
  if (answer.kind === "refused") {
    const lines = [
      "import pytest",
      "import typelattice as tl",
      "",
      "",
      `def ${name}():`,
      "    with pytest.raises(tl.PromotionError):",
      `        ${call(cell, "promote")}`,
    ];
    return `${lines.join("\n")}\n`;
  }
  const expected = `(${quoted(answer.words.split(" ")[0])}, ${answer.weak ? "True" : "False"})`;
  const lines = [
    "import typelattice as tl",
    "",
    "",
    `def ${name}():`,
    `    found = ${call(cell, "promote")}`,
    `    assert (str(found.dtype), found.weak) == ${expected}`,
  ];
  return `${lines.join("\n")}\n`;
}

function jsonOf({ system, op, operands, answer, sections, rule, evidence }) {
  const found = {
    system: system.name,
    operands: operands.map((operand) => operand.text),
    op: op || null,
    answer: answer.words,
    code: answer.code,
    weak: answer.weak,
    sections: Object.fromEntries(sections.map(({ heading, lines }) => [heading, lines])),
    rule,
    observed: evidence.lines,
  };
  return `${JSON.stringify(found, null, 1)}\n`;
}

/** The drawing with the colours that it has on the page. */
function svgOf(image) {
  if (!image) return "";
  const copied = image.cloneNode(true);
  const [from, to] = [image, copied].map((one) => [one, ...one.querySelectorAll("rect, path, text")]);
  for (const [i, part] of from.entries()) {
    const style = getComputedStyle(part);
    for (const name of [
      "fill",
      "stroke",
      "stroke-width",
      "stroke-dasharray",
      "opacity",
      "font-size",
      "text-anchor",
      "dominant-baseline",
    ]) {
      if (style.getPropertyValue(name)) to[i].setAttribute(name, style.getPropertyValue(name));
    }
    to[i].removeAttribute("style");
  }
  for (const part of copied.querySelectorAll("[tabindex]")) part.removeAttribute("tabindex");
  const [, , width, height] = image.getAttribute("viewBox").split(" ");
  copied.setAttribute("width", width);
  copied.setAttribute("height", height);
  copied.setAttribute("font-family", "ui-monospace, monospace");
  return `${new XMLSerializer().serializeToString(copied)}\n`;
}
