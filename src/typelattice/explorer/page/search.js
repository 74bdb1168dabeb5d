// The search: words that are names of systems, operands and operations lead to views. Each result is a link.

const MOST_FOUND = 12;

/** The states that a query may mean, each [state, words]. */
function search({ model, system }, query) {
  const words = query
    .toLowerCase()
    .split(/[\s,+]+/)
    .filter(Boolean);
  if (!words.length) return [];
  const systems = (word) => [...model.systems.keys()].filter((name) => name.toLowerCase().includes(word));
  const operand = (word) =>
    model.operands.find(({ text, code }) => text === word || (code === word && !code.includes("*")))?.text;
  const operations = (word) =>
    model.operations.filter(({ names }) => names.some((name) => name.includes(word)));
  const found = [];
  const pair = words.map(operand).filter(Boolean);
  const named = words.filter((word) => model.systems.has(word));
  const op = model.operations.find(({ name, names }) =>
    words.some((word) => word === name || names.includes(word)),
  )?.name;
  if (pair.length >= 2) {
    const what = `${op ? `${op} of ` : ""}${pair[0]} with ${pair[1]}`;
    for (const name of named.length ? named : [system.name]) {
      found.push([
        {
          view: "table",
          system: name,
          pair: pair.slice(0, 2).join(","),
          rows: "all",
          columns: "all",
          small: "1",
          node: "",
          ...(op ? { op } : {}),
        },
        `${what} under ${name}`,
      ]);
    }
    found.push([
      { view: "answers", pair: pair.slice(0, 2).join(","), ...(op ? { op } : {}) },
      `${what}: every system`,
    ]);
  }
  if (named.length >= 2)
    found.push([
      { view: "compare", system: named[0], with: named[1] },
      `${named[0]} compared with ${named[1]}`,
    ]);
  const last = words.at(-1);
  for (const name of systems(last))
    found.push([
      { view: "table", system: name, pair: "", node: "" },
      `${name}: ${model.systems.get(name).title ?? "not a valid system"}`,
    ]);
  for (const one of operations(last))
    found.push([{ view: "table", op: one.name, pair: "" }, `operation ${one.name || "promotion"}`]);
  if (operand(last) && pair.length < 2)
    found.push([{ view: "table", node: operand(last), pair: "" }, `all above ${operand(last)}`]);
  return found.slice(0, MOST_FOUND);
}

/** Makes the search box search. */
function searching(page) {
  const input = document.getElementById("query");
  const list = document.getElementById("found");
  const close = () => {
    list.hidden = true;
  };
  input.addEventListener("input", () => {
    const found = search(page, input.value);
    list.replaceChildren(
      ...(found.length || !input.value.trim()
        ? found.map(([change, words]) =>
            element(
              "li",
              {},
              element("a", { href: fragmentOf({ ...page.state, ...change }), onclick: close }, words),
            ),
          )
        : [element("li", {}, "nothing of that name")]),
    );
    list.hidden = !input.value.trim();
  });
  document.getElementById("search").addEventListener("submit", (event) => {
    event.preventDefault();
    list.querySelector("a")?.click();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") close();
    if (event.key !== "/" || event.target.closest("input, textarea, select")) return;
    event.preventDefault();
    input.focus();
  });
}
