// Shows the dtypes of a pasted function, line by line. The package computes them, by Pyodide: Python in the
// browser. Where Pyodide lies elsewhere, nothing is fetched before the reader asks.

const form = document.getElementById("live");
const status = document.getElementById("live-status");
const answer = document.getElementById("live-answer");
const { base, hash, wheel, from, megabytes } = form.dataset;
const own = !/^https?:/.test(base);
const FIELDS = ["code", "names", "systems"];
const known = JSON.parse(document.getElementById("live-known").textContent); // the examples and their answers
const at = (address) => new URL(address, location.href).href;
const FILES = {
  base: at(base), hash, wheel: at(wheel), code: at("_static/annotate.py"), worker: at("_static/python.js"),
};
let worker = null; // the thread with Python
let ready = false; // whether it has answered
let asks = 0; // how often the reader asked: a later question may be answered earlier

/** Makes an element with attributes and children; text stays text. */
function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

/** Asks Python, which the first question starts in a worker; without a question, only starts it. */
function python(asked) {
  return new Promise((resolve, reject) => {
    const fail = (message) => {
      worker?.terminate(); // a failure is forgotten, so that the reader can try again
      worker = null;
      reject(new Error(message));
    };
    if (typeof WebAssembly !== "object") return fail("this browser has no WebAssembly");
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = ({ data }) => {
      ready = !("failed" in data);
      if (ready) resolve(data.answered);
      else fail(data.failed);
    };
    worker ??= new Worker(FILES.worker, { type: "module" });
    worker.addEventListener("error", () => fail("its script cannot be run"));
    worker.postMessage({ files: FILES, asked }, [port2]);
  });
}

/** A text in which the files of rules are links to the pages that show them. */
function withRules(text) {
  const parts = text.split(/\b([\w-]+)((?:@[\w.]+)?\.toml, line \d+)/);
  return parts.flatMap((part, i) => {
    if (i % 3 === 0) return [part];
    return i % 3 === 1 ? [element("a", { href: `gallery/${part}.html#its-file` }, part + parts[i + 1])] : [];
  });
}

const chip = (text) => element("span", { class: text.startsWith("refused") ? "chip refused" : "chip" }, text);

/** The rows of a line: its answers, and its steps, which a button shows. */
function rows(line, systems) {
  const shown = element("td", { class: "number" });
  const span = line.answers.length ? 1 : 1 + systems.length;
  const code = element("td", { colspan: span }, element("code", {}, line.text || " "));
  const answers = line.answers.map((said, i) => element("td", { "data-system": systems[i] }, chip(said)));
  const row = element("tr", { class: line.differs ? "differs" : "" }, shown, code, ...answers);
  if (!line.steps.length) {
    shown.append(String(line.number));
    return [row];
  }
  const id = `live-steps-${line.number}`;
  const label = `steps of line ${line.number}`;
  const button = element("button", { "aria-controls": id, "aria-label": label }, String(line.number));
  const steps = element("tr", { id, class: "steps" }, element("td"), element("td", {
    colspan: 1 + systems.length,
  }, ...line.steps.map((step) => described(step, systems))));
  const open = (yes) => {
    steps.hidden = !yes;
    button.setAttribute("aria-expanded", yes);
  };
  button.addEventListener("click", () => open(steps.hidden));
  open(line.first);
  shown.append(button);
  return [row, steps];
}

/** A step: what it gives under each system, and why. */
function described(step, systems) {
  const times = step.times > 1 ? ` (${step.times} times)` : "";
  const mark = step.differs ? [element("strong", {}, " the systems differ here")] : [];
  return element("dl", {},
    element("dt", {}, element("code", {}, step.text), times, ...mark),
    ...systems.map((name, i) => element("dd", {}, `${name} `, chip(step.answers[i]),
      " ", ...withRules(step.reasons[i]))),
  );
}

/** What was found: a summary, and a table of the lines. */
function report(found) {
  const head = ["line", "code", ...found.systems].map((name) => element("th", { scope: "col" }, name));
  const body = found.lines.flatMap((line) => rows(line, found.systems));
  const table = element("table", {}, element("thead", {}, element("tr", {}, ...head)),
    element("tbody", {}, ...body));
  const scrolled = element("div", { class: "scrolling", tabindex: "0", role: "region",
    "aria-label": "dtypes of each line" }, table);
  const note = found.note ? [element("p", {}, element("small", {}, found.note))] : [];
  if (found.lines.some((line) => line.differs)) {
    const fix = element("a", { href: "howto/fix.html" }, "typelattice fix");
    note.push(element("p", {}, "Does it widen your floats? ", fix,
      " finds the cast that keeps them narrow. It runs your program, so it works on your machine alone."));
  }
  const said = found.summary.map((text) => element("li", {}, text));
  const summary = element("ul", { class: "summary" }, ...said);
  return [summary, scrolled, ...note];
}

/** A mistake, under its line if it is of one. */
function mistake(found) {
  const said = element("p", { class: "mistake", role: "alert" }, found.error);
  if (found.line === null) return [said];
  const line = found.source[found.line - 1] ?? "";
  const shown = element("pre", { tabindex: "0" }, `${found.line}: ${line}`);
  return [shown, said];
}

/** What stands in the form, and its answer if that is known without Python. */
function question() {
  const asked = FIELDS.map((name) => form.elements[name].value);
  const same = known.find((one) => one.asked.every((text, i) => text === asked[i]));
  return { asked, answered: same?.answer };
}

function show(answered) {
  answer.replaceChildren(...(answered.error === null ? report(answered) : mistake(answered)));
  answer.hidden = false;
}

/** Answers what stands in the form, or says why it cannot. */
async function ask() {
  const { asked, answered } = question();
  const query = new URLSearchParams(FIELDS.map((name, i) => [name, asked[i]]));
  history.replaceState(null, "", `#${query}`);
  const ours = ++asks;
  answer.hidden = true;
  status.textContent = ready ? "Computing …" : `Loading Python, once: ${megabytes} MB …`;
  try {
    const found = answered ?? await python(asked);
    if (ours !== asks) return;
    show(found);
    const where = answered ? "when this site was built" : "in your browser";
    const computed = found.error === null ? `Computed ${where}. ` : "";
    status.textContent = `${computed}The address of this page holds the question.`;
    answer.scrollIntoView({ block: "nearest" });
  } catch (error) {
    if (ours !== asks) return;
    status.textContent =
      `Python could not be fetched, so this box can compute nothing: ${error.message}. ` +
      "On your own machine, `typelattice explain FILE.py:function x=float32` answers the same.";
  }
}

/** Writes values into the form. */
function fill(values) {
  for (const name of FIELDS) if (values[name] !== undefined) form.elements[name].value = values[name];
  const code = form.elements.code;
  code.rows = Math.max(4, Math.min(40, code.value.split("\n").length + 1));
}

for (const button of document.querySelectorAll("#live-examples button")) {
  button.addEventListener("click", () => {
    fill(button.dataset);
    ask();
  });
}
const linked = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
fill("code" in linked ? linked : {});
if (question().answered) show(question().answered);
form.addEventListener("submit", (event) => event.preventDefault());
if (location.protocol === "file:") {
  status.textContent =
    "This page was opened from a disk, and browsers give such pages no files, " +
    "so the box shows its examples and computes nothing else. " +
    "Served, it does: python -m http.server -d build/docs/html";
} else {
  form.addEventListener("submit", ask);
  form.querySelector("[type=submit]").disabled = false;
  status.textContent = own
    ? `Python is loaded in the background, ${megabytes} MB; nothing that you write leaves your browser.`
    : `Python is not here yet; without it this box can compute nothing. ` +
      `The button fetches it, ${megabytes} MB from ${from}; nothing that you write is sent.`;
  if (own && "code" in linked) ask();
  else if (own && !navigator.connection?.saveData) {
    window.addEventListener("load", () => setTimeout(() => python().catch(() => {}), 300));
  }
}
