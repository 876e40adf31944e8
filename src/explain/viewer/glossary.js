// Meanings of the words that plans use, from the glossary of the guide, which the page's data brings along.

/** Lists of `[word, meaning]` by the kind of the word; filled when the data is read. */
const GLOSSARY = { operator: [], algorithm: [], rule: [], source: [], word: [] };

/** Characters of a word at the least that more may follow behind. */
const PREFIX_LENGTH = 6;

function readGlossary(lists) {
  for (const kind of Object.keys(GLOSSARY)) {
    GLOSSARY[kind] = listAt(lists?.[kind], `this page's data: glossary.${kind}`).map(([word, meaning]) => ({
      word,
      meaning,
      pattern: withoutNumbers(word),
    }));
  }
}

/** Text with a sign for each number, and with the plural behind it, as `glossary.rs` makes it. */
function withoutNumbers(text) {
  return text
    .replace(/(?<![\p{L}\d])\d[\d,]*/gu, "#")
    .replace(/# (term|word|window|move|set) /g, "# $1s ");
}

/** The entry that a part of a plan is called by, or begins with. */
function entryFor(kind, text) {
  const part = withoutNumbers(String(text ?? ""));
  const begins = ({ pattern }) =>
    kind !== "operator" && pattern.length >= PREFIX_LENGTH && part.startsWith(pattern);
  return GLOSSARY[kind].find(({ pattern }) => pattern === part) ?? GLOSSARY[kind].find(begins) ?? null;
}

/** `word: meaning` for a tooltip, or nothing. */
function meaningOf(kind, text) {
  const entry = entryFor(kind, text);
  return entry && `${entry.word}: ${entry.meaning}`;
}

/** Foreign text with its meaning as a tooltip, where the glossary has one. */
function explained(kind, text, n, more) {
  const title = meaningOf(kind, text);
  const shown = foreign(text, n, more);
  return title ? el("span", { class: "word", title }, shown) : shown;
}

/** A name of a counter with the meaning of the last word in it that the glossary has. */
function explainedName(name) {
  const wanted = name.split(/[: ]+/).flatMap((word) => [word, word.replace(/s$/, "")]);
  const entry = GLOSSARY.word.findLast(({ word }) => wanted.includes(word));
  return entry ? el("span", { class: "word", title: `${entry.word}: ${entry.meaning}` }, name) : name;
}

/** Meanings of the words of an entry, for those who cannot point at them. */
function wordsOf(entry) {
  const used = [
    ["operator", entry.operator],
    ["algorithm", entry.algorithm],
    ["source", entry.estimate?.source],
    ...entry.decisions.map((decision) => ["rule", decision.rule]),
  ];
  const found = new Set(used.map(([kind, text]) => entryFor(kind, text)).filter((it) => it));
  if (found.size === 0) return false;
  return el(
    "details",
    { class: "words" },
    el("summary", {}, "Words, in which numbers stand for any"),
    pairs([...found].map(({ word, meaning }) => [word, meaning])),
  );
}
