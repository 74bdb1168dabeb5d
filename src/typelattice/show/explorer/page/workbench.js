// The workbench: covers of the file's order are added and dropped; the server says what that brings about.

const PAUSE = 400; // milliseconds without a key, after which what was typed is checked
const MOST_SPELLED = 24; // pairs that are named; of more it is said how many there are

/** The text of the file, what it was before each change, and the server's questions. */
class Desk {
  constructor({ file, text, changes, dtypes }) {
    this.file = file;
    this.dtypes = dtypes ?? [];
    this.saved = text;
    this.text = text;
    this.changes = changes ?? null;
    this.before = [];
    this.after = [];
    this.beside = [];
    this.lower = "";
    this.upper = "";
    this.message = "";
    this.repairs = null;
    this.typed = null; // what stands in the text's box and was not taken yet
    this.done = Promise.resolve(); // until when the changes that were asked for are shown
  }

  /** Whether something would be lost with the page. */
  get unsaved() {
    return this.text !== this.saved || this.typed !== null;
  }

  /** The name of the draft in the browser's store. */
  get place() {
    return `typelattice: draft of ${this.file}`;
  }

  /** The unsaved text of an earlier visit, and the file's text then; null if there is none. */
  draft() {
    try {
      return JSON.parse(localStorage.getItem(this.place));
    } catch {
      return null; // a browser that stores nothing
    }
  }

  /** Keeps unsaved text as a draft; forgets the draft once all is saved. */
  keep() {
    try {
      if (this.unsaved) {
        const draft = { text: this.typed ?? this.text, saved: this.saved };
        localStorage.setItem(this.place, JSON.stringify(draft));
      } else localStorage.removeItem(this.place);
    } catch {
      // A browser that stores nothing still asks before the page goes.
    }
  }

  /** Asks the server; what comes back is the answer, or an error in words. */
  async ask(what, question = {}) {
    try {
      const answered = await fetch(what, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ text: this.text, beside: this.beside, ...question }),
      });
      if (!answered.ok) return { error: `the server answers ${answered.status} ${answered.statusText}` };
      return await answered.json();
    } catch {
      return {
        error:
          "the server does not answer; is typelattice explore --edit still running? Your text is still here.",
      };
    }
  }
}

/** Asks what a change comes to, and shows it, once all changes before it are shown. */
function change(page, what, question = {}, step = true) {
  clearTimeout(page.desk.checking); // what was typed is judged by the change
  page.desk.done = page.desk.done.then(() => changeNow(page, what, question, step));
  return page.desk.done;
}

/** `step` keeps the text before the change for undo. */
async function changeNow(page, what, question, step) {
  const { desk } = page;
  const old = desk.text;
  const asked = what === "save" ? { text: desk.typed ?? desk.text } : question;
  const told = await desk.ask(what, asked);
  desk.message = told.error ?? (told.saved ? `Saved ${told.saved}.` : "");
  if (told.document) {
    if (step && told.text !== old) {
      desk.before.push(old);
      desk.after = [];
    }
    desk.text = told.text;
    desk.changes = told.changes ?? null;
    desk.repairs = null;
    if (told.saved) desk.saved = told.text;
    if (told.text === desk.typed) desk.typed = null;
    desk.keep();
    page.state.system = "";
    history.replaceState(null, "", fragmentOf(page.state));
    page.take(told.document);
  } else page.show();
  announce(desk.message || "Done.");
}

/** Takes up the draft of an earlier visit, and asks before unsaved text is lost. */
async function guard(page) {
  const { desk } = page;
  addEventListener("beforeunload", (event) => {
    if (desk.unsaved) event.preventDefault();
  });
  addEventListener("keydown", (event) => onShortcut(page, event));
  const draft = desk.draft();
  if (typeof draft?.text !== "string" || draft.text === desk.saved) return;
  await change(page, "look", { text: draft.text });
  const changed = draft.saved === desk.saved ? "" : " The file has changed since then: saving replaces it.";
  desk.message = `Your unsaved text is back; Undo shows that of the file.${changed}`;
  page.show();
  announce(desk.message);
}

/** Ctrl+Z, Ctrl+Shift+Z and Ctrl+Y undo and redo covers; in a box they are the browser's. Ctrl+S saves. */
function onShortcut(page, event) {
  const { desk } = page;
  if (!(event.ctrlKey || event.metaKey) || event.altKey) return;
  const key = event.key.toLowerCase();
  const writes = event.target.closest("textarea, input");
  if (key === "s") change(page, "save");
  else if (writes) return;
  else if (key === "y" || (key === "z" && event.shiftKey)) turn(page, desk.after, desk.before);
  else if (key === "z") turn(page, desk.before, desk.after);
  else return;
  event.preventDefault();
}

/** Goes back to a text, or forward again. */
function turn(page, from, to) {
  const { desk } = page;
  if (!from.length) return;
  to.push(desk.text);
  change(page, "look", { text: from.pop() }, false);
}

/** The drawing in which covers are chosen, what a change brings about, and the text. */
function workbenchView(page) {
  const { desk, model } = page;
  const system = model.systems.get(model.data.first);
  const buttons = element(
    "p",
    { class: "fields" },
    button("Undo", () => turn(page, desk.before, desk.after), !desk.before.length),
    button("Redo", () => turn(page, desk.after, desk.before), !desk.after.length),
    button("Save", () => change(page, "save"), Boolean(system.error)),
    element("span", {}, `${desk.file}${desk.unsaved ? ", changed" : ""}`),
  );
  const message = desk.message ? element("p", { class: "message", role: "status" }, desk.message) : null;
  const area = element("textarea", {
    name: "text",
    rows: Math.min(30, desk.text.split("\n").length + 1),
    spellcheck: "false",
    "aria-label": "Text of the file",
    oninput: () => {
      desk.typed = area.value === desk.text ? null : area.value;
      desk.keep();
      number();
      clearTimeout(desk.checking);
      desk.checking = setTimeout(check, PAUSE);
    },
    onscroll: () => (numbers.scrollTop = area.scrollTop),
  });
  area.value = desk.typed ?? desk.text;
  const numbers = element("pre", { class: "numbers", "aria-hidden": "true" });
  const verdict = element("p", { class: "note", role: "status" });
  const number = () => {
    numbers.textContent = area.value.split("\n").map((_, i) => i + 1).join("\n");
  };
  number();
  /** Says what is wrong with what was typed, without taking it. */
  async function check() {
    const asked = area.value;
    const told = await desk.ask("look", { text: asked });
    if (asked !== area.value) return;
    const first = told.document?.systems.find(({ name }) => name === told.document.first);
    const wrong = first?.error;
    verdict.textContent = wrong
      ? `${wrong.line ? `Line ${wrong.line}: ` : ""}${wrong.cause}`
      : (told.error ?? "This text is a valid system.");
  }
  /** Writes a dtype where the caret is. */
  function write(code) {
    area.setRangeText(code, area.selectionStart, area.selectionEnd, "end");
    area.focus();
    area.dispatchEvent(new Event("input"));
  }
  const text = element(
    "details",
    { open: Boolean(system.error) || desk.typed !== null },
    element("summary", {}, "The text of the file"),
    element(
      "p",
      { class: "dtypes", role: "group", "aria-label": "Write a dtype" },
      ...desk.dtypes.map((code) => button(code, () => write(code))),
    ),
    element("div", { class: "lines" }, numbers, area),
    verdict,
    element(
      "p",
      {},
      button("Take this text", () => change(page, "look", { text: area.value })),
    ),
  );
  if (system.error) return [buttons, message, faults(system), text];
  const layout = system.drawings.at(-1);
  const order = picture(layout, system.covers, (node) => {
    if (desk.lower && !desk.upper && node !== desk.lower) desk.upper = node;
    else [desk.lower, desk.upper] = [node, ""];
    page.show();
    document.querySelector(`[data-node="${CSS.escape(node)}"]`)?.focus();
  });
  for (const node of [desk.lower, desk.upper]) order.nodes.get(node)?.classList.add("operand");
  return [
    buttons,
    message,
    element(
      "div",
      { class: "bench" },
      element(
        "section",
        { "aria-label": "Order" },
        element("div", { class: "scroll" }, order.image),
        coverForm(page, system),
      ),
      element("section", { "aria-label": "What that changes" }, ...effects(page, system)),
    ),
    text,
  ];
}

function button(words, act, disabled = false) {
  return element("button", { type: "button", onclick: act, disabled }, words);
}

/** Two nodes, and what can be done with them. */
function coverForm(page, system) {
  const { desk } = page;
  const nodes = [
    ...new Set([
      ...system.covers.flatMap(([a, b]) => [a, b]),
      ...system.drawings.at(-1).nodes.map(({ id }) => id),
    ]),
  ];
  const pick = (label, name) =>
    choice(label, name, [["", "…"], ...nodes.map((node) => [node, node])], desk[name], (node) => {
      desk[name] = node;
      page.show();
      document.querySelector(`.bench [name="${name}"]`)?.focus();
    });
  const pair = [desk.lower, desk.upper];
  const covered = system.covers.some(([a, b]) => a === pair[0] && b === pair[1]);
  const act = async (question) => {
    await change(page, "edit", question);
    document.querySelector(".bench [name='lower']")?.focus();
  };
  return element(
    "div",
    {},
    element(
      "p",
      { class: "fields" },
      pick("Lower ", "lower"),
      pick("upper ", "upper"),
      button("Add arrow", () => act({ add: [pair] }), !pair.every(Boolean) || covered),
      button("Drop arrow", () => act({ drop: [pair] }), !covered),
    ),
    element(
      "p",
      { class: "note" },
      "Click the lower node, then the upper one; or choose them here. ",
      "a -> b says that a may become b implicitly.",
    ),
  );
}

/** What the changes since the file was read or saved bring about. */
function effects(page, system) {
  const { desk } = page;
  const changes = desk.changes ?? {};
  const pairs = (list) => {
    const more = list.length > MOST_SPELLED ? ` and ${list.length - MOST_SPELLED} more` : "";
    const spelled = list.slice(0, MOST_SPELLED).map(([a, b]) => `${a} + ${b}`);
    return `${spelled.join(", ")}${more}`;
  };
  const said = [
    ...(changes.removed?.length ? [["removed", [changes.removed.join(", ")]]] : []),
    ...(changes.added?.length ? [["added", [changes.added.join(", ")]]] : []),
    ["without a join", changes.without?.length ? [pairs(changes.without)] : ["no pair"]],
    ["lose their join", changes.lost?.length ? [pairs(changes.lost)] : ["none"]],
    ["gain a join", changes.gained?.length ? [pairs(changes.gained)] : ["none"]],
    [
      "laws",
      changes.laws?.length
        ? changes.laws.map(([name, was, now, words]) => `${name}: ${was} became ${now}; ${words}`)
        : ["as before"],
    ],
    [
      "costs",
      changes.costs?.length
        ? changes.costs.map(
            ([name, was, now]) => `${name}: ${was === 1 ? "1 pair" : `${was} pairs`} became ${now}`,
          )
        : ["as before"],
    ],
  ];
  const others = page.model.data.systems.filter(({ name }) => name !== system.name).map(({ name }) => name);
  return [
    element("h2", {}, "Since the file was saved"),
    element("dl", {}, ...said.flatMap(([heading, lines]) => described(heading, lines))),
    element("h2", {}, "Nearest repairs"),
    ...repairsOf(page),
    element("h2", {}, "Beside another system"),
    element(
      "form",
      {
        class: "fields",
        onsubmit: (event) => {
          event.preventDefault();
          beside(page, event.target.elements.other.value.trim());
        },
      },
      element(
        "label",
        {},
        element("span", {}, "System "),
        element("input", { name: "other", value: others[0] ?? "", placeholder: "jax" }),
      ),
      element("button", {}, "Compare"),
    ),
  ];
}

/** The repairs, once they were asked for. */
function repairsOf(page) {
  const { desk } = page;
  if (!desk.repairs) {
    return [
      element(
        "p",
        {},
        button("Search", async () => {
          desk.repairs = await desk.ask("repairs");
          page.show();
        }),
      ),
    ];
  }
  const { repairs = [], why, error } = desk.repairs;
  return [
    why || error ? element("p", { class: "note" }, why || error) : null,
    element(
      "ul",
      { class: "repairs" },
      ...repairs.map(({ says, changed, add, drop }) =>
        element(
          "li",
          {},
          `${says}: ${changed} answers change `,
          button("Apply", () => change(page, "edit", { add, drop })),
        ),
      ),
    ),
  ];
}

/** Compares the text with a system of that name. */
async function beside(page, name) {
  const { desk } = page;
  const kept = desk.beside;
  desk.beside = name ? [name] : [];
  const told = await desk.ask("look");
  desk.message = told.error ?? "";
  if (!told.document) {
    desk.beside = kept;
    page.show();
    return;
  }
  page.model = new Model(told.document);
  page.go({ view: "compare", system: told.document.first, with: name });
}
