// What the page shows, as the fragment of its address says it. Every state is a link.

const DEFAULTS = {
  view: "table",
  system: "",
  with: "",
  op: PROMOTION,
  rows: "array",
  columns: "array",
  small: "",
  pair: "",
  node: "",
  text: "",
};

/** The state that a fragment says; unknown keys are left alone. */
function stateOf(fragment) {
  const said = Object.fromEntries(new URLSearchParams(fragment.replace(/^#/, "")));
  return { ...DEFAULTS, ...said };
}

/** The fragment that says a state: only what differs from the defaults. */
function fragmentOf(state) {
  const said = Object.entries(state).filter(([key, value]) => value !== (DEFAULTS[key] ?? ""));
  const text = new URLSearchParams(said).toString();
  return `#${text.replaceAll("%2C", ",").replaceAll("%3A", ":").replaceAll("%40", "@")}`;
}

/** The two operands of a pair, as the state writes them. */
function pairOf(state) {
  const [a, b] = state.pair.split(",");
  return a ? [a, b ?? ""] : null;
}

/** Operands as the state writes them. */
function pairText(operands) {
  return operands.map(({ text }) => text).join(",");
}
