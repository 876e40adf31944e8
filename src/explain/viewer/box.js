// The boxes of the tree: what is told of an entry at a glance.

/** The box of an item of the tree view: a node or a facet, more inputs, or a way not taken. */
function boxOf(view, item) {
  const at = { "--x": item.x + "px", "--y": item.y + "px" };
  if (item.way) return ghostBox(item, at);
  if (item.more) {
    const n = item.more.children.length - INPUTS_SHOWN;
    return el(
      "div",
      {
        class: "box more",
        role: "treeitem",
        tabindex: -1,
        "data-more": item.more.id,
        style: at,
        "aria-level": item.level + 1,
        "aria-selected": "false",
      },
      `… ${count(n, "more input")}`,
    );
  }
  const { app, plan } = view;
  const { entry } = item;
  const isPhase = !isOfPlan(entry);
  const { metric } = app.state;
  const chosen = entry === view.chosen();
  // Of two trees one has the choice, and the other what corresponds to it.
  const isPartner = chosen && entry !== app.chosen();
  const isStop = chosen || (!view.chosen() && entry === plan.roots[0]);
  const unfolded = plan.unfolded.has(entry);
  // Planning is nothing but its phases.
  const sums = isPhase ? entry.below : entry.own;
  const value = sums[metric];
  const share = shareOf(plan, entry, metric, sums);
  const verdict = app.verdictOf(entry);
  const change = app.changeOf(entry);
  const classes = [
    "box",
    entry.kind,
    chosen && (isPartner ? "partner" : "chosen"),
    verdict && `verdict-${verdict.replace(" ", "-")}`,
    change && `change-${change}`,
    app.matches?.has(entry) && "found",
    share !== null && share >= 0.5 && METRICS[metric].adds && "hot",
    entry.actual?.complete === false && "cut-short",
  ];
  // What the marks mean, for those who hear the box.
  const unseen = [
    value !== null && `bar: ${METRICS[metric].name}`,
    verdict && `this document: ${verdict}`,
    change && change !== "same" && `in the other plan: ${change}`,
    isPartner && "corresponds to the chosen one",
  ];
  return el(
    "div",
    {
      class: classes.filter((c) => c).join(" "),
      role: "treeitem",
      tabindex: isStop ? 0 : -1,
      "data-id": entry.id,
      style: at,
      "aria-level": entry.depth + 1,
      "aria-selected": String(chosen && !isPartner),
      "aria-expanded": entry.children.length > 0 ? String(unfolded) : null,
      "aria-setsize": entry.parent ? entry.parent.children.length : plan.roots.length,
      "aria-posinset": (entry.parent ? entry.parent.children : plan.roots).indexOf(entry) + 1,
    },
    el(
      "div",
      { class: "head" },
      verdict && el("span", { class: "verdict" }, VERDICTS[verdict].mark),
      change && CHANGES[change].mark && el("span", { class: "change" }, CHANGES[change].mark),
      el("b", { title: meaningOf(isPhase ? "word" : "operator", entry.operator) }, foreign(entry.operator, 28, false)),
      el(
        "span",
        { class: "value" },
        value === null ? "" : METRICS[metric].show(value),
        share !== null && METRICS[metric].adds && share > 0
          ? el("span", { class: "faint" }, ` ${percent(share)}`)
          : "",
      ),
    ),
    !isPhase &&
      el(
        "div",
        { class: "label", title: entry.label ? null : meaningOf("algorithm", entry.algorithm) },
        foreign(entry.label || entry.algorithm, 90, false),
      ),
    !isPhase &&
      el(
      "div",
      { class: "foot" },
      numbersOf(entry),
      entry.actual?.complete === false &&
        el(
          "span",
          {
            class: "badge",
            title: entry.actual.stopped ? "The search was stopped here" : "Stopped before it had seen everything",
          },
          entry.actual.stopped ? "stopped" : "stopped early",
        ),
      entry.estimate && whisker(entry, view.mostDocuments, 58, 12),
    ),
    el("div", { class: "meter" }, el("i", { style: { "--share": percentOf(share) } })),
    el("span", { class: "away" }, unseen.filter((part) => part).join(", ")),
    entry.children.length > 0 &&
      el(
        "span",
        { class: "fold", "data-fold": "", "aria-hidden": "true" },
        unfolded ? "−" : `+${short(entry.size - 1)}`,
      ),
  );
}

/** What was expected and what came. */
function numbersOf(entry) {
  if (entry.kind === "facet")
    return entry.data.terms > 0 && el("span", { class: "badge" }, `${short(entry.data.terms)} terms`);
  const { estimate, actual } = entry;
  if (!estimate) return null;
  const exact = isExact(estimate);
  const expected = `${exact ? "=" : "≈"} ${short(estimate.documents)}`;
  const way = direction(entry);
  const bad =
    entry.qError !== null && entry.qError >= 10
      ? "bad"
      : entry.qError !== null && entry.qError >= 2
        ? "fair"
        : "good";
  return el(
    "span",
    {},
    actual ? [el("span", { class: "faint" }, expected, " → "), short(actual.documents)] : expected,
    way &&
      entry.qError >= 1.05 &&
      el(
        "span",
        { class: `badge q ${bad}`, title: `q-error ${factor(entry.qError)}: ${way.words}` },
        `${way.mark} ${factor(entry.qError)}`,
      ),
  );
}

/** A way that was not taken. */
function ghostBox({ way, level }, at) {
  const cost = way.cost === null ? "" : `${way.measured ? "" : "≈ "}${time(way.cost)}`;
  return el(
    "div",
    {
      class: "box ghost",
      role: "treeitem",
      tabindex: -1,
      style: at,
      "aria-level": level + 1,
      "aria-selected": "false",
      "aria-disabled": "true",
      title: `not taken; ${visible(shortened(String(way.rule ?? ""), 120))}`,
    },
    el("span", { class: "away" }, "not taken: "),
    el("span", { class: "label" }, foreign(way.name, 60, false)),
    el("span", { class: "value" }, cost),
  );
}

function percentOf(share) {
  return share === null ? "0%" : `${Math.max(share > 0 ? 0.5 : 0, Math.min(1, share) * 100).toFixed(1)}%`;
}

/** Powers of ten up to `most` with their places, those at the ends first where there is no room for all. */
function axisOf(x, most, width, height) {
  const last = Math.floor(Math.log10(Math.max(1, most)));
  const step = Math.max(1, Math.ceil(((last + 2) * 34) / width));
  const ticks = [0];
  for (let power = 0; power <= last; power += step) ticks.push(10 ** power);
  return ticks.map((n) => [
    svg("path", { class: "tick", d: `M${x(n)} ${height - AXIS}V${height - AXIS + 4}` }),
    svg(
      "text",
      { x: x(n), y: height - 2, class: "tick", "text-anchor": n === 0 ? "start" : x(n) > width - 20 ? "end" : "middle" },
      short(n).replace(".00", ""),
    ),
  ]);
}

/** Height of an axis below what it measures. */
const AXIS = 18;

/** Bounds as a line, the estimate as a stroke on it, and what came as a dot; logarithmic from 0 to `most` documents,
 * with an axis where there is room for one. */
function whisker(entry, most, width, height, axis = false) {
  const { estimate, actual } = entry;
  const x = (n) => 4 + ((width - 8) * Math.log10(1 + Math.max(0, n))) / Math.log10(1 + most);
  const y = (axis ? height - AXIS : height) / 2;
  const hasBounds = estimate.lower !== undefined;
  const bounds = hasBounds ? `bounds ${grouped(estimate.lower)} to ${grouped(estimate.upper)}, ` : "";
  const words = `${bounds}estimate ${grouped(estimate.documents)}${actual ? `, actual ${grouped(actual.documents)}` : ""}`;
  return svg(
    "svg",
    { class: "whisker", width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": words },
    svg("title", {}, words),
    axis && axisOf(x, most, width, height),
    hasBounds && svg("path", {
      class: "bounds",
      d: `M${x(estimate.lower)} ${y - 3}V${y + 3}M${x(estimate.lower)} ${y}H${x(estimate.upper)}M${x(estimate.upper)} ${y - 3}V${y + 3}`,
    }),
    svg("path", { class: "guess", d: `M${x(estimate.documents)} ${y - 5}V${y + 5}` }),
    actual && svg("circle", { class: "came", cx: x(actual.documents), cy: y, r: 3 }),
  );
}
