//! Samples: the documents that every operator finds in one window of a segment.
//!
//! Lists of terms are intersected and united by the kernels that execution uses, but without its shortcuts: each
//! operator is counted by itself, whatever those above it need. Operators that would take long are left alone, and
//! estimated from what is counted below them: patterns, columns, words that must be placed, and how many inputs have
//! a document.

use super::estimate::Span;
use super::leaf::Postings;
use super::{LeafId, NodeId, Operator, Plan, SegmentPlan};
use crate::bitmap::{self, Container, ContainerBuf, Scratch};
use crate::bytes::Bytes;
use crate::error::Result;
use std::ops::Range;

/// Documents next to each other that are taken together: what is known of one mostly lies beside that of the next.
pub(super) const GROUP: usize = 4;

/// The documents of each operator in the window at hand.
pub(super) struct WindowSets<'p, 's> {
    plan: &'p Plan<'s>,
    part: &'p SegmentPlan<'s>,
    /// By leaf, the documents of lists that are no containers.
    few: Vec<Vec<u32>>,
    /// By operator.
    sets: Vec<Set<'s>>,
    /// By operator, what follows for its number.
    pub(super) spans: Vec<Span>,
    memory: Memory,
}

/// Memory that only some operators take: 8 KiB a buffer.
#[derive(Default)]
struct Memory {
    scratch: Option<Scratch>,
    spare: Option<ContainerBuf>,
}

struct Set<'s> {
    documents: Documents<'s>,
    /// Memory, kept from window to window.
    made: Option<ContainerBuf>,
}

enum Documents<'s> {
    /// Not known; its span is all there is to say.
    Unknown,
    Everything,
    /// A container where it lies.
    Listed {
        leaf: LeafId,
        nth: usize,
        payload: Bytes<'s>,
    },
    Few(Vec<[u8; 2]>),
    /// In [`Set::made`].
    Made,
    /// Nobody asked for more than the number.
    Counted,
}

/// Set of an input in a window: unknown but for its bounds, everything, or known.
enum Input<'a> {
    Unknown(Span),
    Everything,
    Known((Container<'a>, u32)),
}

impl<'p, 's> WindowSets<'p, 's> {
    /// Reads the short lists of a segment.
    pub(super) fn open(plan: &'p Plan<'s>, part: &'p SegmentPlan<'s>) -> Result<Self> {
        let mut few = vec![];
        for (leaf, key) in part.leaves.iter().zip(&plan.leaves) {
            let mut documents = vec![];
            match (&leaf.postings, key.field()) {
                (Postings::Inline(docs), _) => documents.extend_from_slice(docs.as_slice()),
                (Postings::Short(info), Some(field)) => {
                    part.segment.field(field).short_postings(info, |doc| documents.push(doc))?;
                }
                _ => {}
            }
            few.push(documents);
        }
        let none = |_| Set { documents: Documents::Unknown, made: None };
        let sets = plan.nodes.iter().map(none).collect();
        Ok(WindowSets { plan, part, few, sets, spans: vec![], memory: Memory::default() })
    }

    /// Looks at window `key`, of which the headers say `expected` by operator.
    pub(super) fn look_at(&mut self, key: u32, expected: &[Span]) -> Result<()> {
        let w = self.part.window_len(key);
        let (plan, part, spans) = (self.plan, self.part, &mut self.spans);
        spans.clear();
        for (at, node) in plan.nodes.iter().enumerate() {
            let (before, rest) = self.sets.split_at_mut(at);
            let Some(set) = rest.first_mut() else { break };
            let inputs = |range: &Range<u32>| {
                let ids = plan.inputs(range).iter().map(|id| id.index());
                ids.map(|id| before[id].input(part, spans[id])).collect::<Result<Vec<_>>>()
            };
            // All but the last are inputs, of which more than the number is asked for.
            let is_read = at + 1 < plan.nodes.len();
            let mut operation = Operation { w, is_read, set, memory: &mut self.memory };
            let (documents, span) = match &node.operator {
                Operator::All => (Documents::Everything, expected[at]),
                Operator::Nothing { .. } => (Documents::Few(vec![]), expected[at]),
                Operator::Intersect { all, none } => {
                    operation.intersect(inputs(all)?, inputs(none)?)
                }
                Operator::Union { any } => operation.unite(inputs(any)?),
                other => match other.leaf() {
                    Some(leaf) => (listed(part, &self.few, leaf, key)?, expected[at]),
                    // Combined like the planner does it, from what is counted below.
                    None => (Documents::Unknown, plan.combine(other, spans, w, |_| Span::NOTHING)),
                },
            };
            set.documents = documents;
            spans.push(span);
        }
        Ok(())
    }

    /// Whether that of an operator was counted.
    pub(super) fn is_counted(&self, node: usize) -> bool {
        !matches!(self.sets[node].documents, Documents::Unknown)
    }

    /// The number of an operator's documents among the `w` in the window, and some of them, less their upper 16 bits: groups of [`GROUP`] neighbours, spread
    /// evenly, and all documents where there are at most `most`. `None` where they are not known.
    pub(super) fn some(
        &self,
        node: NodeId,
        w: u32,
        most: usize,
    ) -> Result<Option<(u32, Vec<u16>)>> {
        let (set, span) = (&self.sets[node.index()], self.spans[node.index()]);
        let (container, n) = match set.input(self.part, span)? {
            Input::Known(known) => known,
            Input::Unknown(_) => return Ok(None),
            Input::Everything => {
                let n = span.upper;
                let some = (most as u32).min(n);
                return Ok(Some((n, (0..some).map(|nth| (nth * n / some) as u16).collect())));
            }
        };
        let n_groups = most / GROUP;
        let lows = match container {
            _ if n as usize <= most => container.iter().collect(),
            Container::Array(values) => {
                let group = |nth: usize| &values[nth * values.len() / n_groups..];
                let groups = (0..n_groups).flat_map(|nth| group(nth).iter().take(GROUP));
                groups.map(|low| u16::from_le_bytes(*low)).collect()
            }
            Container::Bitmap(_) | Container::Run(_) => {
                // The next from evenly spread places on, which takes no look at what lies between.
                let place = |nth: usize| (nth * w as usize / n_groups) as u16;
                let group = |nth| container.iter_from(place(nth)).take(GROUP);
                let mut lows: Vec<u16> = (0..n_groups).flat_map(group).collect();
                lows.sort_unstable();
                lows.dedup();
                lows
            }
        };
        Ok(Some((n, lows)))
    }
}

/// The documents of a leaf in window `key`, as they lie.
fn listed<'s>(
    part: &SegmentPlan<'s>,
    few: &[Vec<u32>],
    leaf: LeafId,
    key: u32,
) -> Result<Documents<'s>> {
    Ok(match &part.leaves[leaf.index()].postings {
        Postings::Absent => Documents::Few(vec![]),
        Postings::Everything => Documents::Everything,
        Postings::Inline(_) | Postings::Short(_) => {
            let docs = &few[leaf.index()];
            let first = docs.partition_point(|doc| doc >> 16 < key);
            let of_window = docs[first..].iter().take_while(|doc| **doc >> 16 == key);
            Documents::Few(of_window.map(|doc| (*doc as u16).to_le_bytes()).collect())
        }
        Postings::Long(list) => {
            let nth = u16::try_from(key).map_or(list.n_containers(), |key| list.seek(key));
            match nth < list.n_containers() && u32::from(list.key(nth)) == key {
                true => Documents::Listed { leaf, nth, payload: list.payload(nth)? },
                false => Documents::Few(vec![]),
            }
        }
        Postings::LongUnread(_)
        | Postings::PresenceUnread
        | Postings::Terms(_)
        | Postings::Neighbors
        | Postings::Column(_)
        | Postings::Points(_) => Documents::Unknown,
    })
}

impl<'s> Set<'s> {
    fn input<'a>(&'a self, part: &'a SegmentPlan<'s>, span: Span) -> Result<Input<'a>> {
        Ok(match &self.documents {
            Documents::Unknown | Documents::Counted => Input::Unknown(span),
            Documents::Everything => Input::Everything,
            Documents::Listed { leaf, nth, payload } => match &part.leaves[leaf.index()].postings {
                Postings::Long(list) => {
                    let cardinality = list.container_cardinality(*nth);
                    Input::Known((list.container(*nth, payload)?, cardinality))
                }
                _ => Input::Unknown(span),
            },
            Documents::Few(lows) => Input::Known((Container::Array(lows), lows.len() as u32)),
            Documents::Made => match &self.made {
                Some(made) => Input::Known((made.as_container(), made.cardinality())),
                None => Input::Unknown(span),
            },
        })
    }
}

/// One operator in one window.
struct Operation<'a, 's> {
    w: u32,
    is_read: bool,
    set: &'a mut Set<'s>,
    memory: &'a mut Memory,
}

impl<'s> Operation<'_, 's> {
    fn intersect(&mut self, all: Vec<Input<'_>>, none: Vec<Input<'_>>) -> (Documents<'s>, Span) {
        if none.iter().any(|input| matches!(input, Input::Everything)) {
            return (Documents::Few(vec![]), Span::NOTHING);
        }
        let (mut wanted, mut open) = split(all);
        let (excluded, open_excluded) = split(none);
        let is_certain = open.is_empty() && open_excluded.is_empty();
        let n = if wanted.is_empty() && excluded.is_empty() {
            self.w
        } else if excluded.is_empty() && !(self.is_read && is_certain) {
            match wanted[..] {
                [(_, n)] => n,
                [(a, n_a), (b, n_b)] => bitmap::and_count(a, n_a, b, n_b),
                _ => {
                    bitmap::and_count_all(&mut wanted, self.memory.scratch.get_or_insert_default())
                }
            }
        } else {
            let made = self.set.made.get_or_insert_default();
            match wanted[..] {
                [] => made.set_range(0..=(self.w.max(1) - 1) as u16),
                [(only, _)] => made.set(only),
                [(a, _), (b, _)] => bitmap::and(a, b, made),
                _ => {
                    let scratch = self.memory.scratch.get_or_insert_default();
                    bitmap::and_all(&mut wanted, scratch, made);
                }
            }
            for (container, _) in &excluded {
                if made.is_empty() {
                    break;
                }
                let spare = self.memory.spare.get_or_insert_default();
                bitmap::and_not(made.as_container(), *container, spare);
                std::mem::swap(made, spare);
            }
            made.cardinality()
        };
        // A container may lie about documents behind the segment's end.
        let counted = Span::exact(n.min(self.w));
        if is_certain || n == 0 {
            let is_everything = wanted.is_empty() && excluded.is_empty();
            let documents = match self.is_read {
                _ if n == 0 => Documents::Few(vec![]),
                true if is_everything => Documents::Everything,
                true => Documents::Made,
                false => Documents::Counted,
            };
            return (documents, counted);
        }
        open.push(counted);
        let span = Span::intersect(open.into_iter(), open_excluded.into_iter(), self.w);
        (Documents::Unknown, span)
    }

    fn unite(&mut self, any: Vec<Input<'_>>) -> (Documents<'s>, Span) {
        if any.iter().any(|input| matches!(input, Input::Everything)) {
            return (Documents::Everything, Span::exact(self.w));
        }
        let (known, mut open) = split(any);
        let n = match &known[..] {
            _ if self.is_read && open.is_empty() => {
                let made = self.set.made.get_or_insert_default();
                bitmap::or_all(&known, made);
                made.cardinality()
            }
            [] => 0,
            [(_, n)] => *n,
            [(a, n_a), (b, n_b)] => bitmap::or_count(*a, *n_a, *b, *n_b),
            _ => bitmap::or_count_all(&known, self.memory.scratch.get_or_insert_default()),
        };
        let counted = Span::exact(n.min(self.w));
        if open.is_empty() {
            return (if self.is_read { Documents::Made } else { Documents::Counted }, counted);
        }
        open.push(counted);
        (Documents::Unknown, Span::unite(open.into_iter(), self.w))
    }
}

/// The documents of the inputs that are known, without those that have every document, and what is known of the others.
fn split<'a>(inputs: Vec<Input<'a>>) -> (Vec<(Container<'a>, u32)>, Vec<Span>) {
    let (mut known, mut open) = (vec![], vec![]);
    for input in inputs {
        match input {
            Input::Known(documents) => known.push(documents),
            Input::Unknown(span) => open.push(span),
            Input::Everything => {}
        }
    }
    (known, open)
}
