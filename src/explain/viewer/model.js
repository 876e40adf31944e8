// The plan as the views want it: one flat list, parents first, with sums over what is below each entry.
// Facets are entries, too: they follow the nodes of the plan, with ids of their own (`facet.0`). So are the phases of
// planning and the time that is nobody's (`planning`, `planning.bind`, `other`), so that all time is in some box.

/** The version of the page's data that this viewer reads, up to the point. */
const DATA_VERSION = "0";
/** The version of the plans' JSON. */
const SCHEMA_VERSION = 1;

/** Data that is not what this page reads. */
class Problem extends Error {}

function problem(where, expected, found) {
  const kind =
    found === null
      ? "null"
      : Array.isArray(found)
        ? "an array"
        : typeof found === "string"
          ? `"${visible(shortened(found, 40))}"`
          : typeof found;
  return new Problem(`reading ${where}: expected ${expected}, found ${found === undefined ? "nothing" : kind}`);
}

function expectObject(value, where) {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw problem(where, "an object", value);
  return value;
}

function listAt(value, where) {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw problem(where, "an array", value);
  return value;
}

/** The page's data, or a Problem that says what is wrong with it. */
function readData(text) {
  let data;
  try {
    data = JSON.parse(text);
  } catch (error) {
    throw new Problem(
      `reading this page's data: expected JSON, found ${count(text.length, "character")} that are not: ${error.message}. Is the file cut short?`,
    );
  }
  expectObject(data, "this page's data");
  if (typeof data.version !== "string") throw problem("this page's data: version", "a text", data.version);
  if (data.version.split(".")[0] !== DATA_VERSION)
    throw problem("this page's data: version", `${DATA_VERSION}.…`, data.version);
  if (!Array.isArray(data.pages)) throw problem("this page's data: pages", "an array of pages", data.pages);
  readGlossary(data.glossary);
  return data.pages;
}

/** The flat list of a plan: `{tree, nodes, facets, entries, byId, sums, …}`. */
function readPlan(tree, where) {
  expectObject(tree, where);
  if (tree.schema_version !== SCHEMA_VERSION)
    throw problem(`${where}: schema_version`, String(SCHEMA_VERSION), tree.schema_version);
  expectObject(tree.plan, `${where}: plan`);
  const entries = [];
  const todo = [];
  const facets = listAt(tree.facets, `${where}: facets`);
  facets.map((data, at) => todo.push({ kind: "facet", data, id: `facet.${at}`, parent: null, depth: 0 })).reverse();
  todo.reverse();
  todo.push({ kind: "node", data: tree.plan, id: null, parent: null, depth: 0 });
  while (todo.length > 0) {
    const next = todo.pop();
    const place = next.parent ? `${where}: below ${shortened(visible(next.parent.id), 60)}` : where;
    const data = expectObject(next.data, place);
    const entry = next.kind === "node" ? nodeEntry(data, next, place) : facetEntry(data, next);
    entry.at = entries.length;
    entries.push(entry);
    if (entry.parent) entry.parent.children.push(entry);
    const below = listAt(next.kind === "node" ? data.children : data.within, `${place}: children`);
    for (let at = below.length - 1; at >= 0; at--) {
      todo.push({ kind: next.kind, data: below[at], id: `${entry.id}.${at}`, parent: entry, depth: next.depth + 1 });
    }
  }
  addPhases(tree, entries);
  const plan = { tree, entries, roots: entries.filter((entry) => !entry.parent), byId: new Map() };
  for (const entry of entries) plan.byId.set(entry.id, entry);
  sumUp(plan);
  return plan;
}

/** Adds the phases of planning, and the time that neither they nor any node or facet took. */
function addPhases(tree, entries) {
  const add = (id, operator, ns, parent) => {
    const entry = phaseEntry(id, operator, ns, parent);
    entry.at = entries.length;
    entries.push(entry);
    if (parent) parent.children.push(entry);
    return entry;
  };
  const phases = Object.entries(tree.planning ?? {}).filter(([, ns]) => ns > 0);
  const ofPhases = phases.reduce((sum, [, ns]) => sum + ns, 0);
  if (tree.planning_ns > 0) {
    const planning = add("planning", "Planning", Math.max(0, tree.planning_ns - ofPhases), null);
    for (const [name, ns] of phases) {
      const phase = name.replace(/_ns$/, "");
      add(`planning.${phase}`, spaced(phase), ns, planning);
    }
  }
  if (tree.rest_ns > 0) add("other", "Other", tree.rest_ns, null);
}

function phaseEntry(id, operator, ns, parent) {
  return {
    kind: "phase",
    id,
    operator,
    label: id === "other" ? "in no node: fetching hits, waiting for the processor" : "",
    algorithm: "",
    estimate: null,
    actual: { time_ns: ns },
    qError: null,
    decisions: [],
    segments: [],
    windows: [],
    data: {},
    parent,
    depth: parent ? 1 : 0,
    children: [],
  };
}

/** Whether an entry is a part of the plan, and not of what the search took besides. */
function isOfPlan(entry) {
  return entry.kind !== "phase";
}

function nodeEntry(data, { id, parent, depth }, place) {
  if (typeof data.operator !== "string") throw problem(`${place}: operator`, "a text", data.operator);
  const label = String(data.label ?? "");
  return {
    kind: "node",
    id: typeof data.id === "string" ? data.id : (id ?? "0"),
    operator: data.operator,
    // Some labels repeat the operator.
    label: label.startsWith(data.operator) ? label.slice(data.operator.length).trimStart() : label,
    algorithm: data.algorithm ?? "",
    estimate: data.estimate ?? null,
    actual: data.actual ?? null,
    qError: data.q_error ?? null,
    decisions: listAt(data.decisions, `${place}: decisions`),
    segments: listAt(data.segments, `${place}: segments`),
    windows: listAt(data.windows, `${place}: windows`),
    data,
    parent,
    depth,
    children: [],
  };
}

function facetEntry(data, { id, parent, depth }) {
  const what = [data.field, data.ranges, data.options].filter((text) => text).join(", ");
  return {
    kind: "facet",
    id,
    operator: data.operator || "Facet",
    label: `${what}, first ${grouped(data.limit ?? 0)}`,
    algorithm: data.algorithm ?? "",
    estimate: null,
    actual: data.actual ?? null,
    qError: null,
    decisions: listAt(data.decisions, `facet ${id}: decisions`),
    segments: [],
    windows: [],
    data,
    parent,
    depth,
    children: [],
  };
}

/** What each entry holds with all that is below it, and what the whole plan holds. */
function sumUp(plan) {
  plan.sum = {};
  plan.max = {};
  for (const entry of plan.entries) {
    entry.own = {};
    entry.size = 1;
    for (const [name, metric] of Object.entries(METRICS)) {
      const value = metric.of(entry);
      entry.own[name] = value;
      if (value === null) continue;
      plan.sum[name] = (plan.sum[name] ?? 0) + value;
      plan.max[name] = Math.max(plan.max[name] ?? 0, value);
    }
    entry.below = { ...entry.own };
  }
  plan.nodes = { ...plan.sum };
  if (plan.sum.time !== undefined) {
    // Shares are of the whole time, also of what is in no node.
    plan.sum.time = Math.max(plan.sum.time, Number(plan.tree.total_ns ?? 0));
  }
  for (const entry of plan.entries.toReversed()) {
    if (!entry.parent) continue;
    entry.parent.size += entry.size;
    for (const [name, metric] of Object.entries(METRICS)) {
      if (metric.adds && entry.below[name] !== null)
        entry.parent.below[name] = (entry.parent.below[name] ?? 0) + entry.below[name];
    }
  }
}

function skippedBlocks(actual) {
  const parts = [actual?.ranking, actual?.sort, actual?.column].filter((part) => part);
  const all = parts.reduce((sum, part) => sum + (part.blocks ?? 0), 0);
  return all > 0 ? { skipped: parts.reduce((sum, part) => sum + (part.blocks_skipped ?? 0), 0), all } : null;
}

/** What nodes can be measured by. `of` gives null where a node has no such number; `adds` says that the numbers
 * of nodes add up, so that a share of the whole means something. */
const METRICS = {
  time: { name: "self time", adds: true, of: (entry) => entry.actual?.time_ns ?? null, show: time },
  documents: {
    name: "documents",
    adds: false,
    of: (entry) => entry.actual?.documents ?? entry.estimate?.documents ?? null,
    show: short,
  },
  bytes: { name: "bytes read", adds: true, of: (entry) => entry.actual?.bytes_read ?? null, show: bytes },
  containers: {
    name: "containers read",
    adds: true,
    show: short,
    of: ({ actual }) =>
      actual?.containers
        ? (actual.containers.array ?? 0) + (actual.containers.bitmap ?? 0) + (actual.containers.run ?? 0)
        : null,
  },
  "q-error": { name: "q-error", adds: false, of: (entry) => entry.qError, show: factor },
  skipped: {
    name: "skipped blocks",
    adds: true,
    of: (entry) => skippedBlocks(entry.actual)?.skipped ?? null,
    show: short,
  },
};

/** How long a bar is for an entry, from 0 to 1: its share of the whole, or of the largest. */
function shareOf(plan, entry, metric, sums = entry.own) {
  const value = sums[metric];
  if (value === null) return null;
  if (metric === "q-error") return Math.min(1, Math.log10(Math.max(1, value)) / 3);
  const whole = METRICS[metric].adds ? plan.sum[metric] : plan.max[metric];
  return whole > 0 ? value / whole : 0;
}

/** Whether an estimate is known to be right; of some plans there are no bounds. */
function isExact({ lower, upper }) {
  return lower !== undefined && lower === upper;
}

/** Which way an estimate was off, as a mark and in words. */
function direction(entry) {
  if (entry.qError === null || !entry.actual || !entry.estimate) return null;
  const { documents } = entry.estimate;
  if (documents === entry.actual.documents) return { mark: "=", words: "as estimated" };
  return documents < entry.actual.documents
    ? { mark: "▲", words: "more than estimated" }
    : { mark: "▼", words: "fewer than estimated" };
}

/** What came of an entry or would have: ways that decisions did not take, and rules that were not applied. */
function notTaken(entry) {
  const ways = [];
  for (const decision of entry.decisions) {
    const taken = decision.measured_ns ?? decision.estimated_cost_ns ?? null;
    for (const way of [decision.alternative, ...(decision.others ?? [])]) {
      if (way)
        ways.push({
          name: way.name,
          cost: way.measured_ns ?? way.estimated_cost_ns ?? null,
          measured: way.measured_ns !== undefined,
          taken,
          rule: decision.rule,
        });
    }
    if (!decision.accepted)
      ways.push({ name: decision.rule, cost: null, measured: false, taken: null, rule: decision.reason });
  }
  return ways;
}
