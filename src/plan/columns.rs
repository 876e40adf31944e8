//! Conditions on a column: whether the remaining documents have one of the values.

use super::cost;
use super::decision::Rule;
use super::forced::Forced;
use super::leaf::{Codes, ColumnValues, Leaf, Postings};
use super::{LeafId, LeafKey, Node, NodeId, Operator, Plan, SegmentPlan, WINDOW};
use crate::error::Result;
use crate::expansion::{Expansion, TermPattern};
use crate::ids::FieldId;
use crate::value::code_of_term;
use std::ops::Range;

impl<'s> Plan<'s> {
    /// Compares the values of documents where that costs less than uniting lists: where other conditions leave few
    /// documents, or the terms of a range are about as many as documents.
    pub(super) fn choose_columns(&mut self) -> Result<()> {
        if !(0..self.nodes.len() as u32).any(|at| self.is_of_values(NodeId(at))) {
            return Ok(());
        }
        let n_docs = self.n_docs() as f64;
        // By operator, the documents for which its parents want to know, and whether it has been asked.
        let mut wanted = std::mem::take(&mut self.wanted);
        wanted.resize(self.nodes.len(), (n_docs, false));
        let mut conditions: Vec<(f64, NodeId)> = vec![];
        for at in (0..self.nodes.len()).rev() {
            let (mut left, is_asked) = wanted[at];
            let id = NodeId(at as u32);
            if !is_asked && self.is_of_values(id) && self.goes_by_column(id, left)? {
                continue;
            }
            match self.nodes[at].operator.clone() {
                Operator::Intersect { all, none } => {
                    // From the smallest on, so that there is one whose lists lead to the documents.
                    conditions.clear();
                    for input in self.inputs(&all) {
                        let documents = self.node(*input).expected_docs;
                        match self.is_of_values(*input) {
                            true => conditions.push((documents, *input)),
                            false => left = left.min(documents),
                        }
                    }
                    conditions.sort_by(|a, b| a.0.total_cmp(&b.0));
                    for (documents, input) in &conditions {
                        wanted[input.index()].1 = true;
                        if !self.goes_by_column(*input, left)? {
                            left = left.min(*documents);
                        }
                    }
                    for input in self.inputs(&all).iter().chain(self.inputs(&none)) {
                        wanted[input.index()].0 = left;
                    }
                }
                Operator::Union { any } | Operator::Phrase { input: any, .. } => {
                    self.inputs(&any).iter().for_each(|input| wanted[input.index()].0 = left);
                }
                _ => {}
            }
        }
        self.wanted = wanted;
        Ok(())
    }

    /// Whether an operator finds documents by many terms or values of a field.
    fn is_of_values(&self, id: NodeId) -> bool {
        match &self.node(id).operator {
            Operator::Expand(leaf) => self.n_terms(*leaf) > 1,
            Operator::Union { any } => any.len() > 1,
            _ => false,
        }
    }

    /// Turns an operator into one that is asked of the column, where that costs less for so many documents, or is forced.
    fn goes_by_column(&mut self, id: NodeId, documents: f64) -> Result<bool> {
        let leaf = self.node(id).operator.leaf();
        let n_of_sets = self.n_of_sets();
        let is_shared = leaf.is_some()
            && id.index() >= n_of_sets
            && self.nodes[..n_of_sets].iter().any(|node| node.operator.leaf() == leaf);
        // A set is found whole, so there is nothing to be spared.
        if is_shared || self.forced == Some(Forced::UniteLists(id)) {
            return Ok(false);
        }
        let operator = self.node(id).operator.clone();
        let smallest = self.smallest.filter(|_| self.is_whole_expansion(id));
        // If matches lay anywhere, whole windows are compared before as many are found as are wanted.
        let (n_docs, root) = (self.n_docs() as f64, self.node(self.root()));
        let read = |wanted: f64| {
            (wanted * n_docs / root.expected_docs.max(1.0)).max(WINDOW.into()).min(n_docs)
        };
        let documents = smallest.map_or(documents, |wanted| read(wanted as f64));
        let (field, pattern, united_ns) = match &operator {
            Operator::Expand(leaf) => match self.leaves[leaf.index()] {
                LeafKey::Expansion { field, nth } if self.expansions[nth as usize].is_range() => {
                    let expected = self.node(id).expected_docs as u64;
                    let united = if smallest.is_some() { 0 } else { expected };
                    let united_ns = self.costs.expand_ns(self.n_terms(*leaf), united);
                    (field, Some((*leaf, nth)), united_ns)
                }
                _ => return Ok(false),
            },
            Operator::Union { any } => {
                let Some(field) = self.field_of_terms(any) else { return Ok(false) };
                // Cost of uniting the lists of all inputs, or of looking for so many documents in each of them.
                let n_docs = u32::try_from(self.n_docs()).unwrap_or(u32::MAX);
                let looked_up = self.costs.look_up_ns(any.len(), documents, n_docs);
                (field, None, self.costs.union_ns(self.sizes(any), n_docs).min(looked_up))
            }
            _ => return Ok(false),
        };
        let is_asked = |part: &SegmentPlan<'_>| {
            pattern.is_none_or(|(leaf, _)| part.leaves[leaf.index()].terms().is_some())
        };
        let Some(cost_ns) = self.column_cost(field, documents, pattern.is_some(), is_asked)? else {
            return Ok(false);
        };
        let n_documents = documents as u64;
        let is_better = cost_ns < united_ns || self.forced == Some(Forced::ByColumn(id));
        if !is_better {
            if smallest.is_none() {
                self.record(id, Rule::UniteLists { documents: n_documents }, united_ns, cost_ns);
            }
            return Ok(false);
        }
        self.smallest = self.smallest.filter(|_| smallest.is_none());
        let leaf = match (&operator, pattern) {
            (_, Some((leaf, nth))) => {
                let expansion = &self.expansions[nth as usize];
                for part in &mut self.segments {
                    let reader = part.segment.field(field);
                    part.leaves[leaf.index()].go_by_column(expansion, reader)?;
                }
                leaf
            }
            (Operator::Union { any }, None) => self.leaf_of_values(id, any, field)?,
            _ => return Ok(false),
        };
        let reads_it =
            |node: &&mut Node| matches!(node.operator, Operator::Expand(of) if of == leaf);
        for node in self.nodes.iter_mut().filter(reads_it) {
            node.operator = Operator::ColumnScan(leaf);
        }
        let node = &mut self.nodes[id.index()];
        (node.operator, node.cost_ns) = (Operator::ColumnScan(leaf), cost_ns);
        self.record(id, Rule::ByColumn { documents: n_documents }, cost_ns, united_ns);
        Ok(true)
    }

    /// A leaf of the values of a column, instead of a union of terms of one field, whose lists are not read.
    fn leaf_of_values(&mut self, id: NodeId, any: &Range<u32>, field: FieldId) -> Result<LeafId> {
        let term_of = |id: &NodeId| {
            let leaf = self.node(*id).operator.leaf()?;
            Some((leaf, self.leaf(leaf).1?.to_owned()))
        };
        let mut terms: Vec<(LeafId, Vec<u8>)> =
            self.inputs(any).iter().filter_map(term_of).collect();
        terms.sort_by(|a, b| a.1.cmp(&b.1));
        terms.dedup_by(|a, b| a.1 == b.1);
        for part in &mut self.segments {
            let has_ordinals = part.segment.schema().get(field).has_ordinals();
            let reader = part.segment.field(field);
            let (dictionary, mut codes) = (reader.terms()?, vec![]);
            for (leaf, term) in &terms {
                if !matches!(part.leaves[leaf.index()].postings, Postings::Absent) {
                    codes.extend(match has_ordinals {
                        true => Some(dictionary.rank(term)?.into()),
                        false => code_of_term(term),
                    });
                }
            }
            // Their lists are not read.
            terms.iter().for_each(|(leaf, _)| part.leaves[leaf.index()] = Leaf::ABSENT);
            part.leaves.push(match reader.column()?.filter(|_| !codes.is_empty()) {
                Some(column) => {
                    let codes = Codes::Some(codes);
                    let values = ColumnValues { column, codes, terms: None };
                    let documents = part.estimates[id.index()].documents as u32;
                    Leaf { documents, postings: Postings::Column(Box::new(values)) }
                }
                None => Leaf::ABSENT,
            });
        }
        let nth = self.expansions.len() as u32;
        let values = terms.into_iter().map(|(_, term)| term).collect();
        self.expansions.push(Expansion::new(TermPattern::Set(values))?);
        Ok(self.add_leaf(LeafKey::Expansion { field, nth }))
    }

    /// The field of inputs that are terms of one field.
    fn field_of_terms(&self, any: &Range<u32>) -> Option<FieldId> {
        let of_input = |id: &NodeId| match self.node(*id).operator {
            Operator::TermScan(leaf) => self.leaf(leaf).0,
            _ => None,
        };
        let mut fields = self.inputs(any).iter().map(of_input);
        let first = fields.next()??;
        fields.all(|field| field == Some(first)).then_some(first)
    }

    /// Costs of comparing the values of so many documents with a range, or with some others; `None` without a column in all segments.
    fn column_cost(
        &self,
        field: FieldId,
        documents: f64,
        is_range: bool,
        is_asked: impl Fn(&SegmentPlan<'_>) -> bool,
    ) -> Result<Option<f32>> {
        let (mut n_docs, mut by_block, mut has_neighbours) = (0.0, 0.0, is_range);
        for part in self.segments.iter().filter(|part| is_asked(part)) {
            let Some(column) = part.segment.field(field).column()? else { return Ok(None) };
            n_docs += f64::from(part.n_docs);
            has_neighbours &= column.has_neighbours();
            if column.plain().is_none() {
                by_block += f64::from(part.n_docs);
            }
        }
        if has_neighbours && documents >= self.n_docs() as f64 * cost::COLUMN_FILL_SHARE {
            return Ok(Some(self.costs.fill_column_ns(n_docs, by_block)));
        }
        // These segments have the same share of those that are wanted as of all.
        let documents = documents * n_docs / self.n_docs().max(1) as f64;
        let by_block = documents * by_block / n_docs.max(1.0);
        Ok(Some(self.costs.column_scan_ns(documents, by_block)))
    }
}
