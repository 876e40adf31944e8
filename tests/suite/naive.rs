//! The oracle: an index that looks at every document for every query.

use std::collections::BTreeMap;
use std::ops::{Bound, RangeBounds};
use treepie::query::{PhrasePart, Proximity, Query};
use treepie::schema::Detail;
use treepie::{Document, FieldKind, Schema};

pub(crate) struct NaiveIndex {
    schema: Schema,
    n_docs: usize,
    /// Whether each document has a term, by field and term.
    terms: BTreeMap<(String, String), Vec<bool>>,
    /// The words of each document in order, by field.
    texts: BTreeMap<String, Vec<Vec<String>>>,
    /// Whether each document has a value, by field.
    present: BTreeMap<String, Vec<bool>>,
}

impl NaiveIndex {
    pub(crate) fn new(schema: &Schema, docs: &[Document]) -> Self {
        let (mut terms, mut present) = (BTreeMap::new(), BTreeMap::new());
        let mut texts: BTreeMap<String, Vec<Vec<String>>> = BTreeMap::new();
        let nobody = || vec![false; docs.len()];
        for (doc, document) in docs.iter().enumerate() {
            for (field, value) in document.iter() {
                present.entry(field.into()).or_insert_with(nobody)[doc] = true;
                let words = words_of(schema, field, &value.to_text());
                let of_field =
                    texts.entry(field.into()).or_insert_with(|| vec![vec![]; docs.len()]);
                if !of_field[doc].is_empty() && !words.is_empty() {
                    // Places between two values, where no word is.
                    let gap = schema.field(field).map_or(0, |field| field.position_gap);
                    of_field[doc].extend((0..gap).map(|_| String::new()));
                }
                of_field[doc].extend(words.iter().cloned());
                for term in words {
                    terms.entry((field.into(), term)).or_insert_with(nobody)[doc] = true;
                }
            }
        }
        NaiveIndex { schema: schema.clone(), n_docs: docs.len(), terms, texts, present }
    }

    /// For every document whether it matches.
    pub(crate) fn matches(&self, query: &Query) -> Vec<bool> {
        match self.asked(query) {
            Some(query) => self.matched(&query),
            None => vec![false; self.n_docs],
        }
    }

    /// The query without the clauses that have no terms; none where nothing else is left.
    fn asked(&self, query: &Query) -> Option<Query> {
        let each =
            |all: &[Query]| all.iter().filter_map(|it| self.asked(it)).collect::<Vec<Query>>();
        let left = |all: &[Query]| {
            let left = each(all);
            (!left.is_empty() || all.is_empty()).then_some(left)
        };
        Some(match query {
            Query::And(all) => Query::And(left(all)?),
            Query::Or(any) => Query::Or(left(any)?),
            Query::DisMax { any, .. } => Query::Or(left(any)?),
            Query::Not(query) => Query::Not(Box::new(self.asked(query)?)),
            Query::Boost { query, .. } | Query::ConstantScore { query, .. } => self.asked(query)?,
            Query::Group { must, should, must_not, minimum } => {
                let n_asked = should.len() as u32;
                let parts = [must, should, must_not].map(|part| each(part));
                if parts.iter().all(Vec::is_empty) && must.len() + should.len() + must_not.len() > 0
                {
                    return None;
                }
                let [must, should, must_not] = parts;
                let clamped = |most: u32| match most > n_asked {
                    true => most,
                    false => most.min(should.len() as u32),
                };
                let minimum = minimum.map(clamped);
                Query::Group { must, should, must_not, minimum }
            }
            Query::PhraseOf { parts, .. } if parts.iter().all(|it| *it.query() == Query::All) => {
                return None;
            }
            Query::Word { text, .. } | Query::Phrase { text, .. }
                if self.has_no_words(query, text) =>
            {
                return None;
            }
            other => other.clone(),
        })
    }

    /// Whether a text has no words in any of the fields where it is looked for.
    fn has_no_words(&self, leaf: &Query, text: &str) -> bool {
        let (Query::Word { field, .. } | Query::Phrase { field, .. }) = leaf else { return false };
        let fields: Vec<&str> = match field {
            Some(field) => vec![field],
            None => self.schema.default_fields().map(|field| &*field.name).collect(),
        };
        fields.iter().all(|field| words_of(&self.schema, field, text).is_empty())
    }

    fn matched(&self, query: &Query) -> Vec<bool> {
        let all = |queries: &[Query]| {
            queries.iter().fold(vec![true; self.n_docs], |so_far, query| {
                so_far.into_iter().zip(self.matched(query)).map(|(a, b)| a && b).collect()
            })
        };
        let any = |queries: &[Query]| {
            queries.iter().fold(vec![false; self.n_docs], |so_far, query| {
                so_far.into_iter().zip(self.matched(query)).map(|(a, b)| a || b).collect()
            })
        };
        match query {
            Query::All => vec![true; self.n_docs],
            Query::Nothing => vec![false; self.n_docs],
            Query::Word { field, text, .. } => {
                self.phrase(field.as_deref(), text, false, Proximity::Exact)
            }
            Query::Phrase { field, text, prefix, proximity, .. } => {
                self.phrase(field.as_deref(), text, *prefix, *proximity)
            }
            Query::Prefix { field, text, .. } => {
                self.phrase(field.as_deref(), text, true, Proximity::Exact)
            }
            Query::PhraseOf { field, parts, proximity, .. } => {
                let fields: Vec<&str> = match field {
                    Some(field) => vec![field],
                    None => self.schema.default_fields().map(|field| &*field.name).collect(),
                };
                fields.iter().fold(vec![false; self.n_docs], |so_far, field| {
                    let own = self.phrase_of(field, parts, *proximity);
                    so_far.into_iter().zip(own).map(|(a, b)| a || b).collect()
                })
            }
            Query::Wildcard { field, .. }
            | Query::Fuzzy { field, .. }
            | Query::Range { field, .. }
            | Query::InSet { field, .. } => {
                self.any_term(field, |term, kind| is_meant(query, term, kind))
            }
            Query::Exists { field, .. } => {
                self.present.get(field).cloned().unwrap_or_else(|| vec![false; self.n_docs])
            }
            Query::And(queries) => all(queries),
            Query::Or(queries) => any(queries),
            Query::Not(query) => self.matched(query).into_iter().map(|hit| !hit).collect(),
            Query::DisMax { any: queries, .. } => any(queries),
            Query::Boost { query, .. } | Query::ConstantScore { query, .. } => self.matched(query),
            Query::Group { must, should, must_not, minimum: Some(minimum) } => {
                let mut counts = vec![0; self.n_docs];
                for query in should {
                    counts
                        .iter_mut()
                        .zip(self.matched(query))
                        .for_each(|(n, hit)| *n += u32::from(hit));
                }
                let enough = counts.into_iter().map(|n| n >= *minimum);
                let wanted = enough.zip(all(must)).map(|(a, b)| a && b);
                wanted.zip(any(must_not)).map(|(a, b)| a && !b).collect()
            }
            Query::Group { must, should, must_not, .. } => {
                let wanted = match must.is_empty() && !should.is_empty() {
                    true => any(should),
                    false => all(must),
                };
                wanted.into_iter().zip(any(must_not)).map(|(a, b)| a && !b).collect()
            }
            other => panic!("the oracle does not know {other:?}"),
        }
    }

    /// Documents with a term of one of the fields that `is_meant`.
    pub(crate) fn any_term(
        &self,
        field: &Option<String>,
        is_meant: impl Fn(&str, FieldKind) -> bool,
    ) -> Vec<bool> {
        let fields: Vec<_> = match field {
            Some(field) => vec![self.schema.field(field).unwrap()],
            None => self.schema.default_fields().collect(),
        };
        let mut found = vec![false; self.n_docs];
        for ((name, term), docs) in &self.terms {
            let field = fields.iter().find(|field| field.name == *name);
            if field.is_some_and(|field| is_meant(term, field.kind)) {
                found.iter_mut().zip(docs).for_each(|(found, has)| *found |= has);
            }
        }
        found
    }

    /// Documents where the words of a text stand as a phrase wants them.
    fn phrase(
        &self,
        field: Option<&str>,
        text: &str,
        prefix: bool,
        proximity: Proximity,
    ) -> Vec<bool> {
        let fields: Vec<&str> = match field {
            Some(field) => vec![field],
            None => self.schema.default_fields().map(|field| &*field.name).collect(),
        };
        let mut found = vec![false; self.n_docs];
        for field in fields {
            let words = words_of(&self.schema, field, text);
            if words.is_empty() && prefix && text.is_empty() {
                let all = self.any_term(&Some(field.into()), |_, _| true);
                found.iter_mut().zip(all).for_each(|(found, has)| *found |= has);
            }
            let n = words.len();
            let wanted = words.into_iter().enumerate().map(|(offset, word)| {
                let is_open = prefix && offset + 1 == n;
                let name = format!("{word}{}", if is_open { "*" } else { "" });
                let is_meant: Box<dyn Fn(&str) -> bool> = match is_open {
                    true => Box::new(move |term| term.starts_with(&word)),
                    false => Box::new(move |term| term == word),
                };
                Wanted { offset, name, is_meant }
            });
            let has = self.standing(field, &wanted.collect::<Vec<_>>(), proximity);
            found.iter_mut().zip(has).for_each(|(found, has)| *found |= has);
        }
        found
    }

    /// The same for words and patterns.
    fn phrase_of(&self, field: &str, parts: &[PhrasePart], proximity: Proximity) -> Vec<bool> {
        let kind = self.schema.field(field).unwrap().kind;
        if kind == FieldKind::Keyword {
            return vec![false; self.n_docs];
        }
        let (mut wanted, mut end) = (vec![], 0);
        for part in parts.iter().map(PhrasePart::query) {
            let mut push = |offset, name: String, is_meant| {
                wanted.push(Wanted { offset, name, is_meant });
            };
            match part {
                Query::All => end += 1,
                Query::Word { text, .. } | Query::Phrase { text, .. } => {
                    for word in words_of(&self.schema, field, text) {
                        push(end, word.clone(), Box::new(move |term: &str| term == word));
                        end += 1;
                    }
                }
                pattern => {
                    let is_meant = Box::new(|term: &str| is_meant(pattern, term, kind));
                    push(end, pattern.to_string(), is_meant);
                    end += 1;
                }
            }
        }
        self.standing(field, &wanted, proximity)
    }

    /// Documents where words stand as they should, or, without positions, all are.
    fn standing(&self, field: &str, words: &[Wanted<'_>], proximity: Proximity) -> Vec<bool> {
        if words.is_empty() {
            return vec![false; self.n_docs];
        }
        let sets: Vec<_> = words
            .iter()
            .map(|word| self.any_term(&Some(field.into()), |term, _| (word.is_meant)(term)))
            .collect();
        let has_positions = self.schema.field(field).unwrap().detail == Detail::Positions;
        let has = |doc: usize| {
            sets.iter().all(|set| set[doc])
                && (words.len() == 1
                    || !has_positions
                    || stand(words, &self.texts[field][doc], proximity))
        };
        (0..self.n_docs).map(has).collect()
    }

    /// The most frequent terms of a field among `matches`, and how many matches have no value.
    pub(crate) fn facet(
        &self,
        field: &str,
        limit: usize,
        matches: &[bool],
    ) -> (Vec<(String, u64)>, u64) {
        let both =
            |set: &[bool]| set.iter().zip(matches).filter(|(a, b)| **a && **b).count() as u64;
        let mut counts: Vec<(String, u64)> = self
            .terms
            .iter()
            .filter(|((of, _), _)| of == field)
            .map(|((_, term), set)| (term.clone(), both(set)))
            .filter(|(_, count)| *count > 0)
            .collect();
        counts.sort_by(|(a, n), (b, m)| m.cmp(n).then_with(|| a.as_bytes().cmp(b.as_bytes())));
        counts.truncate(limit);
        let total = matches.iter().filter(|hit| **hit).count() as u64;
        (counts, total - self.present.get(field).map_or(0, |set| both(set)))
    }
}

/// Whether a pattern stands for a term of a field of this kind.
fn is_meant(pattern: &Query, term: &str, kind: FieldKind) -> bool {
    match pattern {
        Query::Prefix { text, .. } => term.starts_with(&in_case(text, kind)),
        Query::Wildcard { pattern, .. } => {
            let pattern: Vec<char> = in_case(pattern, kind).chars().collect();
            fits(&pattern, &term.chars().collect::<Vec<_>>())
        }
        Query::Fuzzy { text, fuzziness, .. } => {
            let text: Vec<char> = in_case(text, kind).chars().collect();
            let term: Vec<char> = term.chars().collect();
            let fixed = text.len().min(fuzziness.prefix_len as usize);
            term.len() >= fixed
                && term[..fixed] == text[..fixed]
                && distance(&text[fixed..], &term[fixed..], fuzziness.transpositions)
                    <= usize::from(fuzziness.distance)
        }
        Query::Range { lower, upper, .. } => {
            let bound = |bound: &Bound<String>| match bound {
                Bound::Included(text) => Bound::Included(in_case(text, kind)),
                Bound::Excluded(text) => Bound::Excluded(in_case(text, kind)),
                Bound::Unbounded => Bound::Unbounded,
            };
            (bound(lower), bound(upper)).contains(&term.to_string())
        }
        Query::InSet { values, .. } => values.iter().any(|value| in_case(value, kind) == term),
        // Of expressions the few that the tests use: letters, one in brackets, ".*" and "+".
        Query::Regex { pattern, .. } => match &**pattern {
            "b.*" => term.starts_with('b'),
            "[nt]o+t?" => matches!(term, "to" | "not"),
            other => panic!("the oracle does not know /{other}/"),
        },
        other => panic!("the oracle does not know {other:?}"),
    }
}

/// Terms of text fields are in lower case.
fn in_case(text: &str, kind: FieldKind) -> String {
    match kind {
        FieldKind::Keyword => text.to_string(),
        _ => text.to_lowercase(),
    }
}

pub(crate) fn fits(pattern: &[char], text: &[char]) -> bool {
    match pattern.split_first() {
        None => text.is_empty(),
        Some(('*', rest)) => (0..=text.len()).any(|at| fits(rest, &text[at..])),
        Some(('?', rest)) => !text.is_empty() && fits(rest, &text[1..]),
        Some((c, rest)) => text.first() == Some(c) && fits(rest, &text[1..]),
    }
}

/// Characters to insert, delete, replace or, if asked, swap.
pub(crate) fn distance(a: &[char], b: &[char], transpositions: bool) -> usize {
    let mut table = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            if i == 0 || j == 0 {
                table[i][j] = i + j;
                continue;
            }
            let replaced = table[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            table[i][j] = replaced.min(table[i - 1][j] + 1).min(table[i][j - 1] + 1);
            let is_swap = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if transpositions && is_swap {
                table[i][j] = table[i][j].min(table[i - 2][j - 2] + 1);
            }
        }
    }
    table[a.len()][b.len()]
}

/// A word of a phrase: where it stands, what it is, and which words may be there.
pub(crate) struct Wanted<'w> {
    offset: usize,
    name: String,
    is_meant: Box<dyn Fn(&str) -> bool + 'w>,
}

/// Whether words stand in a text as a phrase wants them: tries every way to place them.
fn stand(words: &[Wanted<'_>], text: &[String], proximity: Proximity) -> bool {
    fn try_all(
        words: &[Wanted<'_>],
        text: &[String],
        proximity: Proximity,
        places: &mut Vec<usize>,
    ) -> bool {
        let n = words.len();
        let first = words[0].offset;
        // What is too wide with some of the words is with all of them.
        let spread = |values: &mut dyn Iterator<Item = i64>| {
            let values: Vec<i64> = values.collect();
            values.iter().max().unwrap_or(&0) - values.iter().min().unwrap_or(&0)
        };
        let moves = spread(
            &mut places.iter().zip(words).map(|(place, word)| *place as i64 - word.offset as i64),
        );
        let width = spread(&mut places.iter().map(|place| *place as i64));
        let others = width - (words[n - 1].offset - first) as i64;
        let is_near = match proximity {
            Proximity::Exact => moves == 0,
            Proximity::Slop(slop) => moves <= i64::from(slop),
            Proximity::Ordered(slop) => {
                places.is_sorted_by(|a, b| a < b) && others <= i64::from(slop)
            }
            Proximity::Near(slop) => others <= i64::from(slop),
            other => panic!("the oracle does not know {other:?}"),
        };
        if !is_near || places.len() == n {
            return is_near;
        }
        let at = places.len();
        let wanted = &words[at];
        (0..text.len()).any(|place| {
            let fits = !text[place].is_empty() && (wanted.is_meant)(&text[place]);
            // The same word of the query does not stand twice in one place; one that is open is
            // another word.
            let taken = (0..at).any(|i| places[i] == place && words[i].name == wanted.name);
            fits && !taken && {
                places.push(place);
                let found = try_all(words, text, proximity, places);
                places.pop();
                found
            }
        })
    }
    try_all(words, text, proximity, &mut vec![])
}

fn words_of(schema: &Schema, field: &str, text: &str) -> Vec<String> {
    match schema.field(field).map(|field| field.kind) {
        Some(FieldKind::Keyword) => vec![text.to_string()],
        _ => text
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| !word.is_empty())
            .map(str::to_lowercase)
            .collect(),
    }
}
