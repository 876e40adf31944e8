//! Nearest vectors by the graph of a segment.
//!
//! A walk compares codes, or, without these, the first vector of each node. The documents that it comes to are compared by all their
//! vectors, those first whose codes allow the greatest similarity: as soon as that is less than what the last of the nearest so far
//! has, no other is nearer, as far as the bounds of codes hold, and the vectors of these are not read.

use super::best::NearestSoFar;
use super::blocks::Blocks;
use super::neighbor::Neighbor;
use super::target::{Target, WalkTarget};
use super::ways::{Choice, Way};
use crate::budget::{self, ns};
use crate::doc_id_set::DocIdSet;
use crate::error::Result;
use crate::format::envelope::SectionKind;
use crate::format::graph::codes::CodeRows;
use crate::format::graph::links::Links;
use crate::format::graph::nodes::Nodes as NodeRows;
use crate::format::graph::upper::Upper;
use crate::format::vectors::Vectors;
use crate::graph::walk::{Counts, Ended, Nodes, Scratch, Through, walk, walk_among};
use crate::graph::{ENTRIES, TOP_NODES};
use crate::segment::file::Section;
use crate::segment::graph::FieldGraph;
use crate::simd::codes::TOGETHER;
use std::cell::Cell;
use std::collections::HashSet;
use std::ops::Range;

/// Documents beside those that are wanted which are compared by their vectors where there are no codes with bounds: a node has one
/// of its vectors compared, and others may be nearer.
const BESIDE_WANTED: usize = 8;

thread_local! {
    /// Memory of walks of this thread.
    static SCRATCH: Cell<Scratch> = Cell::default();
}

/// The vectors of a segment, and which of them are looked at.
pub(super) struct Among<'a, 's> {
    graph: &'a FieldGraph<'s>,
    vectors: &'a Vectors<Section<'s>>,
    filter: &'a DocIdSet,
    /// A document that is not found.
    left_out: Option<u32>,
    at_hand: AtHand<'s>,
    counts_blocks: bool,
}

/// Sections all bytes of which were checked before. Whatever is wrong there is told by those of the graph, which say where.
struct AtHand<'s> {
    codes: Option<CodeRows<'s>>,
    links: Option<Links<&'s [u8]>>,
    upper: Option<Upper<&'s [u8]>>,
    nodes: Option<NodeRows<&'s [u8]>>,
    docs: Option<&'s [u8]>,
}

/// Outcome of walks.
#[derive(Debug)]
pub(super) struct Walked {
    pub(super) counts: Counts,
    pub(super) ended: Ended,
    /// Documents that were come to, each with the similarity of its nearest vector; none where there may be nearer ones that no
    /// walk comes to.
    pub(super) found: Option<Vec<Neighbor>>,
    /// Vectors that were compared.
    pub(super) compared: u64,
    /// Nodes whose vectors were not, as none of them can be among the nearest.
    pub(super) proved_out: u64,
    /// Blocks that were read, if they are counted.
    pub(super) blocks: Blocks,
}

/// A node that a walk kept.
#[derive(Clone, Copy, Debug)]
struct Near {
    node: u32,
    /// The greatest similarity that its vectors may have; none where nothing bounds it.
    greatest: Option<f32>,
    distance: f32,
}

impl Near {
    /// Number by which nodes are compared: the least first.
    fn key(&self) -> f32 {
        self.greatest.map_or(self.distance, |greatest| -greatest)
    }
}

impl<'a, 's> Among<'a, 's> {
    /// The vectors of a graph, of which those of a filter are found without the document that is left out.
    pub(super) fn of(
        (graph, vectors): (&'a FieldGraph<'s>, &'a Vectors<Section<'s>>),
        filter: &'a DocIdSet,
        left_out: Option<u32>,
        counts_blocks: bool,
    ) -> Self {
        let at_hand = AtHand {
            codes: graph.codes.as_ref().and_then(|codes| codes.at_hand()),
            links: graph.links.at_hand(),
            upper: graph.upper.at_hand(),
            nodes: graph.nodes.at_hand(),
            docs: vectors.docs_at_hand(),
        };
        Among { graph, vectors, filter, left_out, at_hand, counts_blocks }
    }

    /// Walks to `k` documents or some more, of which those that are less similar than `least` may be left out; less than there are
    /// where walking took too long or came to too few.
    pub(super) fn walk(
        &self,
        target: &Target,
        (k, least): (usize, Option<f32>),
        choice: &Choice,
    ) -> Result<Walked> {
        let n_nodes = self.graph.n_nodes() as usize;
        // No more nodes are kept than there are.
        let kept = u64::from(choice.ef).min(n_nodes as u64);
        let held = Scratch::bytes(n_nodes) + (16 + size_of::<Near>() as u64) * kept;
        budget::hold(held)?;
        let walked = self.walk_held(target, (k, least), choice);
        budget::release(held);
        walked
    }

    fn walk_held(
        &self,
        target: &Target,
        (k, least): (usize, Option<f32>),
        choice: &Choice,
    ) -> Result<Walked> {
        let (mut scratch, mut counts) = (SCRATCH.take(), Counts::default());
        let mut blocks = Blocks::default();
        let walks = target.walked(self.graph.codes.as_ref())?;
        let kept = (choice.ef as usize).min(self.graph.n_nodes() as usize);
        let (mut near, mut all_ended) = (Vec::with_capacity(kept * walks.len()), Ended::Beam);
        for to in &walks {
            let mut nodes = NodesOf { among: self, to };
            let ended = self.walk_to(&mut nodes, choice, &mut counts, &mut scratch)?;
            if self.counts_blocks {
                self.note_blocks(&scratch, &mut blocks)?;
            }
            for (node, distance) in scratch.nearest() {
                near.push(Near { node, greatest: nodes.greatest(node, distance)?, distance });
            }
            if ended != Ended::Beam {
                all_ended = ended;
            }
        }
        SCRATCH.set(scratch);
        near.sort_unstable_by(|a, b| a.key().total_cmp(&b.key()).then(a.node.cmp(&b.node)));
        if walks.len() > 1 {
            let mut known = HashSet::new();
            near.retain(|near| known.insert(near.node));
        }
        let mut walked =
            Walked { counts, ended: all_ended, found: None, compared: 0, proved_out: 0, blocks };
        if walked.ended == Ended::Beam {
            self.compare(&near, target, (k, least), &mut walked)?;
        }
        Ok(walked)
    }

    fn walk_to(
        &self,
        nodes: &mut NodesOf<'_, '_, '_>,
        choice: &Choice,
        counts: &mut Counts,
        scratch: &mut Scratch,
    ) -> Result<Ended> {
        let entries = self.enter(nodes, counts, scratch)?;
        let (ef, before) = (choice.ef as usize, *counts);
        let through = match choice.way {
            Way::Walk(through) => through,
            Way::Exact => Through::All,
        };
        if through == Through::All && self.lets_all_through() {
            *counts += walk(nodes, &entries, ef, scratch)?;
            let is_full = scratch.nearest().len() == ef.min(self.graph.n_nodes() as usize);
            return Ok(if is_full { Ended::Beam } else { Ended::Exhausted });
        }
        let goes_on = |own: Counts| {
            let mut all = before;
            all += own;
            choice.goes_on(all)
        };
        let (own, ended) = walk_among(nodes, &entries, (ef, through), goes_on, scratch)?;
        *counts += own;
        Ok(ended)
    }

    /// Takes note of the blocks that a walk over all nodes read.
    fn note_blocks(&self, scratch: &Scratch, blocks: &mut Blocks) -> Result<()> {
        for node in scratch.gone_on() {
            blocks.note(SectionKind::LINKS, self.graph.links.range(*node)?);
        }
        for node in scratch.seen() {
            match &self.graph.codes {
                Some(codes) => blocks.note(SectionKind::CODES, codes.range(node)),
                None => {
                    let row = self.row(self.places(node)?.start)?;
                    blocks.note(SectionKind::VECTORS, self.vectors.range(row..row + 1));
                }
            }
        }
        Ok(())
    }

    fn lets_all_through(&self) -> bool {
        matches!(self.filter, DocIdSet::Everything) && self.left_out.is_none()
    }

    /// Nodes at which a walk begins: the nearest of the levels above.
    fn enter(
        &self,
        nodes: &mut NodesOf<'_, '_, '_>,
        counts: &mut Counts,
        scratch: &mut Scratch,
    ) -> Result<Vec<u32>> {
        let upper = &self.graph.upper;
        let n_top = match upper.n_levels() {
            0 => self.graph.n_nodes(),
            n => upper.n_nodes(n - 1),
        };
        let mut places: Vec<u32> = (0..n_top.min(TOP_NODES as u32)).collect();
        let mut compared = Vec::with_capacity(TOP_NODES);
        for level in (0..upper.n_levels()).rev() {
            let all = self.at_hand.upper.as_ref().and_then(|upper| upper.nodes_at_hand(level));
            let all = all.unwrap_or_default();
            let mut of_level = NodesOfLevel { nodes, level, all, compared: &mut compared };
            *counts += walk(&mut of_level, &places, ENTRIES, scratch)?;
            let mut found = vec![];
            for (place, _) in scratch.nearest() {
                found.push(self.node_of_level(level, place)?);
            }
            if level == 0 {
                return Ok(found);
            }
            places.clear();
            for node in found {
                places.extend(self.place_in(level - 1, node)?);
            }
        }
        Ok(places)
    }

    /// The place of a node in a level, which it is in unless the level is damaged.
    fn place_in(&self, level: usize, node: u32) -> Result<Option<u32>> {
        let upper = &self.graph.upper;
        let (mut low, mut high) = (0, upper.n_nodes(level));
        while low < high {
            let middle = low + (high - low) / 2;
            match self.node_of_level(level, middle)? < node {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        let is_there = low < upper.n_nodes(level) && self.node_of_level(level, low)? == node;
        Ok(is_there.then_some(low))
    }

    fn lets_through(&self, doc: u32) -> bool {
        let matches = match self.filter {
            DocIdSet::Everything => true,
            DocIdSet::Some(windows) => windows.contains(doc),
        };
        matches && Some(doc) != self.left_out
    }

    /// Compares the documents of nodes that are let through, each once, until no other is among the nearest.
    fn compare(
        &self,
        near: &[Near],
        target: &Target,
        (k, least): (usize, Option<f32>),
        walked: &mut Walked,
    ) -> Result<()> {
        let (mut found, mut known) = (Vec::with_capacity(near.len()), HashSet::new());
        let mut nearest = NearestSoFar::new(k);
        let mut is_proved = false;
        for (nth, Near { node, greatest, .. }) in near.iter().enumerate() {
            is_proved = match greatest {
                Some(greatest) => {
                    nearest.least().is_some_and(|least| *greatest < least)
                        || least.is_some_and(|least| *greatest < least)
                }
                None => found.len() >= k + k / 2 + BESIDE_WANTED,
            };
            if is_proved {
                walked.proved_out += greatest.map_or(0, |_| (near.len() - nth) as u64);
                break;
            }
            for place in self.places(*node)? {
                let row = self.row(place)?;
                let doc = self.doc(row)?;
                if self.lets_through(doc) && (!self.has_several(doc, row)? || known.insert(doc)) {
                    let neighbor = self.compare_document((doc, row), target, walked)?;
                    nearest.offer(neighbor.similarity);
                    found.push(neighbor);
                }
            }
        }
        // Several vectors of a document may have been all that was kept.
        if is_proved || found.len() >= k {
            walked.found = Some(found);
        }
        Ok(())
    }

    /// Whether a document has another vector than that of a row: they lie next to each other.
    fn has_several(&self, doc: u32, row: u32) -> Result<bool> {
        Ok(row > 0 && self.doc(row - 1)? == doc
            || row + 1 < self.vectors.n_vectors() && self.doc(row + 1)? == doc)
    }

    /// Places of the rows of a node.
    #[inline]
    fn places(&self, node: u32) -> Result<Range<u32>> {
        let at_hand = self.at_hand.nodes.as_ref().and_then(|nodes| nodes.places(node).ok());
        at_hand.map_or_else(|| self.graph.nodes.places(node), Ok)
    }

    /// The row at a place.
    #[inline]
    fn row(&self, place: u32) -> Result<u32> {
        let at_hand = self.at_hand.nodes.as_ref().and_then(|nodes| nodes.row(place).ok());
        at_hand.map_or_else(|| self.graph.nodes.row(place), Ok)
    }

    /// The document of a row.
    #[inline]
    fn doc(&self, row: u32) -> Result<u32> {
        self.vectors.doc_of(self.at_hand.docs, row)
    }

    /// The node at a place of a level.
    #[inline]
    fn node_of_level(&self, level: usize, place: u32) -> Result<u32> {
        let at_hand = self.at_hand.upper.as_ref().and_then(|upper| upper.node(level, place).ok());
        at_hand.map_or_else(|| self.graph.upper.node(level, place), Ok)
    }

    /// Compares all vectors of a document, of which one is in a row.
    fn compare_document(
        &self,
        (doc, row): (u32, u32),
        target: &Target,
        walked: &mut Walked,
    ) -> Result<Neighbor> {
        let ns_of_row = ns::VECTOR_READ + u64::from(target.dims()) / ns::NUMBERS_COMPARED;
        let (mut from, mut to) = (row, row + 1);
        while from > 0 && self.doc(from - 1)? == doc {
            from -= 1;
        }
        while to < self.vectors.n_vectors() && self.doc(to)? == doc {
            to += 1;
        }
        budget::work(ns_of_row * u64::from(to - from))?;
        walked.compared += u64::from(to - from);
        if self.counts_blocks {
            walked.blocks.note(SectionKind::VECTORS, self.vectors.range(from..to));
        }
        let rows = self.vectors.rows(from..to)?;
        let similarities =
            rows.chunks_exact(self.vectors.row_len()).map(|row| target.similarity(row));
        let similarity = similarities.fold(f32::MIN, f32::max);
        Ok(Neighbor { doc, similarity })
    }
}

/// Nodes of the graph and how far they are.
struct NodesOf<'n, 'a, 's> {
    among: &'n Among<'a, 's>,
    to: &'n WalkTarget<'n>,
}

impl NodesOf<'_, '_, '_> {
    /// The first row of a node.
    #[inline]
    fn first_row(&self, node: u32) -> Result<u32> {
        self.among.row(self.among.places(node)?.start)
    }

    /// Distances by codes that are at hand.
    #[inline]
    fn distances_at_hand(
        &self,
        codes: CodeRows<'_>,
        nodes: [u32; TOGETHER],
    ) -> Option<[f32; TOGETHER]> {
        let [a, b, c, d] = nodes.map(|node| codes.row(node));
        self.to.distances_of_codes([a?, b?, c?, d?])
    }

    #[inline(never)]
    fn distances_to_check(&self, nodes: &[u32], to: &mut Vec<f32>) -> Result<()> {
        for node in nodes {
            to.push(self.distance_to_check(*node)?);
        }
        Ok(())
    }

    /// The distance by what is checked, or without codes by the first row.
    #[inline(never)]
    fn distance_to_check(&self, node: u32) -> Result<f32> {
        let Among { graph, vectors, .. } = self.among;
        let Some(codes) = &graph.codes else {
            let row = self.first_row(node)?;
            return Ok(self.to.distance_of_row(&vectors.rows(row..row + 1)?));
        };
        match self.to.distance_of_code(&codes.row(node)?) {
            Some(distance) => Ok(distance),
            None => Err(codes.damage(node, "too few bytes")),
        }
    }

    /// The greatest similarity that vectors of a node at some distance may have.
    fn greatest(&self, node: u32, distance: f32) -> Result<Option<f32>> {
        let Some(codes) = &self.among.graph.codes else { return Ok(None) };
        if let Some(row) = self.among.at_hand.codes.and_then(|codes| codes.row(node)) {
            return Ok(self.to.greatest_similarity(row, distance));
        }
        Ok(self.to.greatest_similarity(&codes.row(node)?, distance))
    }
}

impl Nodes for NodesOf<'_, '_, '_> {
    fn n_nodes(&self) -> usize {
        self.among.graph.n_nodes() as usize
    }

    fn links(&mut self, node: u32, to: &mut Vec<u32>) -> Result<()> {
        let known = to.len();
        match &self.among.at_hand.links {
            Some(links) if links.read(node, to).is_ok() => Ok(()),
            _ => {
                to.truncate(known);
                self.among.graph.links.read(node, to)
            }
        }
    }

    #[inline]
    fn distance(&mut self, node: u32) -> Result<f32> {
        let at_hand = self.among.at_hand.codes.and_then(|codes| codes.row(node));
        match at_hand.and_then(|row| self.to.distance_of_code(row)) {
            Some(distance) => Ok(distance),
            None => self.distance_to_check(node),
        }
    }

    fn distances(&mut self, nodes: &[u32], to: &mut Vec<f32>) -> Result<()> {
        let codes = self.among.at_hand.codes;
        let (all, rest) = nodes.as_chunks::<TOGETHER>();
        for nodes in all {
            match codes.and_then(|codes| self.distances_at_hand(codes, *nodes)) {
                Some(distances) => to.extend_from_slice(&distances),
                None => self.distances_to_check(nodes, to)?,
            }
        }
        let [first, others @ ..] = rest else { return Ok(()) };
        // The first is compared once and again, which takes less than one by one.
        let mut nodes = [*first; TOGETHER];
        nodes.iter_mut().skip(1).zip(others).for_each(|(node, other)| *node = *other);
        match codes.and_then(|codes| self.distances_at_hand(codes, nodes)) {
            Some(distances) => to.extend_from_slice(&distances[..rest.len()]),
            None => self.distances_to_check(rest, to)?,
        }
        Ok(())
    }

    fn prefetch(&mut self, nodes: &[u32]) {
        let Among { graph, vectors, at_hand, .. } = self.among;
        match (at_hand.codes, &graph.codes) {
            (Some(codes), _) => codes.prefetch(nodes),
            (None, Some(codes)) => nodes.iter().for_each(|node| codes.prefetch(*node)),
            // Damage is told where the distance is asked for.
            (None, None) => {
                let rows = nodes.iter().filter_map(|node| self.first_row(*node).ok());
                rows.for_each(|row| vectors.prefetch(row));
            }
        }
    }

    fn is_wanted(&mut self, node: u32) -> Result<bool> {
        let among = self.among;
        for place in among.places(node)? {
            if among.lets_through(among.doc(among.row(place)?)?) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Nodes of a level by their places.
struct NodesOfLevel<'l, 'n, 'a, 's> {
    nodes: &'l mut NodesOf<'n, 'a, 's>,
    level: usize,
    /// All of them, if they are at hand.
    all: &'l [[u8; 4]],
    /// Room for nodes that are compared.
    compared: &'l mut Vec<u32>,
}

impl NodesOfLevel<'_, '_, '_, '_> {
    #[inline]
    fn node(&self, place: u32) -> Result<u32> {
        let n_nodes = self.nodes.among.graph.n_nodes();
        match self.all.get(place as usize).map(|node| u32::from_le_bytes(*node)) {
            Some(node) if node < n_nodes => Ok(node),
            _ => self.nodes.among.graph.upper.node(self.level, place),
        }
    }
}

impl Nodes for NodesOfLevel<'_, '_, '_, '_> {
    fn n_nodes(&self) -> usize {
        self.nodes.among.graph.upper.n_nodes(self.level) as usize
    }

    fn links(&mut self, place: u32, to: &mut Vec<u32>) -> Result<()> {
        let (known, Among { graph, at_hand, .. }) = (to.len(), self.nodes.among);
        match &at_hand.upper {
            Some(upper) if upper.links(self.level, place, to).is_ok() => Ok(()),
            _ => {
                to.truncate(known);
                graph.upper.links(self.level, place, to)
            }
        }
    }

    fn distance(&mut self, place: u32) -> Result<f32> {
        self.nodes.distance(self.node(place)?)
    }

    fn distances(&mut self, places: &[u32], to: &mut Vec<f32>) -> Result<()> {
        self.compared.clear();
        for place in places {
            self.compared.push(self.node(*place)?);
        }
        self.nodes.distances(self.compared, to)
    }

    fn prefetch(&mut self, places: &[u32]) {
        self.compared.clear();
        for place in places {
            match self.node(*place) {
                Ok(node) => self.compared.push(node),
                // Damage is told where the distance is asked for.
                Err(_) => return,
            }
        }
        self.nodes.prefetch(self.compared);
    }
}
