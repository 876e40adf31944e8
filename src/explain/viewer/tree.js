// The tree of boxes. Only what is in sight exists in the document, so that thousands of nodes cost what a screenful costs.

/** Boxes that are unfolded at first, in the order of their depth. */
const UNFOLDED = 60;
/** Inputs of a node that are shown before "more". */
const INPUTS_SHOWN = 40;
/** Ways not taken are drawn at first where a plan has no more nodes than this. */
const SMALL_PLAN = 60;
const ZOOMS = [0.25, 0.35, 0.5, 0.7, 0.85, 1, 1.25, 1.5];

/** Which nodes of a plan are unfolded, and of which all inputs are shown. */
function unfoldFirst(plan) {
  plan.unfolded = new Set();
  plan.whole = new Set();
  let shown = plan.roots.length;
  const todo = [...plan.roots];
  for (let at = 0; at < todo.length; at++) {
    const entry = todo[at];
    const inputs = entry.children.slice(0, INPUTS_SHOWN);
    if (inputs.length === 0 || shown + inputs.length > UNFOLDED) continue;
    plan.unfolded.add(entry);
    shown += inputs.length;
    todo.push(...inputs);
  }
}

/** Unfolds everything above an entry. */
function unfoldTo(plan, entry) {
  for (let above = entry.parent, below = entry; above; below = above, above = above.parent) {
    plan.unfolded.add(above);
    if (above.children.indexOf(below) >= INPUTS_SHOWN) plan.whole.add(above);
  }
}

class TreeView {
  constructor(app, host) {
    this.app = app;
    this.host = host;
    this.plan = null;
    this.zoom = 1;
    this.compact = host.clientWidth < 560;
    this.ghosts = null;
    this.boxes = new Map();
    this.links = svg("svg", { class: "links", "aria-hidden": "true", width: 1, height: 1 });
    this.canvas = el("div", { class: "canvas", role: "tree", "aria-label": "Plan", onkeydown: (event) => this.key(event), onclick: (event) => this.click(event) });
    this.sizer = el("div", { class: "sizer" }, this.links, this.canvas);
    this.scroller = el("div", { class: "scroller" }, this.sizer);
    this.draw = oncePerFrame(() => this.drawNow());
    this.scroller.addEventListener("scroll", this.draw, { passive: true });
    new ResizeObserver(this.draw).observe(this.scroller);
    this.compactBox = el("input", { type: "checkbox", onchange: () => this.again(() => (this.compact = this.compactBox.checked)) });
    this.compactBox.checked = this.compact;
    this.ghostBox = el("input", { type: "checkbox", onchange: () => this.again(() => (this.ghosts = this.ghostBox.checked)) });
    host.replaceChildren(
      el("div", { class: "toolbar" },
        button("Unfold all", () => this.again(() => this.plan.entries.forEach((entry) => this.plan.unfolded.add(entry)))),
        button("Fold", () => this.again(() => unfoldFirst(this.plan))),
        button("−", () => this.zoomBy(-1), { "aria-label": "Smaller" }),
        button("+", () => this.zoomBy(1), { "aria-label": "Larger" }),
        button("Fit", () => this.fit()),
        el("label", { class: "check" }, this.compactBox, " indented"),
        el("label", { class: "check" }, this.ghostBox, " ways not taken"),
        el("span", { class: "faint legend" }, this.legend = el("span"))),
      this.scroller);
  }

  /** Draws the plan and the choice as they are now. */
  show() {
    const { plan, state } = this.app;
    const chosen = plan.byId.get(state.node);
    if (plan !== this.plan) {
      this.plan = plan;
      if (!plan.unfolded) unfoldFirst(plan);
      this.ghosts = plan.entries.length <= SMALL_PLAN;
      this.ghostBox.checked = this.ghosts;
      this.stale = true;
    }
    if (chosen && !(this.items && !this.stale && this.itemOf.has(chosen))) {
      unfoldTo(plan, chosen);
      this.stale = true;
    }
    if (this.stale) this.layOut();
    const metric = METRICS[state.metric];
    this.legend.textContent = `bars: ${metric.name}${state.metric === "q-error" ? ", 1 to 1,000" : metric.adds ? ", share of the whole" : ", of the most"}; lines: documents`;
    for (const box of this.boxes.values()) box.remove();
    this.boxes.clear();
    this.drawNow();
  }

  /** Changes what is shown and draws it. */
  again(change) {
    change();
    this.stale = true;
    this.show();
  }

  layOut() {
    performance.mark("layout-start");
    this.stale = false;
    this.items = [];
    this.itemOf = new Map();
    const add = (item, parent) => {
      item.parent = parent;
      item.children = [];
      if (parent) parent.children.push(item);
      this.items.push(item);
      return item;
    };
    const todo = this.plan.roots.map((entry) => [entry, null]).reverse();
    while (todo.length > 0) {
      const [entry, parent, other] = todo.pop();
      if (other) {
        add(other, parent);
        continue;
      }
      const item = add({ key: entry.id, entry, height: BOX.height }, parent);
      this.itemOf.set(entry, item);
      // The last to be put there is drawn first: inputs, then what stands for more of them, then ways not taken.
      if (this.ghosts) notTaken(entry).toReversed().forEach((way, at) => todo.push([null, item, { key: `way ${at} ${entry.id}`, way, height: BOX.ghost }]));
      if (!this.plan.unfolded.has(entry)) continue;
      const all = this.plan.whole.has(entry) || entry.children.length <= INPUTS_SHOWN + 1;
      if (!all) todo.push([null, item, { key: `more ${entry.id}`, more: entry, height: BOX.ghost }]);
      for (const child of (all ? entry.children : entry.children.slice(0, INPUTS_SHOWN)).toReversed()) todo.push([child, item]);
    }
    this.size = this.compact ? indented(this.items) : tidy(this.items);
    this.mostDocuments = Math.max(1, ...this.plan.roots.map((entry) => entry.estimate?.upper ?? 0), this.plan.max.documents ?? 0);
    this.setZoom(this.zoom);
    performance.mark("layout-end");
    performance.measure("layout", "layout-start", "layout-end");
  }

  setZoom(zoom) {
    this.zoom = zoom;
    const margin = 24;
    this.sizer.style.width = this.size.width * zoom + margin + "px";
    this.sizer.style.height = this.size.height * zoom + margin + "px";
    this.canvas.style.transform = this.links.style.transform = `scale(${zoom})`;
  }

  zoomBy(steps) {
    const at = ZOOMS.findLastIndex((zoom) => zoom <= this.zoom + 0.001);
    this.setZoom(ZOOMS[Math.max(0, Math.min(ZOOMS.length - 1, at + steps))]);
    this.drawNow();
  }

  fit() {
    const { clientWidth, clientHeight } = this.scroller;
    const wanted = Math.min((clientWidth - 60) / this.size.width, (clientHeight - 60) / this.size.height, 1);
    this.setZoom(Math.max(ZOOMS[0], wanted));
    this.scroller.scrollTo(0, 0);
    this.drawNow();
  }

  /** Makes the boxes in sight, and forgets the others. */
  drawNow(everything = false) {
    if (!this.items || !this.scroller.isConnected) return;
    const { scrollLeft, scrollTop, clientWidth, clientHeight } = this.scroller;
    const margin = 200;
    const [left, top] = [scrollLeft / this.zoom - margin, scrollTop / this.zoom - margin];
    const [right, bottom] = [(scrollLeft + clientWidth) / this.zoom + margin, (scrollTop + clientHeight) / this.zoom + margin];
    const chosen = this.itemOf.get(this.app.chosen());
    const inSight = (item) => everything || item === chosen || (item.x < right && item.x + BOX.width > left && item.y < bottom && item.y + item.height > top);
    const shown = new Set();
    const lines = [];
    for (const item of this.items) {
      if (!inSight(item)) continue;
      shown.add(item.key);
      if (!this.boxes.has(item.key)) {
        const box = this.box(item);
        this.boxes.set(item.key, box);
        this.canvas.append(box);
      }
    }
    for (const item of this.items) {
      const ends = item.parent && (shown.has(item.key) || (shown.has(item.parent.key) && lines.length < 400));
      if (ends) lines.push(this.link(item));
    }
    // Facets hang on the result.
    const [first, ...others] = this.items.filter((item) => !item.parent);
    for (const item of others) if (shown.has(item.key) || shown.has(first.key)) lines.push(this.facetLink(first, item));
    this.links.replaceChildren(...lines);
    for (const [key, box] of this.boxes) {
      if (shown.has(key)) continue;
      box.remove();
      this.boxes.delete(key);
    }
  }

  link(item) {
    const from = item.parent;
    const [y1, y2] = [from.y + from.height / 2, item.y + item.height / 2];
    const entry = item.entry;
    const documents = entry ? (entry.own.documents ?? 0) : 0;
    const width = entry ? 1 + Math.log10(1 + documents) * 1.3 : 1;
    const d = this.compact
      ? `M${from.x + 9} ${from.y + from.height}V${y2}H${item.x}`
      : `M${from.x + BOX.width} ${y1}C${from.x + BOX.width + 34} ${y1} ${item.x - 34} ${y2} ${item.x} ${y2}`;
    return svg("path", { d, class: entry ? `link${entry.actual ? "" : " planned"}` : "link ghost", "stroke-width": width.toFixed(2) });
  }

  facetLink(root, item) {
    const x = this.compact ? 9 : 24;
    return svg("path", { d: `M${root.x + x} ${root.y + root.height}V${item.y}`, class: "link facet", "stroke-width": 1.5 });
  }

  box(item) {
    const at = { "--x": item.x + "px", "--y": item.y + "px" };
    if (item.way) return this.ghost(item, at);
    if (item.more) {
      const n = item.more.children.length - INPUTS_SHOWN;
      return el("div", { class: "box more", role: "treeitem", tabindex: -1, "data-more": item.more.id, style: at, "aria-level": item.level + 1, "aria-selected": "false" }, `… ${count(n, "more input")}`);
    }
    const { app, plan } = this;
    const { entry } = item;
    const { metric } = app.state;
    const chosen = entry === app.chosen();
    const unfolded = plan.unfolded.has(entry);
    const value = entry.own[metric];
    const share = shareOf(plan, entry, metric);
    const verdict = app.verdictOf(entry);
    const change = app.changeOf(entry);
    const classes = ["box", entry.kind, chosen && "chosen", verdict && `verdict-${verdict.replace(" ", "-")}`, change && `change-${change}`,
      app.matches?.has(entry) && "found", share !== null && share >= 0.5 && METRICS[metric].adds && "hot", entry.actual?.complete === false && "cut-short"];
    // What the marks mean, for those who hear the box.
    const unseen = [value !== null && `bar: ${METRICS[metric].name}`, verdict && `this document: ${verdict}`, change && change !== "same" && `in the other plan: ${change}`];
    return el("div", {
      class: classes.filter((c) => c).join(" "), role: "treeitem", tabindex: chosen ? 0 : -1, "data-id": entry.id, style: at,
      "aria-level": entry.depth + 1, "aria-selected": String(chosen), "aria-expanded": entry.children.length > 0 ? String(unfolded) : null,
      "aria-setsize": entry.parent ? entry.parent.children.length : plan.roots.length,
      "aria-posinset": (entry.parent ? entry.parent.children : plan.roots).indexOf(entry) + 1,
    },
      el("div", { class: "head" },
        verdict && el("span", { class: "verdict" }, VERDICTS[verdict].mark),
        change && CHANGES[change].mark && el("span", { class: "change" }, CHANGES[change].mark),
        el("b", {}, foreign(entry.operator, 28, false)),
        el("span", { class: "value" }, value === null ? "" : METRICS[metric].show(value), share !== null && METRICS[metric].adds && share > 0 ? el("span", { class: "faint" }, ` ${percent(share)}`) : "")),
      el("div", { class: "label" }, foreign(entry.label || entry.algorithm, 90, false)),
      el("div", { class: "foot" }, this.documents(entry), entry.actual?.complete === false && el("span", { class: "badge", title: entry.actual.stopped ? "The search was stopped here" : "Stopped before it had seen everything" }, entry.actual.stopped ? "stopped" : "cut short"),
        entry.estimate && whisker(entry, this.mostDocuments, 58, 12)),
      el("div", { class: "meter" }, el("i", { style: { "--share": percentOf(share) } })),
      el("span", { class: "away" }, unseen.filter((part) => part).join(", ")),
      entry.children.length > 0 && el("span", { class: "fold", "data-fold": "", "aria-hidden": "true" }, unfolded ? "−" : `+${short(entry.size - 1)}`));
  }

  /** What was expected and what came. */
  documents(entry) {
    if (entry.kind === "facet") return entry.data.terms > 0 && el("span", { class: "badge" }, `${short(entry.data.terms)} terms`);
    const { estimate, actual } = entry;
    if (!estimate) return null;
    const exact = estimate.lower === estimate.upper;
    const expected = `${exact ? "=" : "≈"} ${short(estimate.documents)}`;
    const way = direction(entry);
    const bad = entry.qError !== null && entry.qError >= 10 ? "bad" : entry.qError !== null && entry.qError >= 2 ? "fair" : "good";
    return el("span", {}, actual ? [el("span", { class: "faint" }, expected, " → "), short(actual.documents)] : expected,
      way && entry.qError >= 1.05 && el("span", { class: `badge q ${bad}`, title: `q-error ${factor(entry.qError)}: ${way.words}` }, `${way.mark} ${factor(entry.qError)}`));
  }

  ghost({ way, level }, at) {
    const cost = way.cost === null ? "" : `${way.measured ? "" : "≈ "}${time(way.cost)}`;
    return el("div", { class: "box ghost", role: "treeitem", tabindex: -1, style: at, "aria-level": level + 1, "aria-selected": "false", "aria-disabled": "true", title: `not taken; ${visible(cut(String(way.rule ?? ""), 120)[0])}` },
      el("span", { class: "away" }, "not taken: "), el("span", { class: "label" }, foreign(way.name, 60, false)), el("span", { class: "value" }, cost));
  }

  click(event) {
    const box = event.target.closest(".box");
    if (!box) return;
    if (box.dataset.more) {
      this.again(() => this.plan.whole.add(this.plan.byId.get(box.dataset.more)));
      return;
    }
    const entry = this.plan.byId.get(box.dataset.id);
    if (!entry) return;
    if (event.target.closest("[data-fold]")) this.fold(entry);
    this.app.update({ node: entry.id });
    this.focus();
  }

  fold(entry) {
    const { unfolded } = this.plan;
    if (!unfolded.delete(entry)) unfolded.add(entry);
    this.stale = true;
  }

  key(event) {
    const chosen = this.app.chosen();
    const next = this.keyTarget(event.key, chosen);
    if (!next || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    if (next === "details") {
      byId("details").querySelector("h2")?.focus();
      return;
    }
    this.app.update({ node: next.id });
    this.focus();
  }

  keyTarget(key, entry) {
    const { plan } = this;
    const line = this.items.filter((item) => !item.way);
    const at = line.indexOf(this.itemOf.get(entry));
    const unfolded = plan.unfolded.has(entry);
    switch (key) {
      case "ArrowDown": return this.stop(line[at + 1], true);
      case "ArrowUp": return this.stop(line[at - 1], false);
      case "Home": return line[0].entry;
      case "End": return this.stop(line.at(-1), false);
      case "ArrowRight":
        if (entry.children.length === 0) return null;
        if (!unfolded) this.fold(entry);
        return unfolded ? entry.children[0] : entry;
      case "ArrowLeft":
        if (unfolded && entry.children.length > 0) this.fold(entry);
        else return entry.parent;
        return entry;
      case " ":
        if (entry.children.length > 0) this.fold(entry);
        return entry;
      case "Enter": return "details";
      default: return null;
    }
  }

  /** The entry of a box; a box that stands for more inputs makes way for them. */
  stop(item, down) {
    if (!item?.more) return item?.entry;
    this.plan.whole.add(item.more);
    this.stale = true;
    return down ? item.more.children[INPUTS_SHOWN] : item.more.children.at(-1);
  }

  /** Brings the chosen node into sight, and the focus to it. */
  focus() {
    this.reveal();
    this.canvas.querySelector('[tabindex="0"]')?.focus({ preventScroll: true });
  }

  reveal() {
    const item = this.itemOf.get(this.app.chosen());
    if (!item) return;
    const { scroller, zoom } = this;
    const margin = 40;
    const along = (at, size, scroll, room) => {
      // What is far away comes to the middle, what is near moves no more than it has to.
      const middle = (at + size / 2) * zoom - room / 2;
      if (Math.abs(middle - scroll) > room) return Math.max(0, middle);
      if (at * zoom < scroll + margin) return Math.max(0, at * zoom - margin);
      if ((at + size) * zoom > scroll + room - margin) return (at + size) * zoom - room + margin;
      return scroll;
    };
    scroller.scrollTo(along(item.x, BOX.width, scroller.scrollLeft, scroller.clientWidth), along(item.y, item.height, scroller.scrollTop, scroller.clientHeight));
    this.drawNow();
  }

  /** All boxes for paper, as far as that is sensible. */
  beforePrint() {
    if (this.items.length <= 500) this.drawNow(true);
    const wanted = Math.min(1, 680 / this.size.width);
    this.printed = this.zoom;
    this.setZoom(wanted);
  }

  afterPrint() {
    this.setZoom(this.printed);
    this.drawNow();
  }
}

function percentOf(share) {
  return share === null ? "0%" : `${Math.max(share > 0 ? 0.5 : 0, Math.min(1, share) * 100).toFixed(1)}%`;
}

/** Bounds as a line, the estimate as a stroke on it, and what came as a dot; logarithmic from 0 to `most` documents. */
function whisker(entry, most, width, height) {
  const { estimate, actual } = entry;
  const x = (n) => 4 + ((width - 8) * Math.log10(1 + Math.max(0, n))) / Math.log10(1 + most);
  const y = height / 2;
  const words = `bounds ${grouped(estimate.lower)} to ${grouped(estimate.upper)}, estimate ${grouped(estimate.documents)}${actual ? `, actual ${grouped(actual.documents)}` : ""}`;
  return svg("svg", { class: "whisker", width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": words },
    svg("title", {}, words),
    svg("path", { class: "bounds", d: `M${x(estimate.lower)} ${y - 3}V${y + 3}M${x(estimate.lower)} ${y}H${x(estimate.upper)}M${x(estimate.upper)} ${y - 3}V${y + 3}` }),
    svg("path", { class: "guess", d: `M${x(estimate.documents)} ${y - 5}V${y + 5}` }),
    actual && svg("circle", { class: "came", cx: x(actual.documents), cy: y, r: 3 }));
}
