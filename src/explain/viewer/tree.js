// The tree of boxes. Only what is in sight exists in the document, so that thousands of nodes cost what a screenful costs.

/** Boxes that are unfolded at first, in the order of their depth. */
const UNFOLDED = 60;
/** Inputs of a node that are shown before "more". */
const INPUTS_SHOWN = 40;
/** Ways not taken are drawn at first where a plan has no more nodes than this. */
const SMALL_PLAN = 60;
/** Plans of more boxes are printed as far as they are in sight. */
const PRINTED_WHOLE = 500;
/** Parts that take less of the time than this are folded at first, in plans of more nodes than fit without that. */
const SMALL_SHARE = 0.01;
const FOLDED_FROM = 10;
/** The smallest zoom that a plan opens with: of what is larger, a part is in sight, and can be read. */
const FIRST_ZOOM_LEAST = 0.65;
const ZOOMS = [0.25, 0.35, 0.5, 0.7, 0.85, 1, 1.25, 1.5];

/** Whether next to nothing of the time went into an entry and all below it. */
function isSmall(plan, entry) {
  return entry.depth > 0 && plan.sum.time > 0 && (entry.below.time ?? 0) < SMALL_SHARE * plan.sum.time;
}

/** Which nodes of a plan are unfolded, and of which all inputs are shown. Planning is one box at first. */
function unfoldFirst(plan, foldsSmall) {
  plan.unfolded = new Set();
  plan.whole = new Set();
  plan.foldedAsSmall = 0;
  let shown = plan.roots.length;
  const todo = [...plan.roots];
  for (let at = 0; at < todo.length; at++) {
    const entry = todo[at];
    const inputs = entry.children.slice(0, INPUTS_SHOWN);
    if (inputs.length === 0 || shown + inputs.length > UNFOLDED) continue;
    if (!isOfPlan(entry)) continue;
    if (foldsSmall && isSmall(plan, entry)) {
      plan.foldedAsSmall += 1;
      continue;
    }
    plan.unfolded.add(entry);
    shown += inputs.length;
    todo.push(...inputs);
  }
}

/** Says that other nodes of a plan are unfolded than before, to every view that draws it. */
function foldedAnew(plan) {
  plan.folds = (plan.folds ?? 0) + 1;
}

/** Unfolds everything above an entry. */
function unfoldTo(plan, entry) {
  for (let above = entry.parent, below = entry; above; below = above, above = above.parent) {
    plan.unfolded.add(above);
    if (above.children.indexOf(below) >= INPUTS_SHOWN) plan.whole.add(above);
  }
  foldedAnew(plan);
}

/** Buttons that fold and zoom some trees. */
function treeTools(trees) {
  const each = (action) => () => trees().forEach(action);
  const unfoldAll = (tree) =>
    tree.again(() => tree.plan.entries.forEach((entry) => tree.plan.unfolded.add(entry)));
  return [
    button("Unfold all", each(unfoldAll)),
    button("Fold", each((tree) => tree.again(() => tree.unfoldFirst()))),
    button("−", each((tree) => tree.zoomBy(-1)), { "aria-label": "Smaller" }),
    button("+", each((tree) => tree.zoomBy(1)), { "aria-label": "Larger" }),
    button("Fit", each((tree) => tree.fit())),
  ];
}

class TreeView {
  /** Draws one side of two plans beside each other, or without a side the plan that is shown, with tools of its own. */
  constructor(app, host, side = null) {
    this.app = app;
    this.host = host;
    this.side = side;
    this.plan = null;
    this.zoom = 1;
    /** The zoom of before, while the page is printed. */
    this.printed = null;
    this.compact = host.clientWidth < 560;
    this.ghosts = null;
    this.boxes = new Map();
    this.links = svg("svg", { class: "links", "aria-hidden": "true", width: 1, height: 1 });
    this.canvas = el("div", {
      class: "canvas",
      role: "tree",
      "aria-label": side ? `Plan ${SIDES[side]}` : "Plan",
      onkeydown: (event) => this.key(event),
      onclick: (event) => this.click(event),
    });
    this.sizer = el("div", { class: "sizer" }, this.links, this.canvas);
    this.scroller = el("div", { class: "scroller" }, this.sizer);
    this.draw = oncePerFrame(() => this.drawNow());
    this.scroller.addEventListener("scroll", this.draw, { passive: true });
    new ResizeObserver(this.draw).observe(this.scroller);
    this.compactBox = el("input", {
      type: "checkbox",
      onchange: () => this.again(() => (this.compact = this.compactBox.checked)),
    });
    this.compactBox.checked = this.compact;
    this.ghostBox = el("input", {
      type: "checkbox",
      onchange: () => this.again(() => (this.ghosts = this.ghostBox.checked)),
    });
    this.legend = el("span");
    const tools = el(
      "div",
      { class: "toolbar" },
      treeTools(() => [this]),
      el("label", { class: "check" }, this.compactBox, " indented"),
      el("label", { class: "check" }, this.ghostBox, " ways not taken"),
      el("span", { class: "faint legend" }, this.legend),
    );
    refill(host, !side && tools, this.scroller);
  }

  /** The entry that is chosen; beside another plan also the one that corresponds to what is chosen there. */
  chosen() {
    const chosen = this.app.chosen();
    const isHere = !this.side || this.side === this.app.state.side;
    return isHere || !chosen ? chosen : this.app.partnerOf(chosen);
  }

  /** Chooses an entry of this tree. */
  choose(entry) {
    this.app.update({ side: this.side ?? this.app.state.side, node: entry.id });
  }

  /** Draws the plan and the choice as they are now. */
  show() {
    const { app, side } = this;
    const { state } = app;
    const plan = side ? app.planOf(side) : app.plan;
    const chosen = this.chosen();
    const isNew = plan !== this.plan;
    if (isNew) {
      this.plan = plan;
      if (!plan.unfolded) this.unfoldFirst();
      this.ghosts = !side && plan.entries.length <= SMALL_PLAN;
      this.ghostBox.checked = this.ghosts;
      this.folds = null;
    }
    const isLaidOut = () => this.folds === plan.folds;
    if (chosen && !(isLaidOut() && this.itemOf.has(chosen))) unfoldTo(plan, chosen);
    if (!isLaidOut()) this.layOut();
    if (isNew && !this.compact) this.fitFirst();
    const metric = METRICS[state.metric];
    this.legend.textContent = `bars: ${metric.name}${state.metric === "q-error" ? ", 1 to 1,000" : metric.adds ? ", share of the whole" : ", of the most"}; lines: documents${plan.foldedAsSmall > 0 ? "; what takes under 1 % of the time is folded" : ""}`;
    for (const box of this.boxes.values()) box.remove();
    this.boxes.clear();
    this.drawNow();
  }

  /** Fits the plan where it can be read then; without the ways that were not taken if there is no room for them. */
  fitFirst() {
    if (this.ghosts && this.zoomThatFits() < FIRST_ZOOM_LEAST) {
      this.ghosts = this.ghostBox.checked = false;
      this.layOut();
    }
    this.setZoom(Math.max(FIRST_ZOOM_LEAST, this.zoomThatFits()));
  }

  unfoldFirst() {
    const { app, plan } = this;
    // Documents and differences are looked for in all nodes.
    const isLookedThrough = app.page.diff || (plan.tree.documents ?? []).length > 0;
    unfoldFirst(plan, !isLookedThrough && plan.entries.filter(isOfPlan).length > FOLDED_FROM);
    foldedAnew(plan);
  }

  /** Changes what is shown and draws it. */
  again(change) {
    change();
    foldedAnew(this.plan);
    this.show();
  }

  layOut() {
    performance.mark("layout-start");
    this.folds = this.plan.folds;
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
      const height = entry.kind === "phase" ? BOX.phase : BOX.height;
      const item = add({ key: entry.id, entry, height }, parent);
      this.itemOf.set(entry, item);
      // The last to be put there is drawn first: inputs, then what stands for more of them, then ways not taken.
      if (this.ghosts)
        notTaken(entry)
          .toReversed()
          .forEach((way, at) => todo.push([null, item, { key: `way ${at} ${entry.id}`, way, height: BOX.ghost }]));
      if (!this.plan.unfolded.has(entry)) continue;
      const all = this.plan.whole.has(entry) || entry.children.length <= INPUTS_SHOWN + 1;
      if (!all) todo.push([null, item, { key: `more ${entry.id}`, more: entry, height: BOX.ghost }]);
      for (const child of (all ? entry.children : entry.children.slice(0, INPUTS_SHOWN)).toReversed())
        todo.push([child, item]);
    }
    this.size = this.compact ? indented(this.items) : tidy(this.items);
    this.mostDocuments = Math.max(
      1,
      ...this.plan.roots.map((entry) => entry.estimate?.upper ?? 0),
      this.plan.max.documents ?? 0,
    );
    this.setZoom(this.zoom);
    performance.mark("layout-end");
    performance.measure("layout", "layout-start", "layout-end");
  }

  setZoom(zoom) {
    this.zoom = zoom;
    const margin = 24;
    this.sizer.style.width = this.size.width * zoom + margin + "px";
    this.sizer.style.height = this.size.height * zoom + margin + "px";
    // What is low leaves no white below it.
    this.scroller.style.setProperty("--room", Math.max(240, this.size.height * zoom + 3 * margin) + "px");
    this.canvas.style.transform = this.links.style.transform = `scale(${zoom})`;
  }

  zoomBy(steps) {
    const at = ZOOMS.findLastIndex((zoom) => zoom <= this.zoom + 0.001);
    this.setZoom(ZOOMS[Math.max(0, Math.min(ZOOMS.length - 1, at + steps))]);
    this.drawNow();
  }

  /** The largest zoom up to 1 at which all is in sight. */
  zoomThatFits() {
    this.scroller.style.removeProperty("--room");
    const { clientWidth, clientHeight } = this.scroller;
    return Math.min((clientWidth - 60) / this.size.width, (clientHeight - 60) / this.size.height, 1);
  }

  fit() {
    this.setZoom(Math.max(ZOOMS[0], this.zoomThatFits()));
    this.scroller.scrollTo(0, 0);
    this.drawNow();
  }

  /** Makes the boxes in sight, and forgets the others. */
  drawNow() {
    if (!this.items || !this.scroller.isConnected) return;
    const everything = this.printed !== null && this.items.length <= PRINTED_WHOLE;
    const { scrollLeft, scrollTop, clientWidth, clientHeight } = this.scroller;
    const margin = 200;
    const [left, top] = [scrollLeft / this.zoom - margin, scrollTop / this.zoom - margin];
    const [right, bottom] = [
      (scrollLeft + clientWidth) / this.zoom + margin,
      (scrollTop + clientHeight) / this.zoom + margin,
    ];
    const chosen = this.itemOf.get(this.chosen());
    const inSight = (item) =>
      everything ||
      item === chosen ||
      (item.x < right && item.x + BOX.width > left && item.y < bottom && item.y + item.height > top);
    const shown = new Set();
    const lines = [];
    let previous = null;
    for (const item of this.items) {
      if (!inSight(item)) continue;
      shown.add(item.key);
      let box = this.boxes.get(item.key);
      if (!box) {
        box = boxOf(this, item);
        this.boxes.set(item.key, box);
        // In the order of the plan, for those who hear the page.
        if (previous) previous.after(box);
        else this.canvas.prepend(box);
      }
      previous = box;
    }
    for (const item of this.items) {
      const ends = item.parent && (shown.has(item.key) || (shown.has(item.parent.key) && lines.length < 400));
      if (ends) lines.push(this.link(item));
    }
    // Facets hang on the result.
    const [first, ...others] = this.items.filter((item) => !item.parent);
    for (const item of others)
      if (shown.has(item.key) || shown.has(first.key)) lines.push(this.facetLink(first, item));
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
    return svg("path", {
      d,
      class: entry ? `link${entry.kind === "phase" ? " ghost" : entry.actual ? "" : " planned"}` : "link ghost",
      "stroke-width": width.toFixed(2),
    });
  }

  facetLink(root, item) {
    const x = this.compact ? 9 : 24;
    return svg("path", {
      d: `M${root.x + x} ${root.y + root.height}V${item.y}`,
      class: "link facet",
      "stroke-width": 1.5,
    });
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
    this.choose(entry);
    this.focus();
  }

  fold(entry) {
    const { unfolded } = this.plan;
    if (!unfolded.delete(entry)) unfolded.add(entry);
    foldedAnew(this.plan);
  }

  key(event) {
    const chosen = this.chosen() ?? this.plan.roots[0];
    const next = this.keyTarget(event.key, chosen);
    if (!next || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    if (next === "details") {
      this.choose(chosen);
      byId("details").querySelector("h2")?.focus();
      return;
    }
    this.choose(next);
    this.focus();
  }

  keyTarget(key, entry) {
    const { plan } = this;
    const line = this.items.filter((item) => !item.way);
    const at = line.indexOf(this.itemOf.get(entry));
    const unfolded = plan.unfolded.has(entry);
    switch (key) {
      case "ArrowDown":
        return this.stop(line[at + 1], true);
      case "ArrowUp":
        return this.stop(line[at - 1], false);
      case "Home":
        return line[0].entry;
      case "End":
        return this.stop(line.at(-1), false);
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
      case "Enter":
        return "details";
      default:
        return null;
    }
  }

  /** The entry of a box; a box that stands for more inputs makes way for them. */
  stop(item, down) {
    if (!item?.more) return item?.entry;
    this.plan.whole.add(item.more);
    foldedAnew(this.plan);
    return down ? item.more.children[INPUTS_SHOWN] : item.more.children.at(-1);
  }

  /** Brings the chosen node into sight, and the focus to it. */
  focus() {
    this.reveal();
    this.canvas.querySelector('[tabindex="0"]')?.focus({ preventScroll: true });
  }

  reveal() {
    const item = this.itemOf.get(this.chosen());
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
    scroller.scrollTo(
      along(item.x, BOX.width, scroller.scrollLeft, scroller.clientWidth),
      along(item.y, item.height, scroller.scrollTop, scroller.clientHeight),
    );
    this.drawNow();
  }

  /** All boxes for paper, as far as that is sensible; they stay until `afterPrint`, whatever is drawn until then. */
  beforePrint() {
    this.printed ??= this.zoom;
    this.setZoom(Math.min(1, (this.side ? 320 : 680) / this.size.width));
    this.drawNow();
  }

  afterPrint() {
    if (this.printed === null) return;
    this.setZoom(this.printed);
    this.printed = null;
    this.drawNow();
  }
}
