//! Pages of several ranked lists, by the sum of what each adds to a document.
//!
//! Each branch finds its best hits by a plan of its own, as if it were all of the search, or is a list from outside. Their union
//! is counted by the plan of the search, which has the branches as alternatives: neighbours that a branch has found are
//! not looked for again.

use super::outcome::Outcome;
use super::{SearchContext, SearchPlan};
use crate::budget::{self, Held, ns};
use crate::doc_id_set::{DocIdSet, MatchWindows};
use crate::error::Result;
use crate::hits::{FusedPart, Hit, Relation, Stopped, Total};
use crate::ids::DocId;
use crate::nearest::find;
use crate::plan::CountStrategy;
use crate::query::NeighborsSpec;
use crate::request::{Fusion, FusionMethod};
use std::cmp::Reverse;
use std::collections::HashMap;
use std::time::Instant;

/// Bytes of a document of some window, with what one branch adds to it.
const FUSED_BYTES: u64 = 160;

/// Ranked lists that make a page.
pub(crate) struct Fused<'a, 's> {
    pub(crate) fusion: &'a Fusion,
    pub(crate) branches: Vec<Branch<'a, 's>>,
}

/// One of these lists.
pub(crate) enum Branch<'a, 's> {
    /// Hits of a query.
    Query(SearchContext<'a, 's>),
    /// Documents of the first list, by the similarity to a vector; none have any without one.
    Similarity(Option<&'a NeighborsSpec>),
    /// Documents of a list from outside that are there.
    List(&'a [Ranked]),
}

/// Document with its place in a list.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Ranked {
    pub(crate) doc: DocId,
    /// From 1.
    pub(crate) rank: u64,
    pub(crate) score: Option<f32>,
}

impl<'s> SearchContext<'_, 's> {
    /// The best of all branches. `hit` is no type parameter, as each branch has its own.
    pub(super) fn fuse(
        &self,
        plan: &mut SearchPlan<'s>,
        hit: &mut dyn FnMut(Hit) -> Result<()>,
    ) -> Result<Outcome> {
        let mut found = Outcome::uncounted();
        let (sums, stopped) = self.sums(plan, &mut found.branches)?;
        let n_fused = sums.by_doc.len() as u64;
        if let Some(stopped) = stopped {
            // A sum of some branches is no score.
            found.give_up(stopped, self.request);
            found.total.value = n_fused;
            return Ok(found);
        }
        let started = Instant::now();
        let page = sums.page(self.request.offset, self.request.limit);
        found.took = started.elapsed();
        let done = self.count_fused(plan, &mut found);
        self.end(done, &mut found)?;
        match plan.page.count {
            CountStrategy::Unasked if self.facets.is_empty() => {
                found.total = Total { value: n_fused, relation: Relation::Unknown };
            }
            _ if found.total.relation != Relation::Exact => {
                found.total.value = found.total.value.max(n_fused);
            }
            _ => {}
        }
        found.n_hits = page.len() as u64;
        page.into_iter().try_for_each(hit)?;
        Ok(found)
    }

    /// Parts of the score of a document, by branch.
    pub(crate) fn parts_of(&self, plan: &mut SearchPlan<'s>, doc: DocId) -> Result<Vec<FusedPart>> {
        let (mut sums, _) = self.sums(plan, &mut vec![])?;
        Ok(sums.by_doc.remove(&doc).unwrap_or_default())
    }

    /// Sums of all branches, and the reason why one of them was stopped.
    fn sums(
        &self,
        plan: &mut SearchPlan<'s>,
        outcomes: &mut Vec<Outcome>,
    ) -> Result<(Sums, Option<Stopped>)> {
        let (mut sums, mut stopped) = (Sums::default(), None);
        let Some(Fused { fusion, branches }) = self.fused.as_deref() else {
            return Ok((sums, stopped));
        };
        let (mut plans, mut first) = (plan.branches.iter_mut(), vec![]);
        sums.is_reranked = fusion.method == FusionMethod::Rerank;
        for (nth, (branch, weight)) in (0_u32..).zip(branches.iter().zip(fusion.weights())) {
            let of_branch = (nth, fusion.method, weight.get());
            let added = match branch {
                Branch::List(ranked) => sums.add(of_branch, ranked),
                Branch::Similarity(spec) => {
                    let started = Instant::now();
                    self.by_similarity(*spec, &first).and_then(|ranked| {
                        let (n_hits, took) = (ranked.len() as u64, started.elapsed());
                        outcomes.push(Outcome { n_hits, took, ..Outcome::uncounted() });
                        sums.add(of_branch, &ranked)
                    })
                }
                Branch::Query(context) => {
                    let Some(plan) = plans.next() else { break };
                    let mut ranked = vec![];
                    let found = context.run(plan, |hit| {
                        let rank = ranked.len() as u64 + 1;
                        ranked.push(Ranked { doc: hit.doc, rank, score: hit.score });
                        Ok(())
                    })?;
                    stopped = stopped.or(found.stopped);
                    outcomes.push(found);
                    let added = sums.add(of_branch, &ranked);
                    if nth == 0 {
                        first = ranked;
                    }
                    added
                }
            };
            if let Err(error) = added {
                stopped = stopped.or(Some(self.request.stopped(error)?));
            }
        }
        Ok((sums, stopped))
    }

    /// Documents by the similarity to a vector, the most similar first, of as similar ones in their order; without those that
    /// have no vector.
    fn by_similarity(
        &self,
        spec: Option<&NeighborsSpec>,
        documents: &[Ranked],
    ) -> Result<Vec<Ranked>> {
        let Some(spec) = spec else { return Ok(vec![]) };
        let (mut segments, mut filter, mut base) = (vec![], vec![], 0);
        for segment in self.snapshot.readers() {
            let n_docs = segment.n_docs();
            let own = documents.iter().filter_map(|it| it.doc.0.checked_sub(base));
            let own = own.filter(|doc| *doc < u64::from(n_docs)).map(|doc| doc as u32);
            let mut own: Vec<u32> = own.collect();
            own.sort_unstable();
            filter.push(DocIdSet::Some(MatchWindows::of_documents(n_docs, &own)?));
            segments.push((segment, base));
            base += u64::from(n_docs);
        }
        let Some((first, _)) = segments.first() else { return Ok(vec![]) };
        let metric = first.schema().get(spec.field).kind.vector().map(|params| params.metric);
        let found = find(spec, &segments, &filter, &[], false)?;
        let mut scores = HashMap::new();
        for ((_, base), neighbors) in segments.iter().zip(&found.segments) {
            for neighbor in neighbors {
                let score = metric.map_or(0.0, |metric| metric.score(neighbor.similarity));
                scores.insert(DocId(base + u64::from(neighbor.doc)), score);
            }
        }
        let with_score =
            |it: &Ranked| scores.get(&it.doc).map(|score| Ranked { score: Some(*score), ..*it });
        let mut ranked: Vec<Ranked> = documents.iter().filter_map(with_score).collect();
        let score = |it: &Ranked| it.score.unwrap_or_default();
        // Stable: the better by the first list comes first of equal ones.
        ranked.sort_by(|a, b| score(b).total_cmp(&score(a)));
        (1..).zip(&mut ranked).for_each(|(rank, it)| it.rank = rank);
        Ok(ranked)
    }

    /// Counts what matches in any branch, and the facets of that.
    fn count_fused(&self, plan: &mut SearchPlan<'s>, found: &mut Outcome) -> Result<()> {
        let (page, matching) = (&plan.page, &mut plan.matching);
        if !page.runs_matching() {
            return Ok(());
        }
        if let Some(execution) = matching.or_plan(page.goal(), self.planner)?.execution() {
            for branch in &mut plan.branches {
                if let Some(of_branch) = branch.matching.execution() {
                    execution.take_neighbors(of_branch.plan())?;
                }
            }
        }
        match page.needs_matches() {
            true => self.with_matches(matching, found, |_, _, _| Ok(())),
            false => self.count(page.goal_of_count(), matching, found),
        }
    }
}

/// Sums of what branches added so far, by document.
#[derive(Default)]
struct Sums {
    by_doc: HashMap<DocId, Vec<FusedPart>>,
    /// Whether documents have the order of the last branch that they are in, those in the second first.
    is_reranked: bool,
    held: Held,
}

impl Sums {
    /// Adds what a branch of a weight adds to each of its documents, the best of which comes first.
    fn add(
        &mut self,
        (branch, method, weight): (u32, FusionMethod, f32),
        ranked: &[Ranked],
    ) -> Result<()> {
        self.held.more(FUSED_BYTES * ranked.len() as u64)?;
        budget::work(ns::HIT_FUSED * ranked.len() as u64)?;
        let part = part_of((branch, method), ranked);
        for it @ Ranked { doc, rank, score } in ranked.iter().copied() {
            let part = (f64::from(weight) * part(&it)) as f32;
            self.by_doc.entry(doc).or_default().push(FusedPart { branch, rank, score, part });
        }
        Ok(())
    }

    /// Hits after the first few, the best first.
    fn page(&self, offset: u64, limit: u64) -> Vec<Hit> {
        let to_size = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
        let score = |parts: &[FusedPart]| parts.iter().map(|it| it.part).sum::<f32>();
        let place = |parts: &[FusedPart]| {
            let last = parts.last().filter(|_| self.is_reranked);
            last.map(|it| (Reverse(it.branch), it.rank))
        };
        let of_doc = |(doc, parts): (&DocId, &Vec<FusedPart>)| (place(parts), score(parts), *doc);
        let mut best: Vec<_> = self.by_doc.iter().map(of_doc).collect();
        best.sort_unstable_by(|a, b| {
            a.0.cmp(&b.0).then_with(|| b.1.total_cmp(&a.1)).then(a.2.cmp(&b.2))
        });
        let page = best.into_iter().skip(to_size(offset)).take(to_size(limit));
        let hit = |(_, score, doc)| {
            let fused = self.by_doc.get(&doc).cloned().unwrap_or_default();
            Hit { fused, ..Hit::new(doc, Some(score)) }
        };
        page.map(hit).collect()
    }
}

/// Part of a document of a list, but for the weight.
fn part_of((branch, method): (u32, FusionMethod), ranked: &[Ranked]) -> impl Fn(&Ranked) -> f64 {
    let scores = || ranked.iter().map(|it| f64::from(it.score.unwrap_or_default()));
    let floor = scores().fold(0.0, f64::min);
    let range = scores().fold(floor, f64::max) - floor;
    move |it| match method {
        FusionMethod::Rrf { k } => 1.0 / (f64::from(k) + it.rank as f64),
        // Scores that are all alike tell nothing.
        FusionMethod::Sum if range > 0.0 => {
            (f64::from(it.score.unwrap_or_default()) - floor) / range
        }
        FusionMethod::Rerank if branch > 0 => f64::from(it.score.unwrap_or_default()),
        FusionMethod::Sum | FusionMethod::Rerank => 0.0,
    }
}
