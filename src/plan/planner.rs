//! From the normal form of a query to a plan: look up, estimate, order, decide.

use super::cost;
use super::estimate::{Estimate, EstimateFrom, EstimateSource, Span, SpanSum};
use super::forced::{Forced, InputOrder};
use super::leaf::{Leaf, Postings};
use super::{
    CostModel, CountWay, LeafId, LeafKey, Node, NodeId, OfSegment, Operator, Pair, Phase,
    PhaseClock, PhrasePlan, Plan, PlanOptions, PlanScratch, SegmentPlan,
};
use crate::budget;
use crate::error::{Error, ErrorKind, Result};
use crate::expansion::{DocSet, Expansion};
use crate::few_map::FewMap;
use crate::ids::FieldId;
use crate::look_ups::LookUps;
use crate::query::Normal;
use crate::recycle::recycled;
use crate::segment::reader::SegmentReader;
use smallvec::SmallVec;
use std::ops::Range;

/// Documents of a list that are read in the time in which words are placed in one.
pub(crate) const PLACED_FOR_READ: u64 = 64;
/// Operators inside operators; the parser allows fewer, a tree built by hand may have more.
const DEPTH_MAX: usize = 256;
/// Estimates by window are made where they cost less than this many steps, a few nanoseconds each.
const WINDOW_STEPS_MAX: usize = 1 << 20;

/// Plans `normal` over the segments of a snapshot, where things cost what `costs` says, but for what [depends on the
/// page](Plan::aim): that may depend on the size of sets. The clock of a search that is explained has its times by phase, and
/// goes on with [`Phase::Choose`].
///
/// # Errors
///
/// [`ErrorKind::LimitExceeded`] for a tree that is too deep; whatever reading the dictionary says.
pub(crate) fn plan<'s>(
    normal: &Normal,
    segments: impl Iterator<Item = SegmentReader<'s>> + Clone,
    options: &PlanOptions,
    costs: &'s CostModel,
    look_ups: &LookUps,
    memory: &mut PlanScratch,
    clock: Option<&PhaseClock>,
) -> Result<Plan<'s>> {
    let switch = |phase| clock.and_then(|clock| clock.switch(phase));
    let mut plan = Plan::in_memory(memory, options, costs);
    let has_deletes = segments.clone().any(|segment| segment.deleted().is_some());
    let queries = options.sets.iter().chain(options.unselected.iter().map(|(set, _)| set));
    plan.add_filters(queries.chain([normal]), has_deletes)?;
    for set in options.sets.iter().chain(options.unselected.iter().map(|(set, _)| set)) {
        plan.add_live(set, has_deletes)?;
        plan.sets.push(plan.root());
    }
    plan.unselected.extend(options.unselected.iter().map(|(_, words)| words.clone()));
    plan.add_live(normal, has_deletes)?;
    let of_all = segments.clone().map(|segment| u64::from(segment.n_docs())).sum();
    let mut base = 0;
    for segment in segments {
        switch(Phase::LookUp);
        let mut part = plan.look_up(segment, base, look_ups)?;
        switch(Phase::Estimate);
        plan.estimate(&mut part, of_all, options, clock)?;
        plan.add_segment(part);
        base += u64::from(segment.n_docs());
    }
    plan.limit_neighbors()?;
    switch(Phase::Choose);
    plan.choose_smallest();
    plan.choose_columns()?;
    plan.choose_points();
    plan.check_expansions()?;
    plan.order_inputs();
    plan.choose_less_deleted()?;
    plan.override_steps();
    Ok(plan)
}

impl<'s> Plan<'s> {
    /// Completes the plan for what is wanted of the documents that match.
    pub(crate) fn aim(&mut self, options: &PlanOptions, clock: Option<&PhaseClock>) -> Result<()> {
        let switch = |phase| clock.and_then(|clock| clock.switch(phase));
        (self.goal, self.keeps_matches) = (options.goal, options.keeps_matches());
        self.choose_smallest();
        self.choose_count();
        if options.explain {
            switch(Phase::Display);
            // A third of the time of planning two words.
            self.add_up_display_estimates();
            self.price_operators();
            self.decide();
            switch(Phase::Choose);
        }
        self.plan_facets(options)
    }

    /// Adds what matches and is not deleted, where anything is.
    pub(super) fn add_live(&mut self, normal: &Normal, has_deletes: bool) -> Result<()> {
        // Neighbours are looked for among what is not deleted.
        let are_live = matches!(normal, Normal::Nothing { .. } | Normal::Nearest(_));
        match has_deletes && !are_live {
            false => self.add_operator(normal, 0),
            true => self.add_without_deleted(normal),
        }
    }

    /// Adds what matches and is not deleted: one more condition of the outermost intersection.
    fn add_without_deleted(&mut self, normal: &Normal) -> Result<()> {
        match normal {
            Normal::And { all, none } => self.add_all(all, none, 0, true),
            Normal::All => self.add_all(&[], &[], 0, true),
            other => self.add_all(std::slice::from_ref(other), &[], 0, true),
        }
    }

    /// Adds what matches all of `all` and none of `none`, and is not deleted if that is wanted.
    fn add_all(
        &mut self,
        all: &[Normal],
        none: &[Normal],
        depth: usize,
        and_deleted: bool,
    ) -> Result<()> {
        // Words of phrases come after all other conditions.
        let has_phrases = all.iter().any(is_phrase);
        if has_phrases && (self.forced != Some(Forced::PhrasesFirst) || all.len() == 1) {
            return self.add_phrases(all, none, depth, and_deleted);
        }
        let all = self.add_inputs(all, depth, false)?;
        let none = self.add_inputs(none, depth, and_deleted)?;
        self.push_node(Operator::Intersect { all, none });
        Ok(())
    }

    /// Adds the inputs of `normal`, then the operator itself.
    fn add_operator(&mut self, normal: &Normal, depth: usize) -> Result<()> {
        if depth > DEPTH_MAX {
            return Err(Error::new(ErrorKind::LimitExceeded, "planning a query")
                .expected(format!("at most {DEPTH_MAX} operators inside each other"))
                .found("more"));
        }
        let operator = match normal {
            Normal::All => Operator::All,
            Normal::Nothing { reason } => Operator::Nothing { reason: reason.clone() },
            Normal::Term { field, term } => Operator::TermScan(self.add_term(*field, term)),
            Normal::Expand { field, terms } => match terms.few_values() {
                Some(values) => Operator::Union { any: self.add_values(*field, values) },
                None => Operator::Expand(self.add_expansion(*field, terms)),
            },
            Normal::Exists(field) => {
                Operator::Exists(self.add_leaf(LeafKey::Presence { field: *field }))
            }
            Normal::Nearest(spec) => self.operator_of_neighbors(spec),
            Normal::Area { field, area } => Operator::GeoScan(self.add_area(*field, area)),
            Normal::Phrase { .. } => {
                return self.add_phrases(std::slice::from_ref(normal), &[], depth, false);
            }
            Normal::And { all, none } => return self.add_all(all, none, depth, false),
            Normal::Or(any) => Operator::Union { any: self.add_inputs(any, depth, false)? },
            Normal::AtLeast { minimum, any } => {
                Operator::AtLeast { minimum: *minimum, any: self.add_inputs(any, depth, false)? }
            }
        };
        self.push_node(operator);
        Ok(())
    }

    /// Adds an operator for each of a few values: what all else leaves can be looked up in each of their lists, where
    /// the lists of many are united in full.
    fn add_values(&mut self, field: FieldId, values: &[Vec<u8>]) -> Range<u32> {
        let first = self.pending.len();
        for value in values {
            let leaf = self.add_term(field, value);
            self.push_input(Operator::TermScan(leaf));
        }
        self.inputs_from(first)
    }

    /// Adds the terms of a pattern, or finds the leaf that reads them for a set.
    fn add_expansion(&mut self, field: FieldId, terms: &Expansion) -> LeafId {
        let of_set = self.nodes[..self.n_of_sets()].iter().filter_map(|node| node.operator.leaf());
        let mut of_set = of_set.filter(|leaf| self.leaves[leaf.index()].field() == Some(field));
        if let Some(leaf) = of_set.find(|leaf| self.expansion(*leaf) == Some(terms)) {
            return leaf;
        }
        let nth = self.expansions.len() as u32;
        self.expansions.push(terms.clone());
        self.add_leaf(LeafKey::Expansion { field, nth })
    }

    fn push_node(&mut self, operator: Operator) {
        let (estimate, kernel) = (Estimate::NOTHING, None);
        let (expected_docs, cost_ns, keeps_order) = (0.0, 0.0, false);
        self.nodes.push(Node { operator, estimate, expected_docs, cost_ns, keeps_order, kernel });
    }

    /// Adds an operator and makes it an input of one that is to come.
    fn push_input(&mut self, operator: Operator) {
        self.push_node(operator);
        self.pending.push(self.root());
    }

    /// Adds an operator as an input of one that is to come.
    fn add_input(&mut self, normal: &Normal, depth: usize) -> Result<()> {
        self.add_operator(normal, depth)?;
        self.pending.push(self.root());
        Ok(())
    }

    /// Ends the inputs of an operator, of which this pending one is the first.
    fn inputs_from(&mut self, first: usize) -> Range<u32> {
        let start = self.inputs.len() as u32;
        self.inputs.extend(self.pending.drain(first..));
        start..self.inputs.len() as u32
    }

    /// Adds what matches all of `all`, some of which are phrases, and none of `none`: one
    /// intersection of all words and other inputs, and on top of it the phrases one by one, so that
    /// positions are read of no document that another condition excludes.
    fn add_phrases(
        &mut self,
        all: &[Normal],
        none: &[Normal],
        depth: usize,
        and_deleted: bool,
    ) -> Result<()> {
        let first = self.pending.len();
        let first_phrase = self.phrases.len();
        let mut leaves = FewMap::<(FieldId, &[u8]), LeafId>::new();
        for input in all {
            let Normal::Phrase { field, phrase } = input else { continue };
            let mut plan = PhrasePlan {
                field: *field,
                spec: phrase.clone(),
                leaves: SmallVec::new(),
                alone: false,
                is_beside_others: all.len() > 1,
            };
            for term in &phrase.terms {
                let leaf = match leaves.get(&(*field, &term[..])) {
                    Some(leaf) => leaf,
                    None => {
                        let leaf = self.add_term(*field, term);
                        self.push_input(Operator::TermScan(leaf));
                        leaves.insert((*field, term), leaf);
                        leaf
                    }
                };
                plan.leaves.push(leaf);
            }
            for terms in &phrase.open {
                let terms = Normal::Expand { field: *field, terms: terms.clone() };
                self.add_input(&terms, depth + 1)?;
            }
            self.phrases.push(plan);
        }
        // Some of those that follow may be inside of other inputs.
        let own = first_phrase..self.phrases.len();
        for input in all {
            let is_there = match input {
                Normal::Term { field, term } => leaves.get(&(*field, &term[..])).is_some(),
                other => is_phrase(other),
            };
            if !is_there {
                self.add_input(input, depth + 1)?;
            }
        }
        let none_is_empty = none.is_empty() && !and_deleted;
        let none = self.add_inputs(none, depth, and_deleted)?;
        let mut input = self.inputs_from(first);
        if input.len() > 1 || !none.is_empty() {
            self.push_input(Operator::Intersect { all: input, none });
            input = self.inputs_from(first);
        }
        if all.len() == 1 && none_is_empty {
            self.phrases[first_phrase].alone = true;
        }
        for nth in own {
            self.push_input(Operator::Phrase { nth: nth as u32, input });
            input = self.inputs_from(first);
        }
        Ok(())
    }

    fn add_term(&mut self, field: FieldId, term: &[u8]) -> LeafId {
        let start = self.terms.len() as u32;
        self.terms.extend_from_slice(term);
        let term = start..self.terms.len() as u32;
        self.add_leaf(LeafKey::Term { field, term })
    }

    /// Adds operators as inputs of the next, and behind them what is deleted if that is wanted.
    fn add_inputs(
        &mut self,
        inputs: &[Normal],
        depth: usize,
        and_deleted: bool,
    ) -> Result<Range<u32>> {
        let first = self.pending.len();
        for input in inputs {
            self.add_input(input, depth + 1)?;
        }
        if and_deleted {
            let leaf = self.add_leaf(LeafKey::Deleted);
            self.push_input(Operator::Deleted(leaf));
        }
        Ok(self.inputs_from(first))
    }

    pub(super) fn add_leaf(&mut self, key: LeafKey) -> LeafId {
        self.leaves.push(key);
        LeafId(self.leaves.len() as u32 - 1)
    }

    /// Looks every leaf up in one segment.
    fn look_up(
        &mut self,
        segment: SegmentReader<'s>,
        base: u64,
        look_ups: &LookUps,
    ) -> Result<SegmentPlan<'s>> {
        let n_docs = segment.n_docs();
        let OfSegment { leaves, mut infos, estimates } = self.of_segments.pop().unwrap_or_default();
        let mut leaves = recycled(leaves);
        leaves.extend(self.leaves.iter().map(|_| Leaf::ABSENT));
        if !self.phrases.is_empty() {
            infos.resize(leaves.len(), None);
        }
        for (at, key) in self.leaves.iter().enumerate() {
            match key {
                LeafKey::Deleted => leaves[at] = Leaf::of_deleted(segment)?,
                LeafKey::Presence { field } => {
                    let statistics = segment.field(*field).statistics()?;
                    leaves[at] = Leaf::of_presence(statistics.n_docs_with_value, n_docs);
                }
                LeafKey::Nearest { field, .. } => {
                    let statistics = segment.field(*field).statistics()?;
                    leaves[at] = Leaf::of_neighbors(statistics.n_docs_with_value);
                }
                LeafKey::Area { field, nth } => {
                    let area = &self.areas[*nth as usize].bound;
                    leaves[at] = Leaf::of_area(area, segment.field(*field), n_docs)?;
                }
                LeafKey::Expansion { field, nth } => {
                    let reader = segment.field(*field);
                    let expansion = &self.expansions[*nth as usize];
                    leaves[at] = Leaf::of_terms(expansion, reader, n_docs)?;
                }
                LeafKey::Term { field, .. } if self.is_first_of_field(at) => {
                    let reader = segment.field(*field);
                    let of_field = || {
                        let keys = self.leaves.iter().zip(0..).skip(at);
                        keys.filter_map(|(key, at)| match key {
                            LeafKey::Term { field: other, term } if other == field => {
                                Some((at, &self.terms[term.start as usize..term.end as usize]))
                            }
                            _ => None,
                        })
                    };
                    let mut places = of_field().map(|(at, _): (usize, _)| at);
                    let terms = of_field().map(|(_, term)| term);
                    look_ups.get_all(segment, *field, terms, |info| {
                        if let (Some(info), Some(place)) = (info, places.next()) {
                            reader.prefetch_postings(&info)?;
                            leaves[place] = Leaf::of_term(Some(info), n_docs);
                            if let Some(slot) = infos.get_mut(place) {
                                *slot = Some(info);
                            }
                        }
                        Ok(())
                    })?;
                }
                LeafKey::Term { .. } => {}
            }
        }
        // The only set of the plan is counted by its size, and a phrase opens its lists itself; every other plan compares windows.
        let is_counted_phrase = !self.explain && self.counts(self.root()) && self.is_phrase();
        if self.nodes.len() > 1 && !is_counted_phrase {
            for (leaf, key) in leaves.iter_mut().zip(&self.leaves) {
                if let Some(field) = key.field() {
                    leaf.read_header(segment.field(field))?;
                }
                if let Postings::Long(list) = &leaf.postings {
                    list.prefetch();
                }
            }
        }
        Ok(SegmentPlan {
            segment,
            base,
            n_docs,
            leaves,
            infos,
            estimates,
            display_estimates: vec![],
            less_deleted: None,
            count: CountWay::default(),
        })
    }

    /// The documents of patterns are united in memory, a bit for each of their segment.
    fn check_expansions(&self) -> Result<()> {
        if self.expansions.is_empty() && self.areas.is_empty() {
            return Ok(());
        }
        let in_segment = |part: &SegmentPlan<'_>| {
            let is_united = |leaf: &&Leaf<'_>| match &leaf.postings {
                Postings::Terms(_) => true,
                Postings::Points(scan) => scan.by_pages().is_some(),
                _ => false,
            };
            part.leaves.iter().filter(is_united).count() as u64 * DocSet::bytes_for(part.n_docs)
        };
        let bytes = self.segments.iter().map(in_segment).sum();
        // Taken when the plan is carried out; what will not do is told now.
        budget::hold(bytes)?;
        budget::release(bytes);
        Ok(())
    }

    /// Whether no leaf before this one reads a term of the same field.
    fn is_first_of_field(&self, at: usize) -> bool {
        let field = self.leaves[at].field();
        let is_same = |key: &LeafKey| matches!(key, LeafKey::Term { field: other, .. } if Some(*other) == field);
        !self.leaves[..at].iter().any(is_same)
    }

    /// Estimates every operator in one segment: over the whole, into `spans`, then for people window
    /// by window, some of which are looked at; `of_all` documents are in the snapshot.
    fn estimate(
        &mut self,
        part: &mut SegmentPlan<'s>,
        of_all: u64,
        options: &PlanOptions,
        clock: Option<&PhaseClock>,
    ) -> Result<()> {
        let n_windows = part.n_windows();
        let mut whole = std::mem::take(&mut self.spans);
        whole.clear();
        for node in &self.nodes {
            let span = match &node.operator {
                Operator::Nearest { leaf, input } => {
                    let share = f64::from(part.n_docs) / of_all.max(1) as f64;
                    self.span_of_neighbors((*leaf, input), part, &whole, share)
                }
                operator => self.combine(operator, &whole, part.n_docs, |leaf| {
                    part.leaves[leaf.index()].whole()
                }),
            };
            whole.push(span);
        }
        let source = |at: usize, by_window: bool| match self.nodes[at].operator {
            Operator::All | Operator::Nothing { .. } => EstimateSource::Segment,
            Operator::TermScan(_) => EstimateSource::DocumentFrequency,
            Operator::Exists(_) => EstimateSource::FieldStatistics,
            Operator::Deleted(_) => EstimateSource::Segment,
            Operator::Expand(leaf) | Operator::ColumnScan(leaf) | Operator::GeoScan(leaf) => {
                part.leaves[leaf.index()].source()
            }
            Operator::Nearest { .. } => EstimateSource::Neighbors,
            Operator::Phrase { .. } => EstimateSource::ShareOfPhrases,
            _ if by_window && n_windows > 1 => EstimateSource::Containers,
            _ => EstimateSource::Independence,
        };
        let spans = whole.iter().enumerate();
        let estimates =
            spans.map(|(at, whole)| SpanSum::of(*whole).estimate(*whole, source(at, false)));
        part.estimates.extend(estimates);
        // Execution finds windows without matches as fast as planning would, so only people gain.
        let by_window = options.explain
            && self.nodes.len() > 1
            && n_windows as usize * self.nodes.len() <= WINDOW_STEPS_MAX
            && match options.estimate_from {
                EstimateFrom::Dictionary => false,
                EstimateFrom::Headers => n_windows > 1,
                EstimateFrom::Samples => true,
            };
        if !by_window {
            self.spans = whole;
            return Ok(());
        }
        clock.and_then(|clock| clock.switch(Phase::Display));
        let (mut sums, mut open) = (vec![SpanSum::default(); self.nodes.len()], vec![]);
        let (mut spans, mut cursors) = (vec![], vec![0; self.leaves.len()]);
        for key in 0..n_windows {
            spans.clear();
            self.add_window(part, key, &mut cursors, &mut spans);
            spans.iter().zip(&mut sums).for_each(|(span, sum)| sum.add(*span));
            if options.estimate_from == EstimateFrom::Samples {
                open.extend(self.open_window(key, &spans));
            }
        }
        let told = sums.iter().zip(&whole).enumerate();
        let told = told.map(|(at, (sum, whole))| sum.estimate(*whole, source(at, true)));
        part.display_estimates.extend(told);
        self.spans = whole;
        if !open.is_empty() {
            let share = f64::from(part.n_docs) / of_all.max(1) as f64;
            if let Some(sampled) = self.sample(part, &open, &sums, share)? {
                part.display_estimates = sampled;
            }
        }
        clock.and_then(|clock| clock.switch(Phase::Estimate));
        Ok(())
    }

    /// Adds a segment, of which the estimates of the whole are in `spans`, to the estimates of all.
    fn add_segment(&mut self, part: SegmentPlan<'s>) {
        let spans = &self.spans;
        for ((node, estimate), whole) in self.nodes.iter_mut().zip(&part.estimates).zip(spans) {
            node.expected_docs += whole.documents;
            match self.segments.is_empty() {
                true => node.estimate = *estimate,
                false => node.estimate += *estimate,
            }
        }
        self.segments.push(part);
    }

    /// Adds what is known of each operator in window `key` of a segment; `cursors` only move forward.
    pub(super) fn add_window(
        &self,
        part: &SegmentPlan<'s>,
        key: u32,
        cursors: &mut [usize],
        spans: &mut Vec<Span>,
    ) {
        let (first, w) = (spans.len(), part.window_len(key));
        for node in &self.nodes {
            let span = self.combine(&node.operator, &spans[first..], w, |leaf| {
                let cursor = &mut cursors[leaf.index()];
                part.leaves[leaf.index()].span(cursor, key, w, part.n_docs)
            });
            spans.push(span);
        }
    }

    /// Bounds of one operator, from those of its inputs among `w` documents.
    #[inline]
    pub(super) fn combine(
        &self,
        operator: &Operator,
        spans: &[Span],
        w: u32,
        leaf: impl FnOnce(LeafId) -> Span,
    ) -> Span {
        let of = |inputs: &Range<u32>| self.inputs(inputs).iter().map(|input| spans[input.index()]);
        match operator {
            Operator::All => Span::exact(w),
            Operator::Intersect { all, none } => Span::intersect(of(all), of(none), w),
            Operator::Phrase { nth, input } => {
                let share = cost::phrase_share(&self.phrases[*nth as usize].spec);
                of(input).next().unwrap_or(Span::NOTHING).share(share)
            }
            Operator::Union { any } => Span::unite(of(any), w),
            Operator::AtLeast { minimum, any } => Span::at_least(*minimum, of(any), w),
            // Nothing, or what a leaf has.
            other => other.leaf().map_or(Span::NOTHING, leaf),
        }
    }

    /// Puts the smallest input of each intersection first: it decides which windows are visited, and later steps work on
    /// what is left. Excluded inputs go from the largest down, because that leaves the least for the rest.
    fn order_inputs(&mut self) {
        let of_node = |id: NodeId| self.node(id).expected_docs as u64;
        // Placing words counts for more than reading the documents of others.
        let of_placed = |at| match self.placed(NodeId(at), &of_node) {
            Some(documents) => documents.saturating_mul(PLACED_FOR_READ),
            None => of_node(NodeId(at)),
        };
        let orders: SmallVec<[u64; 16]> = match self.phrases.is_empty() {
            true => SmallVec::new(),
            false => (0..self.nodes.len() as u32).map(of_placed).collect(),
        };
        let last: SmallVec<[bool; 16]> = match self.areas.is_empty() {
            true => SmallVec::new(),
            false => self.nodes.iter().map(|node| self.compares_points(&node.operator)).collect(),
        };
        let (nodes, inputs) = (&self.nodes, &mut self.inputs);
        // Columns and points are asked last: about the documents that all else has left.
        let key = |id: &NodeId, placed: &[u64]| {
            let Node { operator, expected_docs, .. } = &nodes[id.index()];
            let documents = placed.get(id.index()).copied().unwrap_or(*expected_docs as u64);
            let is_compared = last.get(id.index()).copied().unwrap_or(false);
            (is_compared || matches!(operator, Operator::ColumnScan(_)), documents)
        };
        let documents = |id: &NodeId| key(id, &orders);
        // Words of what is excluded are placed last, where they leave out few.
        let excluded = |id: &NodeId| key(id, &[]);
        for (at, node) in nodes.iter().enumerate() {
            if let Operator::Intersect { all, none } = &node.operator {
                let of_all = &mut inputs[all.start as usize..all.end as usize];
                match self.forced {
                    Some(Forced::Order(of, InputOrder::AsWritten)) if of.index() == at => {}
                    Some(Forced::Order(of, InputOrder::LargestFirst)) if of.index() == at => {
                        of_all.sort_by_key(|id| std::cmp::Reverse(documents(id)));
                    }
                    _ => of_all.sort_by_key(documents),
                }
                inputs[none.start as usize..none.end as usize]
                    .sort_by_key(|id| std::cmp::Reverse(excluded(id)));
            }
        }
    }

    pub(super) fn sizes(&self, inputs: &Range<u32>) -> impl DoubleEndedIterator<Item = f64> {
        self.inputs(inputs).iter().map(|id| self.node(*id).estimate.documents as f64)
    }

    /// Looks for the smallest documents of a pattern that is the whole query, where no others are wanted.
    fn choose_smallest(&mut self) {
        self.smallest = self.goal.end().filter(|wanted| {
            let is_allowed = !self.keeps_matches && self.forced != Some(Forced::UniteTerms);
            let is_pattern = |(_, leaf)| self.n_terms(leaf) > 1;
            is_allowed
                && *wanted <= cost::SMALLEST_MAX
                && self.whole_expansion().is_some_and(is_pattern)
        });
    }

    /// The pattern that is the whole query, but for what is deleted.
    pub(crate) fn whole_expansion(&self) -> Option<(NodeId, LeafId)> {
        let root = self.root();
        let inputs = match &self.node(root).operator {
            Operator::Intersect { all, none } => (self.inputs(all), self.inputs(none)),
            _ => (&[root][..], &[][..]),
        };
        let is_deleted = |id: &NodeId| matches!(self.node(*id).operator, Operator::Deleted(_));
        match (inputs.0, &self.node(*inputs.0.first()?).operator) {
            ([only], Operator::Expand(leaf)) if inputs.1.iter().all(is_deleted) => {
                Some((*only, *leaf))
            }
            _ => None,
        }
    }

    pub(super) fn is_whole_expansion(&self, id: NodeId) -> bool {
        self.whole_expansion().is_some_and(|(whole, _)| whole == id)
    }

    /// Chooses how each segment is counted, where nothing but the number of matches is wanted.
    fn choose_count(&mut self) {
        let root = self.root();
        if !self.counts(root) {
            return;
        }
        let (reads, writes) = (Some(Forced::ReadPostings), Some(Forced::WriteThenCount));
        for at in 0..self.segments.len() {
            let part = &self.segments[at];
            let is_known = part.estimate(root).known().is_some() || part.less_deleted.is_some();
            self.segments[at].count = match self.forced {
                forced if is_known && forced != reads => CountWay::AtOnce,
                forced if forced == writes => CountWay::Written,
                _ if self.is_phrase() => CountWay::Phrase,
                _ => match self.area_to_count(at) {
                    Some(leaf) => CountWay::Area(leaf),
                    None => Pair::of(self, part).map_or(CountWay::ByWindow, CountWay::Pair),
                },
            };
        }
    }

    /// Whether one phrase of words is all that is asked for.
    fn is_phrase(&self) -> bool {
        let Operator::Phrase { ref input, .. } = self.node(self.root()).operator else {
            return false;
        };
        let is_deleted = |id: &NodeId| matches!(self.node(*id).operator, Operator::Deleted(_));
        let excludes = |id: &NodeId| match &self.node(*id).operator {
            Operator::Intersect { none, .. } => !self.inputs(none).iter().all(is_deleted),
            _ => false,
        };
        let is_plain = |it: &PhrasePlan| !it.is_beside_others && it.spec.open.is_empty();
        matches!(&self.phrases[..], [phrase] if is_plain(phrase))
            && !self.inputs(input).iter().any(excludes)
    }

    /// Whether documents are counted by the phrase at the root, which reads the lists of the operators below it by itself.
    pub(crate) fn counts_phrase(&self) -> bool {
        self.segments.iter().any(|part| matches!(part.count, CountWay::Phrase))
    }

    /// Terms that a pattern stands for, summed over the segments, as far as planning has found them.
    pub(super) fn n_terms(&self, leaf: LeafId) -> u64 {
        self.segments.iter().map(|part| part.leaves[leaf.index()].n_terms()).sum()
    }
}

fn is_phrase(normal: &Normal) -> bool {
    matches!(normal, Normal::Phrase { .. })
}
