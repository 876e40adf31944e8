//! Verdicts of a plan's operators on one document, and what follows from them.
//!
//! The document is looked up in what the leaves read, once for each leaf that is asked; nothing else is found.

use super::documents::{ExplainDocument, Verdict};
use super::from_plan::inputs_of;
use super::units::shortened;
use super::{ExplainNode, ExplainTree};
use crate::error::Result;
use crate::ids::DocId;
use crate::matching::{leaf_has, phrase_has};
use crate::nearest::Standing;
use crate::plan::{LeafId, NodeId, Operator, Plan, SegmentPlan};
use crate::query::{Neighbors, Proximity};
use crate::value::Value;
use std::collections::BTreeMap;

/// Characters of a title.
const TITLE_CHARS_MAX: usize = 120;

/// Verdicts of the nodes of `tree`, which was made of `plan`, on a document, which is in the segment with this place and has this
/// number there; nothing of its score, nor of the page.
///
/// # Errors
///
/// Errors of reading the lists, and a budget that runs out.
pub(crate) fn document(
    plan: &Plan<'_>,
    tree: &ExplainTree,
    doc: DocId,
    (segment, doc_there): (usize, u32),
) -> Result<ExplainDocument> {
    let part = &plan.segments[segment];
    let deleted = part.segment.is_deleted(doc_there)?;
    let title = if deleted { String::new() } else { title(part, doc_there)? };
    let (root, node) = (plan.root(), tree.matches());
    let says = vec![None; plan.nodes.len()];
    let mut walk = Walk { plan, part, segment, doc: doc_there, says, distances: vec![] };
    let mut verdicts = BTreeMap::new();
    let matches = walk.ask(root, node, &mut verdicts)?;
    let (mut reason, mut failed_at, mut misses) = ("matches".to_owned(), None, vec![]);
    if !matches {
        walk.misses(root, node, &mut misses)?;
        let (at, why) = walk.decided(root, node);
        failed_at = Some(at.id.clone());
        reason = match &plan.node(root).operator {
            _ if deleted => "it is deleted".to_owned(),
            Operator::Nothing { reason } => format!("nothing can match: {reason}"),
            _ => format!("fails at {}: {why}", at.label),
        };
    }
    let (doc, score) = (doc.0, None);
    Ok(ExplainDocument { doc, title, deleted, matches, verdicts, failed_at, reason, misses, score })
}

/// The start of the first stored value that is not empty.
fn title(part: &SegmentPlan<'_>, doc: u32) -> Result<String> {
    let stored = part.segment.stored(doc)?;
    // A number says less than a text.
    let (texts, others): (Vec<_>, Vec<_>) =
        stored.iter().partition(|(_, value)| matches!(value, Value::Text(_)));
    let mut texts = texts.into_iter().chain(others).map(|(_, value)| value.to_text());
    let first = texts.find(|text| !text.trim().is_empty());
    Ok(first.map_or_else(String::new, |text| shortened(text.trim(), TITLE_CHARS_MAX).into_owned()))
}

struct Walk<'w, 's> {
    plan: &'w Plan<'s>,
    part: &'w SegmentPlan<'s>,
    /// Place of the segment.
    segment: usize,
    doc: u32,
    /// By operator whether it has the document, as far as it was asked.
    says: Vec<Option<bool>>,
    /// Distances of points from areas, by operators that do not have the document for that.
    distances: Vec<(NodeId, String)>,
}

/// Verdict of each node, by its id.
type Verdicts = BTreeMap<String, Verdict>;

impl Walk<'_, '_> {
    /// Asks an operator and those below it, which `node` and its children show, in the order of execution.
    fn ask(&mut self, id: NodeId, node: &ExplainNode, verdicts: &mut Verdicts) -> Result<bool> {
        let plan = self.plan;
        let operator = &plan.node(id).operator;
        let (mut n_met, mut n_missed) = (0, 0);
        for ((input, wanted), child) in inputs_of(plan, id).zip(&node.children) {
            let is_decided = n_missed > 0 && matches!(operator, Operator::Intersect { .. });
            if is_decided && !self.is_deleted(input) {
                let below = child.iter().map(|node| (node.id.clone(), Verdict::NotReached));
                verdicts.extend(below);
                continue;
            }
            if self.ask(input, child, verdicts)? == wanted { n_met += 1 } else { n_missed += 1 }
        }
        let has = match operator {
            Operator::All => true,
            Operator::Nothing { .. } => false,
            Operator::TermScan(leaf)
            | Operator::Exists(leaf)
            | Operator::Expand(leaf)
            | Operator::ColumnScan(leaf)
            | Operator::GeoScan(leaf)
            | Operator::Nearest { leaf, .. }
            | Operator::Deleted(leaf) => leaf_has(plan, self.part, *leaf, self.doc)?,
            Operator::Intersect { .. } => n_missed == 0,
            Operator::Phrase { nth, .. } => {
                n_missed == 0 && phrase_has(plan, self.part, *nth, self.doc)?
            }
            Operator::Union { .. } => n_met > 0,
            Operator::AtLeast { minimum, .. } => n_met >= *minimum,
        };
        if let (Operator::GeoScan(leaf), false) = (operator, has) {
            self.measure(id, *leaf)?;
        }
        self.says[id.index()] = Some(has);
        let verdict = if has { Verdict::Matched } else { Verdict::Failed };
        verdicts.insert(node.id.clone(), verdict);
        Ok(has)
    }

    fn is_deleted(&self, id: NodeId) -> bool {
        matches!(self.plan.node(id).operator, Operator::Deleted(_))
    }

    /// Whether an operator has the document, also where nobody had to ask.
    fn has(&mut self, id: NodeId, node: &ExplainNode) -> Result<bool> {
        match self.says[id.index()] {
            Some(has) => Ok(has),
            None => self.ask(id, node, &mut Verdicts::new()),
        }
    }

    /// The node because of which an operator that was asked does not have the document, and why that does not.
    fn decided<'n>(&self, id: NodeId, node: &'n ExplainNode) -> (&'n ExplainNode, String) {
        let plan = self.plan;
        let operator = &plan.node(id).operator;
        if matches!(operator, Operator::Intersect { .. } | Operator::Phrase { .. }) {
            let inputs = inputs_of(plan, id).zip(&node.children);
            let mut missed =
                inputs.filter(|((input, wanted), _)| self.says[input.index()] == Some(!wanted));
            // A deleted document is so whatever else is missing.
            let deleted = missed.clone().find(|((input, _), _)| self.is_deleted(*input));
            match deleted.or_else(|| missed.next()) {
                Some(((input, true), child)) => return self.decided(input, child),
                Some(((input, false), child)) => {
                    return (child, told(&plan.node(input).operator, true).to_owned());
                }
                None => {}
            }
        }
        (node, self.missing(id))
    }

    /// Why an operator whose inputs are as they must be does not have the document.
    fn missing(&self, id: NodeId) -> String {
        match &self.plan.node(id).operator {
            Operator::Nothing { reason } => reason.clone(),
            Operator::Phrase { nth, .. } => {
                format!("the document has the words, but {}", self.apart(*nth))
            }
            Operator::Union { any } => format!("none of {} alternatives matches", any.len()),
            Operator::AtLeast { minimum, any } => {
                let inputs = self.plan.inputs(any).iter();
                let n = inputs.filter(|input| self.says[input.index()] == Some(true)).count();
                format!("{n} of {} alternatives match, and {minimum} must", any.len())
            }
            Operator::Nearest { leaf, .. } => self.too_far(*leaf),
            operator @ Operator::GeoScan(_) => {
                let own = self.distances.iter().find(|(of, _)| *of == id);
                own.map_or_else(|| told(operator, false).to_owned(), |(_, text)| text.clone())
            }
            other => told(other, false).to_owned(),
        }
    }

    /// Takes note of how far the points of the document are from an area.
    fn measure(&mut self, id: NodeId, leaf: LeafId) -> Result<()> {
        let (Some(plan), Some(field)) = (self.plan.area(leaf), self.plan.leaf(leaf).0) else {
            return Ok(());
        };
        let Some(points) = self.part.segment.field(field).points()? else { return Ok(()) };
        let points = points.of_doc(self.doc)?;
        if !points.is_empty() {
            self.distances.push((id, plan.bound.missed_by(&plan.area, &points)));
        }
        Ok(())
    }

    /// Says why a document is no neighbour.
    fn too_far(&self, leaf: LeafId) -> String {
        let neighbors = self.plan.neighbors_of(leaf);
        let Some((it, found)) = neighbors.and_then(|it| it.found.as_ref().map(|found| (it, found)))
        else {
            return "its neighbours are not found before the plan is run".to_owned();
        };
        let own = it.standings.iter().find(|(of, _)| *of == (self.segment, self.doc));
        let (similarity, rank) = match own {
            None => return "the document does not meet what filters the neighbours".to_owned(),
            Some((_, None)) => return "the document has no vector there".to_owned(),
            Some((_, Some(Standing { similarity, rank }))) => (similarity, rank),
        };
        let nth = format!("the document is number {rank} by similarity, {similarity}");
        match found.least() {
            _ if matches!(it.spec.wanted, Neighbors::Within(_)) => format!("{nth}: too little"),
            Some(least) if *similarity > least => {
                format!(
                    "{nth}, and that of the last neighbour {least}: the walk did not come to it"
                )
            }
            Some(least) => format!("{nth}, and that of the last neighbour is {least}"),
            None => nth,
        }
    }

    /// Says what is wrong with words that are all there.
    fn apart(&self, nth: u32) -> &'static str {
        match self.plan.phrases[nth as usize].spec.proximity {
            Proximity::Exact => "not side by side",
            Proximity::Ordered(_) => "not so near in this order",
            _ => "not so near",
        }
    }

    /// Says of an operator that the document does not meet it, and by how much if that is known.
    fn missed(&self, id: NodeId, node: &ExplainNode) -> String {
        let label = &node.label;
        match self.distances.iter().find(|(of, _)| *of == id) {
            Some((_, distance)) => format!("{label} must match and does not: {distance}"),
            None => format!("{label} must match and does not"),
        }
    }

    /// Adds each condition of an operator that the document does not meet.
    fn misses(&mut self, id: NodeId, node: &ExplainNode, misses: &mut Vec<String>) -> Result<()> {
        let plan = self.plan;
        match &plan.node(id).operator {
            Operator::Intersect { .. } => {
                for ((input, wanted), child) in inputs_of(plan, id).zip(&node.children) {
                    let has = self.has(input, child)?;
                    let label = &child.label;
                    misses.extend(match &plan.node(input).operator {
                        _ if has == wanted => None,
                        Operator::Deleted(_) => Some("it is deleted".to_owned()),
                        Operator::AtLeast { .. } if wanted => Some(self.missing(input)),
                        _ if wanted => Some(self.missed(input, child)),
                        _ => {
                            let label = label.strip_prefix("NOT ").unwrap_or(label);
                            Some(format!("{label} must not match and does"))
                        }
                    });
                }
            }
            Operator::Phrase { nth, .. } => {
                let mut has_words = true;
                for ((input, _), child) in inputs_of(plan, id).zip(&node.children) {
                    has_words &= self.has(input, child)?;
                    self.misses(input, child, misses)?;
                }
                if has_words && self.says[id.index()] == Some(false) {
                    let (label, apart) = (&node.label, self.apart(*nth));
                    misses.push(format!("{label} must match and does not: its words are {apart}"));
                }
            }
            _ if self.has(id, node)? => {}
            Operator::Union { .. } | Operator::AtLeast { .. } | Operator::Nothing { .. } => {
                misses.push(self.missing(id));
            }
            _ => misses.push(self.missed(id, node)),
        }
        Ok(())
    }
}

/// Says that an operator has a document, or has not.
fn told(operator: &Operator, has: bool) -> &'static str {
    let (if_has, if_not) = match operator {
        Operator::Deleted(_) => ("it is deleted", "the document does not match it"),
        Operator::TermScan(_) => ("the document has it", "the document does not have it"),
        Operator::Exists(_) => {
            ("the document has a value there", "the document has no value there")
        }
        Operator::Expand(_) | Operator::ColumnScan(_) => {
            ("the document has one of its terms", "the document has none of its terms")
        }
        Operator::GeoScan(_) => {
            ("the document has a point there", "the document has no point there")
        }
        Operator::Nearest { .. } => (
            "the document is one of the neighbours",
            "the document is not among the neighbours, or has no vector there",
        ),
        _ => ("the document matches it", "the document does not match it"),
    };
    if has { if_has } else { if_not }
}
