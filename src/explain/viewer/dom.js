// Elements. Text is only ever set as text; there is no way from data to markup.

const SVG = "http://www.w3.org/2000/svg";

/** Attributes by their names; `class`, `on…` listeners, `data`, and `style` as custom properties. */
function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "style") for (const [key, v] of Object.entries(value)) element.style.setProperty(key, v);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined && child !== false && child !== "") element.append(child);
  }
  return element;
}

/** Puts other children into an element, as `el` does. */
function refill(element, ...children) {
  element.replaceChildren();
  return fill(element, {}, children);
}

function el(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

function svg(name, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

function button(label, action, attributes = {}) {
  return el("button", { type: "button", onclick: action, ...attributes }, label);
}

function byId(id) {
  return document.getElementById(id);
}

/** A heading with something below it; nothing where there is nothing. */
function section(title, ...children) {
  const content = children.flat(Infinity).filter((child) => child);
  return content.length > 0 && el("section", {}, el("h3", {}, title), ...content);
}

/** Names and values. */
function pairs(list) {
  const rows = list.filter((pair) => pair);
  return (
    rows.length > 0 &&
    el(
      "dl",
      { class: "pairs" },
      rows.map(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]),
    )
  );
}

/** Runs at the next frame, however often it was asked for until then. */
function oncePerFrame(action) {
  let asked = false;
  return () => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => {
      asked = false;
      action();
    });
  };
}

/** A list of rows of one height of which only those in sight exist. */
class VirtualRows {
  /** `row(i)` makes row `i`; `scroller` scrolls, `body` holds the rows between two spacers. */
  constructor(scroller, body, height, row, spacer = () => el("div")) {
    Object.assign(this, { scroller, body, height, row, n: 0, from: -1, to: -1, above: spacer(), below: spacer() });
    this.draw = oncePerFrame(() => this.drawNow());
    scroller.addEventListener("scroll", this.draw, { passive: true });
  }

  /** There are `n` rows now, and all of them may be different. */
  reset(n) {
    this.n = n;
    this.from = -1;
    this.drawNow();
  }

  drawNow() {
    const top = Math.max(0, this.scroller.scrollTop - this.body.offsetTop);
    const room = this.scroller.clientHeight || 600;
    const from = Math.max(0, Math.floor(top / this.height) - 10);
    const to = Math.min(this.n, Math.ceil((top + room) / this.height) + 10);
    if (from === this.from && to === this.to) return;
    const focused = this.body.contains(document.activeElement) && document.activeElement.closest("[data-row]");
    const again = focused && Number(focused.getAttribute("data-row"));
    Object.assign(this, { from, to });
    const rows = [];
    for (let at = from; at < to; at++) {
      const row = this.row(at);
      row.setAttribute("data-row", at);
      rows.push(row);
    }
    this.above.style.height = from * this.height + "px";
    this.below.style.height = (this.n - to) * this.height + "px";
    this.body.replaceChildren(this.above, ...rows, this.below);
    if (focused)
      this.body
        .querySelector(`[data-row="${again}"] a, [data-row="${again}"] button`)
        ?.focus({ preventScroll: true });
  }

  /** Scrolls until row `at` is in sight. */
  reveal(at) {
    const top = this.body.offsetTop + at * this.height;
    const { scrollTop, clientHeight } = this.scroller;
    if (top < scrollTop + this.height * 2) this.scroller.scrollTop = top - this.height * 2;
    else if (top + this.height > scrollTop + clientHeight)
      this.scroller.scrollTop = top + this.height * 2 - clientHeight;
    this.drawNow();
  }
}
