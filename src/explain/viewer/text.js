// Numbers and foreign text on their way to the page.
//
// Queries, terms and ids are somebody else's text: they reach the page as text nodes only, isolated from
// the direction of what stands around them, with everything invisible written as an escape.

/** Characters of a foreign text that are shown before "show all". */
const TEXT_SHOWN = 400;

/** Control characters, blanks other than the space, marks of direction, what has no width, private and
 * unassigned characters, halves of surrogate pairs. The joiner of emoji stays. */
const INVISIBLE =
  /[\p{Cc}\p{Cs}\p{Co}\p{Cn}\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]|(?!\u200d)\p{Cf}/gu;

/** The text with everything invisible written as `\u{…}`. */
function visible(text) {
  return text.replace(INVISIBLE, (c) => "\\u{" + c.codePointAt(0).toString(16) + "}");
}

/** The first `n` characters of a text, never half of one, and whether anything is missing. */
function cut(text, n) {
  if (text.length <= n) return [text, false];
  const half = /[\ud800-\udbff]/.test(text[n - 1]);
  return [text.slice(0, half ? n - 1 : n), true];
}

/** At most `n` characters of a text, with an ellipsis where any is missing. */
function shortened(text, n) {
  const [shown, missing] = cut(text, n);
  return missing ? `${shown}…` : shown;
}

/** Foreign text as an element: at most `n` characters, and a way to see all of them if `more`. */
function foreign(text, n = TEXT_SHOWN, more = true) {
  const [shown, missing] = cut(String(text), n);
  const parts = [];
  let from = 0;
  for (const match of shown.matchAll(INVISIBLE)) {
    parts.push(shown.slice(from, match.index), el("span", { class: "escape" }, visible(match[0])));
    from = match.index + match[0].length;
  }
  parts.push(shown.slice(from), missing ? "…" : "");
  const isolated = el("bdi", {}, ...parts);
  if (!missing || !more) return isolated;
  const all = `show all ${grouped(text.length)} characters`;
  return el(
    "span",
    {},
    isolated,
    " ",
    button(all, () => openLong(text), { class: "link" }),
  );
}

const GROUPS = new Intl.NumberFormat("en-US");

/** A whole number with its thousands grouped. */
function grouped(n) {
  return GROUPS.format(n);
}

/** A number of things. */
function count(n, what) {
  return `${grouped(n)} ${what}${n === 1 ? "" : "s"}`;
}

/** About three digits of a number of at least 1. */
function digits(x) {
  return x < 10 ? x.toFixed(2) : x < 100 ? x.toFixed(1) : GROUPS.format(Math.round(x));
}

/** A number that fits into a badge: `12.3k`. */
function short(n) {
  if (n < 10000) return grouped(n);
  for (const [size, unit] of [
    [1e12, "T"],
    [1e9, "G"],
    [1e6, "M"],
    [1e3, "k"],
  ]) {
    if (n >= size) return digits(n / size) + unit;
  }
  return String(n);
}

function time(ns) {
  if (ns < 1e3) return `${ns} ns`;
  if (ns < 1e6) return `${digits(ns / 1e3)} µs`;
  if (ns < 1e9) return `${digits(ns / 1e6)} ms`;
  return `${digits(ns / 1e9)} s`;
}

function bytes(n) {
  if (n < 1024) return `${n} B`;
  if (n < 1048576) return `${digits(n / 1024)} KiB`;
  if (n < 1073741824) return `${digits(n / 1048576)} MiB`;
  return `${digits(n / 1073741824)} GiB`;
}

function percent(share) {
  if (share > 0 && share < 0.001) return "< 0.1 %";
  return `${(share * 100).toFixed(share < 0.0995 ? 1 : 0)} %`;
}

/** A factor of at least 1: `×1.02`, `×340`. */
function factor(x) {
  return "×" + (x < 9995 ? digits(x) : short(x));
}

/** A name of JSON as words. */
function spaced(name) {
  return name.replace(/_/g, " ");
}
