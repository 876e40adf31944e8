//! Intersections, unions and complements of one window of 65,536 documents.
//!
//! Every operator answers two questions: where its next window with documents may be, and what it
//! holds there. Intersections leap from window to window by their first question, and inside one
//! go through their inputs from the smallest container to the largest, ending when nothing is left.

use super::column::{fill, is_dense, retain};
use super::counter::Counter;
use super::lists::{Fetched, Lists};
use super::points;
use super::profile::SegmentProfile;
use crate::bitmap::{self, Container, ContainerBuf};
use crate::budget::{self, ns};
use crate::error::{Error, Result};
use crate::geo::GeoCounts;
use crate::phrase::PhraseReader;
use crate::plan::in_window::UNION_BITS_FROM;
use crate::plan::leaf::{ColumnValues, Postings};
use crate::plan::points_scan::PointsScan;
use crate::plan::{LeafId, NodeId, Operator, PLACED_FOR_READ, Plan, SegmentPlan, WINDOW};
use std::time::Instant;

/// Whether the documents of a window are wanted, or only how many there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Want {
    Count,
    Documents,
}

/// Documents of an operator in one window.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chunk<'s> {
    pub(super) cardinality: u32,
    place: Place<'s>,
}

/// Place of the documents of a chunk.
#[derive(Clone, Copy, Debug)]
enum Place<'s> {
    /// Nowhere: there are none, or they were only counted.
    Counted,
    /// Every document of the window.
    Everything,
    /// In a posting list.
    Leaf(Fetched<'s>),
    /// In a result of an operator.
    Slot(usize),
}

impl<'s> Chunk<'s> {
    const EMPTY: Chunk<'s> = Chunk { cardinality: 0, place: Place::Counted };

    fn counted(cardinality: u32) -> Self {
        Chunk { cardinality, place: Place::Counted }
    }

    fn everything(len: u32) -> Self {
        Chunk { cardinality: len, place: Place::Everything }
    }
}

/// An input that an operator has still to visit in this window.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    /// Number of documents that it holds there: known for a leaf, expected for anything else.
    expected: u32,
    input: NodeId,
}

/// The evaluation of a plan in one segment.
#[derive(Debug)]
pub(super) struct Evaluation<'e, 's> {
    pub(super) plan: &'e Plan<'s>,
    pub(super) part: &'e SegmentPlan<'s>,
    lists: &'e mut Lists<'s>,
    /// By phrase of the plan; none where no document has all of the words.
    phrases: &'e mut [Option<PhraseReader<'s>>],
    pub(super) workspace: &'e mut Workspace,
    pub(super) profile: SegmentProfile<'e>,
    /// The window that is looked for next.
    next: u32,
    /// Time that inputs took since the operator being evaluated began.
    inputs_ns: u64,
    /// Every document of the last window, as a run.
    last_window: [[u8; 4]; 1],
}

/// Memory that evaluations use one after the other.
#[derive(Debug, Default)]
pub(super) struct Workspace {
    /// Two results for each operator, the one being read and the one being written, if any was.
    pub(super) slots: Vec<Option<ContainerBuf>>,
    /// The inputs that operators under evaluation have still to visit.
    steps: Vec<Step>,
    counter: Counter,
    /// Documents of a window that are looked at one by one, then those that are kept of them.
    pub(super) lows: Vec<u16>,
}

/// Containers of 8 KiB that are kept from one execution to the next.
const SLOTS_KEPT: usize = 16;

impl Workspace {
    /// Makes room for all operators of a plan.
    pub(super) fn make_room(&mut self, plan: &Plan<'_>) {
        self.slots.resize_with(self.slots.len().max(2 * plan.nodes.len()), || None);
        self.steps.reserve(plan.inputs.len());
    }

    /// Leaves what is worth being kept for the next execution.
    pub(super) fn shrink(&mut self) {
        self.slots.truncate(SLOTS_KEPT);
        self.counter = Counter::default();
    }
}

/// Every document of a whole window, as a run.
const WHOLE_WINDOW: [[u8; 4]; 1] = [[0, 0, 0xFF, 0xFF]];

impl<'e, 's> Evaluation<'e, 's> {
    pub(super) fn new(
        plan: &'e Plan<'s>,
        part: &'e SegmentPlan<'s>,
        lists: &'e mut Lists<'s>,
        phrases: &'e mut [Option<PhraseReader<'s>>],
        workspace: &'e mut Workspace,
        profile: SegmentProfile<'e>,
    ) -> Self {
        // An earlier run that ended in an error may have left steps.
        workspace.steps.clear();
        let last = part.window_len(part.n_windows().saturating_sub(1)).saturating_sub(1);
        let [low, high] = (last as u16).to_le_bytes();
        let last_window = [[0, 0, low, high]];
        let (inputs_ns, next) = (0, 0);
        Evaluation { plan, part, lists, phrases, workspace, profile, next, inputs_ns, last_window }
    }

    /// The next window where the root may have documents.
    #[inline]
    pub(super) fn next_root_window(&mut self) -> Option<u32> {
        self.next_window_of(self.plan.root())
    }

    /// The next window where an operator that is no input of others may have documents.
    #[inline]
    pub(super) fn next_window_of(&mut self, root: NodeId) -> Option<u32> {
        let started = self.profile.timed.then(Instant::now);
        let key = self.next_window(root, self.next);
        if let Some(started) = started {
            self.profile.nodes[root.index()].time_ns += started.elapsed().as_nanos() as u64;
        }
        self.next = key? + 1;
        key
    }

    /// Finds the documents of the query in window `key`.
    #[inline]
    pub(super) fn root(&mut self, key: u32, want: Want) -> Result<Chunk<'s>> {
        let root = self.plan.root();
        budget::work(ns::WINDOW_STEP).inspect_err(|error| self.stopped(root, error))?;
        let chunk = self.evaluate(root, key, want)?;
        self.profile.found(key, chunk.cardinality);
        Ok(chunk)
    }

    /// Evaluates an operator that is not the root in window `key`.
    pub(super) fn documents(&mut self, id: NodeId, key: u32) -> Result<Chunk<'s>> {
        budget::work(ns::WINDOW_STEP).inspect_err(|error| self.stopped(id, error))?;
        self.evaluate(id, key, Want::Documents)
    }

    /// The documents of a chunk, until the operators it came from are evaluated again.
    #[inline]
    pub(super) fn resolve(&self, chunk: Chunk<'s>) -> Result<Container<'_>> {
        match chunk.place {
            Place::Counted => Ok(Container::Array(&[])),
            Place::Everything if chunk.cardinality == WINDOW => Ok(Container::Run(&WHOLE_WINDOW)),
            Place::Everything => Ok(Container::Run(&self.last_window)),
            Place::Leaf(fetched) => self.lists.resolve(self.part, fetched),
            Place::Slot(at) => Ok(self.workspace.slots[at]
                .as_ref()
                .map_or(Container::Array(&[]), ContainerBuf::as_container)),
        }
    }

    /// The first window from `from` on where an operator may have documents.
    fn next_window(&mut self, id: NodeId, from: u32) -> Option<u32> {
        let plan = self.plan;
        match &plan.node(id).operator {
            Operator::Nothing { .. } => None,
            Operator::All => (from < self.part.n_windows()).then_some(from),
            Operator::Intersect { all, .. } => {
                if from >= self.part.n_windows() {
                    return None;
                }
                // Leaps until every input has documents in the same window.
                let (mut key, mut agreed, mut at) = (from, 0, 0);
                let inputs = plan.inputs(all);
                while agreed < inputs.len() {
                    let next = self.next_window(inputs[at], key)?;
                    agreed = if next == key { agreed + 1 } else { 1 };
                    key = next;
                    at = if at + 1 == inputs.len() { 0 } else { at + 1 };
                }
                Some(key)
            }
            Operator::Union { any }
            | Operator::AtLeast { any, .. }
            | Operator::Phrase { input: any, .. } => {
                plan.inputs(any).iter().filter_map(|input| self.next_window(*input, from)).min()
            }
            other => self.lists.seek(self.part, other.leaf()?, from).map(|(key, _)| key),
        }
    }

    /// Finds the documents of an operator in window `key`; windows are asked for in ascending order.
    fn evaluate(&mut self, id: NodeId, key: u32, want: Want) -> Result<Chunk<'s>> {
        self.measured(id, |run| run.chunk(id, key, want))
    }

    /// Evaluates an operator and takes note of its documents and its time.
    #[inline]
    fn measured(
        &mut self,
        id: NodeId,
        chunk: impl FnOnce(&mut Self) -> Result<Chunk<'s>>,
    ) -> Result<Chunk<'s>> {
        let started =
            self.profile.timed.then(|| (Instant::now(), std::mem::take(&mut self.inputs_ns)));
        let chunk = chunk(self).inspect_err(|error| self.stopped(id, error))?;
        let profile = &mut self.profile.nodes[id.index()];
        profile.documents_out += u64::from(chunk.cardinality);
        if let Some((started, before)) = started {
            let elapsed = started.elapsed().as_nanos() as u64;
            profile.time_ns += elapsed.saturating_sub(self.inputs_ns);
            self.inputs_ns = before + elapsed;
        }
        Ok(chunk)
    }

    /// Takes note of the operator at which a budget ran out: the first that is told.
    #[cold]
    fn stopped(&mut self, id: NodeId, error: &Error) {
        let nodes = &mut self.profile.nodes;
        if budget::is_stop(error) && nodes.iter().all(|node| !node.stopped) {
            nodes[id.index()].stopped = true;
        }
    }

    #[inline]
    fn chunk(&mut self, id: NodeId, key: u32, want: Want) -> Result<Chunk<'s>> {
        let plan = self.plan;
        match &plan.node(id).operator {
            Operator::Nothing { .. } => Ok(Chunk::EMPTY),
            Operator::All => Ok(Chunk::everything(self.part.window_len(key))),
            Operator::ColumnScan(leaf) if self.values(*leaf).is_some() => {
                self.compare(id, *leaf, Chunk::everything(self.part.window_len(key)), key)
            }
            Operator::GeoScan(leaf) if self.points(*leaf).is_some() => {
                self.compare_points(id, *leaf, Chunk::everything(self.part.window_len(key)), key)
            }
            Operator::TermScan(leaf)
            | Operator::Exists(leaf)
            | Operator::Expand(leaf)
            | Operator::ColumnScan(leaf)
            | Operator::GeoScan(leaf)
            | Operator::Nearest { leaf, .. }
            | Operator::Deleted(leaf) => self.read(id, *leaf, key, want),
            Operator::Intersect { all, none } => {
                self.intersect(id, plan.inputs(all), plan.inputs(none), key, want)
            }
            Operator::Phrase { nth, input } => {
                self.phrase(id, *nth, plan.inputs(input), None, key, want)
            }
            Operator::Union { any } => self.unite(id, plan.inputs(any), key, want),
            Operator::AtLeast { minimum, any } => {
                self.at_least(id, *minimum, plan.inputs(any), key, want)
            }
        }
    }

    fn read(&mut self, id: NodeId, leaf: LeafId, key: u32, want: Want) -> Result<Chunk<'s>> {
        let cardinality = match self.lists.seek(self.part, leaf, key) {
            Some((found, cardinality)) if found == key => cardinality,
            _ => return Ok(Chunk::EMPTY),
        };
        if cardinality == self.part.window_len(key) {
            return Ok(Chunk::everything(cardinality));
        }
        if want == Want::Count {
            return Ok(Chunk::counted(cardinality));
        }
        let (fetched, container) = self.lists.fetch(self.part, leaf)?;
        if let Some((kind, bytes)) = container {
            self.profile.touched(id, kind, bytes);
        }
        Ok(Chunk { cardinality, place: Place::Leaf(fetched) })
    }

    fn intersect(
        &mut self,
        id: NodeId,
        all: &[NodeId],
        none: &[NodeId],
        key: u32,
        want: Want,
    ) -> Result<Chunk<'s>> {
        budget::work(ns::WINDOW_STEP * (all.len() + none.len()) as u64)?;
        if all.is_empty() {
            return self.complement(id, none, key, want);
        }
        let first = self.workspace.steps.len();
        let keeps_order = self.plan.node(id).keeps_order;
        for &input in all {
            let Some(expected) = self.expected(input, key) else {
                self.workspace.steps.truncate(first);
                return Ok(Chunk::EMPTY);
            };
            let expected = self.placed(input, key).unwrap_or(expected);
            let at = match keeps_order {
                true => self.workspace.steps.len(),
                false => {
                    let is_before = |step: &Step| step.expected <= expected;
                    first + self.workspace.steps[first..].partition_point(is_before)
                }
            };
            self.workspace.steps.insert(at, Step { expected, input });
        }
        let end = self.workspace.steps.len();
        let mut result = None;
        for at in first..end {
            let last = at + 1 == end && none.is_empty();
            let wanted = if last { want } else { Want::Documents };
            let input = self.workspace.steps[at].input;
            let of_input = if result.is_none() { wanted } else { Want::Documents };
            let (chunk, is_within) = self.take_in(id, input, result, key, of_input)?;
            let both = match result {
                Some(result) if !is_within => self.and(id, result, chunk, wanted)?,
                _ => chunk,
            };
            if both.cardinality == 0 {
                self.workspace.steps.truncate(first);
                return Ok(Chunk::EMPTY);
            }
            result = Some(both);
        }
        self.workspace.steps.truncate(first);
        let mut result = result.unwrap_or(Chunk::EMPTY);
        for (at, &input) in none.iter().enumerate() {
            let (chunk, _) = self.take_in(id, input, Some(result), key, Want::Documents)?;
            let last = at + 1 == none.len();
            result = self.and_not(id, result, chunk, if last { want } else { Want::Documents })?;
            if result.cardinality == 0 {
                return Ok(Chunk::EMPTY);
            }
        }
        Ok(result)
    }

    /// Documents that an input of an operator holds in window `key`, and whether that is only those of `few` documents, as
    /// [pays](Self::are_few).
    fn take_in(
        &mut self,
        id: NodeId,
        input: NodeId,
        few: Option<Chunk<'s>>,
        key: u32,
        want: Want,
    ) -> Result<(Chunk<'s>, bool)> {
        let few = few.filter(|few| self.are_few(*few, input, key));
        let chunk = match few {
            Some(few) => self.within(input, few, key)?,
            None => self.evaluate(input, key, want)?,
        };
        self.profile.nodes[id.index()].documents_in += u64::from(chunk.cardinality);
        Ok((chunk, few.is_some()))
    }

    /// Number of documents of an input in window `key`, known or expected; `None` if a leaf has none.
    #[inline]
    fn expected(&mut self, input: NodeId, key: u32) -> Option<u32> {
        match self.plan.node(input).operator {
            // Columns say every document, and come after all else, so that few are left to compare.
            Operator::TermScan(leaf)
            | Operator::Exists(leaf)
            | Operator::Expand(leaf)
            | Operator::Nearest { leaf, .. }
            | Operator::GeoScan(leaf)
            | Operator::ColumnScan(leaf) => {
                let (found, cardinality) = self.lists.seek(self.part, leaf, key)?;
                (found == key).then_some(cardinality)
            }
            _ => {
                let documents = self.part.estimate(input).documents;
                Some((documents / u64::from(self.part.n_windows().max(1))) as u32)
            }
        }
    }

    /// Number of documents of lists whose reading takes as long as placing the words of an input's phrases, in those
    /// documents or in the whole window.
    fn placed(&self, input: NodeId, key: u32) -> Option<u32> {
        let n_windows = u64::from(self.part.n_windows().max(1));
        let documents = |id: NodeId| self.part.estimate(id).documents / n_windows;
        let placed = self.plan.placed(input, &documents)?;
        let read = placed.saturating_mul(PLACED_FOR_READ);
        Some(u32::try_from(read).unwrap_or(u32::MAX).min(self.part.window_len(key)))
    }

    /// Every document of the window that no input holds.
    fn complement(
        &mut self,
        id: NodeId,
        none: &[NodeId],
        key: u32,
        want: Want,
    ) -> Result<Chunk<'s>> {
        let everything = Chunk::everything(self.part.window_len(key));
        let excluded = self.unite(id, none, key, want)?;
        match want {
            Want::Count => {
                Ok(Chunk::counted(everything.cardinality.saturating_sub(excluded.cardinality)))
            }
            Want::Documents => self.and_not(id, everything, excluded, want),
        }
    }

    fn unite(&mut self, id: NodeId, any: &[NodeId], key: u32, want: Want) -> Result<Chunk<'s>> {
        budget::work(ns::WINDOW_STEP * any.len() as u64)?;
        let len = self.part.window_len(key);
        let first = self.workspace.steps.len();
        for &input in any {
            let Some(expected) = self.expected(input, key) else { continue };
            if expected == len
                && matches!(
                    self.plan.node(input).operator,
                    Operator::TermScan(_) | Operator::Exists(_) | Operator::Expand(_)
                )
            {
                self.workspace.steps.truncate(first);
                self.profile.nodes[id.index()].partial = true;
                return Ok(Chunk::everything(len));
            }
            // The largest first: bitmaps are copied, and the smallest is only probed for.
            let at = first
                + self.workspace.steps[first..].partition_point(|step| step.expected >= expected);
            self.workspace.steps.insert(at, Step { expected, input });
        }
        let end = self.workspace.steps.len();
        // Several inputs with many documents meet in one bitmap from the start: merging arrays
        // would touch the documents of the first ones again and again.
        let by_bits = end - first > 2
            && self.workspace.steps[first..].iter().map(|step| step.expected).sum::<u32>()
                > UNION_BITS_FROM;
        let mut result = Chunk::EMPTY;
        for at in first..end {
            let last = at + 1 == end;
            let wanted = if last && result.cardinality == 0 { want } else { Want::Documents };
            let input = self.workspace.steps[at].input;
            let (chunk, _) = self.take_in(id, input, None, key, wanted)?;
            let wanted = if last { want } else { Want::Documents };
            result = match by_bits && !last && result.cardinality == 0 {
                true => self.write(id, [chunk; 2], |run, out| {
                    out.clear();
                    out.or_with(run.resolve(chunk)?);
                    Ok(())
                })?,
                false => self.or(id, result, chunk, wanted)?,
            };
            if result.cardinality == len && !last {
                self.profile.nodes[id.index()].partial = true;
                result = Chunk::everything(len);
                break;
            }
        }
        self.workspace.steps.truncate(first);
        Ok(result)
    }

    /// Whether an input that reads a column or places words need do so only for what is left of the window; or is a union of
    /// so much more that looking for these documents in its inputs costs less than uniting the inputs.
    fn are_few(&mut self, few: Chunk<'s>, input: NodeId, key: u32) -> bool {
        let plan = self.plan;
        let any = match &plan.node(input).operator {
            _ if plan.placed(input, &|_| 0).is_some() => return true,
            Operator::Union { any } => plan.inputs(any),
            Operator::ColumnScan(leaf) => return self.values(*leaf).is_some(),
            Operator::GeoScan(leaf) => return self.points(*leaf).is_some(),
            _ => return false,
        };
        let documents = any.iter().map(|input| self.expected(*input, key).unwrap_or(0));
        plan.costs.few_are_looked_up(few.cardinality, documents)
    }

    /// The values that a leaf wants, where it reads a column in this segment.
    fn values(&self, leaf: LeafId) -> Option<&'e ColumnValues<'s>> {
        match &self.part.leaves[leaf.index()].postings {
            Postings::Column(values) => Some(values),
            _ => None,
        }
    }

    /// Intersects an input with `few` documents, of which [they are few](Self::are_few).
    fn within(&mut self, input: NodeId, few: Chunk<'s>, key: u32) -> Result<Chunk<'s>> {
        let plan = self.plan;
        self.profile.nodes[input.index()].partial = true;
        self.measured(input, |run| match &plan.node(input).operator {
            Operator::ColumnScan(leaf) => run.compare(input, *leaf, few, key),
            Operator::GeoScan(leaf) => run.compare_points(input, *leaf, few, key),
            Operator::Union { any } => run.unite_within(input, plan.inputs(any), few, key),
            Operator::Phrase { nth, input: words } => {
                run.phrase(input, *nth, plan.inputs(words), Some(few), key, Want::Documents)
            }
            _ => run.chunk(input, key, Want::Documents),
        })
    }

    /// Keeps the documents that have values which a leaf wants.
    fn compare(
        &mut self,
        id: NodeId,
        leaf: LeafId,
        documents: Chunk<'s>,
        key: u32,
    ) -> Result<Chunk<'s>> {
        let Some(values) = self.values(leaf) else { return Ok(documents) };
        if is_dense(values, documents.cardinality) {
            let all = self.write(id, [documents; 2], |_, out| fill(values, key, out))?;
            return self.and(id, documents, all, Want::Documents);
        }
        self.retained(id, documents, [documents; 2], Want::Documents, |_, lows| {
            retain(values, key, lows)
        })
    }

    /// The points that a leaf compares by document in this segment.
    fn points(&self, leaf: LeafId) -> Option<&'e PointsScan<'s>> {
        match &self.part.leaves[leaf.index()].postings {
            Postings::Points(scan) if scan.by_pages().is_none() => Some(scan),
            _ => None,
        }
    }

    /// Keeps the documents that have a point in the area of a leaf.
    fn compare_points(
        &mut self,
        id: NodeId,
        leaf: LeafId,
        documents: Chunk<'s>,
        key: u32,
    ) -> Result<Chunk<'s>> {
        let Some(scan) = self.points(leaf) else { return Ok(documents) };
        let mut counts = GeoCounts::default();
        let kept = self.retained(id, documents, [documents; 2], Want::Documents, |_, lows| {
            points::retain(scan, key, lows, &mut counts)
        });
        *self.profile.nodes[id.index()].geo.get_or_insert_default() += counts;
        kept
    }

    /// Keeps the documents that `retain` leaves when it looks at them one by one; `inputs` are not written over.
    fn retained(
        &mut self,
        id: NodeId,
        documents: Chunk<'s>,
        inputs: [Chunk<'s>; 2],
        want: Want,
        retain: impl FnOnce(&mut Self, &mut Vec<u16>) -> Result<()>,
    ) -> Result<Chunk<'s>> {
        let mut lows = std::mem::take(&mut self.workspace.lows);
        lows.clear();
        lows.extend(self.resolve(documents)?.iter());
        retain(self, &mut lows)?;
        let chunk = self.of_lows(id, inputs, &lows, want);
        self.workspace.lows = lows;
        chunk
    }

    /// Documents that ascend, written or counted.
    fn of_lows(
        &mut self,
        id: NodeId,
        inputs: [Chunk<'s>; 2],
        lows: &[u16],
        want: Want,
    ) -> Result<Chunk<'s>> {
        if want == Want::Count {
            return Ok(Chunk::counted(lows.len() as u32));
        }
        self.write(id, inputs, |_, out| {
            out.set_sorted(lows.iter().copied());
            Ok(())
        })
    }

    /// Keeps those of `few` documents that any input of a union holds; the union itself is not made.
    fn unite_within(
        &mut self,
        id: NodeId,
        any: &[NodeId],
        few: Chunk<'s>,
        key: u32,
    ) -> Result<Chunk<'s>> {
        budget::work(ns::WINDOW_STEP * any.len() as u64)?;
        let slot = 2 * id.index();
        let mut found = self.workspace.slots[slot].take().unwrap_or_default();
        let mut both = self.workspace.slots[slot + 1].take().unwrap_or_default();
        found.clear();
        for &input in any {
            let (chunk, is_within) = self.take_in(id, input, Some(few), key, Want::Documents)?;
            match (chunk.cardinality, is_within) {
                (0, _) => continue,
                (_, true) => found.or_with(self.resolve(chunk)?),
                (_, false) => {
                    bitmap::and(self.resolve(few)?, self.resolve(chunk)?, &mut both);
                    found.or_with(both.as_container());
                }
            }
            if found.cardinality() == few.cardinality {
                break;
            }
        }
        self.workspace.slots[slot + 1] = Some(both);
        Ok(self.keep(slot, found))
    }

    /// The documents that `minimum` of the inputs hold, counted one by one.
    fn at_least(
        &mut self,
        id: NodeId,
        minimum: u32,
        any: &[NodeId],
        key: u32,
        want: Want,
    ) -> Result<Chunk<'s>> {
        let mut counter = std::mem::take(&mut self.workspace.counter);
        counter.begin();
        for &input in any {
            let (chunk, _) = self.take_in(id, input, None, key, Want::Documents)?;
            budget::work(ns::WINDOW_STEP + ns::DOC_INPUTS_COUNTED * u64::from(chunk.cardinality))?;
            if chunk.cardinality > 0 {
                counter.add(self.resolve(chunk)?);
            }
        }
        let chunk = self.of_lows(id, [Chunk::EMPTY; 2], counter.finish(minimum), want);
        self.workspace.counter = counter;
        chunk
    }

    /// The documents of the input, or those `within` others, where the words of a phrase stand as it wants them.
    fn phrase(
        &mut self,
        id: NodeId,
        nth: u32,
        inputs: &[NodeId],
        within: Option<Chunk<'s>>,
        key: u32,
        want: Want,
    ) -> Result<Chunk<'s>> {
        let [input, ..] = *inputs else { return Ok(Chunk::EMPTY) };
        let (mut chunk, is_within) = self.take_in(id, input, within, key, Want::Documents)?;
        if let Some(few) = within.filter(|_| !is_within) {
            chunk = self.and(id, chunk, few, Want::Documents)?;
        }
        self.retained(id, chunk, [Chunk::EMPTY; 2], want, |run, lows| {
            let Some(Some(reader)) = run.phrases.get_mut(nth as usize) else {
                lows.clear();
                return Ok(());
            };
            let before = reader.work();
            reader.retain(key, lows)?;
            run.profile.nodes[id.index()].placed(reader.work().since(before));
            Ok(())
        })
    }

    fn and(&mut self, id: NodeId, a: Chunk<'s>, b: Chunk<'s>, want: Want) -> Result<Chunk<'s>> {
        match (a.place, b.place) {
            _ if a.cardinality == 0 || b.cardinality == 0 => Ok(Chunk::EMPTY),
            (Place::Everything, _) => Ok(b),
            (_, Place::Everything) => Ok(a),
            _ => match self.plan.node(id).kernel {
                None => self.combine(id, [a, b], want, bitmap::and_count, bitmap::and),
                Some(kernel) => {
                    let count = |x: Container<'_>, n_x, y: Container<'_>, n_y| {
                        bitmap::and_count_by(kernel, x, n_x, y, n_y)
                    };
                    let and = |x: Container<'_>, y: Container<'_>, out: &mut ContainerBuf| {
                        bitmap::and_by(kernel, x, y, out);
                    };
                    self.combine(id, [a, b], want, count, and)
                }
            },
        }
    }

    fn and_not(&mut self, id: NodeId, a: Chunk<'s>, b: Chunk<'s>, want: Want) -> Result<Chunk<'s>> {
        match b.place {
            _ if a.cardinality == 0 || b.cardinality == 0 => Ok(a),
            Place::Everything => Ok(Chunk::EMPTY),
            _ => self.combine(id, [a, b], want, bitmap::and_not_count, bitmap::and_not),
        }
    }

    fn or(&mut self, id: NodeId, a: Chunk<'s>, b: Chunk<'s>, want: Want) -> Result<Chunk<'s>> {
        match (a.place, b.place) {
            _ if a.cardinality == 0 => Ok(b),
            _ if b.cardinality == 0 => Ok(a),
            (Place::Everything, _) => Ok(a),
            (_, Place::Everything) => Ok(b),
            // A union that this operator has begun grows in place.
            (Place::Slot(at), _) if want == Want::Documents && at / 2 == id.index() => {
                let Some(mut out) = self.workspace.slots[at].take() else { return Ok(b) };
                out.or_with(self.resolve(b)?);
                Ok(self.keep(at, out))
            }
            _ => self.combine(id, [a, b], want, bitmap::or_count, bitmap::or),
        }
    }

    /// Counts or writes what two results make together.
    #[inline]
    fn combine(
        &mut self,
        id: NodeId,
        [a, b]: [Chunk<'s>; 2],
        want: Want,
        count: impl FnOnce(Container<'_>, u32, Container<'_>, u32) -> u32,
        write: impl FnOnce(Container<'_>, Container<'_>, &mut ContainerBuf),
    ) -> Result<Chunk<'s>> {
        if want == Want::Count {
            let (x, y) = (self.resolve(a)?, self.resolve(b)?);
            return Ok(Chunk::counted(count(x, a.cardinality, y, b.cardinality)));
        }
        self.write(id, [a, b], |run, out| {
            write(run.resolve(a)?, run.resolve(b)?, out);
            Ok(())
        })
    }

    /// Writes a result into whichever slot of the operator holds none of its inputs.
    fn write(
        &mut self,
        id: NodeId,
        inputs: [Chunk<'s>; 2],
        fill: impl FnOnce(&Self, &mut ContainerBuf) -> Result<()>,
    ) -> Result<Chunk<'s>> {
        let first = 2 * id.index();
        let taken =
            |at| inputs.iter().any(|input| matches!(input.place, Place::Slot(slot) if slot == at));
        let at = if taken(first) { first + 1 } else { first };
        let mut out = self.workspace.slots[at].take().unwrap_or_default();
        fill(self, &mut out)?;
        Ok(self.keep(at, out))
    }

    fn keep(&mut self, at: usize, out: ContainerBuf) -> Chunk<'s> {
        let cardinality = out.cardinality();
        self.workspace.slots[at] = Some(out);
        Chunk { cardinality, place: Place::Slot(at) }
    }
}
