//! Record of the decision about each operator, and of the cost of the other way. Only people read it, nothing that
//! runs.

use super::cost;
use super::decision::{Decision, Rule};
use super::leaf::Postings;
use super::{Goal, LeafId, Node, NodeId, Operator, PhrasePlan, Plan, SegmentPlan};
use std::ops::Range;

impl Plan<'_> {
    /// Adds up the estimates for display of all segments, if any was looked at by window.
    pub(super) fn add_up_display_estimates(&mut self) {
        if self.segments.iter().all(|part| part.display_estimates.is_empty()) {
            return;
        }
        for at in 0..self.nodes.len() {
            let id = NodeId(at as u32);
            let mut parts = self.segments.iter().map(|part| *part.display_estimate(id));
            if let Some(mut sum) = parts.next() {
                parts.for_each(|of_part| sum += of_part);
                self.display_estimates.push(sum);
            }
        }
        if !self.neighbors.is_empty() {
            let mut limited = std::mem::take(&mut self.display_estimates);
            self.limit_estimates(&mut limited);
            self.display_estimates = limited;
        }
    }

    pub(super) fn price_operators(&mut self) {
        let n_docs = u32::try_from(self.n_docs()).unwrap_or(u32::MAX);
        let windows = cost::windows(n_docs);
        for at in 0..self.nodes.len() {
            let node = &self.nodes[at];
            let documents = self.display_estimate(NodeId(at as u32)).documents;
            let cost_ns = match &node.operator {
                _ if node.estimate.is_empty() => 0.0,
                Operator::All | Operator::Nothing { .. } => 0.0,
                Operator::Expand(leaf) => self.costs.expand_ns(self.n_terms(*leaf), documents),
                // Known since it was chosen.
                Operator::ColumnScan(_) | Operator::GeoScan(_) => node.cost_ns,
                Operator::Nearest { leaf, .. } => {
                    self.ways(*leaf).iter().map(|it| it.cost_ns).sum()
                }
                Operator::TermScan(_) | Operator::Exists(_) | Operator::Deleted(_) => {
                    self.costs.scan_ns(documents, windows)
                }
                Operator::Intersect { all, none } => {
                    self.costs.intersect_ns(self.sizes(all).chain(self.sizes(none)), n_docs)
                }
                Operator::Union { any } => self.costs.union_ns(self.sizes(any), n_docs),
                Operator::AtLeast { any, .. } => self.costs.count_each_ns(self.sizes(any)),
                Operator::Phrase { nth, input } => {
                    let documents = |id: &NodeId| self.display_estimate(*id).documents as f64;
                    let documents = self.inputs(input).iter().map(documents).sum();
                    self.costs.place_ns(documents, self.phrases[*nth as usize].spec.len())
                }
            };
            self.nodes[at].cost_ns = cost_ns;
        }
    }

    /// Records what was decided about each operator, and what the other way would have cost.
    pub(super) fn decide(&mut self) {
        let root = self.root();
        let node = self.node(root);
        let reading: f32 = self.nodes[self.n_of_sets()..].iter().map(|node| node.cost_ns).sum();
        match self.goal {
            // If everything is kept, for facets or for finding the best of it, no page ends anything.
            _ if self.keeps_matches => {}
            Goal::Count if !node.estimate.is_empty() && self.is_answered() => {
                // Nothing runs, so nothing else is left to decide.
                self.record(root, Rule::CountIsKnown, 0.0, reading);
            }
            Goal::Count | Goal::Page { limit: 0, .. } => {}
            Goal::Page { offset, limit, .. } => {
                let documents = offset.saturating_add(limit);
                if documents < node.estimate.documents && self.smallest.is_none() {
                    let share = documents as f32 / node.estimate.documents as f32;
                    self.record(root, Rule::StopAtPage { documents }, reading * share, reading);
                }
            }
        }
        for at in 0..self.nodes.len() {
            let id = NodeId(at as u32);
            match &self.nodes[at].operator {
                Operator::Intersect { all, none } => {
                    self.decide_intersection(id, all.clone(), none.clone());
                }
                Operator::Union { any } => self.decide_union(id, any.clone()),
                Operator::Expand(leaf) => self.decide_expansion(id, *leaf),
                Operator::Phrase { nth, .. } => self.decide_phrase(id, *nth as usize),
                _ => {}
            }
        }
    }

    fn decide_intersection(&mut self, id: NodeId, all: Range<u32>, none: Range<u32>) {
        let n_docs = u32::try_from(self.n_docs()).unwrap_or(u32::MAX);
        let windows = cost::windows(n_docs);
        if self.node(id).estimate.is_empty() {
            let absent = self.inputs(&all).iter().find_map(|input| self.absent_leaf(*input));
            let rule = absent.map_or(Rule::NeverMeet, Rule::AbsentTerm);
            self.record(id, rule, 0.0, self.costs.intersect_ns(self.sizes(&all), n_docs));
            return;
        }
        for at in all.clone() {
            let input = self.node(self.inputs[at as usize]);
            if let Some(leaf) = input.operator.leaf()
                && self.is_everything(leaf)
            {
                self.record(id, Rule::EveryDocument(leaf), 0.0, input.cost_ns);
            }
        }
        if self.is_answered() {
            return;
        }
        let chosen = self.node(id).cost_ns;
        if all.len() > 1 {
            let moved = self.inputs(&all).windows(2).any(|pair| pair[0].0 > pair[1].0);
            let backwards =
                self.costs.intersect_ns(self.sizes(&all).rev().chain(self.sizes(&none)), n_docs);
            self.record(id, Rule::SmallestFirst { moved }, chosen, backwards);
        }
        let conditions = self.sizes(&all).chain(self.sizes(&none));
        let smallest = first_two(conditions.filter(|size| *size < f64::from(n_docs)));
        if let Some((a, b)) = smallest.filter(|_| !all.is_empty()) {
            let kernel = cost::kernel(a, b, windows);
            let price = |kernel| self.costs.kernel_ns(kernel, a, b, windows);
            let (best, next) = (price(kernel), price(kernel.alternative()));
            self.record(id, Rule::Kernel { chosen: kernel }, best, next);
        }
        if self.counts(id) {
            let written = self.costs.write_set_ns(self.node(id).estimate.documents as f64, windows);
            let rule = if all.is_empty() { Rule::Complement } else { Rule::CountLastStep };
            self.record(id, rule, chosen, chosen + written);
        }
    }

    fn decide_union(&mut self, id: NodeId, any: Range<u32>) {
        let n_docs = u32::try_from(self.n_docs()).unwrap_or(u32::MAX);
        let windows = cost::windows(n_docs);
        for at in any.clone() {
            if let Some(leaf) = self.absent_leaf(self.inputs[at as usize]) {
                self.record(id, Rule::DropFromUnion(leaf), 0.0, self.costs.lookup_ns);
            }
        }
        if !self.counts(id) || self.is_answered() {
            return;
        }
        let uniting = self.node(id).cost_ns;
        let sizes = || self.sizes(&any).filter(|size| *size > 0.0);
        match (sizes().count(), first_two(sizes())) {
            (2, Some((a, b))) => {
                let shared = self.costs.and_count_ns(a, b, windows);
                self.nodes[id.index()].cost_ns = shared;
                self.record(id, Rule::InclusionExclusion, shared, uniting);
            }
            (3.., _) => {
                let written =
                    self.costs.write_set_ns(self.node(id).estimate.documents as f64, windows);
                self.record(id, Rule::CountWhileUniting, uniting, uniting + written);
            }
            _ => {}
        }
    }

    fn decide_expansion(&mut self, id: NodeId, leaf: LeafId) {
        let terms = self.n_terms(leaf);
        if terms < 2 {
            return;
        }
        let Node { estimate, cost_ns, .. } = *self.node(id);
        if let Some(documents) = self.smallest.filter(|_| self.is_whole_expansion(id)) {
            let smallest_ns = self.costs.expand_ns(terms, 0);
            self.record(id, Rule::SmallestOfTerms { documents }, smallest_ns, cost_ns);
            return;
        }
        let windows = cost::windows(u32::try_from(self.n_docs()).unwrap_or(u32::MAX));
        let each = self.costs.expand_each_ns(terms, estimate.documents, windows);
        self.record(id, Rule::UniteTerms { terms }, cost_ns, each);
    }

    fn decide_phrase(&mut self, id: NodeId, nth: usize) {
        let Node { estimate, cost_ns, .. } = *self.node(id);
        if estimate.is_empty() {
            return;
        }
        let PhrasePlan { spec, leaves, is_beside_others, .. } = &self.phrases[nth];
        let is_beside_others = *is_beside_others;
        let of_leaf = |leaf: &LeafId| -> f64 {
            let documents = |part: &SegmentPlan<'_>| part.leaves[leaf.index()].documents;
            self.segments.iter().map(|part| f64::from(documents(part))).sum()
        };
        // Patterns alone count as if one were in every document.
        let n_docs = self.n_docs() as f64;
        let sizes = leaves.iter().map(of_leaf);
        let candidates = match is_beside_others {
            // Documents with all words, as if these did not know each other.
            true => sizes.fold(n_docs, |documents, size| documents * (size / n_docs.max(1.0))),
            false => sizes.fold(n_docs, f64::min),
        };
        let each = self.costs.place_ns(candidates, spec.len());
        self.record(id, Rule::PositionsLast { is_beside_others }, cost_ns, each);
    }

    /// Whether the plan itself is the answer. Of neighbours only the number in all segments together is known.
    fn is_answered(&self) -> bool {
        let root = self.root();
        self.counts(root) && self.segments.iter().all(|part| part.estimate(root).known().is_some())
    }

    /// Whether only the number of documents of this operator is wanted.
    pub(crate) fn counts(&self, id: NodeId) -> bool {
        id == self.root() && self.goal == Goal::Count && !self.keeps_matches
    }

    /// The leaf of an input that no document of any segment has.
    fn absent_leaf(&self, input: NodeId) -> Option<LeafId> {
        let Node { operator, estimate, .. } = self.node(input);
        operator.leaf().filter(|_| estimate.is_empty())
    }

    fn is_everything(&self, leaf: LeafId) -> bool {
        let everything = |part: &SegmentPlan<'_>| {
            matches!(part.leaves[leaf.index()].postings, Postings::Everything)
        };
        !self.segments.is_empty() && self.segments.iter().all(everything)
    }

    pub(super) fn record(&mut self, node: NodeId, rule: Rule, cost_ns: f32, alternative_ns: f32) {
        if self.explain {
            self.decisions.push(Decision { node, rule, cost_ns, alternative_ns });
        }
    }
}

fn first_two(mut sizes: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    sizes.next().zip(sizes.next())
}
