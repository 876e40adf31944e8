//! Why a search finds nothing: the fewest of its conditions that no document meets together.

use super::units::{self, joined};
use crate::json::{Json, put_all};
use crate::named::named;
use crate::plural::{grouped, number_of};
use std::fmt;

/// Why a search finds nothing, from [`Explainer::why_empty`](crate::search::Explainer::why_empty); or that it finds something.
///
/// `Display` prints it for people, [`to_json`](Self::to_json) for programs. Both have texts of the query and terms of
/// the index in them, as they are: a terminal is not protected from these.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WhyEmpty {
    /// The query, with its selections.
    pub query: String,
    /// Documents there are, without deleted ones.
    pub documents: u64,
    /// Number of documents that match.
    pub matches: u64,
    /// The conditions that must hold together, in the order of the query.
    pub clauses: Vec<EmptyClause>,
    /// Conditions that no document meets together. They are ascending places in [`clauses`](Self::clauses); without any
    /// one of them there is a document that meets the others. Empty if something matches, or without documents.
    pub conflict: Vec<usize>,
    /// Whether this is a conflict of the fewest conditions.
    pub size: ConflictSize,
}

/// Minimality of [`WhyEmpty::conflict`]: whether there may be a conflict of fewer conditions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConflictSize {
    /// No fewer conditions of the query are met by no document.
    #[default]
    Smallest,
    /// None of them can be left out. Others may be fewer: looking at all took too long.
    Irreducible,
}

/// One condition of a query, and what it does to the others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct EmptyClause {
    /// Condition in query syntax; `NOT …` if it excludes.
    pub clause: String,
    /// Whether it excludes.
    pub excludes: bool,
    /// Documents that meet it alone.
    pub matches: u64,
    /// Documents that would match the query without it.
    pub matches_without: u64,
    /// Reason why no document can ever meet it: nothing in it is a term, say.
    pub reason: Option<String>,
    /// Terms of the condition that no document has, if no document meets it alone.
    pub unknown: Vec<UnknownTerm>,
    /// Areas of the condition, if no document meets it alone. Only circles and rings have a nearest point.
    pub areas: Vec<EmptyArea>,
    /// Phrases of the condition, if no document meets it alone. All of their words exist.
    pub phrases: Vec<EmptyPhrase>,
}

/// Term that no document has in a field, or a pattern without a term.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnknownTerm {
    /// The field.
    pub field: String,
    /// The term as it would be in the dictionary, or the pattern in query syntax.
    pub term: String,
    /// Nearest terms of the field, the nearest and then the most frequent first. Each has the number of its documents,
    /// deleted ones included. At most three.
    pub similar: Vec<(String, u64)>,
}

/// An area in which no document has a point.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct EmptyArea {
    /// The area in query syntax.
    pub area: String,
    /// Sentence on the nearest point: `nothing within 5 km; the nearest is 41.2 km away`.
    pub nearest: String,
}

/// A phrase that no document has, though there are all of its words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct EmptyPhrase {
    /// The phrase in query syntax.
    pub phrase: String,
    /// Documents that have all of the words. If there are any, the words are never next to each other so; if there are
    /// none, no document has all of them.
    pub with_all_words: u64,
}

named! {
    /// The name in JSON: `smallest` or `irreducible`.
    pub ConflictSize { Smallest: "smallest", Irreducible: "irreducible" }
}

impl WhyEmpty {
    /// Whether nothing matches.
    pub fn is_empty(&self) -> bool {
        self.matches == 0
    }

    /// Says in one line what would help; `None` if something matches. It is another word, or a condition to leave out.
    ///
    /// ```
    /// # use treepie::{Document, Index, Schema};
    /// # let index = Index::in_memory(Schema::builder().text("title").keyword("kind").build()?);
    /// # let mut writer = index.writer()?;
    /// # writer.add(Document::new().with("title", "Paris").with("kind", "City"))?;
    /// # writer.commit()?;
    /// let searcher = index.searcher()?;
    /// let advice = |text: &str| searcher.search(&searcher.parse(text)?).explainer().why_empty().map(|why| why.advice());
    /// let line = advice("+paris +kind:city")?.unwrap();
    /// assert_eq!(line, "nothing matches: no document has 'city' in kind; did you mean 'City' (1 document)?");
    /// # Ok::<(), treepie::Error>(())
    /// ```
    pub fn advice(&self) -> Option<String> {
        if self.matches > 0 {
            return None;
        }
        if self.documents == 0 {
            return Some("nothing matches: there are no documents".to_owned());
        }
        let in_conflict: Vec<_> = self.in_conflict().collect();
        let reason = match &in_conflict[..] {
            [] => "no document meets the query".to_owned(),
            [alone] if self.conflict.len() == 1 => alone.advice(),
            clauses => {
                let more = self.conflict.len().saturating_sub(CLAUSES_SHOWN);
                let more = (more > 0).then(|| format!("{more} more"));
                let shown = clauses.iter().take(CLAUSES_SHOWN).map(|it| shortened(&it.clause));
                format!("no document meets {} together", joined(shown.chain(more), " and "))
            }
        };
        let mut line = format!("nothing matches: {reason}");
        // Without which of these most would match.
        let least_fitting = in_conflict.into_iter().max_by_key(|clause| clause.matches_without);
        let has_proposal = line.ends_with('?') || self.clauses.len() < 2;
        if let Some(clause) = least_fitting.filter(|it| it.matches_without > 0 && !has_proposal) {
            let (without, name) = (found(clause.matches_without), shortened(&clause.clause));
            line += &format!("; without {name} {without}");
        }
        Some(line)
    }

    /// Clauses that no document meets together.
    fn in_conflict(&self) -> impl Iterator<Item = &EmptyClause> {
        self.conflict.iter().filter_map(|place| self.clauses.get(*place))
    }

    /// One object on one line:
    ///
    /// ```json
    /// {"query": "…", "documents": 144000, "matches": 0, "conflict": [0, 2], "size": "smallest",
    ///  "clauses": [{"clause": "title:…", "excludes": false, "matches": 0, "matches_without": 12, "reason": null,
    ///               "unknown": [{"field": "title", "term": "…", "similar": [{"term": "…", "documents": 7}]}],
    ///               "areas": [{"area": "…", "nearest": "…"}], "phrases": [{"phrase": "…", "with_all_words": 3}]}]}
    /// ```
    ///
    /// `conflict` has places in `clauses`, from 0; `size` is `smallest` or `irreducible`, and null where `conflict` is
    /// empty.
    pub fn to_json(&self) -> String {
        Json::of_object(|json| {
            put_all!(json, self; query, documents, matches);
            json.field("conflict").array(&self.conflict, |json, place| json.number(place));
            let size = (!self.conflict.is_empty()).then(|| self.size.name());
            json.field("size").string_or_null(size);
            json.field("clauses").objects(&self.clauses, |json, clause| {
                put_all!(json, clause; clause, excludes, matches, matches_without, reason);
                json.field("unknown").objects(&clause.unknown, |json, unknown| {
                    put_all!(json, unknown; field, term);
                    json.field("similar").objects(&unknown.similar, |json, (term, documents)| {
                        json.field("term").string(term);
                        json.field("documents").number(documents);
                    });
                });
                json.field("areas").objects(&clause.areas, |json, area| {
                    put_all!(json, area; area, nearest);
                });
                json.field("phrases").objects(&clause.phrases, |json, phrase| {
                    put_all!(json, phrase; phrase, with_all_words);
                });
            });
        })
    }
}

/// Conditions, and terms of one, that one line names at the most.
const CLAUSES_SHOWN: usize = 3;
/// Fields that one line names at the most.
const FIELDS_SHOWN: usize = 6;
/// Characters of a condition in one line.
const CHARS_SHOWN: usize = 60;

/// `1 document matches` or `2 documents match`.
fn found(matches: u64) -> String {
    let verb = if matches == 1 { "matches" } else { "match" };
    format!("{} {verb}", number_of(matches, "document"))
}

fn shortened(text: &str) -> String {
    units::shortened(&text.replace(['\n', '\r'], " "), CHARS_SHOWN).into_owned()
}

/// A term with the documents that have it.
pub(super) fn of_term(term: &str, documents: u64) -> String {
    format!("'{term}' ({})", number_of(documents, "document"))
}

/// Why no document has a phrase.
fn apart(phrase: &str, with_all_words: u64) -> String {
    match with_all_words {
        0 => format!("no document has all words of {phrase}"),
        1 => format!("1 document has all words of {phrase}, but they do not stand so"),
        n => {
            format!("{} documents have all words of {phrase}, but they never stand so", grouped(n))
        }
    }
}

impl EmptyClause {
    /// Why no document meets it, and what is like it, in one line.
    fn advice(&self) -> String {
        if let Some(reason) = &self.reason {
            return shortened(reason);
        }
        if self.excludes {
            return format!("every document has what {} excludes", shortened(&self.clause));
        }
        if let Some(first) = self.unknown.first() {
            let terms: Vec<_> = self.terms_unknown_in(&first.field).collect();
            let fields = any_of(&self.fields_without(&terms));
            let shown = terms.iter().take(CLAUSES_SHOWN).map(|it| format!("'{}'", shortened(it)));
            let line = format!("no document has {} in {fields}", joined(shown, " or "));
            let similar = self.most_similar().into_iter().take(CLAUSES_SHOWN);
            let similar = similar.map(|(term, n)| of_term(&shortened(term), n));
            return match &*joined(similar, " or ") {
                "" => line,
                similar => format!("{line}; did you mean {similar}?"),
            };
        }
        if let Some(EmptyArea { nearest, .. }) = self.areas.first() {
            return nearest.clone();
        }
        if let Some(EmptyPhrase { phrase, with_all_words }) = self.phrases.first() {
            return apart(&shortened(phrase), *with_all_words);
        }
        format!("no document meets {}", shortened(&self.clause))
    }

    fn terms_unknown_in<'c>(&'c self, field: &'c str) -> impl Iterator<Item = &'c str> {
        self.unknown.iter().filter(move |it| it.field == field).map(|it| &*it.term)
    }

    /// Fields in which none of these terms is known.
    fn fields_without(&self, terms: &[&str]) -> Vec<&str> {
        let mut fields: Vec<&str> = vec![];
        for UnknownTerm { field, .. } in &self.unknown {
            let is_unknown = |term: &&str| self.terms_unknown_in(field).any(|it| it == *term);
            if !fields.contains(&&**field) && terms.iter().all(is_unknown) {
                fields.push(field);
            }
        }
        fields
    }

    /// The likest term of each that is unknown. One that several fields have comes once, with the documents of the
    /// field in which most have it.
    fn most_similar(&self) -> Vec<(&str, u64)> {
        let mut found: Vec<(&str, u64)> = vec![];
        for (term, documents) in self.unknown.iter().filter_map(|it| it.similar.first()) {
            match found.iter_mut().find(|(known, _)| known == term) {
                Some((_, most)) => *most = (*most).max(*documents),
                None => found.push((term, *documents)),
            }
        }
        found
    }
}

/// `name, brand or 3 more`.
fn any_of(fields: &[&str]) -> String {
    let more = fields.len().saturating_sub(FIELDS_SHOWN);
    let more = (more > 0).then(|| format!("{more} more"));
    let shown = fields.iter().copied().take(FIELDS_SHOWN).chain(more.as_deref());
    match &shown.collect::<Vec<_>>()[..] {
        [others @ .., last] if !others.is_empty() => format!("{} or {last}", others.join(", ")),
        alone => alone.concat(),
    }
}

/// For people: what is in conflict, then what else there is, each with its numbers.
impl fmt::Display for WhyEmpty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.matches > 0 {
            return f.write_str(&found(self.matches));
        }
        if self.documents == 0 {
            return f.write_str("nothing matches: there are no documents");
        }
        match &self.conflict[..] {
            [] => f.write_str("nothing matches")?,
            [_] => f.write_str("nothing matches: no document meets this condition")?,
            conflict => {
                let n = conflict.len();
                write!(f, "nothing matches: no document meets these {n} conditions together")?;
                match self.size {
                    _ if n == self.clauses.len() => {}
                    ConflictSize::Smallest => f.write_str(", and no fewer are in conflict")?,
                    ConflictSize::Irreducible => {
                        f.write_str("; none of them can be left out, though others may be fewer")?;
                    }
                }
            }
        }
        self.in_conflict().try_for_each(|clause| write!(f, "\n{clause}"))?;
        let is_other = |(place, _): &(usize, &EmptyClause)| !self.conflict.contains(place);
        let mut others = self.clauses.iter().enumerate().filter(is_other).peekable();
        if others.peek().is_some() {
            f.write_str("\nThe others:")?;
        }
        others.try_for_each(|(_, clause)| write!(f, "\n{clause}"))
    }
}

impl fmt::Display for EmptyClause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let EmptyClause { clause, matches, matches_without, .. } = self;
        let (alone, without) = (grouped(*matches), grouped(*matches_without));
        write!(f, "  {clause}: {alone} alone, {without} without it")?;
        if self.excludes && *matches == 0 && self.reason.is_none() {
            f.write_str("\n    every document has what it excludes")?;
        }
        if let Some(reason) = &self.reason {
            write!(f, "\n    {reason}")?;
        }
        for UnknownTerm { field, term, similar } in &self.unknown {
            write!(f, "\n    no document has '{term}' in {field}")?;
            for (at, (term, documents)) in similar.iter().enumerate() {
                let before = if at == 0 { "; like it are" } else { "," };
                write!(f, "{before} {}", of_term(term, *documents))?;
            }
        }
        for EmptyArea { nearest, .. } in &self.areas {
            write!(f, "\n    {nearest}")?;
        }
        for EmptyPhrase { phrase, with_all_words } in &self.phrases {
            write!(f, "\n    {}", apart(phrase, *with_all_words))?;
        }
        Ok(())
    }
}
