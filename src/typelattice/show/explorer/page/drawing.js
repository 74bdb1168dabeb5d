// The drawing of an order, as the engine laid it out: nodes, arrows between them, boxes around those that
// go together.

const MARGIN = 10; // pixels around the drawing, for its lines are drawn to its very edge

/** The drawing, and what lights parts of it up. `choose` is told the node that was clicked. */
function picture(layout, covers, choose) {
  const nodes = new Map();
  const edges = layout.edges.map((edge) => ({ ...edge, drawn: arrow(edge) }));
  for (const node of layout.nodes) nodes.set(node.id, vertex(node, choose));
  const image = drawn(
    "svg",
    {
      class: "order",
      viewBox: `${-MARGIN} ${-MARGIN} ${layout.width + 2 * MARGIN} ${layout.height + 2 * MARGIN}`,
      role: "group",
      "aria-label": `${layout.title}: its order`,
    },
    marker(),
    ...(layout.boxes ?? []).map(box),
    ...edges.map((edge) => edge.drawn),
    ...(layout.links ?? []).map(link),
    ...nodes.values(),
  );
  image.style.setProperty("--width", `${layout.width}px`);
  const first = nodes.values().next().value;
  if (first) first.setAttribute("tabindex", "0");
  image.addEventListener("keydown", (event) => walk(event, [...nodes.values()]));
  const arrows = covers.map(([a, b]) => [a, b]);
  const reversed = covers.map(([a, b]) => [b, a]);

  /** Takes the marks of what was lit away; `on` says whether something else is to be lit. Dimming the rest
   * takes longest, and is not undone from one answer to the next. */
  function clear(on) {
    image.classList.toggle("lit", on);
    for (const part of image.querySelectorAll(".operand, .way, .join, .lost, .above")) {
      part.classList.remove("operand", "way", "join", "lost", "above");
    }
  }

  return {
    image,
    /** Takes all light away. */
    dim: () => clear(false),
    /** Lights the ways from some nodes up to one, and marks the bounds that lost. */
    light({ nodes: from, to, lost }) {
      clear(from.length > 0);
      const below = to ? reached(reversed, to) : new Set();
      for (const start of from) {
        const between = [...reached(arrows, start)].filter((node) => below.has(node));
        lightUp(new Set(between), "way");
        nodes.get(start)?.classList.add("operand");
      }
      nodes.get(to)?.classList.add("join");
      for (const node of lost) nodes.get(node)?.classList.add("lost");
    },
    /** Lights a node and all that lies above it. */
    above(node) {
      clear(true);
      lightUp(reached(arrows, node), "above");
      nodes.get(node)?.classList.add("operand");
    },
    nodes,
  };

  function lightUp(set, name) {
    for (const node of set) nodes.get(node)?.classList.add(name);
    for (const edge of edges) {
      if (edge.from.some((node) => set.has(node)) && edge.to.some((node) => set.has(node)))
        edge.drawn.classList.add(name);
    }
  }
}

function arrow(edge) {
  return drawn("path", { class: "edge", d: edge.path, "marker-end": "url(#tip)" });
}

function link(one) {
  return drawn("path", { class: `link ${one.mark}`, d: one.path }, drawn("title", {}, one.title ?? one.mark));
}

function box({ x, y, width, height }) {
  return drawn("rect", { class: "box", x: x - width / 2, y: y - height / 2, width, height, rx: 8 });
}

function vertex({ id, label, kind, marks, title, x, y, width, height }, choose) {
  return drawn(
    "g",
    {
      class: `node ${kind} ${marks.join(" ")}`,
      tabindex: -1,
      role: "button",
      "data-node": id,
      "aria-label": title ? `${label}, ${title}` : label, // the name begins with what is seen
      onclick: () => choose(id),
      onkeydown: (event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        choose(id);
      },
    },
    drawn("title", {}, title || id),
    drawn("rect", { x: x - width / 2, y: y - height / 2, width, height, rx: 6 }),
    drawn("text", { x, y }, label),
  );
}

function marker() {
  return drawn(
    "defs",
    {},
    drawn(
      "marker",
      {
        id: "tip",
        viewBox: "0 0 8 8",
        refX: 7,
        refY: 4,
        markerWidth: 8,
        markerHeight: 8,
        markerUnits: "userSpaceOnUse",
        orient: "auto-start-reverse",
      },
      drawn("path", { d: "M 0 0 L 8 4 L 0 8 z" }),
    ),
  );
}

/** Arrow keys lead from node to node. */
function walk(event, nodes) {
  const here = nodes.indexOf(event.target.closest(".node"));
  const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
  const next = here >= 0 && step && nodes[here + step];
  if (!next) return;
  event.preventDefault();
  nodes[here].setAttribute("tabindex", "-1");
  next.setAttribute("tabindex", "0");
  next.focus();
}
