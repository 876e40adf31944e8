// All that is known of the chosen entry.

const LARGE = { width: 300, height: 46 };

/** Windows that a container map shows one by one; of more, several share a cell. */
const CELLS = 512;
const KINDS = { a: "array", b: "bitmap", r: "runs" };

function showDetails(app, host) {
  const entry = app.chosen();
  if (!entry) {
    refill(host, el("p", { class: "faint" }, "Choose a node."));
    return;
  }
  const { plan, state } = app;
  const verdict = app.verdictOf(entry);
  const isPhase = !isOfPlan(entry);
  refill(
    host,
    el(
      "h2",
      { tabindex: -1, onkeydown: (event) => event.key === "Escape" && app.view.focus?.() },
      explained(isPhase ? "word" : "operator", entry.operator),
      " ",
      el("code", { class: "faint" }, foreign(entry.id, 40, false)),
    ),
    el("p", { class: "whole-label" }, foreign(entry.label)),
    verdict &&
      el(
        "p",
        { class: `verdict-line ${verdict.replace(" ", "-")}` },
        `${VERDICTS[verdict].mark} document ${grouped(app.document.doc)}: ${VERDICTS[verdict].words}`,
        // Its mark is about the node alone, whatever the intersection makes of it.
        verdict === "matched" && entry.label.startsWith("NOT ") && ", which must not be",
      ),
    pairs([
      isPhase && entryFor("word", entry.operator) && ["means", entryFor("word", entry.operator).meaning],
      entry.algorithm && ["algorithm", explained("algorithm", entry.algorithm)],
      entry.data.field && entry.kind === "node" && ["field", foreign(entry.data.field)],
      entry.data.predicate &&
        entry.data.predicate !== entry.label && ["answers", el("code", {}, foreign(entry.data.predicate))],
      entry.data.neighbors && ["expected way", expectedWay(entry.data.neighbors)],
      entry.parent && ["input of", app.link(entry.parent)],
      entry.kind === "facet" && ["counts", foreign(entry.label)],
    ]),
    findingsOf(app, entry),
    changesOf(app, entry),
    section("Documents", documentsOf(app, entry)),
    section("What it did", counters(plan, entry)),
    section(
      "Decisions",
      entry.decisions.map((decision) => decisionItem(decision)),
    ),
    section("Segments", segmentsOf(app, entry, state.metric)),
    section("Containers", containerMaps(app, entry)),
    wordsOf(entry),
  );
}

function findingsOf(app, entry) {
  const about = (app.plan.tree.findings ?? []).filter((finding) => app.subjectOf(finding) === entry);
  return (
    about.length > 0 &&
    section(
      "Findings",
      el(
        "ul",
        { class: "plain" },
        about.map((finding) => el("li", {}, findingText(finding))),
      ),
    )
  );
}

function documentsOf(app, entry) {
  const { estimate, actual } = entry;
  if (entry.kind === "facet") {
    const expected = entry.data.estimate;
    const { buckets, buckets_upper: most = buckets, documents, lower = documents, upper = documents } = expected ?? {};
    const within = most > 1 ? `${grouped(buckets)} of at most ${count(most, "bucket")} with ` : "";
    const bounds = lower < upper ? `, ${grouped(lower)} to ${grouped(upper)}` : "";
    return [
      pairs([
        entry.data.terms > 0 && ["terms", grouped(entry.data.terms)],
        expected && ["expected in", `${within}${count(documents, "document")}${bounds}`],
      ]),
    ];
  }
  if (!estimate) return [];
  const way = direction(entry);
  const exact = isExact(estimate);
  return [
    whisker(entry, Math.max(1, estimate.upper ?? estimate.documents, actual?.documents ?? 0), LARGE.width, LARGE.height, true),
    pairs([
      ["estimate", `${exact ? "exactly " : ""}${grouped(estimate.documents)}`],
      !exact && estimate.lower !== undefined && ["never fewer, never more", `${grouped(estimate.lower)} … ${grouped(estimate.upper)}`],
      ["known from", explained("source", estimate.source || "nothing that it says")],
      actual && ["actual", `${grouped(actual.documents)}${actual.complete === false ? " until it stopped" : ""}`],
      entry.qError !== null && ["q-error", `${factor(entry.qError)}${way ? `, ${way.words}` : ""}`],
    ]),
  ];
}

/** Every counter that the plan has and that is not 0, known here or not: objects within as names with a dot. */
function counters(plan, entry) {
  const { actual } = entry;
  if (!actual) return [el("p", { class: "faint" }, "Not run: --analyze runs the query and counts.")];
  const list = [];
  const add = (name, value) => {
    if (name === "time ns") {
      list.push([
        "self time",
        [
          time(value),
          plan.sum.time > 0 ? el("span", { class: "faint" }, ` ${percent(value / plan.sum.time)} of all`) : "",
        ],
      ]);
      if (entry.children.length > 0) list.push(["with its inputs", time(entry.below.time)]);
    } else if (value === 0) return;
    else if (name === "bytes read") list.push([name, bytes(value)]);
    else if (name === "documents" || name.endsWith("thresholds")) return;
    else if (value === true) {
      if (name !== "complete") list.push([name, "yes"]);
    }
    else if (value === false) {
      if (name === "complete") list.push([name, "no: something stopped it before it had seen everything"]);
    } else if (typeof value === "number") list.push([explainedName(name), grouped(value)]);
    else if (typeof value === "string") list.push([name, foreign(value)]);
    else if (value && typeof value === "object" && !Array.isArray(value))
      for (const [inner, v] of Object.entries(value)) add(`${name}: ${spaced(inner)}`, v);
  };
  for (const [name, value] of Object.entries(actual)) add(visible(spaced(name)), value);
  return [pairs(list), thresholds(actual.ranking?.thresholds)];
}

/** How the score that a document must reach rose. */
function thresholds(points) {
  if (!Array.isArray(points) || points.length < 2) return null;
  const [width, height] = [300, 60];
  const last = points.at(-1);
  const x = (n) => 4 + ((width - 8) * Math.log10(1 + n)) / Math.log10(1 + Math.max(1, last.documents));
  const y = (score) => height - 6 - ((height - 14) * score) / Math.max(1e-9, last.score);
  const steps = points
    .map((p, at) => (at === 0 ? `M${x(p.documents)} ${y(p.score)}` : `H${x(p.documents)}V${y(p.score)}`))
    .join("");
  const words = `the score to reach rose from ${points[0].score.toFixed(3)} after ${count(points[0].documents, "document")} to ${last.score.toFixed(3)} after ${grouped(last.documents)}`;
  return el(
    "figure",
    {},
    svg(
      "svg",
      { width, height, viewBox: `0 0 ${width} ${height}`, class: "thresholds", role: "img", "aria-label": words },
      svg("path", { d: steps }),
    ),
    el("figcaption", { class: "faint" }, words),
  );
}

/** What finding neighbours was expected to take and to find. */
function expectedWay({ way, ef, recall, distances }) {
  const kept = ef ? `, ${grouped(ef)} kept, about ${count(distances ?? 0, "code")}` : "";
  return foreign(`${way}${kept}, recall ${recall.toFixed(3)}`);
}

/** The part of the nearest that a way found, and of how many. */
function recallOf(recall) {
  if (!recall) return "–";
  const { nearest, recalled } = recall;
  const part = nearest > 0 ? recalled / nearest : 1;
  return `${part.toFixed(2)} (${grouped(recalled)} of ${grouped(nearest)})`;
}

function decisionItem(decision) {
  const ways = [decision.alternative, ...(decision.others ?? [])].filter((way) => way);
  const own = {
    name: decision.rule,
    estimated_cost_ns: decision.estimated_cost_ns,
    measured_ns: decision.measured_ns,
    taken: true,
  };
  const all = ways.length > 0 || own.estimated_cost_ns || own.measured_ns !== undefined ? [own, ...ways] : [];
  const most = Math.max(1, ...all.map((way) => Math.max(way.estimated_cost_ns ?? 0, way.measured_ns ?? 0)));
  const measured = all.some((way) => way.measured_ns !== undefined);
  own.recall = decision.recall;
  const recalls = all.some((way) => way.recall);
  const best = measured && all.reduce((a, b) => ((b.measured_ns ?? Infinity) < (a.measured_ns ?? Infinity) ? b : a));
  const cell = (ns, guessed) =>
    el(
      "td",
      { class: "n" },
      ns === null || ns === undefined
        ? "–"
        : [
            `${guessed ? "≈ " : ""}${time(ns)}`,
            el("div", { class: "meter" }, el("i", { style: { "--share": percentOf(ns / most) } })),
          ],
    );
  return el(
    "div",
    { class: `decision ${decision.accepted ? "accepted" : "rejected"}` },
    el(
      "p",
      {},
      el("span", { class: "verdict" }, decision.accepted ? "✓" : "✗"),
      " ",
      el("b", {}, explained("rule", decision.rule)),
      el("span", { class: "faint" }, decision.accepted ? " taken: " : " not taken: "),
      foreign(decision.reason ?? ""),
    ),
    all.length > 0 &&
      el(
        "table",
        { class: "ways" },
        el(
          "thead",
          {},
          el(
            "tr",
            {},
            el("th", { scope: "col" }, "way"),
            el("th", { scope: "col" }, "expected"),
            measured && el("th", { scope: "col" }, "measured"),
            recalls && el("th", { scope: "col" }, "recall"),
          ),
        ),
        el(
          "tbody",
          {},
          all.map((way) =>
            el(
              "tr",
              { class: way.taken && decision.accepted ? "taken" : "lost" },
              el(
                "th",
                { scope: "row" },
                way.taken && decision.accepted ? "▸ " : "",
                foreign(way.name ?? "", 80),
                way === best && measured ? el("span", { class: "badge" }, "fastest") : "",
              ),
              cell(way.estimated_cost_ns, true),
              measured && cell(way.measured_ns, false),
              recalls && el("td", { class: "n" }, recallOf(way.recall)),
            ),
          ),
        ),
      ),
  );
}

/** A strip with a cell for each segment, as dark as its share, with the least, the mean and the most. */
function segmentsOf(app, entry, metric) {
  const { segments } = entry;
  if (segments.length === 0) return [];
  const chosen = METRICS[metric];
  const values = segments.map((segment) =>
    chosen.of({ actual: segment.actual, estimate: segment.estimate, qError: null }),
  );
  const known = values.filter((value) => value !== null);
  const most = Math.max(1, ...known);
  const inIndex = new Map((app.plan.tree.segments ?? []).map((segment) => [segment.id, segment]));
  const list = segmentTable(segments, (segment, at) => {
    const whole = inIndex.get(segment.id);
    return el(
      "tr",
      {},
      el("th", { scope: "row" }, el("code", {}, foreign(segment.id, 20, false))),
      el("td", {}, foreign(segment.algorithm ?? "", 60, false)),
      el("td", { class: "n" }, segment.estimate ? short(segment.estimate.documents) : "–"),
      el("td", { class: "n" }, segment.actual ? short(segment.actual.documents) : "–"),
      el("td", { class: "n" }, values[at] === null ? "–" : chosen.show(values[at])),
      el("td", { class: "n" }, whole ? short(whole.documents) : "–"),
    );
  });
  return [
    known.length > 0 &&
      el(
        "p",
        { class: "strip-words" },
        `${chosen.name}: least ${chosen.show(Math.min(...known))}, mean ${chosen.show(Math.round(known.reduce((a, b) => a + b, 0) / known.length))}, most ${chosen.show(Math.max(...known))}`,
      ),
    el(
      "div",
      {
        class: "strip",
        role: "img",
        "aria-label": `${count(segments.length, "segment")}, as dark as their ${chosen.name}`,
      },
      segments.slice(0, 400).map((segment, at) =>
        el("i", {
          style: { "--heat-share": values[at] === null ? 0 : Math.round((values[at] / most) * 100) + "%" },
          title: `${visible(shortened(String(segment.id), 40))}: ${values[at] === null ? "not known" : chosen.show(values[at])}`,
        }),
      ),
    ),
    list,
  ];
}

/** The rows of segments, thirty at a time. */
function segmentTable(segments, row) {
  const body = el("tbody");
  const add = (to) => {
    const from = body.children.length;
    for (let at = from; at < Math.min(to, segments.length); at++) body.append(row(segments[at], at));
    more.hidden = body.children.length >= segments.length;
    more.textContent = `show more of ${grouped(segments.length)}`;
  };
  const more = button("", () => add(body.children.length + 300), { class: "link" });
  add(30);
  const heads = ["segment", "algorithm", "expected", "came", "metric", "holds"];
  const numbers = 2;
  return el(
    "div",
    { class: "wide", tabindex: 0, role: "region", "aria-label": "Segments" },
    el(
      "table",
      { class: "segments" },
      el(
        "thead",
        {},
        el(
          "tr",
          {},
          heads.map((head, at) => el("th", { scope: "col", class: at >= numbers ? "n" : null }, head)),
        ),
      ),
      body,
    ),
    more,
  );
}

/** Operators that make a page of what their only input finds; a test compares them with those of ExplainNode::is_page. */
const PAGES = new Set(["Limit", "TopK", "Sort", "Collapse", "Fuse", "Count"]);

/** The containers of the node by segment, above those of the result. */
function containerMaps(app, entry) {
  if (entry.windows.length === 0) return [];
  // What matches comes out of the first node that does not only make a page of it.
  let result = app.plan.entries[0];
  while (PAGES.has(result.operator) && result.children.length === 1) result = result.children[0];
  const below = entry === result ? [] : result.windows;
  const shown = entry.windows.slice(0, 12);
  const legend = el(
    "p",
    { class: "kinds" },
    Object.entries(KINDS).map(([kind, name]) =>
      el(
        "span",
        {},
        svg(
          "svg",
          { width: 14, height: 14, "aria-hidden": "true" },
          svg("rect", { width: 14, height: 14, class: `kind-${kind}` }),
        ),
        ` ${name} `,
      ),
    ),
    el("span", { class: "faint" }, "height: documents in the window, logarithmic"),
  );
  return [
    patterns(),
    legend,
    shown.map((map) => {
      const other = below.find((candidate) => candidate.segment === map.segment);
      return el(
        "figure",
        { class: "maps" },
        el("figcaption", {}, "segment ", el("code", {}, foreign(map.segment, 20, false))),
        containerMap(map, "here"),
        other && containerMap(other, "result"),
      );
    }),
    entry.windows.length > shown.length &&
      el("p", { class: "faint" }, `and ${count(entry.windows.length - shown.length, "more segment")}`),
  ];
}

function containerMap(map, what) {
  const kinds = String(map.kinds ?? "");
  const documents = Array.isArray(map.documents) ? map.documents : [];
  const each = Math.max(1, Math.ceil(kinds.length / CELLS));
  const cells = [];
  const totals = {};
  for (let from = 0; from < kinds.length; from += each) {
    const tally = {};
    let most = 0;
    for (let at = from; at < Math.min(from + each, kinds.length); at++) {
      const kind = kinds[at];
      if (!KINDS[kind]) continue;
      tally[kind] = (tally[kind] ?? 0) + 1;
      totals[kind] = (totals[kind] ?? 0) + 1;
      most = Math.max(most, documents[at] ?? 0);
    }
    const kind = Object.keys(tally).sort((a, b) => tally[b] - tally[a])[0];
    cells.push([kind, most, from]);
  }
  const [width, height] = [Math.min(16, Math.max(2, 300 / Math.max(1, cells.length))), 26];
  const list =
    Object.entries(totals)
      .map(([kind, n]) => `${grouped(n)} ${KINDS[kind]}`)
      .join(", ") || "nothing";
  const words = `${what}: ${count(kinds.length, "window")}: ${list}`;
  return el(
    "div",
    { class: "map", tabindex: 0, role: "group", "aria-label": what },
    el("span", { class: "faint" }, words),
    svg(
      "svg",
      { width: width * cells.length, height, role: "img", "aria-label": words },
      svg("rect", { class: "ground", width: width * cells.length, height }),
      cells.map(([kind, n, from], at) => {
        if (!kind) return null;
        const h = 4 + ((height - 4) * Math.log2(1 + n)) / 16;
        return svg(
          "rect",
          { class: `kind-${kind}`, x: at * width, y: height - h, width: Math.max(1, width - 0.5), height: h },
          svg(
            "title",
            {},
            `window ${grouped(from)}${each > 1 ? ` to ${grouped(from + each - 1)}` : ""}: ${KINDS[kind]}, ${count(n, "document")}`,
          ),
        );
      }),
    ),
  );
}

/** Stripes that tell kinds apart without colour. */
function patterns() {
  const stripes = (id, kind, d) =>
    svg(
      "pattern",
      { id, width: 4, height: 4, patternUnits: "userSpaceOnUse" },
      svg("rect", { width: 4, height: 4, class: `ground-${kind}` }),
      svg("path", { d, class: `stripe-${kind}` }),
    );
  return svg(
    "svg",
    { width: 0, height: 0, class: "patterns", "aria-hidden": "true" },
    svg("defs", {}, stripes("bitmaps", "b", "M0 4L4 0"), stripes("runs", "r", "M0 2H4")),
  );
}
