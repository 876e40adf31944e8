// What stands above the plan: the pages, the query and what became of it, what was found, and single documents.

const VERDICTS = {
  matched: { mark: "✓", words: "comes out of this node" },
  failed: { mark: "✗", words: "fails here" },
  "not reached": { mark: "○", words: "not asked, because what stands before has decided" },
};

const SEVERITIES = {
  warning: { mark: "▲", words: "warning" },
  hint: { mark: "◆", words: "hint" },
  note: { mark: "●", words: "note" },
};

/** Parts of a score that are listed before "more". */
const PARTS_SHOWN = 200;

/** The list of queries, where there are several. */
function showPages(app, host) {
  host.hidden = app.pages.length < 2;
  if (host.hidden) return;
  // What a log says a search took comes first; a plan of it was run again.
  const isLog = app.pages.some((page) => page.took_ns !== undefined);
  const slowest = Math.max(1, ...app.pages.map((page) => page.took_ns ?? page.plan?.total_ns ?? 0));
  const shown = (ns) => (ns === undefined ? "" : time(ns));
  const item = (page, at) => {
    const chosen = at === app.state.page;
    const total = page.plan?.total_ns;
    const first = page.took_ns ?? total;
    return el(
      "li",
      {},
      el(
        "a",
        {
          href: `#page=${at + 1}`,
          "aria-current": chosen ? "page" : null,
          onclick: (event) => {
            event.preventDefault();
            app.update({ page: at, node: "0", side: "plan", doc: null });
          },
        },
        el("span", { class: "page-title" }, foreign(page.title ?? page.plan?.query ?? "", 120, false)),
        el("span", { class: "n" }, isLog && el("span", { class: "away" }, "took "), shown(first)),
        isLog && el("span", { class: "n faint" }, el("span", { class: "away" }, "run again "), shown(total)),
        el("span", { class: "meter" }, el("i", { style: { "--share": percentOf((first ?? 0) / slowest) } })),
      ),
    );
  };
  const old = host.querySelector("ol");
  const top = old?.scrollTop ?? 0;
  const list = el("ol", { tabindex: 0, "aria-label": "Queries" }, app.pages.map(item));
  const heads = ["", "took", "run again", ""].map((head) => el("span", { class: "n" }, head));
  host.classList.toggle("of-log", isLog);
  refill(
    host,
    el("h2", {}, count(app.pages.length, "query").replace("querys", "queries")),
    isLog && el("div", { class: "heads faint", "aria-hidden": "true" }, heads),
    list,
  );
  list.scrollTop = top;
  if (!old) list.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });
}

/** ` (bind 3.00 µs, look up 9.00 µs)`: phases of planning that took any time. */
function phasesOf(tree) {
  const phases = Object.entries(tree.planning ?? {}).filter(([, ns]) => ns > 0);
  const shown = phases.map(([name, ns]) => `${spaced(name.replace(/_ns$/, ""))} ${time(ns)}`);
  return shown.length > 0 ? ` (${shown.join(", ")})` : "";
}

function showTotals(app, host) {
  const { tree, entries } = app.plan;
  const segments = tree.segments ?? [];
  const documents = segments.reduce((sum, segment) => sum + segment.documents, 0);
  const size = segments.reduce((sum, segment) => sum + segment.bytes, 0);
  refill(
    host,
    tree.total_ns === undefined
      ? el("span", { class: "badge" }, "plan only, not run")
      : [
          app.page.took_ns !== undefined && el("b", {}, `took ${time(app.page.took_ns)}`),
          el(app.page.took_ns === undefined ? "b" : "span", {}, app.page.took_ns === undefined ? "" : "run again ", time(tree.total_ns)),
        ],
    tree.repeated &&
      el(
        "span",
        {},
        `${count(tree.repeated.runs, "run")}: ${time(tree.repeated.total.min_ns)} to ${time(tree.repeated.total.max_ns)}`,
      ),
    tree.planning_ns > 0 && el("span", {}, `planning ${time(tree.planning_ns)}${phasesOf(tree)}`),
    tree.rest_ns > 0 && el("span", {}, `other ${time(tree.rest_ns)}`),
    el("span", {}, count(entries.filter(isOfPlan).length, "node")),
    segments.length > 0 &&
      el("span", {}, `${count(documents, "document")} in ${count(segments.length, "segment")}, ${bytes(size)}`),
  );
}

/** Asked, parsed, rewritten, and what was noted on the way; steps that changed nothing are left out. */
function showQuestion(app, host) {
  const { tree } = app.plan;
  const steps = [["query", tree.query]];
  if (tree.parsed !== tree.query) steps.push(["parsed", tree.parsed]);
  if (tree.rewritten !== steps.at(-1)[1]) steps.push(["rewritten", tree.rewritten]);
  refill(
    host,
    el(
      "ol",
      { class: "steps" },
      steps.map(([name, text]) =>
        el("li", {}, el("span", { class: "faint" }, name), el("code", {}, foreign(text ?? "", 600))),
      ),
    ),
    (tree.notes ?? []).length > 0 &&
      el(
        "ul",
        { class: "notes" },
        tree.notes.map((note) => el("li", {}, foreign(note))),
      ),
  );
}

/** Conditions that no document meets together, and what each does to the others. */
function showWhyEmpty(app, host) {
  const why = app.page.why_empty;
  if (!why) {
    refill(host);
    return;
  }
  const clauses = listAt(why.clauses, "why_empty: clauses");
  const conflict = new Set(listAt(why.conflict, "why_empty: conflict"));
  const similar = (clause) =>
    listAt(clause.unknown, "why_empty: unknown").flatMap((unknown) =>
      listAt(unknown.similar, "why_empty: similar").map((word) => `${word.term} (${grouped(word.documents)})`),
    );
  const row = (clause, at) =>
    el(
      "tr",
      { class: conflict.has(at) ? "in-conflict" : null },
      el("th", { scope: "row" }, el("code", {}, foreign(clause.clause, 200))),
      el("td", { class: "n" }, grouped(clause.matches)),
      el("td", { class: "n" }, grouped(clause.matches_without)),
      el(
        "td",
        {},
        conflict.has(at) && el("span", { class: "badge bad" }, conflict.size > 1 ? "in conflict" : "no document"),
        clause.reason && [" ", foreign(clause.reason, 300)],
        similar(clause).length > 0 && [" like it are ", foreign(similar(clause).join(", "), 200)],
      ),
    );
  const said =
    why.matches > 0
      ? `${count(why.matches, "document")} match`
      : conflict.size > 1
        ? `Nothing matches: no document meets these ${conflict.size} conditions together`
        : "Nothing matches";
  refill(
    host,
    el("h2", {}, said),
    el(
      "table",
      { class: "ways" },
      el(
        "thead",
        {},
        el(
          "tr",
          {},
          ["condition", "documents alone", "matches without it", ""].map((head, at) =>
            head ? el("th", { scope: "col", class: at === 1 || at === 2 ? "n" : null }, head) : el("td"),
          ),
        ),
      ),
      el("tbody", {}, clauses.map(row)),
    ),
  );
}

/** A finding as a sentence, with what to do unless the next one says it. */
function findingText(finding, next) {
  const isSaidNext = next !== undefined && next.remedy === finding.remedy;
  const { mark, words } = SEVERITIES[finding.severity] ?? SEVERITIES.note;
  return [
    el(
      "span",
      { class: `severity ${finding.severity in SEVERITIES ? finding.severity : "note"}` },
      el("span", { "aria-hidden": "true" }, mark),
      ` ${words} `,
    ),
    foreign(finding.message ?? ""),
    !isSaidNext && finding.remedy && el("span", { class: "remedy" }, " → ", foreign(finding.remedy)),
    !isSaidNext && finding.rebuild === true && [
      " ",
      el("span", { class: "badge fair", title: "Documents have to be indexed anew for this" }, "rebuild needed"),
    ],
  ];
}

function showFindings(app, host) {
  const findings = app.plan.tree.findings ?? [];
  host.parentElement.hidden = findings.length === 0;
  refill(
    host,
    el(
      "ul",
      { class: "plain" },
      findings.slice(0, 100).map((finding, at) => {
        const entry = app.subjectOf(finding);
        return el(
          "li",
          { title: visible(finding.rule ?? "") },
          findingText(finding, findings[at + 1]),
          entry && [" ", app.link(entry)],
        );
      }),
    ),
  );
}

/** The choice of a document, what became of it, and its score. */
function showLens(app, host) {
  const { tree } = app.plan;
  const documents = tree.documents ?? [];
  const wanted = app.state.doc;
  const document_ = app.document;
  const typed = el("input", {
    id: "doc",
    type: "text",
    inputmode: "numeric",
    size: 10,
    list: "docs",
    placeholder: "number",
    value: wanted ?? "",
    autocomplete: "off",
  });
  const choose = (event) => {
    event.preventDefault();
    app.update({ doc: typed.value.trim() === "" ? null : typed.value.trim() });
    byId("doc").focus();
  };
  refill(
    host,
    el(
      "form",
      { class: "lens-form", onsubmit: choose },
      el("h2", { id: "lens-title" }, "Why this document, or why not?"),
      el("label", { class: "labelled" }, "Document ", typed),
      el(
        "datalist",
        { id: "docs" },
        documents
          .slice(0, 500)
          .map((d) => el("option", { value: String(d.doc) }, visible(shortened(d.title ?? "", 60)))),
      ),
      el("button", { type: "submit" }, "Show"),
      wanted !== null && button("Clear", () => app.update({ doc: null })),
      documents.length > 0 &&
        wanted === null &&
        el(
          "span",
          { class: "chips" },
          documents
            .slice(0, 8)
            .map((d) =>
              button(
                [`${d.matches ? "✓" : "✗"} ${grouped(d.doc)} `, foreign(d.title ?? "", 30, false)],
                () => app.update({ doc: String(d.doc) }),
                { class: "chip" },
              ),
            ),
        ),
    ),
    wanted !== null && (document_ ? verdictsOf(app, document_) : noData(app, wanted)),
  );
}

/** Says how a page comes to know of a document. */
function noData(app, wanted) {
  if (!/^\d+$/.test(wanted))
    return el("p", { class: "problem" }, "A document is chosen by its number, found ", foreign(wanted, 60), ".");
  const query = app.plan.tree.query ?? "";
  const quoted = `'${visible(shortened(query, 300)).replaceAll("'", "'\\''")}'`;
  const command = `treepie explain INDEX ${quoted} --doc ${wanted} --format html -o plan.html`;
  return el(
    "div",
    { class: "no-data" },
    el(
      "p",
      {},
      `This page has no data for document ${wanted}. What the nodes say of it is found when the page is made:`,
    ),
    el("pre", { tabindex: 0 }, el("code", {}, el("bdi", {}, command))),
  );
}

function verdictsOf(app, document_) {
  const verdicts = Object.entries(document_.verdicts ?? {});
  const failed = verdicts
    .filter(([id, verdict]) => verdict === "failed" && app.plan.byId.has(id))
    .map(([id]) => app.plan.byId.get(id));
  // The deepest ones are the reason; those above fail because of them.
  const reasons = failed.filter((entry) => !failed.some((other) => other.parent === entry));
  const tally = Object.keys(VERDICTS)
    .map((name) => [name, verdicts.filter(([, verdict]) => verdict === name).length])
    .filter(([, n]) => n > 0);
  return el(
    "div",
    { class: "document" },
    el(
      "p",
      {},
      el("b", {}, `Document ${grouped(document_.doc)} `),
      foreign(document_.title ?? "", 120),
      el(
        "span",
        { class: `verdict-line ${document_.matches ? "matched" : "failed"}` },
        document_.matches ? " ✓ matches" : " ✗ does not match",
      ),
      el(
        "span",
        { class: "faint" },
        ` (${tally.map(([name, n]) => `${VERDICTS[name].mark} ${name} ${n}`).join(", ")})`,
      ),
    ),
    reasonOf(app, document_, reasons),
    document_.score
      ? el(
          "details",
          { class: "score", open: true },
          el("summary", {}, `Score ${document_.score.value}`),
          scoreTree(document_.score),
        )
      : document_.matches && el("p", { class: "faint" }, "Nothing is scored here."),
  );
}

/** Why it is found, or is not, and all that it misses. */
function reasonOf(app, document_, reasons) {
  if (typeof document_.reason === "string" && document_.reason !== "") {
    const at = app.plan.byId.get(document_.failed_at);
    const misses = Array.isArray(document_.misses) ? document_.misses : [];
    return [
      el("p", {}, foreign(document_.reason, 300), at && [": ", app.link(at)]),
      misses.length > 1 &&
        el(
          "ul",
          {},
          misses.slice(0, 20).map((miss) => el("li", {}, foreign(miss, 300))),
          misses.length > 20 && el("li", {}, `and ${misses.length - 20} more`),
        ),
    ];
  }
  if (document_.matches || reasons.length === 0) return null;
  return el(
    "p",
    {},
    "Fails at ",
    reasons.slice(0, 12).map((entry, at) => [at > 0 ? ", " : "", app.link(entry)]),
    reasons.length > 12 ? ` and ${reasons.length - 12} more` : "",
  );
}

/** How a score comes about, as nested lists with bars by share of the whole. */
function scoreTree(score) {
  const whole = Math.abs(score.value) || 1;
  const part = (of, depth) => {
    const parts = Array.isArray(of.parts) ? of.parts : [];
    const below = el("ul", { class: "parts" });
    const add = (to) => {
      for (let at = below.children.length; at < Math.min(to, parts.length); at++)
        below.append(part(parts[at], depth + 1));
      if (below.children.length < parts.length) {
        const more = button(
          `${grouped(parts.length - below.children.length)} more`,
          () => {
            more.remove();
            add(below.children.length + PARTS_SHOWN);
          },
          { class: "link" },
        );
        queueMicrotask(() => below.after(more));
      }
    };
    const text = [
      el("b", { class: "n" }, String(of.value)),
      " ",
      foreign(of.what ?? "", 200),
      el(
        "span",
        { class: "meter" },
        el("i", { style: { "--share": percentOf(Math.min(1, Math.abs(of.value) / whole)) } }),
      ),
    ];
    if (parts.length === 0) return el("li", {}, text);
    // What is deep is made when it is opened.
    const open = depth < 2;
    if (open) add(PARTS_SHOWN);
    return el(
      "li",
      {},
      el(
        "details",
        { open, ontoggle: () => below.children.length === 0 && add(PARTS_SHOWN) },
        el("summary", {}, text),
        below,
      ),
    );
  };
  return el("ul", { class: "parts" }, part(score, 0));
}
