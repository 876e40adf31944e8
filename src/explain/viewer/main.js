// The page: what is chosen, in the address behind `#` so that a link leads back to it, and who draws it.

const VIEWS = {
  tree: { title: "Tree", make: TreeView },
  icicle: { title: "Icicle", make: IcicleView },
  grid: { title: "Table", make: GridView },
  json: { title: "JSON", make: RawView },
  diff: { title: "Differences", make: DiffView },
};

class App {
  constructor(pages) {
    this.pages = pages;
    this.plans = new Map();
    this.views = {};
    this.state = { page: 0, side: "plan", view: "tree", metric: "time", node: "0", doc: null, search: "" };
    this.matches = null;
  }

  get page() {
    return expectObject(this.pages[this.state.page], `page ${this.state.page + 1}`);
  }

  /** The plan of the page's side `plan` or `other`, or nothing. */
  planOf(side) {
    const tree = this.page[side];
    if (side === "other" && !tree) return null;
    if (!this.plans.has(tree)) this.plans.set(tree, readPlan(tree, `page ${this.state.page + 1}, ${side}`));
    return this.plans.get(tree);
  }

  get plan() {
    return this.planOf(this.state.side);
  }

  chosen() {
    return this.plan.byId.get(this.state.node);
  }

  get document() {
    return (this.plan.tree.documents ?? []).find((document_) => String(document_.doc) === this.state.doc);
  }

  verdictOf(entry) {
    if (this.sideOf(entry) !== this.state.side) return null;
    const verdict = this.document?.verdicts?.[entry.id];
    return verdict in VERDICTS ? verdict : null;
  }

  /** What a finding is about: a node or a facet. */
  subjectOf(finding) {
    if (finding.node) return this.plan.byId.get(finding.node) ?? null;
    return finding.facet
      ? (this.plan.entries.find((entry) => entry.kind === "facet" && entry.data.field === finding.facet) ?? null)
      : null;
  }

  /** The plan of the page that an entry is of. */
  sideOf(entry) {
    return this.planOf("other")?.byId.get(entry.id) === entry ? "other" : "plan";
  }

  /** The entry of the other plan that corresponds to an entry, or nothing. */
  partnerOf(entry) {
    const side = this.sideOf(entry);
    const beyond = this.planOf(side === "plan" ? "other" : "plan");
    if (entry.kind === "node") {
      const pair = this.diffOf(entry);
      return beyond?.byId.get(side === "plan" ? pair?.right : pair?.left) ?? null;
    }
    const partner = beyond?.byId.get(entry.id);
    return partner?.operator === entry.operator && partner.data.field === entry.data.field ? partner : null;
  }

  /** What the comparison says of an entry. */
  diffOf(entry) {
    const diff = this.page.diff;
    if (!diff || entry.kind !== "node") return null;
    diff.index ??= {
      plan: new Map(diff.nodes?.map((node) => [node.left, node])),
      other: new Map(diff.nodes?.map((node) => [node.right, node])),
    };
    return diff.index[this.sideOf(entry)].get(entry.id) ?? null;
  }

  changeOf(entry) {
    const kind = this.diffOf(entry)?.kind;
    return kind in CHANGES ? kind : null;
  }

  /** A link that chooses an entry. */
  link(entry, text = `${entry.operator} ${shortened(entry.label, 40)}`, side = this.state.side) {
    const go = (event) => {
      event.preventDefault();
      event.stopPropagation();
      this.update({ side, node: entry.id, view: this.viewOfNodes });
      this.view.reveal?.(true);
    };
    return el("a", { href: "#" + this.address({ side, node: entry.id }), onclick: go }, foreign(text, 80, false));
  }

  /** The view, or one that shows nodes in place of one that does not. */
  get viewOfNodes() {
    return this.state.view === "json" ? "tree" : this.state.view;
  }

  address(changes = {}) {
    const { page, side, view, metric, node, doc } = { ...this.state, ...changes };
    const parts = new URLSearchParams();
    if (this.pages.length > 1) parts.set("page", page + 1);
    if (side !== "plan") parts.set("side", side);
    if (view !== "tree") parts.set("view", view);
    if (metric !== this.metricFirst()) parts.set("metric", metric);
    if (doc !== null) parts.set("doc", doc);
    parts.set("node", node);
    return parts.toString();
  }

  /** Time where it was measured, else documents. */
  metricFirst() {
    return this.plan.sum.time > 0 ? "time" : "documents";
  }

  /** Chooses what is looked at first: what differs, of two plans, and the document that a plan was made for. */
  chooseFirst() {
    if (location.hash.length > 1) return;
    if (this.page.other) this.state.view = "diff";
    const documents = this.plan.tree.documents ?? [];
    if (documents.length === 1) this.state.doc = String(documents[0].doc);
  }

  /** Takes what the address says, as far as there is such a thing, and says what there is not. */
  readAddress() {
    const parts = new URLSearchParams(location.hash.slice(1));
    const missing = [];
    const page = Number(parts.get("page") ?? 1) - 1;
    if (page in this.pages) this.state.page = page;
    else missing.push(`page ${parts.get("page")}`);
    this.state.side = parts.get("side") === "other" && this.page.other ? "other" : "plan";
    const view = parts.get("view") ?? "tree";
    if (this.viewsHere().includes(view)) this.state.view = view;
    else missing.push(`view ${view}`);
    const metric = parts.get("metric") ?? this.metricFirst();
    if (metric in METRICS) this.state.metric = metric;
    else missing.push(`metric ${metric}`);
    this.state.doc = parts.get("doc");
    const node = parts.get("node") ?? "0";
    if (this.plan.byId.has(node)) this.state.node = node;
    else {
      this.state.node = this.plan.roots[0].id;
      missing.push(`node ${node}`);
    }
    if (missing.length > 0) say(`The link names what is not here: ${visible(shortened(missing.join(", "), 120))}`);
  }

  viewsHere() {
    return Object.keys(VIEWS).filter((name) => name !== "diff" || this.page.other);
  }

  /** Changes what is chosen and draws it. */
  update(changes) {
    const before = { ...this.state };
    Object.assign(this.state, changes);
    if (!this.plan.byId.has(this.state.node)) this.state.node = this.plan.roots[0].id;
    if (!this.viewsHere().includes(this.state.view)) this.state.view = "tree";
    if (this.state.page !== before.page || this.state.side !== before.side) this.find(this.state.search);
    try {
      history.replaceState(null, "", "#" + this.address());
    } catch {
      // Some places do not let a page change its address; only links suffer.
    }
    this.draw(before);
  }

  draw(before = null) {
    const { state } = this;
    const samePlan = before && before.page === state.page && before.side === state.side;
    if (!samePlan) {
      // What is wrong with the other plan is said now, not when it is wanted.
      this.planOf("other");
      listAt(this.page.diff?.nodes, "diff: nodes");
      showPages(this, byId("pages"));
      showTotals(this, byId("totals"));
      showQuestion(this, byId("question"));
      showWhyEmpty(this, byId("why-empty"));
      showFindings(this, byId("findings-list"));
      showCopies(this);
      showMetrics(this);
      byId("side-label").hidden = !this.page.other;
      byId("side").value = state.side;
      const title = this.page.title ?? this.plan.tree.query ?? "";
      document.title = `${visible(shortened(title, 80))} – treepie plan`;
    }
    if (!samePlan || before.doc !== state.doc) showLens(this, byId("lens"));
    if (!samePlan || before.view !== state.view) showTabs(this);
    byId("metric").value = state.metric;
    showDetails(this, byId("details"));
    this.view.show();
  }

  /** The view that is shown, made when it is first wanted. */
  get view() {
    const { view } = this.state;
    if (this.shown !== view) {
      const host = el("div", { class: `view-${view}` });
      byId("view").replaceChildren(this.views[view]?.host ?? host);
      this.views[view] ??= { host, view: new VIEWS[view].make(this, host) };
      this.shown = view;
    }
    return this.views[view].view;
  }

  /** Looks for nodes; every word has to be in one. */
  find(text) {
    this.state.search = text;
    const wanted = text
      .toLowerCase()
      .split(/\s+/)
      .filter((word) => word);
    this.matches = null;
    if (wanted.length > 0) {
      const of = (entry) =>
        [entry.id, entry.operator, entry.label, entry.algorithm, entry.data.field, entry.data.predicate]
          .join(" ")
          .toLowerCase();
      this.matches = new Set(
        this.plan.entries.filter((entry) => wanted.every((word) => (entry.text ??= of(entry)).includes(word))),
      );
    }
    this.tell();
  }

  tell() {
    const at = this.matches ? [...this.matches].indexOf(this.chosen()) : -1;
    byId("search-count").textContent = !this.matches
      ? ""
      : this.matches.size === 0
        ? "nothing found"
        : `${at >= 0 ? `${at + 1} of ` : ""}${grouped(this.matches.size)}`;
  }

  /** Chooses the next or previous of what was found. */
  step(by) {
    if (!this.matches?.size) return;
    const list = [...this.matches];
    const here = list.indexOf(this.chosen());
    const from = this.chosen()?.at ?? 0;
    const next =
      here >= 0
        ? (here + by + list.length) % list.length
        : by > 0
          ? Math.max(
              0,
              list.findIndex((entry) => entry.at > from),
            )
          : list.length - 1;
    this.update({ node: list[next].id, view: this.viewOfNodes });
    this.view.reveal?.(true);
    this.tell();
  }
}

function showMetrics(app) {
  byId("metric").replaceChildren(
    ...Object.entries(METRICS).map(([name, metric]) => {
      const known = app.plan.sum[name] !== undefined;
      return el("option", { value: name, disabled: !known }, known ? metric.name : `${metric.name} (not measured)`);
    }),
  );
}

function showTabs(app) {
  byId("views").replaceChildren(
    ...app.viewsHere().map((name) => {
      const chosen = name === app.state.view;
      return button(VIEWS[name].title, () => app.update({ view: name }), {
        role: "tab",
        id: `tab-${name}`,
        "aria-selected": String(chosen),
        "aria-controls": "view",
        tabindex: chosen ? 0 : -1,
      });
    }),
  );
  byId("view").setAttribute("aria-labelledby", `tab-${app.state.view}`);
}

function startControls(app) {
  const search = byId("search");
  const looked = oncePerFrame(() => {
    app.find(search.value);
    app.view.show();
  });
  search.addEventListener("input", looked);
  search.addEventListener("keydown", (event) => {
    if (event.key === "Enter") {
      event.preventDefault();
      app.find(search.value);
      app.step(event.shiftKey ? -1 : 1);
    }
    if (event.key === "Escape") {
      search.value = "";
      app.find("");
      app.view.show();
      app.view.focus?.();
    }
  });
  byId("search-next").addEventListener("click", () => app.step(1));
  byId("search-previous").addEventListener("click", () => app.step(-1));
  byId("metric").addEventListener("change", (event) => app.update({ metric: event.target.value }));
  byId("side").addEventListener("change", (event) => app.update({ side: event.target.value }));
  byId("views").addEventListener("keydown", (event) => {
    const names = app.viewsHere();
    const at = names.indexOf(app.state.view);
    const next = {
      ArrowRight: names[(at + 1) % names.length],
      ArrowLeft: names.at(at - 1),
      Home: names[0],
      End: names.at(-1),
    }[event.key];
    if (!next) return;
    event.preventDefault();
    app.update({ view: next });
    byId(`tab-${next}`).focus();
  });
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea, dialog"))
      return;
    if (pressed(app, event.key)) event.preventDefault();
  });
  window.addEventListener("hashchange", () => {
    const before = { ...app.state };
    app.readAddress();
    app.find(app.state.search);
    app.draw(before);
    app.view.reveal?.();
  });
  window.addEventListener("beforeprint", () => app.view.beforePrint?.());
  window.addEventListener("afterprint", () => app.view.afterPrint?.());
}

/** Keys that work wherever nothing is typed. */
function pressed(app, key) {
  const view = app.viewsHere()[Number(key) - 1];
  if (view) app.update({ view });
  else if (key === "/") byId("search").select();
  else if (key === "?") byId("help").showModal();
  else if (key === "d") byId("doc").select();
  else if (key === "m") {
    const names = Object.keys(METRICS).filter((name) => app.plan.sum[name] !== undefined);
    app.update({ metric: names[(names.indexOf(app.state.metric) + 1) % names.length] });
    say(`bars: ${METRICS[app.state.metric].name}`);
  } else if ((key === "+" || key === "-") && app.view.zoomBy) app.view.zoomBy(key === "+" ? 1 : -1);
  else return false;
  return true;
}

function startTheme() {
  const select = byId("theme");
  const set = (theme) => {
    document.documentElement.dataset.theme = theme;
    select.value = theme;
  };
  // Pages opened from disk may have no storage.
  try {
    const kept = localStorage.getItem("treepie-theme");
    if (["light", "dark"].includes(kept)) set(kept);
  } catch {
    /* as the system has it */
  }
  select.addEventListener("change", () => {
    set(select.value);
    try {
      localStorage.setItem("treepie-theme", select.value);
    } catch {
      /* not kept */
    }
  });
}

/** Says what is wrong, in the page's place. */
function fail(error) {
  document.body.classList.add("failed");
  const box = byId("problem");
  box.hidden = false;
  box.textContent = error instanceof Problem ? error.message : `This page cannot show its data: ${error}`;
  if (!(error instanceof Problem)) console.error(error);
}

function start() {
  window.addEventListener("error", (event) => event.error && fail(event.error));
  startTheme();
  startMenu();
  startHelp();
  try {
    const pages = readData(byId("data").textContent);
    if (pages.length > 0) open(pages);
    else startEmpty();
  } catch (error) {
    fail(error);
    return;
  }
  performance.mark("drawn");
}

function open(pages) {
  const app = new App(pages);
  app.readAddress();
  app.chooseFirst();
  app.draw();
  startControls(app);
  app.view.reveal?.();
}

/** Waits for a plan; the page for it is there when there is one. */
function startEmpty() {
  document.body.classList.add("empty");
  document.title = "treepie plan";
  askForPlans((pages) => {
    document.body.classList.remove("empty");
    open(pages);
  });
}

start();
