// Asks the package itself, by Pyodide: Python in the browser. Nothing is fetched before the reader asks.

const form = document.getElementById("live");
const status = document.getElementById("live-status");
const answer = document.getElementById("live-answer");
const { base, hash, wheel } = form.dataset;
let python = null; // the promise of a function that answers a command line

const ASK = `
import io
from contextlib import redirect_stderr, redirect_stdout, suppress
from typelattice.cli.main import main

def ask(words):
    told = io.StringIO()
    with redirect_stdout(told), redirect_stderr(told), suppress(SystemExit):
        main(list(words))
    return told.getvalue()
ask
`;

/** The words of the command that is asked. */
function words() {
  const { expression, names, systems } = Object.fromEntries(new FormData(form));
  const split = (text) => text.split(/[\s,]+/).filter(Boolean);
  return [
    "explain",
    ...split(systems).flatMap((name) => ["--system", name]),
    "--",
    expression,
    ...split(names),
  ];
}

/** A command as a shell takes it. */
function command() {
  const plain = /^[\w.:@=+-]+$/;
  const quoted = (word) => (plain.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);
  return ["typelattice", ...words().map(quoted)].join(" ");
}

/** Loads a script of elsewhere, if it is the one that was meant. */
function script(address) {
  return new Promise((resolve, reject) => {
    const made = document.createElement("script");
    Object.assign(made, { src: address, integrity: hash, crossOrigin: "anonymous", onload: resolve });
    made.onerror = () => reject(new Error(`${address} cannot be fetched`));
    document.head.append(made);
  });
}

/** Fetches Python and the wheel; a function that answers. */
async function fetched() {
  await script(`${base}pyodide.js`);
  const pyodide = await loadPyodide({ indexURL: new URL(base, location.href).href });
  const found = await fetch(wheel);
  if (!found.ok) throw new Error(`${wheel} cannot be fetched`);
  pyodide.unpackArchive(await found.arrayBuffer(), "wheel");
  return pyodide.runPython(ASK);
}

/** Answers what stands in the form, or says why it cannot. */
async function ask(event) {
  event.preventDefault();
  const asked = words();
  try {
    if (!python) status.textContent = "Python is being fetched, once …";
    python ??= fetched();
    const answered = (await python)(asked);
    answer.textContent = answered;
    answer.hidden = false;
    status.textContent = "Python is here; it computed this:";
  } catch (error) {
    python = null;
    answer.hidden = true;
    status.textContent =
      `Python could not be fetched, so this page can compute nothing: ${error.message}. ` +
      "The command below answers the same.";
  }
}

const show = () => {
  document.getElementById("live-command").textContent = command();
};
form.addEventListener("input", show);
show();
if (location.protocol === "file:") {
  status.textContent =
    "This page was opened from a disk, and browsers give such pages no files, so it can compute nothing. " +
    "Served, it can: python -m http.server -d build/docs/html";
} else {
  form.addEventListener("submit", ask);
  form.querySelector("button").disabled = false;
  status.textContent = "Python is not here yet; without it this page can compute nothing. Ask fetches it.";
}
