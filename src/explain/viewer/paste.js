// The page without a plan: one is pasted or dropped, and nothing leaves the browser.

/** Objects in a text: JSON as a whole, or one object a line, or what psql draws around JSON. */
function valuesIn(text) {
  try {
    return [JSON.parse(text)];
  } catch (error) {
    const lines = text.split("\n").filter((line) => line.trim() !== "");
    const read = (line) => {
      try {
        return JSON.parse(line);
      } catch {
        return undefined;
      }
    };
    const values = lines.map(read).filter((value) => typeof value === "object" && value !== null);
    if (values.length > 0 && values.length === lines.length) return values;
    const inside = psqlTable(text);
    if (inside !== null) return [inside];
    throw new Problem(`this is not JSON: ${visible(shortened(error.message, 200))}`);
  }
}

/** JSON in a table of psql, whose lines end in a plus. */
function psqlTable(text) {
  const plain = text.replace(/\s*\+\s*$/gm, "");
  const from = plain.search(/[[{]/);
  const to = Math.max(plain.lastIndexOf("]"), plain.lastIndexOf("}"));
  try {
    return from < 0 ? null : JSON.parse(plain.slice(from, to + 1));
  } catch {
    return null;
  }
}

/** Pages of a text that was pasted: plans of treepie, lines of its log of slow searches, plans of Postgres. */
function pagesOf(text) {
  if (text.trim() === "") throw new Problem("there is nothing yet: paste a plan, or drop a file");
  const pages = valuesIn(text).map((value) => {
    const postgres = fromPostgres(value);
    if (postgres) return { title: postgres.query, plan: postgres };
    const [plan, took] = [value?.explain ?? (value?.schema_version && value.took_ns ? value.plan : value), value?.took_ns];
    return plan?.plan && typeof plan.plan === "object" ? { title: plan.query, plan, took_ns: took } : null;
  });
  const found = pages.filter((page) => page);
  if (found.length === 0)
    throw new Problem(
      "this is no plan: expected what `treepie explain … --format json` prints, a log of slow searches, or what EXPLAIN (FORMAT JSON) of Postgres prints",
    );
  // What is wrong with a plan is said here, where another can be pasted.
  for (const [at, page] of found.entries()) readPlan(page.plan, `plan ${at + 1}`);
  return found;
}

/** Asks for plans, and calls `open` with their pages. */
function askForPlans(open) {
  const area = el("textarea", { id: "plans", rows: 14, spellcheck: "false", autocomplete: "off" });
  const wrong = el("p", { class: "problem", role: "alert", hidden: true });
  const file = el("input", { id: "plan-file", type: "file", accept: ".json,.jsonl,.txt,.log,application/json" });
  const take = (text) => {
    try {
      const pages = pagesOf(text);
      section_.remove();
      open(pages);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      wrong.textContent = error.message;
      wrong.hidden = false;
    }
  };
  const takeFile = async (chosen) => {
    if (!chosen) return;
    const text = await chosen.text();
    area.value = cut(text, 100_000)[0];
    take(text);
  };
  const submit = (event) => {
    event.preventDefault();
    take(area.value);
  };
  file.addEventListener("change", () => takeFile(file.files[0]));
  const section_ = el(
    "section",
    { class: "paste", "aria-labelledby": "paste-title" },
    el("h2", { id: "paste-title" }, "Paste a plan, or drop a file"),
    el(
      "p",
      {},
      "From treepie: ",
      el("code", {}, "treepie explain INDEX QUERY --analyze --format json"),
      ", or a log of slow searches. From Postgres: ",
      el("code", {}, "EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) SELECT …"),
      ". Nothing leaves this page; it works without a network.",
    ),
    el(
      "form",
      { onsubmit: submit },
      el("label", { class: "away", for: "plans" }, "Plan as JSON"),
      area,
      el(
        "p",
        { class: "lens-form" },
        el("button", { type: "submit" }, "Show the plan"),
        el("label", { class: "labelled" }, "or a file ", file),
      ),
    ),
    wrong,
  );
  // Anywhere on the page: a file that is dropped beside its place would be opened instead of it.
  const whileAsked = (then) => (event) => {
    if (!section_.isConnected) return;
    event.preventDefault();
    then(event.dataTransfer);
  };
  document.addEventListener(
    "dragover",
    whileAsked(() => {}),
  );
  document.addEventListener(
    "drop",
    whileAsked((dropped) => {
      if (dropped.files.length > 0) takeFile(dropped.files[0]);
      else take(dropped.getData("text"));
    }),
  );
  area.addEventListener("paste", () => setTimeout(() => area.value.trim() !== "" && take(area.value)));
  byId("main").replaceChildren(section_, ...byId("main").children);
  area.focus();
}
