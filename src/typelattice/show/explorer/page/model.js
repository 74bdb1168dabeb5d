// The document that the engine wrote, and look-ups in it. Nothing is computed here that a rule could decide.

const PROMOTION = "";
const TIERS = [
  ["array", "arrays"],
  ["weak", "weak arrays"],
  ["0d", "0-d arrays"],
  ["scalar", "Python scalars"],
  ["all", "all"],
];

/** The document in a page: base64 of deflated JSON. */
async function unpacked(text) {
  const bytes = Uint8Array.from(atob(text.trim()), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}

class Model {
  constructor(data) {
    this.data = data;
    this.pools = data.pools;
    this.operations = data.operations;
    this.systems = new Map(data.systems.map((system) => [system.name, system]));
    this.operands = data.pools.operands.map(([text, code, kind, tier, weak, small]) => ({
      text,
      code,
      kind,
      small,
      weak,
      tier: tier === "array" && weak ? "weak" : tier,
    }));
    this.tables = new Map();
  }

  /** The table of a system in an operation: its operands, and its cells by place; null if there is none. */
  table(system, op) {
    const key = `${system.name} ${op}`;
    if (!this.tables.has(key)) this.tables.set(key, this.read(system, op));
    return this.tables.get(key);
  }

  read(system, op) {
    const table = system.tables?.[op];
    if (!table) return null;
    const rows = table.rows.map((number) => this.operands[number]);
    const columns = table.columns ? table.columns.map((number) => this.operands[number]) : null;
    const places = (operands) => new Map(operands.map((operand, i) => [operand.text, i]));
    return {
      system,
      op,
      rows,
      columns,
      rowPlaces: places(rows),
      columnPlaces: columns && places(columns),
      parts: table,
    };
  }

  /** What stands in a part of a cell: the number of a value in its pool, -1 for nothing. */
  number(table, part, i, j) {
    return this.pools.columns[table.parts[part]][table.columns ? i * table.columns.length + j : i] ?? -1;
  }

  /** The answer in a cell; null where nothing was asked. */
  answer(table, i, j) {
    const number = this.number(table, "answer", i, j);
    if (number < 0) return null;
    const [code, words, kind, weak, lossy, operand] = this.pools.answers[number];
    return { code, words, kind, weak, lossy, result: operand < 0 ? null : this.operands[operand].text };
  }

  /** Whether the library did otherwise than its rule says, and what. */
  evidence(table, i, j) {
    const number = this.number(table, "evidence", i, j);
    const [departs, given, ...lines] = number < 0 ? [false, ""] : this.pools.evidence[number];
    return { departs, given, lines };
  }

  /** The nodes of the order that met, the node that they came to, and the bounds that lost. */
  way(table, i, j) {
    const number = this.number(table, "way", i, j);
    const [nodes, to, lost] = number < 0 ? [[], null, []] : this.pools.ways[number];
    return { nodes, to, lost };
  }

  /** Everything that is known of a cell. */
  cell(table, i, j) {
    const answer = this.answer(table, i, j);
    if (!answer) return null;
    const section = (number) => {
      const [heading, ...lines] = this.pools.sections[number];
      return { heading, lines };
    };
    const told = this.number(table, "trail", i, j);
    const trail = told < 0 ? [] : this.pools.trails[told].map(section);
    const operation = this.number(table, "operation", i, j);
    const rule = this.number(table, "rule", i, j);
    const [place, ...quoted] = rule < 0 ? [null] : this.pools.rules[rule];
    return {
      explained: told >= 0,
      system: table.system,
      op: table.op,
      operands: [table.rows[i], ...(table.columns ? [table.columns[j]] : [])],
      answer,
      sections: operation < 0 ? trail : [...trail, section(operation)],
      rule: place && { place, quoted },
      evidence: this.evidence(table, i, j),
      way: this.way(table, i, j),
    };
  }

  /** The cell of two operands by their strings; null where the document has none. */
  find(system, op, a, b) {
    const table = this.table(system, op);
    const [i, j] = table ? this.places(table, a, b) : [];
    return i === undefined || j === undefined ? null : this.cell(table, i, j);
  }

  /** The row and the column of two operands; undefined where the table has none. */
  places(table, a, b) {
    const column = () => table.columnPlaces.get(counted(table.system, b));
    return [table.rowPlaces.get(counted(table.system, a)), table.columns ? column() : 0];
  }

  /** The nodes above a node, itself included, by the covers that the file states. */
  up(system, node) {
    return reached(
      system.covers.map(([a, b]) => [a, b]),
      node,
    );
  }

  /** The nodes below a node, itself included. */
  down(system, node) {
    return reached(
      system.covers.map(([a, b]) => [b, a]),
      node,
    );
  }
}

/** The string of an operand as a system's tables have it: one that tells no 0-d arrays apart has arrays. */
function counted(system, operand) {
  return operand?.endsWith(":0d") && !system.tiers.includes("0d") ? operand.slice(0, -3) : operand;
}

/** Two operands to begin with: those wanted, or the first and the last array of a system that lacks one. */
function beginning(model, system, wanted) {
  const arrays = (model.table(system, PROMOTION)?.rows ?? []).filter(({ tier }) => tier === "array");
  const known = arrays.map(({ text }) => text);
  return !known.length || wanted.every((text) => known.includes(text)) ? wanted : [known[0], known.at(-1)];
}

/** What can be reached from a node by arrows. */
function reached(arrows, start) {
  const next = new Map();
  for (const [a, b] of arrows) next.set(a, [...(next.get(a) ?? []), b]);
  const found = new Set([start]);
  for (const node of found) for (const above of next.get(node) ?? []) found.add(above);
  return found;
}

/** The places of the operands that are shown: of a tier, the small dtypes only if asked for. */
function shown(operands, system, tier, small) {
  const wanted = tier === "0d" && !system.tiers.includes("0d") ? "array" : tier;
  return operands
    .map((operand, i) => [operand, i])
    .filter(([operand]) => (small || !operand.small) && (wanted === "all" || operand.tier === wanted))
    .map(([, i]) => i);
}
