// The search: words that are names of systems, operands and operations lead to views. Each result is a link.

const MOST_FOUND = 12;

/** How many letters have to change, or to swap places, to make one word of another. */
function lettersApart(a, b) {
  const rows = [[...Array(b.length + 1).keys()]];
  for (let i = 1; i <= a.length; i++) {
    rows[i] = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      rows[i][j] = Math.min(rows[i - 1][j] + 1, rows[i][j - 1] + 1, rows[i - 1][j - 1] + same);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        rows[i][j] = Math.min(rows[i][j], rows[i - 2][j - 2] + 1);
    }
  }
  return rows[a.length][b.length];
}

/** The names that are near to a mistyped word of four letters or more, the nearest first. Their digits are
 * those of the word: int4 is no int8. */
function near(word, names) {
  if (word.length < 4) return [];
  const digits = (one) => one.replace(/\D/g, "");
  return names
    .filter((name) => digits(name) === digits(word))
    .map((name) => [lettersApart(word, name), name])
    .filter(([letters]) => letters <= (word.length > 6 ? 2 : 1))
    .sort(([a], [b]) => a - b)
    .map(([, name]) => name);
}

/** The states that a query may mean, each [state, words]. Words may be mistyped; they may name a system, an
 * operation and operands at once. */
function search({ model, system, state }, query) {
  const words = query
    .toLowerCase()
    .replace(/^\s*\/(?=\w)/, "") // as the addresses of answers are written
    .replace(/([a-z0-9_)])\s*(\*\*|\/\/|[+*/%])\s*(?=[a-z0-9(])/g, "$1 $2 ")
    .split(/[\s,()]+/)
    .filter(Boolean);
  if (!words.length) return [];
  const texts = [...new Set(model.operands.map(({ text }) => text))];
  const names = [...model.systems.keys()];
  const calls = new Map(
    model.operations.flatMap(({ name, names: all, operator }) =>
      [...all, operator].filter(Boolean).map((one) => [one, name]),
    ),
  );
  const exactly = (word) =>
    model.operands.find(({ text, code }) => text === word || (code === word && !code.includes("*")))?.text;
  const pair = [];
  const named = [];
  let op;
  for (const word of words) {
    const begun = [...names, ...calls.keys()].some((name) => name.toLowerCase().includes(word));
    const meant = (list) => near(word, begun ? [] : list)[0];
    const operand = exactly(word) ?? meant(texts);
    const name = model.systems.has(word) ? word : meant(names);
    const call = calls.has(word) ? word : meant([...calls.keys()]);
    if (operand) pair.push(operand);
    else if (name) named.push(name);
    else if (call !== undefined) op ??= calls.get(call);
  }
  const found = [];
  const alone = model.operations.find(({ name }) => name === op)?.alone ?? false;
  const [a, b] = pair;
  const asking = pair.length >= 2 || (pair.length === 1 && alone);
  const change = op === undefined ? {} : { op };
  if (asking) {
    const both = alone ? a : `${a},${b}`;
    const what = `${op ? `${op} of ` : ""}${alone ? a : `${a} with ${b}`}`;
    const every = [{ view: "answers", pair: both, ...change }, `${what}: every system`];
    for (const name of named.length ? named : [system.name])
      found.push([
        { view: "table", system: name, pair: both, node: "", ...change, ...visible(model, state, [a, b]) },
        `${what} under ${name}`,
      ]);
    found.push(every);
  }
  if (named.length >= 2)
    found.push([
      { view: "compare", system: named[0], with: named[1], ...change },
      `${named[0]} compared with ${named[1]}${op ? `: ${op}` : ""}`,
    ]);
  if (named.length && op !== undefined && !asking)
    for (const name of named)
      found.push([{ view: "table", system: name, pair: "", node: "", op }, `${op} under ${name}`]);
  const last = words.at(-1);
  const begun = (name) => !asking && name.toLowerCase().includes(last);
  const fitting = names.filter((name) => named.includes(name) || begun(name));
  for (const name of fitting)
    found.push([
      { view: "table", system: name, pair: "", node: "", ...(named.includes(name) ? change : {}) },
      `${name}: ${model.systems.get(name).title ?? "not a valid system"}`,
    ]);
  for (const one of model.operations)
    if (!asking && !named.length && (one.name === op || one.names.some((name) => name.includes(last))))
      found.push([{ op: one.name, pair: "" }, `operation ${one.name || "promotion"}`]);
  if (pair.length === 1 && !alone)
    found.push([{ view: "table", node: a, pair: "" }, `all above ${a}`]);
  return found.slice(0, MOST_FOUND);
}

/** What has to be shown for operands to be seen in the table: only what is not shown already. */
function visible(model, state, operands) {
  const change = {};
  [["rows", operands[0]], ["columns", operands[1]]].forEach(([side, text]) => {
    const one = model.operands.find((operand) => operand.text === text);
    if (one && state[side] !== "all" && state[side] !== one.tier) change[side] = one.tier;
    if (one?.small) change.small = "1";
  });
  return change;
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
  input.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown") moveTo(event, 0);
  });
  list.addEventListener("keydown", (event) => {
    const links = [...list.querySelectorAll("a")];
    const at = links.indexOf(document.activeElement);
    if (event.key === "ArrowDown") moveTo(event, at + 1);
    if (event.key === "ArrowUp" && at > 0) moveTo(event, at - 1);
    else if (event.key === "ArrowUp") {
      event.preventDefault();
      input.focus();
    }
  });
  /** Puts the focus on a result; past the last one it stays. */
  function moveTo(event, at) {
    event.preventDefault();
    list.querySelectorAll("a")[at]?.focus();
  }
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
