//! Why a search finds nothing.
//!
//! The query is taken apart into the conditions that must hold together. Sets of these are tried by their size, one
//! condition, two, three, until no document meets one of them all: that is the smallest. Each try is a search that
//! ends at its first document. Of many conditions there are too many sets; then conditions are left out of the whole
//! one after the other for as long as nothing matches, which ends with a set of which none can be left out.

use super::Searcher;
use super::search::Search;
use crate::budget::{self, ns};
use crate::error::Result;
use crate::execution::Matching;
use crate::expansion::TermPattern;
use crate::explain::{ConflictSize, EmptyArea, EmptyClause, EmptyPhrase, UnknownTerm, WhyEmpty};
use crate::geo::{BoundArea, GeoArea};
use crate::ids::FieldId;
use crate::look_ups::LookUps;
use crate::plan::{Goal, PlanOptions, Total};
use crate::query::{self, Boost, Normal, Query};
use std::collections::BTreeSet;

/// Sets of conditions that are tried before it is settled for one that is irreducible; all sets of 12 conditions.
pub(super) const SETS_MAX: usize = 4_096;
/// Unknown terms that are named with one condition.
const UNKNOWN_MAX: usize = 16;

/// A condition that must hold, or what must not.
struct Clause {
    query: Query,
    excludes: bool,
}

impl Clause {
    /// The documents that meet it.
    fn meant(&self) -> Query {
        if self.excludes { Query::not(self.query.clone()) } else { self.query.clone() }
    }
}

impl Search<'_> {
    /// Finds conditions that no document meets together.
    pub(super) fn why_empty(self) -> Result<WhyEmpty> {
        let _scope = self.searcher.enter(&self.budget());
        self.check_selections()?;
        self.why_empty_trying(SETS_MAX)
    }

    /// Explains an empty result, with a bound on the sets that are tried.
    pub(super) fn why_empty_trying(&self, sets_max: usize) -> Result<WhyEmpty> {
        let (searcher, query) = (self.searcher, self.query());
        let matches = searcher.n_matching(&query)?;
        let mut collector = ClauseCollector { searcher, clauses: vec![] };
        collector
            .take_apart(&query, Around { excludes: false, within: &|query| query, fields: None })?;
        let mut clauses = collector.clauses;
        // If nothing is left of the query, each condition may be why.
        let analyzers = &searcher.0.setting.analyzers;
        if query::is_required(&query, false, searcher.schema(), analyzers)? {
            searcher.retain_required(&mut clauses)?;
        }
        let mut why = WhyEmpty {
            query: query.to_string(),
            documents: searcher.n_docs(),
            matches,
            clauses: vec![],
            conflict: vec![],
            size: ConflictSize::Smallest,
        };
        for (at, clause) in clauses.iter().enumerate() {
            why.clauses.push(searcher.explained_clause(&clauses, at, clause)?);
        }
        if matches == 0 && why.documents > 0 {
            (why.conflict, why.size) = searcher.conflict(&clauses, &why.clauses, sets_max)?;
        }
        Ok(why)
    }
}

/// Takes a query apart into conditions that must hold together.
struct ClauseCollector<'s> {
    searcher: &'s Searcher,
    clauses: Vec<Clause>,
}

/// Context of a query: the default fields that it has.
#[derive(Clone, Copy)]
struct Around<'a> {
    excludes: bool,
    /// Puts around a part of the query what stood around the query.
    within: &'a dyn Fn(Query) -> Query,
    fields: Option<&'a [(String, Boost)]>,
}

impl ClauseCollector<'_> {
    fn take_apart(&mut self, query: &Query, around: Around<'_>) -> Result<()> {
        let Around { excludes, within, .. } = around;
        let not = Around { excludes: true, ..around };
        match query {
            Query::Boost { query, .. } | Query::ConstantScore { query, .. } => {
                self.take_apart(query, around)?;
            }
            Query::Fields { fields, combined, query } => {
                let inside = |query: Query| {
                    within(Query::Fields {
                        fields: fields.clone(),
                        combined: *combined,
                        query: Box::new(query),
                    })
                };
                let fields = Some(&fields[..]);
                self.take_apart(query, Around { within: &inside, fields, ..around })?;
            }
            Query::Not(query) => {
                self.take_apart(query, Around { excludes: !excludes, ..around })?;
            }
            Query::And(all) if !excludes => self.all(all, around)?,
            // A document that matches neither does not match either.
            Query::Or(any) | Query::DisMax { any, .. } if excludes || any.len() == 1 => {
                self.all(any, around)?;
            }
            Query::Group { must, should, must_not, minimum } if !excludes => {
                self.side_by_side(must, around)?;
                let is_one_needed = minimum.is_none() && must.is_empty() && !should.is_empty();
                match (&should[..], minimum) {
                    ([only], None) if is_one_needed => self.take_apart(only, around)?,
                    (_, Some(1..)) => self.push(&[], should, *minimum, around),
                    (_, None) if is_one_needed => self.push(&[], should, None, around),
                    _ => {}
                }
                self.all(must_not, not)?;
            }
            other => self.clauses.push(Clause { query: within(other.clone()), excludes }),
        }
        Ok(())
    }

    fn all(&mut self, parts: &[Query], around: Around<'_>) -> Result<()> {
        parts.iter().try_for_each(|part| self.take_apart(part, around))
    }

    /// Clauses that must match; words that are read together are one condition.
    fn side_by_side(&mut self, must: &[Query], around: Around<'_>) -> Result<()> {
        let (schema, analyzers) = (self.searcher.schema(), &self.searcher.0.setting.analyzers);
        let mut at = 0;
        for joined in query::joined_words(must, around.fields, schema, analyzers)? {
            self.all(&must[at..joined.words.start], around)?;
            at = joined.words.end;
            self.push(&must[joined.words], &[], None, around);
        }
        self.all(&must[at..], around)
    }

    /// Adds clauses side by side as one condition.
    fn push(&mut self, must: &[Query], should: &[Query], minimum: Option<u32>, around: Around<'_>) {
        let (must, should) = (must.to_vec(), should.to_vec());
        let group = Query::Group { must, should, must_not: vec![], minimum };
        self.clauses.push(Clause { query: (around.within)(group), excludes: false });
    }
}

/// All of some conditions.
fn together<'c>(clauses: impl Iterator<Item = &'c Clause>) -> Query {
    let (mut must, mut must_not) = (vec![], vec![]);
    for clause in clauses {
        let queries = if clause.excludes { &mut must_not } else { &mut must };
        queries.push(clause.query.clone());
    }
    if must.is_empty() {
        must.push(Query::All);
    }
    Query::Group { must, should: vec![], must_not, minimum: None }
}

impl Searcher {
    /// Leaves out the conditions that are not required beside others, because analyzers leave nothing of them.
    fn retain_required(&self, clauses: &mut Vec<Clause>) -> Result<()> {
        let analyzers = &self.0.setting.analyzers;
        let required = |clause: &Clause| {
            query::is_required(&clause.query, clause.excludes, self.schema(), analyzers)
        };
        let required: Vec<bool> = clauses.iter().map(required).collect::<Result<_>>()?;
        if required.contains(&true) {
            let mut required = required.into_iter();
            clauses.retain(|_| required.next().unwrap_or_default());
        }
        Ok(())
    }

    /// Counts the matching documents, in the time and memory that the caller allows.
    fn n_matching(&self, query: &Query) -> Result<u64> {
        self.n_matching_normal(&self.matching(query)?)
    }

    /// Whether no document meets some conditions together.
    fn is_conflict<'c>(&self, clauses: impl Iterator<Item = &'c Clause>) -> Result<bool> {
        budget::work(ns::CONDITIONS_TRIED)?;
        let goal = Goal::Page { offset: 0, limit: 1, total: Total::Unknown };
        let options = PlanOptions { goal, ..PlanOptions::default() };
        let normal = self.matching(&together(clauses))?;
        let mut execution = self.execution_of(&normal, &options, &LookUps::of(&normal))?;
        let mut first = vec![];
        execution.run(&mut first)?;
        self.recycle(Matching::Planned(execution));
        Ok(first.is_empty())
    }

    /// Conditions that are in conflict, by their places, and how few they are.
    fn conflict(
        &self,
        clauses: &[Clause],
        shown: &[EmptyClause],
        sets_max: usize,
    ) -> Result<(Vec<usize>, ConflictSize)> {
        // The effect of one condition alone is known already.
        if let Some(alone) = shown.iter().position(|clause| clause.matches == 0) {
            return Ok((vec![alone], ConflictSize::Smallest));
        }
        // Without one of these something matches, so each of them is in every conflict.
        let (needed, others): (Vec<usize>, Vec<usize>) =
            (0..clauses.len()).partition(|at| shown[*at].matches_without > 0);
        let (mut n_tried, mut n_more) = (0, 0);
        let mut more: Vec<usize> = vec![];
        while n_more < others.len() && n_tried < sets_max {
            n_tried += 1;
            let chosen = more.iter().map(|at| others[*at]);
            let set: BTreeSet<usize> = needed.iter().copied().chain(chosen).collect();
            if self.is_conflict(set.iter().map(|at| &clauses[*at]))? {
                return Ok((set.into_iter().collect(), ConflictSize::Smallest));
            }
            if !next_of_size(&mut more, others.len()) {
                n_more += 1;
                more = (0..n_more).collect();
            }
        }
        if n_more >= others.len() {
            // No fewer are, so all of them.
            return Ok(((0..clauses.len()).collect(), ConflictSize::Smallest));
        }
        let set = self.reduced(clauses, shown)?;
        // All smaller sets were tried.
        let size = match set.len() <= needed.len() + n_more {
            true => ConflictSize::Smallest,
            false => ConflictSize::Irreducible,
        };
        Ok((set, size))
    }

    /// Leaves conditions out for as long as the others are in conflict.
    fn reduced(&self, clauses: &[Clause], shown: &[EmptyClause]) -> Result<Vec<usize>> {
        // Conditions that most documents meet come first: the others are short of documents.
        let mut order: Vec<usize> = (0..clauses.len()).collect();
        order.sort_by_key(|at| std::cmp::Reverse(shown[*at].matches));
        let mut set: BTreeSet<usize> = order.iter().copied().collect();
        for at in order {
            if shown[at].matches_without > 0 {
                continue;
            }
            set.remove(&at);
            if !self.is_conflict(set.iter().map(|at| &clauses[*at]))? {
                set.insert(at);
            }
        }
        Ok(set.into_iter().collect())
    }

    /// Explains one condition.
    fn explained_clause(
        &self,
        clauses: &[Clause],
        at: usize,
        clause: &Clause,
    ) -> Result<EmptyClause> {
        let meant = clause.meant();
        let others = clauses.iter().enumerate().filter(|(other, _)| *other != at);
        let mut explained = EmptyClause {
            clause: meant.to_string(),
            excludes: clause.excludes,
            matches: self.n_matching(&meant)?,
            matches_without: self.n_matching(&together(others.map(|(_, clause)| clause)))?,
            ..EmptyClause::default()
        };
        let analyzers = &self.0.setting.analyzers;
        if explained.matches == 0 && clause.excludes {
            // It excludes nothing, because nothing is left of it: no document is to blame.
            if !query::is_required(&clause.query, true, self.schema(), analyzers)?
                && let Normal::Nothing { reason } = self.matching(&meant)?
            {
                explained.reason = Some(reason);
            }
        } else if explained.matches == 0 {
            let normal = self.matching(&clause.query)?;
            self.name_missing(&normal, &mut explained)?;
        }
        Ok(explained)
    }

    /// Adds what a condition looks for that there is not.
    fn name_missing(&self, normal: &Normal, explained: &mut EmptyClause) -> Result<()> {
        match normal {
            Normal::Nothing { reason } => explained.reason = Some(reason.clone()),
            Normal::Term { .. } | Normal::Expand { .. } => {
                self.name_unknown(normal, explained)?;
            }
            Normal::Phrase { field, phrase } => {
                let terms = phrase.terms.iter().cloned();
                let mut words: Vec<Normal> =
                    terms.map(|term| Normal::Term { field: *field, term }).collect();
                let open = phrase.open.iter().cloned();
                words.extend(open.map(|terms| Normal::Expand { field: *field, terms }));
                let mut are_known = true;
                for word in &words {
                    are_known &= !self.name_unknown(word, explained)?;
                }
                if are_known {
                    let with_all_words = match words.len() {
                        1 => self.n_matching_normal(&words.remove(0))?,
                        _ => self.n_matching_normal(&Normal::And { all: words, none: vec![] })?,
                    };
                    let phrase = phrase.to_query(&self.schema().get(*field).name).to_string();
                    explained.phrases.push(EmptyPhrase { phrase, with_all_words });
                }
            }
            Normal::And { all: parts, .. }
            | Normal::Or(parts)
            | Normal::AtLeast { any: parts, .. } => {
                parts.iter().try_for_each(|part| self.name_missing(part, explained))?;
            }
            Normal::Area { field, area } => self.name_nearest(*field, area, explained)?,
            Normal::All | Normal::Exists(_) | Normal::Nearest(_) => {}
        }
        Ok(())
    }

    /// Names the point that misses an area least, if no document has one there.
    fn name_nearest(
        &self,
        field: FieldId,
        area: &GeoArea,
        explained: &mut EmptyClause,
    ) -> Result<()> {
        let bound = BoundArea::new(area);
        let mut nearest: Option<(f64, f64)> = None;
        for segment in self.0.snapshot.readers() {
            let Some(points) = segment.field(field).points()? else { continue };
            points.for_each(
                |_| true,
                |doc, points| {
                    budget::work(ns::POINT_TESTED)?;
                    for point in points {
                        budget::work(ns::EDGE_TESTED * bound.n_edges())?;
                        let least = nearest.map_or(f64::INFINITY, |(least, _)| least);
                        let Some(nearer) = bound.miss(*point, least) else { continue };
                        if !segment.is_deleted(doc)? {
                            nearest = Some(nearer);
                        }
                    }
                    Ok(())
                },
            )?;
        }
        if let Some((_, metres)) = nearest.filter(|(miss, _)| *miss > 0.0) {
            let nearest = bound.nothing_within(area, metres);
            let area =
                Query::within_area(&*self.schema().get(field).name, area.clone()).to_string();
            explained.areas.push(EmptyArea { area, nearest });
        }
        Ok(())
    }

    /// Names a term or a pattern if no document has it. Whether it did.
    fn name_unknown(&self, leaf: &Normal, explained: &mut EmptyClause) -> Result<bool> {
        let field = match leaf {
            Normal::Term { field, .. } | Normal::Expand { field, .. } => *field,
            _ => return Ok(false),
        };
        if self.n_matching_normal(leaf)? > 0 {
            return Ok(false);
        }
        // Each value of a list by itself, as if it were looked for alone.
        if let Normal::Expand { terms, .. } = leaf
            && let TermPattern::Set(values) = terms.pattern()
        {
            for term in values.iter().take(UNKNOWN_MAX) {
                self.add_unknown(&Normal::Term { field, term: term[..].into() }, field, explained);
            }
            return Ok(true);
        }
        self.add_unknown(leaf, field, explained);
        Ok(true)
    }

    fn add_unknown(&self, leaf: &Normal, field: FieldId, explained: &mut EmptyClause) {
        let name = self.schema().get(field).name.clone();
        let similar = match leaf {
            Normal::Term { term, .. } => self.similar_to(field, term),
            _ => vec![],
        };
        let term = match leaf {
            Normal::Term { term, .. } if !self.schema().get(field).kind.is_typed() => {
                String::from_utf8_lossy(term).into_owned()
            }
            _ => {
                let text = leaf.display(self.schema()).to_string();
                text.strip_prefix(&format!("{name}:")).unwrap_or(&text).to_owned()
            }
        };
        let unknown = UnknownTerm { field: name, term, similar };
        if explained.unknown.len() < UNKNOWN_MAX && !explained.unknown.contains(&unknown) {
            explained.unknown.push(unknown);
        }
    }

    /// Terms like one that there is not; none where looking for them takes too much.
    fn similar_to(&self, field: FieldId, term: &[u8]) -> Vec<(String, u64)> {
        let Ok(word) = std::str::from_utf8(term) else { return vec![] };
        let similar = self.similar(field, word).unwrap_or_default();
        match similar.is_empty() && !self.schema().get(field).kind.is_text() {
            // A keyword is its bytes, so other letters of it are far away.
            true => self.in_another_case(field, word).unwrap_or_default(),
            false => similar,
        }
    }

    fn n_matching_normal(&self, normal: &Normal) -> Result<u64> {
        let (options, mut total) = (PlanOptions::default(), 0);
        self.count_to(normal, &options, &LookUps::of(normal), &mut total).map(|_| total)
    }
}

/// Moves on to the next set of as many places below `n`, in the order of the places. Whether there is one.
fn next_of_size(set: &mut [usize], n: usize) -> bool {
    let size = set.len();
    let Some(moved) = (0..size).rev().find(|at| set[*at] < n - size + at) else { return false };
    set[moved] += 1;
    for at in moved + 1..size {
        set[at] = set[at - 1] + 1;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_come_each_once() {
        for (n, size, expected) in [(5, 2, 10), (6, 3, 20), (4, 4, 1), (7, 1, 7)] {
            let mut set: Vec<usize> = (0..size).collect();
            let mut seen = vec![set.clone()];
            while next_of_size(&mut set, n) {
                seen.push(set.clone());
            }
            assert!(seen.is_sorted() && seen.iter().all(|set| set.is_sorted_by(|a, b| a < b)));
            seen.dedup();
            assert_eq!(seen.len(), expected, "{size} of {n}");
            assert!(seen.iter().flatten().all(|at| *at < n));
        }
    }
}
