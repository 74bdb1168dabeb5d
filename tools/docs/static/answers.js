// Finds the page of a question: "int64 / float16", "sum uint8", "uint8 300 pow", with typing mistakes.
// answer-pages.js, which the site's build writes, says of what there are pages.
"use strict";

/** How many letters have to change to make one word of another. */
function distance(a, b) {
  let row = [...Array(b.length + 1).keys()];
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++)
      next.push(Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1)));
    row = next;
  }
  return row[b.length];
}

/** The word of a list that was probably meant: itself, or the nearest one if that is near.
 * Digits are never taken for others: int4 is no int8. */
function meant(word, list) {
  if (list.includes(word)) return word;
  if (word.length < 4) return null;
  const digits = (one) => one.replace(/\D/g, "");
  const alike = list.filter((one) => digits(one) === digits(word)).map((one) => [distance(word, one), one]);
  const near = alike.sort(([a], [b]) => a - b)[0];
  return near && near[0] <= 1 + (word.length > 6) ? near[1] : null;
}

// Words of a question in English that say nothing of which page answers it.
const FILLING = (
  "a an and are array arrays as be by can do does dtype for give gives has have i if in is may of on " +
  "the to under use what with"
).split(" ");

/** The page of a question, from the root of the site, and what it answers; null if there is none. */
function answerPage(text) {
  const { usual, dtypes, numbers, withNumbers, alone, operations, libraries } = ANSWER_PAGES;
  const named = new Map(Object.entries(operations).flatMap(([op, names]) => names.map((name) => [name, op])));
  const words = text.toLowerCase()
    .replace(/[(),?]|\b(?:np|numpy|jnp|torch|tf|xp)\.|^\s*\/(?=\w)/g, " ")
    .replace(/([a-z]\d+|^\s*[\d.]+(?:e\d+)?j?)(?!\s+-\d)\s*(\*\*|\/\/|==|[-+*/%@])\s*(?=[-a-z\d])/g, "$1 $2 ")
    .split(/\s+/).filter(Boolean);
  let op = null;
  const operands = [];
  for (const word of words) {
    if (numbers.includes(word)) operands.push(word);
    else if (named.has(word)) op = named.get(word);
    else if (FILLING.includes(word) || libraries.includes(word)) continue;
    else if (meant(word, dtypes)) operands.push(meant(word, dtypes));
    else if (meant(word, [...named.keys()])) op = named.get(meant(word, [...named.keys()]));
    else return null;
  }
  if (!operands.length && !op) return null;
  op ??= usual;
  if (!operands.length) return { path: `${op}.html`, title: op };
  if (operands.length === 1 && !alone.includes(op)) return null;
  if (operands.length === 2 && alone.includes(op)) return null;
  if (operands.length > 2) return null;
  const count = operands.filter((one) => numbers.includes(one)).length;
  if (count > 1 || (count && !withNumbers.includes(op))) return null;
  const place = (one) => (numbers.includes(one) ? dtypes.length : dtypes.indexOf(one));
  operands.sort((a, b) => place(a) - place(b));
  if (numbers.includes(operands[0])) return null;
  const file = `${operands.map(encodeURIComponent).join("+")}.html`;
  const sign = operations[op].at(-1);
  const written = operands.length === 2 && !/^\w/.test(sign);
  const title = written ? operands.join(` ${sign} `) : `${op}(${operands.join(", ")})`;
  return { path: op === usual ? file : `${op}/${file}`, title };
}

document.getElementById("find")?.addEventListener("submit", (event) => {
  event.preventDefault();
  const found = answerPage(document.getElementById("operands").value);
  const { folder } = event.target.dataset;
  if (found) location.href = folder + found.path;
  else {
    const asked = document.getElementById("operands").value;
    const query = new URLSearchParams({ code: asked, names: "", systems: "numpy1 numpy torch" });
    const link = linkOf(`${folder ? "" : "../"}live.html#${query}`, "Compute it as code");
    document.getElementById("none").replaceChildren("No page answers this. ", link);
  }
});

function linkOf(href, text) {
  const link = document.createElement("a");
  link.href = href;
  link.textContent = text;
  return link;
}

/** A paragraph with a link. */
function paragraphOf(href, text) {
  const shown = document.createElement("p");
  shown.append(linkOf(href, text));
  return shown;
}

// On the page of search results: the page of answers above them, or the box that computes.
const asked = new URLSearchParams(location.search).get("q");
const results = document.getElementById("search-results");
if (asked && results && typeof ANSWER_PAGES !== "undefined") {
  const found = answerPage(asked);
  const shown = found
    ? paragraphOf(`answers/${found.path}`, `${found.title}: what every library answers`)
    : paragraphOf("live.html", "Paste your function: the dtype of each line, and where libraries differ");
  shown.id = "answer-page";
  results.before(shown);
}

// Beside the box that computes: the page of an expression of two operands.
const box = document.getElementById("live");
box?.addEventListener("submit", () => {
  document.getElementById("answer-page")?.remove();
  const { names, code } = box.elements;
  const bound = new Map(names.value.split(/\s+/).map((one) => one.replace(/\[.*\]$/, "").split("=")));
  const found = answerPage(code.value.replace(/[A-Za-z_]\w*/g, (word) => bound.get(word) ?? word));
  if (!found) return;
  const shown = paragraphOf(`answers/${found.path}`, `${found.title}: every library, release by release`);
  shown.id = "answer-page";
  document.getElementById("live-answer").after(shown);
});
