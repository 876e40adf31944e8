// Plans of Postgres, `EXPLAIN (FORMAT JSON)`, as plans that this page draws. Rows are its documents; self times are made
// of total times, of which Postgres tells the mean of all loops.

/** Bytes of a block, as Postgres is built everywhere. */
const BLOCK = 8192;

/** The plan that a value holds, or nothing where it is none of Postgres. */
function fromPostgres(value) {
  const top = Array.isArray(value) && value.length === 1 ? value[0] : value;
  if (typeof top?.Plan !== "object" || top.Plan === null || typeof top.Plan["Node Type"] !== "string") return null;
  const plan = postgresNode(top.Plan, "0", 1);
  const planning = milliseconds(top["Planning Time"]);
  const execution = milliseconds(top["Execution Time"]) ?? plan.total ?? undefined;
  const query = typeof top["Query Text"] === "string" ? top["Query Text"] : "a plan of Postgres";
  const tree = {
    schema_version: SCHEMA_VERSION,
    query,
    parsed: query,
    rewritten: query,
    notes: ["a plan of Postgres: rows are shown as documents, costs are not shown"],
    findings: [],
    plan: plan.node,
    segments: [],
    facets: [],
  };
  if (execution !== undefined) {
    tree.planning_ns = planning ?? 0;
    tree.rest_ns = Math.max(0, execution - (plan.total ?? 0));
    tree.total_ns = execution + tree.planning_ns;
  }
  return tree;
}

function milliseconds(value) {
  return typeof value === "number" && value >= 0 ? Math.round(value * 1e6) : undefined;
}

/** A node with its time and blocks, those below it included. `workers` are processes that share what it does. */
function postgresNode(of, id, workers) {
  const loops = number(of["Actual Loops"]) ?? 1;
  const share = Math.max(1, Math.min(workers, loops));
  const below = workers * (1 + (number(of["Workers Launched"]) ?? 0));
  const inputs = Array.isArray(of.Plans) ? of.Plans : [];
  const children = inputs.map((input, at) => postgresNode(expectObject(input, `node ${id}`), `${id}.${at}`, below));
  const mean = milliseconds(of["Actual Total Time"]);
  const total = mean === undefined ? null : Math.round((mean * loops) / share);
  const blocks = number(of["Shared Read Blocks"]);
  const own = (all, name) => Math.max(0, all - children.reduce((sum, child) => sum + (child[name] ?? 0), 0));
  const node = {
    id,
    operator: String(of["Node Type"] ?? "Node"),
    label: labelOf(of),
    field: null,
    predicate: conditionOf(of) ?? null,
    algorithm: algorithmOf(of),
    estimate: { documents: Math.round((number(of["Plan Rows"]) ?? 0) * loops), source: "the planner of Postgres" },
    segments: [],
    decisions: [],
    children: children.map((child) => child.node),
  };
  const rows = number(of["Actual Rows"]);
  if (rows !== null) {
    const documents = Math.round(rows * loops);
    node.actual = {
      documents,
      time_ns: total === null ? 0 : own(total, "total"),
      bytes_read: blocks === null ? 0 : own(blocks, "blocks") * BLOCK,
      complete: true,
      ...countersOf(of),
    };
    const [expected, came] = [Math.max(1, node.estimate.documents), Math.max(1, documents)];
    node.q_error = Math.max(expected / came, came / expected);
  }
  return { node, total, blocks };
}

function number(value) {
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}

/** What a node reads or joins by. */
function labelOf(of) {
  const relation = of["Relation Name"] ?? of["CTE Name"] ?? of["Function Name"];
  const alias = of.Alias && of.Alias !== relation ? ` ${of.Alias}` : "";
  const index = of["Index Name"] ? ` using ${of["Index Name"]}` : "";
  const read = `${relation ?? ""}${alias}${index}`.trim();
  return [of["Subplan Name"], read, conditionOf(of)].filter((part) => part).join(": ");
}

function conditionOf(of) {
  const names = ["Index Cond", "Hash Cond", "Merge Cond", "Join Filter", "Recheck Cond", "Filter", "TID Cond"];
  const keys = of["Sort Key"] ?? of["Group Key"];
  const conditions = names.map((name) => of[name]).filter((text) => typeof text === "string");
  return conditions.length > 0 ? conditions.join(" and ") : Array.isArray(keys) ? keys.join(", ") : undefined;
}

function algorithmOf(of) {
  const words = [of["Join Type"], of["Partial Mode"], of.Strategy, of["Sort Method"], of["Scan Direction"]];
  const shown = words.filter((word) => typeof word === "string" && word !== "Simple" && word !== "Forward");
  return shown.length > 0 ? shown.join(", ") : null;
}

/** All else that Postgres has counted: numbers that are no cost, no time and no estimate. */
function countersOf(of) {
  const told = /^(Plan |Actual |Startup |Total )|Cost$/;
  const counters = Object.entries(of).filter(([name, value]) => typeof value === "number" && !told.test(name));
  return Object.fromEntries(counters.map(([name, value]) => [name.toLowerCase(), value]));
}
