// An expression, step by step. Each step is looked up in the tables that the engine wrote, and nothing else.

const NAME = /[A-Za-z_][\w.@]*(?::(?:0d|weak))*/;
const NUMBER = /\d+\.?\d*(?:e[+-]?\d+)?j?/;
const SIGN = /\*\*|\/\/|==|!=|<=|>=|<<|>>|[-+*\/%@&|^<>(),]/;
const TOKEN = new RegExp(`\\s*(?:(${NAME.source})|(${NUMBER.source})|(${SIGN.source}))`, "y");
const BINDING = [
  ["==", "!=", "<", "<=", ">", ">="],
  ["|"],
  ["^"],
  ["&"],
  ["<<", ">>"],
  ["+", "-"],
  ["*", "/", "//", "%", "@"],
];
const MOST_CHARACTERS = 500;

class ExpressionError extends Error {}

/** The tree of an expression: {text, operand} or {text, op, parts}. Throws ExpressionError. */
function parsed(text) {
  if (text.length > MOST_CHARACTERS) throw new ExpressionError(`longer than ${MOST_CHARACTERS} characters`);
  const tokens = tokensOf(text);
  let at = 0;
  const peek = () => tokens[at]?.text;
  const take = (expected) => {
    if (expected && peek() !== expected)
      throw new ExpressionError(`expected ${expected}${peek() ? ` before ${peek()}` : " at the end"}`);
    return tokens[at++];
  };
  const binary = (level) => {
    if (level === BINDING.length) return sign();
    let left = binary(level + 1);
    while (BINDING[level].includes(peek())) {
      const op = take().text;
      const right = binary(level + 1);
      left = { op, parts: [left, right], text: `${wrapped(left)} ${op} ${wrapped(right)}` };
    }
    return left;
  };
  const sign = () => {
    if (peek() !== "-" && peek() !== "+") return power();
    const op = take().text;
    const part = sign();
    return { op: `${op}x`, parts: [part], text: `${op}${wrapped(part)}` };
  };
  const power = () => {
    const base = atom();
    if (peek() !== "**") return base;
    take();
    const exponent = sign();
    return { op: "**", parts: [base, exponent], text: `${wrapped(base)} ** ${wrapped(exponent)}` };
  };
  const atom = () => {
    const token = take();
    if (!token) throw new ExpressionError("something is missing at the end");
    if (token.text === "(") {
      const inner = binary(0);
      take(")");
      return inner;
    }
    if (token.number)
      return {
        text: token.text,
        operand: token.text.endsWith("j") ? "complex" : /[.e]/.test(token.text) ? "float" : "int",
      };
    if (!token.name) throw new ExpressionError(`${token.text} stands where an operand should`);
    if (peek() !== "(") return { text: token.text, operand: token.text };
    take();
    const parts = [binary(0)];
    while (peek() === ",") {
      take();
      parts.push(binary(0));
    }
    take(")");
    return {
      op: token.text.split(".").at(-1),
      parts,
      text: `${token.text}(${parts.map((part) => part.text).join(", ")})`,
    };
  };
  const tree = binary(0);
  if (at < tokens.length) throw new ExpressionError(`cannot read ${peek()} here`);
  return tree;
}

function tokensOf(text) {
  const found = [];
  TOKEN.lastIndex = 0;
  while (text.slice(TOKEN.lastIndex).trim()) {
    const start = TOKEN.lastIndex;
    const match = TOKEN.exec(text);
    if (!match) throw new ExpressionError(`cannot read ${text.slice(start).trim().slice(0, 12)}`);
    found.push({
      name: Boolean(match[1]),
      number: Boolean(match[2]),
      text: match[1] ?? match[2] ?? match[3],
    });
  }
  if (!found.length) throw new ExpressionError("nothing to ask");
  return found;
}

const wrapped = (tree) => (tree.op && !tree.text.endsWith(")") ? `(${tree.text})` : tree.text);

/** The steps of a tree, innermost first. */
function stepsOf(tree) {
  return tree.op ? [...tree.parts.flatMap(stepsOf), tree] : [];
}

/** What a tree comes to under a system: the operand of the result; `told` has the cell of each step, or why
 * there is none. */
function outcome(model, system, tree, told = new Map()) {
  if (!tree.op) {
    const known = model.operands.find(({ text, code }) => text === tree.operand || code === tree.operand);
    if (!known)
      throw new ExpressionError(
        `${tree.text} is no operand of this page; write a dtype, such as int8 or int8:0d`,
      );
    return known.text;
  }
  const parts = tree.parts.map((part) => outcome(model, system, part, told));
  if (parts.includes(null)) return null;
  // What an operator does is what its function does only where the system's rule says so.
  const asked = system.operators[tree.op] ?? tree.op;
  const operation = model.operations.find(({ name, names }) => name === asked || names.includes(asked));
  if (!operation || operation.alone !== (parts.length === 1)) {
    told.set(tree, { why: whyNot(model, system, tree), command: commandOf(system, tree.op, parts) });
    return null;
  }
  const cell = model.find(system, operation.name, ...parts);
  told.set(tree, cell ? { cell } : { why: `not asked: ${parts.join(", ")}` });
  return cell?.answer.result ?? null;
}

/** Why the page has no table for an operation of a tree. */
function whyNot(model, system, { op }) {
  const alike = model.operations.find(({ operator }) => operator === op);
  if (!alike) return `this page was written without ${op}`;
  return `${system.name} answers the operator ${op} by another rule than ${alike.name}, the function`;
}

/** The address of the site's box that reads any expression; an operand with a tier gets a name there. */
function boxOf(text, systems) {
  const names = [];
  const code = text.replace(/[A-Za-z_]\w*:[\w:]+/g, (operand) => `v${names.push(operand)}`);
  const bound = names.map((operand, i) => `v${i + 1}=${operand}`).join(" ");
  return `live.html#${new URLSearchParams({ code, names: bound, systems: systems.join(" ") })}`;
}

/** A box for an expression, and what each step comes to. */
function expressionView(page) {
  const { model, state, system } = page;
  const [first, second] = beginning(model, system, ["int8", "float16"]);
  const text = state.text || `${first} * 2.0 + ${second}`;
  const asked = [system, model.systems.get(state.with)].filter(
    (one, i, all) => one && !one.error && all.indexOf(one) === i,
  );
  const box = element(
    "form",
    {
      class: "fields",
      onsubmit: (event) => {
        event.preventDefault();
        page.go({ text: event.target.elements.text.value });
      },
    },
    element(
      "label",
      {},
      element("span", {}, "Expression "),
      element("input", { name: "text", value: text, size: 40, spellcheck: "false", autocapitalize: "off" }),
    ),
    element("button", {}, "Ask"),
  );
  const names = model.operations
    .filter(({ name }) => name)
    .map(({ name }) => name)
    .join(", ");
  const limits = element(
    "p",
    { class: "note" },
    "Operands are dtypes (int8, float16:0d) and numbers. This page looks each step up; ",
    `it knows ${names}, no values and no shapes. `,
    "For any other expression, and for functions: ",
    ...(model.data.pages
      ? [element("a", { href: boxOf(text, asked.map(({ name }) => name)) }, "ask the box"), ", or "]
      : []),
    element("code", {}, shellWords("typelattice", "explain", "--system", system.asked, "--", text)),
  );
  if (system.error) return [faults(system)];
  try {
    const tree = parsed(text);
    const told = asked.map((one) => {
      const steps = new Map();
      outcome(model, one, tree, steps);
      return steps;
    });
    const link = (cell) =>
      fragmentOf({
        ...state,
        view: "table",
        system: cell.system.name,
        op: cell.op,
        node: "",
        small: "",
        rows: "all",
        columns: "all",
        pair: pairText(cell.operands),
      });
    const shownStep = (step) => (found) => {
      const { cell, why, command } = found.get(step) ?? { why: "an earlier step has no answer" };
      if (!cell)
        return element(
          "td",
          { class: "note" },
          why,
          command ? [". Ask it by itself: ", element("code", {}, command)] : null,
        );
      const lost = cell.sections.filter(({ heading }) => heading === "casts").flatMap(({ lines }) => lines);
      return element(
        "td",
        {},
        element("a", { class: cell.answer.kind, href: link(cell) }, cell.answer.words),
        ...lost.map((line) => element("small", {}, line)),
      );
    };
    const rows = stepsOf(tree).map((step) =>
      element(
        "tr",
        {},
        element("th", { scope: "row" }, element("code", {}, step.text)),
        ...told.map(shownStep(step)),
      ),
    );
    return [
      box,
      element(
        "div",
        { class: "scroll", tabindex: 0, role: "region", "aria-label": "Steps" },
        element(
          "table",
          { class: "facts" },
          element(
            "thead",
            {},
            element(
              "tr",
              {},
              element("th", { scope: "col" }, "step"),
              ...asked.map((one) => element("th", { scope: "col" }, one.name)),
            ),
          ),
          element("tbody", {}, ...rows),
        ),
      ),
      limits,
    ];
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    return [box, element("p", { class: "error", role: "alert" }, error.message), limits];
  }
}
