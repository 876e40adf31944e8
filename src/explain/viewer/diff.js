// Two plans beside each other: what stands left was before, what stands right is after.

const CHANGES = {
  same: { mark: "", words: "same" },
  changed: { mark: "≠", words: "changed" },
  added: { mark: "+", words: "added" },
  removed: { mark: "−", words: "removed" },
};

/** The plans of a page, as they are called. */
const SIDES = { plan: "before", other: "after" };

const DIFF_ROWS = 300;

function changeList(changes) {
  return el(
    "ul",
    { class: "changes" },
    changes.map((change) =>
      el(
        "li",
        {},
        el("span", { class: "faint" }, foreign(subjectOfChange(change), 120, false), ": "),
        oneSide(change.left, "del"),
        " → ",
        oneSide(change.right, "ins"),
      ),
    ),
  );
}

/** What has changed, and of which facet: names of others stay as they are. */
function subjectOfChange(change) {
  const facets = (Array.isArray(change.facets) ? change.facets : []).map((field) => `facet ${field}: `);
  const name = change.name === null || change.name === undefined ? "" : ` ${change.name}`;
  return facets.join("") + spaced(String(change.what ?? "")) + name;
}

/** One side of a change; a text or a number, or nothing. */
function oneSide(value, name) {
  return value === null || value === undefined
    ? el("span", { class: "faint" }, "–")
    : el(name, {}, foreign(String(value), 200));
}

function changesOf(app, entry) {
  const change = app.diffOf(entry);
  if (!change || change.kind === "same") return false;
  const kind = CHANGES[change.kind] ?? CHANGES.changed;
  return section(
    "Against the other plan",
    el("p", {}, `${kind.mark} ${kind.words}`),
    (change.changes ?? []).length > 0 && changeList(change.changes),
  );
}

/** `8.61 × slower`, red; faster is green, and what is within a tenth is neither. */
function verdictOfTimes(before, after) {
  if (!(before > 0 && after > 0)) return el("p", { class: "verdict-of-times faint" }, "→");
  const times = Math.max(before, after) / Math.min(before, after);
  if (times < 1.1) return el("p", { class: "verdict-of-times faint" }, "about as fast");
  const word = after > before ? "slower" : "faster";
  return el("p", { class: `verdict-of-times ${word}` }, `${digits(times)} × ${word}`);
}

class DiffView {
  constructor(app, host) {
    this.app = app;
    this.all = el("input", { type: "checkbox", onchange: () => this.showTable() });
    this.body = el("tbody");
    this.whole = el("div");
    this.heads = el("div", { class: "sides" });
    this.more = button("", () => this.add(), { class: "link" });
    this.summary = el("span", { class: "faint" });
    this.indented = el("input", { type: "checkbox", onchange: () => this.indent(this.indented.checked) });
    const panes = Object.keys(SIDES).map((side) => [side, el("div", { class: "pane" })]);
    host.replaceChildren(
      el(
        "div",
        { class: "toolbar" },
        treeTools(() => this.trees),
        el("label", { class: "check" }, this.indented, " indented"),
        this.summary,
      ),
      this.heads,
      el(
        "div",
        { class: "trees" },
        panes.map(([, pane]) => pane),
      ),
      el(
        "div",
        { class: "toolbar" },
        el("label", { class: "check all" }, this.all, " unchanged nodes, too"),
      ),
      el(
        "div",
        { class: "wide", tabindex: 0, role: "region", "aria-label": "Differences, scrolls" },
        el(
          "table",
          { class: "diff", "aria-label": "Differences" },
          el(
            "thead",
            {},
            el(
              "tr",
              {},
              ["before", "", "after", "what changed"].map((head) =>
                head ? el("th", { scope: "col" }, head) : el("td"),
              ),
            ),
          ),
          this.body,
        ),
        this.more,
        this.whole,
      ),
    );
    // How wide they are is known from here on.
    this.trees = panes.map(([side, pane]) => new TreeView(app, pane, side));
  }

  /** Draws both trees a node a line, or as wide as they are. */
  indent(compact) {
    for (const tree of this.trees)
      tree.again(() => {
        tree.compact = compact;
        tree.zoom = compact ? 1 : tree.zoom;
      });
  }

  /** Both plans at a glance, and how much slower or faster the second is. */
  showHeads() {
    const [before, after] = ["plan", "other"].map((side) => this.app.planOf(side)?.tree);
    if (!after) return;
    const side = (name, tree) =>
      el(
        "section",
        { class: "side", "aria-label": name },
        el("h3", {}, name),
        el("p", {}, el("code", {}, foreign(tree.query ?? "", 300))),
        el(
          "p",
          {},
          el("b", {}, tree.total_ns === undefined ? "not run" : time(tree.total_ns)),
          tree.planning_ns > 0 && el("span", { class: "faint" }, ` planning ${time(tree.planning_ns)}`),
          el("span", { class: "faint" }, ` ${count(tree.findings?.length ?? 0, "finding")}`),
        ),
      );
    const verdict = verdictOfTimes(before.total_ns, after.total_ns);
    refill(this.heads, side(SIDES.plan, before), verdict, side(SIDES.other, after));
  }

  show() {
    const { page, side } = this.app.state;
    for (const tree of this.trees) tree.show();
    if (page !== this.pageShown) this.fitFirst();
    this.indented.checked = this.trees[0].compact;
    this.trees.find((tree) => tree.side !== side).reveal();
    // A choice changes nothing below the trees.
    if (page !== this.pageShown) this.showTable();
    this.pageShown = page;
  }

  /** Indents both trees where one is too wide to be read beside the other. */
  fitFirst() {
    const isTooWide = (tree) => tree.scroller.clientWidth < FIRST_ZOOM_LEAST * tree.size.width;
    if (this.trees.some(isTooWide)) this.indent(true);
  }

  /** Brings the chosen node into sight, after a link with all of the trees. */
  reveal(scrolls = false) {
    for (const tree of this.trees) tree.reveal();
    if (scrolls) this.trees[0].host.scrollIntoView({ block: "nearest" });
  }

  focus() {
    this.trees.find((tree) => tree.side === this.app.state.side).focus();
  }

  zoomBy(steps) {
    for (const tree of this.trees) tree.zoomBy(steps);
  }

  beforePrint() {
    for (const tree of this.trees) tree.beforePrint();
  }

  afterPrint() {
    for (const tree of this.trees) tree.afterPrint();
  }

  showTable() {
    const { diff } = this.app.page;
    const nodes = listAt(diff?.nodes, "diff: nodes");
    const changes = listAt(diff?.changes, "diff: changes");
    this.list = this.all.checked ? nodes : nodes.filter((node) => node.kind !== "same");
    const tally = Object.keys(CHANGES)
      .map((kind) => [kind, nodes.filter((node) => node.kind === kind).length])
      .filter(([, n]) => n > 0);
    this.summary.textContent = tally
      .map(([kind, n]) => `${CHANGES[kind].mark} ${CHANGES[kind].words} ${n}`.trim())
      .join(", ");
    this.whole.replaceChildren(
      changes.length > 0
        ? el("section", { class: "whole" }, el("h3", {}, "The whole"), changeList(changes))
        : el(
            "p",
            { class: "faint" },
            diff
              ? "The queries and their totals are the same."
              : "This page has two plans, but nothing that compares them.",
          ),
    );
    this.showHeads();
    this.body.replaceChildren();
    if (this.list.length === 0 && diff)
      this.body.append(el("tr", {}, el("td", { colspan: 4, class: "faint" }, "No node differs.")));
    this.add();
  }

  add() {
    const from = this.body.children.length;
    for (const node of this.list.slice(from, from + DIFF_ROWS)) this.body.append(this.row(node));
    this.more.hidden = this.body.children.length >= this.list.length;
    this.more.textContent = `show more of ${grouped(this.list.length)}`;
  }

  row(node) {
    const kind = CHANGES[node.kind] ?? CHANGES.changed;
    const cell = (which, id) => {
      const entry = id === null || id === undefined ? null : this.app.planOf(which)?.byId.get(id);
      if (!entry)
        return el("td", { class: "faint" }, id ? `node ${visible(shortened(String(id), 40))} is not in this plan` : "–");
      const indent = { "--depth": Math.min(entry.depth, 12) };
      return el(
        "td",
        { class: "indented", style: indent },
        this.app.link(entry, `${entry.operator} ${shortened(entry.label, 60)}`, which),
        el("code", { class: "faint" }, ` ${visible(shortened(entry.id, 30))}`),
        entry.actual &&
          el(
            "div",
            { class: "faint" },
            time(entry.own.time ?? 0),
            entry.actual.documents !== undefined && `, ${count(entry.actual.documents, "document")}`,
          ),
      );
    };
    return el(
      "tr",
      { class: `change-${node.kind in CHANGES ? node.kind : "changed"}` },
      cell("plan", node.left),
      el(
        "td",
        { class: "kind" },
        el("span", { title: kind.words }, kind.mark || "="),
        el("span", { class: "away" }, kind.words),
      ),
      cell("other", node.right),
      el("td", {}, (node.changes ?? []).length > 0 ? changeList(node.changes) : ""),
    );
  }
}
