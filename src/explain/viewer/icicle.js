// Where the time (or what else adds up) goes: each entry as wide as its share with all below it. What it keeps for
// itself is the part with nothing below.

const LEVEL = 30;
/** Narrower than this nothing can be seen or hit. */
const NARROW = 2;

class IcicleView {
  constructor(app, host) {
    this.app = app;
    this.top = null;
    this.canvas = el("div", {
      class: "icicle",
      role: "tree",
      "aria-label": "Shares",
      onkeydown: (event) => this.key(event),
      onclick: (event) => this.click(event),
      ondblclick: (event) => this.enter(event),
    });
    this.scroller = el("div", { class: "scroller" }, this.canvas);
    this.whole = button("Whole plan", () => {
      this.top = null;
      this.show();
    });
    this.words = el("span", { class: "faint" });
    new ResizeObserver(oncePerFrame(() => this.draw())).observe(this.scroller);
    host.replaceChildren(
      el(
        "div",
        { class: "toolbar" },
        this.whole,
        button("Only the chosen node", () => this.into(app.chosen())),
        this.words,
      ),
      this.scroller,
    );
  }

  show() {
    const { plan, state } = this.app;
    if (plan !== this.plan) this.top = null;
    this.plan = plan;
    this.metric = METRICS[state.metric].adds ? state.metric : "time";
    this.draw();
  }

  draw() {
    if (!this.scroller.isConnected || !this.plan) return;
    const { plan, metric, app } = this;
    const whole = this.top ? this.top.below[metric] : plan.nodes[metric];
    this.whole.disabled = !this.top;
    if (!whole) {
      this.words.textContent = "";
      this.canvas.style.height = "auto";
      this.canvas.replaceChildren(
        el(
          "p",
          { class: "faint", role: "presentation" },
          `Nothing to show: this plan has no ${METRICS[metric].name}. treepie explain … --analyze runs the query and measures it.`,
        ),
      );
      return;
    }
    this.words.textContent = `width: ${METRICS[metric].name} of a node with its inputs, ${METRICS[metric].show(whole)} in all`;
    const width = Math.max(200, this.scroller.clientWidth - 2);
    const boxes = [];
    this.order = [];
    let depth = 0;
    const place = (entries, from, level) => {
      let x = from;
      let hidden = 0;
      for (const entry of entries) {
        const w = ((entry.below[metric] ?? 0) / whole) * width;
        if (w < NARROW) {
          hidden += w;
          continue;
        }
        todo.push([entry, x, w, level]);
        x += w;
      }
      if (hidden >= 1)
        boxes.push(
          el("div", {
            class: "slice rest",
            style: { "--x": x + "px", "--w": hidden + "px", "--y": level * LEVEL + "px" },
            title: "too narrow to show",
            "aria-hidden": "true",
          }),
        );
    };
    const todo = [];
    place(this.top ? [this.top] : plan.roots, 0, 0);
    for (let at = 0; at < todo.length; at++) {
      const [entry, x, w, level] = todo[at];
      depth = Math.max(depth, level + 1);
      const chosen = entry === app.chosen();
      const share = entry.below[metric] / whole;
      const own = entry.own[metric] ?? 0;
      const name = visible(shortened(`${entry.operator} ${entry.label}`, 80));
      const words = `${METRICS[metric].show(entry.below[metric])}, ${percent(share)}; itself ${METRICS[metric].show(own)}`;
      boxes.push(
        el(
          "div",
          {
            class: ["slice", entry.kind, chosen && "chosen", app.matches?.has(entry) && "found"]
              .filter((c) => c)
              .join(" "),
            role: "treeitem",
            "data-id": entry.id,
            tabindex: chosen ? 0 : -1,
            "aria-level": level + 1,
            "aria-selected": String(chosen),
            "aria-label": w > 40 ? null : `${name}: ${words}`,
            title: `${name}: ${words}`,
            style: {
              "--x": x + "px",
              "--w": w + "px",
              "--y": level * LEVEL + "px",
              "--heat-share": Math.round(Math.min(1, own / whole) * 100) + "%",
            },
          },
          w > 40 && [
            foreign(`${entry.operator} ${entry.label}`, 60, false),
            el("span", { class: "away" }, `: ${words}`),
          ],
        ),
      );
      place(entry.children, x, level + 1);
    }
    this.order = todo.map(([entry]) => entry);
    this.canvas.style.height = depth * LEVEL + "px";
    const focused = this.canvas.contains(document.activeElement);
    this.canvas.replaceChildren(...boxes);
    const target = this.canvas.querySelector('[tabindex="0"]');
    if (!target) this.canvas.querySelector('[role="treeitem"]')?.setAttribute("tabindex", "0");
    if (focused) target?.focus({ preventScroll: true });
  }

  entryOf(event) {
    return this.plan.byId.get(event.target.closest(".slice")?.dataset.id);
  }

  click(event) {
    const entry = this.entryOf(event);
    if (!entry) return;
    this.app.update({ node: entry.id });
    this.focus();
  }

  enter(event) {
    const entry = this.entryOf(event);
    if (entry) this.into(entry);
  }

  into(entry) {
    if (!entry?.below[this.metric]) return;
    this.top = entry;
    this.show();
  }

  key(event) {
    const entry = this.app.chosen();
    const { order } = this;
    const widest = (entries) => entries.filter((e) => order.includes(e));
    const siblings = entry?.parent ? widest(entry.parent.children) : this.plan.roots;
    const at = siblings.indexOf(entry);
    const next = {
      ArrowDown: () => widest(entry.children)[0],
      ArrowUp: () => entry.parent,
      ArrowRight: () => siblings[at + 1],
      ArrowLeft: () => siblings[at - 1],
    }[event.key]?.();
    if (event.key === "Enter") this.into(entry);
    if (event.key === "Escape") {
      this.top = null;
      this.show();
    }
    if (!next) return;
    event.preventDefault();
    this.app.update({ node: next.id });
    this.focus();
  }

  focus() {
    this.canvas.querySelector('[tabindex="0"]')?.focus({ preventScroll: true });
  }

  reveal() {
    this.canvas.querySelector(".chosen")?.scrollIntoView({ block: "nearest" });
  }
}
