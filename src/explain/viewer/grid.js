// All nodes as a table that is sorted by any column.

const ROW = 30;

class GridView {
  constructor(app, host) {
    this.app = app;
    this.sorted = { by: "order", down: false };
    const metric = (name) => ({
      title: METRICS[name].name,
      of: (e) => e.own[name],
      show: METRICS[name].show,
      n: true,
    });
    this.columns = {
      order: { title: "node", of: (e) => e.at, show: (_, e) => app.link(e, e.id) },
      operator: { title: "operator", of: (e) => e.operator, show: (v) => foreign(v, 30, false) },
      label: { title: "what", of: (e) => e.label, show: (v) => foreign(v, 80, false) },
      algorithm: { title: "algorithm", of: (e) => e.algorithm, show: (v) => foreign(v, 50, false) },
      estimate: { title: "estimate", of: (e) => e.estimate?.documents ?? null, show: grouped, n: true },
      actual: { title: "actual", of: (e) => e.actual?.documents ?? null, show: grouped, n: true },
      "q-error": metric("q-error"),
      time: metric("time"),
      share: { title: "share", of: (e) => shareOf(app.plan, e, "time"), show: percent, n: true },
      below: { title: "with inputs", of: (e) => e.below.time, show: time, n: true },
      bytes: metric("bytes"),
      containers: metric("containers"),
      skipped: metric("skipped"),
    };
    this.head = el("tr");
    this.body = el("tbody");
    this.table = el("table", { class: "grid", "aria-label": "Nodes" }, el("thead", {}, this.head), this.body);
    this.scroller = el(
      "div",
      {
        class: "scroller",
        tabindex: 0,
        role: "region",
        "aria-label": "Nodes, scrolls",
        onkeydown: (event) => this.key(event),
      },
      this.table,
    );
    const spacer = () => el("tr", { class: "spacer", "aria-hidden": "true" });
    this.rows = new VirtualRows(this.scroller, this.body, ROW, (at) => this.row(at), spacer);
    this.onlyFound = el("input", { type: "checkbox", onchange: () => this.show() });
    host.replaceChildren(
      el(
        "div",
        { class: "toolbar" },
        el("label", { class: "check" }, this.onlyFound, " only what is found"),
        (this.summary = el("span", { class: "faint" })),
      ),
      this.scroller,
    );
  }

  show() {
    const { app, sorted } = this;
    const column = this.columns[sorted.by];
    this.list = app.plan.entries.filter(isOfPlan).filter((entry) => !this.onlyFound.checked || !app.matches || app.matches.has(entry));
    const keys = new Map(this.list.map((entry) => [entry, column.of(entry)]));
    const compare = (a, b) => (typeof a === "string" ? (a < b ? -1 : a > b ? 1 : 0) : a - b);
    // What has no value stands last either way.
    this.list.sort((a, b) => {
      const [x, y] = [keys.get(a), keys.get(b)];
      if (x === null || y === null) return (x === null) - (y === null) || a.at - b.at;
      return (sorted.down ? -compare(x, y) : compare(x, y)) || a.at - b.at;
    });
    this.head.replaceChildren(
      ...Object.entries(this.columns).map(([name, { title, n }]) => {
        const here = name === sorted.by;
        return el(
          "th",
          {
            scope: "col",
            class: n ? "n" : null,
            "aria-sort": here ? (sorted.down ? "descending" : "ascending") : null,
          },
          button([title, here ? (sorted.down ? " ▼" : " ▲") : ""], () => this.sort(name), { "data-column": name }),
        );
      }),
    );
    this.table.setAttribute("aria-rowcount", String(this.list.length + 1));
    this.summary.textContent = `${grouped(this.list.length)} of ${count(app.plan.entries.filter(isOfPlan).length, "node")}`;
    this.rows.reset(this.list.length);
  }

  sort(name) {
    const { by, down } = this.sorted;
    // Numbers are first sorted from the largest.
    this.sorted = { by: name, down: by === name ? !down : Boolean(this.columns[name].n) };
    this.show();
    this.head.querySelector(`[data-column="${name}"]`).focus();
  }

  row(at) {
    const entry = this.list[at];
    const chosen = entry === this.app.chosen();
    return el(
      "tr",
      {
        "aria-rowindex": at + 2,
        class: [chosen && "chosen", this.app.matches?.has(entry) && "found"].filter((c) => c).join(" "),
        "aria-current": chosen ? "true" : null,
        onclick: () => this.app.update({ node: entry.id }),
      },
      Object.values(this.columns).map(({ of, show, n }) => {
        const value = of(entry);
        return el("td", { class: n ? "n" : null }, value === null || value === "" ? "–" : show(value, entry));
      }),
    );
  }

  key(event) {
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 15, PageUp: -15 }[event.key];
    if (!step || event.target !== this.scroller) return;
    event.preventDefault();
    const at = this.list.indexOf(this.app.chosen());
    const next = Math.max(0, Math.min(this.list.length - 1, at + step));
    this.app.update({ node: this.list[next].id });
  }

  focus() {
    this.scroller.focus();
  }

  reveal() {
    this.rows.reveal(this.list.indexOf(this.app.chosen()));
  }
}
