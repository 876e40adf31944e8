// The JSON of the plan, a line for each value.

const LINE = 19;
/** Characters of a line that are shown. */
const LINE_SHOWN = 400;

class RawView {
  constructor(app, host) {
    this.app = app;
    this.body = el("div", { class: "lines" });
    this.scroller = el(
      "div",
      { class: "scroller raw", tabindex: 0, role: "region", "aria-label": "JSON of the plan" },
      this.body,
    );
    this.rows = new VirtualRows(this.scroller, this.body, LINE, (at) => this.row(at));
    this.words = el("span", { class: "faint" });
    host.replaceChildren(
      el(
        "div",
        { class: "toolbar" },
        button("Copy JSON", () => copyText(JSON.stringify(app.plan.tree), "JSON")),
        button("To the chosen node", () => this.toChosen()),
        this.words,
      ),
      this.scroller,
    );
  }

  show() {
    const { tree } = this.app.plan;
    if (tree === this.tree) return this.rows.drawNow();
    this.tree = tree;
    try {
      this.lines = JSON.stringify(tree, null, 2).split("\n");
    } catch (error) {
      // So deep that writing it runs out of stack.
      if (!(error instanceof RangeError)) throw error;
      this.lines = ["This plan is too deep to be written here; the file has it as it is."];
    }
    this.words.textContent = count(this.lines.length, "line");
    this.rows.reset(this.lines.length);
  }

  row(at) {
    const line = this.lines[at];
    return el(
      "div",
      { class: "line" },
      el("span", { class: "number", "aria-hidden": "true" }, String(at + 1)),
      foreign(line, LINE_SHOWN),
    );
  }

  toChosen() {
    const id = JSON.stringify(this.app.state.node);
    const at = this.lines.findIndex((line) => line.trim() === `"id": ${id},`);
    if (at >= 0) this.rows.reveal(at);
  }
}
