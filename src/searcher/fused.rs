//! Branches of a search whose hits are fused.
//!
//! There is a search for each query, and documents for each list from outside.

use super::Explanation;
use super::meaning::once;
use super::search::{FusedBranch, Search};
use crate::error::{Error, ErrorKind, Result};
use crate::execution::{BoundFacet, Branch, Fused, Ranked, SearchPlan};
use crate::hits::FusedPart;
use crate::ids::DocId;
use crate::plan::{BranchSource, FuseDetails, FusedBranch as BranchDetails};
use crate::query::{Boost, NeighborsSpec, Normal, Query};
use crate::request::{
    Fusion, FusionMethod, Order, RankedList, SearchRequest, Selection, TotalMode,
};
use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::HashSet;

impl<'a> Search<'a> {
    /// Branches of the fusion that is asked for, in their order; none where none is.
    pub(super) fn branches_of(&self) -> Vec<FusedBranch<'a>> {
        let Some(fusion) = self.request.fusion.as_deref() else { return vec![] };
        let own = std::iter::once(self.request.query.as_ref());
        let queries = own.chain(fusion.queries.iter().map(|(query, _)| query));
        let queries = (0..).zip(queries).map(|(nth, query)| {
            let mut request = self.branch_request(fusion, query.clone());
            let is_similarity = fusion.method == FusionMethod::Rerank && nth > 0;
            if is_similarity {
                // Only documents that the first branch has found are compared.
                request.selections.clear();
            }
            let search = Box::new(Search::new(self.searcher, request, self.budget.clone()));
            match is_similarity {
                true => FusedBranch::Similarity(search),
                false => FusedBranch::Query(search),
            }
        });
        let lists =
            fusion.lists.iter().map(|list| FusedBranch::List(list.clone(), OnceCell::new()));
        queries.chain(lists).collect()
    }

    /// The request of a branch: the best of its window, and nothing else.
    fn branch_request(&self, fusion: &Fusion, query: Query) -> SearchRequest<'a> {
        let SearchRequest { selections, parameters, pattern_terms, statistics, .. } = &self.request;
        SearchRequest {
            limit: fusion.window_of(self.page_end()),
            total: TotalMode::Unknown,
            selections: selections.clone(),
            parameters: parameters.clone(),
            pattern_terms: *pattern_terms,
            statistics: statistics.clone(),
            limits: self.request.limits.clone(),
            ..SearchRequest::of(Cow::Owned(query))
        }
    }

    fn page_end(&self) -> u64 {
        self.request.offset.saturating_add(self.request.limit)
    }

    /// The query that all branches together match, where hits are fused.
    pub(super) fn union_of_branches(&self) -> Option<Query> {
        self.request.fusion.as_deref().map(|fusion| self.union_without(fusion, None))
    }

    /// The query that tells what matches, with all selections but those at some places.
    pub(super) fn query_without(&self, left_out: &[usize]) -> Cow<'_, Query> {
        match self.request.fusion.as_deref() {
            None => self.request.query_without(left_out),
            // Each branch has them, as neighbours are looked for among what they let through.
            Some(fusion) => Cow::Owned(self.union_without(fusion, Some(left_out))),
        }
    }

    fn union_without(&self, fusion: &Fusion, left_out: Option<&[usize]>) -> Query {
        let own = std::iter::once(self.request.query.as_ref());
        // Whatever is only put in another order is found already.
        let others = match fusion.method {
            FusionMethod::Rerank => &[][..],
            FusionMethod::Rrf { .. } | FusionMethod::Sum => &fusion.queries[..],
        };
        let queries = own.chain(others.iter().map(|(query, _)| query));
        let lists = fusion.lists.iter().map(|list| list.query(self.key_name()));
        let all = queries.map(Cow::Borrowed).chain(lists.map(Cow::Owned));
        Query::any_of(all.map(|query| match left_out {
            Some(left_out) => self.request.with_selections(&query, left_out).into_owned(),
            None => query.into_owned(),
        }))
    }

    /// Refuses a fusion that cannot be, and all beside it that says otherwise what comes first.
    pub(super) fn check_fusion(&self) -> Result<()> {
        let request = &self.request;
        let Some(fusion) = request.fusion.as_deref() else { return Ok(()) };
        let (doing, expected) = match fusion.method {
            FusionMethod::Rerank => {
                ("ordering the best hits by similarity", "an order by similarity alone")
            }
            FusionMethod::Rrf { .. } | FusionMethod::Sum => {
                ("fusing ranked lists", "an order by what all lists add")
            }
        };
        let beside = [
            (!request.sort.is_empty(), "keys to sort by"),
            (request.collapse.is_some(), "hits that are grouped"),
            (request.after.is_some(), "a page after a hit"),
            (request.order != Order::Score, "document order"),
            (!request.score_functions.is_empty(), "functions of scores"),
            (self.bound_facets()?.iter().any(BoundFacet::wants_hits), "best hits of buckets"),
        ];
        if let Some((_, found)) = beside.into_iter().find(|(is_there, _)| *is_there) {
            return Err(Error::new(ErrorKind::Usage, doing).expected(expected).found(found));
        }
        // An unknown field, or a vector that does not fit, is told before a window that does not.
        for branch in &self.branches {
            if let FusedBranch::Query(search) | FusedBranch::Similarity(search) = branch {
                search.rewritten()?;
            }
        }
        fusion.check(self.page_end())?;
        if !fusion.lists.is_empty() && self.searcher.schema().key().is_none() {
            let error = Error::new(ErrorKind::Usage, "fusing a list from outside");
            return Err(error
                .expected("a schema with a key, by which documents are known")
                .found("none"));
        }
        Ok(())
    }

    /// Plans all branches that have queries, each by `plan`, and looks up the documents of lists.
    pub(super) fn plan_branches(
        &self,
        plan: impl Fn(&Search<'a>) -> Result<SearchPlan<'a>>,
    ) -> Result<Vec<SearchPlan<'a>>> {
        let plans = self.queries_of_branches().map(plan).collect::<Result<_>>()?;
        for branch in &self.branches {
            if let FusedBranch::List(list, found) = branch {
                self.ranked(list, found)?;
            }
        }
        Ok(plans)
    }

    /// Searches of the branches that have queries, in their order.
    pub(super) fn queries_of_branches(&self) -> impl Iterator<Item = &Search<'a>> {
        self.branches.iter().filter_map(|branch| match branch {
            FusedBranch::Query(search) => Some(&**search),
            FusedBranch::Similarity(_) | FusedBranch::List(..) => None,
        })
    }

    /// Changes each of these.
    pub(super) fn each_branch(&mut self, change: &mut dyn FnMut(&mut Search<'a>)) {
        for branch in &mut self.branches {
            if let FusedBranch::Query(search) = branch {
                change(search);
            }
        }
    }

    /// All that fusing reads, where hits are fused.
    pub(super) fn fused(&self, is_traced: bool) -> Result<Option<Box<Fused<'_, 'a>>>> {
        let Some(fusion) = self.request.fusion.as_deref() else { return Ok(None) };
        let branches = self.branches.iter().map(|branch| match branch {
            FusedBranch::Query(search) => search.context(is_traced).map(Branch::Query),
            FusedBranch::Similarity(search) => search.nearest().map(Branch::Similarity),
            FusedBranch::List(list, found) => Ok(Branch::List(self.ranked(list, found)?)),
        });
        let branches = branches.collect::<Result<_>>()?;
        Ok(Some(Box::new(Fused { fusion, branches })))
    }

    /// Neighbours that the query is about; none if there can be none.
    fn nearest(&self) -> Result<Option<&NeighborsSpec>> {
        match &self.rewritten()?.normal {
            Normal::Nearest(spec) => Ok(Some(spec)),
            _ => Ok(None),
        }
    }

    /// Documents of a list from outside, with their ranks there.
    fn ranked<'f>(
        &self,
        list: &RankedList,
        found: &'f OnceCell<Vec<Ranked>>,
    ) -> Result<&'f [Ranked]> {
        once(found, || self.look_up_ranked(list)).map(|found| &**found)
    }

    fn look_up_ranked(&self, list: &RankedList) -> Result<Vec<Ranked>> {
        let doing = || Error::new(ErrorKind::Usage, "fusing a list from outside");
        let key = self.key_name();
        let (mut found, mut known) = (vec![], HashSet::new());
        for (rank, (value, score)) in (1_u64..).zip(&list.entries) {
            let at = || format!("{} at rank {rank}", value.to_text());
            let values = vec![value.clone()];
            let of_key = Selection { field: key.to_owned(), values, read: None }.query();
            let selected = self.request.with_selections(&of_key, &[]);
            match self.first_document(selected.into_owned())? {
                Some(doc) if !known.insert(doc) => {
                    let error = doing().expected("each document once");
                    return Err(error.found(format!("the document of another key, {}", at())));
                }
                Some(doc) => found.push(Ranked { doc, rank, score: *score }),
                // A document that is not selected is none that is missing.
                None if list.allows_missing || self.first_document(of_key)?.is_some() => {}
                None => {
                    let error = doing().expected(format!("keys of '{key}' that documents have"));
                    let error = error.found(format!("{}, which none has", at()));
                    return Err(error.hint("RankedList::allow_missing passes over such keys"));
                }
            }
        }
        Ok(found)
    }

    /// The first document that a query matches.
    fn first_document(&self, query: Query) -> Result<Option<DocId>> {
        let (order, total) = (Order::Document, TotalMode::Unknown);
        let request =
            SearchRequest { limit: 1, order, total, ..SearchRequest::of(Cow::Owned(query)) };
        let search = Search::new(self.searcher, request, self.budget.clone());
        let (mut plan, mut first) = (search.planned()?, None);
        search.context(false)?.run(&mut plan, |hit| {
            first = Some(hit.doc);
            Ok(())
        })?;
        search.recycle(plan);
        Ok(first)
    }

    /// Explains what all branches add to the score of a document; none where it is in no window.
    pub(super) fn fused_explanation(&self, doc: DocId) -> Result<Option<Explanation>> {
        let Some(fusion) = self.request.fusion.as_deref() else { return Ok(None) };
        let mut plan = self.planned()?;
        let parts = self.context(false)?.parts_of(&mut plan, doc)?;
        let explained = parts.iter().map(|part| {
            let FusedPart { branch, rank, score, part: value } = *part;
            let weight = fusion.weights().nth(branch as usize).unwrap_or(Boost::ONE).get();
            let what = match (fusion.method, score) {
                (FusionMethod::Rrf { k }, _) => format!("{weight} / ({k} + rank {rank})"),
                (FusionMethod::Sum, score) => {
                    let score = score.unwrap_or_default();
                    format!("{weight} × {score} as a part of the best")
                }
                (FusionMethod::Rerank, _) if branch == 0 => {
                    format!("rank {rank}, which adds nothing")
                }
                (FusionMethod::Rerank, score) => {
                    format!("{weight} × similarity, as the score {}", score.unwrap_or_default())
                }
            };
            let of_branch = match self.branches.get(branch as usize) {
                Some(FusedBranch::Query(search)) => search.clone().explanation(doc)?,
                _ => None,
            };
            let what = format!("branch {branch}: {what}");
            Ok(Explanation { value, what, parts: of_branch.into_iter().collect() })
        });
        let explained = explained.collect::<Result<Vec<_>>>()?;
        let value = parts.iter().map(|part| part.part).sum();
        let what = match fusion.method {
            FusionMethod::Rerank => "by similarity".to_owned(),
            FusionMethod::Rrf { .. } | FusionMethod::Sum => {
                format!("sum by {}", fusion.described())
            }
        };
        Ok((!parts.is_empty()).then_some(Explanation { value, what, parts: explained }))
    }

    /// Details of the fusion for people.
    pub(super) fn fuse_details(&self) -> Result<FuseDetails> {
        let Some(fusion) = self.request.fusion.as_deref() else {
            return Ok(FuseDetails::default());
        };
        let branches = self.branches.iter().zip(fusion.weights()).map(|(branch, weight)| {
            let source = match branch {
                FusedBranch::Query(_) => BranchSource::Query,
                FusedBranch::Similarity(search) => {
                    BranchSource::Similarity(search.request.query.to_text())
                }
                FusedBranch::List(list, found) => {
                    let n_ranked = self.ranked(list, found)?.len() as u64;
                    BranchSource::Outside(list.entries.len() as u64, n_ranked)
                }
            };
            Ok(BranchDetails { weight: weight.get(), source })
        });
        let (window, method) = (fusion.window_of(self.page_end()), fusion.described());
        let branches = branches.collect::<Result<_>>()?;
        Ok(match fusion.method {
            FusionMethod::Rerank => FuseDetails {
                order: "by similarity",
                algorithm: format!("{method} of the best {window}, those without a vector last"),
                window,
                branches,
            },
            FusionMethod::Rrf { .. } | FusionMethod::Sum => FuseDetails {
                order: "by what all branches add",
                algorithm: format!("{method} of the best {window} of each branch"),
                window,
                branches,
            },
        })
    }

    fn key_name(&self) -> &'a str {
        self.searcher.schema().key().map_or("", |field| &*field.name)
    }
}
