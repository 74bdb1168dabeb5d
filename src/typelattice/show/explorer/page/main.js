// The page: reads its document, and shows the state that its address says.

const VIEWS = [
  ["table", "Table", tableView],
  ["compare", "Compare", compareView],
  ["answers", "One pair, all systems", answersView],
  ["laws", "Laws and costs", lawsView],
  ["expression", "Expression", expressionView],
];
const NARROW = matchMedia("(max-width: 60rem)"); // as in media.css
const EDITING = ["edit", "Edit", workbenchView]; // where a server is there to ask

class Page {
  constructor(model, desk) {
    this.model = model;
    this.desk = desk;
    this.unfolded = false; // the switches that fold in a narrow window
    this.views = desk ? [EDITING, ...VIEWS] : VIEWS;
    if (desk && !location.hash) history.replaceState(null, "", "#view=edit");
    this.read();
    addEventListener("hashchange", () => {
      this.read();
      this.show();
    });
  }

  /** Shows another document in the place of this one. */
  take(data) {
    this.model = new Model(data);
    this.read();
    this.show();
  }

  /** Takes the state from the address; what it names and the document lacks is replaced. */
  read() {
    this.state = stateOf(location.hash);
    this.wrong = this.mistakes();
    if (!this.views.some(([view]) => view === this.state.view)) this.state.view = "table";
    if (!this.model.operations.some(({ name }) => name === this.state.op)) this.state.op = PROMOTION;
    for (const side of ["rows", "columns"])
      if (!TIERS.some(([tier]) => tier === this.state[side])) this.state[side] = DEFAULTS[side];
    this.system = this.model.systems.get(this.state.system) ?? this.model.systems.get(this.model.data.first);
  }

  /** What the address names and this page does not have, in words. */
  mistakes() {
    const { state, model } = this;
    const known = {
      view: this.views.map(([view]) => view),
      system: ["", ...model.systems.keys()],
      with: ["", ...model.systems.keys()],
      op: model.operations.map(({ name }) => name),
      rows: TIERS.map(([tier]) => tier),
      columns: TIERS.map(([tier]) => tier),
    };
    const found = Object.keys(state)
      .filter((key) => !(key in DEFAULTS))
      .map((key) => `“${key}” is nothing that an address can say`);
    for (const [key, list] of Object.entries(known))
      if (!list.includes(state[key])) found.push(`${key}: this page has no “${state[key]}”`);
    const operands = new Set(model.operands.map(({ text }) => text));
    for (const one of (pairOf(state) ?? []).filter(Boolean))
      if (!operands.has(one)) found.push(`pair: no table here has “${one}”`);
    return found.map((text) => (text.length > 200 ? `${text.slice(0, 200)}…` : text));
  }

  /** Changes the state, which is a step in the history. */
  go(change) {
    location.hash = fragmentOf({ ...this.state, ...change });
  }

  /** Keeps a change of the state in the address, with no step in the history and without showing all anew. */
  note(change) {
    this.state = { ...this.state, ...change };
    history.replaceState(null, "", fragmentOf(this.state));
    this.links();
  }

  show() {
    const focused = document.activeElement?.closest?.("#choices [name]")?.name;
    const view = this.views.find(([name]) => name === this.state.view)[2];
    const seen = view(this).filter(Boolean); // first, as a view may choose what the address leaves open
    this.links();
    document.getElementById("choices").replaceChildren(...this.choices());
    const wrong = this.wrong.length
      ? [
          element(
            "section",
            { role: "alert", class: "wrong" },
            element("p", {}, "The address of this page is wrong:"),
            element("ul", {}, ...this.wrong.map((text) => element("li", {}, text))),
          ),
        ]
      : [];
    document.getElementById("main").replaceChildren(...wrong, ...seen);
    document.title = `${this.system.name}: typelattice explorer`;
    if (focused) document.querySelector(`#choices [name="${focused}"]`)?.focus();
    this.drew();
  }

  /** Says which state the page shows, for all who wait until it is drawn: that of the address, or the same
   * with the cell that is pointed at. */
  drew(pointed = null) {
    document.documentElement.dataset.drawn = pointed
      ? fragmentOf({ ...this.state, pair: pairText(pointed.operands) })
      : location.hash;
  }

  /** The links to the views, which keep all else. */
  links() {
    document
      .getElementById("views")
      .replaceChildren(
        ...(this.model.data.pages ? [element("a", { href: "index.html" }, "Documentation")] : []),
        ...this.views.map(([view, words]) =>
          element(
            "a",
            {
              href: fragmentOf({ ...this.state, view }),
              "aria-current": view === this.state.view ? "page" : null,
            },
            words,
          ),
        ),
      );
  }

  /** The switches that mean something in the view that is shown. */
  choices() {
    const { state, model } = this;
    const change = (name) => (value) =>
      this.go({ [name]: value, ...(name === "system" ? { node: "" } : {}) });
    const of = (label, name, list) => choice(label, name, list, state[name], change(name));
    const found = [];
    if (state.view === "edit") return found;
    if (state.view !== "answers")
      found.push(choice("System", "system", this.systems(), this.system.name, change("system")));
    const releases = [...model.systems.values()].filter((one) => !one.error && one.of === this.system.of);
    if (state.view !== "answers" && releases.length > 1) {
      found.push(
        choice(
          "Version",
          "version",
          releases.map((one) => [one.name, one.release]),
          this.system.name,
          (name) => this.go({ system: name, node: "" }),
        ),
      );
    }
    if (state.view === "compare" || state.view === "expression")
      found.push(of("With", "with", [["", "…"], ...this.systems()]));
    if (state.view === "expression" || state.view === "laws") return found;
    found.push(
      of(
        "Operation",
        "op",
        model.operations.map(({ name }) => [name, name || "promotion"]),
      ),
    );
    if (state.view === "answers") return found;
    const small = element(
      "label",
      { class: "check" },
      element("input", {
        type: "checkbox",
        name: "small",
        checked: Boolean(state.small),
        onchange: (event) => this.go({ small: event.target.checked ? "1" : "" }),
      }),
      " small dtypes",
    );
    return [...found, ...this.folded([of("Rows", "rows", TIERS), of("Columns", "columns", TIERS), small])];
  }

  /** Switches that few readers need. In a narrow window they fold, so that the table is seen at once. */
  folded(switches) {
    if (!NARROW.matches) return switches;
    const { rows, columns } = this.state;
    const named = [...new Set([rows, columns])].map((tier) => TIERS.find(([name]) => name === tier)[1]);
    return [
      element(
        "details",
        {
          open: this.unfolded,
          ontoggle: (event) => {
            this.unfolded = event.target.open;
          },
        },
        element("summary", {}, `Rows and columns: ${named.join(", ")}`),
        ...switches,
      ),
    ];
  }

  /** The systems under their headings, older releases last. */
  systems() {
    const all = [...this.model.systems.values()];
    const newest = all.filter((one) => one.error || one.name === one.of);
    const named = (list) => list.map((one) => [one.name, one.name]);
    const groups = [...this.model.data.headings, undefined].map((heading) => [
      heading ?? "not valid",
      named(newest.filter((one) => one.heading === heading)),
    ]);
    return [...groups, ["older releases", named(all.filter((one) => !newest.includes(one)))]].filter(
      ([, list]) => list.length,
    );
  }
}

/** Starts the page, or says in its place why it cannot. */
async function start() {
  try {
    const model = new Model(await unpacked(document.getElementById("document").textContent));
    const told = JSON.parse(document.getElementById("desk").textContent);
    const page = new Page(model, told && new Desk(told));
    searching(page);
    NARROW.addEventListener("change", () => page.show());
    page.show();
    if (page.desk) await guard(page);
    document.documentElement.dataset.ready = "yes";
  } catch (error) {
    const old =
      typeof DecompressionStream === "undefined"
        ? "This browser is too old for the page: it cannot unpack it. "
        : "";
    document.getElementById("views").replaceChildren();
    document
      .getElementById("main")
      .replaceChildren(element("p", { role: "alert" }, `${old}The page cannot be shown: ${error.message}`));
    throw error;
  }
}

start();
