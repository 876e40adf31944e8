//! Maps of documents: the containers that leaves read, and those of what was found.
//!
//! Headers of a leaf's lists tell what it reads; planning has read them, or they are read now, and nothing else is. A
//! short list, whose documents are not in a header, has a map only after the plan ran, unless all are in one window
//! anyway. Leaves that unite lists or compare values have no containers and no map.

use super::ContainerMap;
use crate::bitmap::{self, ContainerKind};
use crate::format::postings::{LongList, PostingList};
use crate::matching::Profile;
use crate::plan::leaf::Postings;
use crate::plan::{LeafId, NodeId, Operator, Plan, SegmentPlan, WINDOW};
use crate::segment::file::Section;
use std::cell::Cell;

/// Windows that the maps of all leaves of a plan have at the most, and as many has that of what was found: a map
/// that would be more is left out as a whole.
pub(super) const WINDOWS_MAX: u64 = 1 << 13;
/// Documents from which a container is a bitmap, unless runs are smaller.
const BITMAP_FROM: u32 = bitmap::ARRAY_MAX as u32 + 1;

/// Maps of what a leaf reads in each segment, as far as that is known; `ids` are those of the segments, and `left` is how many windows
/// the maps of further leaves may have.
pub(super) fn of_leaf(
    plan: &Plan<'_>,
    ids: &[String],
    leaf: LeafId,
    ran: bool,
    left: &Cell<u64>,
) -> Vec<ContainerMap> {
    let Some(then_left) = left.get().checked_sub(n_windows(plan)) else { return vec![] };
    let parts = plan.segments.iter().zip(ids);
    let maps: Vec<_> = parts.filter_map(|(part, id)| read(plan, (part, id), leaf, ran)).collect();
    if !maps.is_empty() {
        left.set(then_left);
    }
    maps
}

/// Returns maps of what the root found in each segment, where that is known of all of them: seen window by window, or
/// what one leaf reads. There is none of what was counted without looking, of several leaves.
pub(super) fn of_result(plan: &Plan<'_>, ids: &[String], profile: &Profile) -> Vec<ContainerMap> {
    if n_windows(plan) > WINDOWS_MAX {
        return vec![];
    }
    let root = plan.root();
    let maps = plan.segments.iter().zip(ids).enumerate().map(|(at, (part, id))| {
        let found = profile.node(at, root).documents_out;
        let mut map = ContainerMap::of(part, id);
        match u32::try_from(found) {
            Ok(all) if all == part.n_docs => map.fill(part),
            Ok(few) if part.n_windows() == 1 => map.add_found(part, 0, few),
            _ => {
                let seen = profile.root_windows(at).iter();
                seen.for_each(|window| map.add_found(part, window.key, window.documents));
            }
        }
        let has_all =
            |map: &ContainerMap| map.documents.iter().map(|n| u64::from(*n)).sum::<u64>() == found;
        let of_leaf = || read(plan, (part, id), only_leaf(plan, part, root)?, true);
        Some(map).filter(has_all).or_else(|| of_leaf().filter(has_all))
    });
    maps.collect::<Option<_>>().unwrap_or_default()
}

/// The leaf of which an operator has the documents in a segment, where the others have none there, or all.
fn only_leaf(plan: &Plan<'_>, part: &SegmentPlan<'_>, id: NodeId) -> Option<LeafId> {
    let only = |inputs: &[NodeId], counts: &dyn Fn(NodeId) -> bool| {
        let mut inputs = inputs.iter().filter(|input| counts(**input));
        match (inputs.next(), inputs.next()) {
            (Some(input), None) => only_leaf(plan, part, *input),
            _ => None,
        }
    };
    let is_empty = |id: NodeId| part.estimate(id).is_empty();
    match &plan.node(id).operator {
        Operator::Union { any } => only(plan.inputs(any), &|input| !is_empty(input)),
        Operator::Intersect { all, none } if plan.inputs(none).iter().all(|id| is_empty(*id)) => {
            let all_docs = Some(u64::from(part.n_docs));
            only(plan.inputs(all), &|input| part.estimate(input).known() != all_docs)
        }
        operator => operator.leaf(),
    }
}

fn n_windows(plan: &Plan<'_>) -> u64 {
    plan.segments.iter().map(|part| u64::from(part.n_windows())).sum()
}

/// Map of what a leaf reads in one segment.
fn read(
    plan: &Plan<'_>,
    (part, id): (&SegmentPlan<'_>, &str),
    leaf: LeafId,
    ran: bool,
) -> Option<ContainerMap> {
    let field = plan.leaves[leaf.index()].field().map(|field| part.segment.field(field));
    let mut map = ContainerMap::of(part, id);
    // A header that cannot be read makes the search fail, and not what is told of it.
    match (&part.leaves[leaf.index()].postings, field) {
        (Postings::Absent, _) => {}
        (Postings::Everything, _) => map.fill(part),
        (Postings::Inline(docs), _) => docs.as_slice().iter().for_each(|doc| map.add_one(*doc)),
        (Postings::Short(info), _) if part.n_windows() == 1 => {
            map.add(0, info.df, ContainerKind::Array);
        }
        (Postings::Short(info), Some(field)) if ran => {
            field.short_postings(info, |doc| map.add_one(doc)).ok()?;
        }
        (Postings::Long(list), _) => map.add_list(list),
        (Postings::LongUnread(info), Some(field)) => match field.postings(info).ok()? {
            PostingList::Long(list) => map.add_list(&list),
            PostingList::Short(list) => list.as_slice().iter().for_each(|doc| map.add_one(*doc)),
        },
        (Postings::PresenceUnread, Some(field)) => map.add_list(&field.presence().ok()?),
        (
            Postings::Short(_)
            | Postings::Terms(_)
            | Postings::Neighbors
            | Postings::Column(_)
            | Postings::Points(_),
            _,
        ) => return None,
        (Postings::LongUnread(_) | Postings::PresenceUnread, None) => return None,
    }
    Some(map)
}

impl ContainerMap {
    /// A map of a segment, in which nothing is yet.
    fn of(part: &SegmentPlan<'_>, id: &str) -> Self {
        let n = part.n_windows() as usize;
        ContainerMap { segment: id.to_owned(), kinds: ".".repeat(n), documents: vec![0; n] }
    }

    /// Adds so many documents of a window; one past the segment's end is an error that is told when the list is read.
    fn add(&mut self, key: u32, documents: u32, kind: ContainerKind) {
        let at = key as usize;
        if let (1.., Some(sum)) = (documents, self.documents.get_mut(at)) {
            let kind = match kind {
                ContainerKind::Array => "a",
                ContainerKind::Bitmap => "b",
                ContainerKind::Run => "r",
            };
            self.kinds.replace_range(at..=at, kind);
            *sum += documents;
        }
    }

    fn add_one(&mut self, doc: u32) {
        self.add(doc / WINDOW, 1, ContainerKind::Array);
    }

    fn add_list(&mut self, list: &LongList<'_, Section<'_>>) {
        for nth in 0..list.n_containers() {
            let (key, documents) = (list.key(nth).into(), list.container_cardinality(nth));
            self.add(key, documents, list.container_kind(nth));
        }
    }

    /// Adds so many documents of a window that were found, by what they would be kept in.
    fn add_found(&mut self, part: &SegmentPlan<'_>, key: u32, documents: u32) {
        let kind = match documents {
            all if all == part.window_len(key) => ContainerKind::Run,
            ..BITMAP_FROM => ContainerKind::Array,
            BITMAP_FROM.. => ContainerKind::Bitmap,
        };
        self.add(key, documents, kind);
    }

    fn fill(&mut self, part: &SegmentPlan<'_>) {
        (0..part.n_windows()).for_each(|key| self.add_found(part, key, part.window_len(key)));
    }
}
