// The page of `treepie inspect storage --format html`; elements and numbers are made as in the page of a plan.

const data = JSON.parse(byId("data").textContent);
/** Colours of Okabe and Ito, told apart by everybody, and light enough for dark text. */
const COLOURS = ["#56b4e9", "#e69f00", "#4fc3a1", "#f0e442", "#d98bb8", "#e88b55", "#a8b4c8", "#b7d36b"];

function part(n, whole) {
  return percent(whole === 0 ? 0 : n / whole);
}

function bar(n, whole) {
  const width = `${whole === 0 ? 0 : (100 * n) / whole}%`;
  return el("span", { class: "share", "aria-hidden": "true" }, el("span", { style: { "--width": width } }));
}

/** Fills a table whose headings sort it. A column is {name, of: row => value, show: value => text or node, number}. */
function table(at, columns, rows) {
  const body = el("tbody");
  let sorted = null;
  const fillRows = (ordered) => body.replaceChildren(...ordered.map((row) => el("tr", {}, columns.map(({ of, show, number }) => {
    const value = of(row);
    const shown = show ? show(value) : typeof value === "number" ? grouped(value) : foreign(value ?? "", 300, false);
    return el("td", { class: number ? "n" : null }, shown);
  }))));
  const sort = (column) => {
    const up = sorted?.column === column ? !sorted.up : !column.number;
    sorted = { column, up };
    const keys = new Map(rows.map((row) => [row, column.of(row) ?? ""]));
    const compare = (x, y) => (column.number ? x - y : x < y ? -1 : x > y ? 1 : 0);
    fillRows([...rows].sort((a, b) => (up ? 1 : -1) * compare(keys.get(a), keys.get(b))));
    columns.forEach((other, nth) => {
      const heading = head.children[nth];
      if (other === column) heading.setAttribute("aria-sort", up ? "ascending" : "descending");
      else heading.removeAttribute("aria-sort");
    });
  };
  const head = el("tr", {}, columns.map((column) => el("th", { scope: "col", class: column.number ? "n" : null },
    button(column.name, () => sort(column)))));
  byId(at).replaceChildren(el("thead", {}, head), body);
  fillRows(rows);
}

/**
 * Rectangles for `items`, each as large as its `bytes`, as near to squares as rows of them allow
 * (Bruls, Huizing, van Wijk: Squarified Treemaps, 2000).
 */
function squarified(items, x, y, width, height) {
  const placed = [];
  let total = items.reduce((sum, item) => sum + item.bytes, 0);
  let rest = items.filter((item) => item.bytes > 0).sort((a, b) => b.bytes - a.bytes);
  while (rest.length > 0 && width > 0 && height > 0) {
    const side = Math.min(width, height);
    const scale = (width * height) / total;
    const worst = (row, sum) => {
      const across = (sum * scale) / side;
      return row.reduce((bad, item) => {
        const along = (item.bytes * scale) / across;
        return Math.max(bad, along / across, across / along);
      }, 0);
    };
    let n = 1;
    let sum = rest[0].bytes;
    while (n < rest.length &&
        worst(rest.slice(0, n + 1), sum + rest[n].bytes) <= worst(rest.slice(0, n), sum)) {
      sum += rest[n++].bytes;
    }
    const across = (sum * scale) / side;
    let along = 0;
    for (const item of rest.slice(0, n)) {
      const length = (item.bytes * scale) / across;
      placed.push(width >= height
        ? { item, x, y: y + along, width: across, height: length }
        : { item, x: x + along, y, width: length, height: across });
      along += length;
    }
    if (width >= height) { x += across; width -= across; } else { y += across; height -= across; }
    total -= sum;
    rest = rest.slice(n);
  }
  return placed;
}

const fields = [...new Set(data.parts.map((part) => part.field))];

function named(field) {
  return field === null ? "(no field)" : visible(shortened(field, 60));
}

function drawMap() {
  const chosen = byId("field").value;
  const wanted = data.parts.filter((one) => chosen === "" || String(fields.indexOf(one.field)) === chosen);
  const sum = (parts) => parts.reduce((all, one) => all + one.bytes, 0);
  const whole = sum(wanted);
  const groups = fields.map((field) => {
    const parts = wanted.filter((one) => one.field === field);
    return { field, parts, bytes: sum(parts) };
  });
  const tiles = squarified(groups, 0, 0, 100, 60).flatMap((group) =>
    squarified(group.item.parts, group.x, group.y, group.width, group.height).map((tile) => {
      const { field, part: name, bytes: size } = tile.item;
      const text = `${named(field)}, ${name}: ${bytes(size)}, ${part(size, whole)}`;
      const tell = () => { byId("told").textContent = text; };
      // Small tiles are told by their label alone.
      const inner = tile.width * tile.height > 12 && [el("b", {}, named(field)), el("span", {}, name), el("span", {}, bytes(size))];
      const style = {
        "--left": `${tile.x}%`, "--top": `${(tile.y * 100) / 60}%`, "--width": `${tile.width}%`,
        "--height": `${(tile.height * 100) / 60}%`, "--tile": COLOURS[fields.indexOf(field) % COLOURS.length],
      };
      return el("div", { role: "listitem", style }, button(inner || "", tell, { "aria-label": text, title: text, onfocus: tell, onmouseenter: tell }));
    }));
  byId("map").replaceChildren(...tiles);
  // A line that does not fit would be cut in half.
  for (const tile of byId("map").querySelectorAll("button")) {
    while (tile.lastChild && (tile.scrollHeight > tile.clientHeight || tile.scrollWidth > tile.clientWidth)) {
      tile.lastChild.remove();
    }
  }
  byId("map-note").textContent = `${bytes(whole)}, one colour a field`;
}

function start() {
  const { disk, segments, sections } = data;
  document.title = `Storage of ${visible(data.title)}`;
  byId("title").replaceChildren(foreign(data.title, 200, false));
  const left = [[disk.older, "of older commits"], [disk.unreferenced, "in files that no commit names"]];
  const more = left.filter(([n]) => n > 0).map(([n, what]) => `${bytes(n)} ${what}`).join(", ");
  byId("summary").textContent = `${bytes(data.total)} in ${count(segments.length, "segment")}, ${count(data.documents, "document")}, ` +
    `${(data.total / Math.max(data.documents, 1)).toFixed(1)} bytes each. On disk ${bytes(disk.live + disk.older + disk.unreferenced)}` +
    `${more && ": "}${more}.`;
  fields.forEach((field, nth) => byId("field").append(el("option", { value: nth }, named(field))));
  byId("field").addEventListener("change", drawMap);
  addEventListener("resize", drawMap);
  byId("theme").addEventListener("change", (event) => { document.documentElement.dataset.theme = event.target.value; });
  drawMap();

  const size = { name: "bytes", of: (row) => row.bytes, show: bytes, number: true };
  const share = { name: "share", of: (row) => row.bytes, show: (n) => part(n, data.total), number: true };
  const field = { name: "field", of: (row) => row.field };
  table("savings", [
    { name: "what", of: (row) => row.what }, field, size, share,
    { name: "what is lost", of: (row) => row.loss }, { name: "how", of: (row) => row.how },
  ], data.savings);

  const known = sections.filter((section) => section.resident !== null);
  const all = (name) => known.reduce((sum, section) => sum + section[name], 0);
  byId("resident-note").textContent = known.length === 0
    ? "Not known: the files are not mapped, or this system does not say."
    : `${bytes(all("resident"))} of ${bytes(all("bytes"))} (${part(all("resident"), all("bytes"))}) were in memory when this page was made; reading the rest waits for the disk.`;
  table("sections", [
    { name: "segment", of: (row) => row.segment.slice(0, 8) }, field,
    { name: "section", of: (row) => row.section }, size,
    { name: "in memory", of: (row) => row.resident ?? -1, show: (n) => (n < 0 ? "not known" : bytes(n)), number: true },
    { name: "share in memory", of: (row) => (row.resident ?? 0) / Math.max(row.bytes, 1), show: (n) => [percent(n), bar(n, 1)], number: true },
  ], sections);

  const largest = Math.max(0, ...data.terms.map((term) => term.bytes));
  table("terms", [
    { name: "term", of: (row) => row.term }, field,
    { name: "documents", of: (row) => row.documents, number: true }, size,
    { name: "of the largest", of: (row) => row.bytes, show: (n) => bar(n, largest), number: true },
    { name: "arrays", of: (row) => row.containers.array, number: true },
    { name: "bitmaps", of: (row) => row.containers.bitmap, number: true },
    { name: "runs", of: (row) => row.containers.run, number: true },
  ], data.terms);
  table("parts", [field, { name: "part", of: (row) => row.part }, { name: "count", of: (row) => row.count, number: true }, size, share], data.parts);
  table("segments", [
    { name: "segment", of: (row) => row.id }, { name: "documents", of: (row) => row.documents, number: true },
    { name: "deleted", of: (row) => row.deleted, number: true }, size,
  ], segments);
}

start();
