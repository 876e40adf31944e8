// Texts that leave the page, and texts too long to stand in it.

/** Tells what just happened, to eyes and to screen readers. */
function say(text) {
  const status = byId("status");
  status.textContent = text;
  clearTimeout(say.timer);
  say.timer = setTimeout(() => (status.textContent = ""), 4000);
}

async function copyText(text, what) {
  try {
    await navigator.clipboard.writeText(text);
    say(`${what} copied: ${count(text.length, "character")}`);
  } catch {
    // Where the clipboard is closed to files, the text is shown to be copied by hand.
    openLong(text, `${what}: copy it from here`);
  }
}

/** What a page can be copied as. */
function copies(app) {
  const { page } = app;
  const list = [["Link to this node", () => location.href]];
  for (const [name, text] of [
    ["Text", page.text],
    ["DOT", page.dot],
    ["Mermaid", page.mermaid],
  ]) {
    if (typeof text === "string" && text !== "") list.push([name, () => text]);
  }
  list.push(["JSON", () => JSON.stringify(app.plan.tree)]);
  return list;
}

function showCopies(app) {
  const menu = byId("copies");
  menu.replaceChildren(
    ...copies(app).map(([name, text]) =>
      el(
        "li",
        {},
        button(name, () => {
          closeMenu(true);
          copyText(text(), name);
        }),
      ),
    ),
  );
}

function closeMenu(focus) {
  byId("copies").hidden = true;
  byId("copy").setAttribute("aria-expanded", "false");
  if (focus) byId("copy").focus();
}

function startMenu() {
  const [opener, menu] = [byId("copy"), byId("copies")];
  opener.addEventListener("click", () => {
    menu.hidden = !menu.hidden;
    opener.setAttribute("aria-expanded", String(!menu.hidden));
    if (!menu.hidden) menu.querySelector("button").focus();
  });
  menu.addEventListener("keydown", (event) => {
    const items = [...menu.querySelectorAll("button")];
    const at = items.indexOf(document.activeElement);
    const next = {
      ArrowDown: items[(at + 1) % items.length],
      ArrowUp: items.at(at - 1),
      Home: items[0],
      End: items.at(-1),
    }[event.key];
    if (event.key === "Escape") closeMenu(true);
    if (!next) return;
    event.preventDefault();
    next.focus();
  });
  document.addEventListener("click", (event) => {
    if (!event.target.closest(".menu")) closeMenu(false);
  });
}

/** A text that is too long for its place, whole. */
function openLong(text, title = "The whole text") {
  const dialog = byId("long");
  const area = el("textarea", {
    readonly: true,
    rows: 16,
    "aria-labelledby": "long-title",
    spellcheck: "false",
    dir: "auto",
  });
  // Line breaks stay, all else that cannot be seen is written as an escape.
  area.value = text.split("\n").map(visible).join("\n");
  dialog.replaceChildren(
    el("h2", { id: "long-title" }, title),
    area,
    el(
      "p",
      {},
      button("Select all", () => area.select()),
      " ",
      button("Close", () => dialog.close()),
    ),
  );
  dialog.showModal();
}

const KEYS = [
  ["↑ ↓ ← →", "walk the tree; ← and → fold and unfold"],
  ["Home, End", "first and last node"],
  ["Enter", "to the details of the node (in the icicle: into it); Escape goes back"],
  ["Space", "fold or unfold"],
  ["/", "search; Enter and Shift+Enter go through what is found, Escape ends"],
  ["1 … 5", "tree, icicle, table, JSON, differences"],
  ["m", "next metric"],
  ["d", "choose a document"],
  ["+ −", "larger, smaller (tree)"],
  ["?", "this list"],
];

const MEANINGS = [
  ["bar", "share of the chosen metric"],
  ["width of a line", "documents that come out, logarithmic"],
  ["= ≈", "the number of documents is known exactly, is a guess"],
  ["▲ ×3", "three times as many as estimated; ▼ fewer"],
  ["├──|──●┤", "bounds that always hold, the estimate as a stroke, what came as a dot, logarithmic"],
  ["dashed, grey", "a way that was not taken"],
  ["✓ ✗ ○", "the chosen document comes out, fails here, was not asked"],
];

function startHelp() {
  const dialog = byId("help");
  const rows = (list) =>
    el(
      "dl",
      { class: "pairs" },
      list.map(([key, text]) => [el("dt", {}, el("kbd", {}, key)), el("dd", {}, text)]),
    );
  dialog.append(
    el("h2", { id: "help-title" }, "Keys"),
    rows(KEYS),
    el("h2", {}, "What the drawing means"),
    rows(MEANINGS),
    el(
      "p",
      {},
      button("Close", () => dialog.close()),
    ),
  );
  byId("help-open").addEventListener("click", () => dialog.showModal());
}
